const FACETS = ["verdict", "state", "level", "confidence", "element", "component", "rule", "path"];
const SEARCHED = ["subject", "path", "message", "equivalent", "rule", "code"];

const lowered = {};
let data, tables, columns, count;

function load(parsed) {
  data = parsed;
  tables = { ...data.tables, ...data.enums };
  columns = {};
  for (const [name, values] of Object.entries(data.columns)) columns[name] = Int32Array.from(values);
  count = data.fingerprints.length;
  for (const name of SEARCHED) lowered[name] = tables[name].map((t) => t.toLowerCase());
}

const text = (name, row) => tables[name][columns[name][row]];
const place = (row) => text("path", row) + ":" + columns.line[row];

/** Which rows hold all words: each word is looked for once in each distinct text, not in each row. */
function searched(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return null;
  const hit = new Uint8Array(count).fill(1);
  for (const word of words) {
    const found = SEARCHED.map((name) => {
      return [columns[name], Uint8Array.from(lowered[name], (t) => (t.includes(word) ? 1 : 0))];
    });
    for (let row = 0; row < count; row++) {
      if (hit[row] && !found.some(([column, has]) => has[column[row]])) hit[row] = 0;
    }
  }
  return hit;
}

const orders = {};

/** Row numbers in the order of a key; worst verdicts first, then file and line. */
function order(key) {
  if (orders[key]) return orders[key];
  const rank = (name) => {
    const sorted = tables[name].map((t, i) => [t, i]).sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
    const ranks = new Int32Array(sorted.length);
    sorted.forEach(([, i], at) => { ranks[i] = at; });
    return ranks;
  };
  const keys = [];
  const by = (name, sign = 1, ranks = null) => keys.push([columns[name], sign, ranks]);
  if (key === "verdict") { by("verdict", -1); by("confidence"); }
  else by(key, 1, rank(key));
  if (key !== "path") by("path", 1, rank("path"));
  by("line");
  by("column");
  const rows = Array.from({ length: count }, (_, i) => i);
  rows.sort((a, b) => {
    for (const [column, sign, ranks] of keys) {
      const x = ranks ? ranks[column[a]] : column[a], y = ranks ? ranks[column[b]] : column[b];
      if (x !== y) return (x - y) * sign;
    }
    return a - b;
  });
  return (orders[key] = rows);
}
