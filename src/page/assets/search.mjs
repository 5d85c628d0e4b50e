// Runs a filter over all events in slices, so that the page stays responsive.

import { searchable } from "./data.mjs";

const SLICE_MS = 12;

/** Lets the browser do other things. */
export function pause() {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/**
 * The places of the events that match. `progress(part, found)` is called between slices; `isStale()` ends the search.
 * Returns null if it ended early.
 */
export async function search(session, matches, progress = () => {}, isStale = () => false) {
  const found = [];
  let began = performance.now();
  let block = { number: -1, bytes: null };
  for (let at = 0; at < session.count; at += 1) {
    const row = session.row(at);
    let verdict = matches(row);
    if (verdict === null) {
      const number = session.columns.block[at];
      if (number >= 0 && number !== block.number) {
        block = { number, bytes: await session.block(number) };
        began = performance.now();
      }
      verdict = matches(row, searchable(bytesOf(session, at, block.bytes)));
    }
    if (verdict) found.push(at);
    if ((at & 63) === 0 && performance.now() - began > SLICE_MS) {
      progress(at / session.count, found.length);
      await pause();
      if (isStale()) return null;
      began = performance.now();
    }
  }
  return isStale() ? null : found;
}

function bytesOf(session, at, bytes) {
  const { block, start, length } = session.columns;
  return block[at] < 0 ? new Uint8Array() : bytes.subarray(start[at], start[at] + length[at]);
}
