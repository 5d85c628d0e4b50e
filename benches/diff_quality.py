#!/usr/bin/env python3
"""How well `mcpreel diff` finds changes: precision and recall on recordings with known changes.

    diff_quality.py [--messages 1000,10000,100000] [--profiles workload,repeated,...] [--seed N] [--binary PATH]

For each profile and size, a recording is written, and a copy of it with changes: calls and notifications that are
dropped, inserted or edited, concurrent calls in another order, and an id of its own for every request. `diff` should
report what was dropped, inserted and edited, and nothing else.

  changes  each reported unit with its kind of change, against the true ones
  pairs    the two places (seq in A, seq in B) of each unit reported as changed, against the true ones

Units with the same content that follow each other directly are interchangeable: which of them was dropped cannot be
determined. Everything is made from one seed, so a run can be repeated. Exits with 1 if precision is under 0.999 or
recall under 0.99.
"""

import argparse
import copy
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import islice
from pathlib import Path

import workload

PRECISION, RECALL = 0.999, 0.99
START_NS = workload.START_NS


class Unit:
    """A call with its answer and progress, or a notification: messages as (side, object)."""

    __slots__ = ("stream", "first", "later", "origin", "state")

    def __init__(self, stream, first, origin=None):
        self.stream, self.first, self.later = stream, first, []
        self.origin, self.state = origin, "same"

    def content(self):
        """The unit's content, without ids."""
        return json.dumps([strip(message) for _, message in [self.first, *self.later]], sort_keys=True)


def strip(message):
    """A message without values that differ in every run."""
    kept = {key: value for key, value in message.items() if key != "id"}
    params = kept.get("params")
    if isinstance(params, dict):
        params = dict(params)
        params.pop("progressToken", None)
        params.pop("requestId", None)
        if "_meta" in params:
            params["_meta"] = {k: v for k, v in params["_meta"].items() if k != "progressToken"}
        kept["params"] = params
    return kept


# ---- recordings: lists of (unit number, which message of the unit) in the order of the wire ----


def from_workload(rng, count):
    """The benchmark's workload: six sessions at a time, calls that overlap, few repetitions."""
    units, wire, open_calls, tokens = [], [], {}, {}
    for stream, side, text in islice(workload.messages(rng), count):
        message = json.loads(text)
        side_name = "c2s" if side == "c" else "s2c"
        params = message.get("params") or {}
        if "method" in message:
            unit = None
            if message["method"] == "notifications/progress":
                unit = tokens.get((stream, params["progressToken"]))
            if unit is not None:
                units[unit].later.append((side_name, message))
            else:
                unit = len(units)
                units.append(Unit(stream, (side_name, message), unit))
                if "id" in message:
                    open_calls[stream, message["id"]] = unit
                    token = params.get("_meta", {}).get("progressToken")
                    if token is not None:
                        tokens[stream, token] = unit
        else:
            unit = open_calls.get((stream, message["id"]))
            if unit is None:
                continue
            units[unit].later.append((side_name, message))
        wire.append((unit, len(units[unit].later)))
    return units, wire


def scripted(rng, count, pick, overlap=0.0):
    """Calls that `pick` chooses by their number, one after the other or, with some probability, overlapping."""
    units, wire, waiting = [], [], []
    number = 0
    while len(wire) < count:
        call, answer = pick(number)
        number += 1
        unit = len(units)
        units.append(Unit(0, ("c2s", {"jsonrpc": "2.0", "id": unit, **call}), unit))
        units[unit].later.append(("s2c", {"jsonrpc": "2.0", "id": unit, "result": answer}))
        wire.append((unit, 0))
        waiting.append(unit)
        while waiting and (len(waiting) > 4 or rng.random() >= overlap):
            wire.append((waiting.pop(rng.randrange(len(waiting))), 1))
        if rng.random() < 0.1:
            note = len(units)
            data = {"level": "info", "data": f"tick of {rng.choice(['cache', 'db', 'http'])}"}
            units.append(Unit(0, ("s2c", {"jsonrpc": "2.0", "method": "notifications/message", "params": data}), note))
            wire.append((note, 0))
    wire.extend((unit, 1) for unit in waiting)
    return units, wire


def call(name, **arguments):
    return {"method": "tools/call", "params": {"name": name, "arguments": arguments}}


def text(value):
    return {"content": [{"type": "text", "text": value}]}


def repeated(rng, count, overlap=0.0):
    """Twenty calls, repeated in random order."""
    calls = [(call(rng.choice(["read", "list", "query"]), path=f"/srv/{n}", limit=n), text(f"{n} rows of {n * 7}"))
             for n in range(20)]
    return scripted(rng, count, lambda _: rng.choice(calls), overlap)


def polling(rng, count):
    """One call, over and over, with an answer that changes now and then."""
    return scripted(rng, count, lambda n: (call("status", job="build"), text(f"phase {n // 500}")))


def cyclic(rng, count):
    """A script of ten calls in a loop."""
    return scripted(rng, count, lambda n: (call(f"step_{n % 10}", target="all"), text(f"step {n % 10} is done")))


PROFILES = {
    "workload": from_workload,
    "repeated": repeated,
    "concurrent": lambda rng, count: repeated(rng, count, overlap=0.7),
    "polling": polling,
    "cyclic": cyclic,
}


# ---- changes ----


def edit(rng, message):
    """Changes one string or number of a message's params, result or error."""
    places = []

    def visit(holder, key):
        value = holder[key]
        if isinstance(value, dict):
            for name in value:
                if name not in ("_meta", "progressToken", "requestId", "name", "uri", "structuredContent"):
                    visit(value, name)
        elif isinstance(value, list):
            for at in range(len(value)):
                visit(value, at)
        elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
            places.append((holder, key))

    for part in ("params", "result", "error"):
        if part in message:
            visit(message, part)
    if not places:
        return False
    holder, key = rng.choice(places)
    if isinstance(holder[key], str):
        holder[key] += rng.choice([" again", " (changed)", f" {rng.randrange(10**6)}"])
    else:
        holder[key] += rng.randint(1, 9)
    return True


def apart(rng, units, wire, plain, changes):
    """Some of these units, no two of them close to each other or in one run of equal units; and their neighbours.

    A dropped unit next to an inserted one cannot be distinguished from an edited one.
    """
    region, number, last = {}, {}, {}
    for unit, part in wire:
        if part == 0:
            stream, content = units[unit].stream, units[unit].content()
            if last.get(stream) != content:
                number[stream] = number.get(stream, 0) + 1
            last[stream] = content
            region[unit] = stream, number[stream]
    taken, chosen = set(), []
    around = lambda unit: {(region[unit][0], region[unit][1] + step) for step in range(-3, 4)}
    for unit in rng.sample(plain, len(plain)):
        if len(chosen) < changes and not around(unit) & taken:
            taken.add(region[unit])
            chosen.append(unit)
    return chosen, lambda unit: unit not in region or bool(around(unit) & taken)


def perturb(rng, units, wire, changes):
    """A changed copy: units with their origin and state, and their order."""
    units = [copy.deepcopy(unit) for unit in units]
    plain = [n for n, unit in enumerate(units)
             if unit.first[1].get("method") in ("tools/call", "resources/read", "notifications/message",
                                                "notifications/resources/updated")]
    chosen, is_near = apart(rng, units, wire, plain, changes)
    dropped = set()
    inserts = {}
    for at, unit in enumerate(chosen):
        kind = ("drop", "insert", "edit", "edit")[at % 4]
        if kind == "drop":
            dropped.add(unit)
        elif kind == "insert":
            inserts.setdefault(unit, []).append(rng.choice(plain))
        else:
            target = units[unit]
            messages = [target.first, *[m for m in target.later if "id" in m[1]]]
            if edit(rng, rng.choice(messages)[1]):
                target.state = "edited"
    # Inserted units are copies of others, each right before the unit that it was chosen for.
    result = []
    for unit, part in wire:
        if part == 0:
            for source in inserts.get(unit, ()):
                number = len(units)
                fresh = copy.deepcopy(units[source])
                fresh.origin, fresh.state, fresh.stream = None, "inserted", units[unit].stream
                if rng.random() < 0.5:
                    edit(rng, fresh.first[1])
                units.append(fresh)
                result.extend((number, place) for place in range(len(fresh.later) + 1))
        if unit not in dropped:
            result.append((unit, part))
    # Concurrent calls in another order: two requests next to each other, both without an answer yet.
    swaps = 0
    for at in range(len(result) - 1):
        (one, first), (other, second) = result[at], result[at + 1]
        are_calls = first == second == 0 and units[one].later and units[other].later
        is_changed = is_near(one) or is_near(other)
        if are_calls and not is_changed and one != other and swaps < changes and rng.random() < 0.2:
            result[at], result[at + 1] = result[at + 1], result[at]
            swaps += 1
    return units, result, dropped


def write(path, units, wire, renumber):
    """Writes JSON lines; returns the seq of each unit's first message."""
    stamps, now, seqs = workload.Timestamps(), START_NS, {}
    ids = {}
    with open(path, "w", encoding="utf-8") as file:
        file.write(workload.reel_line(stamps.text(now)))
        for seq, (number, part) in enumerate(wire):
            unit = units[number]
            side, message = unit.first if part == 0 else unit.later[part - 1]
            if part == 0:
                seqs[number] = seq
            if renumber:
                message = renumbered(message, number, unit, ids)
            now += 300_000
            head = workload.event_head(seq, stamps.text(now), unit.stream, "c" if side == "c2s" else "s")
            file.write(head + json.dumps(message, separators=(",", ":")) + "}\n")
    return seqs


def renumbered(message, number, unit, ids):
    message = dict(message)
    if "id" in message:
        message["id"] = f"run-2-{number}"
        ids[unit.stream, unit.first[1].get("id")] = message["id"]
    params = message.get("params")
    if isinstance(params, dict):
        params = message["params"] = dict(params)
        if "progressToken" in params:
            params["progressToken"] = f"token-{number}"
        if "progressToken" in params.get("_meta", {}):
            params["_meta"] = {**params["_meta"], "progressToken": f"token-{number}"}
        if "requestId" in params:
            params["requestId"] = ids.get((unit.stream, params["requestId"]), params["requestId"])
    return message


# ---- judging ----


def runs(units, wire, seqs):
    """For each unit's seq, the seq of the first of the equal units that follow each other directly in its stream."""
    first, last = {}, {}
    for number, part in wire:
        if part:
            continue
        unit = units[number]
        content = unit.content()
        known = last.get(unit.stream)
        start = known[1] if known and known[0] == content else seqs[number]
        last[unit.stream] = (content, start)
        first[seqs[number]] = start
    return first


def judge(report, left, right, show):
    """Counts of (right reports, reports, found truths, truths) for changes and for pairs."""
    units_left, wire_left, seqs_left = left
    units_right, wire_right, seqs_right, dropped = right
    run_left, run_right = runs(units_left, wire_left, seqs_left), runs(units_right, wire_right, seqs_right)
    truth, true_pairs = [], []
    for number in dropped:
        truth.append(("only_left", run_left[seqs_left[number]]))
    for number, seq in seqs_right.items():
        unit = units_right[number]
        if unit.state == "inserted":
            truth.append(("only_right", run_right[seq]))
        elif unit.state == "edited":
            truth.append(("changed", run_left[seqs_left[unit.origin]]))
            true_pairs.append((run_left[seqs_left[unit.origin]], run_right[seq]))
    said, said_pairs = [], []
    for unit in report["units"]:
        if unit["method"] in ("notifications/progress", "notifications/cancelled"):
            continue  # They belong to their call, which is judged.
        side = "right" if unit["status"] == "only_right" else "left"
        seq = unit[side]["seq"]
        said.append((unit["status"], (run_right if side == "right" else run_left).get(seq, seq)))
        if unit["status"] == "changed":
            other = unit["right"]["seq"]
            said_pairs.append((said[-1][1], run_right.get(other, other)))
    show_wrong(said, truth, show)
    show_wrong(said_pairs, true_pairs, show)
    return count(said, truth), count(said_pairs, true_pairs)


def show_wrong(said, truth, show):
    """Prints some reports that are wrong, and some that are missing."""
    said, truth = Counter(said), Counter(truth)
    for what, items in (("wrong", said - truth), ("missing", truth - said)):
        for item in sorted(items, key=lambda item: item[-1])[:show]:
            print(f"    {what}: {item}")


def count(said, truth):
    rest = {}
    for item in truth:
        rest[item] = rest.get(item, 0) + 1
    right = 0
    for item in said:
        if rest.get(item, 0):
            rest[item] -= 1
            right += 1
    return right, len(said), len(truth)


def rate(counts):
    right, said, truth = counts
    return (right / said if said else 1.0), (right / truth if truth else 1.0)


def run(binary, *words):
    done = subprocess.run([binary, *words], capture_output=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(words)}: {done.stderr.decode()}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--messages", default="1000,10000,100000")
    parser.add_argument("--profiles", default=",".join(PROFILES))
    parser.add_argument("--changes", default="50,400", help="how many, for each size (at most a quarter of the units)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--binary", default="target/release/mcpreel")
    parser.add_argument("--keep", type=Path, help="keep the recordings in this folder")
    parser.add_argument("--show", type=int, default=0, help="print this many wrong and missing reports")
    args = parser.parse_args()
    missed = False
    print(f"{'profile':<12}{'messages':>9}{'changes':>9}  {'changes: precision recall':<27}{'pairs: precision recall':<27}seconds")
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or Path(scratch)
        for name in args.profiles.split(","):
            for size in map(int, args.messages.split(",")):
                for changes in map(int, args.changes.split(",")):
                    rng = random.Random(f"{args.seed} {name} {size} {changes}")
                    units, wire = PROFILES[name](rng, size)
                    changed, order, dropped = perturb(rng, units, wire, changes)
                    paths = [folder / f"{name}-{size}-{changes}-{side}" for side in "ab"]
                    seqs = [write(f"{paths[0]}.jsonl", units, wire, False),
                            write(f"{paths[1]}.jsonl", changed, order, True)]
                    for path in paths:
                        run(args.binary, "import", f"{path}.jsonl", "-o", f"{path}.reel", "--force")
                    began = time.monotonic()
                    out = run(args.binary, "diff", f"{paths[0]}.reel", f"{paths[1]}.reel", "--format", "json")
                    took = time.monotonic() - began
                    by_change, by_pair = judge(json.loads(out), (units, wire, seqs[0]),
                                               (changed, order, seqs[1], dropped), args.show)
                    (p1, r1), (p2, r2) = rate(by_change), rate(by_pair)
                    misses = min(p1, p2) < PRECISION or min(r1, r2) < RECALL
                    missed |= misses
                    print(f"{name:<12}{size:>9}{by_change[2]:>9}  {p1:>18.4f} {r1:.4f}  {p2:>18.4f} {r2:.4f}"
                          f"  {took:>9.2f}{'  MISS' if misses else ''}", flush=True)
    sys.exit(missed)


if __name__ == "__main__":
    main()
