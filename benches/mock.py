#!/usr/bin/env python3
"""How fast a mock starts and answers, and how much memory a large recording takes.

    python3 benches/mock.py [--bin target/release/mcpreel] [--work DIR] [--messages N] [--check]

Figures: the time to the first answer of a mock of a small reel divided by the run time of `jq --version` (target 10);
answers per second on stdio, pipelined, divided by those of PyPI `mcp-cassette` with the same session (target 10) and by
those of a loop in Python that answers each line with the same text (target 0.4); and the peak memory of a mock of a reel
of a million messages (target 64 MB). `mcp-cassette` is found on PATH or by MCP_CASSETTE; without it, or without `jq`,
that figure is skipped. `--check` serves fewer messages and judges only the answers. Exit code 0: all targets met; 1: not.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

from context import ROOT, find_program

MAX_START = 10.0
MIN_CASSETTE = 10.0
MIN_LOOP = 0.4
MAX_BYTES = 64 << 20
ROUNDS = 5
CALLS = 20_000

LOOP = """
import sys, json
for line in sys.stdin.buffer:
    message = json.loads(line)
    if "id" in message:
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"content": [{"type": "text", "text": "x" * 100}]}}
        sys.stdout.write(json.dumps(answer) + "\\n")
        sys.stdout.flush()
"""


def line(message: dict) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def initialize(number: int = 0) -> dict:
    client = {"name": "bench", "version": "1"}
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    return {"id": number, "method": "initialize", "params": params}


def call(number: int, which: int | None = None) -> dict:
    arguments = {"n": number if which is None else which}
    return {"id": number, "method": "tools/call", "params": {"name": "work", "arguments": arguments}}


def answer(number: int) -> dict:
    if number == 0:
        server = {"name": "bench", "version": "1"}
        return {"id": 0, "result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": server}}
    text = f"{number} " + "x" * 100
    return {"id": number, "result": {"content": [{"type": "text", "text": text}], "isError": False}}


def write_reel(binary: str, work: Path, name: str, calls: int) -> Path:
    """A recorded session with this many calls."""
    lines, reel = work / f"{name}.jsonl", work / f"{name}.reel"
    if reel.exists():
        return reel
    with open(lines, "wb") as out:
        out.write(b'{"reel":{"version":1,"created":"2026-01-01T00:00:00Z","tool":"bench"}}\n')
        for number in range(calls + 1):
            ask = initialize() if number == 0 else call(number)
            for place, (direction, message) in enumerate((("c2s", ask), ("s2c", answer(number)))):
                seq = 2 * number + place
                at = datetime.fromtimestamp(1_767_225_600 + seq / 1000, UTC).isoformat().replace("+00:00", "Z")
                event = {"seq": seq, "time": at, "stream": 0, "dir": direction}
                event |= {"event": "message", "framing": "lf", "message": {"jsonrpc": "2.0", **message}}
                out.write(json.dumps(event).encode() + b"\n")
    subprocess.run([binary, "import", str(lines), "-o", str(reel)], check=True, capture_output=True)
    lines.unlink()
    return reel


class Peer:
    """A server on stdio."""

    def __init__(self, command: list[str]):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=1 << 20
        )

    def ask(self, message: dict) -> bytes:
        self.process.stdin.write(line(message))
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def pipeline(self, messages: list[bytes]) -> float:
        """Writes all messages while reading the answers; returns the seconds until the last one."""
        began = time.perf_counter()

        def write():
            self.process.stdin.write(b"".join(messages))
            self.process.stdin.flush()

        writer = threading.Thread(target=write)
        writer.start()
        for number in range(len(messages)):
            got = self.process.stdout.readline()
            if b'"result"' not in got:
                raise SystemExit(f"answer {number} is {got[:200]!r}")
        took = time.perf_counter() - began
        writer.join()
        return took

    def end(self) -> int:
        """Returns the peak memory in bytes."""
        self.process.stdin.close()
        _, _, usage = os.wait4(self.process.pid, 0)
        return usage.ru_maxrss * 1024


def start_up(binary: str, reel: Path, jq: str | None) -> float | None:
    """The seconds to the first answer, divided by `jq --version`."""
    if jq is None:
        return None
    ratios = []
    for _ in range(ROUNDS * 4):
        began = time.perf_counter()
        subprocess.run([jq, "--version"], check=True, stdout=subprocess.DEVNULL)
        rival = time.perf_counter() - began
        began = time.perf_counter()
        peer = Peer([binary, "mock", str(reel)])
        assert b'"result"' in peer.ask(initialize())
        ratios.append((time.perf_counter() - began) / rival)
        peer.end()
    return statistics.median(ratios)


def per_second(command: list[str], calls: int) -> float:
    messages = [line(call(number)) for number in range(1, calls + 1)]
    rates = []
    for _ in range(ROUNDS):
        peer = Peer(command)
        peer.ask(initialize())
        rates.append(calls / peer.pipeline(messages))
        peer.end()
    return statistics.median(rates)


def record_cassette(cassette: str, work: Path, calls: int) -> Path:
    """The same session as a cassette, recorded from a server in Python."""
    path, server = work / f"bench-{calls}.cassette.json", work / "server.py"
    if not path.exists():
        server.write_text(LOOP)
        peer = Peer([cassette, "record", "--cassette", str(path), "--", sys.executable, str(server)])
        peer.ask(initialize())
        peer.pipeline([line(call(number)) for number in range(1, calls + 1)])
        peer.end()
    return path


def memory(binary: str, reel: Path, calls: int) -> int:
    """The peak memory of a mock that answers calls from all over the reel. Unit: bytes."""
    peer = Peer([binary, "mock", str(reel), "--report", os.devnull])
    peer.ask(initialize())
    step = max(1, calls // 2000)
    for number in [*range(1, calls + 1, step), *range(2, min(calls, 500))]:
        got = json.loads(peer.ask(call(number)))
        if "result" in got and not got["result"]["content"][0]["text"].startswith(f"{number} "):
            raise SystemExit(f"call {number} got {got}")
    return peer.end()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", default=str(ROOT / "target/release/mcpreel"))
    parser.add_argument("--work", type=Path, default=ROOT / "target/mock")
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    calls, large = (1000, 20_000) if args.check else (CALLS, args.messages)
    met = []

    def judge(what: str, value: float | None, is_met: bool, shown: str):
        verdict = "skip" if value is None else "check" if args.check else "ok" if is_met else "MISS"
        met.append(is_met or value is None or args.check)
        print(f"{verdict:5} {what}: {'no rival' if value is None else shown}", flush=True)

    small = write_reel(args.bin, args.work, "small", 10)
    start = start_up(args.bin, small, find_program("jq"))
    judge("first answer / jq --version", start, start is not None and start <= MAX_START, f"{start or 0:.2f} (<= {MAX_START:.0f})")

    served = write_reel(args.bin, args.work, f"calls-{calls}", calls)
    ours = per_second([args.bin, "mock", str(served)], calls)
    loop = per_second([sys.executable, "-c", LOOP], calls)
    judge("answers/s / Python loop", ours / loop, ours / loop >= MIN_LOOP, f"{ours / loop:.2f} ({ours:,.0f} and {loop:,.0f}; >= {MIN_LOOP})")
    cassette = find_program(os.environ.get("MCP_CASSETTE", "mcp-cassette"))
    ratio = None
    if cassette is not None:
        few = min(calls, 2000)
        path = record_cassette(cassette, args.work, few)
        ratio = ours / per_second([cassette, "serve", str(path)], few)
    judge("answers/s / mcp-cassette", ratio, ratio is not None and ratio >= MIN_CASSETTE, f"{ratio or 0:.1f} (>= {MIN_CASSETTE:.0f})")

    million = write_reel(args.bin, args.work, f"large-{large}", large // 2 - 1)
    peak = memory(args.bin, million, large // 2 - 1)
    judge(f"peak memory, {large:,} messages", peak, peak <= MAX_BYTES, f"{peak / 2**20:.1f} MiB (<= {MAX_BYTES >> 20})")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
