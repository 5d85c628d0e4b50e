// Shows JSON text to the letter, with folds: every number, escape and repeated key as it crossed the wire.

import { el, visible } from "./dom.mjs";

const MAX_ITEMS = 200;
const LONG_STRING = 400;

/**
 * Takes JSON text apart: `{kind, text}` for a scalar, `{kind, items: [{key, value}]}` for an object or array. Returns null
 * if it is not JSON. Values are parsed when they are needed: `items` is a function.
 */
export function outline(text) {
  const scanner = { text, at: 0 };
  skipSpace(scanner);
  const value = readValue(scanner);
  skipSpace(scanner);
  return value !== null && scanner.at === text.length ? value : null;
}

function skipSpace(scanner) {
  while (" \t\n\r".includes(scanner.text[scanner.at] ?? "x")) scanner.at += 1;
}

/** Reads one value; nested ones are only skipped. */
function readValue(scanner) {
  const start = scanner.at;
  if (!skipValue(scanner)) return null;
  const text = scanner.text.slice(start, scanner.at);
  if (text[0] === "{") return { kind: "object", items: () => itemsOf(text), isEmpty: /^\{\s*\}$/.test(text) };
  if (text[0] === "[") return { kind: "array", items: () => itemsOf(text), isEmpty: /^\[\s*\]$/.test(text) };
  const kind = text[0] === '"' ? "string" : /^[-0-9]/.test(text) ? "number" : "literal";
  return { kind, text };
}

/** Moves behind one value without recursion, so that no depth is too much. */
function skipValue(scanner) {
  const { text } = scanner;
  let depth = 0;
  do {
    skipSpace(scanner);
    const found = text[scanner.at];
    if (found === undefined) return false;
    if (found === "{" || found === "[") {
      depth += 1;
      scanner.at += 1;
    } else if (found === "}" || found === "]") {
      depth -= 1;
      scanner.at += 1;
    } else if (found === '"') {
      if (!skipString(scanner)) return false;
    } else if (found === "," || found === ":") {
      if (depth === 0) return false;
      scanner.at += 1;
    } else {
      const scalar = /[^\s,:{}[\]"]+/y;
      scalar.lastIndex = scanner.at;
      scanner.at += scalar.exec(text)[0].length;
    }
  } while (depth > 0);
  return depth === 0;
}

function skipString(scanner) {
  for (let at = scanner.at + 1; at < scanner.text.length; at += 1) {
    if (scanner.text[at] === "\\") at += 1;
    else if (scanner.text[at] === '"') {
      scanner.at = at + 1;
      return true;
    }
  }
  return false;
}

/** The members or elements of an object or array. */
function itemsOf(text) {
  const scanner = { text, at: 1 };
  const isObject = text[0] === "{";
  const items = [];
  for (;;) {
    skipSpace(scanner);
    if (scanner.at >= text.length - 1) return items;
    let key = null;
    if (isObject) {
      const start = scanner.at;
      if (!skipString(scanner)) return items;
      key = text.slice(start, scanner.at);
      skipSpace(scanner);
      scanner.at += 1;
      skipSpace(scanner);
    }
    const value = readValue(scanner);
    if (value === null) return items;
    items.push({ key, value });
    skipSpace(scanner);
    scanner.at += 1;
  }
}

/** Elements for a value; the levels below `open` are folded. */
export function shown(value, open = 3) {
  if (value.items === undefined) return scalar(value);
  const [before, after] = value.kind === "object" ? ["{", "}"] : ["[", "]"];
  if (value.isEmpty) return el("span", {}, before + after);
  const items = value.items();
  const body = el("div", { class: "json-items" });
  const details = el("details", { class: "json" },
    el("summary", {}, `${before} `, el("span", { class: "faint" }, count(value.kind, items.length)), ` ${after}`), body);
  const build = () => {
    if (body.childNodes.length === 0) append(body, items, 0, open);
  };
  details.addEventListener("toggle", () => details.open && build());
  if (open > 0) {
    build();
    details.open = true;
  }
  return details;
}

function count(kind, length) {
  const noun = kind === "object" ? "member" : "element";
  return `${length} ${noun}${length === 1 ? "" : "s"}`;
}

function append(body, items, start, open) {
  for (const { key, value } of items.slice(start, start + MAX_ITEMS)) {
    const name = key === null ? [] : [el("span", { class: "json-key" }, visible(key)), ": "];
    body.append(el("div", { class: "json-item" }, ...name, shown(value, open - 1)));
  }
  const left = items.length - start - MAX_ITEMS;
  if (left <= 0) return;
  const more = el("button", { type: "button" }, `show ${Math.min(left, MAX_ITEMS)} of ${left} more`);
  more.addEventListener("click", () => {
    more.remove();
    append(body, items, start + MAX_ITEMS, open);
  });
  body.append(more);
}

function scalar(value) {
  const text = visible(value.text);
  if (value.kind !== "string" || text.length <= LONG_STRING) return el("span", { class: `json-${value.kind}` }, text);
  const span = el("span", { class: "json-string" }, `${text.slice(0, LONG_STRING)}…`);
  const more = el("button", { type: "button" }, `show all ${text.length} characters`);
  more.addEventListener("click", () => {
    span.textContent = text;
    more.remove();
  });
  return el("span", {}, span, " ", more);
}
