"""What `record --otlp` adds to `record`: the same session with and without a collector that accepts everything."""

import os
import statistics
import subprocess
import sys
from contextlib import contextmanager
from functools import partial

from context import Context
from live import FLOOD_MESSAGES, LATENCY_ROUNDS, ROUND_TRIPS, WARMUP_TRIPS, check_reel, microseconds, pour
from measure import cpus, interleave, median_ratio
from report import Row, at_least, at_most, rate

# Accepts every POST; a program of its own, at the lowest priority, because collectors run elsewhere.
COLLECTOR = """
import http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()
    def log_message(self, *_):
        pass
os.nice(19)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


@contextmanager
def collector():
    process = subprocess.Popen([sys.executable, "-c", COLLECTOR], stdout=subprocess.PIPE, text=True)
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.kill()
        process.wait()


def otlp(ctx: Context) -> list[Row]:
    with collector() as url:
        one_cpu = max(os.sched_getaffinity(0))
        return [round_trip_row(ctx, url, "round trip with --otlp, one CPU", one_cpu, judged=True),
                round_trip_row(ctx, url, "round trip with --otlp, free", -1, judged=False),
                flood_row(ctx, url)]


def ways(ctx: Context, reel, url: str, source: list[str]) -> dict[str, list[str]]:
    with_otlp = ctx.ours("record", "-o", reel, "--otlp", url, "--", *source)
    return {"otlp": with_otlp, "plain": ctx.record(reel, source)}


def round_trip_row(ctx: Context, url: str, figure: str, cpu: int, judged: bool) -> Row:
    reel = ctx.work / "otlp.reel"

    def trips(command):
        reel.unlink(missing_ok=True)
        return ctx.runner.report([ctx.pingpong, str(ROUND_TRIPS), str(WARMUP_TRIPS), str(cpu), *command])

    taken = interleave({way: partial(trips, command)
                        for way, command in ways(ctx, reel, url, [ctx.server, "echo"]).items()},
                       LATENCY_ROUNDS * ctx.pairs)
    check_reel(ctx, reel, 2 * (ROUND_TRIPS + WARMUP_TRIPS))
    medians = {way: [got["median_ns"] for _, got in rounds] for way, rounds in taken.items()}
    used = {way: cpus([run for run, _ in rounds]) for way, rounds in taken.items()}
    return Row(figure, microseconds(medians["otlp"]), microseconds(medians["plain"]),
               ratio=median_ratio(medians["otlp"], medians["plain"]),
               cpu_ratio=median_ratio(used["otlp"], used["plain"]),
               target=at_most(1.1) if judged else None,
               note=f"whole round trips; noise: {spread(medians['plain']):.0%} between rounds without --otlp",
               samples={way: [got for _, got in rounds] for way, rounds in taken.items()})


def flood_row(ctx: Context, url: str) -> Row:
    reel, messages = ctx.work / "otlp.reel", min(FLOOD_MESSAGES, ctx.messages)
    source = [ctx.server, "flood", str(messages), "1"]
    taken = interleave({way: partial(pour, ctx, command, reel, messages)
                        for way, command in ways(ctx, reel, url, source).items()}, ctx.pairs)
    speeds = {way: [messages * 1e9 / (got["last_ns"] - got["first_ns"]) for _, got in rounds]
              for way, rounds in taken.items()}
    used = {way: cpus([run for run, _ in rounds]) for way, rounds in taken.items()}
    return Row("flood with --otlp", rate(statistics.median(speeds["otlp"]), "msg/s"),
               rate(statistics.median(speeds["plain"]), "msg/s"),
               ratio=median_ratio(speeds["otlp"], speeds["plain"]),
               cpu_ratio=median_ratio(used["otlp"], used["plain"]), target=at_least(0.8),
               note=f"noise: {spread(speeds['plain']):.0%} between rounds without --otlp",
               samples={way: [got for _, got in rounds] for way, rounds in taken.items()})


def spread(values: list[float]) -> float:
    return (max(values) - min(values)) / statistics.median(values)
