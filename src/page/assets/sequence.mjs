// The sequence diagram: a lifeline for the client and one for each server, an arrow for each message.

import { el, visible } from "./dom.mjs";
import { duration, seconds } from "./units.mjs";

/** The most lifelines beside the client's. The last one stands for all further streams. */
const MAX_LANES = 12;

/** The arrows for these events: the same notification in a row is one. */
export function arrowsOf(session, places) {
  const arrows = [];
  for (const at of places) {
    const row = session.row(at);
    const last = arrows.at(-1);
    if (last !== undefined && repeats(session.row(last.last), row)) {
      last.last = at;
      last.count += 1;
    } else arrows.push({ first: at, last: at, count: 1 });
  }
  return arrows;
}

function repeats(last, row) {
  const isRepeatable = row.kind === "notification" || row.event === "stderr";
  return isRepeatable && last.kind === row.kind && last.event === row.event && last.stream === row.stream
    && last.dir === row.dir && last.title === row.title && last.column("marks") === row.column("marks")
    && !row.session.findingsOf.has(row.at) && !row.session.findingsOf.has(last.at);
}

/** The lifeline of each stream: 1 is the first one right of the client. */
export function lanesOfStreams(session) {
  const streams = [...new Set(session.columns.stream)].sort((a, b) => a - b);
  const several = streams.filter((stream) => stream !== 0);
  const shown = several.length > 0 ? several : streams;
  return { count: Math.min(shown.length, MAX_LANES) || 1, of: new Map(shown.map((stream, at) => [stream, Math.min(at + 1, MAX_LANES)])) };
}

/** The headings of the lifelines. */
export function headings(session, lanes) {
  const [only] = lanes.of.size === 1 ? lanes.of.keys() : [];
  const client = only === undefined ? "client" : session.names(only)[0];
  const names = [...lanes.of].slice(0, lanes.count).map(([stream]) => {
    const name = visible(session.names(stream)[1]);
    return lanes.of.size === 1 ? name : `#${stream} ${name}`;
  });
  return el("div", { class: "lifelines heading", "aria-hidden": "true" },
    ...[visible(client), ...names].map((name) => el("span", { class: "lifeline-name", title: name }, name)));
}

/** The content of an arrow's row. */
export function arrowRow(session, lanes, arrow) {
  const row = session.row(arrow.last);
  const first = session.row(arrow.first);
  return [
    el("span", { class: "seq" }, String(first.seq)),
    el("span", { class: "time" }, seconds(first.time)),
    lifelines(lanes, row),
    el("span", { class: `says depth-${Math.min(row.depth, 4)}` }, ...says(session, row, arrow.count)),
  ];
}

function lifelines(lanes, row) {
  const far = lanes.of.get(row.stream) ?? lanes.count;
  const kind = row.dir === null ? (row.event === "gap" ? "gap" : "dot") : row.kind === "notification" ? "open" : row.isResponse ? "dashed" : "solid";
  const text = row.latency === null ? "" : duration(row.latency);
  const arrow = el("span", { class: `arrow ${kind} ${row.dir ?? ""} ${tone(row)}` }, text === "" ? null : el("span", { class: "took" }, text));
  arrow.style.setProperty("--far", far);
  const lines = Array.from({ length: lanes.count + 1 }, (_, at) => {
    const line = el("span", { class: "lifeline" });
    line.style.setProperty("--at", at);
    return line;
  });
  return el("span", { class: "lifelines" }, ...lines, arrow);
}

/** How a row is emphasised. */
export function tone(row) {
  if (row.toolError || row.failed || row.kind === "error" || row.broken) return "bad";
  if (row.column("marks") !== 0) return "odd";
  return row.dir === "c2s" ? "to-server" : row.dir === "s2c" ? "to-client" : "quiet";
}

/** What a row says: marks, what was called, or what came of it. */
export function says(session, row, count = 1) {
  const parts = row.marks.map((mark) => el("span", { class: "mark" }, mark));
  const found = (session.findingsOf.get(row.at) ?? []).map((at) => session.findings[at]);
  for (const severity of new Set(found.map((one) => one.severity))) {
    const rules = found.filter((one) => one.severity === severity).map((one) => one.rule);
    parts.push(el("span", { class: `mark ${severity}`, title: [...new Set(rules)].join(", ") }, rules.length > 1 ? `${rules.length} × ${severity}` : severity));
  }
  if (count > 1) parts.push(el("strong", {}, `× ${count} `));
  // A response has the arguments in its request; what came of them needs the space.
  const [named, rest] = [row.about.slice(0, row.subject), row.isResponse && row.partner >= 0 ? "" : row.about.slice(row.subject)];
  const method = el("span", { class: named === "" ? `method ${tone(row)}` : "faint" }, visible(row.title));
  parts.push(method, named + rest === "" ? "" : " ");
  if (named !== "") parts.push(el(row.isResponse ? "span" : "strong", { class: tone(row) }, visible(named)));
  parts.push(el("span", {}, visible(rest)));
  if (row.outcome !== "") parts.push(" → ", el("span", { class: tone(row) === "bad" ? "bad" : "" }, visible(row.outcome)));
  return parts;
}
