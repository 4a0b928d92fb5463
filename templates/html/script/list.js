const PAGE = 100;
let page = 0;

function groupName(row) {
  const key = wanted.sort;
  return key === "verdict" ? say("verdict." + text(key, row)) : text(key, row) || "–";
}

function groupSizes() {
  const sizes = new Map();
  for (const row of matching) {
    const key = columns[wanted.sort][row];
    sizes.set(key, (sizes.get(key) || 0) + 1);
  }
  return sizes;
}

function item(row) {
  const li = el("li", "item");
  li.id = "f-" + data.fingerprints[row];
  const head = button("", () => toggle(li, row));
  head.className = "row";
  head.setAttribute("aria-expanded", "false");
  const name = el("span", "name");
  name.append(code("subject", text("subject", row)));
  const to = text("equivalent", row);
  if (to && to !== "none") {
    const arrow = el("span", "arrow", "→");
    arrow.setAttribute("aria-label", say("js.becomes"));
    arrow.setAttribute("role", "img");
    name.append(" ", arrow, " ", code("equivalent", to));
  } else if (to === "none") name.append(" ", el("span", "soft", say("js.no-counterpart")));
  const where = code("where", "");
  where.append(text("path", row), el("span", "line", ":" + columns.line[row]));
  if (columns.cell[row] >= 0) where.append(" " + say("js.cell", { n: String(columns.cell[row]) }));
  const meta = el("span", "meta");
  if (text("confidence", row) !== "high") meta.append(el("span", "tag", say("js.confidence") + ": " + say("confidence." + text("confidence", row))));
  if (text("state", row) !== "shown") meta.append(el("span", "tag", say("state." + text("state", row))));
  meta.append(code("slug", text("rule", row)));
  head.append(verdictMark(text("verdict", row)), name, meta, where);
  li.append(head);
  return li;
}

function toggle(li, row, force) {
  const head = li.querySelector(".row");
  const open = force ?? head.getAttribute("aria-expanded") !== "true";
  head.setAttribute("aria-expanded", String(open));
  li.querySelector(".detail")?.remove();
  if (open) {
    const box = detail(row);
    li.append(box);
    head.setAttribute("aria-controls", box.id);
  } else head.removeAttribute("aria-controls");
}

function draw() {
  const list = $("list");
  const nodes = [];
  const from = page * PAGE;
  const sizes = groupSizes();
  let group = null;
  for (const row of matching.slice(from, from + PAGE)) {
    const key = columns[wanted.sort][row];
    if (key !== group) {
      group = key;
      const li = el("li", "group");
      const title = el("h3", "", groupName(row));
      if (wanted.sort !== "verdict") title.translate = false;
      li.append(title, el("span", "soft", say("js.group", { n: sizes.get(key) })));
      nodes.push(li);
    }
    nodes.push(item(row));
  }
  list.replaceChildren(...nodes);
  list.hidden = !nodes.length;
  $("none").hidden = nodes.length > 0;
  $("none").textContent = count ? say("js.none") : say("js.empty");
  const last = Math.max(0, Math.ceil(matching.length / PAGE) - 1);
  $("pager").hidden = last === 0;
  $("range").textContent = say("js.range", {
    from: from + 1, to: Math.min(from + PAGE, matching.length), n: matching.length,
  });
  for (const b of $("pager").querySelectorAll("button")) {
    b.disabled = b.dataset.go === "first" || b.dataset.go === "previous" ? page === 0 : page === last;
  }
}

/** After every change of a filter. */
function refresh(keepAddress) {
  apply();
  page = 0;
  showControls();
  showAmounts();
  $("status").textContent = say("js.status", { n: matching.length, of: count });
  draw();
  if (!keepAddress) history.replaceState(null, "", address());
}

function turn(go) {
  const last = Math.max(0, Math.ceil(matching.length / PAGE) - 1);
  page = { first: 0, previous: Math.max(0, page - 1), next: Math.min(last, page + 1), last }[go];
  draw();
  $("findings").scrollIntoView();
  $("list").querySelector(".row")?.focus({ preventScroll: true });
}

function openFinding(fingerprint) {
  const row = data.fingerprints.indexOf(fingerprint);
  if (row < 0) return false;
  if (!matching.includes(row)) {
    wanted = INITIAL();
    wanted.facets.state = new Set();
    refresh(true);
  }
  page = Math.floor(matching.indexOf(row) / PAGE);
  draw();
  const li = $("f-" + fingerprint);
  toggle(li, row, true);
  li.querySelector(".row").focus({ preventScroll: true });
  li.scrollIntoView({ block: "start" });
  return true;
}

function openRule(id) {
  const rule = $(id);
  if (rule) { rule.open = true; rule.scrollIntoView(); }
}

/** What the part of the address behind # asks for. */
function follow() {
  const hash = decodeURIComponent(location.hash.slice(1));
  if (hash.startsWith("f-")) openFinding(hash.slice(2));
  else if (hash.startsWith("findings?")) {
    fromAddress(location.hash.slice("#findings?".length));
    refresh(true);
    $("findings").scrollIntoView();
    $("findings").focus({ preventScroll: true });
  } else if (hash.startsWith("rule-")) openRule(hash);
}

function listenToList() {
  $("pager").addEventListener("click", (event) => event.target.dataset.go && turn(event.target.dataset.go));
  $("list").addEventListener("keydown", (event) => {
    const head = event.target.closest(".row");
    if (event.key === "Escape") {
      const li = event.target.closest(".item");
      const open = li?.querySelector('.row[aria-expanded="true"]');
      if (open) { open.click(); open.focus(); event.preventDefault(); }
    }
    if (!head || !["ArrowDown", "ArrowUp", "Home", "End"].includes(event.key)) return;
    const rows = [...$("list").querySelectorAll(".row")];
    const at = rows.indexOf(head);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    rows[Math.max(0, Math.min(rows.length - 1, to))].focus();
    event.preventDefault();
  });
  addEventListener("hashchange", follow);
}
