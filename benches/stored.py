"""Figures of reels: size, passes, seeking, and startup."""

import base64
import json
import random
import statistics
import time
from calendar import timegm
from dataclasses import replace
from itertools import islice
from pathlib import Path

from context import PRETTY_MESSAGES, Context
from measure import (BenchError, Command, as_json, cpus, interleave_commands, median_ratio, ratios,
                     walls)
from report import Row, Target, at_least, at_most, rate, seconds, size, skipped
from workload import Timestamps, event_head, reel_line

SEEKS = 50
STARTS = 200
LARGE_MESSAGES = 200
LARGEST = 1 << 20
TINY_MESSAGES = 10
FILTER = "method:tools/call"
JQ_FILTER = 'select(.message.method=="tools/call")'
SIDES = {"client_to_server": "c", "server_to_client": "s"}
TAIL = 1 << 20


# Size.

def size_rows(ctx: Context) -> list[Row]:
    compacted = ctx.fresh("compacted.reel")
    ctx.runner.run(ctx.ours("reel", "compact", ctx.reel, "-o", compacted))
    for reel in (ctx.reel, compacted):
        ctx.runner.run(ctx.ours("reel", "verify", reel))
    rows = [transcript_row(ctx)]
    if ctx.zstd is None:
        return [skipped("size", "zstd is not on this machine"), *rows]
    zipped = ctx.fresh("workload.jsonl.zst")
    ctx.runner.run([ctx.zstd, "-3", "-q", "-T1", "-o", str(zipped), str(ctx.jsonl)])
    return [size_row("size / zstd -3", ctx.reel, zipped, 1.15),
            size_row("size compacted / zstd -3", compacted, zipped, 1.02), *rows]


def size_row(figure: str, reel: Path, rival: Path, bound: float) -> Row:
    ours, theirs = reel.stat().st_size, rival.stat().st_size
    return Row(figure, size(ours), size(theirs), ratio=ours / theirs, target=at_most(bound))


def transcript_row(ctx: Context) -> Row:
    figure = "size of a short session / transcript"
    if ctx.transcript is None or not ctx.transcript.exists():
        return skipped(figure, f"no transcript at {ctx.transcript}")
    jsonl = ctx.work / "transcript.jsonl"
    count, original = convert_transcript(ctx.transcript, jsonl)
    reel = ctx.import_reel(jsonl, ctx.work / "transcript.reel")
    return Row(figure, size(reel.stat().st_size), size(original),
               ratio=reel.stat().st_size / original, target=at_most(0.25),
               note=f"{count} messages; other lines of the transcript are not counted")


def convert_transcript(source: Path, out: Path) -> tuple[int, int]:
    """Stores the messages; returns their number and the bytes of the lines they came from."""
    stamps, count, original = Timestamps(), 0, 0
    with open(source, encoding="utf-8") as lines, open(out, "w", encoding="utf-8") as file:
        for line in lines:
            entry = json.loads(line)
            side = SIDES.get(entry["direction"])
            if side is None:
                continue
            when = stamps.text(round(entry["ts"] * 1e6) * 1000)
            if count == 0:
                file.write(reel_line(when))
            count, original = count + 1, original + len(line.encode())
            file.write(event_head(count, when, 0, side) + entry["raw"] + "}\n")
    return count, original


# Passes over the whole reel.

def headers(ctx: Context) -> list[Row]:
    commands = {"ours": ctx.ours("stats", ctx.reel)}
    if ctx.jaq:
        commands["jaq"] = [ctx.jaq, "-r", ".message.method", str(ctx.jsonl)]
    samples = interleave_commands(ctx.runner, commands, ctx.pairs)
    speed = ctx.original_bytes / statistics.median(walls(samples["ours"]))
    return [Row("headers pass (stats), original bytes", rate(speed), target=at_least(5, "GB/s"),
                value=speed / 1e9),
            faster_row("headers pass / jaq by method", samples, "jaq", at_least(40, "x"))]


def filtering(ctx: Context) -> list[Row]:
    if ctx.jaq is None:
        return [skipped("filter by method / jaq", "jaq is not on this machine")]
    commands = {"ours": ctx.ours("show", ctx.reel, FILTER),
                "ours as JSON": ctx.ours("show", "--format", "json", ctx.reel, FILTER),
                "jaq": [ctx.jaq, "-c", JQ_FILTER, str(ctx.jsonl)]}
    samples = interleave_commands(ctx.runner, commands, ctx.pairs)
    ours, theirs = (lines_of(ctx, commands[name]) for name in ("ours as JSON", "jaq"))
    if ours < theirs:
        raise BenchError(f"the filter kept {ours} messages where jaq kept {theirs}")
    note = f"{ours} lines kept, by jaq {theirs}"
    as_lines = {"ours": samples["ours"], "jaq": samples["jaq"]}
    as_objects = {"ours": samples["ours as JSON"], "jaq": samples["jaq"]}
    return [faster_row("filter by method / jaq", as_lines, "jaq", at_least(6, "x")),
            faster_row("filter by method, as JSON / jaq", as_objects, "jaq", None, note)]


def show(ctx: Context) -> list[Row]:
    samples = interleave_commands(ctx.runner, {"ours": ctx.ours("show", ctx.reel)}, ctx.pairs)
    speed = ctx.original_bytes / statistics.median(walls(samples["ours"]))
    used = ctx.original_bytes / statistics.median(cpus(samples["ours"]))
    return [Row("show, one line a message, original bytes", rate(speed),
                target=at_least(600, "MB/s"), value=speed / 1e6,
                note=f"{rate(used)} by CPU time", samples=as_json(samples))]


def pretty(ctx: Context) -> list[Row]:
    bounds = {"jaq": (ctx.jaq, 4), "jq": (ctx.jq, 15)}
    commands = {"ours": ctx.ours("show", "--format", "full", "--color", "never", ctx.small_reel)}
    commands |= {name: [program, "-M", ".", str(ctx.small_jsonl)]
                 for name, (program, _) in bounds.items() if program}
    samples = interleave_commands(ctx.runner, commands, ctx.pairs)
    note = f"the first {min(PRETTY_MESSAGES, ctx.messages)} messages"
    return [faster_row(f"pretty printing / {name} .", samples, name, at_least(bound, "x"), note)
            for name, (_, bound) in bounds.items()]


def faster_row(figure: str, samples: dict, rival: str, target: Target | None, note: str = "") -> Row:
    """How many times faster ours is than the rival, by wall time and by CPU time."""
    if rival not in samples:
        return skipped(figure, f"{rival} is not on this machine")
    ours, theirs = samples["ours"], samples[rival]
    return Row(figure, seconds(statistics.median(walls(ours))),
               seconds(statistics.median(walls(theirs))),
               ratio=median_ratio(walls(theirs), walls(ours)),
               cpu_ratio=median_ratio(cpus(theirs), cpus(ours)), target=target, note=note,
               samples=as_json({"ours": ours, rival: theirs}))


def lines_of(ctx: Context, command: Command) -> int:
    return ctx.runner.report([ctx.drain, "0", *command])[1]["lines"]


# Short commands.

def seek(ctx: Context) -> list[Row]:
    rng = random.Random(50)
    first, last = time_range(ctx.jsonl)
    stamps = Timestamps()
    times = [("--from", stamps.text(rng.randint(first, last))) for _ in range(SEEKS)]
    numbers = [("--seq", str(rng.randint(1, ctx.messages))) for _ in range(SEEKS)]
    return [seek_row(ctx, "seek by time", times),
            seek_row(ctx, "seek by number", numbers)]


def seek_row(ctx: Context, figure: str, places: list[tuple[str, str]]) -> Row:
    spent, starting = [], []
    for option, place in places:
        command = ctx.ours("show", ctx.reel, option, place, "--limit", "1")
        found = ctx.runner.output(command)[1]
        if not found.strip():
            raise BenchError(f"`show {option} {place} --limit 1` printed nothing")
        spent.append(ctx.runner.run(command).wall)
        starting.append(ctx.runner.run(ctx.ours("show", ctx.reel, "--limit", "1")).wall)
    extra = statistics.median(all_ - start for all_, start in zip(spent, starting))
    return Row(figure, seconds(max(extra, 0.0)), target=at_most(1, "ms"), value=extra * 1e3,
               note=f"whole process {seconds(statistics.median(spent))}, the first event without seeking "
                    f"{seconds(statistics.median(starting))}",
               samples={"seek": spent, "first": starting})


def time_range(jsonl: Path) -> tuple[int, int]:
    with open(jsonl, "rb") as file:
        file.readline()
        first = file.readline()
        file.seek(max(0, jsonl.stat().st_size - TAIL))
        last = file.read().splitlines()[-1]
    return event_time(first), event_time(last)


def event_time(line: bytes) -> int:
    text = json.loads(line)["time"]
    return timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")) * 10**9 + int(text[20:29])


def startup(ctx: Context) -> list[Row]:
    if ctx.jq is None:
        return [skipped("start-up / jq", "jq is not on this machine")]
    commands = {"ours": ctx.ours("--version"), "jq": [ctx.jq, "--version"]}
    samples = interleave_commands(ctx.runner, commands, STARTS)
    ours, theirs = walls(samples["ours"]), walls(samples["jq"])
    return [Row("start-up (--version) / jq", seconds(statistics.median(ours)),
                seconds(statistics.median(theirs)), ratio=statistics.median(ratios(ours, theirs)),
                cpu_ratio=median_ratio(cpus(samples["ours"]), cpus(samples["jq"])),
                target=at_most(3, "x"), samples={"ours": ours, "jq": theirs})]


def memory(ctx: Context) -> list[Row]:
    """The worse of two sessions: all messages of 1 MiB, and messages of various sizes up to that."""
    reel = ctx.reel
    ctx = replace(ctx, bin=str(ctx.installed))
    ours = ctx.ours
    peaks = {"show, whole reel": peak(ctx, ctx.messages, ours("show", reel)),
             "stats, whole reel": peak(ctx, 1, ours("stats", reel))}
    for name, smallest in {"large": LARGEST, "mixed": 1000}.items():
        messages, reel = large_messages(ctx.fresh(f"{name}.ndjson"), smallest), ctx.fresh(f"{name}.reel")
        tap = ours("record", "-o", reel, "--", "cat")
        worst(peaks, "the tap, messages one way", peak(ctx, LARGE_MESSAGES, [*tap, str(messages)]))
        reel.unlink()
        # Both sides send, each in the middle of a message while the other is.
        worst(peaks, "the tap, messages both ways", peak(ctx, LARGE_MESSAGES, fed(messages, tap)))
        for form in ("", "--full", "--full --no-fold", "--format json", "--raw", "--jq .message.params"):
            command = ours("show", *form.split(), "--color", "never", reel)
            worst(peaks, f"show {form}".strip(), peak(ctx, LARGE_MESSAGES, command))
        messages.unlink()
    return [Row(f"peak RSS of {what}" + ("" if "whole" in what else ", messages up to 1 MiB"), size(most),
                target=at_most(16, "MB"), value=most / 1e6) for what, most in peaks.items()]


def validate(ctx: Context) -> list[Row]:
    """All rules on all messages against jq, which only reads them, and on a few messages against a start alone."""
    tiny = ctx.fresh("tiny.jsonl")
    with open(ctx.jsonl, "rb") as whole:
        tiny.write_bytes(b"".join(islice(whole, TINY_MESSAGES + 1)))
    few = ctx.ours("validate", ctx.import_reel(tiny, ctx.work / "tiny.reel"))
    starts = interleave_commands(ctx.runner, {"ours": few, "version": ctx.ours("--version")}, STARTS)
    most = peak(ctx, 1, replace(ctx, bin=str(ctx.installed)).ours("validate", ctx.reel))
    ours, theirs = walls(starts["ours"]), walls(starts["version"])
    rows = [Row(f"validate, {TINY_MESSAGES} messages / --version", seconds(statistics.median(ours)),
                seconds(statistics.median(theirs)), ratio=median_ratio(ours, theirs), target=at_most(30, "x"),
                samples={"ours": ours, "version": theirs}),
            Row("peak RSS of validate, whole reel", size(most), target=at_most(64, "MB"), value=most / 1e6)]
    if ctx.jq is None:
        return [*rows, skipped("validate / jq -c ., CPU time", "jq is not on this machine")]
    commands = {"ours": ctx.ours("validate", ctx.reel), "jq": [ctx.jq, "-c", ".", str(ctx.jsonl)]}
    samples = interleave_commands(ctx.runner, commands, ctx.pairs)
    used = {name: cpus(runs) for name, runs in samples.items()}
    return [*rows, Row("validate / jq -c ., CPU time", seconds(statistics.median(used["ours"])),
                       seconds(statistics.median(used["jq"])), ratio=median_ratio(used["jq"], used["ours"]),
                       target=at_least(3.1, "x"), samples=as_json(samples))]


AGENT = [
    ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}),
    ("tools/list", {}),
]
ABOUT_REEL = ("show_messages", "statistics", "findings")


def agents(ctx: Context) -> list[Row]:
    """`mcpreel mcp`: from its start to its first two answers, and its time and memory with a reel of 100,000 messages."""
    rows = answering(ctx, "start, two answers, end", asked(ctx, "start", AGENT), STARTS, at_most(0.05, "s"))
    for tool in ABOUT_REEL:
        call = ("tools/call", {"name": tool, "arguments": {"recording": str(ctx.small_reel)}})
        rows += answering(ctx, tool, asked(ctx, tool, [*AGENT, call]), ctx.pairs)
    return rows


def answering(ctx: Context, what: str, client: Path, runs: int, target: Target | None = None) -> list[Row]:
    """Median time and peak memory of these runs, after one whose answers are checked."""
    # An unoptimised binary needs minutes to redact a large reel.
    command = fed(client, ctx.ours("mcp", "--dir", ctx.work, "--timeout", "10m"))
    _, text = ctx.runner.output(command)
    expected = client.read_bytes().count(b'"id"')
    if b'"isError":true' in text or text.count(b"\n") != expected:
        raise BenchError(f"mcp, {what}: {text[-300:]!r}")
    found = [ctx.runner.report([ctx.drain, "0", *command])[1] for _ in range(runs)]
    taken, most = [one["exit_ns"] / 1e9 for one in found], max(one["max_rss_kib"] for one in found) * 1024
    return [Row(f"mcp: {what}", seconds(statistics.median(taken)), target=target, value=statistics.median(taken),
                samples={"ours": taken}),
            Row(f"mcp: peak RSS, {what}", size(most), target=at_most(64, "MB"), value=most / 1e6)]


def asked(ctx: Context, name: str, requests: list[tuple[str, dict]]) -> Path:
    """A client's side of a session, in a file."""
    lines = [{"jsonrpc": "2.0", "id": number, "method": method, "params": params}
             for number, (method, params) in enumerate(requests)]
    lines.insert(1, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    path = ctx.fresh(f"mcp-{name}.jsonl")
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def worst(peaks: dict[str, int], what: str, found: int) -> None:
    peaks[what] = max(peaks.get(what, 0), found)


def peak(ctx: Context, lines: int, command: Command) -> int:
    """A command's peak memory in bytes; it must print at least this many lines."""
    _, found = ctx.runner.report([ctx.drain, "0", *command])
    if found["lines"] < lines:
        raise BenchError(f"{found['lines']} lines were printed for {lines} messages by {command[:4]}")
    return found["max_rss_kib"] * 1024


def fed(file: Path, command: Command) -> Command:
    """The command, its standard input from a file."""
    return ["sh", "-c", 'exec < "$0"; exec "$@"', str(file), *command]


def large_messages(path: Path, smallest: int) -> Path:
    """Messages from this size to 1 MiB; every other one is hardly compressible."""
    rng = random.Random(1)
    head, tail = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"', '"}}'
    words = "the quick brown fox jumps over a lazy dog and does it again ".split()
    with open(path, "w", encoding="utf-8") as file:
        for number in range(LARGE_MESSAGES):
            free = rng.randint(smallest, LARGEST) - len(head) - len(tail)
            if number % 2:
                data = base64.b64encode(rng.randbytes(free)).decode()
            else:
                data = " ".join(rng.choices(words, k=free // 2))
            file.write(head + data[:free] + tail + "\n")
    return path
