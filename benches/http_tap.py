#!/usr/bin/env python3
"""Compares `record --listen` with reverse proxies and bridges, in one run, from outside the process.

    python3 benches/http_tap.py [--bin target/release/mcpreel] [--work DIR] [--pairs 5]
                                [--calls 5000] [--only NAME,...] [--json OUT]

Prints the same table as compare.py. A rival that is not installed is skipped with the reason
(NGINX, MITMDUMP, MCP_PROXY and SUPERGATEWAY can name one that is not on PATH). Exit code 0: no
target missed; 1: some were missed or could not be measured; 2: usage. What each figure means is in
benches/README.md.
"""

import argparse
import json
import os
import re
import shlex
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import stored
from compare import Figures, measure
from context import ROOT, Context, compile_client, compile_proxy, find_program
from measure import BenchError, Command, interleave, median_ratio
from report import Row, Target, at_most, rate, seconds, size, skipped

CLIENTS = 10
WARMUP = 200
ANY_CPU = -1
START_SECONDS = 20
HANDSHAKE = 3  # initialize, its answer, initialized


@dataclass
class Way:
    """A process between client and server that listens; without a process, the server itself."""

    port: int
    process: subprocess.Popen | None = None

    def peak(self) -> int:
        """The process's peak memory in bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@contextmanager
def started(command: Command, said: Path, cpu: int, port: Callable[[str], int | None]) -> Iterator[Way]:
    """Runs a command until the end of the block; `port` finds its port in its output."""
    pin = (lambda: os.sched_setaffinity(0, {cpu})) if cpu >= 0 else None
    with open(said, "wb") as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, preexec_fn=pin)
    try:
        yield Way(listening(process, said, port), process)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def listening(process: subprocess.Popen, said: Path, port: Callable[[str], int | None]) -> int:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        text = said.read_text(errors="replace")
        if found := port(text):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", found)) == 0:
                    return found
        time.sleep(0.02)
    last = said.read_text(errors="replace").strip()[-300:]
    raise BenchError(f"{process.args[0]} does not listen: {last}")


class Ways:
    """The routes from client to server."""

    def __init__(self, ctx: Context):
        self.ctx = ctx
        self.http_server = compile_client("http_server", ctx.work)
        self.client = compile_client("http_calls", ctx.work)
        self.reel = ctx.work / "http.reel"

    @contextmanager
    def server(self, cpu: int) -> Iterator[Way]:
        said = self.ctx.work / "http_server.txt"
        with started([self.http_server], said, cpu, lambda text: int(text or 0)) as way:
            yield way

    @contextmanager
    def direct(self, cpu: int) -> Iterator[Way]:
        with self.server(cpu) as server:
            yield Way(server.port)

    @contextmanager
    def tap(self, cpu: int) -> Iterator[Way]:
        with self.server(cpu) as server, self.tap_before(server.port, cpu) as way:
            yield way

    @contextmanager
    def tap_before(self, port: int, cpu: int = ANY_CPU) -> Iterator[Way]:
        """`record --listen` in front of the server on this port."""
        url = f"http://127.0.0.1:{port}/mcp"
        command = self.ctx.ours("record", "--force", "-o", self.reel, "--listen", "0", "--url", url)
        address = re.compile(r"listening on http://127\.0\.0\.1:(\d+)")
        find_port = lambda text: (found := address.search(text)) and int(found[1])
        with started(command, self.ctx.work / "tap.txt", cpu, find_port) as way:
            yield way

    @contextmanager
    def proxy(self, make: Callable[[int, int], Command], cpu: int) -> Iterator[Way]:
        """A rival with its command for this port, in front of the server's."""
        with self.server(cpu) as server:
            port = free_port()
            with started(make(port, server.port), self.ctx.work / "rival.txt", cpu, lambda _: port) as way:
                yield way

    def calls(self, way, clients: int, calls: int, cpu: int) -> dict:
        """Starts a route, makes the calls, and ends it; a reel must contain all of them."""
        with way(cpu) as open_way:
            words = [self.client, open_way.port, clients, calls, WARMUP, cpu]
            _, text = self.ctx.runner.output([str(word) for word in words])
            found = json.loads(text)
            found["peak"] = open_way.peak() if open_way.process else 0
        if way == self.tap:
            expected = clients * (2 * (calls + WARMUP) + HANDSHAKE)
            if (held := self.ctx.recorded_messages(self.reel)) != expected:
                raise BenchError(f"{self.reel.name} holds {held} of {expected} messages")
        return found


# Large messages.

class Echo(BaseHTTPRequestHandler):
    """Returns every message: as JSON, or as an event if `X-Back` says so."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:  # noqa: N802, the library chose the name
        body = self.rfile.read(int(self.headers["Content-Length"]))
        kind = "application/json"
        if self.headers["X-Back"] == "events":
            kind, body = "text/event-stream", b"event: message\ndata: " + body + b"\n\n"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Logs nothing."""


def exchange_large(ways: Ways, back: str, count: int) -> int:
    """One client's messages of up to 1 MiB, each returned; returns the recorder's peak memory in bytes."""
    path = stored.large_messages(ways.ctx.work / "large.ndjson", stored.LARGEST // 2)
    messages = path.read_bytes().splitlines()[:count]
    path.unlink()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    head = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "X-Back": back}
    with ways.tap_before(server.server_port) as way:
        client = HTTPConnection("127.0.0.1", way.port)
        for message in messages:
            client.request("POST", "/mcp", message, head)
            if message not in (given := client.getresponse().read()):
                raise BenchError(f"{len(message)} bytes were sent, {len(given)} others came back")
        peak = way.peak()
    server.shutdown()
    server.server_close()
    if (held := ways.ctx.recorded_messages(ways.reel)) != 2 * count:
        raise BenchError(f"{ways.reel.name} holds {held} of {2 * count} messages")
    return peak


# The rivals' commands.

NGINX = """
daemon off; worker_processes 1; pid {work}/nginx.pid; error_log {work}/nginx.txt error;
events {{ worker_connections 512; }}
http {{
  access_log off;
  client_body_temp_path {work}/nginx-body; proxy_temp_path {work}/nginx-proxy;
  fastcgi_temp_path {work}/nginx-1; uwsgi_temp_path {work}/nginx-2; scgi_temp_path {work}/nginx-3;
  keepalive_requests 10000000;
  upstream server {{ server 127.0.0.1:{to}; keepalive 32; keepalive_requests 10000000; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://server; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_buffering off;
    }}
  }}
}}
"""


def nginx(ctx: Context, program: str, port: int, to: int) -> Command:
    config = ctx.work / "nginx.conf"
    config.write_text(NGINX.format(work=ctx.work, port=port, to=to))
    return [program, "-p", str(ctx.work), "-c", str(config)]


def mitmdump(ctx: Context, program: str, port: int, to: int) -> Command:
    return [program, "-q", "--mode", f"reverse:http://127.0.0.1:{to}", "--listen-host", "127.0.0.1",
            "--listen-port", str(port), "--set", f"confdir={ctx.work}/mitm", "-w", str(ctx.work / "http.mitm")]


def mcp_proxy(ctx: Context, program: str, port: int, _to: int) -> Command:
    return [program, "--port", str(port), "--log-level", "ERROR", "--", ctx.server, "echo"]


def supergateway(ctx: Context, program: str, port: int, _to: int) -> Command:
    return [program, "--stdio", shlex.join([ctx.server, "echo"]), "--outputTransport", "streamableHttp",
            "--stateful", "--port", str(port), "--logLevel", "none"]


@dataclass(frozen=True)
class Rival:
    make: Callable[[Context, str, int, int], Command]
    does: str
    target: Target | None


FIFTEENTH = at_most(1 / 15)
RIVALS = {
    "mitmdump": Rival(mitmdump, "a reverse proxy that records, like mcpreel", FIFTEENTH),
    "mcp-proxy": Rival(mcp_proxy, "a bridge to a stdio server, records nothing", FIFTEENTH),
    "supergateway": Rival(supergateway, "a bridge to a stdio server, records nothing", FIFTEENTH),
}


def find_rival(name: str) -> str | None:
    return find_program(os.environ.get(name.upper().replace("-", "_"), name))


# The figures.

def relays(ways: Ways) -> dict[str, Callable]:
    """What to compare with: nginx, if it is here, the least that a proxy on hyper costs, and the least with a recorder."""
    bare = compile_proxy("bare_proxy", ways.ctx.work)
    kept = str(ways.ctx.work / "http.zst")
    them = {"hyper": partial(ways.proxy, lambda port, to: [bare, str(port), str(to)]),
            "least": partial(ways.proxy, lambda port, to: [bare, str(port), str(to), kept])}
    if program := find_rival("nginx"):
        them["nginx"] = partial(ways.proxy, partial(nginx, ways.ctx, program))
    return them


NO_NGINX = "no nginx on this machine (apt-get install nginx-light, or NGINX=)"


def round_trip(ctx: Context) -> list[Row]:
    """Whole round trips of the tap, of nginx, and of the proxies in `bare_proxy`, divided by each other."""
    ways = Ways(ctx)
    others = relays(ways)
    rows = [] if "nginx" in others else [skipped("round trip by nginx", NO_NGINX)]
    for figure, cpu in (("one CPU", max(os.sched_getaffinity(0))), ("free", ANY_CPU)):
        taken = sample(ways, {"direct": ways.direct, "tap": ways.tap, **others}, cpu)
        medians = {way: [one["median_ns"] for one in found] for way, found in taken.items()}
        added = ", ".join(f"{nanoseconds(added_by(medians, way))} by {way}" for way in medians if way != "direct")
        note = f"direct {nanoseconds(medians['direct'])}; added: {added}"
        pairs = compared(medians)
        for ours, theirs in pairs:
            target = at_most(1.25) if (ours, theirs) == ("tap", "nginx") and cpu != ANY_CPU else None
            rows.append(Row(f"round trip of {ours} by {theirs}, {figure}", nanoseconds(medians[ours]),
                            nanoseconds(medians[theirs]), ratio=median_ratio(medians[ours], medians[theirs]),
                            target=target, note=note if (ours, theirs) == pairs[0] else "", samples=taken))
    return rows


def compared(ways: dict) -> list[tuple[str, str]]:
    """Which ways to compare with which: the tap with the others, and these with each other."""
    pairs = [("tap", "nginx"), ("tap", "least"), ("least", "nginx"), ("hyper", "nginx")]
    return [pair for pair in pairs if pair[1] in ways]


def rivals(ctx: Context) -> list[Row]:
    """What recording adds to a round trip, divided by what each rival adds, on one CPU."""
    return [row for name, rival in RIVALS.items() for row in rival_rows(ctx, name, rival)]


def rival_rows(ctx: Context, name: str, rival: Rival) -> list[Row]:
    figure = f"added latency by {name}"
    program = find_rival(name)
    if program is None:
        return [skipped(figure, f"no {name} on this machine ({name.upper().replace('-', '_')}= says where)")]
    ways, cpu = Ways(ctx), max(os.sched_getaffinity(0))
    make = partial(rival.make, ctx, program)
    taken = sample(ways, {"direct": ways.direct, "tap": ways.tap, name: partial(ways.proxy, make)}, cpu)
    medians = {way: [one["median_ns"] for one in found] for way, found in taken.items()}
    ours, theirs = added_by(medians, "tap"), added_by(medians, name)
    whole = median_ratio(medians["tap"], medians[name])
    note = f"{name}: {rival.does}; whole round trips {nanoseconds(medians['tap'])} and {nanoseconds(medians[name])}, {whole:.3f}"
    return [Row(figure, nanoseconds(ours), nanoseconds(theirs), ratio=median_ratio(ours, theirs),
                target=rival.target, note=note, samples=taken)]


def sample(ways: Ways, them: dict, cpu: int) -> dict[str, list[dict]]:
    """One client's calls over each route in turn, round by round."""
    measures = {name: partial(ways.calls, way, 1, ways.ctx.messages, cpu) for name, way in them.items()}
    return interleave(measures, ways.ctx.pairs)


def added_by(medians: dict[str, list[float]], way: str) -> list[float]:
    return [after - before for after, before in zip(medians[way], medians["direct"], strict=True)]


def nanoseconds(values: list[float]) -> str:
    return seconds(statistics.median(values) / 1e9)


def throughput(ctx: Context) -> list[Row]:
    """Ten clients at once; every call answered, every message in the reel once, and the recorder's memory."""
    ways = Ways(ctx)
    taken = interleave({name: partial(ways.calls, way, CLIENTS, ctx.messages, ANY_CPU)
                        for name, way in {"tap": ways.tap, **relays(ways)}.items()}, ctx.pairs)
    speeds = {name: [one["per_second"] for one in found] for name, found in taken.items()}
    shown = {name: rate(statistics.median(values), "calls/s") for name, values in speeds.items()}
    figure = f"{CLIENTS} clients at once"
    rows = [] if "nginx" in speeds else [skipped(f"{figure}, tap by nginx", NO_NGINX)]
    rows += [Row(f"{figure}, {ours} by {theirs}", shown[ours], shown[theirs],
                 ratio=median_ratio(speeds[ours], speeds[theirs]),
                 note="calls a second: higher is better; all are in every reel" if ours == "tap" else "", samples=taken)
             for ours, theirs in compared(speeds)]
    peak = max(one["peak"] for one in taken["tap"])
    return [*rows, Row(f"{figure}: peak RSS of the tap", size(peak), target=at_most(24, "MB"), value=peak / 1e6)]


def memory(ctx: Context) -> list[Row]:
    """The recorder's memory with large messages, of a copied binary as in `compare.py`."""
    ways = Ways(replace(ctx, bin=str(ctx.installed)))
    peaks = {back: exchange_large(ways, back, stored.LARGE_MESSAGES) for back in ("json", "events")}
    return [Row(f"peak RSS of the tap, messages up to 1 MiB, {back} back", size(most), target=at_most(16, "MB"),
                value=most / 1e6) for back, most in peaks.items()]


FIGURES: Figures = {
    "round-trip": round_trip, "rivals": rivals, "throughput": throughput, "memory": memory,
}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bin", type=Path, default=ROOT / "target/release/mcpreel")
    parser.add_argument("--work", type=Path, default=ROOT / "target/compare")
    parser.add_argument("--calls", type=int, default=5000, help="of each client, in each round")
    parser.add_argument("--pairs", type=int, default=5, help="counted rounds")
    parser.add_argument("--only", metavar="NAME,...", help=", ".join(FIGURES))
    parser.add_argument("--check", action="store_true", help="judge only whether results are right, not how fast")
    parser.add_argument("--json", type=Path, metavar="OUT", help="every row and sample")
    args = parser.parse_args()
    args.only = args.only.split(",") if args.only else list(FIGURES)
    unknown = [name for name in args.only if name not in FIGURES]
    if unknown:
        parser.error(f"no figure {', '.join(unknown)}; there are {', '.join(FIGURES)}")
    if not os.access(args.bin, os.X_OK):
        parser.error(f"no executable at {args.bin}: cargo build --release, or --bin")
    return args


def main() -> int:
    args = parse_arguments()
    args.work.mkdir(parents=True, exist_ok=True)
    ctx = Context(bin=str(args.bin.resolve()), work=args.work.resolve(), messages=args.calls,
                  pairs=args.pairs, source=None, transcript=None)
    return measure(ctx, FIGURES, args.only, args.json, args.check)


if __name__ == "__main__":
    sys.exit(main())
