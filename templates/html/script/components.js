const COMPONENTS = 25;
let componentPage = 0;

function componentRow([name, kind, path, verdict, reason, files, lines, complete, counts, hours]) {
  const tr = el("tr");
  const cells = [el("td"), el("th"), el("td", "", reason), el("td", "num", number(files))];
  cells[0].append(verdictMark(verdict));
  cells[1].scope = "row";
  const total = Object.values(counts).reduce((a, b) => a + b, 0);
  const title = el(total ? "a" : "span", "", name);
  title.translate = false;
  if (total) title.href = "#findings?" + new URLSearchParams({ component: name });
  const what = texts["kind." + kind] ? say("kind." + kind) : kind;
  cells[1].append(title, el("br"), el("span", "soft", complete ? what : what + ", " + say("components.incomplete")));
  const days = (h) => {
    const d = h / 8;
    if (d > 0 && d < 0.1) return "<0.1";
    return d > 0 && d < 10 ? d.toFixed(1) : number(Math.round(d));
  };
  const range = hours[2] ? days(hours[0]) + " – " + days(hours[2]) : "0";
  cells.push(el("td", "num", number(total)), el("td", hours[2] ? "num" : "num nil", range));
  tr.append(...cells);
  return tr;
}

function drawComponents() {
  const all = data.components;
  const from = componentPage * COMPONENTS;
  $("component-rows").replaceChildren(...all.slice(from, from + COMPONENTS).map(componentRow));
  const last = Math.max(0, Math.ceil(all.length / COMPONENTS) - 1);
  $("component-pager").hidden = last === 0;
  $("component-range").textContent = say("js.page", {
    from: from + 1, to: Math.min(from + COMPONENTS, all.length), n: all.length,
  });
  for (const b of $("component-pager").querySelectorAll("button")) {
    b.disabled = b.dataset.go === "previous" ? componentPage === 0 : componentPage === last;
  }
}

function listenToComponents() {
  $("component-pager").addEventListener("click", (event) => {
    const go = event.target.dataset.go;
    if (!go) return;
    componentPage += go === "next" ? 1 : -1;
    drawComponents();
  });
}
