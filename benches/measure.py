"""Runs commands from outside and measures them with the kernel's accounting."""

import json
import math
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

Command = list[str]
T = TypeVar("T")


class BenchError(Exception):
    """A figure could not be measured: a command failed or its output is wrong."""


@dataclass(frozen=True)
class Run:
    """One finished command. CPU is user and system time, including its waited-for children."""

    wall: float
    cpu: float
    code: int


def spawn_and_wait(command: Command, stdout: Path, stderr: Path) -> Run:
    create = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    files = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
             (os.POSIX_SPAWN_OPEN, 1, str(stdout), create, 0o644),
             (os.POSIX_SPAWN_OPEN, 2, str(stderr), create, 0o644)]
    start = time.perf_counter()
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=files)
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - start
    return Run(wall, usage.ru_utime + usage.ru_stime, os.waitstatus_to_exitcode(status))


@dataclass(frozen=True)
class Runner:
    """Runs commands and stores their standard error for error messages."""

    work: Path

    def run(self, command: Command, stdout: Path | None = None) -> Run:
        stderr = self.work / "stderr.txt"
        try:
            run = spawn_and_wait(command, stdout or Path(os.devnull), stderr)
        except OSError as error:
            raise BenchError(f"cannot start {command[0]}: {error.strerror}") from error
        if run.code != 0:
            raise BenchError(failure(command, run.code, stderr))
        return run

    def output(self, command: Command) -> tuple[Run, bytes]:
        """Only for small outputs: they pass through a file."""
        stdout = self.work / "stdout.txt"
        run = self.run(command, stdout)
        return run, stdout.read_bytes()

    def report(self, command: Command) -> tuple[Run, dict]:
        """Runs one of the C clients, which print one JSON object about their child."""
        run, text = self.output(command)
        found = json.loads(text)
        if found["code"] != 0:
            raise BenchError(failure(command, found["code"], self.work / "stderr.txt"))
        return run, found


def failure(command: Command, code: int, stderr: Path) -> str:
    last = " / ".join(stderr.read_text(errors="replace").strip().splitlines()[-2:])
    shown = " ".join(os.path.basename(word) for word in command)
    return f"`{shown[:120]}` exited {code}" + (f": {last[:200]}" if last else "")


def interleave(measures: dict[str, Callable[[], T]], rounds: int) -> dict[str, list[T]]:
    """Measures A B C, A B C, ... after one round of warm-up that is not counted."""
    taken: dict[str, list[T]] = {name: [] for name in measures}
    for number in range(rounds + 1):
        for name, measure in measures.items():
            sample = measure()
            if number:
                taken[name].append(sample)
    return taken


def interleave_commands(runner: Runner, commands: dict[str, Command],
                        rounds: int) -> dict[str, list[Run]]:
    measures = {name: (lambda command=command: runner.run(command))
                for name, command in commands.items()}
    return interleave(measures, rounds)


def ratios(above: list[float], below: list[float]) -> list[float]:
    return [a / b if b else float("inf") for a, b in zip(above, below, strict=True)]


class Ratio(float):
    """The median of the rounds' ratios, between the bounds that hold the true median with 95 % confidence."""

    low: float
    high: float

    @classmethod
    def of(cls, rounds: list[float]) -> "Ratio":
        found = cls(statistics.median(rounds))
        found.low, found.high = interval(rounds)
        return found


def interval(values: list[float]) -> tuple[float, float]:
    """The 95 % confidence interval of the median, from the binomial distribution; all of them if there are too few."""
    ordered, count = sorted(values), len(values)
    below, outside = 0.5 ** count, 0
    while below <= 0.025:
        outside += 1
        below += math.comb(count, outside) * 0.5 ** count
    cut = max(outside - 1, 0)
    return ordered[cut], ordered[count - 1 - cut]


def median_ratio(above: list[float], below: list[float]) -> Ratio:
    """The median of the rounds' ratios, not the ratio of the medians."""
    return Ratio.of(ratios(above, below))


def walls(runs: list[Run]) -> list[float]:
    return [run.wall for run in runs]


def cpus(runs: list[Run]) -> list[float]:
    return [run.cpu for run in runs]


def as_json(samples: dict[str, list[Run]]) -> dict:
    return {name: [asdict(run) for run in runs] for name, runs in samples.items()}
