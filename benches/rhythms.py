#!/usr/bin/env python3
"""How small reels are for every rhythm of traffic: a burst, a message every 2 ms, a message every 50 ms.

    python3 benches/rhythms.py [--bin target/release/mcpreel] [--work DIR] [--check]

A server writes messages of the workload in one rhythm, through `record`. Figures: the size of the reel
divided by `zstd -3` of its JSON lines (target 1.15), how long `record` lives after its server has ended
(target 1 s), and whether a reader that followed the reel saw every event. `--check` uses fewer messages
and judges only the events. Exit code 0: all targets met; 1: not.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from context import ROOT

LIMIT = 1.15
MAX_AFTER_END = 1.0
RHYTHMS = {"burst": (0.0, 20_000), "every 2 ms": (0.002, 3_000), "every 50 ms": (0.05, 300)}
SERVER = """
import sys, time
messages, gap = open(sys.argv[1], "rb").read().splitlines(keepends=True), float(sys.argv[2])
if not gap:
    messages = [b"".join(messages)]
for message in messages:
    sys.stdout.buffer.write(message)
    sys.stdout.buffer.flush()
    if gap:
        time.sleep(gap)
open(sys.argv[3], "w").write(str(time.monotonic()))
"""


def messages(count: int) -> list[str]:
    """Messages like those of a session with a busy server: results of several shapes with texts that differ."""
    words = "the of session server tool result file path error value query index token stream event".split()
    made = []
    for number in range(count):
        seed = number * 2654435761 % 2**32
        text = " ".join(words[(seed >> shift) % len(words)] + str(seed >> shift & 255) for shift in range(0, 28, 2))
        content = [{"type": "text", "text": text * (1 + number % 5)}]
        made.append(json.dumps({"jsonrpc": "2.0", "id": number, "result": {"content": content, "isError": False}}))
    return made


def run(binary: str, work: Path, gap: float, count: int) -> tuple[float, float, bool]:
    """Returns the ratio of sizes, the seconds from the server's last write to the end of `record`, and whether the
    follower saw all."""
    source, reel, ended = work / "messages.jsonl", work / "rhythm.reel", work / "ended"
    source.write_text("\n".join(messages(count)) + "\n")
    for path in (reel, ended):
        path.unlink(missing_ok=True)
    command = [binary, "record", "-o", str(reel), "--", sys.executable, "-c", SERVER, str(source), str(gap), str(ended)]
    recorder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    while not reel.exists() or not reel.stat().st_size:
        time.sleep(0.002)
    follower = subprocess.Popen([binary, "show", "--follow", "--format", "json", str(reel)], stdout=subprocess.PIPE)
    seen = sum(1 for line in follower.stdout if b'"result"' in line)
    follower.wait()
    recorder.stdin.close()
    recorder.wait()
    after = time.monotonic() - float(ended.read_text())
    exported = subprocess.run([binary, "export", str(reel)], stdout=subprocess.PIPE, check=True).stdout
    packed = subprocess.run(["zstd", "-3", "-c"], input=exported, stdout=subprocess.PIPE, check=True).stdout
    whole = exported.count(b'"result"') >= count and seen == count
    return reel.stat().st_size / len(packed), after, whole


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "target/release/mcpreel"))
    parser.add_argument("--work", type=Path, default=ROOT / "target/rhythms")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    missed = False
    for name, (gap, count) in RHYTHMS.items():
        ratio, after, whole = run(os.path.abspath(args.bin), args.work, gap, count // 10 if args.check else count)
        is_met = whole and (args.check or ratio <= LIMIT and after <= MAX_AFTER_END)
        missed |= not is_met
        state = "ok" if is_met else "MISS"
        events = "all events" if whole else "EVENTS ARE MISSING"
        print(f"{state:4} {name:12} reel / zstd -3 {ratio:.3f}, record ended {after:.2f} s after the server, {events}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
