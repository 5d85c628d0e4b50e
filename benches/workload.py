#!/usr/bin/env python3
"""A deterministic MCP workload as mcpreel's JSON lines.

    workload.py COUNT OUT.jsonl          generate COUNT messages
    workload.py --from FILE OUT.jsonl    convert {"t":ns,"s":session,"d":"c"|"s","m":message} lines

Six sessions at a time, each with a handshake, a tool list and a mix of calls, progress, logs,
resource reads, pings, cancellations and errors. Both sides keep the rules of MCP: arguments and
results fit the schemas, and only pending calls are cancelled. All text is cut from the sources of the Python
standard library, so the same Python writes the same file, byte for byte. Half of the servers write
compact JSON and half put spaces after separators, as real ones do. A conversion copies each
message's raw text and never parses it.
"""

import argparse
import base64
import json
import os
import random
import re
import sysconfig
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

SEED = 418
GENERATION = 2  # increase it when the same count would produce a different file
START_NS = 1_795_291_200_000_000_000  # 2026-11-21T20:00:00Z
FIRST_SEQ = 0
SESSIONS_AT_ONCE = 6
CORPUS_BYTES = 24_000_000
SHARED_LINE = re.compile(rb'\{"t":(\d+),"s":(\d+),"d":"([cs])","m":')
DIRECTIONS = {"c": "c2s", "s": "s2c"}

Message = tuple[str, str]  # who sends it ("c" or "s") and its JSON text


class Timestamps:
    """Nanoseconds since 1970 as RFC 3339 text; a second's prefix is formatted once."""

    def __init__(self) -> None:
        self.second = -1
        self.prefix = ""

    def text(self, ns: int) -> str:
        second, rest = divmod(ns, 1_000_000_000)
        if second != self.second:
            self.second = second
            self.prefix = time.strftime("%Y-%m-%dT%H:%M:%S.", time.gmtime(second))
        return f"{self.prefix}{rest:09d}Z"


def reel_line(created: str) -> str:
    return '{"reel":{"version":1,"created":"%s"}}\n' % created


def event_head(seq: int, when: str, stream: int, side: str) -> str:
    """An event up to its message; the raw text and a closing brace follow."""
    return '{"seq":%d,"time":"%s","stream":%d,"dir":"%s","event":"message","message":' % (
        seq, when, stream, DIRECTIONS[side])


class Corpus:
    """Texts of the standard library, and its lines of prose."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.files = list(self._load())
        self.prose = self._prose_lines()
        self.words = sorted({w for line in self.prose[:4000] for w in line.split() if w.isalpha()})

    def _paths(self) -> list[Path]:
        root = Path(sysconfig.get_paths()["stdlib"])
        found = [p for p in root.rglob("*.py")
                 if "site-packages" not in p.parts and not p.name.startswith("_sysconfigdata")]
        found.sort()
        self.rng.shuffle(found)
        return found

    def _load(self) -> Iterator[tuple[str, str]]:
        total = 0
        for path in self._paths():
            try:
                text = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
            if len(text) >= 600:
                total += len(text)
                yield f"/srv/project/{path.parent.name}/{path.name}", text
            if total > CORPUS_BYTES:
                return

    def _prose_lines(self) -> list[str]:
        prose = re.compile(r"^ *#? *([A-Z][A-Za-z',-]+(?: [A-Za-z',-]+){3,14}[.]?)$", re.MULTILINE)
        return sorted({line for _, text in self.files[:500] for line in prose.findall(text)})

    def sentence(self) -> str:
        return self.rng.choice(self.prose)

    def paragraph(self, low: int, high: int) -> str:
        return " ".join(self.sentence() for _ in range(self.rng.randint(low, high)))

    def word(self) -> str:
        return self.rng.choice(self.words)

    def excerpt(self, length: int) -> tuple[str, str]:
        path, text = self.rng.choice(self.files)
        start = self.rng.randrange(max(1, len(text) - length))
        return path, text[start:start + length]


class Server:
    """What one kind of server offers, and how it writes JSON."""

    VERBS = ("read", "write", "list", "search", "create", "update", "delete", "run", "describe")
    NOUNS = ("file", "directory", "issue", "branch", "page", "table", "message", "event", "graph")
    FIELDS = ("path", "query", "limit", "cursor", "owner", "title", "body", "pattern", "url",
              "timeout_ms", "recursive", "labels", "format", "content", "state")
    TYPES = ("string", "string", "string", "integer", "boolean", "number", "array", "object")

    def __init__(self, corpus: Corpus, spaced: bool) -> None:
        self.corpus, self.rng = corpus, corpus.rng
        self.separators = (", ", ": ") if spaced else (",", ":")
        self.ascii = spaced
        self.name = f"{corpus.word().lower()}-server"
        self.version = f"{self.rng.randrange(3)}.{self.rng.randrange(20)}.{self.rng.randrange(9)}"
        self.tools = self._tools(self.rng.randint(5_000, 29_000))
        self.tools_text = self.dump(self.tools)

    def dump(self, value: object) -> str:
        return json.dumps(value, separators=self.separators, ensure_ascii=self.ascii)

    def _tools(self, size: int) -> list[dict]:
        tools: list[dict] = []
        while size > 0:
            tools.append(self._tool(len(tools)))
            size -= len(self.dump(tools[-1]))
        return tools

    def _tool(self, number: int) -> dict:
        rng = self.rng
        name = f"{rng.choice(self.VERBS)}_{rng.choice(self.NOUNS)}_{number}"
        tool = {"name": name, "title": name.replace("_", " ").title(),
                "description": self.corpus.paragraph(2, 9), "inputSchema": self._schema(0)}
        if rng.random() < 0.5:
            tool["annotations"] = {"readOnlyHint": rng.random() < 0.5, "openWorldHint": False}
        if rng.random() < 0.25:
            tool["outputSchema"] = self._row_schema()
        return tool

    def _row_schema(self) -> dict:
        """The schema of what `Session.rows` returns, with the server's own descriptions."""
        kinds = {"id": "integer", "node": "string", "state": "string", "score": "number",
                 "created_at": "string", "labels": "array", "summary": "string"}
        fields = {name: {"type": kind, "description": self.corpus.paragraph(1, 3)} for name, kind in kinds.items()}
        row = {"type": "object", "properties": fields, "required": list(kinds), "additionalProperties": False}
        return {"type": "object", "properties": {"items": {"type": "array", "items": row}}, "required": ["items"]}

    def _schema(self, depth: int) -> dict:
        rng = self.rng
        fields = rng.sample(self.FIELDS, rng.randint(1, 6))
        properties = {field: self._property(depth) for field in fields}
        return {"type": "object", "properties": properties, "required": fields[:2],
                "additionalProperties": False}

    def _property(self, depth: int) -> dict:
        kind = self.rng.choice(self.TYPES)
        prop = {"type": kind, "description": self.corpus.paragraph(1, 3)}
        if kind == "array":
            prop["items"] = {"type": "string"}
        elif kind == "integer":
            prop.update(minimum=0, maximum=65535, default=self.rng.randrange(50))
        elif kind == "object" and depth < 2:
            prop.update(self._schema(depth + 1))
        return prop


class Session:
    """One client and one server talking: an endless iterator over bursts of messages."""

    def __init__(self, corpus: Corpus, server: Server) -> None:
        self.corpus, self.rng, self.server = corpus, corpus.rng, server
        self.last_id = 0
        self.text_ids = self.rng.random() < 0.15
        self.open_calls: list[tuple[object, object, dict]] = []  # request id, progress token or None, tool

    # The envelopes.

    def next_id(self) -> object:
        self.last_id += 1
        return f"req-{self.last_id:06x}" if self.text_ids else self.last_id

    def client(self, method: str, params: dict | None = None, id: object = None) -> Message:
        message: dict = {"jsonrpc": "2.0"}
        if id is not None:
            message["id"] = id
        message["method"] = method
        if params is not None:
            message["params"] = params
        return "c", json.dumps(message, separators=(",", ":"), ensure_ascii=False)

    def notice(self, method: str, params: dict) -> Message:
        return "s", self.server.dump({"jsonrpc": "2.0", "method": method, "params": params})

    def result(self, id: object, result: dict) -> Message:
        return "s", self.server.dump({"jsonrpc": "2.0", "id": id, "result": result})

    # The conversation.

    def talk(self) -> Iterator[list[Message]]:
        yield self.handshake()
        yield self.tool_list()
        bursts = (self.call, self.answer, self.log, self.updated, self.ping, self.read,
                  self.tool_list, self.cancel)
        weights = (34, 36, 15, 5, 4, 3, 1, 2)
        for _ in range(self.rng.randint(100, 1500)):
            yield self.rng.choices(bursts, weights)[0]()
        while self.open_calls:
            yield self.answer()

    def handshake(self) -> list[Message]:
        id = self.next_id()
        hello = {"protocolVersion": "2025-06-18", "capabilities": {"roots": {"listChanged": True}},
                 "clientInfo": {"name": "bench-client", "version": "1.4.0"}}
        welcome = {"protocolVersion": "2025-06-18",
                   "capabilities": {"tools": {"listChanged": True}, "resources": {"subscribe": True}, "logging": {}},
                   "serverInfo": {"name": self.server.name, "version": self.server.version},
                   "instructions": self.corpus.paragraph(3, 8)}
        return [self.client("initialize", hello, id), self.result(id, welcome),
                self.client("notifications/initialized")]

    def tool_list(self) -> list[Message]:
        id = self.next_id()
        answer = '{"jsonrpc":"2.0","id":%s,"result":{"tools":%s}}'
        return [self.client("tools/list", {}, id),
                ("s", answer % (json.dumps(id), self.server.tools_text))]

    def call(self) -> list[Message]:
        id, tool = self.next_id(), self.rng.choice(self.server.tools)
        params = {"name": tool["name"], "arguments": self.arguments(tool["inputSchema"])}
        token = None
        if self.rng.random() < 0.35:
            token = f"progress-{self.last_id}"
            params["_meta"] = {"progressToken": token}
        self.open_calls.append((id, token, tool))
        return [self.client("tools/call", params, id)]

    def arguments(self, schema: dict) -> dict:
        """An object that conforms to the schema: what is required, and some of the rest."""
        makers = {"string": lambda _: self.text(), "integer": lambda _: self.rng.randrange(100),
                  "boolean": lambda _: self.rng.random() < 0.5,
                  "number": lambda _: round(self.rng.random() * 10, 4),
                  "array": lambda _: [self.corpus.word() for _ in range(self.rng.randrange(4))],
                  "object": lambda prop: self.arguments(prop) if "properties" in prop else {}}
        return {name: makers[prop["type"]](prop)
                for name, prop in schema["properties"].items()
                if name in schema["required"] or self.rng.random() < 0.6}

    def text(self) -> str:
        if self.rng.random() < 0.1:
            return self.corpus.excerpt(self.size(200, 3000))[1]
        return self.corpus.sentence()

    def answer(self) -> list[Message]:
        if not self.open_calls:
            return self.call()
        id, token, tool = self.open_calls.pop(self.rng.randrange(len(self.open_calls)))
        steps = self.rng.randint(1, 4) if token else 0
        progress = [self.notice("notifications/progress", {
            "progressToken": token, "progress": step + 1, "total": steps,
            "message": self.corpus.sentence()}) for step in range(steps)]
        return [*progress, self.outcome(id, tool)]

    def outcome(self, id: object, tool: dict) -> Message:
        dice, size = self.rng.random(), self.size(160, 3800)
        if dice < 0.02:
            error = {"code": self.rng.choice((-32602, -32603, -32000)),
                     "message": self.corpus.sentence(),
                     "data": {"trace": self.corpus.excerpt(300)[1]}}
            return "s", self.server.dump({"jsonrpc": "2.0", "id": id, "error": error})
        if dice < 0.06:
            text = f"Error: no such file or directory: {self.corpus.excerpt(1)[0]}"
            return self.result(id, {"content": [{"type": "text", "text": text}], "isError": True})
        if "outputSchema" in tool:
            rows = {"items": self.rows(size // 2)}
            return self.result(id, text_content(json.dumps(rows)) | {"structuredContent": rows})
        if dice < 0.65:
            return self.result(id, text_content(self.corpus.excerpt(size)[1]))
        if dice < 0.94:
            return self.result(id, text_content(json.dumps(self.rows(size), indent=2)))
        data = base64.b64encode(self.rng.randbytes(min(size, 2800))).decode()
        return self.result(id, {"content": [
            {"type": "image", "data": data, "mimeType": "image/png"}]})

    def rows(self, size: int) -> list[dict]:
        rng = self.rng
        return [{"id": rng.randrange(10**7), "node": f"{rng.getrandbits(64):016x}",
                 "state": rng.choice(("open", "closed", "draft")),
                 "score": round(rng.random() * 100, 3),
                 "created_at": f"2026-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}T09:30:00Z",
                 "labels": [self.corpus.word() for _ in range(rng.randrange(3))],
                 "summary": self.corpus.sentence()} for _ in range(1 + size // 220)]

    def log(self) -> list[Message]:
        data = {"message": self.corpus.sentence(), "elapsed_ms": round(self.rng.random() * 900, 3)}
        return [self.notice("notifications/message", {
            "level": self.rng.choice(("debug", "info", "notice", "warning")),
            "logger": self.rng.choice(("http", "db", "cache", "tool")), "data": data})]

    def updated(self) -> list[Message]:
        uri = f"file://{self.corpus.excerpt(1)[0]}"
        return [self.notice("notifications/resources/updated", {"uri": uri})]

    def ping(self) -> list[Message]:
        id = self.next_id()
        return [self.client("ping", None, id), self.result(id, {})]

    def read(self) -> list[Message]:
        id = self.next_id()
        path, text = self.corpus.excerpt(self.size(800, 9000))
        uri = f"file://{path}"
        contents = [{"uri": uri, "mimeType": "text/x-python", "text": text}]
        return [self.client("resources/read", {"uri": uri}, id),
                self.result(id, {"contents": contents})]

    def cancel(self) -> list[Message]:
        if not self.open_calls:
            return self.call()
        id, _, _ = self.open_calls.pop(self.rng.randrange(len(self.open_calls)))
        params = {"requestId": id, "reason": self.corpus.sentence()}
        return [self.client("notifications/cancelled", params)]

    def size(self, low: int, high: int) -> int:
        """Between low and high, small ones more often (uniform in the logarithm)."""
        return int(low * (high / low) ** self.rng.random())


def text_content(text: str) -> dict:
    return {"content": [{"type": "text", "text": text}]}


def messages(rng: random.Random) -> Iterator[tuple[int, str, str]]:
    """Endless (session number, side, text), the sessions interleaved at random."""
    corpus = Corpus(rng)
    servers = [Server(corpus, spaced=number % 2 == 1) for number in range(14)]
    started, active = 0, []
    while True:
        while len(active) < SESSIONS_AT_ONCE:
            active.append((started, Session(corpus, rng.choice(servers)).talk()))
            started += 1
        chosen = rng.randrange(SESSIONS_AT_ONCE)
        number, talk = active[chosen]
        burst = next(talk, None)
        if burst is None:
            del active[chosen]
            continue
        for side, text in burst:
            yield number, side, text


def generate(count: int, out: Path) -> None:
    rng, stamps, now = random.Random(SEED), Timestamps(), START_NS
    with open(out, "w", encoding="utf-8", buffering=1 << 20) as file:
        file.write(reel_line(stamps.text(now)))
        for seq, (stream, side, text) in zip(range(FIRST_SEQ, FIRST_SEQ + count), messages(rng)):
            now += 20_000 + int(rng.expovariate(1 / 450_000))
            file.write(event_head(seq, stamps.text(now), stream, side) + text + "}\n")


def convert(source: Path, out: Path, count: int | None = None) -> None:
    """Converts the shared form into mcpreel's JSON lines; the message's bytes are sliced, not parsed."""
    stamps, index = Timestamps(), -1
    with open(source, "rb") as lines, open(out, "wb", buffering=1 << 20) as file:
        for index, line in enumerate(islice(lines, count)):
            head = SHARED_LINE.match(line)
            if head is None or not line.endswith(b"}\n"):
                raise SystemExit(f"{source}:{index + 1}: not a line of the shared workload form")
            when = stamps.text(int(head[1]))
            if index == 0:
                file.write(reel_line(when).encode())
            start = event_head(FIRST_SEQ + index, when, int(head[2]), head[3].decode())
            file.write(start.encode() + line[head.end():-2] + b"}\n")
    if count is not None and index + 1 < count:
        raise SystemExit(f"{source} has {index + 1} messages, not {count}")


def write(out: Path, count: int, source: Path | None = None) -> None:
    """Writes the workload under a temporary name first, so that an unfinished one is never used."""
    partial = out.with_name(out.name + ".partial")
    if source:
        convert(source, partial, count)
    else:
        generate(count, partial)
    os.replace(partial, out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("count", type=int, nargs="?", help="messages (all, with --from)")
    parser.add_argument("out", type=Path)
    parser.add_argument("--from", dest="source", type=Path, metavar="FILE",
                        help="convert this file of the shared form")
    args = parser.parse_intermixed_args()
    if args.count is None and args.source is None:
        parser.error("COUNT is needed without --from")
    write(args.out, args.count, args.source)


if __name__ == "__main__":
    main()
