"""A recording in place of a server, for tests. Needs nothing but mcpreel."""

import json
import pathlib
import subprocess

REEL = pathlib.Path(__file__).with_name("session.jsonl")


def serve(reel=REEL):
    """Serves a recording, and yields its URL. Fails if the client did not do what was recorded."""
    command = ["mcpreel", "mock", str(reel), "--strict", "--listen", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    assert line, f"the mock did not start: {process.stderr.read()}"
    try:
        yield json.loads(line)["url"]
    finally:
        process.terminate()
        _, report = process.communicate(timeout=10)
        assert process.returncode == 0, f"the client did not do what was recorded:\n{report}"
