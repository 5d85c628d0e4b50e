// Who waited for what: a lane for each thing that was called, from the responses and the requests without one.

/** The lanes of these events, by stream, by who waits, and by the first request. */
export function lanesOf(session, places) {
  const lanes = new Map();
  for (const at of places) {
    const row = session.row(at);
    const wait = waitOf(session, row);
    if (wait === null) continue;
    const asked = session.row(wait.request);
    const name = asked.subject > 0 ? asked.about.slice(0, asked.subject) : asked.title;
    const key = JSON.stringify([asked.stream, asked.dir, asked.title, name]);
    const lane = lanes.get(key) ?? { stream: asked.stream, dir: asked.dir, method: asked.title, name, waits: [], total: 0, longest: null };
    lanes.set(key, lane);
    lane.waits.push(wait);
    if (wait.end === null) continue;
    lane.total += wait.end - wait.start;
    if (lane.longest === null || wait.end - wait.start > lane.longest.end - lane.longest.start) lane.longest = wait;
  }
  const first = (lane) => Math.min(...lane.waits.slice(0, 1).map((wait) => wait.start));
  return [...lanes.values()].sort((a, b) => a.stream - b.stream || a.dir.localeCompare(b.dir) || first(a) - first(b));
}

function waitOf(session, row) {
  if (row.isResponse && row.partner >= 0) {
    return { request: row.partner, start: session.columns.time[row.partner], end: row.time, failed: row.kind === "error" || row.toolError };
  }
  if (row.isRequest && row.partner < 0 && row.dir !== null) return { request: row.at, start: row.time, end: null, failed: false };
  return null;
}

/** The length of the union of intervals. */
export function covered(intervals) {
  let [sum, reached] = [0, -Infinity];
  for (const [start, end] of intervals.sort((a, b) => a[0] - b[0])) {
    sum += Math.max(0, end - Math.max(start, reached));
    reached = Math.max(reached, end);
  }
  return sum;
}

/** How long clients, servers and nobody waited. */
export function shares(lanes, start, end) {
  const of = (isMeant) => covered(lanes.filter(isMeant).flatMap((lane) => lane.waits.map((wait) => [wait.start, wait.end ?? end])));
  return { clients: of((lane) => lane.dir === "c2s"), servers: of((lane) => lane.dir === "s2c"), nobody: end - start - of(() => true) };
}

/** The median, the 95th percentile and the largest of some numbers, as `mcpreel stats` has them. */
export function quantiles(values) {
  const sorted = Float64Array.from(values).sort();
  if (sorted.length === 0) return null;
  const [lower, upper] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return { median: Math.floor((lower + upper) / 2), p95: sorted[Math.ceil(0.95 * sorted.length) - 1], max: sorted[sorted.length - 1] };
}

/** Counts by method and name: calls, responses, errors, bytes and latencies. */
export function countsOf(session, places) {
  const counts = new Map();
  for (const at of places) {
    const row = session.row(at);
    if (row.method === null) continue;
    const asked = row.isResponse && row.partner >= 0 ? session.row(row.partner) : row;
    const name = asked.subject > 0 && asked.isRequest ? asked.about.slice(0, asked.subject) : "";
    const key = JSON.stringify([row.method, name]);
    const found = counts.get(key) ?? { method: row.method, name, calls: 0, responses: 0, errors: 0, bytes: 0, latencies: [], slowest: null };
    counts.set(key, found);
    count(found, row);
  }
  return [...counts.values()].sort((a, b) => b.calls - a.calls || a.method.localeCompare(b.method));
}

function count(found, row) {
  found.bytes += row.size;
  if (!row.isResponse) {
    found.calls += 1;
    return;
  }
  found.responses += 1;
  if (row.kind === "error" || row.toolError) found.errors += 1;
  if (row.latency === null) return;
  found.latencies.push(row.latency);
  if (found.slowest === null || row.latency > found.slowest.latency) found.slowest = { latency: row.latency, seq: row.partner < 0 ? row.seq : row.session.columns.seq[row.partner] };
}
