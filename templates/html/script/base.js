const $ = (id) => document.getElementById(id);

/** An element with a class and text: texts only ever pass textContent. */
function el(name, className, text) {
  const node = document.createElement(name);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function button(text, act) {
  const node = el("button", "", text);
  node.type = "button";
  node.addEventListener("click", act);
  return node;
}

function code(className, text) {
  const node = el("code", className, text);
  node.translate = false;
  return node;
}

function glyph(verdict) {
  const ns = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(ns, "svg");
  svg.setAttribute("class", "glyph v-" + verdict);
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(ns, "use");
  use.setAttribute("href", "#g-" + verdict);
  svg.append(use);
  return svg;
}

function verdictMark(verdict) {
  const node = el("span", "verdict v-" + verdict);
  node.append(glyph(verdict), say("verdict." + verdict));
  return node;
}

const number = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, ",");

let texts = {};

/** The text of a key; n decides between one and other. */
function say(key, values = {}) {
  let text = texts[key];
  if (text === undefined) return key;
  if (typeof text === "object") text = values.n === 1 ? text.one : text.other;
  return text.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    return typeof value === "number" ? number(value) : value;
  });
}

/** The parsed data of the page, unpacked when it came compressed; null in a browser that cannot. */
async function readData() {
  const node = $("data");
  const text = node.textContent;
  node.remove();
  if (node.type === "application/json") return JSON.parse(text);
  if (typeof DecompressionStream === "undefined") return null;
  const packed = atob(text);
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}
