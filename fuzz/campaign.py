#!/usr/bin/env python3
"""A fuzzing campaign in short sessions: each continues where the last one ended.

    python3 fuzz/campaign.py [--build] [--seconds 600] [--minutes 60] [--only NAME,...] [--jobs 1] [--pause FILE]
    python3 fuzz/campaign.py --table

Runs the targets that have had the smallest part of their due time, one after another, for some CPU seconds each. Then
it minimises the corpus of the target, replaces its small committed part (seeds/), and adds time, runs and findings to
ledger.json. What a crash needs to happen again is in artifacts/. Exit code 0: nothing found; 1: something; 2: usage.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

FUZZ = Path(__file__).resolve().parent
BUILD = FUZZ / "target/stable"
TRIPLE = f"{os.uname().machine}-unknown-linux-gnu"
PROGRAMS = BUILD / TRIPLE / "release"
CORPUS, SEEDS, ARTIFACTS, LEDGER = (FUZZ / name for name in ("corpus", "seeds", "artifacts", "ledger.json"))
COVERAGE = ("-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters "
            "-Cllvm-args=-sanitizer-coverage-pc-table --cfg fuzzing")
# These were checked for ten minutes before; all others are due for an hour.
SHORT = {"clients", "control", "diff", "envelope", "filter", "host", "http", "jsonl", "line_framer", "matching", "overlay",
         "overlay_plan", "policy", "pretty", "scenario", "sse", "validate"}
SHORT_SECONDS, LONG_SECONDS = 600, 3600
# Wall time: a busy machine is slow, and a fuzzer that was paused for long seems to be. See Target.is_real.
TIMEOUT_SECONDS = 60
MAX_CPU_SECONDS = 10
MEMORY_MIB = 2048
MAX_INPUT_BYTES = 65536
MAX_SEED_BYTES, MAX_SEEDS, MAX_SEEDS_BYTES = 2048, 60, 40 * 1024
MAX_CRASHES = 5  # in one turn
PANIC = re.compile(r"panicked at ([^\s:]+:\d+)[^\n]*\n([^\n]*)")
STATUS = re.compile(r"cov: (\d+)")
EXECUTED = re.compile(r"stat::number_of_executed_units: (\d+)|^#(\d+)\s", re.M)


@dataclass
class Entry:
    """What is known of one target. Times are CPU seconds; coverage counts edges. A finding is a sentence."""

    due: int
    seconds: int = 0
    runs: int = 0
    coverage: int = 0
    found: list[str] = field(default_factory=list)


class Ledger:
    """The file with one line per target."""

    def __init__(self):
        self.lock = threading.Lock()
        said = json.loads(LEDGER.read_text()) if LEDGER.exists() else {}
        names = sorted(path.stem for path in (FUZZ / "fuzz_targets").glob("*.rs"))
        due = {name: SHORT_SECONDS if name in SHORT else LONG_SECONDS for name in names}
        self.entries = {name: Entry(**{**said.get(name, {}), "due": due[name]}) for name in names}

    def write(self) -> None:
        lines = [f"{json.dumps(name)}: {json.dumps(asdict(entry), ensure_ascii=False)}" for name, entry in self.entries.items()]
        LEDGER.write_text("{\n" + ",\n".join(lines) + "\n}\n")

    def next(self, names: set[str], taken: set[str]) -> str | None:
        """The target that has had the smallest part of its time; None if all are done or taken."""
        free = [name for name in names - taken if self.entries[name].seconds < self.entries[name].due]
        return min(free, key=lambda name: (self.entries[name].seconds / self.entries[name].due, name), default=None)

    def table(self) -> str:
        rows = [f"| `{name}` | {entry.seconds:,} | {entry.due:,} | {entry.runs:,} | {entry.coverage:,} | {len(entry.found)} |"
                for name, entry in self.entries.items()]
        seconds, runs, found = (sum(of) for of in zip(*((e.seconds, e.runs, len(e.found)) for e in self.entries.values())))
        due = sum(entry.due for entry in self.entries.values())
        head = ["| Target | CPU seconds | due | Runs | Edges | Found |", "|---|---:|---:|---:|---:|---:|"]
        total = [f"| all {len(rows)} | {seconds:,} | {due:,} | {runs:,} | | {found} |"]
        findings = [f"- `{name}`: {text}" for name, entry in self.entries.items() for text in entry.found]
        return "\n".join(head + rows + total + [""] * bool(findings) + findings)


def cpu_seconds(pid: int) -> float:
    """The CPU time of a process so far; 0 once it has ended."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Ended:
    """A fuzzer that has ended. A negative code is a signal. If it had stalled, it was killed, and its code says nothing."""

    seconds: float
    code: int
    log: str
    has_stalled: bool


@dataclass
class Target:
    name: str
    pause: Path | None

    def __post_init__(self):
        self.corpus, self.seeds, self.artifacts = (folder / self.name for folder in (CORPUS, SEEDS, ARTIFACTS))
        for folder in (self.corpus, self.artifacts):
            folder.mkdir(parents=True, exist_ok=True)

    def start(self, *words: object, seconds: float = float("inf"), until: float = float("inf")) -> Ended:
        """Runs the target until it has had this CPU time, or until a moment. It stands still while the pause file exists."""
        command = [PROGRAMS / self.name, *words, f"-rss_limit_mb={MEMORY_MIB}", f"-artifact_prefix={self.artifacts}/"]
        log = self.artifacts / "log.txt"
        with open(log, "wb") as out:
            process = subprocess.Popen([str(word) for word in command], cwd=FUZZ, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=out, start_new_session=True)
        is_paused, asked, used, moved, has_stalled = False, 0, 0.0, time.monotonic(), False
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if is_paused != bool(self.pause and self.pause.exists()):
                is_paused = not is_paused
                os.killpg(process.pid, signal.SIGSTOP if is_paused else signal.SIGCONT)
            if is_paused or cpu_seconds(process.pid) > used:
                used, moved = cpu_seconds(process.pid), time.monotonic()
            elif time.monotonic() - moved > 2 * TIMEOUT_SECONDS:
                # After a long pause, libFuzzer believes that the input takes long. Its handler of the signal allocates
                # memory, and waits for ever if the signal came within the allocator.
                has_stalled = True
                os.killpg(process.pid, signal.SIGKILL)
            if not is_paused and (asked or cpu_seconds(process.pid) >= seconds or time.monotonic() >= until):
                # libFuzzer ends after the current input; one that never ends is a finding of its own.
                asked += 1
                os.killpg(process.pid, signal.SIGKILL if asked > 2 * TIMEOUT_SECONDS else signal.SIGUSR1)
            time.sleep(0.5)
        process.returncode = os.waitstatus_to_exitcode(status)
        text = log.read_text(errors="replace")
        return Ended(usage.ru_utime + usage.ru_stime, process.returncode, text, has_stalled)

    def fuzz(self, seconds: int, until: float, entry: Entry) -> list[str]:
        """Returns what was found."""
        had, found, options = 0.0, {}, [f"-timeout={TIMEOUT_SECONDS}", f"-max_len={MAX_INPUT_BYTES}", "-print_final_stats=1"]
        if (words := CORPUS / "words.dict").exists():
            options.append(f"-dict={words}")
        for _ in range(MAX_CRASHES):
            before = set(self.artifacts.iterdir())
            ended = self.start(self.corpus, *options, seconds=seconds - had, until=until)
            had += ended.seconds
            entry.runs += max((int(a or b) for a, b in EXECUTED.findall(ended.log)), default=0)
            entry.coverage = max([0, *map(int, STATUS.findall(ended.log))]) or entry.coverage
            new = [path for path in self.artifacts.iterdir() if path not in before]
            found |= {what: path for path in new if (what := self.is_real(path))}
            if ended.has_stalled:
                print(f"{self.name}: killed, because it stood still", file=sys.stderr)
            elif ended.code and not new:
                found[f"exit code {ended.code}: {ended.log.strip()[-200:]}"] = self.artifacts
            if had >= seconds or time.monotonic() >= until or not ended.code:
                break
        entry.seconds += round(had)
        return [f"{what} ({path.name})" for what, path in found.items()]

    def is_real(self, artifact: Path) -> str | None:
        """What happens if this input runs again: a panic, a signal, much memory or much time; None if nothing does."""
        ended = self.start(artifact, "-timeout=600")
        if panic := PANIC.search(ended.log):
            return f"{panic[1]}: {panic[2][:200]}"
        if ended.code:
            said = [line for line in ended.log.splitlines() if "ERROR" in line]
            return f"exit code {ended.code}: {(said or ['?'])[0][:200]}"
        if ended.seconds > MAX_CPU_SECONDS:
            return f"{ended.seconds:.0f} s"
        artifact.unlink()
        return None

    def minimise(self) -> None:
        """Keeps the smallest inputs that reach what the corpus reaches, and of these the best small ones as seeds."""
        reached, control = self.corpus.with_name(f"{self.name}.new"), self.artifacts / "merge.txt"
        shutil.rmtree(reached, ignore_errors=True)
        reached.mkdir()
        control.unlink(missing_ok=True)
        ended = self.start("-merge=1", f"-merge_control_file={control}", f"-timeout={TIMEOUT_SECONDS}", reached, self.corpus)
        if ended.code or not any(reached.iterdir()):
            print(f"{self.name}: the corpus was not minimised: {ended.log.strip()[-300:]}", file=sys.stderr)
            return shutil.rmtree(reached)
        shutil.rmtree(self.corpus)
        reached.rename(self.corpus)
        shutil.rmtree(self.seeds, ignore_errors=True)
        self.seeds.mkdir(parents=True)
        room = MAX_SEEDS_BYTES
        for path in self.best(control):
            size = path.stat().st_size
            # Inputs made from recordings may name this machine's folders.
            is_portable = bytes(FUZZ.parent) not in path.read_bytes()
            if is_portable and size <= min(room, MAX_SEED_BYTES) and len(list(self.seeds.iterdir())) < MAX_SEEDS:
                shutil.copy(path, self.seeds / path.name)
                room -= size

    def best(self, control: Path) -> list[Path]:
        """The corpus, the inputs first that reach most for their size. The merge noted what each adds to those before it."""
        lines = control.read_text().splitlines()
        files = [Path(line).name for line in lines[2:2 + int(lines[0])]]
        added = {}
        for line in lines:
            word, _, rest = line.partition(" ")
            if word == "FT":
                number, *features = rest.split()
                added[files[int(number)]] = len(features)
        worth = lambda path: added.get(path.name, 0) / (path.stat().st_size + 64)
        return sorted(self.corpus.iterdir(), key=lambda path: (-worth(path), path.name))


def build() -> None:
    settings = {"CARGO_TARGET_DIR": str(BUILD), "CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS": "true",
                "CARGO_PROFILE_RELEASE_OPT_LEVEL": "2", "RUSTFLAGS": COVERAGE}
    shutil.copy(FUZZ.parent / "Cargo.lock", FUZZ / "Cargo.lock")
    subprocess.run(["cargo", "build", "--release", "--target", TRIPLE, "--bins"], cwd=FUZZ, env=os.environ | settings, check=True)


def work(ledger: Ledger, names: set[str], taken: set[str], args: argparse.Namespace, until: float) -> bool:
    """Runs one target after another. Returns whether anything was found."""
    is_found = False
    while time.monotonic() < until:
        with ledger.lock:
            if not (name := ledger.next(names, taken)):
                break
            taken.add(name)
        target, entry = Target(name, args.pause), ledger.entries[name]
        found = target.fuzz(min(args.seconds, entry.due - entry.seconds), until, entry)
        target.minimise()
        with ledger.lock:
            known = {what.rpartition(" (")[0] for what in entry.found}
            entry.found += [what for what in found if what.rpartition(" (")[0] not in known]
            ledger.write()
            taken.discard(name)
        for what in found:
            print(f"{name}: {what}")
        print(f"{name}: {entry.seconds} of {entry.due} s, {entry.runs:,} runs, {entry.coverage:,} edges", flush=True)
        is_found |= bool(found)
    return is_found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="store_true", help="print the ledger as Markdown, and run nothing")
    parser.add_argument("--build", action="store_true", help="build all targets first")
    parser.add_argument("--seconds", type=int, default=600, metavar="N", help="CPU time of a target's turn")
    parser.add_argument("--minutes", type=float, default=60, metavar="N", help="when to end, in wall time")
    parser.add_argument("--only", type=lambda text: set(text.split(",")), metavar="NAME,...", help="these targets")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="how many run at the same time")
    parser.add_argument("--pause", type=Path, metavar="FILE", help="while this file exists, nothing runs")
    parser.add_argument("--mcpreel", type=Path, default=FUZZ.parent / "target/debug/mcpreel", help="what makes the first corpora")
    args = parser.parse_args()
    ledger = Ledger()
    if args.table:
        print(ledger.table())
        return 0
    if unknown := (args.only or set()) - ledger.entries.keys():
        parser.error(f"there is no target {', '.join(sorted(unknown))}")
    if args.build:
        build()
    subprocess.run([FUZZ / "corpus.sh", args.mcpreel, CORPUS], check=True)
    names, taken, until = args.only or set(ledger.entries), set(), time.monotonic() + 60 * args.minutes
    with ThreadPoolExecutor(args.jobs) as pool:
        jobs = [pool.submit(work, ledger, names, taken, args, until) for _ in range(args.jobs)]
        return int(any([job.result() for job in jobs]))


if __name__ == "__main__":
    sys.exit(main())
