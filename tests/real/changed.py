"""A server with one change, for the tests of replay: changed.py description|schema|name|answer COMMAND...

Passes both directions on, line by line. Changes the first tool of tools/list, or the text of the first result of
tools/call.
"""

import json
import subprocess
import sys
import threading

change, command = sys.argv[1], sys.argv[2:]
server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
methods = {}
done = False


def forward():
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" in message and "method" in message:
            methods[message["id"]] = message["method"]
        server.stdin.write(line)
        server.stdin.flush()
    server.stdin.close()


def changed(message):
    """Returns whether the message was changed."""
    method, result = methods.get(message.get("id")), message.get("result") or {}
    if method == "tools/list" and change != "answer":
        tool = result["tools"][0]
        if change == "description":
            tool["description"] = "Does something else"
        elif change == "schema":
            tool["inputSchema"]["minProperties"] = 1
        else:
            tool["name"] = "renamed"
        return True
    if method == "tools/call" and change == "answer":
        for item in result.get("content", []):
            if item.get("type") == "text":
                item["text"] = "something else"
                return True
    return False


threading.Thread(target=forward, daemon=True).start()
for line in server.stdout:
    message = json.loads(line)
    if not done and "method" not in message and changed(message):
        done = True
        line = json.dumps(message).encode() + b"\n"
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
sys.exit(server.wait())
