// A list that only has the rows on screen in the document, however many there are.

import { el } from "./dom.mjs";

// Browsers cannot show elements above some 17 million pixels.
const MAX_PIXELS = 8_000_000;
const OVERSCAN = 8;

/** The first and the last row to show, and the position of the first one in pixels. */
export function windowOf({ scrollTop, height, rowHeight, count }) {
  const total = count * rowHeight;
  const shown = Math.min(total, MAX_PIXELS);
  const reach = shown - height;
  // A position in the shortened list stands for one in the whole list.
  const whole = reach > 0 ? (Math.min(scrollTop, reach) / reach) * (total - height) : 0;
  const top = Math.max(0, whole);
  const first = Math.max(0, Math.floor(top / rowHeight) - OVERSCAN);
  const last = Math.min(count, Math.ceil((top + height) / rowHeight) + OVERSCAN);
  return { first, last, offset: scrollTop - (top - first * rowHeight), pixels: shown };
}

/** The scroll position that brings a row into view, or null if it is visible. */
export function scrollTo({ scrollTop, height, rowHeight, count }, row) {
  const { first } = windowOf({ scrollTop, height, rowHeight, count });
  const total = count * rowHeight;
  const reach = Math.min(total, MAX_PIXELS) - height;
  const ratio = reach > 0 ? (total - height) / reach : 1;
  const top = scrollTop * ratio;
  if (row >= first && row * rowHeight >= top && (row + 1) * rowHeight <= top + height) return null;
  return Math.max(0, row * rowHeight - height / 2) / ratio;
}

/** A list box. `render(at)` makes the content of a row; `onselect(at)` is called when the user chooses one. */
export class VirtualList {
  constructor({ label, rowHeight, render, onselect }) {
    Object.assign(this, { rowHeight, render, onselect, count: 0, selected: -1, made: new Map() });
    this.rows = el("div", { class: "rows", role: "presentation" });
    this.spacer = el("div", { class: "spacer", role: "presentation" }, this.rows);
    this.element = el("div", {
      class: "list", role: "listbox", tabindex: 0, "aria-label": label,
      onscroll: () => this.schedule(),
      onkeydown: (event) => this.onkey(event),
      onclick: (event) => this.onclick(event),
    }, this.spacer);
    new ResizeObserver(() => this.schedule()).observe(this.element);
  }

  /** Shows this many rows. */
  reset(count) {
    this.count = count;
    this.made.clear();
    this.rows.replaceChildren();
    if (this.selected >= count) this.selected = -1;
    this.draw();
  }

  schedule() {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      this.draw();
    });
  }

  metrics() {
    const { scrollTop, clientHeight: height } = this.element;
    return { scrollTop, height, rowHeight: this.rowHeight, count: this.count };
  }

  draw() {
    const { first, last, offset, pixels } = windowOf(this.metrics());
    this.spacer.style.height = `${pixels}px`;
    this.rows.style.transform = `translateY(${offset}px)`;
    for (const [at, row] of this.made) {
      if (at < first || at >= last) {
        row.remove();
        this.made.delete(at);
      }
    }
    let next = this.rows.firstChild;
    for (let at = first; at < last; at += 1) {
      let row = this.made.get(at);
      if (row === undefined) {
        row = this.make(at);
        this.rows.insertBefore(row, next);
      } else next = row.nextSibling;
    }
    this.mark();
  }

  make(at) {
    const row = el("div", {
      class: "row", role: "option", id: `${this.element.id}-${at}`, "aria-posinset": at + 1, "aria-setsize": this.count,
      "aria-selected": at === this.selected ? "true" : "false",
    }, ...this.render(at));
    row.dataset.at = at;
    this.made.set(at, row);
    return row;
  }

  mark() {
    for (const [at, row] of this.made) row.setAttribute("aria-selected", at === this.selected ? "true" : "false");
    if (this.made.has(this.selected)) this.element.setAttribute("aria-activedescendant", `${this.element.id}-${this.selected}`);
    else this.element.removeAttribute("aria-activedescendant");
  }

  /** Selects a row and brings it into view; -1 selects none. */
  select(at) {
    this.selected = at;
    const top = at < 0 ? null : scrollTo(this.metrics(), at);
    if (top !== null) this.element.scrollTop = top;
    this.draw();
  }

  onclick(event) {
    const row = event.target.closest(".row");
    if (row !== null) this.choose(Number(row.dataset.at));
  }

  onkey(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.rowHeight) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, PageDown: page, PageUp: -page, Home: -this.count, End: this.count };
    if (!Object.hasOwn(steps, event.key) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.choose(Math.min(this.count - 1, Math.max(0, this.selected + steps[event.key])));
  }

  choose(at) {
    if (at < 0 || at >= this.count) return;
    this.select(at);
    this.onselect(at);
  }
}
