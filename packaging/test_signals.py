"""Checks that signals and exit codes pass through a launcher: `test_signals.py COMMAND...`, where COMMAND runs mcpreel."""

import os
import signal
import subprocess
import sys

# Answers with its exit code, or with the signal that it got, as a server would.
SERVER = """
import signal, sys
def end(number, frame):
    print("got", signal.Signals(number).name, flush=True)
    sys.exit(40 + number)
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, end)
print("ready", flush=True)
sys.exit(int(sys.stdin.readline()))
"""


def start(command: list[str]) -> subprocess.Popen:
    """Records the server behind the launcher, and waits until it is ready."""
    words = [*command, "record", "-o", "/dev/null", "--force", "--", sys.executable, "-c", SERVER]
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    )
    assert process.stdout.readline() == "ready\n"
    return process


def main() -> None:
    command = sys.argv[1:]
    # Ends this test if a signal does not arrive.
    signal.alarm(60)
    process = start(command)
    process.stdin.write("7\n")
    process.stdin.flush()
    assert process.wait(20) == 7, f"the exit code 7 became {process.returncode}"

    # Ends with its stdin: the server fails to read a number.
    process = start(command)
    process.stdin.close()
    assert process.wait(20) == 1, f"the exit code 1 became {process.returncode}"

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        process = start(command)
        os.kill(process.pid, number)
        said = process.stdout.readline()
        assert said == f"got {number.name}\n", f"{number.name}: the server said {said!r}"
        assert process.wait(20) == 40 + number, f"{number.name}: the exit code is {process.returncode}"

    # A program that a signal ends: the launcher ends with the same signal.
    process = subprocess.Popen([*command, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    process.stdin.flush()
    assert process.stdout.readline(), "serve did not answer"
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == -signal.SIGTERM, f"SIGTERM became {process.returncode}"


if __name__ == "__main__":
    main()
