#!/usr/bin/env python3
"""Compares the release binary with its rivals, in one run, from outside the process.

    python3 benches/compare.py [--bin target/release/mcpreel] [--work DIR] [--messages 1000000]
                               [--only NAME,...] [--pairs 5] [--from FILE] [--json OUT]

Prints one table: figure, ours, rival, ratio, CPU ratio, target, verdict. Each pair is run
A B A B after a warm-up, and targets apply to the median of the rounds' ratios. A rival
that is not installed is skipped with the reason. Exit code 0: no target missed; 1: some were
missed or could not be measured; 2: usage. benches/README.md explains each figure.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import live
import stored
import telemetry
from context import ROOT, Context
from measure import BenchError
from report import Row, failed, table

TRANSCRIPT = ROOT.parent / "shared" / "transcripts" / "everything-2025-11-25.ndjson"

Figures = dict[str, Callable[[Context], list[Row]]]

FIGURES: Figures = {
    "latency": live.latency,
    "flood": live.flood,
    "otlp": telemetry.otlp,
    "size": stored.size_rows,
    "headers": stored.headers,
    "filter": stored.filtering,
    "show": stored.show,
    "pretty": stored.pretty,
    "seek": stored.seek,
    "startup": stored.startup,
    "memory": stored.memory,
    "validate": stored.validate,
    "mcp": stored.agents,
}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bin", type=Path, default=ROOT / "target/release/mcpreel")
    parser.add_argument("--work", type=Path, default=ROOT / "target/compare",
                        help="folder for the workload and the reels (about 2 GB)")
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--only", metavar="NAME,...", help=", ".join(FIGURES))
    parser.add_argument("--pairs", type=int, default=5, help="counted rounds of each timed pair")
    parser.add_argument("--from", dest="source", type=Path, metavar="FILE",
                        help="messages of this shared-form file, not generated ones")
    parser.add_argument("--transcript", type=Path, default=TRANSCRIPT)
    parser.add_argument("--check", action="store_true", help="judge only whether results are right, not how fast")
    parser.add_argument("--json", type=Path, metavar="OUT", help="every row and sample")
    args = parser.parse_args()
    args.only = args.only.split(",") if args.only else list(FIGURES)
    unknown = [name for name in args.only if name not in FIGURES]
    if unknown:
        parser.error(f"no figure {', '.join(unknown)}; there are {', '.join(FIGURES)}")
    if args.messages < 1 or args.pairs < 1:
        parser.error("--messages and --pairs are at least 1")
    if not os.access(args.bin, os.X_OK):
        parser.error(f"no executable at {args.bin}: cargo build --release, or --bin")
    return args


def measure(ctx: Context, figures: Figures, names: list[str], out: Path | None, check: bool) -> int:
    """Measures these figures and prints the table. Returns the exit code; `check` ignores the speed."""
    where = machine(ctx)
    print(", ".join(f"{name} {value}" for name, value in where.items()))
    rows = []
    for name in names:
        started = time.monotonic()
        print(f"{name} ...", end=" ", flush=True)
        try:
            rows += figures[name](ctx)
        except BenchError as error:
            rows.append(failed(name, str(error)))
        print(f"{time.monotonic() - started:.0f} s", flush=True)
    print("\n" + table(rows))
    if out:
        found = {"machine": where, "messages": ctx.messages, "pairs": ctx.pairs,
                 "rows": [asdict(row) for row in rows]}
        out.write_text(json.dumps(found, indent=1) + "\n")
    return int(any(row.verdict in (("FAIL",) if check else ("MISS", "FAIL")) for row in rows))


def version_of(program: str | None) -> str | None:
    if program is None:
        return None
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).strip().strip("* ")


def machine(ctx: Context) -> dict:
    return {"cpus": len(os.sched_getaffinity(0)), "kernel": platform.release(),
            "arch": platform.machine(), "python": platform.python_version(),
            "mcpreel": version_of(ctx.bin), "jq": version_of(ctx.jq),
            "jaq": version_of(ctx.jaq), "zstd": version_of(ctx.zstd)}


def main() -> int:
    args = parse_arguments()
    args.work.mkdir(parents=True, exist_ok=True)
    ctx = Context(bin=str(args.bin.resolve()), work=args.work.resolve(), messages=args.messages,
                  pairs=args.pairs, source=args.source, transcript=args.transcript)
    return measure(ctx, FIGURES, args.only, args.json, args.check)


if __name__ == "__main__":
    sys.exit(main())
