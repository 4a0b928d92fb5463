const INITIAL = () => ({ query: "", sort: "verdict", facets: { state: new Set(["shown"]) } });
let wanted = INITIAL();
let matching = [];
let amounts = {};

/** Rows that pass all filters, in order; beside it, for each facet, how many rows each of its values would give. */
function apply() {
  const hit = searched(wanted.query);
  const checks = FACETS.map((name) => {
    const chosen = wanted.facets[name];
    if (!chosen || !chosen.size) return null;
    return Uint8Array.from(tables[name], (value) => (chosen.has(value) ? 1 : 0));
  });
  const totals = FACETS.map((name) => new Int32Array(tables[name].length));
  matching = [];
  for (const row of order(wanted.sort)) {
    if (hit && !hit[row]) continue;
    let failed = -1, fails = 0;
    for (let f = 0; f < checks.length && fails < 2; f++) {
      if (checks[f] && !checks[f][columns[FACETS[f]][row]]) { failed = f; fails++; }
    }
    if (fails > 1) continue;
    for (let f = 0; f < FACETS.length; f++) {
      if (fails === 0 || f === failed) totals[f][columns[FACETS[f]][row]]++;
    }
    if (fails === 0) matching.push(row);
  }
  amounts = Object.fromEntries(FACETS.map((name, f) => [name, totals[f]]));
}

/** The address of the filters, so that a view can be sent to somebody. */
function address() {
  const query = new URLSearchParams();
  for (const name of FACETS) {
    const chosen = [...(wanted.facets[name] || [])];
    if (name === "state" && chosen.join() === "shown") continue;
    if (name === "state" && !chosen.length) query.append("state", "all");
    for (const value of chosen) query.append(name, value);
  }
  if (wanted.query) query.set("q", wanted.query);
  if (wanted.sort !== "verdict") query.set("sort", wanted.sort);
  const tail = query.toString();
  return tail ? "#findings?" + tail : "#findings";
}

function fromAddress(tail) {
  wanted = INITIAL();
  for (const [name, value] of new URLSearchParams(tail)) {
    if (name === "q") wanted.query = value;
    else if (name === "sort" && $("sort").querySelector(`option[value="${CSS.escape(value)}"]`)) wanted.sort = value;
    else if (name === "state" && value === "all") wanted.facets.state = new Set();
    else if (FACETS.includes(name)) {
      if (name === "state") wanted.facets.state = new Set(new URLSearchParams(tail).getAll("state"));
      else (wanted.facets[name] ||= new Set()).add(value);
    }
  }
}

/** The controls as the filters say. */
function showControls() {
  $("search").value = wanted.query;
  $("sort").value = wanted.sort;
  for (const box of document.querySelectorAll("#filters fieldset input")) {
    box.checked = Boolean(wanted.facets[box.closest("fieldset").dataset.facet]?.has(box.value));
  }
  for (const select of document.querySelectorAll("#filters select[data-facet]")) {
    select.value = [...(wanted.facets[select.dataset.facet] || [""])][0];
  }
  const file = [...(wanted.facets.path || [])][0];
  $("only-file")?.remove();
  if (file !== undefined) {
    const chip = button(file, () => { delete wanted.facets.path; refresh(); $("search").focus(); });
    chip.id = "only-file";
    chip.className = "chip";
    chip.setAttribute("aria-label", say("js.only-file") + ": " + file);
    $("status").after(chip);
  }
}

function showAmounts() {
  for (const field of document.querySelectorAll("#filters fieldset")) {
    const name = field.dataset.facet;
    for (const node of field.querySelectorAll("[data-amount]")) {
      const total = amounts[name][tables[name].indexOf(node.dataset.amount)];
      node.textContent = number(total);
      node.closest("label").classList.toggle("nothing", total === 0);
    }
  }
}

/** Options of the filters with many values, those with most findings first. */
function fillSelects() {
  for (const select of document.querySelectorAll("#filters select[data-facet]")) {
    const name = select.dataset.facet;
    const totals = new Int32Array(tables[name].length);
    for (let row = 0; row < count; row++) totals[columns[name][row]]++;
    const values = tables[name].map((value, i) => [value, totals[i]]).filter((v) => v[1]);
    values.sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    for (const [value, total] of values) {
      const label = name === "element" ? say("element." + value) : value;
      select.append(new Option(`${label} (${number(total)})`, value));
    }
  }
}

function listenToFilters() {
  const form = $("filters");
  form.addEventListener("submit", (event) => event.preventDefault());
  $("search").addEventListener("input", () => { wanted.query = $("search").value; refresh(); });
  $("sort").addEventListener("change", () => { wanted.sort = $("sort").value; refresh(); });
  form.addEventListener("change", (event) => {
    const node = event.target;
    if (node.type === "checkbox") {
      const chosen = (wanted.facets[node.closest("fieldset").dataset.facet] ||= new Set());
      node.checked ? chosen.add(node.value) : chosen.delete(node.value);
    } else if (node.dataset.facet) {
      wanted.facets[node.dataset.facet] = new Set(node.value ? [node.value] : []);
    } else return;
    refresh();
  });
  $("clear").addEventListener("click", () => { wanted = INITIAL(); refresh(); $("search").focus(); });
  $("csv").addEventListener("click", saveCsv);
}

/** What is shown as a table file; a cell that a spreadsheet would run gets an apostrophe. */
function saveCsv() {
  const cell = (value) => '"' + String(value).replace(/^(?=[=+\-@\t\r])/, "'").replaceAll('"', '""') + '"';
  const names = ["verdict", "level", "confidence", "element", "component", "rule", "subject", "equivalent", "message"];
  const lines = [["path", "line", ...names, "fingerprint"].map(cell).join(",")];
  for (const row of matching) {
    const cells = [text("path", row), columns.line[row], ...names.map((n) => text(n, row)), data.fingerprints[row]];
    lines.push(cells.map(cell).join(","));
  }
  const link = el("a");
  link.href = URL.createObjectURL(new Blob([lines.join("\r\n") + "\r\n"], { type: "text/csv" }));
  link.download = "findings.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
