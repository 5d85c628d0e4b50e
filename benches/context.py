"""Shared by the figures: the tools, the workload, and the reels made from it (each made once)."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

import workload
from measure import BenchError, Command, Runner

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PRETTY_MESSAGES = 100_000
EXPORTED_MESSAGE = b'"event":"message"'


def compile_client(name: str, into: Path) -> str:
    """Compiles benches/NAME.c and returns the program's path."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise BenchError("no C compiler (gcc or cc) for the benchmark's own clients")
    program = into / name
    command = [compiler, "-O2", "-std=gnu11", "-o", str(program), str(HERE / f"{name}.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchError(f"{name}.c does not compile: {done.stderr.strip()[:300]}")
    return str(program)


def compile_proxy(name: str, into: Path) -> str:
    """Compiles the crate benches/NAME with the versions of libraries that mcpreel has, and returns the program's path."""
    cargo = shutil.which("cargo")
    if cargo is None:
        raise BenchError("no Rust compiler (cargo) for the benchmark's own proxy")
    shutil.copy(ROOT / "Cargo.lock", HERE / name / "Cargo.lock")
    manifest = str(HERE / name / "Cargo.toml")
    command = [cargo, "build", "--release", "--quiet", "--manifest-path", manifest, "--target-dir", str(into / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchError(f"{name} does not compile: {done.stderr.strip()[-300:]}")
    return str(into / name / "release" / name)


def find_program(name: str) -> str | None:
    """A rival on PATH, or at the path in the variable with its name in capitals (JAQ=/opt/jaq)."""
    return shutil.which(os.environ.get(name.upper(), name))


@dataclass
class Context:
    bin: str
    work: Path
    messages: int
    pairs: int
    source: Path | None
    transcript: Path | None

    @cached_property
    def runner(self) -> Runner:
        return Runner(self.work)

    # Programs.

    @cached_property
    def pingpong(self) -> str:
        return compile_client("pingpong", self.work)

    @cached_property
    def drain(self) -> str:
        return compile_client("drain", self.work)

    @cached_property
    def server(self) -> str:
        return compile_client("server", self.work)

    @cached_property
    def jaq(self) -> str | None:
        return find_program("jaq")

    @cached_property
    def jq(self) -> str | None:
        return find_program("jq")

    @cached_property
    def zstd(self) -> str | None:
        return find_program("zstd")

    @cached_property
    def installed(self) -> Path:
        """A copy of the binary, as when it is installed. The page cache holds it in large pieces, of which more is
        mapped at each access than of a file that the linker has just written."""
        path = self.fresh("mcpreel")
        shutil.copy(self.bin, path)
        return path

    # Files.

    @cached_property
    def jsonl(self) -> Path:
        """The workload. It is kept between runs; its name contains everything it depends on."""
        if self.source:
            stat = self.source.stat()
            kind = f"{self.source.stem}-{stat.st_size}-{stat.st_mtime_ns}"
        else:
            kind = f"g{workload.GENERATION}"
        path = self.work / f"workload-{kind}-{self.messages}.jsonl"
        if not path.exists():
            print(f"writing {path} ...", flush=True)
            workload.write(path, self.messages, self.source)
        return path

    @cached_property
    def original_bytes(self) -> int:
        return self.jsonl.stat().st_size

    @cached_property
    def reel(self) -> Path:
        return self.import_reel(self.jsonl, self.work / "workload.reel")

    @cached_property
    def small_jsonl(self) -> Path:
        """Only the first messages, for tasks that would take a rival minutes."""
        path = self.work / "small.jsonl"
        with open(self.jsonl, "rb") as whole, open(path, "wb") as part:
            part.writelines(islice(whole, PRETTY_MESSAGES + 1))
        return path

    @cached_property
    def small_reel(self) -> Path:
        return self.import_reel(self.small_jsonl, self.work / "small.reel")

    def fresh(self, name: str) -> Path:
        """An unused path in the work folder."""
        path = self.work / name
        path.unlink(missing_ok=True)
        return path

    # Commands of the binary under test.

    def ours(self, *words: object) -> Command:
        return [self.bin, *map(str, words)]

    def record(self, reel: Path, command: Command) -> Command:
        return self.ours("record", "-o", reel, "--", *command)

    def import_reel(self, jsonl: Path, reel: Path) -> Path:
        reel.unlink(missing_ok=True)
        self.runner.run(self.ours("import", "--format", "jsonl", jsonl, "-o", reel))
        return reel

    def recorded_messages(self, reel: Path) -> int:
        """The number of messages in a reel, from `stats` or by counting the exported lines."""
        _, text = self.runner.output(self.ours("stats", "--format", "json", reel))
        try:
            count = message_count(json.loads(text))
        except ValueError as error:
            raise BenchError(f"`stats --format json` does not print JSON: {error}") from error
        return count if count is not None else self.exported_messages(reel)

    def exported_messages(self, reel: Path) -> int:
        out = self.fresh("counted.jsonl")
        self.runner.run(self.ours("export", "--format", "jsonl", reel, "-o", out))
        with open(out, "rb") as lines:
            return sum(EXPORTED_MESSAGE in line[:200] for line in lines)


def message_count(stats: object) -> int | None:
    """The outermost integer called `messages` in the statistics."""
    level = [stats]
    while level:
        objects = [item for item in level if isinstance(item, dict)]
        for item in objects:
            if isinstance(item.get("messages"), int):
                return item["messages"]
        level = [value for item in objects for value in item.values()]
    return None
