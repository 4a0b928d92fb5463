/** The line of source with the part that was found. Columns count characters, so the text is cut by characters. */
function snippet(row) {
  const line = Array.from(text("code", row));
  const [from, to] = [columns.mark[row], columns.mark_end[row]];
  const pre = el("pre", "snippet");
  pre.tabIndex = 0;
  pre.translate = false;
  pre.setAttribute("role", "group");
  pre.setAttribute("aria-label", say("js.more-code"));
  pre.append(el("span", "gutter", String(columns.line[row])));
  const content = el("code");
  const part = (a, b) => line.slice(a, b).join("");
  content.append(part(0, from));
  if (to > from) content.append(el("mark", "v-" + text("verdict", row), part(from, to)));
  content.append(part(to, line.length));
  pre.append(content);
  if (columns.end_line[row] > columns.line[row]) {
    pre.append(el("span", "through", say("js.through", { n: String(columns.end_line[row]) })));
  }
  return pre;
}

function facts(row) {
  const list = el("dl", "facts-list");
  const add = (key, value, isCode) => {
    if (!value) return;
    const dd = el("dd");
    dd.append(isCode ? code("", value) : value);
    list.append(el("dt", "", say(key)), dd);
  };
  if (text("equivalent", row) !== "none") add("js.counterpart", text("equivalent", row), true);
  add("js.level", say("level." + text("level", row)));
  add("js.confidence", say("confidence." + text("confidence", row)));
  add("js.element", say("element." + text("element", row)));
  add("js.component", text("component", row), true);
  add("js.scope", text("scope", row), true);
  add("js.guard", text("guard", row), true);
  if (text("state", row) !== "shown") add("js.state", say("state." + text("state", row)));
  add("js.fact", text("fact", row), true);
  add("js.related", (data.related[row] || []).join(", "), true);
  add("js.fingerprint", data.fingerprints[row], true);
  return list;
}

/** The rule as it stands in its own section, which also serves without JavaScript. */
function ruleCard(row) {
  const slug = text("rule", row);
  const source = $("rule-" + slug);
  if (!source) return null;
  const box = el("details", "rule inner");
  const summary = el("summary");
  summary.append(el("span", "rule-title", source.querySelector(".rule-title").textContent));
  const name = el("span", "rule-name", source.querySelector(".rule-name").textContent);
  name.translate = false;
  summary.append(name);
  const card = source.querySelector(".rule-card").cloneNode(true);
  // The finding has said so above, in the same words or closer to the place.
  for (const node of card.querySelectorAll("[data-general]")) node.remove();
  box.append(summary, card);
  box.open = true;
  return box;
}

function paragraph(key, value) {
  const box = el("div", "said");
  box.append(el("h4", "", say(key)), el("p", "", value));
  return box;
}

function detail(row) {
  const box = el("div", "detail");
  box.id = "d-" + data.fingerprints[row];
  box.append(snippet(row));
  const body = el("div", "body");
  const left = el("div");
  left.append(el("p", "message", text("message", row)));
  if (text("why", row)) left.append(paragraph("js.why", text("why", row)));
  if (text("fix", row)) left.append(paragraph("js.fix", text("fix", row)));
  body.append(left, facts(row));
  box.append(body);
  const card = ruleCard(row);
  if (card) box.append(card);
  const actions = el("p", "buttons");
  actions.append(
    button(say("js.copy-issue"), (e) => copy(issue(row), e.target)),
    button(say("js.copy-link"), (e) => copy(location.href.split("#")[0] + "#f-" + data.fingerprints[row], e.target)),
    button(say("js.copy-place"), (e) => copy(place(row), e.target)),
    button(say("js.only-rule"), () => only("rule", text("rule", row))),
    button(say("js.only-file"), () => only("path", text("path", row))),
  );
  box.append(actions);
  return box;
}

function only(name, value) {
  wanted = INITIAL();
  wanted.facets[name] = new Set([value]);
  refresh();
  $("findings").scrollIntoView();
  $("list").querySelector(".row")?.focus({ preventScroll: true });
}

/** Markdown for a tracker; what comes from the tree stands in code with a fence that it cannot close. */
function issue(row) {
  const source = text("code", row);
  const fence = (s, least) => "`".repeat(Math.max(least, ...(s.match(/`+/g) || []).map((run) => run.length + 1)));
  const inline = (s) => { const f = fence(s, 1); return f === "`" ? f + s + f : `${f} ${s} ${f}`; };
  const plain = (s) => s.replace(/[\\`*_{}\[\]<>#|~@]/g, "\\$&");
  const block = fence(source, 3);
  const lines = [
    `**${say("verdict." + text("verdict", row))}: ${plain(text("message", row))}**`, "",
    `${say("js.file")}: ${inline(place(row))}`, "",
    block, source, block, "",
  ];
  if (text("why", row)) lines.push(`${say("js.why")}: ${plain(text("why", row))}`, "");
  if (text("fix", row)) lines.push(`${say("js.fix")}: ${plain(text("fix", row))}`, "");
  lines.push(`${say("js.rule")}: ${inline(text("rule", row))}, ${say("js.level")}: ${say("level." + text("level", row))},`
    + ` ${say("js.confidence")}: ${say("confidence." + text("confidence", row))},`
    + ` ${say("js.fingerprint")}: ${inline(data.fingerprints[row])}`);
  return lines.join("\n") + "\n";
}

/** To the clipboard; where the browser refuses, a field to copy from by hand. */
async function copy(value, pressed) {
  try {
    await navigator.clipboard.writeText(value);
    const was = pressed.textContent;
    pressed.textContent = say("js.copied");
    $("status").dataset.said = say("js.copied");
    setTimeout(() => { pressed.textContent = was; }, 1500);
  } catch {
    const field = el("textarea", "by-hand", value);
    field.readOnly = true;
    field.setAttribute("aria-label", say("js.copy-by-hand"));
    pressed.closest(".detail").querySelector(".by-hand")?.remove();
    pressed.parentNode.after(field);
    field.focus();
    field.select();
  }
}
