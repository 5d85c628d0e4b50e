#!/usr/bin/env python3
"""How well `mcpreel diff` finds changes: precision and recall on recordings with known changes.

    diff_quality.py [--messages 1000,10000,100000] [--profiles workload,repeated,...] [--seed N] [--binary PATH]

For each profile and size, a recording is written, and a copy of it with changes: calls and notifications that are
dropped, inserted or edited, concurrent calls in another order, and an id of its own for every request. `diff` should
report what was dropped, inserted and edited, and nothing else.

  changes  each reported unit with its kind of change, against the true ones
  pairs    the two places (seq in A, seq in B) of each unit reported as changed, against the true ones

Units with the same content that follow each other directly are interchangeable: which of them was dropped cannot be
determined. Nor can changes that have a shorter explanation: a call that is dropped while an equal one is inserted where
the first one was still in progress is a call in another order, which is no change. Such changes are `ambiguous`: they
count as found if the report explains them with fewer changes than were made (see `ambiguous`).

Everything is made from one seed, so a run can be repeated. Exits with 1 if precision is under 0.999 or recall under
0.99.
"""

import argparse
import bisect
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

    __slots__ = ("stream", "first", "later", "origin", "state", "before", "base")

    def __init__(self, stream, first, origin=None):
        self.stream, self.first, self.later = stream, first, []
        self.origin, self.state = origin, "same"
        # Of an inserted unit: the one that it was inserted before, and the content of which it is a copy.
        self.before, self.base = None, None

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
                if name not in ("_meta", "progressToken", "requestId", "name", "uri", "structuredContent",
                                "elapsed_ms"):  # Ids and names, and what differs in every run
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
                fresh.before, fresh.base = unit, fresh.content()
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


class Spans:
    """When the units of a recording were in progress, as places on the wire."""

    def __init__(self, units, wire):
        self.units, self.begin, self.end, self.begun, self.alike = units, {}, {}, {}, {}
        for at, (unit, _) in enumerate(wire):
            if unit not in self.begin:
                self.begin[unit] = at
                self.begun.setdefault(units[unit].stream, []).append((at, unit))
                self.alike.setdefault(self.key(unit), []).append(unit)
            self.end[unit] = at

    def key(self, unit):
        return self.units[unit].stream, self.units[unit].base or self.units[unit].content()

    def may_pass(self, unit, place):
        """Whether a unit was in progress together with all that began between it and a place."""
        begun = self.begun[self.units[unit].stream]
        low, high = sorted((self.begin[unit], place))
        between = begun[bisect.bisect_left(begun, (low, -1)):bisect.bisect_left(begun, (high, -1))]
        return all(other == unit or min(self.end[unit], self.end[other]) >= max(self.begin[unit], at)
                   for at, other in between)


def ambiguous(units_left, wire_left, units_right, wire_right, dropped):
    """Groups of changes that have an explanation with fewer changes: {("left" | "right", unit)}.

    One change takes a content away (a dropped unit, or an edited one with its former content), and another one adds it
    (an inserted unit, or an edited one with its new content). If the unit that is gone was in progress together with
    everything before the one that was added (in one recording; also by way of equal units in between), it was only
    sent in another order, which is no change. If no other unit of the session has this content, it has moved. Either
    way, a report with one change less is right, and no aligner can tell that two were made.
    """
    left, right = Spans(units_left, wire_left), Spans(units_right, wire_right)
    taken, following = {}, {}
    for unit in [*dropped, *(n for n, unit in enumerate(units_right) if unit.state == "edited")]:
        taken.setdefault(left.key(unit), []).append(unit)
    after = len(wire_right)
    for unit, _ in reversed(wire_left):
        after = following[unit] = right.begin.get(unit, after)

    def place_on_left(unit):
        return left.begin[unit if units_right[unit].before is None else units_right[unit].before]

    def may_be(unit, added):
        return left.may_pass(unit, place_on_left(added)) or right.may_pass(added, following[unit])

    def reaches(unit, added, others):
        found, waiting = {unit}, [unit]
        while waiting:
            here = waiting.pop()
            if may_be(here, added):
                return True
            near = [other for other in others if other not in found and other in right.begin and may_be(here, other)]
            found.update(near)
            waiting += near
        return False

    groups = []
    for added, unit in enumerate(units_right):
        if unit.state not in ("inserted", "edited"):
            continue
        for content in {unit.content(), unit.base or unit.content()}:
            key = unit.stream, content
            alike = left.alike.get(key, [])
            for source in taken.get(key, ()):
                is_only_one = len(alike) == 1 and set(right.alike.get(key, [added])) <= {added, source}
                if source != added and (is_only_one or reaches(source, added, alike)):
                    groups.append({("left", source), ("right", added)}
                                  | ({("right", source)} if source not in dropped else set())
                                  | ({("left", added)} if unit.state == "edited" else set()))
    return merged(groups)


def merged(groups):
    """Groups without common elements."""
    whole = []
    for group in groups:
        apart_from_it = [other for other in whole if not other & group]
        whole = [*apart_from_it, group.union(*(other for other in whole if other & group))]
    return whole


def without(groups, said, truth, said_pairs, true_pairs):
    """Removes the changes of ambiguous groups that are explained with fewer changes; returns how many were made."""
    made = 0
    of = lambda change, group: change[0] == "only_right" and ("right", change[1]) in group or (
        change[0] != "only_right" and ("left", change[1]) in group)
    for group in groups:
        true = [change for change in truth if of(change, group)]
        found = [change for change in said if of(change, group)]
        found += [("changed", pair[0]) for pair in said_pairs if ("right", pair[1]) in group]
        if len(set(found)) >= len(true):
            continue
        made += len(true)
        truth[:] = [change for change in truth if not of(change, group)]
        said[:] = [change for change in said if change not in found]
        for pairs in (said_pairs, true_pairs):
            pairs[:] = [pair for pair in pairs if ("left", pair[0]) not in group and ("right", pair[1]) not in group]
    return made


def judge(report, left, right, show):
    """Counts of (right reports, reports, truths) for changes and for pairs, and the number of ambiguous changes."""
    units_left, wire_left, seqs_left = left
    units_right, wire_right, seqs_right, dropped = right
    run_left, run_right = runs(units_left, wire_left, seqs_left), runs(units_right, wire_right, seqs_right)
    groups = [{(side, run_left[seqs_left[unit]] if side == "left" else run_right[seqs_right[unit]])
               for side, unit in group} for group in
              ambiguous(units_left, wire_left, units_right, wire_right, dropped)]
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
    unclear = without(groups, said, truth, said_pairs, true_pairs)
    show_wrong(said, truth, show)
    show_wrong(said_pairs, true_pairs, show)
    return count(said, truth), count(said_pairs, true_pairs), unclear


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
    print(f"{'profile':<12}{'messages':>9}{'changes':>9}{'ambiguous':>10}  {'changes: precision recall':<27}{'pairs: precision recall':<27}seconds")
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
                    by_change, by_pair, unclear = judge(json.loads(out), (units, wire, seqs[0]),
                                                        (changed, order, seqs[1], dropped), args.show)
                    (p1, r1), (p2, r2) = rate(by_change), rate(by_pair)
                    misses = min(p1, p2) < PRECISION or min(r1, r2) < RECALL
                    missed |= misses
                    print(f"{name:<12}{size:>9}{by_change[2] + unclear:>9}{unclear:>10}  {p1:>18.4f} {r1:.4f}  {p2:>18.4f} {r2:.4f}"
                          f"  {took:>9.2f}{'  MISS' if misses else ''}", flush=True)
    sys.exit(missed)


if __name__ == "__main__":
    main()
