"""Figures of recording: what it adds to a round trip, and what a flood does to it."""

import os
import statistics
from functools import partial
from pathlib import Path

from context import Context
from measure import BenchError, Command, Run, cpus, interleave, median_ratio
from report import Row, Target, at_least, at_most, rate, seconds, size

ROUND_TRIPS = 20_000
WARMUP_TRIPS = 500
LATENCY_ROUNDS = 3  # times --pairs: a round is short and differences of medians are noisy
FLOOD_MESSAGES = 1_000_000
BLOCK = 512  # messages per write of the flood that is not judged
ANY_CPU = -1


def through_cats(command: Command) -> Command:
    """The simplest possible relay: cat before the command and cat after it."""
    return ["sh", "-c", 'cat | "$@" | cat', "cats", *command]


# Latency.

def latency(ctx: Context) -> list[Row]:
    one_cpu = max(os.sched_getaffinity(0))
    return [*latency_rows(ctx, "one CPU", one_cpu, {"median": 1.25, "p99": 1.5}), *latency_rows(ctx, "free", ANY_CPU, {})]


def latency_rows(ctx: Context, where: str, cpu: int, targets: dict[str, float]) -> list[Row]:
    reel = ctx.work / "latency.reel"
    ways = {"direct": [ctx.server, "echo"],
            "cat": through_cats([ctx.server, "echo"]),
            "tap": ctx.record(reel, [ctx.server, "echo"])}
    taken = interleave({way: partial(round_trips, ctx, command, cpu)
                        for way, command in ways.items()}, LATENCY_ROUNDS * ctx.pairs)
    check_reel(ctx, reel, 2 * (ROUND_TRIPS + WARMUP_TRIPS))
    return [latency_row(f"latency added, {what}, {where}", f"{what}_ns", taken, targets.get(what))
            for what in ("median", "p99")]


def latency_row(figure: str, name: str, taken: dict, most: float | None) -> Row:
    figures = {way: [trips[name] for _, trips in rounds] for way, rounds in taken.items()}
    tap = [after - before for after, before in zip(figures["tap"], figures["direct"])]
    cat = [after - before for after, before in zip(figures["cat"], figures["direct"])]
    used = {way: cpus([run for run, _ in rounds]) for way, rounds in taken.items()}
    direct = statistics.median(figures["direct"])
    drowned = statistics.median(cat) <= 0
    note = f"direct round trip {seconds(direct / 1e9)}; cpu ratio of the whole run"
    if drowned:
        note += "; cat's addition drowns in this machine's wake-up times: no ratio"
    return Row(figure, microseconds(tap), microseconds(cat),
               ratio=None if drowned else median_ratio(tap, cat),
               cpu_ratio=median_ratio(used["tap"], used["cat"]),
               target=at_most(most) if most else None,
               verdict="MISS" if most and drowned else "",
               note=note,
               samples={way: [trips for _, trips in rounds] for way, rounds in taken.items()})


def round_trips(ctx: Context, command: Command, cpu: int) -> tuple[Run, dict]:
    (ctx.work / "latency.reel").unlink(missing_ok=True)
    return ctx.runner.report([ctx.pingpong, str(ROUND_TRIPS), str(WARMUP_TRIPS), str(cpu), *command])


def microseconds(nanoseconds: list[float]) -> str:
    return f"{statistics.median(nanoseconds) / 1000:+.1f} us"


# Floods.

def flood(ctx: Context) -> list[Row]:
    return [*flood_rows(ctx, "flood", per_write=1, target=at_least(0.45)),
            *flood_rows(ctx, f"flood, {BLOCK} a write", per_write=BLOCK, target=None)]


def flood_rows(ctx: Context, figure: str, per_write: int, target: Target | None) -> list[Row]:
    reel, messages = ctx.work / "flood.reel", min(FLOOD_MESSAGES, ctx.messages)
    source = [ctx.server, "flood", str(messages), str(per_write)]
    ways = {"tap": (ctx.record(reel, source), reel), "cat": (through_cats(source), None)}
    taken = interleave({way: partial(pour, ctx, command, made, messages)
                        for way, (command, made) in ways.items()}, ctx.pairs)

    speeds = {way: [messages * 1e9 / (got["last_ns"] - got["first_ns"])
                    for _, got in rounds] for way, rounds in taken.items()}
    used = {way: cpus([run for run, _ in rounds]) for way, rounds in taken.items()}
    finishing = statistics.median((got["exit_ns"] - got["last_ns"]) / 1e9 for _, got in taken["tap"])
    peak = max(got["max_rss_kib"] for _, got in taken["tap"]) * 1024
    samples = {way: [got for _, got in rounds] for way, rounds in taken.items()}
    return [Row(figure, rate(statistics.median(speeds["tap"]), "msg/s"),
                rate(statistics.median(speeds["cat"]), "msg/s"),
                ratio=median_ratio(speeds["tap"], speeds["cat"]),
                cpu_ratio=median_ratio(used["tap"], used["cat"]), target=target,
                note=f"all messages arrived and are in every reel; the tap's exit came "
                     f"{seconds(finishing)} after the last byte; cpu ratio: lower is better",
                samples=samples),
            Row(f"{figure}: peak RSS of the tap", size(peak), target=at_most(16, "MB"),
                value=peak / 1e6)]


def pour(ctx: Context, command: Command, reel: Path | None, messages: int) -> tuple[Run, dict]:
    if reel:
        reel.unlink(missing_ok=True)
    run, got = ctx.runner.report([ctx.drain, str(messages), *command])
    if got["lines"] != messages:
        raise BenchError(f"{got['lines']} of {messages} messages arrived")
    if reel:
        check_reel(ctx, reel, messages)
    return run, got


def check_reel(ctx: Context, reel: Path, expected: int) -> None:
    held = ctx.recorded_messages(reel)
    if held != expected:
        raise BenchError(f"{reel.name} holds {held} of {expected} messages")
