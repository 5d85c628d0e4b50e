#!/usr/bin/env python3
"""How fast `mcpreel diff` is, and how much memory it needs, on two long sessions with scattered changes.

    diff_speed.py [--messages 1000000] [--changes 1000] [--pairs 3] [--bin PATH] [--work DIR] [--check]

The second session is a copy of the first one (the benchmark's workload) with changes: log messages that are dropped,
inserted or edited, and edited results. `diff` must report exactly these, and no difference of a session to itself. The
rival is `jq -c .` over the JSON lines of both sessions, which only parses and prints them. `--check` judges only what
is reported. Exit code 0: all targets met; 1: not.
"""

import argparse
import json
import sys
from pathlib import Path

from context import ROOT, Context
from measure import BenchError, interleave, median_ratio, spawn_and_wait, walls
from report import Row, at_least, at_most, failed, seconds, size, skipped, table

TIMES_JQ = 2.8
MAX_SECONDS = 15
MAX_PEAK_MB = 1000
LARGE_BYTES = 300_000_000
LOG = b'"method":"notifications/message"', b'"method": "notifications/message"'
TEXT = b'"type":"text","text":"', b'"type": "text", "text": "'


def has(line: bytes, either: tuple[bytes, bytes]) -> bool:
    return either[0] in line or either[1] in line


def is_result(line: bytes) -> bool:
    """Whether it is a result with a text that is not JSON."""
    return has(line, TEXT) and b'"result":' in line[:250] and line.split(b'"text":', 1)[1].lstrip()[1:2] not in b"[{"


def change_text(line: bytes, number: int) -> bytes:
    """The line with another text: of a result, or of a log message."""
    head, message = line[:-2].split(b',"message":', 1)
    parsed = json.loads(message)
    if "result" in parsed:
        parsed["result"]["content"][0]["text"] += f"\nchange {number} of the text"
    else:
        parsed["params"]["data"]["message"] += f" (change {number})"
    return head + b',"message":' + json.dumps(parsed).encode() + b"}\n"


def write_changed(original: Path, changed: Path, every: int) -> dict[str, int]:
    """Writes a copy with a change in about every `every`th message; returns how many there are of each status."""
    kinds, made = ("only_left", "only_right", "changed", "changed"), {"only_left": 0, "only_right": 0, "changed": 0}
    wanted, number = every, 0
    with open(original, "rb") as lines, open(changed, "wb", buffering=1 << 20) as out:
        for at, line in enumerate(lines):
            kind = kinds[number % 4]
            is_place = at >= wanted and (is_result(line) if number % 4 == 3 else has(line, LOG))
            if not is_place:
                out.write(line)
                continue
            if kind == "only_right":
                out.write(line)
            if kind != "only_left":
                out.write(change_text(line, number))
            made[kind] += 1
            number, wanted = number + 1, wanted + every
    return made


def peak(ctx: Context, command: list[str]) -> int:
    """A command's peak memory in bytes."""
    out = ctx.work / "peak.txt"
    spawn_and_wait([ctx.drain, "0", *command], out, ctx.work / "stderr.txt")
    return json.loads(out.read_text())["max_rss_kib"] * 1024


def diff(ctx: Context, left: Path, right: Path) -> list[str]:
    return ctx.ours("diff", left, right, "--format", "json")


def compare(ctx: Context, left: Path, right: Path, code: int):
    """Runs `diff` once; returns the run and its report."""
    out = ctx.work / "report.json"
    run = spawn_and_wait(diff(ctx, left, right), out, ctx.work / "stderr.txt")
    if run.code != code:
        raise BenchError(f"diff exited {run.code}: {(ctx.work / 'stderr.txt').read_text()[:300]}")
    return run, json.loads(out.read_text())


def check_found(report: dict, made: dict[str, int]) -> None:
    found = {status: 0 for status in made}
    for unit in report["units"]:
        found[unit["status"]] = found.get(unit["status"], 0) + 1
    if found != made:
        raise BenchError(f"reported {found}, but there are {made}")


def speed(ctx: Context, reels: list[Path], texts: list[Path]) -> list[Row]:
    what = f"diff of two sessions of {ctx.messages:,} messages"
    measures = {"ours": lambda: compare(ctx, *reels, 1)[0]}
    if ctx.jq:
        measures["jq"] = lambda: ctx.runner.run([ctx.jq, "-c", ".", *map(str, texts)])
    taken = {name: walls(runs) for name, runs in interleave(measures, ctx.pairs).items()}
    middle = sorted(taken["ours"])[len(taken["ours"]) // 2]
    rows = [Row(f"{what}: seconds", seconds(middle), target=at_most(MAX_SECONDS, "s"), value=middle)]
    if not ctx.jq:
        return [*rows, skipped(what, "there is no jq")]
    ratio = median_ratio(taken["jq"], taken["ours"])
    theirs = sorted(taken["jq"])[len(taken["jq"]) // 2]
    return [*rows, Row(what, seconds(middle), seconds(theirs), ratio, target=at_least(TIMES_JQ, "x"))]


def sessions(ctx: Context, changes: int) -> tuple[list[Path], list[Path], dict[str, int]]:
    """The JSON lines and reels of both sessions, and their differences."""
    changed = ctx.fresh("changed.jsonl")
    made = write_changed(ctx.jsonl, changed, max(1, ctx.messages // (changes + 1)))
    return [ctx.jsonl, changed], [ctx.reel, ctx.import_reel(changed, ctx.work / "changed.reel")], made


def memory(ctx: Context, reels: list[Path], most: int) -> Row:
    used = peak(ctx, diff(ctx, *reels))
    return Row(f"peak RSS, sessions of {size(ctx.original_bytes)}", size(used), target=at_most(most, "MB"),
               value=used / 1e6)


def figures(args: argparse.Namespace) -> list[Row]:
    ctx = Context(args.bin, args.work, args.messages, args.pairs, None, None)
    texts, reels, made = sessions(ctx, args.changes)
    check_found(compare(ctx, *reels, 1)[1], made)
    check_found(compare(ctx, *texts, 1)[1], made)
    check_found(compare(ctx, reels[0], reels[0], 0)[1], {})
    rows = [Row("changes found", f"{sum(made.values()):,} of {sum(made.values()):,}", verdict="ok")]
    if args.check:
        return rows
    rows += [*speed(ctx, reels, texts), memory(ctx, reels, MAX_PEAK_MB)]
    count = round(LARGE_BYTES / ctx.original_bytes * ctx.messages)
    large = Context(args.bin, args.work, count, args.pairs, None, None)
    return [*rows, memory(large, sessions(large, args.changes)[1], LARGE_BYTES // 10**6)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--changes", type=int, default=1000)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--bin", default=str(ROOT / "target/release/mcpreel"))
    parser.add_argument("--work", type=Path, default=ROOT / "target/diff-speed")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    try:
        rows = figures(args)
    except BenchError as error:
        rows = [failed("diff", str(error))]
    print(table(rows))
    return any(row.verdict in ("MISS", "FAIL") for row in rows)


if __name__ == "__main__":
    sys.exit(main())
