// The panel with everything about one event: what it is, its findings, its counterpart, its message and its bytes.

import { el, fill, visible } from "./dom.mjs";
import { outline, shown } from "./json.mjs";
import { bytes, counted, duration, seconds } from "./units.mjs";

const MAX_HEX = 64 * 1024;
/** A panel with fewer pixels shows eight bytes in a row. */
const WIDE = 600;
// Messages of fewer bytes are unfolded at first.
const SHORT = 4096;

/** A hexadecimal dump of the beginning of some bytes, so many in a row. */
export function hexDump(data, most = MAX_HEX, columns = 16) {
  const lines = [];
  for (let at = 0; at < Math.min(data.length, most); at += columns) {
    const line = [...data.subarray(at, Math.min(at + columns, data.length, most))];
    const hex = line.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const text = line.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".")).join("");
    lines.push(`${at.toString(16).padStart(8, "0")}  ${hex.padEnd(3 * columns - 1)}  ${text}`);
  }
  if (data.length > most) lines.push(`… ${counted(data.length - most, "more byte")}`);
  return lines.join("\n");
}

/** A link to an event. */
export function link(seq, text = `seq ${seq}`) {
  return el("a", { href: `#seq-${seq}` }, text);
}

/** Shows an event in the panel. `isStale()` says whether another one was chosen meanwhile. */
export async function show(panel, session, at, isStale) {
  const row = session.row(at);
  const body = el("div", { class: "panel-body" }, el("p", { class: "faint" }, "reading…"));
  fill(panel, heading(row), facts(session, row), findings(session, at), counterpart(session, row), body);
  try {
    const data = await session.payload(at);
    if (!isStale()) fill(body, ...content(session, row, data));
  } catch (error) {
    if (!isStale()) fill(body, el("p", { class: "bad" }, `This message cannot be read: ${error.message}`));
  }
}

function heading(row) {
  return el("h2", { id: "panel-title", tabindex: -1 }, `Event ${row.seq}: ${visible(row.title)}`);
}

function facts(session, row) {
  const [client, server] = session.names(row.stream);
  const ways = { c2s: `${client} → ${server}`, s2c: `${server} → ${client}` };
  // mcpreel sends an injected message in a side's name, and keeps the answer from it.
  if (row.injected) {
    const inject = (from, to) => (row.isResponse ? `${from} → mcpreel` : `mcpreel, in the name of ${from} → ${to}`);
    Object.assign(ways, { c2s: inject(client, server), s2c: inject(server, client) });
  }
  const response = row.isRequest && row.partner >= 0 ? session.row(row.partner) : null;
  const entries = [
    ["Time", `${seconds(row.time)} s`], ["From, to", row.dir === null ? null : visible(ways[row.dir])],
    ["Stream", String(row.stream)], ["Kind", `${row.kind ?? row.event}${row.toolError ? ", the tool failed" : ""}`], ["Id", row.id === null ? null : visible(row.id)], ["Size", bytes(row.size)],
    ["Latency", row.latency === null ? null : duration(row.latency)], ["Answered after", response?.latency ? duration(response.latency) : null], ["Marks", row.marks.join(", ") || null],
  ];
  const pairs = entries.filter(([, value]) => value !== null);
  return el("dl", { class: "facts" }, ...pairs.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

function findings(session, at) {
  const found = session.findingsOf.get(at) ?? [];
  return found.length === 0 ? null : el("section", { "aria-label": "Findings" }, el("h3", {}, "Findings"), ...found.map((one) => finding(session, session.findings[one])));
}

/** A finding with its rule. */
export function finding(session, found) {
  const place = found.row < 0 ? [] : [" ", link(session.columns.seq[found.row]), found.path ? el("span", { class: "faint" }, ` at ${visible(found.path)}`) : ""];
  return el("article", { class: `finding ${found.severity}` },
    el("p", { class: "finding-title" }, el("span", { class: `mark ${found.severity}` }, found.severity), ` ${found.rule}`, ...place),
    el("p", {}, visible(found.seen)),
    el("details", {}, el("summary", {}, "The rule"), el("p", {}, found.text), el("p", { class: "faint" }, found.source), found.fix ? el("p", {}, `Fix: ${found.fix}`) : null),
    found.excuse ? el("p", { class: "faint" }, `Does not count: ${visible(found.excuse)}`) : null);
}

function counterpart(session, row) {
  if (row.partner < 0) return row.isRequest ? el("p", { class: "odd" }, "No response in this page.") : null;
  const other = session.row(row.partner);
  const text = row.isResponse ? "The request" : "The response";
  return el("p", {}, `${text}: `, link(other.seq), ` ${visible(other.title)}${other.outcome ? ` → ${visible(other.outcome)}` : ""}`);
}

function content(session, row, data) {
  if (data.length === 0) return [el("p", { class: "faint" }, row.size > 0 ? "The message is too long for the page; the reel has it." : "Empty.")];
  const text = new TextDecoder().decode(data);
  const parsed = outline(text.slice(bodyStart(text)));
  const json = parsed === null ? el("pre", {}, visible(text).replaceAll("↵", "\n")) : el("div", { class: "json-root" }, shown(parsed, data.length < SHORT ? 8 : 3));
  const raw = el("details", {}, el("summary", {}, `Bytes (${bytes(data.length)})`));
  raw.addEventListener("toggle", () => {
    if (raw.open && raw.childElementCount === 1) raw.append(el("pre", { class: "hex", tabindex: 0 }, hexDump(data, MAX_HEX, raw.clientWidth < WIDE ? 8 : 16)));
  });
  const copy = el("button", { type: "button" }, "Copy the message");
  copy.addEventListener("click", () => {
    const select = () => {
      getSelection().selectAllChildren(json);
      copy.textContent = "The browser refuses: press Ctrl-C";
    };
    if (navigator.clipboard === undefined) select();
    else navigator.clipboard.writeText(text).then(() => (copy.textContent = "Copied"), select);
  });
  return [el("h3", {}, parsed === null ? "Text" : "Message"), json, copy, raw];
}

/** Where the message begins: some are framed with a header block. */
export function bodyStart(text) {
  const head = /^(?:[A-Za-z-]+: [^\r\n]*\r?\n)+\r?\n/.exec(text);
  return head === null ? 0 : head[0].length;
}
