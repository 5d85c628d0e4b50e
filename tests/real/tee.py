#!/usr/bin/env python3
"""A plain stdio proxy: `tee.py OUTDIR CMD ARG...` stores what passes, and changes nothing.

It starts CMD, copies its own standard input to CMD and CMD's output and errors to its own, and stores every
byte it passed on in OUTDIR/c2s.bin, OUTDIR/s2c.bin and OUTDIR/stderr.bin. It knows nothing about MCP, shares no
code with mcpreel, buffers nothing, forwards the usual signals and ends as CMD ended. It prints nothing itself
unless CMD does not start.
"""

import os
import signal
import subprocess
import sys
import threading

FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
CHUNK = 65536
DRAIN_SECONDS = 10


def hand_on(sink, keep, data):
    """Write all of data to sink and store exactly the part that sink accepted."""
    while data:
        taken = os.write(sink, data)
        os.write(keep, data[:taken])
        data = data[taken:]


def pump(source, sink, keep):
    """Copy until the source ends or the sink is gone, then close both, so that each side notices."""
    try:
        while data := os.read(source, CHUNK):
            hand_on(sink, keep, data)
    except OSError:
        pass
    for descriptor in (sink, source):
        try:
            os.close(descriptor)
        except OSError:
            pass


def start_pump(source, sink, path):
    # O_APPEND prevents overwriting if two runs use one folder by mistake.
    keep = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    thread = threading.Thread(target=pump, args=(source, sink, keep), daemon=True)
    thread.start()
    return thread


def spawn(command):
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0)


def forward_signals(child):
    for number in FORWARDED:
        signal.signal(number, lambda received, _frame: child.send_signal(received))


def end_as(code):
    """Exit with the child's code, or die of the same signal."""
    if code >= 0:
        os._exit(code)
    if -code in FORWARDED:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
    os._exit(128 - code)  # reached only if the signal does not kill this process


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: tee.py OUTDIR CMD ARG...")
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    try:
        child = spawn(sys.argv[2:])
    except OSError as error:
        sys.exit(f"tee.py: cannot start {sys.argv[2]}: {error.strerror}")
    forward_signals(child)
    start_pump(0, os.dup(child.stdin.fileno()), os.path.join(out, "c2s.bin"))
    child.stdin.close()
    drains = [
        start_pump(child.stdout.fileno(), 1, os.path.join(out, "s2c.bin")),
        start_pump(child.stderr.fileno(), 2, os.path.join(out, "stderr.bin")),
    ]
    code = child.wait()
    for thread in drains:
        thread.join(DRAIN_SECONDS)
    end_as(code)


main()
