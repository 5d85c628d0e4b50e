#!/usr/bin/env python3
"""How fast secrets are found, next to scanners that are on this machine.

    benches/redact.py [--bin target/release/mcpreel] [--work DIR] [--messages N] [--pairs N] [--check]

The workload is written twice: as JSON lines, and as a reel. Figures, each the median of `--pairs` runs: MB/s of JSON lines
(CPU time) of `redact --check` and of the same lines with `detect-secrets` and `gitleaks`, if they are installed; `redact -o`
divided by `import`; `export -f html`; and the time per byte of texts of one unit, repeated to 64 KiB and to 4 MiB, whose
ratio says whether it is linear. `--check` is short, and judges only that ratio. Exit code 0: all targets met; 1: not.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import spawn_and_wait

HERE = Path(__file__).resolve().parent
SPEED, REDACT, HTML, LINEAR = 60.0, 2.0, 10.0, 2.5
SHORT, LONG = 64 << 10, 4 << 20
UNITS = ["A", "key=", "%41", "\"", "\\", "{", "[", "a@", "://", "eyJ", "-----BEGIN ", "0", " ", "&#65;", "{\"a\":\"",
         "password: ", "curl -u a:", "cookie: a=b;", "Zm9vYmFy", "password=%41&#65;eyJ://a@{\""]


class Bench:
    def __init__(self, binary: str, work: Path, pairs: int):
        self.binary, self.work, self.pairs, self.missed = binary, work, pairs, False

    def cpu(self, *command: object, codes: tuple[int, ...] = (0, 1)) -> float:
        """The median of the CPU time, in seconds."""
        words, out = [str(word) for word in command], self.work / "out"
        runs = [spawn_and_wait(words, out, self.work / "err") for _ in range(self.pairs)]
        if any(run.code not in codes for run in runs):
            sys.exit(f"{words}: exit code {runs[-1].code}: {(self.work / 'err').read_text()[-300:]}")
        return statistics.median(run.cpu for run in runs)

    def ours(self, *words: object) -> float:
        return self.cpu(self.binary, *words)

    def row(self, figure: str, value: float, unit: str, met: bool | None = None) -> None:
        self.missed |= met is False
        verdict = {None: "info", True: "ok", False: "MISS"}[met]
        print(f"{verdict:5} {figure:50} {value:10.2f} {unit}", flush=True)


def speed(bench: Bench, messages: int) -> None:
    lines, reel = bench.work / "w.jsonl", bench.work / "w.reel"
    subprocess.run([sys.executable, str(HERE / "workload.py"), str(messages), str(lines)], check=True)
    size = lines.stat().st_size / 1e6
    imported = bench.ours("import", lines, "-o", reel, "--force")
    ours = size / bench.ours("redact", "--check", lines)
    bench.row("redact --check, JSON lines", ours, "MB/s", ours >= SPEED)
    bench.row("redact --check, reel", size / bench.ours("redact", "--check", reel), "MB/s of JSON lines")
    for name, words in {"detect-secrets": ["scan", "--all-files", lines], "gitleaks": ["dir", "--no-banner", lines]}.items():
        if scanner := shutil.which(name):
            rate = size / bench.cpu(scanner, *words)
            bench.row(name, rate, "MB/s", ours > rate)
        else:
            print(f"skip  {name} is not installed")
    redacted = bench.ours("redact", reel, "-o", bench.work / "r.reel", "--force")
    bench.row("redact -o, divided by import", redacted / imported, "times", redacted <= REDACT * imported)
    html = bench.ours("export", "-f", "html", reel, "-o", bench.work / "w.html", "--force")
    bench.row(f"export -f html, {messages} messages", html, "s", html * 200_000 / messages <= HTML)


def linear(bench: Bench) -> None:
    def taken(unit: str, size: int) -> float:
        path = bench.work / "unit.jsonl"
        text = unit * (size // len(unit))
        message = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": text}}
        path.write_text(json.dumps(message) + "\n")
        return bench.ours("redact", "--check", path)

    # What a start costs, and the pattern's first use.
    idle = taken("x", 1)
    for unit in UNITS:
        short, long = (max(taken(unit, size) - idle, 0.001) / size for size in (SHORT, LONG))
        bench.row(f"{unit!r}: ns/byte at 4 MiB", long * 1e9, "ns")
        bench.row(f"{unit!r}: at 4 MiB, divided by at 64 KiB", long / short, "times", long <= LINEAR * short)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bin", default=str(HERE.parent / "target/release/mcpreel"))
    parser.add_argument("--work", type=Path)
    parser.add_argument("--messages", type=int, default=200_000)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--check", action="store_true", help="a short run that judges no speed")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.work) as work:
        bench = Bench(str(Path(args.bin).resolve()), Path(work), 1 if args.check else args.pairs)
        if not args.check:
            speed(bench, args.messages)
        linear(bench)
    sys.exit(bench.missed)


if __name__ == "__main__":
    main()
