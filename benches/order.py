#!/usr/bin/env python3
"""Makes order.ld, which places the functions that `record`, `show` and `stats` run next to each other in the binary.

    cargo build --release && python3 benches/order.py [--bin target/release/mcpreel] [--work DIR]

Runs them under callgrind (of valgrind), and writes the names of all functions that ran; those that most commands run
come first, and of these, those that run for each message. Only memory, startup time and latency depend on it: a name
that no function has any more does nothing. Regenerate it when `compare.py --only memory` comes close to its bound.

A name ends with a hash, which stays the same until the compiler changes. The same names without hashes come after
them: they are less exact (one generic function has many copies) and still right with another compiler.
"""

import argparse
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from context import ROOT, Context
from http_tap import Ways, exchange_large
from measure import BenchError, Command
from stored import LARGEST, fed, large_messages

HOT_CALLS = 300  # a function that is called as often runs for each message
FORMS = ("", "--full", "--format json", "--format table", "--jq .message.params")
SMALL = '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"add","arguments":{"a":1}}}\n'
HEAD = """\
/* Made by benches/order.py; see build.rs. What record, show and stats run, what most of them run first. */
SECTIONS
{
  .text.run : {
"""
TAIL = """\
  }
}
INSERT BEFORE .text;
"""


@dataclass
class Profiled(Context):
    """The binary under callgrind, which writes the names of the functions that ran to `folder`."""

    folder: Path = Path()

    def ours(self, *words: object) -> Command:
        command = super().ours(*words)
        if words[0] not in ("record", "show", "stats", "--version"):
            return command  # it only inspects what these made
        callgrind = ["valgrind", "-q", "--tool=callgrind", "--demangle=no",
                     f"--callgrind-out-file={self.folder}/%p"]
        return [*callgrind, *command]


def profile(ctx: Profiled, name: str, run) -> Counter[str]:
    """How often a scenario called each function that it ran, including libraries."""
    folder = ctx.work / f"order-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    print(f"{name} ...", flush=True)
    run(replace(ctx, folder=folder))
    called = Counter()
    for file in folder.iterdir():
        names, callee = {}, None
        for kind, number, found in re.findall(r"^(fn=|cfn=|calls=)\(?(\d+)\)?(?: (\S+))?", file.read_text(errors="replace"), re.M):
            if kind == "calls=":
                called[callee] += int(number)
                continue
            if found:
                names[number] = re.sub(r"'\d+$", "", found)
            callee = names[number]
            called[callee] += 0
    if not called:
        raise BenchError(f"callgrind wrote nothing for {name}")
    return called


def record(ctx: Profiled) -> None:
    lines = ctx.fresh("order.ndjson")
    with open(large_messages(ctx.fresh("large.ndjson"), LARGEST // 2), encoding="utf-8") as large:
        lines.write_text("".join(SMALL % number for number in range(3000)) + "".join(islice(large, 6)))
    command = ctx.record(ctx.fresh("order.reel"), ["cat"])
    ctx.runner.run(fed(lines, command))
    ctx.runner.run([*ctx.record(ctx.fresh("one-way.reel"), ["cat"]), str(lines)])


def record_http(ctx: Profiled) -> None:
    ways = Ways(ctx)
    ways.calls(ways.tap, 6, HOT_CALLS // 3, -1)
    for kind in ("json", "events"):
        exchange_large(ways, kind, 4)


def show(ctx: Profiled) -> None:
    for form in FORMS:
        into_file(ctx, "show", *form.split(), "--color", "never")


def stats(ctx: Profiled) -> None:
    for form in ("", "-f json"):
        into_file(ctx, "stats", *form.split())


def into_file(ctx: Profiled, *words: str) -> None:
    """What goes to a device is not searched for secrets."""
    ctx.runner.run(ctx.ours(*words, ctx.work / "order.reel"), ctx.fresh("order.out"))


def symbols(program: str) -> set[str]:
    lines = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout.splitlines()
    parts = (line.split() for line in lines)
    return {part[2] for part in parts if len(part) == 3 and part[1] in "tTwW"}


def exact(name: str) -> str:
    """A pattern for this one function, without the number of its copy. The compiler puts cold functions elsewhere, but
    those that were called belong to the others."""
    name = re.sub(r"[.]([0-9]+|llvm[.].*)$", "", name)
    return f"*(.text.{name}* .text.unlikely.{name}*)"


def any_hash(name: str) -> str:
    """A pattern with wildcards for the parts that change from compiler to compiler."""
    wild = re.sub(r"Cs[0-9A-Za-z]+_(?=[0-9])", "Cs*_", re.sub(r"17h[0-9a-f]{16}E.*$", "17h", name))
    return exact(name) if wild == name else f"*(.text.{wild}*)"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bin", type=Path, default=ROOT / "target/release/mcpreel")
    parser.add_argument("--work", type=Path, default=ROOT / "target/compare")
    args = parser.parse_args()
    if shutil.which("valgrind") is None:
        parser.error("no valgrind on this machine")
    args.work.mkdir(parents=True, exist_ok=True)
    ctx = Profiled(bin=str(args.bin.resolve()), work=args.work.resolve(), messages=0, pairs=1,
                   source=None, transcript=None)
    try:
        ran = {"version": profile(ctx, "version", lambda ctx: ctx.runner.run(ctx.ours("--version")))}
        ran |= {run.__name__: profile(ctx, run.__name__, run) for run in (record, record_http, show, stats)}
    except BenchError as error:
        print(error, file=sys.stderr)
        return 1
    known = symbols(ctx.bin)
    who = {name: sorted(one for one, called in ran.items() if name in called) for name in set().union(*ran.values()) & known}
    hot = {name for called in ran.values() for name, calls in called.items() if calls >= HOT_CALLS}
    names = sorted(who, key=lambda name: (-len(who[name]), who[name], name not in hot, name))
    ordered = dict.fromkeys([*map(exact, names), *map(any_hash, names)])
    body = "".join(f"    {one}\n" for one in ordered)
    (ROOT / "order.ld").write_text(HEAD + body + TAIL)
    print(f"{len(ordered)} names")
    return 0


if __name__ == "__main__":
    sys.exit(main())
