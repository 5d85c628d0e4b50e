#!/usr/bin/env python3
"""A thousand subscriptions and a hundred thousand events: the built-in server's filter decisions per second,
and whether every subscription gets its events, once and in order.

    python3 benches/filters.py [--bin target/release/mcpreel] [--subscriptions 1000] [--events 100000]

Each filter has a wildcard, tags and a priority. The events are sent with the server's tool `emit`, over stdio. This
script computes independently what should be delivered. Exit code 0: all correct at 200,000 decisions per second or
more; 1: not.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEAST_RATE = 200_000
AREAS, TAGS, PRIORITIES = 100, 10, ["low", "normal", "high", "critical"]


def filter_of(at: int) -> dict:
    return {"eventTypes": [f"area{at % AREAS}.*"], "tags": [f"tag{at % TAGS}", "always"],
            "priority": [PRIORITIES[at // AREAS % 4]]}


def event_of(at: int) -> dict:
    area, other = at % AREAS, (at // AREAS) % 2
    return {"kind": "event", "type": f"area{area}.part.x", "tags": [f"tag{(area + other) % TAGS}"],
            "priority": PRIORITIES[at // 3 % 4], "data": {"n": at}}


def is_for(event: dict, wanted: dict) -> bool:
    prefix = wanted["eventTypes"][0].removesuffix("*")
    return (event["type"].startswith(prefix) and event["priority"] in wanted["priority"]
            and not set(event["tags"]).isdisjoint(wanted["tags"]))


def expected(subscriptions: int, events: int) -> list[list[int]]:
    """What each subscription should get. Filters and events repeat, so not all pairs need to be compared."""
    by_kind: dict[str, list[int]] = {}
    for at in range(subscriptions):
        by_kind.setdefault(json.dumps(filter_of(at)), []).append(at)
    kinds = [(json.loads(kind), places) for kind, places in by_kind.items()]
    by_area: dict[str, list] = {}
    for wanted, places in kinds:
        by_area.setdefault(wanted["eventTypes"][0].split(".")[0], []).append((wanted, places))
    due: list[list[int]] = [[] for _ in range(subscriptions)]
    for at in range(events):
        event = event_of(at)
        for wanted, places in by_area.get(event["type"].split(".")[0], []):
            if is_for(event, wanted):
                for place in places:
                    due[place].append(at)
    return due


def call(number: int, tool: str, arguments: dict) -> bytes:
    params = {"name": tool, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode() + b"\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bin", default=str(ROOT / "target/release/mcpreel"))
    parser.add_argument("--subscriptions", type=int, default=1000)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--check", action="store_true", help="judge only whether results are right, not how fast")
    args = parser.parse_args()
    due = expected(args.subscriptions, args.events)
    limits = {"max_subscriptions": args.subscriptions, "subscriptions_per_minute": args.subscriptions,
              "events_per_minute": 2 * args.events}
    words = [args.bin, "serve", "--declare", "mcpe", "--era", "legacy", "--seed", "1"]
    for name, value in limits.items():
        words += ["--set", f"mcpe.{name}:={value}"]
    with tempfile.TemporaryDirectory() as home:
        server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  env=os.environ | {"MCPREEL_HOME": home})
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        begin = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
                 {"jsonrpc": "2.0", "method": "notifications/initialized"}]
        server.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in begin))
        places = {}
        for at in range(args.subscriptions):
            arguments = {"filter": filter_of(at), "delivery": {"channels": ["realtime"]}}
            server.stdin.write(call(1 + at, "events_subscribe", arguments))
        server.stdin.flush()
        for line in server.stdout:
            message = json.loads(line)
            if message.get("id", 0) > 0:
                places[message["result"]["structuredContent"]["subscriptionId"]] = message["id"] - 1
            if len(places) == args.subscriptions:
                break
        got: list[list[int]] = [[] for _ in range(args.subscriptions)]
        last = args.subscriptions + args.events
        fires = [call(args.subscriptions + 1 + at, "emit", event_of(at)) for at in range(args.events)]

        def feed() -> None:
            for at in range(0, len(fires), 100):
                server.stdin.write(b"".join(fires[at:at + 100]))
            server.stdin.flush()

        began = time.monotonic()
        threading.Thread(target=feed, daemon=True).start()
        lines = []
        for line in server.stdout:
            lines.append(line)
            if line.startswith(b'{"jsonrpc":"2.0","id":%d,' % last):
                break
        took = time.monotonic() - began
        server.stdin.close()
        server.wait()
    for line in lines:
        message = json.loads(line)
        if message.get("method") == "events/event":
            params = message["params"]
            got[places[params["subscriptionId"]]].append(params["event"]["data"]["n"])
    rate = args.subscriptions * args.events / took
    delivered, wanted = sum(map(len, got)), sum(map(len, due))
    right = got == due
    print(f"{args.subscriptions} subscriptions, {args.events} events: {delivered} deliveries of {wanted}, "
          f"{'each once and in order' if right else 'NOT AS THEY SHOULD BE'}; {took:.1f} s, {rate / 1e6:.1f} M decisions/s")
    return 0 if right and (args.check or rate >= LEAST_RATE) else 1


if __name__ == "__main__":
    sys.exit(main())
