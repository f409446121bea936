// Helpers that make elements. Strings always become text nodes: nothing from rules or players is parsed as markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Makes an HTML element. `on…` attributes are listeners, `vars` are CSS custom properties, null and false attributes
 * are left out, and true gives an empty attribute (`aria-…` attributes say true and false).
 *
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Node|string|number|null|undefined|false)} children
 * @returns {any}
 */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/**
 * Makes an SVG element, with the same conventions as `el`.
 *
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Node|string|number|null|undefined|false)} children
 * @returns {any}
 */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * @param {HTMLElement|SVGElement} node
 * @param {Record<string, any>} attributes
 * @param {(Node|string|number|null|undefined|false)[]} children
 */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue;
    if (value === false && !name.startsWith("aria-")) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "vars") setVars(node, value);
    else node.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : String(value));
  }
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) {
      node.append(child instanceof Node ? child : String(child));
    }
  }
  return node;
}

/** @param {HTMLElement|SVGElement} node @param {Record<string, string|number>} vars */
export function setVars(node, vars) {
  for (const [name, value] of Object.entries(vars)) node.style.setProperty(`--${name}`, String(value));
}

/** The element with this id; its absence is a mistake in the page. @param {string} id @returns {any} */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element ${id}`);
  return found;
}

/**
 * Replaces the children of a node.
 *
 * @param {Element} node
 * @param {...(Node|string|null|undefined|false)} children
 */
export function show(node, ...children) {
  node.replaceChildren(.../** @type {(Node|string)[]} */ (children.filter(Boolean)));
}

/** A term of the rules for people: `(did red (drop 5))` is `did red (drop 5)`. @param {string} term */
export function plain(term) {
  if (!term.startsWith("(") || !term.endsWith(")")) return term;
  let depth = 0;
  for (let i = 0; i < term.length; i += 1) {
    if (term[i] === "(") depth += 1;
    if (term[i] === ")") depth -= 1;
    if (depth === 0 && i < term.length - 1) return term;
  }
  return term.slice(1, -1);
}

/** A message as a sentence: capital letter and full stop. @param {string} text */
export function sentence(text) {
  const trimmed = text.trim();
  if (!trimmed) return "";
  return `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}${/[.!?…]$/.test(trimmed) ? "" : "."}`;
}

/** A share as a percentage. @param {number} p */
export function percent(p) {
  if (p > 0 && p < 0.01) return "<1 %";
  if (p < 1 && p > 0.99) return ">99 %";
  return `${Math.round(p * 100)} %`;
}

/** A number with a noun: `1 state`, `12,000 states`. @param {number} n @param {string} one @param {string} [many] */
export function count(n, one, many = `${one}s`) {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

/** A short number for tables. @param {number} x */
export function short(x) {
  if (!Number.isFinite(x)) return "–";
  if (Number.isInteger(x)) return x.toLocaleString("en");
  const size = Math.abs(x);
  return size >= 100 ? x.toFixed(0) : size >= 10 ? x.toFixed(1) : size >= 0.01 ? x.toFixed(2) : x.toPrecision(2);
}
