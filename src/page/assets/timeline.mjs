// The zoomable timeline: a lane for each thing that was called, a bar where somebody waited for it.

import { el, visible } from "./dom.mjs";
import { roundTime } from "./units.mjs";

const LANE = 20;
const AXIS = 22;
const MAX_LANES = 400;
const LEAST_SPAN = 1000;

/** Zooms a range of time around a moment, and keeps it within the whole. */
export function zoomed(range, whole, factor, moment) {
  const span = Math.min(whole.end - whole.start, Math.max(LEAST_SPAN, (range.end - range.start) * factor));
  const part = (moment - range.start) / (range.end - range.start || 1);
  return moved({ start: moment - part * span, end: moment - part * span + span }, whole, 0);
}

/** Moves a range of time, within the whole. */
export function moved(range, whole, by) {
  const span = range.end - range.start;
  const start = Math.max(whole.start, Math.min(range.start + by, whole.end - span));
  return { start, end: start + span };
}

/** Round times in a range, at most `most` of them, and their distance. */
export function ticks(range, most) {
  const rough = Math.max(1, (range.end - range.start) / most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
  const found = [];
  for (let at = Math.ceil(range.start / step) * step; at <= range.end; at += step) found.push(at);
  return found;
}

/** A text of at most so many letters. */
function shortened(text, most) {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
}

/** How much of each column's time was waited, from 0 to 1; negative where something failed. */
export function coverage(waits, x, end, columns) {
  const parts = new Float64Array(columns);
  const failed = new Uint8Array(columns);
  for (const wait of waits) {
    const [from, to] = [x(wait.start), x(wait.end ?? end)];
    if (to < 0 || from >= columns) continue;
    const last = Math.min(columns - 1, Math.floor(to));
    for (let at = Math.max(0, Math.floor(from)); at <= last; at += 1) {
      parts[at] = Math.min(1, parts[at] + Math.max(0.05, Math.min(to, at + 1) - Math.max(from, at)));
    }
    if (wait.failed && to < columns) failed[last] = 1;
  }
  return parts.map((part, at) => (failed[at] === 1 ? -Math.max(part, 0.4) : part));
}

/** A timeline of lanes; `onselect(at)` is called with the place of a request. */
export class Timeline {
  constructor({ onselect, onrange }) {
    Object.assign(this, { onselect, onrange, lanes: [], whole: { start: 0, end: 1 }, range: { start: 0, end: 1 } });
    this.canvas = el("canvas", {
      tabindex: 0, role: "img", class: "timeline-canvas",
      onwheel: (event) => this.onwheel(event),
      onpointerdown: (event) => this.ondown(event),
      onpointermove: (event) => this.onmove(event),
      onpointerup: (event) => this.onup(event),
      ondblclick: () => this.set(this.whole),
      onkeydown: (event) => this.onkey(event),
    });
    const button = (text, label, run) => el("button", { type: "button", "aria-label": label, onclick: run }, text);
    this.tools = el("div", { class: "tools", role: "toolbar", "aria-label": "Zoom" },
      button("+", "Zoom in", () => this.zoom(0.5)), button("−", "Zoom out", () => this.zoom(2)),
      button("←", "Earlier", () => this.move(-0.25)), button("→", "Later", () => this.move(0.25)),
      button("Whole session", "Whole session", () => this.set(this.whole)));
    this.element = el("div", { class: "timeline" }, this.tools, el("div", { class: "timeline-scroll" }, this.canvas));
    new ResizeObserver(() => this.schedule()).observe(this.element);
  }

  /** Shows other lanes. */
  reset(lanes, whole) {
    this.lanes = lanes.slice(0, MAX_LANES);
    this.whole = { start: whole.start, end: Math.max(whole.end, whole.start + LEAST_SPAN) };
    this.canvas.setAttribute("aria-label", `Timeline of ${lanes.length} kinds of requests; the table below has the same figures`);
    this.set(this.whole);
  }

  set(range) {
    this.range = range;
    this.onrange(range);
    this.schedule();
  }

  zoom(factor, moment = (this.range.start + this.range.end) / 2) {
    this.set(zoomed(this.range, this.whole, factor, moment));
  }

  move(part) {
    this.set(moved(this.range, this.whole, (this.range.end - this.range.start) * part));
  }

  schedule() {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      this.draw();
    });
  }

  get label() {
    return Math.min(260, Math.floor(this.width * 0.3));
  }

  x(time) {
    return this.label + ((time - this.range.start) / (this.range.end - this.range.start)) * (this.width - this.label);
  }

  time(x) {
    return this.range.start + ((x - this.label) / (this.width - this.label)) * (this.range.end - this.range.start);
  }

  draw() {
    this.width = Math.max(300, this.element.clientWidth);
    const height = AXIS + LANE * this.lanes.length;
    const scale = window.devicePixelRatio || 1;
    Object.assign(this.canvas, { width: this.width * scale, height: height * scale });
    Object.assign(this.canvas.style, { width: `${this.width}px`, height: `${height}px` });
    const pen = this.canvas.getContext("2d");
    pen.scale(scale, scale);
    const colour = (name) => getComputedStyle(this.element).getPropertyValue(name);
    const colours = { text: colour("--text"), faint: colour("--faint"), line: colour("--line"), c2s: colour("--to-server"), s2c: colour("--to-client"), bad: colour("--bad") };
    pen.font = "12px ui-monospace, monospace";
    pen.textBaseline = "middle";
    this.axis(pen, colours, height);
    this.lanes.forEach((lane, at) => this.lane(pen, colours, lane, AXIS + at * LANE));
  }

  axis(pen, colours, height) {
    for (const tick of ticks(this.range, Math.max(1, Math.floor((this.width - this.label) / 110)))) {
      const x = this.x(tick);
      pen.fillStyle = colours.line;
      pen.fillRect(x, 0, 1, height);
      pen.fillStyle = colours.faint;
      const text = roundTime(tick);
      if (x + 4 + pen.measureText(text).width <= this.width) pen.fillText(text, x + 4, AXIS / 2);
    }
  }

  lane(pen, colours, lane, top) {
    pen.fillStyle = colours.text;
    const arrow = lane.dir === "s2c" ? "← " : "→ ";
    const letters = Math.max(1, Math.floor((this.label - 10) / pen.measureText("0").width));
    pen.fillText(shortened(arrow + visible(lane.name), letters), 4, top + LANE / 2, this.label - 8);
    const colour = lane.waits.some((wait) => wait.end !== null) ? colours[lane.dir] : colours.faint;
    coverage(lane.waits, (time) => this.x(time) - this.label, this.whole.end, Math.ceil(this.width - this.label)).forEach((part, column) => {
      if (part === 0) return;
      const high = Math.max(2, Math.abs(part) * (LANE - 6));
      pen.fillStyle = part < 0 ? colours.bad : colour;
      pen.fillRect(this.label + column, top + LANE - 3 - high, 1, high);
    });
  }

  /** The request at a position, or null. */
  hit(x, y) {
    const lane = this.lanes[Math.floor((y - AXIS) / LANE)];
    if (lane === undefined || x < this.label) return null;
    const time = this.time(x);
    const slack = (3 / (this.width - this.label)) * (this.range.end - this.range.start);
    const distance = (wait) => Math.max(0, wait.start - time, time - (wait.end ?? this.whole.end));
    let best = null;
    for (const wait of lane.waits) if (best === null || distance(wait) < distance(best)) best = wait;
    return best !== null && distance(best) <= slack ? best : null;
  }

  onwheel(event) {
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      this.move((event.deltaX || event.deltaY) / 1000);
    } else if (event.ctrlKey || this.lanes.length * LANE < this.element.clientHeight) {
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.time(event.offsetX));
    }
  }

  ondown(event) {
    this.drag = { x: event.offsetX, range: this.range, moved: false };
    this.canvas.setPointerCapture(event.pointerId);
  }

  onmove(event) {
    if (!this.drag) return;
    const by = event.offsetX - this.drag.x;
    this.drag.moved ||= Math.abs(by) > 3;
    if (!this.drag.moved) return;
    const { start, end } = this.drag.range;
    this.set(moved(this.drag.range, this.whole, (-by / (this.width - this.label)) * (end - start)));
  }

  onup(event) {
    const found = this.drag && !this.drag.moved ? this.hit(event.offsetX, event.offsetY) : null;
    this.drag = null;
    if (found !== null) this.onselect(found.request);
  }

  onkey(event) {
    const keys = { "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2), ArrowLeft: () => this.move(-0.1), ArrowRight: () => this.move(0.1), Home: () => this.set(this.whole) };
    if (!Object.hasOwn(keys, event.key) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
  }
}
