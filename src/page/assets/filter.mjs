// The filter language of mcpreel: the same grammar as `mcpreel show`. Rows are the objects of data.js.

import { parseSize, parseTime } from "./units.mjs";

const MAX_DEPTH = 100;
const KINDS = ["request", "notification", "result", "error", "batch", "unclassified", "malformed", "noise", "blank"];
const EVENTS = ["message", "stderr", "stream-opened", "stream-closed", "transport", "gap", "note"];
const TERMS = "method, dir, tool, ext, kind, event, id, stream, seq, error, injected, slow, size, text";

/** A mistake in a filter. */
export class FilterError extends Error {}

/** Splits a filter into words and parentheses; quoted text is one word. */
export function tokenize(text) {
  const tokens = [];
  let [word, quoted, held] = ["", false, false];
  const flush = () => {
    if (word !== "" || held) tokens.push(word);
    [word, held] = ["", false];
  };
  for (const found of text) {
    if (found === '"') [quoted, held] = [!quoted, true];
    else if (quoted) word += found;
    else if (found === "(" || found === ")") {
      flush();
      tokens.push(found);
    } else if (/\s/u.test(found)) flush();
    else word += found;
  }
  if (quoted) throw new FilterError("missing closing quote");
  flush();
  return tokens;
}

/**
 * Parses a filter. Returns a function of a row and the lower-case text of its message: true, false, or null if that
 * depends on the text, which is not there. `extensions` are the names of the proposals and packs.
 */
export function parseFilter(text, extensions = []) {
  const state = { tokens: tokenize(text), at: 0, depth: 0, extensions };
  if (state.tokens.length === 0) return () => true;
  const node = parseAny(state);
  if (state.at < state.tokens.length) throw new FilterError(`unexpected ${state.tokens[state.at]}`);
  return node;
}

function parseAny(state) {
  const nodes = [parseAll(state)];
  while (state.tokens[state.at] === "or") {
    state.at += 1;
    nodes.push(parseAll(state));
  }
  return nodes.length === 1 ? nodes[0] : combine(nodes, true);
}

function parseAll(state) {
  const nodes = [parseOne(state)];
  for (;;) {
    const token = state.tokens[state.at];
    if (token === undefined || token === "or" || token === ")") break;
    if (token === "and") state.at += 1;
    nodes.push(parseOne(state));
  }
  return nodes.length === 1 ? nodes[0] : combine(nodes, false);
}

function parseOne(state) {
  const token = state.tokens[state.at];
  if (token === undefined) throw new FilterError("missing term at the end");
  state.at += 1;
  if (token === "not" || token === "(") return parseNested(state, token);
  if (token === ")" || token === "and" || token === "or") throw new FilterError(`missing term before ${token}`);
  return parseTerm(token, state.extensions);
}

function parseNested(state, token) {
  if (state.depth === MAX_DEPTH) throw new FilterError(`the filter is nested more than ${MAX_DEPTH} levels deep`);
  state.depth += 1;
  const node = token === "not" ? negate(parseOne(state)) : parseAny(state);
  state.depth -= 1;
  if (token === "not") return node;
  if (state.tokens[state.at] !== ")") throw new FilterError("missing closing parenthesis");
  state.at += 1;
  return node;
}

function negate(node) {
  return (row, body) => {
    const found = node(row, body);
    return found === null ? null : !found;
  };
}

/** Combines in three-valued logic: "any" (`decisive` is true) or "all" (`decisive` is false). */
function combine(nodes, decisive) {
  return (row, body) => {
    let known = true;
    for (const node of nodes) {
      const found = node(row, body);
      if (found === decisive) return decisive;
      if (found === null) known = false;
    }
    return known ? !decisive : null;
  };
}

function parseTerm(token, extensions) {
  if (token === "error") return (row) => isError(row);
  if (token === "injected") return (row) => row.injected;
  const colon = token.indexOf(":");
  if (colon < 0) throw new FilterError(`unknown term ${token}; use text:${token} to search for text`);
  const [name, value] = [token.slice(0, colon), token.slice(colon + 1)];
  if (value === "" && name !== "text") throw new FilterError(`missing value after ${name}:`);
  const make = Object.hasOwn(MAKERS, name) ? MAKERS[name] : null;
  if (make === null) throw new FilterError(`unknown term ${name}; expected one of ${TERMS}`);
  return make(value, extensions);
}

const MAKERS = {
  method: (value) => {
    const glob = globTest(value);
    return (row) => row.method !== null && glob(row.method);
  },
  tool: (value) => {
    const glob = globTest(value);
    return (row) => row.method === "tools/call" && row.tool !== null && glob(row.tool);
  },
  dir: (value) => {
    expect(value, ["c2s", "s2c"], "direction");
    return (row) => row.dir === value;
  },
  ext: (value, extensions) => {
    const at = extensions.indexOf(value);
    if (at < 0) throw new FilterError(`unknown proposal or pack; expected one of ${extensions.join(", ")}`);
    return (row) => (row.extensions & (1 << at)) !== 0;
  },
  kind: (value) => {
    expect(value, ["response", ...KINDS], "kind of message");
    if (value === "response") return (row) => row.kind === "result" || row.kind === "error";
    return (row) => row.kind === value;
  },
  event: (value) => {
    if (!/^unknown-\d+$/.test(value)) expect(value, EVENTS, "kind of event");
    return (row) => row.event === value;
  },
  id: (value) => (row) => row.id !== null && (row.id === value || asString(row.id) === value),
  stream: (value) => {
    if (!/^\+?\d+$/.test(value)) throw new FilterError("expected the number of a stream");
    return (row) => row.stream === Number(value);
  },
  seq: (value) => {
    const numbers = /^\+?(\d+)(?:\.\.\+?(\d+))?$/.exec(value);
    if (!numbers) throw new FilterError("expected seq:N or seq:N..M");
    const [first, last] = [Number(numbers[1]), Number(numbers[2] ?? numbers[1])];
    if (first > last) throw new FilterError(`the first number is greater than the last; did you mean seq:${last}..${first}?`);
    return (row) => row.seq >= first && row.seq <= last;
  },
  slow: (value) => limit(value, parseTime, "a time, as in slow:>500ms", (row) => row.latency),
  size: (value) => limit(value, parseSize, "a size, as in size:>10k", (row) => row.size),
  text: (value) => {
    const wanted = lowerAscii(value);
    return (row, body) => (body === undefined ? null : body.includes(wanted));
  },
};

function expect(value, known, what) {
  if (!known.includes(value)) throw new FilterError(`unknown ${what} ${value}; expected one of ${known.join(", ")}`);
}

function isError(row) {
  return row.toolError || row.failed || ["error", "malformed", "noise"].includes(row.kind);
}

/** The value of a JSON string, or null. */
function asString(text) {
  if (!text.startsWith('"')) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function limit(text, parse, what, value) {
  const [, operator, number] = /^(>=|<=|>|<)?(.*)$/su.exec(text);
  const bound = parse(number);
  if (bound === null) throw new FilterError(`expected ${what}`);
  const holds = {
    ">": (found) => found > bound,
    ">=": (found) => found >= bound,
    "<": (found) => found < bound,
    "<=": (found) => found <= bound,
  }[operator ?? ">="];
  return (row) => value(row) !== null && holds(value(row));
}

/** ASCII letters in lower case, others as they are. */
export function lowerAscii(text) {
  return text.replace(/[A-Z]+/g, (found) => found.toLowerCase());
}

/** A test for a pattern with `*`, `?`, `[abc]`, `[!a-z]`, `{one,two}` and `\`. */
export function globTest(pattern) {
  let source = "";
  const letters = [...pattern];
  let groups = 0;
  for (let at = 0; at < letters.length; at += 1) {
    const found = letters[at];
    if (found === "*") source += "[^]*";
    else if (found === "?") source += "[^]";
    else if (found === "[") {
      const end = classEnd(letters, at);
      source += classSource(letters.slice(at + 1, end));
      at = end;
    } else if (found === "{") {
      groups += 1;
      source += "(?:";
    } else if (found === "}" && groups > 0) {
      groups -= 1;
      source += ")";
    } else if (found === "," && groups > 0) source += "|";
    else if (found === "\\") {
      at += 1;
      if (at === letters.length) throw new FilterError("a pattern ends with a backslash");
      source += escape(letters[at]);
    } else source += escape(found);
  }
  if (groups > 0) throw new FilterError("a brace of the pattern is not closed");
  const compiled = new RegExp(`^${source}$`, "u");
  return (text) => compiled.test(text);
}

function classEnd(letters, start) {
  const first = letters[start + 1] === "!" || letters[start + 1] === "^" ? start + 2 : start + 1;
  // The first character may be a closing bracket.
  const end = letters.indexOf("]", first + 1);
  if (end < 0) throw new FilterError("a bracket of the pattern is not closed");
  return end;
}

function classSource(letters) {
  const negated = letters[0] === "!" || letters[0] === "^";
  const rest = negated ? letters.slice(1) : letters;
  const inner = rest.map((found, at) => (found === "-" && at > 0 && at < rest.length - 1 ? "-" : escape(found)));
  return `[${negated ? "^" : ""}${inner.join("")}]`;
}

function escape(letter) {
  return /[\\^$.*+?()[\]{}|/-]/.test(letter) ? `\\${letter}` : letter;
}
