// Puts the page together: tabs, filter, list, pictures, panel, links, themes, keys and printing.

import { byId, el, fill, visible } from "./dom.mjs";
import { Session, readBlock } from "./data.mjs";
import { parseFilter } from "./filter.mjs";
import { VirtualList } from "./list.mjs";
import { overview, table } from "./overview.mjs";
import { link, show } from "./panel.mjs";
import { pause, search } from "./search.mjs";
import { arrowRow, arrowsOf, headings, lanesOfStreams, says } from "./sequence.mjs";
import { Timeline } from "./timeline.mjs";
import { bytes, counted, duration, roundTime, seconds } from "./units.mjs";
import { lanesOf } from "./waits.mjs";

const ROW_HEIGHT = 22;
const TABS = ["overview", "messages", "sequence", "timeline"];
const FILTER_DELAY_MS = 200;
const PRINTED_ROWS = 2000;

/** The page of one session. */
class Page {
  constructor(session) {
    this.session = session;
    this.places = Array.from({ length: session.count }, (_, at) => at);
    this.lifelines = lanesOfStreams(session);
    this.searches = 0;
    this.shown = 0;
    this.list = new VirtualList({ label: "Messages", rowHeight: ROW_HEIGHT, render: (at) => this.messageRow(this.places[at]), onselect: (at) => this.go(this.places[at]) });
    this.diagram = new VirtualList({ label: "Sequence diagram", rowHeight: ROW_HEIGHT, render: (at) => arrowRow(session, this.lifelines, this.arrows[at]), onselect: (at) => this.go(this.arrows[at].first) });
    this.timeline = new Timeline({ onselect: (at) => this.go(at), onrange: (range) => this.showRange(range) });
    this.waits = byId("waits");
    this.list.element.id = "list";
    this.diagram.element.id = "diagram";
    byId("messages").append(columnHeadings(), this.list.element);
    byId("sequence").append(headings(session, this.lifelines), this.diagram.element);
    byId("timeline").prepend(this.timeline.element);
    document.body.style.setProperty("--lanes", this.lifelines.count);
  }

  start() {
    const { session } = this;
    fill(byId("overview"), ...overview(session, lanesOf(session, this.places)));
    this.showPlaces();
    for (const tab of TABS) byId(`tab-${tab}`).addEventListener("click", (event) => this.onTabClick(event, tab));
    byId("tabs").addEventListener("keydown", (event) => this.onTabKey(event));
    byId("filter").addEventListener("input", () => this.filterSoon());
    byId("filter-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.filter(byId("filter").value);
    });
    byId("theme").addEventListener("change", (event) => setTheme(event.target.value));
    byId("close").addEventListener("click", () => this.closePanel());
    window.addEventListener("hashchange", () => this.follow());
    document.addEventListener("keydown", (event) => this.onkey(event));
    window.addEventListener("beforeprint", () => this.print());
    window.addEventListener("afterprint", () => fill(byId("print")));
    this.open("overview");
    this.follow();
  }

  /** Shows the events that the filter selects, in all views. The pictures are only made when they are opened. */
  showPlaces() {
    this.arrows = null;
    this.lanes = null;
    this.list.reset(this.places.length);
    const all = this.session.count;
    byId("count").textContent = this.places.length === all ? counted(all, "event") : `${this.places.length.toLocaleString("en")} of ${counted(all, "event")}`;
    this.showPicture();
    this.mark();
  }

  showPicture() {
    if (this.tab === "sequence" && this.arrows === null) {
      this.arrows = arrowsOf(this.session, this.places);
      this.diagram.reset(this.arrows.length);
      this.mark();
    } else if (this.tab === "sequence") this.diagram.draw();
    if (this.tab === "timeline" && this.lanes === null) {
      const { time } = this.session.columns;
      this.lanes = lanesOf(this.session, this.places);
      this.timeline.reset(this.lanes, { start: time[0] ?? 0, end: time[this.session.count - 1] ?? 1 });
      fill(this.waits, this.waitsTable());
    }
    if (this.tab === "messages") this.list.draw();
  }

  waitsTable() {
    const row = (lane) => {
      const [client, server] = this.session.names(lane.stream);
      const longest = lane.longest === null ? ["", ""] : [duration(lane.longest.end - lane.longest.start), link(this.session.columns.seq[lane.longest.request])];
      return [visible(lane.dir === "c2s" ? `${client} → ${server}` : `${server} → ${client}`), visible(lane.method), visible(lane.name), String(lane.waits.length), duration(lane.total), ...longest];
    };
    return table("Who waited for what", ["who waits for whom", "method", "name", "calls", "waited", "longest", "event"], this.lanes.map(row));
  }

  showRange(range) {
    byId("range").textContent = `${roundTime(range.start)} to ${roundTime(range.end)}`;
  }

  messageRow(at) {
    const row = this.session.row(at);
    const arrow = row.dir === "c2s" ? "→" : row.dir === "s2c" ? "←" : "·";
    return [
      el("span", { class: "seq" }, String(row.seq)), el("span", { class: "time" }, seconds(row.time)),
      el("span", { class: `way ${row.dir ?? ""}` }, arrow), el("span", { class: "size" }, bytes(row.size)),
      el("span", { class: "latency" }, row.latency === null ? "" : duration(row.latency)),
      el("span", { class: `says depth-${Math.min(row.depth, 4)}` }, this.lifelines.of.size > 1 ? `#${row.stream} ` : "", ...says(this.session, row)),
    ];
  }

  open(tab) {
    this.tab = tab;
    for (const one of TABS) {
      const button = byId(`tab-${one}`);
      button.setAttribute("aria-selected", one === tab ? "true" : "false");
      button.tabIndex = one === tab ? 0 : -1;
      byId(one).hidden = one !== tab;
    }
    this.showPicture();
    this.mark();
  }

  /** With the mouse, the keys of a view work at once. With the keyboard, the focus stays in the tabs. */
  onTabClick(event, tab) {
    this.open(tab);
    if (event.detail > 0) this.current().focus();
  }

  onTabKey(event) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    this.open(TABS[(TABS.indexOf(this.tab) + by + TABS.length) % TABS.length]);
    byId(`tab-${this.tab}`).focus();
  }

  filterSoon() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.filter(byId("filter").value), FILTER_DELAY_MS);
  }

  async filter(text) {
    clearTimeout(this.waiting);
    this.searches += 1;
    const mine = this.searches;
    const state = byId("filter-state");
    let matches;
    try {
      matches = parseFilter(text, this.session.extensions);
    } catch (error) {
      byId("filter").setAttribute("aria-invalid", "true");
      state.textContent = error.message;
      return;
    }
    byId("filter").removeAttribute("aria-invalid");
    const progress = (part) => (state.textContent = `searching: ${Math.floor(part * 100)} %`);
    const places = await search(this.session, matches, progress, () => mine !== this.searches);
    if (places === null) return;
    await pause();
    if (mine !== this.searches) return;
    state.textContent = places.length === 0 ? "nothing matches" : "";
    this.places = places;
    this.showPlaces();
    if (text !== "" && this.tab === "overview") this.leaveOverview();
  }

  /** Goes to an event by changing the address, so that Back returns. */
  go(at) {
    const hash = `#seq-${this.session.columns.seq[at]}`;
    if (location.hash === hash) this.showEvent(at);
    else location.hash = hash;
  }

  follow() {
    const [, filter] = /^#filter-(error|injected)$/.exec(location.hash) ?? [];
    if (filter !== undefined) {
      byId("filter").value = filter;
      this.filter(filter);
    }
    if (location.hash === "") this.comeBack();
    const wanted = /^#seq-(\d+)$/.exec(location.hash);
    if (wanted === null) return;
    const at = this.session.find(Number(wanted[1]));
    byId("filter-state").textContent = at < 0 ? `there is no event ${wanted[1]} in this page` : "";
    if (at < 0) return;
    if (this.tab === "overview") this.leaveOverview();
    this.showEvent(at);
  }

  leaveOverview() {
    this.isFromOverview = true;
    this.open("messages");
  }

  /** After Back: to what was there before a link. */
  comeBack() {
    this.hidePanel();
    if (this.isFromOverview) this.open("overview");
    this.isFromOverview = false;
  }

  showEvent(at) {
    this.shown += 1;
    const mine = this.shown;
    this.selected = at;
    byId("panel").hidden = false;
    document.body.classList.add("has-panel");
    show(byId("panel-content"), this.session, at, () => mine !== this.shown);
    this.mark();
  }

  /** Selects the chosen event in the lists. */
  mark() {
    if (this.selected === undefined) return;
    if (this.tab === "messages") this.list.select(placeOf(this.places, this.selected));
    if (this.tab === "sequence" && this.arrows !== null) {
      const at = this.arrows.findIndex((arrow) => arrow.first <= this.selected && this.selected <= arrow.last);
      this.diagram.select(at);
    }
  }

  hidePanel() {
    byId("panel").hidden = true;
    document.body.classList.remove("has-panel");
  }

  closePanel() {
    this.hidePanel();
    history.replaceState(null, "", location.pathname + location.search);
    this.current().focus();
  }

  current() {
    return { messages: this.list.element, sequence: this.diagram.element, timeline: this.timeline.canvas }[this.tab] ?? byId("tab-overview");
  }

  onkey(event) {
    const isTyping = event.target.closest("input, select, textarea") !== null;
    if (event.key === "Escape") {
      // Otherwise the browser empties the box, and the filter stays.
      event.preventDefault();
      if (isTyping) this.current().focus();
      else if (!byId("panel").hidden) this.closePanel();
      return;
    }
    if (isTyping || event.ctrlKey || event.altKey || event.metaKey) return;
    const keys = {
      "/": () => byId("filter").focus(),
      "?": () => (byId("help").open = !byId("help").open),
      n: () => this.step(1, "finding", (row) => this.session.findingsOf.has(row.at)), N: () => this.step(-1, "finding", (row) => this.session.findingsOf.has(row.at)),
      e: () => this.step(1, "error", (row) => row.failed || row.toolError || row.kind === "error"),
      p: () => this.selected !== undefined && this.session.row(this.selected).partner >= 0 && this.go(this.session.row(this.selected).partner),
    };
    TABS.forEach((tab, at) => (keys[at + 1] = () => this.openWithKey(tab)));
    if (!Object.hasOwn(keys, event.key)) return this.onViewKey(event);
    event.preventDefault();
    keys[event.key]();
  }

  openWithKey(tab) {
    this.open(tab);
    this.current().focus();
  }

  /** The keys of the view that is open work wherever the focus is, except where they have another use. */
  onViewKey(event) {
    if (event.defaultPrevented || event.target.closest("#panel, button, a, details") !== null) return;
    ({ messages: this.list, sequence: this.diagram, timeline: this.timeline })[this.tab]?.onkey(event);
  }

  /** Goes to the next event of a kind, among those that the filter selects. */
  step(by, noun, isWanted) {
    const from = this.selected === undefined ? -1 : placeOf(this.places, this.selected);
    for (let at = from + by; at >= 0 && at < this.places.length; at += by) {
      if (isWanted(this.session.row(this.places[at]))) return this.go(this.places[at]);
    }
    byId("filter-state").textContent = `no further ${noun}`;
    return undefined;
  }

  /** On paper, lists cannot be scrolled. */
  print() {
    const isDiagram = this.tab === "sequence";
    const printed = isDiagram ? this.arrows : this.places;
    const content = (one) => (isDiagram ? arrowRow(this.session, this.lifelines, one) : this.messageRow(one));
    const rows = printed.slice(0, PRINTED_ROWS).map((one) => el("div", { class: "row" }, ...content(one)));
    const left = printed.length - rows.length;
    const top = isDiagram ? [el("h2", {}, "Sequence"), headings(this.session, this.lifelines)] : [el("h2", {}, "Messages"), columnHeadings()];
    fill(byId("print"), ...top, ...rows, left > 0 ? el("p", {}, `${counted(left, "more row")} not printed; use a filter.`) : null);
  }
}

/** What the columns of the list are. */
function columnHeadings() {
  const names = [["seq", "no."], ["time", "time"], ["way", " "], ["size", "size"], ["latency", "latency"], ["says", "method, arguments → result"]];
  return el("div", { class: "row heading", "aria-hidden": "true" }, ...names.map(([name, text]) => el("span", { class: name }, text)));
}

/** The place of a number in a sorted list, or -1. */
function placeOf(sorted, wanted) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === wanted ? low : -1;
}

function setTheme(name) {
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  page?.timeline.schedule();
}

let page = null;

async function begin() {
  try {
    const index = JSON.parse(new TextDecoder().decode(await readBlock("index")));
    page = new Page(new Session(index));
    page.start();
    document.body.dataset.ready = "true";
  } catch (error) {
    fill(byId("overview"), el("p", { class: "bad" }, `This page cannot be shown: ${error.message}. It needs a browser of 2023 or newer.`));
  }
}

if (typeof document !== "undefined") begin();
