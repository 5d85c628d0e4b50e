// The session in the page: columns of all events, and their texts in compressed blocks that are read when needed.

import { lowerAscii } from "./filter.mjs";

const KEPT_BLOCKS = 8;

/** The bytes of a text in base64. */
function fromBase64(text) {
  const binary = atob(text);
  const out = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) out[at] = binary.charCodeAt(at);
  return out;
}

/** Decompresses bytes in the gzip format. */
export async function gunzip(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Reads the block in the element with this id. */
export async function readBlock(id) {
  const element = document.getElementById(id);
  return gunzip(fromBase64(element.textContent));
}

/** One event, as filters and views need it. */
class Row {
  constructor(session, at) {
    this.session = session;
    this.at = at;
  }

  column(name) {
    return this.session.columns[name][this.at];
  }

  get seq() { return this.column("seq"); }
  get time() { return this.column("time"); }
  get stream() { return this.column("stream"); }
  get dir() { return [null, "c2s", "s2c"][this.column("dir")]; }
  get event() { return this.session.texts[this.column("event")]; }
  get kind() { return this.text("kind"); }
  get method() { return this.text("method"); }
  get title() { return this.session.texts[this.column("title")]; }
  get tool() { return this.text("tool"); }
  get id() { return this.column("id") || null; }
  get size() { return this.column("size"); }
  get latency() { return this.column("latency"); }
  get about() { return this.column("about"); }
  get subject() { return this.column("subject"); }
  get outcome() { return this.column("outcome"); }
  get depth() { return this.column("depth"); }
  get extensions() { return this.column("extensions"); }
  get injected() { return (this.column("flags") & 1) !== 0; }
  get toolError() { return (this.column("flags") & 2) !== 0; }
  get failed() { return (this.column("flags") & 4) !== 0; }
  get broken() { return (this.column("flags") & 8) !== 0; }
  /** The names of its marks. */
  get marks() { return this.session.markNames.filter((_, bit) => (this.column("marks") & (1 << bit)) !== 0); }
  /** The place of the request that it answers, or of the response to it; -1 if there is none. */
  get partner() { return this.session.partners[this.at]; }
  get isResponse() { return this.kind === "result" || this.kind === "error"; }
  get isRequest() { return this.kind === "request"; }

  text(name) {
    const at = this.column(name);
    return at < 0 ? null : this.session.texts[at];
  }
}

/** A whole session. */
export class Session {
  constructor(index, read = readBlock) {
    Object.assign(this, index);
    this.read = read;
    this.count = this.columns.seq.length;
    this.partners = partners(this.columns);
    this.blocks = new Map();
    this.findingsOf = new Map();
    this.findings.forEach((finding, at) => {
      if (finding.row >= 0) this.findingsOf.set(finding.row, [...(this.findingsOf.get(finding.row) ?? []), at]);
    });
  }

  /** The event at this place. */
  row(at) {
    return new Row(this, at);
  }

  /** The place of the event with this number, or of the next one; -1 if there is none. */
  find(seq) {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.columns.seq[middle] < seq) low = middle + 1;
      else high = middle;
    }
    return low < this.count ? low : -1;
  }

  /** The names of the client and the server of a stream. */
  names(stream) {
    const found = this.streams.find((one) => one.stream === stream);
    return [found?.client ?? "client", found?.server ?? "server"];
  }

  /** The bytes of a block. The ones used last are kept. */
  block(number) {
    const known = this.blocks.get(number);
    const read = known ?? this.read(`block-${number}`);
    this.blocks.delete(number);
    this.blocks.set(number, read);
    if (this.blocks.size > KEPT_BLOCKS) this.blocks.delete(this.blocks.keys().next().value);
    return read;
  }

  /** The recorded bytes of an event. */
  async payload(at) {
    const [number, start, length] = ["block", "start", "length"].map((name) => this.columns[name][at]);
    if (number < 0) return new Uint8Array();
    return (await this.block(number)).subarray(start, start + length);
  }
}

/** Ties requests and responses together, in both directions. */
export function partners(columns) {
  const found = new Int32Array(columns.seq.length).fill(-1);
  columns.asked.forEach((request, at) => {
    if (request < 0) return;
    found[at] = request;
    found[request] = at;
  });
  return found;
}

/** The text of bytes for a search: lower case, and every byte that is not UTF-8 replaced. */
export function searchable(bytes) {
  return lowerAscii(new TextDecoder().decode(bytes));
}
