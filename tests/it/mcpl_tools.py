"""A server with the tools of MCPL 0.4 §7 and §8, written from the proposal's text alone, without mcpreel's code.

Its argument is JSON: `sets` (feature sets) and `tools` (definitions). `add_note` has host-managed state (§8.3), whose
checkpoints are c1, c2 and so on; every other tool whose name begins with `commit` has checkpoints of its own as opaque
references (§8.2). It appends the params of each call to the file `calls`.
"""

import json
import sys

plan = json.loads(sys.argv[1])
made = {}


def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def state_of(name, params):
    made[name] = made.get(name, 0) + 1
    if name == "add_note":
        notes = (params.get("state") or {}).get("notes", [])
        return {"checkpoint": "c%d" % made[name], "parent": None, "data": {"notes": notes + [params["arguments"]["text"]]}}
    if name.startswith("commit"):
        return {"checkpoint": "%s-%d" % (name, made[name]), "parent": params.get("checkpoint")}
    if name == "undo_note":
        notes = params["state"]["notes"][:-1]
        return {"checkpoint": "u%d" % made[name], "parent": params["arguments"].get("parent"), "data": {"notes": notes}}
    return None


for line in sys.stdin:
    message = json.loads(line)
    ask, method, params = message.get("id"), message.get("method"), message.get("params", {})
    if method == "initialize":
        block = {"version": "0.4", "pushEvents": True, "featureSets": plan["sets"]}
        capabilities = {"tools": {}, "experimental": {"mcpl": block}}
        server = {"name": "tools", "version": "1"}
        say(id=ask, result={"protocolVersion": params["protocolVersion"], "capabilities": capabilities, "serverInfo": server})
    elif method == "tools/list":
        say(id=ask, result={"tools": [{"inputSchema": {"type": "object"}, **tool} for tool in plan["tools"]]})
    elif method == "tools/call":
        with open("calls", "a") as calls:
            calls.write(json.dumps(params) + "\n")
        state = state_of(params["name"], params)
        say(id=ask, result={"content": [{"type": "text", "text": "ok"}], **({"state": state} if state else {})})
    elif method == "state/rollback":
        fails = {"checkpoint": params["checkpoint"], "success": False, "reason": "sent already"}
        done = {"checkpoint": params["checkpoint"], "success": True}
        say(id=ask, result=fails if params["checkpoint"] == "sent" else done)
    elif ask is not None and method is not None:
        say(id=ask, error={"code": -32601, "message": "Method not found"})
