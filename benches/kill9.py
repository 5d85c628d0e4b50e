#!/usr/bin/env python3
"""What a SIGKILL costs: records a busy session, kills the recorder, and looks for lost messages.

    python3 benches/kill9.py [--bin target/release/mcpreel] [--work DIR] [--kills 20] [--seed N]

A small server writes numbered messages that contain the time of day, at a rate that changes
from kill to kill. The recorder is killed at a random moment, and what it had forwarded is compared with
what `mcpreel export` finds in its reel. A message's age is the time from its writing to
the kill. Required: every forwarded message older than 100 ms is in the reel, in order and with
nothing missing in between; `reel repair` exits 0, its result passes `reel verify` and
contains as many messages as were exported. Exit code 0: all kept; 1: not; 2: usage.
"""

import argparse
import os
import random
import re
import select
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from context import ROOT, compile_client
from measure import BenchError

RATES = (300, 5_000, 40_000)  # messages a second: idle now and then, busy, far from idle
SERVER_SECONDS = 20  # the server ends by itself if a kill leaves it behind
ALLOWED_AGE = 0.100
NUMBERED = re.compile(rb'"data":\{"n":(\d+),"t":(\d+),')


@dataclass
class Outcome:
    """One kill. Ages are in seconds."""

    rate: int
    lived: float
    forwarded: int
    exported: int
    lost: int
    worst_age: float
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Tap:
    """The binary under test and the server it wraps."""

    bin: str
    server: str
    work: Path

    def start(self, reel: Path, rate: int) -> subprocess.Popen:
        reel.unlink(missing_ok=True)
        server = [self.server, "clock", str(rate), str(SERVER_SECONDS)]
        with open(self.work / "tap-stderr.txt", "wb") as stderr:
            return subprocess.Popen([self.bin, "record", "-o", str(reel), "--", *server],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr)

    def run(self, *words: object) -> tuple[int, str]:
        done = subprocess.run([self.bin, *map(str, words)], capture_output=True, check=False)
        return done.returncode, done.stderr.decode(errors="replace").strip()[-200:]

    def export(self, reel: Path, out: Path) -> tuple[int, list[int]]:
        """The exit code and the numbers of the exported messages, in their order."""
        out.unlink(missing_ok=True)
        code, _ = self.run("export", "--format", "jsonl", reel, "-o", out)
        return code, [number for number, _ in numbered(out.read_bytes() if out.exists() else b"")]


def numbered(text: bytes) -> list[tuple[int, float]]:
    """(number, time in seconds since 1970) of each complete line."""
    whole = text[:text.rfind(b"\n") + 1]
    return [(int(n), int(t) / 1e9) for n, t in NUMBERED.findall(whole)]


def forwarded_until_kill(process: subprocess.Popen, lifetime: float) -> tuple[bytes, float]:
    """Reads the recorder's output, kills it `lifetime` after its first byte, and reads the rest."""
    fd, pieces, kill_at = process.stdout.fileno(), [], None
    while kill_at is None or time.monotonic() < kill_at:
        wait = 10.0 if kill_at is None else max(0.0, kill_at - time.monotonic())
        if not select.select([fd], [], [], wait)[0]:
            if kill_at is None:
                raise BenchError("the recorder forwarded nothing for 10 s")
            break
        piece = os.read(fd, 1 << 16)
        if not piece:
            raise BenchError(f"the recorder ended by itself with code {process.wait()}")
        pieces.append(piece)
        kill_at = kill_at or time.monotonic() + lifetime
    killed = time.time()
    process.kill()
    process.wait()
    return b"".join(pieces) + left_in_pipe(fd), killed


def left_in_pipe(fd: int) -> bytes:
    """What the recorder had written before it died; the server may not hold the pipe open for long."""
    pieces = []
    while select.select([fd], [], [], 0.2)[0]:
        piece = os.read(fd, 1 << 16)
        if not piece:
            break
        pieces.append(piece)
    return b"".join(pieces)


def kill_once(tap: Tap, rate: int, lifetime: float) -> Outcome:
    reel = tap.work / "killed.reel"
    process = tap.start(reel, rate)
    try:
        output, killed = forwarded_until_kill(process, lifetime)
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()
    forwarded = numbered(output)
    code, exported = tap.export(reel, tap.work / "killed.jsonl")
    held = set(exported)
    ages = [killed - written for number, written in forwarded if number not in held]
    outcome = Outcome(rate, lifetime, len(forwarded), len(exported), len(ages), max(ages, default=0.0))
    outcome.problems += order_problems(exported) + age_problems(outcome)
    if code not in (0, 1):
        outcome.problems.append(f"export exited {code}")
    outcome.problems += repair_problems(tap, reel, len(exported))
    return outcome


def order_problems(exported: list[int]) -> list[str]:
    if exported == list(range(len(exported))):
        return []
    return ["the exported messages are not the first ones, in order and without holes"]


def age_problems(outcome: Outcome) -> list[str]:
    if outcome.worst_age <= ALLOWED_AGE:
        return []
    return [f"a message {outcome.worst_age * 1000:.0f} ms old is lost"]


def repair_problems(tap: Tap, reel: Path, expected: int) -> list[str]:
    fixed = tap.work / "fixed.reel"
    fixed.unlink(missing_ok=True)
    code, said = tap.run("reel", "repair", reel, "-o", fixed)
    if code:
        return [f"repair exited {code}: {said}"]
    code, said = tap.run("reel", "verify", fixed)
    if code:
        return [f"verify of the repaired reel exited {code}: {said}"]
    kept = len(tap.export(fixed, tap.work / "fixed.jsonl")[1])
    return [] if kept == expected else [f"the repaired reel holds {kept} of {expected} messages"]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bin", type=Path, default=ROOT / "target/release/mcpreel")
    parser.add_argument("--work", type=Path, default=ROOT / "target/compare")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, help="of the moments (default: another every time)")
    args = parser.parse_args()
    if not os.access(args.bin, os.X_OK):
        parser.error(f"no executable at {args.bin}: cargo build --release, or --bin")
    if args.seed is None:
        args.seed = time.time_ns() % 1_000_000
    return args


def main() -> int:
    args = parse_arguments()
    args.work.mkdir(parents=True, exist_ok=True)
    tap = Tap(str(args.bin.resolve()), compile_client("server", args.work.resolve()),
              args.work.resolve())
    rng, outcomes = random.Random(args.seed), []
    print(f"seed {args.seed}\nkill  rate/s  lived s  forwarded  exported  lost  oldest lost")
    for number in range(args.kills):
        rate = RATES[number % len(RATES)]
        outcome = kill_once(tap, rate, rng.uniform(0.15, 2.0))
        outcomes.append(outcome)
        print(f"{number + 1:4}  {rate:6}  {outcome.lived:7.2f}  {outcome.forwarded:9}  "
              f"{outcome.exported:8}  {outcome.lost:4}  {outcome.worst_age * 1000:8.1f} ms", flush=True)
        for problem in outcome.problems:
            print(f"      {problem}")
    bad = sum(bool(outcome.problems) for outcome in outcomes)
    worst = max((outcome.worst_age for outcome in outcomes), default=0.0)
    print(f"\nworst age of a lost message: {worst * 1000:.1f} ms (allowed {ALLOWED_AGE * 1000:.0f} ms)")
    print(f"{len(outcomes) - bad} of {len(outcomes)} kills without a problem")
    return int(bad > 0)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BenchError as error:
        sys.exit(f"kill9: {error}")
