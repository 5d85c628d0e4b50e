// Times and sizes, read and written as the command line does.

const TIMES = { ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, "": 1e9, s: 1e9, m: 60e9, min: 60e9, h: 3600e9, d: 86400e9 };
const SIZES = { "": 0, B: 0, K: 10, KB: 10, KIB: 10, M: 20, MB: 20, MIB: 20, G: 30, GB: 30, GIB: 30 };

function split(text) {
  const found = /^\s*([0-9.]*)\s*(.*?)\s*$/su.exec(text);
  const number = /^([0-9]+\.?[0-9]*|\.[0-9]+)$/.test(found[1]) ? Number(found[1]) : NaN;
  return [number, found[2]];
}

/** Nanoseconds, or null: `500ms`, `1.5m`; a bare number is seconds. */
export function parseTime(text) {
  const [number, unit] = split(text);
  const factor = Object.hasOwn(TIMES, unit) ? TIMES[unit] : NaN;
  const time = Math.round(number * factor);
  return Number.isFinite(time) ? time : null;
}

/** Bytes, or null: `64`, `10k`, `1.5M`, in powers of 1024. */
export function parseSize(text) {
  const [number, unit] = split(text);
  const name = unit.toUpperCase();
  const bytes = Object.hasOwn(SIZES, name) ? Math.round(number * 2 ** SIZES[name]) : NaN;
  return Number.isFinite(bytes) && bytes < 2 ** 63 ? bytes : null;
}

/** `870 ns`, `12 µs`, `1.6 ms`, `2.31 s`, `4m10s`. */
export function duration(nanoseconds) {
  const sign = nanoseconds < 0 ? "-" : "";
  const span = Math.abs(nanoseconds);
  if (span < 1e3) return `${sign}${span} ns`;
  if (span < 1e6) return `${sign}${Math.floor(span / 1e3)} µs`;
  if (span < 1e9) return `${sign}${(Math.floor(span / 1e5) / 10).toFixed(1)} ms`;
  if (span < 60e9) return `${sign}${(Math.floor(span / 1e7) / 100).toFixed(2)} s`;
  const seconds = Math.floor(span / 1e9);
  return `${sign}${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, "0")}s`;
}

/** A round time of an axis: `0 s`, `200 ms`, `1.5 s`. */
export function roundTime(nanoseconds) {
  const time = Math.round(nanoseconds);
  return time === 0 ? "0 s" : duration(time).replace(/(\.\d*?)0+ /, "$1 ").replace(". ", " ");
}

/** `96 B`, `1.2 kB`, `3.4 MB`. */
export function bytes(count) {
  for (const [name, size] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) {
    if (count >= size) return `${(Math.round(count / (size / 10)) / 10).toFixed(1)} ${name}`;
  }
  return `${count} B`;
}

/** Seconds with six decimals, cut. */
export function seconds(nanoseconds) {
  return (Math.floor(nanoseconds / 1e3) / 1e6).toFixed(6);
}

/** A number with its noun: `1 message`, `2 messages`. */
export function counted(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}
