#!/usr/bin/env python3
"""The host with eight built-in servers: turns per second, memory, and whether the same seed gives the same prompts.

    python3 benches/host.py [--bin target/release/mcpreel] [--turns 1000] [--servers 8] [--only stdio,http,...]

For each transport, the same conversation runs twice without a model. The prompts of all runs must be the same byte
for byte. Exit code 0: all targets met; 1: not.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROPOSALS = "conversation,reminder,hooks"
LEAST_RATE = 500


def serve(binary: str, seed: int) -> list[str]:
    words = [binary, "serve", "--era", "legacy", "--seed", str(seed)]
    return words + [word for proposal in PROPOSALS.split(",") for word in ("--declare", proposal)]


def listening(binary: str, seed: int, where: str, home: str) -> tuple[subprocess.Popen, str]:
    """A listening server and its URL."""
    process = subprocess.Popen([*serve(binary, seed), "--listen", where], stderr=subprocess.PIPE, text=True,
                               env=os.environ | {"MCPREEL_HOME": home})
    for line in process.stderr:
        found = re.search(r"((?:https?|wss?)://\S+|unix:\S+|tcp:\S+)", line)
        if found:
            return process, found[1].rstrip(".,;")
    raise SystemExit(f"`serve --listen {where}` printed no address")


def run(binary: str, transport: str, turns: int, servers: int, home: str) -> tuple[float, float, list[str]]:
    """Turns per second, the host's peak memory in MB, the prompts."""
    words, others = [binary, "host", "--consent", "--model", "none", "--format", "json", "--set", "host.final_turn=false"], []
    words += ["--seed", "7", "--project", "bench"]
    for at in range(servers):
        if transport == "memory":
            words += ["--builtin", f"s{at}:{PROPOSALS}"]
            continue
        if transport == "stdio":
            spec = " ".join(serve(binary, at))
        else:
            where = {"http": "127.0.0.1:0", "ws": "127.0.0.1:0", "tcp": "tcp:127.0.0.1:0",
                     "unix": f"unix:{home}/s{at}.sock"}[transport]
            process, spec = listening(binary, at, where, home)
            others.append(process)
            if transport == "ws":
                spec = spec.replace("http://", "ws://")
        words += ["-s", f"s{at}={spec}"]
    lines = "".join(f"/turn turn {at}: what about the schema?\n" for at in range(turns))
    began = time.monotonic()
    host = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                            env=os.environ | {"MCPREEL_HOME": home})
    first = last = began
    prompts, peak = [], 0.0
    # The host reads the next line of the conversation from the pipe when it is idle.
    if os.fork() == 0:
        host.stdin.write(lines)
        host.stdin.close()
        os._exit(0)
    host.stdin.close()
    for line in host.stdout:
        found = json.loads(line)
        if found["event"] == "connected":
            first = time.monotonic()
        elif found["event"] == "prompt":
            prompts.append(hashlib.sha256(json.dumps(found["prompt"]).encode()).digest())
        elif found["event"] == "turn":
            last = time.monotonic()
            if len(prompts) % 100 == 0 or len(prompts) == turns:
                peak = highest(host.pid)
    host.wait()
    for process in others:
        process.terminate()
        process.wait()
    return len(prompts) / (last - first), peak, prompts


def highest(pid: int) -> float:
    """A process's peak memory in MB, without that of the process from which it was forked."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bin", default=str(ROOT / "target/release/mcpreel"))
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--servers", type=int, default=8)
    parser.add_argument("--only", default="memory,stdio,http,ws,unix,tcp")
    parser.add_argument("--check", action="store_true", help="judge only whether results are right, not how fast")
    args = parser.parse_args()
    good, reference = True, None
    print(f"{'transport':<10} {'turns/s':>9} {'peak MB':>8}  prompts")
    for transport in args.only.split(","):
        for _ in range(2):
            with tempfile.TemporaryDirectory() as home:
                rate, peak, prompts = run(args.bin, transport, args.turns, args.servers, home)
            reference = reference or prompts
            same = prompts == reference
            good &= same and (args.check or rate >= LEAST_RATE) and len(prompts) == args.turns
            print(f"{transport:<10} {rate:>9.0f} {peak:>8.1f}  {len(prompts)}{' the same' if same else ' DIFFERENT'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
