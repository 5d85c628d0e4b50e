// The overview: findings first, then what is slow, what failed, who waited, and the counts by method.

import { el, visible } from "./dom.mjs";
import { finding, link } from "./panel.mjs";
import { bytes, counted, duration, seconds } from "./units.mjs";
import { countsOf, quantiles, shares } from "./waits.mjs";

const MAX_FINDINGS = 50;
const MAX_ROWS = 15;
const MAX_PARTS = 100;
const MAX_TURNS = 50;

/** A number with its unit: it stays on one line. */
const FIGURE = /^[\d.,]+( (ns|µs|ms|s|B|kB|MB|GB))?$/;

/** A table with headings; cells are texts or elements. */
export function table(caption, headings, rows) {
  return el("div", { class: "table-scroll", tabindex: 0, role: "region", "aria-label": caption },
    el("table", {}, el("caption", {}, caption),
      el("thead", {}, el("tr", {}, ...headings.map((heading) => el("th", { scope: "col" }, heading)))),
      el("tbody", {}, ...rows.map((cells) => el("tr", {}, ...cells.map((cell) => el("td", { class: FIGURE.test(cell) ? "figure" : null }, cell)))))));
}

/** The sections of the overview. */
export function overview(session, lanes) {
  const all = Array.from({ length: session.count }, (_, at) => at);
  return [summary(session), findingsSection(session), slowest(session, all), errors(session, all), waiting(session, lanes), methods(session, all), prompts(session)];
}

function summary(session) {
  const { time, size } = session.columns;
  const span = session.count === 0 ? 0 : time[session.count - 1] - time[0];
  const text = `${counted(session.count, "event")}, ${bytes(size.reduce((sum, one) => sum + one, 0))}, over ${duration(span)}, recorded ${session.created}`;
  const notes = [text];
  const injected = session.columns.flags.filter((flags) => (flags & 1) !== 0).length;
  if (injected > 0) notes.push(el("a", { href: "#filter-injected" }, `${counted(injected, "message")} that mcpreel injected, or that answer such a message`));
  if (session.redacted) notes.push("Secrets that mcpreel recognised are replaced by pseudonyms.");
  if (session.leftOut > 0) notes.push(`${counted(session.leftOut, "more event")} did not fit into the page.`);
  if (session.damaged) notes.push("The reel is damaged; some events are missing.");
  return el("section", { "aria-label": "Summary" }, ...notes.map((note) => el("p", {}, note)),
    el("ul", {}, ...session.streams.map((one) => el("li", {}, `#${one.stream} `, el("strong", {}, visible(one.client ?? "client")), " with ", el("strong", {}, visible(one.server ?? "server"))))));
}

function findingsSection(session) {
  const order = { error: 0, warning: 1, info: 2 };
  const sorted = [...session.findings].sort((a, b) => Boolean(a.excuse) - Boolean(b.excuse) || order[a.severity] - order[b.severity]);
  const counts = ["error", "warning", "info"].map((severity) => counted(sorted.filter((one) => one.severity === severity && !one.excuse).length, severity));
  const more = sorted.length - MAX_FINDINGS + session.findingsLeftOut;
  return el("section", {}, el("h2", {}, `Findings: ${counts.join(", ")}`),
    sorted.length === 0 ? el("p", {}, "No rule is violated.") : null,
    ...sorted.slice(0, MAX_FINDINGS).map((one) => finding(session, one)),
    more > 0 ? el("p", { class: "faint" }, `${counted(more, "more finding")}; mcpreel validate lists all.`) : null);
}

function slowest(session, all) {
  const { latency } = session.columns;
  const found = all.filter((at) => latency[at] !== null).sort((a, b) => latency[b] - latency[a]).slice(0, MAX_ROWS);
  const row = (at) => {
    const one = session.row(at);
    return [link(one.partner < 0 ? one.seq : session.columns.seq[one.partner]), duration(one.latency), visible(one.title), visible(one.about), visible(one.outcome)];
  };
  return el("section", {}, el("h2", {}, "Slowest responses"), table("Slowest responses", ["event", "latency", "method", "about", "outcome"], found.map(row)));
}

function errors(session, all) {
  const { flags, kind } = session.columns;
  const error = session.texts.indexOf("error");
  const found = all.filter((at) => (flags[at] & 6) !== 0 || (error >= 0 && kind[at] === error));
  const row = (at) => {
    const one = session.row(at);
    return [link(one.seq), visible(one.title), visible(one.about), visible(one.outcome)];
  };
  const rest = found.length > MAX_ROWS ? el("p", {}, el("a", { href: "#filter-error" }, `All ${found.length} failed calls`)) : null;
  return el("section", {}, el("h2", {}, `Failed calls: ${found.length}`), found.length === 0 ? null : table("Failed calls", ["event", "method", "about", "outcome"], found.slice(0, MAX_ROWS).map(row)), rest);
}

function waiting(session, lanes) {
  const { time } = session.columns;
  const [start, end] = [time[0] ?? 0, time[session.count - 1] ?? 0];
  const parts = shares(lanes, start, end);
  const percent = (value) => `${duration(value)} (${end > start ? Math.floor((value / (end - start)) * 100) : 0} %)`;
  return el("section", {}, el("h2", {}, "Waiting"), el("p", {}, `Clients waited ${percent(parts.clients)}, servers ${percent(parts.servers)}; for ${percent(parts.nobody)}, nobody waited.`));
}

function methods(session, all) {
  const row = (one) => {
    const found = quantiles(one.latencies);
    const figures = found === null ? ["", "", "", ""] : [duration(found.median), duration(found.p95), duration(found.max), link(one.slowest.seq)];
    return [visible(one.method), visible(one.name), String(one.calls), String(one.responses), String(one.errors || ""), bytes(one.bytes), ...figures];
  };
  return el("section", {}, el("h2", {}, "Methods"), table("Counts and latencies by method",
    ["method", "name", "calls", "responses", "errors", "size", "median", "95 %", "slowest", "event"], countsOf(session, all).map(row)));
}

function prompts(session) {
  if (session.turns.length === 0) return null;
  return el("section", {}, el("h2", {}, "What the model would have seen"), ...session.turns.slice(0, MAX_TURNS).map(turn),
    session.turns.length > MAX_TURNS ? el("p", { class: "faint" }, `${counted(session.turns.length - MAX_TURNS, "more turn")}; mcpreel show --view prompt lists all.`) : null);
}

function turn(one) {
  const name = one.turn === 0 ? "In every prompt" : `Turn ${one.turn}`;
  const began = one.seconds === null ? "" : `, from ${seconds(one.seconds * 1e9)} s on`;
  const row = (part) => [`${part.source} ${visible(part.name)}`, visible(part.server), bytes(part.bytes), link(part.seq), visible(part.text)];
  const leftOut = one.left_out.map((note) => el("p", { class: "odd" }, "Not used: ", link(note.seq), ` ${visible(note.text)}`));
  return el("details", { open: one.turn < 4 }, el("summary", {}, `${name}${began}: ${bytes(one.bytes)}`),
    el("p", {}, Object.entries(one.by_source).map(([source, sum]) => `${source} ${bytes(sum)}`).join(", ")),
    table(name, ["source", "server", "size", "event", "text"], one.parts.slice(0, MAX_PARTS).map(row)),
    one.parts.length > MAX_PARTS ? el("p", { class: "faint" }, `${counted(one.parts.length - MAX_PARTS, "more part")}.`) : null,
    ...leftOut.slice(0, MAX_PARTS));
}
