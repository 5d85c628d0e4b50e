"""A server that speaks MCPL as its text says, with one behaviour per argument; see mcpl_peers.rs."""

import json
import sys
import time

BEHAVIOUR = sys.argv[1]
SETS = {
    "bot.context": {"description": "d", "uses": ["contextHooks.beforeInference"]},
    "bot.redact": {"description": "d", "uses": ["contextHooks.afterInference"]},
    "bot.events": {"description": "d", "uses": ["pushEvents"]},
    "bot.think": {"description": "d", "uses": ["inferenceRequest"]},
    "bot.chat": {"description": "d", "uses": ["channels.publish", "channels.observe"], "scoped": BEHAVIOUR == "inbound"},
    "bot.notes": {"description": "d", "uses": ["tools"], "rollback": True},
}
BLOCK = {
    "version": "0.4",
    "pushEvents": True,
    "contextHooks": {"beforeInference": True, "afterInference": {"blocking": True}},
    "inferenceRequest": {"streaming": True},
    "channels": {"register": True, "publish": True, "observe": True, "lifecycle": True, "streaming": True},
    "featureSets": SETS,
}
CHANNEL = {"id": "chat:1", "type": "chat", "label": "one", "direction": "bidirectional"}
OTHERS = [
    {"id": "feed:1", "type": "feed", "label": "news", "direction": "inbound"},
    {"id": "chat:secret", "type": "chat", "label": "secret", "direction": "outbound"},
    {"id": "thinking", "type": "thinking", "label": "thinking", "direction": "outbound"},
]
CHANNELS = [CHANNEL, *OTHERS] if BEHAVIOUR == "inbound" else [CHANNEL]
hooks = 0
heard = open("heard", "a")


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def ask(identifier, method, params):
    send({"id": identifier, "method": method, "params": params})


def push(event, **more):
    content = [{"type": "text", "text": "news " + event}]
    params = {"featureSet": "bot.events", "eventId": event, "timestamp": "2026-01-23T14:00:00Z"}
    params = {**params, "payload": {"content": content}, **more}
    ask(event, "push/event", {name: value for name, value in params.items() if value is not None})


def message(name, text, channel="chat:1"):
    said = {"channelId": channel, "messageId": name, "author": {"id": "u", "name": "Alice"}}
    said = {**said, "timestamp": "2026-03-05T10:30:00Z", "content": [{"type": "text", "text": text}], "metadata": {}}
    ask(name, "channels/incoming", {"messages": [said]})


def infer(identifier):
    messages = [{"role": "user", "content": "Summarize the memories"}]
    ask(identifier, "inference/request", {"featureSet": "bot.think", "stream": False, "messages": messages})


def during_first_hook():
    if BEHAVIOUR == "in-hook":
        message("m1", "what is the status?")
        push("e1")
        infer("i1")
    elif BEHAVIOUR == "timestamps":
        push("none", timestamp=None)
        push("text", timestamp="yesterday")
        push("number", timestamp=1769176800)
        push("offset", timestamp="2026-01-23T15:00:00.5+01:00")
    elif BEHAVIOUR == "flood":
        for number in range(300):
            message(f"m{number}", f"message {number}")


def injections():
    good = {"namespace": "bot", "position": "system", "content": "a thing to know"}
    if BEHAVIOUR == "malformed":
        without = lambda name: {key: value for key, value in good.items() if key != name}
        return [good, without("namespace"), without("content"), without("position"), {**good, "content": 7}, "text"]
    if BEHAVIOUR == "many":
        return [{**good, "content": f"thing {number} " + "x" * 3000} for number in range(50)]
    return [good]


def answer(method, params):
    global hooks
    if method == "initialize":
        info = {"name": "bot", "version": "1"}
        if BEHAVIOUR == "strings":
            BLOCK["featureSets"] = ["bot.events", {**SETS["bot.context"], "name": "bot.context"}]
        capabilities = {"tools": {}, "experimental": {"mcpl": BLOCK}}
        return {"protocolVersion": params["protocolVersion"], "serverInfo": info, "capabilities": capabilities}
    if method == "tools/list":
        return {"tools": [{"name": "note", "inputSchema": {"type": "object"}}]}
    if method == "context/beforeInference":
        hooks += 1
        if hooks == 1:
            during_first_hook()
        if BEHAVIOUR == "loop":
            push(f"e{hooks}")
        if BEHAVIOUR == "late":
            time.sleep(0.6)
        if BEHAVIOUR == "closes":
            sys.exit(0)
        sets = {"wrong-set": "bot.events", "unknown-set": "bot.other"}
        return {"featureSet": sets.get(BEHAVIOUR, "bot.context"), "contextInjections": injections()}
    if method == "context/afterInference":
        if BEHAVIOUR == "malformed":
            return {"featureSet": "bot.redact", "modifiedResponse": 42}
        return {"featureSet": "bot.redact"}
    if method == "channels/publish":
        return {"delivered": True, "messageId": "p1"}
    return {}


def after_registration():
    if BEHAVIOUR == "inbound":
        message("m1", "news", "feed:1")
    elif BEHAVIOUR == "other-uses":
        push("wrong", featureSet="bot.notes")
        push("right")
        messages = [{"role": "user", "content": "x"}]
        ask("i1", "inference/request", {"featureSet": "bot.notes", "messages": messages})
    elif BEHAVIOUR == "diagnostics":
        for number in range(3):
            push(f"e{number}")
        ask("f", "featureSets/changed", {"added": {"bot.more": {"description": "d"}}, "removed": []})
        send({"method": "featureSets/changed", "params": {"added": {"bot.more": {"description": "d"}}}})
    elif BEHAVIOUR == "elevate":
        for name in ["bot.other", "bot.redact"]:
            ask(name, "scope/elevate", {"featureSet": name, "scope": {"label": "/etc/hosts"}})


for line in sys.stdin:
    heard.write(line)
    heard.flush()
    received = json.loads(line)
    method = received.get("method")
    if method == "server/discover":
        send({"id": received["id"], "error": {"code": -32601, "message": "Method not found"}})
    elif method == "notifications/initialized":
        ask("r", "channels/register", {"channels": CHANNELS})
        after_registration()
    elif method is not None and "id" in received:
        send({"id": received["id"], "result": answer(method, received.get("params", {}))})
