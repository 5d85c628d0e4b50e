"""Tests a client with a recording in place of its server: `pytest examples/testing`."""

import json
import subprocess


def test_the_client_adds(mock):
    # The client under test:
    client = ["mcpreel", "call", "tools/call", "name=add", "arguments.a:=2", "arguments.b:=40", "--format", "json"]
    result = subprocess.run([*client, "--url", mock], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["structuredContent"] == {"sum": 42}
