// The parts of the page that need no document.

import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { Session, gunzip, partners } from "../../src/page/assets/data.mjs";
import { visible } from "../../src/page/assets/dom.mjs";
import { outline } from "../../src/page/assets/json.mjs";
import { scrollTo, windowOf } from "../../src/page/assets/list.mjs";
import { bodyStart, hexDump } from "../../src/page/assets/panel.mjs";
import { search } from "../../src/page/assets/search.mjs";
import { arrowsOf, lanesOfStreams } from "../../src/page/assets/sequence.mjs";
import { coverage, moved, ticks, zoomed } from "../../src/page/assets/timeline.mjs";
import { bytes, duration, parseSize, parseTime, roundTime } from "../../src/page/assets/units.mjs";
import { covered, countsOf, lanesOf, quantiles, shares } from "../../src/page/assets/waits.mjs";

const NAMES = ["request", "result", "error", "notification", "message", "tools/call", "n/a", "echo"];
const place = (name) => (name === null ? -1 : NAMES.indexOf(name));

/** A session of these rows: [time, dir, kind, method, about, asked, latency]. */
function session(rows, texts = []) {
  const column = (read) => rows.map(read);
  const columns = {
    seq: column((_, at) => at * 2), time: column((row) => row[0]), stream: column(() => 1),
    dir: column((row) => ({ c2s: 1, s2c: 2 })[row[1]] ?? 0), event: column(() => place("message")),
    kind: column((row) => place(row[2])), method: column((row) => place(row[3])), title: column((row) => place(row[3])),
    tool: column(() => -1), id: column(() => ""), size: column(() => 10), latency: column((row) => row[6] ?? null),
    asked: column((row) => row[5] ?? -1), about: column((row) => row[4] ?? ""), subject: column((row) => (row[4] ?? "").length),
    outcome: column(() => ""), depth: column(() => 0), flags: column(() => 0), marks: column(() => 0), extensions: column(() => 0),
    block: column((_, at) => (at < texts.length ? 0 : -1)), start: [], length: [],
  };
  let at = 0;
  for (const text of texts) {
    columns.start.push(at);
    columns.length.push(Buffer.byteLength(text));
    at += Buffer.byteLength(text);
  }
  const index = { columns, texts: NAMES, streams: [{ stream: 1, client: "ide", server: null }], findings: [{ row: 1 }], markNames: [], turns: [] };
  return new Session(index, async () => new TextEncoder().encode(texts.join("")));
}

const CALLS = [
  [0, "c2s", "request", "tools/call", "echo"],
  [1000, "s2c", "notification", "n/a"],
  [2000, "s2c", "notification", "n/a"],
  [5000, "s2c", "result", "tools/call", "echo", 0, 5000],
  [6000, "c2s", "request", "tools/call", "echo"],
  [9000, "s2c", "error", "tools/call", "echo", 4, 3000],
  [9500, "c2s", "request", "tools/call", "echo"],
];

test("requests and responses find each other", () => {
  const found = session(CALLS);
  assert.deepEqual([...partners(found.columns)], [3, -1, -1, 0, 5, 4, -1]);
  assert.deepEqual([found.find(6), found.find(7), found.find(99)], [3, 4, -1]);
  assert.deepEqual(found.names(1), ["ide", "server"]);
});

test("times and sizes are written and read", () => {
  assert.deepEqual([0, 2e8, 1.5e9, 50e9, 60e9, 500, 12.5e6].map(roundTime), ["0 s", "200 ms", "1.5 s", "50 s", "1m00s", "500 ns", "12.5 ms"]);
  assert.deepEqual([870, 12_345, 1_690_000, 2_319_000_000, 250_000_000_000].map(duration), ["870 ns", "12 µs", "1.6 ms", "2.31 s", "4m10s"]);
  assert.deepEqual([0, 999, 1234, 999_950].map(bytes), ["0 B", "999 B", "1.2 kB", "1000.0 kB"]);
  assert.deepEqual([parseTime("1.5m"), parseTime("3us"), parseTime("5x"), parseTime("1.2.3s")], [90_000_000_000, 3000, null, null]);
  assert.deepEqual([parseSize("1.5KiB"), parseSize("64X"), parseSize("")], [1536, null, null]);
});

test("JSON is taken apart to the letter", () => {
  const value = outline(' {"a": 1.0e400, "a": "\\u0041\\"}", "b": [ ], "c": {"d": [1, {"e": null}]}} ');
  assert.deepEqual(value.items().map((item) => item.key), ['"a"', '"a"', '"b"', '"c"']);
  assert.deepEqual(value.items().slice(0, 2).map((item) => item.value.text), ["1.0e400", '"\\u0041\\"}"']);
  assert.ok(value.items()[2].value.isEmpty);
  assert.equal(value.items()[3].value.items()[0].value.items()[1].value.items()[0].value.text, "null");
  for (const broken of ["", "{", '{"a":1', "1 2", '"a', "]", "ready"]) {
    const found = outline(broken);
    assert.ok(found === null || found.kind === "literal", broken);
  }
  const deep = "[".repeat(100_000) + "]".repeat(100_000);
  assert.equal(outline(deep).items().length, 1, "no depth is too much");
});

test("a list shows a window of its rows, and reaches the last one", () => {
  const metrics = { scrollTop: 0, height: 440, rowHeight: 22, count: 1_000_000 };
  assert.deepEqual([windowOf(metrics).first, windowOf(metrics).last], [0, 28]);
  const end = { ...metrics, scrollTop: windowOf(metrics).pixels - metrics.height };
  assert.equal(windowOf(end).last, 1_000_000);
  const top = scrollTo(metrics, 777_777);
  const found = windowOf({ ...metrics, scrollTop: top });
  assert.ok(found.first <= 777_777 && 777_777 < found.last);
  assert.equal(scrollTo(metrics, 5), null, "it is visible");
  assert.deepEqual(windowOf({ ...metrics, count: 0 }).last, 0);
});

test("the same notification in a row is one arrow, unless something is unusual", () => {
  const found = session(CALLS);
  found.findingsOf.clear();
  assert.deepEqual(arrowsOf(found, [0, 1, 2, 3]).map((arrow) => [arrow.first, arrow.last, arrow.count]), [[0, 0, 1], [1, 2, 2], [3, 3, 1]]);
  const marked = session(CALLS);
  assert.equal(arrowsOf(marked, [1, 2]).length, 2, "the first has a finding");
  assert.equal(lanesOfStreams(marked).count, 1);
});

test("who waited, and for how long", () => {
  const found = session(CALLS);
  const lanes = lanesOf(found, [0, 1, 2, 3, 4, 5, 6]);
  assert.deepEqual(lanes.map((lane) => [lane.name, lane.waits.length, lane.total, lane.longest.request]), [["echo", 3, 8000, 0]]);
  assert.deepEqual(shares(lanes, 0, 10_000), { clients: 8500, servers: 0, nobody: 1500 });
  assert.equal(covered([[0, 10], [5, 8], [20, 25]]), 15);
  assert.deepEqual(quantiles([3, 1, 2]), { median: 2, p95: 3, max: 3 });
  assert.deepEqual(quantiles([4, 1, 3, 2]), { median: 2, p95: 4, max: 4 });
  assert.equal(quantiles(Array.from({ length: 20 }, (_, at) => at)).p95, 18);
  const [calls] = countsOf(found, [0, 3, 4, 5, 6]);
  assert.deepEqual([calls.calls, calls.responses, calls.errors, calls.slowest], [3, 2, 1, { latency: 5000, seq: 0 }]);
});

test("the timeline stays within the session", () => {
  const whole = { start: 0, end: 1e9 };
  assert.deepEqual(zoomed(whole, whole, 0.5, 5e8), { start: 2.5e8, end: 7.5e8 });
  assert.deepEqual(zoomed({ start: 0, end: 1e8 }, whole, 100, 5e7), whole);
  assert.deepEqual(moved({ start: 8e8, end: 9e8 }, whole, 5e8), { start: 9e8, end: 1e9 });
  assert.deepEqual(ticks({ start: 0, end: 1e9 }, 5), [0, 2e8, 4e8, 6e8, 8e8, 1e9]);
});

test("a bar is as high as the part of its time", () => {
  const waits = [{ start: 0, end: 1.5, failed: false }, { start: 3.25, end: 3.75, failed: true }, { start: 4, end: null, failed: false }];
  assert.deepEqual([...coverage(waits, (time) => time, 6, 6)], [1, 0.5, 0, -0.5, 1, 1]);
  assert.deepEqual([...coverage(waits, (time) => time - 1, 6, 2)], [0.5, 0]);
});

test("a search reads texts only if it must, and can be ended", async () => {
  const found = session(CALLS, ["{\"a\":\"One\"}", "two", "straße"]);
  const text = (wanted) => (row, body) => (body === undefined ? null : body.includes(wanted));
  assert.deepEqual(await search(found, text("one")), [0]);
  assert.deepEqual(await search(found, text("straße")), [2]);
  assert.deepEqual(await search(found, (row) => row.kind === "error"), [5]);
  assert.equal(await search(found, () => true, () => {}, () => true), null);
});

test("data is compressed with gzip", async () => {
  assert.deepEqual(Buffer.from(await gunzip(gzipSync("text"))).toString(), "text");
});

test("text is made visible, bytes are dumped, header blocks are skipped", () => {
  assert.equal(visible("a\u001b[2J\n\u202e\u009b"), "a␛[2J↵\ufffd\ufffd");
  assert.equal(hexDump(new Uint8Array([0x41, 0, 0xff])), `00000000  41 00 ff${" ".repeat(39)}  A..`);
  assert.ok(hexDump(new Uint8Array(40), 16).endsWith("… 24 more bytes"));
  assert.equal(bodyStart("Content-Length: 2\r\n\r\n{}"), 21);
  assert.equal(bodyStart('{"a": 1}'), 0);
});
