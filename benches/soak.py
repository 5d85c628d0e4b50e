#!/usr/bin/env python3
"""Long runs at full speed: does any command keep memory, threads or descriptors that it no longer needs?

    python3 benches/soak.py [--bin target/release/mcpreel] [--work DIR] [--messages 10000000] [--only NAME,...]
                            [--svg FILE] [--json FILE]

Each run sends mixed traffic through one command and reads /proc meanwhile. After the first fifth, its own memory
(anonymous and shared pages) may grow by at most 2 MB, threads and descriptors by at most 4. Every message must be
answered, and every reel must contain all messages; where a disk fills up, those that it counts as lost are missing.
Prints a table and draws all curves (--svg). Exit code 0: all within bounds; 1: not.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import soak_plot
from context import ROOT, compile_client
from http_tap import free_port

MAX_GROWTH = 2_000_000
MAX_MORE = 4
WARM_UP = 0.2
LIMIT_SECONDS = 7200
MESSAGES_A_TURN = 8
FILL_SECONDS = 1.3  # the recorder tries a full disk again every second
OVERLAY = """
hooks:
  - {event: session_end, priority: suggestion, context: What was decided}
rules:
  - when: {result: {tool: note}}
    fire: {kind: reminder, body: "{tool} has changed the notes.", ttlTurns: 2}
"""


@dataclass(frozen=True)
class Sample:
    """What /proc says of a process. Units: seconds since the run began, bytes, counts."""

    at: float
    memory: int
    threads: int
    descriptors: int


@dataclass
class Result:
    name: str
    messages: int = 0
    seconds: float = 0.0
    samples: list[Sample] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def is_left_out(self) -> bool:
        return not self.messages and not self.problems

    def growth(self, of: Callable[[Sample], int]) -> int:
        """By how much the highest value after the warm-up exceeds the highest during it."""
        before, after, _ = self.parts(of)
        return max(after) - max(before)

    def left_behind(self, of: Callable[[Sample], int]) -> int:
        """By how much the lowest value at the end exceeds the highest during the warm-up. What ends takes a moment, in
        which its successor exists, too."""
        before, _, last = self.parts(of)
        return min(last) - max(before)

    def parts(self, of: Callable[[Sample], int]) -> tuple[list[int], list[int], list[int]]:
        """The values during the warm-up, after it, and in as long a time at the end."""
        end = self.samples[-1].at
        within = lambda begin, end: [of(sample) for sample in self.samples if begin < sample.at <= end]
        return within(-1, end * WARM_UP), within(end * WARM_UP, end), within(end * (1 - WARM_UP), end)

    def judge(self) -> None:
        if len(self.samples) < 20:
            self.problems.append(f"only {len(self.samples)} samples: too short to judge")
            return
        if (grown := self.growth(lambda sample: sample.memory)) > MAX_GROWTH:
            self.problems.append(f"memory grew by {grown:,}")
        for what, of in (("threads", lambda sample: sample.threads), ("descriptors", lambda sample: sample.descriptors)):
            if (left := self.left_behind(of)) > MAX_MORE:
                self.problems.append(f"{left:,} {what} are left behind")


def sample(pid: int, at: float) -> Sample | None:
    """None if the process has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        descriptors = len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return None
    value = lambda name: int(found[1]) if (found := re.search(rf"^{name}:\s+(\d+)", status, re.M)) else 0
    memory = (value("RssAnon") + value("RssShmem")) * 1024
    return Sample(at, memory, value("Threads"), descriptors) if memory else None


class Sampler:
    """Reads /proc of one process until the end of the block."""

    def __init__(self, pid: Callable[[], int | None], result: Result, period: float):
        self.pid, self.result, self.period = pid, result, period
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._follow, daemon=True)

    def _follow(self) -> None:
        began, pid = time.monotonic(), None
        while not self.stopped.wait(self.period):
            pid = pid or self.pid()
            if pid and (found := sample(pid, time.monotonic() - began)):
                self.result.samples.append(found)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join()


def child_named(parent: int, program: str) -> int | None:
    """The descendant of a process that runs this program."""
    for pid in children(parent):
        try:
            if os.path.realpath(f"/proc/{pid}/exe") == program:
                return pid
        except OSError:
            continue
        if found := child_named(pid, program):
            return found
    return None


def children(parent: int) -> list[int]:
    try:
        return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
    except OSError:
        return []


class Soak:
    def __init__(self, args: argparse.Namespace):
        self.bin = os.path.realpath(args.bin)
        self.messages, self.window = args.messages, 256
        self.work: Path = args.work
        self.home = self.work / "home"
        self.home.mkdir(parents=True, exist_ok=True)
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "MCPREEL_HOME": str(self.home)}
        self.period = 0.02 if args.messages < 5_000_000 else 0.2
        self.pump_program, self.server, self.http_calls, self.http_server = (
            compile_client(name, self.work) for name in ("pump", "server", "http_calls", "http_server"))

    # Running.

    def start(self, command: list, **streams) -> subprocess.Popen:
        return subprocess.Popen([str(word) for word in command], env=self.env, cwd=self.work, **streams)

    def pump(self, result: Result, command: list, messages: int | None = None) -> None:
        """Mixed traffic to a command on stdio, which is watched meanwhile."""
        client = self.start([self.pump_program, messages or self.messages, self.window, LIMIT_SECONDS, *command],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with Sampler(lambda: child_named(client.pid, self.bin), result, self.period):
            printed, said = client.communicate()
        if client.returncode:
            result.problems.append(f"the client failed: {said.strip()[-300:]}")
            return
        found = json.loads(printed)
        result.messages += found["sent"] + found["answers"] + found["others"]
        result.seconds += found["seconds"]
        if found["code"]:
            result.problems.append(f"exit code {found['code']}: {said.strip()[-300:]}")

    def compare_reel(self, result: Result, reel: Path, expected: int, lost: bool = False) -> None:
        counted = subprocess.run([self.bin, "stats", "--format", "json", reel], env=self.env, capture_output=True, text=True)
        held = json.loads(counted.stdout)["messages"] if counted.stdout else -1
        verified = subprocess.run([self.bin, "reel", "verify", reel], env=self.env, capture_output=True, text=True)
        result.notes.append(f"reel {reel.stat().st_size / 1e6:.0f} MB, {held:,} messages")
        if lost:
            said = verified.stdout + verified.stderr
            if not 0 < held < expected or "gap" not in said:
                result.problems.append(f"the reel holds {held} of {expected}, and verify says {said.strip()[-200:]}")
        elif held != expected or verified.returncode:
            result.problems.append(f"the reel holds {held} of {expected} messages; verify exits {verified.returncode}")
        reel.unlink()

    def fresh(self, name: str) -> Path:
        path = self.work / name
        path.unlink(missing_ok=True)
        return path

    @contextmanager
    def listener(self, command: list) -> Iterator[tuple[subprocess.Popen, int]]:
        """A command that listens, and its port."""
        said = self.work / "listener.txt"
        with open(said, "wb") as out:
            process = self.start(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=out)
        try:
            deadline = time.monotonic() + 20
            while not (found := re.search(r"http://127\.0\.0\.1:(\d+)", said.read_text())):
                if time.monotonic() > deadline or process.poll() is not None:
                    raise SystemExit(f"{command[1]} does not listen: {said.read_text()[-300:]}")
                time.sleep(0.02)
            yield process, int(found[1])
        finally:
            process.terminate()
            process.wait()

    def reconnecting(self, result: Result, process: subprocess.Popen, port: int) -> int:
        """Ten clients make calls, leave, and come back with new sessions. Returns the number of messages."""
        clients, calls = 10, max(20, min(2000, self.messages // 2 // 10 // 25))
        rounds = max(1, self.messages // (clients * (2 * calls + 3)))
        began = time.monotonic()
        with Sampler(lambda: process.pid, result, self.period):
            for _ in range(rounds):
                done = subprocess.run([self.http_calls, str(port), str(clients), str(calls), "0", "-1"], capture_output=True,
                                      text=True)
                if done.returncode:
                    result.problems.append(f"a client failed: {done.stderr.strip()[-300:]}")
                    break
        result.seconds = time.monotonic() - began
        result.messages = rounds * clients * (2 * calls + 3)
        result.notes.append(f"{rounds * clients:,} sessions")
        return result.messages

    # Watchers of a live session.

    @contextmanager
    def watchers(self, result: Result) -> Iterator[None]:
        """A fast reader of the live session, one that never reads, and one that is killed again and again."""
        follow = [self.bin, "show", "--follow", "--session", "soak", "--color", "never"]
        stop = threading.Event()

        def kill_repeatedly():
            killed = 0
            while not stop.wait(0.5):
                victim = self.start(follow, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                stop.wait(random.uniform(0.05, 0.5))
                victim.kill()
                victim.wait()
                victim.stdout.close()
                killed += 1
            result.notes.append(f"{killed} watchers killed")

        def begin():
            while not stop.is_set() and not self.is_live():
                time.sleep(0.05)
            readers.append(self.start(follow, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            readers.append(self.start(follow, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL))
            kill_repeatedly()

        readers: list[subprocess.Popen] = []
        thread = threading.Thread(target=begin, daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()
            for reader in readers:
                reader.kill()
                reader.wait()

    def is_live(self) -> bool:
        listed = subprocess.run([self.bin, "sessions", "--format", "json"], env=self.env, capture_output=True, text=True)
        return '"soak"' in listed.stdout

    # The runs.

    def record(self, result: Result) -> None:
        reel = self.fresh("record.reel")
        with self.watchers(result):
            self.pump(result, [self.bin, "record", "--label", "soak", "-o", reel, "--", self.server, "echo"])
        self.compare_reel(result, reel, result.messages)

    def serve(self, result: Result) -> None:
        self.pump(result, [self.bin, "serve"])

    def serve_listen(self, result: Result) -> None:
        with self.listener([self.bin, "serve", "--listen", "0"]) as (process, port):
            self.reconnecting(result, process, port)

    def mock(self, result: Result) -> None:
        reel, short = self.fresh("recorded.reel"), Result("recording")
        self.pump(short, [self.bin, "record", "-o", reel, "--", self.server, "echo"], 4000)
        self.pump(result, [self.bin, "mock", "--reuse", reel])

    def overlay(self, result: Result) -> None:
        plan, reel = self.work / "overlay.yaml", self.fresh("overlay.reel")
        plan.write_text(OVERLAY)
        self.pump(result, [self.bin, "overlay", "-o", reel, plan, "--", self.server, "echo"])
        reel.unlink(missing_ok=True)

    def record_listen(self, result: Result) -> None:
        reel = self.fresh("listen.reel")
        with ExitStack() as stack:
            upstream = stack.enter_context(self.http_upstream())
            command = [self.bin, "record", "-o", reel, "--listen", "0", "--url", f"http://127.0.0.1:{upstream}/mcp"]
            process, port = stack.enter_context(self.listener(command))
            sent = self.reconnecting(result, process, port)
        self.compare_reel(result, reel, sent)

    @contextmanager
    def http_upstream(self) -> Iterator[int]:
        process = self.start([self.http_server], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        try:
            yield int(process.stdout.readline())
        finally:
            process.terminate()
            process.wait()

    def host(self, result: Result) -> None:
        """A conversation with four servers. A turn makes about MESSAGES_A_TURN messages."""
        turns = max(40, self.messages // MESSAGES_A_TURN)
        reel = self.fresh("host.reel")
        command = [self.bin, "host", "--model", "none", "--format", "json", "--set", "host.final_turn=false", "--record", reel]
        for at in range(4):
            command += ["--builtin", f"s{at}:conversation,reminder,hooks"]
        began = time.monotonic()
        process = self.start(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True)
        with Sampler(lambda: process.pid, result, self.period):
            try:
                for turn in range(turns):
                    process.stdin.write(f"/turn turn {turn}: what about the schema?\n")
                process.stdin.close()
            except BrokenPipeError:
                result.problems.append("the host ended early")
            process.wait(LIMIT_SECONDS)
        result.seconds = time.monotonic() - began
        counted = subprocess.run([self.bin, "stats", "--format", "json", reel], env=self.env, capture_output=True, text=True)
        result.messages = json.loads(counted.stdout)["messages"]
        result.notes.append(f"{turns:,} turns, reel {reel.stat().st_size / 1e6:.0f} MB")
        if process.returncode or result.messages < turns:
            result.problems.append(f"exit code {process.returncode}, {result.messages:,} messages of {turns:,} turns")
        reel.unlink()

    def full_disk(self, result: Result) -> None:
        """The reel is on a small disk that somebody else fills and empties again and again."""
        if self.messages < LEAST_TO_FILL:
            result.notes.append("left out: too short for the disk to fill up")
            return
        folder = self.work / "disk"
        folder.mkdir(exist_ok=True)
        size = max(1, self.messages // 100_000)
        script = f'mount -t tmpfs -o size={size}m soak {folder} && exec "$@"'
        probe = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", "true"], capture_output=True, text=True)
        if probe.returncode:
            result.notes.append(f"left out: this user cannot mount a disk ({probe.stderr.strip()[:80]})")
            return
        tap = [self.bin, "record", "-o", folder / "disk.reel", "--", self.server, "echo"]
        keep = ["sh", "-c", f'"$@"; cp {folder}/disk.reel {self.work}/disk.reel', "sh"]
        stop = threading.Event()

        def fill_and_empty():
            while not stop.wait(FILL_SECONDS):
                if (pid := child_named(os.getpid(), self.bin)) is None:
                    continue
                filler = Path(f"/proc/{pid}/root{folder}/filler")
                try:
                    with open(filler, "wb", buffering=0) as out:
                        while out.write(b"x" * 65536):
                            pass
                except OSError:
                    pass
                stop.wait(FILL_SECONDS)
                try:
                    filler.unlink()
                except OSError:
                    pass

        thread = threading.Thread(target=fill_and_empty, daemon=True)
        thread.start()
        self.pump(result, ["unshare", "-m", "sh", "-c", script, "sh", *keep, *tap])
        stop.set()
        thread.join()
        self.compare_reel(result, self.work / "disk.reel", result.messages, lost=True)


LEAST_TO_FILL = 2_000_000
RUNS = ("record", "record_listen", "host", "serve", "serve_listen", "mock", "overlay", "full_disk")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bin", default=str(ROOT / "target/release/mcpreel"))
    parser.add_argument("--work", type=Path, default=ROOT / "target/soak")
    parser.add_argument("--messages", type=int, default=10_000_000)
    parser.add_argument("--only", default=",".join(RUNS))
    parser.add_argument("--svg", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--check", action="store_true", help="judge only whether results are right, not the growth")
    args = parser.parse_args()
    args.work = args.work.resolve()
    soak, results = Soak(args), []
    print(f"{'run':<14} {'messages':>11} {'per second':>11} {'memory':>9} {'growth':>9} {'threads':>8} {'files':>6}")
    for name in args.only.split(","):
        result = Result(name)
        getattr(soak, name)(result)
        if not args.check and not result.is_left_out():
            result.judge()
        results.append(result)
        print(row(result), flush=True)
        for line in [*result.problems, *result.notes]:
            print(f"{'':<14} {line}", flush=True)
    if args.svg:
        args.svg.write_text(soak_plot.draw(results))
    if args.json:
        args.json.write_text(json.dumps([{"name": r.name, "messages": r.messages, "seconds": r.seconds, "problems": r.problems,
                                          "samples": [vars(s) for s in r.samples]} for r in results]))
    shutil.rmtree(soak.home, ignore_errors=True)
    return 1 if any(result.problems for result in results) else 0


def row(result: Result) -> str:
    if len(result.samples) < 5:
        return f"{result.name:<14} {result.messages:>11,} (no samples)"
    last = result.samples[-1]
    rate = result.messages / result.seconds if result.seconds else 0
    return (f"{result.name:<14} {result.messages:>11,} {rate:>11,.0f} {max(s.memory for s in result.samples) / 1e6:>6.1f} MB "
            f"{result.growth(lambda s: s.memory) / 1e6:>6.2f} MB {last.threads:>8} {last.descriptors:>6}"
            f"  {'MISS' if result.problems else 'ok'}")


if __name__ == "__main__":
    sys.exit(main())
