#!/usr/bin/env python3
"""Push events through recorder and host on stdio: how many per second, and whether each is answered correctly.

    python3 benches/pushes.py [--bin target/release/mcpreel] [--events 50000] [--only wake,queue]

A server in Python sends every tenth event twice. The route is server - `mcpreel record` - `mcpreel host`. Every event
must be accepted once, every second copy refused, and the reel must contain each push and each answer. Exit code 0: all
correct at 10,000 per second or more; 1: not.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEAST_RATE = 10_000
# The maximum number of pushes that wait for their answers, as in a server with bounded buffers.
WINDOW = 512

BLOCK = {"version": "0.4", "pushEvents": True,
         "featureSets": {"feed": {"description": "what comes", "uses": ["pushEvents"]}}}


def server(events: int, result: str) -> None:
    """The server's side: pushes once the host has enabled feature sets, and writes the results."""
    out, lines = sys.stdout.buffer, sys.stdin.buffer
    for line in lines:
        message = json.loads(line)
        if message.get("method") == "initialize":
            answer = {"protocolVersion": "2025-06-18", "serverInfo": {"name": "feed", "version": "1"},
                      "capabilities": {"experimental": {"mcpl": BLOCK}}}
            out.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}).encode() + b"\n")
            out.flush()
        elif message.get("method") == "featureSets/update":
            break
    pushes = []
    for at in range(events):
        params = {"featureSet": "feed", "eventId": f"e{at}", "timestamp": "2026-01-01T00:00:00Z",
                  "origin": {"source": "bench"}, "payload": {"content": [{"type": "text", "text": f"event {at}"}]}}
        for copy in range(2 if at % 10 == 0 else 1):
            push = {"jsonrpc": "2.0", "id": len(pushes), "method": "push/event", "params": params}
            pushes.append((json.dumps(push).encode() + b"\n", copy))
    sent = accepted = refused = wrong = 0
    open_pushes = {}
    began = time.monotonic()
    while accepted + refused < len(pushes):
        burst = pushes[sent:sent + WINDOW - len(open_pushes)] if len(open_pushes) <= WINDOW // 2 else []
        if burst:
            out.write(b"".join(line for line, _ in burst))
            out.flush()
            open_pushes.update({sent + at: copy for at, (_, copy) in enumerate(burst)})
            sent += len(burst)
        line = lines.readline()
        if not line:
            break
        message = json.loads(line)
        if "result" not in message and "error" not in message:
            continue
        copy = open_pushes.pop(message["id"], None)
        was_accepted = message.get("result", {}).get("accepted") is True
        wrong += copy is None or was_accepted != (copy == 0)
        accepted, refused = accepted + was_accepted, refused + (not was_accepted)
    Path(result).write_text(json.dumps({"pushes": len(pushes), "accepted": accepted, "refused": refused,
                                        "wrong": wrong, "seconds": time.monotonic() - began}))


def run(binary: str, events: int, policy: str, home: Path, least_rate: int) -> bool:
    result, reel = home / "result.json", home / "tap.reel"
    tap = [binary, "record", "-o", str(reel), "--", sys.executable, __file__, "--as-server", str(result),
           "--events", str(events)]
    host = subprocess.Popen([binary, "host", "--model", "none", "--format", "json", "--set", f"mcpl.push={policy}",
                             "--set", "mcpl.push_waiting=none", "--", *tap],
                            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            env=os.environ | {"MCPREEL_HOME": str(home)})
    while host.poll() is None and not result.exists():
        time.sleep(0.05)
    errors = host.communicate()[1].decode()
    if not result.exists():
        raise SystemExit(f"the host ended before the server did:\n{errors}")
    found = json.loads(result.read_text())
    show = [binary, "show", "--format", "json", str(reel), "method:push/event"]
    kinds = [json.loads(line)["kind"] for line in subprocess.run(show, capture_output=True, check=True).stdout.splitlines()]
    asked, answered = kinds.count("request"), len(kinds) - kinds.count("request")
    rate = found["pushes"] / found["seconds"]
    whole = (found["accepted"] == events and found["wrong"] == 0
             and asked == answered == found["pushes"] == found["accepted"] + found["refused"])
    print(f"{policy:<8} {rate:>9.0f} {found['accepted']:>9} {found['refused']:>9} {asked:>9} {answered:>9}"
          f"  {'whole' if whole else 'NOT WHOLE: ' + json.dumps(found)}")
    return whole and rate >= least_rate


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bin", default=str(ROOT / "target/release/mcpreel"))
    parser.add_argument("--events", type=int, default=50_000)
    parser.add_argument("--only", default="queue,wake")
    parser.add_argument("--check", action="store_true", help="judge only whether results are right, not how fast")
    parser.add_argument("--as-server", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.as_server:
        server(args.events, args.as_server)
        return 0
    good = True
    print(f"{'policy':<8} {'pushes/s':>9} {'accepted':>9} {'refused':>9} {'in reel':>9} {'answers':>9}")
    for policy in args.only.split(","):
        with tempfile.TemporaryDirectory() as home:
            good &= run(args.bin, args.events, policy, Path(home), 0 if args.check else LEAST_RATE)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
