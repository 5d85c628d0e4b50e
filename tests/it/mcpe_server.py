"""An MCPE server, written from the proposal's text alone, without mcpreel's code.

Its argument is JSON: `features` and `channels` of its capability, `needs_delivery`, `wait` (seconds before it grants a subscription), `publish` (events
that it sends to those who subscribed to them) and `send` (notifications that it sends whatever was subscribed; "ID"
stands for the subscription). It appends the arguments of each subscription to the file `asked`.
"""

import json
import sys
import time

TOOLS = ["events_subscribe", "events_unsubscribe", "events_list", "events_pause", "events_resume", "events_update"]
plan = json.loads(sys.argv[1])
made = 0


def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def matches(wanted, event):
    # "Supports exact match and wildcards (`github.*`)": as one implementation reads it, a lone * is an exact name.
    types = wanted.get("eventTypes")
    by_type = not types or any(
        event["type"].startswith(one[:-1]) if one.endswith(".*") else one == event["type"] for one in types
    )
    tags, priority = wanted.get("tags"), wanted.get("priority")
    by_tag = not tags or any(tag in event["metadata"].get("tags", []) for tag in tags)
    return by_type and by_tag and (not priority or event["metadata"]["priority"] in priority)


def subscribe(ask, arguments):
    global made
    made += 1
    with open("asked", "a") as asked:
        asked.write(json.dumps(arguments) + "\n")
    time.sleep(plan.get("wait", 0))
    if plan.get("needs_delivery") and "channels" not in arguments.get("delivery", {}):
        return say(id=ask, result={"content": [{"type": "text", "text": "delivery is missing"}], "isError": True})
    name = "00000000-0000-4000-8000-%012d" % made
    granted = {
        "subscriptionId": name,
        "status": "active",
        "filter": arguments.get("filter", {}),
        "delivery": arguments.get("delivery", {"channels": ["realtime"]}),
        "createdAt": "2026-01-01T00:00:00Z",
    }
    say(id=ask, result={"content": [{"type": "text", "text": json.dumps(granted)}]})
    for event in plan.get("publish", []):
        if matches(granted["filter"], event):
            say(method="events/event", params={"subscriptionId": name, "event": event})
    for method, params in plan.get("send", []):
        say(method=method, params=json.loads(json.dumps(params).replace('"ID"', json.dumps(name))))


for line in sys.stdin:
    message = json.loads(line)
    ask, method = message.get("id"), message.get("method")
    if method == "initialize":
        features = {"pause": True, "wildcards": True, "cronSchedule": False, "scheduledDelivery": False}
        features.update(plan.get("features", {}))
        events = {"maxSubscriptions": 10, "deliveryChannels": plan.get("channels", ["realtime"]), "features": features}
        server = {"name": "peer", "version": "1"}
        version = message["params"]["protocolVersion"]
        say(id=ask, result={"protocolVersion": version, "capabilities": {"tools": {}, "events": events}, "serverInfo": server})
    elif method == "tools/list":
        say(id=ask, result={"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]})
    elif method == "tools/call" and message["params"]["name"] == "events_subscribe":
        subscribe(ask, message["params"].get("arguments", {}))
    elif ask is not None and method is not None:
        say(id=ask, result={"content": [{"type": "text", "text": '{"success": true}'}]})
