#!/usr/bin/env python3
"""Writes instants.txt: when cron expressions fire in 2026, according to PyPI cronsim and croniter.

A line contains a time zone, an expression and the instants in seconds: the first since 2026-01-01T00:00:00Z, then the
steps, with equal ones counted (`86400*3` for three days). Where the two implementations disagree, the line follows
`cronsim` (which follows Debian's cron), and a line `# differs` has the differences of croniter: `+` for an instant that
only croniter has, `-` for one that it lacks.

    pip install cronsim croniter tzdata
    python3 instants.py > instants.txt
"""
from datetime import datetime, timezone
from itertools import groupby
from zoneinfo import ZoneInfo

from croniter import croniter
from cronsim import CronSim

ZONES = ["America/New_York", "Europe/London", "Australia/Lord_Howe", "America/Santiago", "Pacific/Auckland"]
EXPRESSIONS = ["30 2 * * *", "15 1 * * *", "0 0 * * *", "0 9 * * 1-5", "0 */6 * * *", "30 1-3 * * *", "0 * * * *",
               "*/30 * * * *", "0 0 1 * *", "0 12 13 * 5", "0 0 29 2 *", "0 0 L * *"]
START = datetime(2026, 1, 1, tzinfo=timezone.utc)
END = datetime(2027, 1, 1, tzinfo=timezone.utc)


def instants(times):
    found = []
    for time in times:
        second = int((time.astimezone(timezone.utc) - START).total_seconds())
        if second >= int((END - START).total_seconds()):
            return found
        found.append(second)
    return found


def by_croniter(expression, begin):
    walk = croniter(expression, begin)
    while True:
        yield walk.get_next(datetime)


def steps(seconds):
    deltas = [b - a for a, b in zip([0] + seconds, seconds)]
    runs = [(step, len(list(run))) for step, run in groupby(deltas)]
    return " ".join(str(step) if count == 1 else f"{step}*{count}" for step, count in runs)


for zone in ZONES:
    begin = START.astimezone(ZoneInfo(zone))
    for expression in EXPRESSIONS:
        ours = instants(CronSim(expression, begin))
        other = instants(by_croniter(expression, begin))
        print(f"{zone} | {expression} | {steps(ours)}")
        only = [f"+{second}" for second in other if second not in set(ours)]
        only += [f"-{second}" for second in ours if second not in set(other)]
        if only:
            print(f"# differs: croniter {' '.join(only)}")
