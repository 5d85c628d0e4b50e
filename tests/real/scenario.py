"""The scenarios of the Python clients, shared by both SDK generations.

client_v1.py and client_v2.py each provide a `Peer`: the same operations on their SDK. One JSON line is printed for
each operation; what varies from run to run (times, identifiers) is masked, so that two runs print the same. An
operation with an unexpected result ends the run with exit code 1.
"""

import base64
import hashlib
import json
import os
import re
import sys

import anyio

REQUEST_SECONDS = 20
RUN_SECONDS = 90
LATE_SECONDS = 2
MANY = 20
BIG = 'ab\u00e9\u2028\U0001f980"\\\n' * 30_000
DOCUMENT = "demo://resource/static/document/features.md"
ROOT = {"uri": "file:///srv/reel", "name": "reel"}
SAMPLE = {"role": "assistant", "model": "fixed-model", "content": {"type": "text", "text": "forty-two"}}
ELICITED = {"action": "accept", "content": {"name": "Ada", "check": True, "integer": 7}}

MASKS = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.I), "<uuid>"),
    (re.compile(r"\d{4}-\d\d-\d\dT"), "<date>T"),
    (re.compile(r"\b(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b"), "<day>"),
    (re.compile(r"created at .*$", re.M), "created at <time>"),
)
CLOCK = re.compile(r"T\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)")


class Unexpected(Exception):
    """An operation succeeded that should have been refused."""


class Seen:
    """The requests and notifications that the server sent."""

    def __init__(self, over):
        # Over Streamable HTTP, notifications before the client has opened the GET stream are lost, unless the server
        # keeps them, which MCPREEL_REAL_KEPT says.
        is_lossy = over == "http" and not os.environ.get("MCPREEL_REAL_KEPT")
        self.uncounted = {"notifications/progress"} | ({"notifications/tools/list_changed"} if is_lossy else set())
        self.roots = 0
        self.sampling = []
        self.elicitation = []
        self.notifications = {}
        self.roots_synced = anyio.Event()
        self.updated = anyio.Event()
        self.last_progress = anyio.Event()

    def notice(self, method, params=None):
        data = getattr(params, "data", None)
        self.notifications[method] = self.notifications.get(method, 0) + 1
        if method == "notifications/progress" and params.progress == params.total == 3:
            self.last_progress.set()
        if method == "notifications/message" and str(data).startswith("Roots updated"):
            self.roots_synced.set()
        if method == "notifications/resources/updated":
            self.updated.set()

    def report(self):
        # Progress is printed by the call it belongs to; that of a cancelled call may or may not arrive.
        counted = {name: count for name, count in self.notifications.items() if name not in self.uncounted}
        return {
            "roots": self.roots,
            "sampling": self.sampling,
            "elicitation": self.elicitation,
            "notifications": dict(sorted(counted.items())),
        }


def emit(op, **outcome):
    sys.stdout.write(json.dumps({"op": op, **outcome}) + "\n")
    sys.stdout.flush()


def plain(value):
    """A result as JSON data: models, lists and dictionaries of them, and values that are already JSON."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return value


def mask_text(text):
    for pattern, instead in MASKS:
        text = pattern.sub(instead, text)
    if len(text) <= 400:
        return text
    data = text.encode()
    return f"<{len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}>"


def mask(value, key=None):
    if isinstance(value, str):
        return mask_blob(value) if key == "blob" else mask_text(value)
    if isinstance(value, list):
        return [mask(item) for item in value]
    if isinstance(value, dict):
        return {name: mask(item, name) for name, item in value.items()}
    return value


def mask_blob(text):
    return f"base64 of {mask_text(base64.b64decode(text).decode())}"


def mask_clock(value):
    return json.loads(CLOCK.sub("T<clock>", json.dumps(mask(value))))


async def expect(op, awaitable, view=mask):
    emit(op, ok=view(plain(await awaitable)))


async def expect_refusal(peer, op, awaitable):
    try:
        value = await awaitable
    except peer.error as error:
        emit(op, error=mask({"code": error.error.code, "message": error.error.message}))
        return
    raise Unexpected(f"{op}: expected a refusal, got {value!r}")


async def within(event, what):
    try:
        with anyio.fail_after(REQUEST_SECONDS):
            await event.wait()
    except TimeoutError:
        raise Unexpected(f"{what} did not come in {REQUEST_SECONDS} s") from None


async def at_once(count, make):
    results = [None] * count

    async def one(index):
        results[index] = await make(index)

    async with anyio.create_task_group() as group:
        for index in range(count):
            group.start_soon(one, index)
    return results


async def tools(peer):
    await expect("tools/list", peer.list_tools())
    await expect("echo", peer.call("echo", {"message": "hello, \u4e16\u754c \U0001f980"}))
    await expect("echo big", peer.call("echo", {"message": BIG}))
    await expect("get-sum", peer.call("get-sum", {"a": 2, "b": 40}))
    await expect("structured", peer.call("get-structured-content", {"location": "Chicago"}))
    await expect("image", peer.call("get-tiny-image", {}))
    await expect("many at once", at_once(MANY, lambda n: peer.call("get-sum", {"a": n, "b": n * n})))
    await expect("bad arguments", peer.call("get-sum", {"a": "two", "b": 40}))
    await expect("unknown tool", peer.call("no-such-tool", {}))


async def slow_calls(peer, seen):
    progress = []

    async def note(done, total, message):
        progress.append({"progress": done, "total": total, "message": message})

    await expect("long-running", peer.call("trigger-long-running-operation", {"duration": 0.4, "steps": 4}, note))
    emit("progress", ok=progress)
    if peer.cancels:
        await cancelled(peer, seen)


async def cancelled(peer, seen):
    with anyio.CancelScope() as scope:

        async def stop(_done, _total, _message):
            scope.cancel()

        await peer.call("trigger-long-running-operation", {"duration": 0.6, "steps": 3}, stop)
    emit("cancelled", ok=scope.cancelled_caught)
    # The server still works on it, and must finish before the connection is closed.
    with anyio.move_on_after(LATE_SECONDS):
        await seen.last_progress.wait()


async def resources(peer, seen):
    await expect("resources/list", peer.list_resources())
    await expect("resources/templates/list", peer.list_templates())
    await expect("read document", peer.read(DOCUMENT))
    await expect("read text", peer.read("demo://resource/dynamic/text/1"))
    await expect("read blob", peer.read("demo://resource/dynamic/blob/2"))
    await expect_refusal(peer, "read unknown", peer.read("demo://resource/none"))
    await expect("subscribe", peer.subscribe(DOCUMENT))
    await expect("updates on", peer.call("toggle-subscriber-updates", {}))
    await within(seen.updated, "notifications/resources/updated")
    await expect("updates off", peer.call("toggle-subscriber-updates", {}))
    await expect("unsubscribe", peer.unsubscribe(DOCUMENT))


async def prompts(peer):
    await expect("prompts/list", peer.list_prompts())
    await expect("prompts/get", peer.prompt("args-prompt", {"city": "Troms\u00f8", "state": "NO"}))
    await expect_refusal(peer, "prompts/get unknown", peer.prompt("no-such-prompt", {}))
    known = {"department": "Engineering"}
    await expect("complete", peer.complete("completable-prompt", {"name": "name", "value": "A"}, known))


async def server_asks(peer, seen):
    await within(seen.roots_synced, "the log message about the roots")
    await expect("roots", peer.call("get-roots-list", {}))
    await expect("sampling", peer.call("trigger-sampling-request", {"prompt": "the answer?", "maxTokens": 9}))
    await expect("elicitation", peer.call("trigger-elicitation-request", {}))


async def everything(peer, seen):
    await expect("logging/setLevel", peer.set_level("debug"))
    await expect("ping", peer.ping())
    await tools(peer)
    await slow_calls(peer, seen)
    await resources(peer, seen)
    await prompts(peer)
    await server_asks(peer, seen)
    emit("seen", ok=seen.report())


async def time(peer, _seen):
    convert = {"source_timezone": "Asia/Tokyo", "time": "16:30", "target_timezone": "Asia/Kathmandu"}
    await expect("tools/list", peer.list_tools())
    await expect("get_current_time", peer.call("get_current_time", {"timezone": "Asia/Tokyo"}), mask_clock)
    await expect("convert_time", peer.call("convert_time", convert))
    await expect("bad timezone", peer.call("get_current_time", {"timezone": "Mars/Olympus"}))
    await expect("bad time", peer.call("convert_time", {**convert, "time": "25:99"}))
    await expect("missing argument", peer.call("convert_time", {}))
    await expect_refusal(peer, "unknown tool", peer.call("no_such_tool", {}))


async def live(peer, _seen):
    progress = []

    async def count(done, total, _message):
        progress.append([done, total])

    await expect("tools/list", peer.list_tools())
    await expect("echo", peer.call("echo", {"message": "hi"}))
    await expect("structured", peer.call("add", {"a": 2, "b": 3}))
    await expect("own failure", peer.call("fail", {}))
    await expect("slow", peer.call("count_slowly", {"to": 2, "interval_ms": 50}, count))
    emit("progress", ok=progress[:1])
    await expect("note", peer.call("add_note", {"text": "milk"}))
    await expect_refusal(peer, "unknown tool", peer.call("no_such_tool", {}))
    await expect("resources/list", peer.list_resources())
    await expect("resources/templates/list", peer.list_templates())
    await expect("read", peer.read("mcpreel://notes"))
    await expect_refusal(peer, "read unknown", peer.read("mcpreel://none"))
    await expect("prompts/list", peer.list_prompts())
    await expect("prompts/get", peer.prompt("recall", {"topic": "schema"}))
    await expect("complete", peer.complete("recall", {"name": "topic", "value": "mi"}, None))


async def agents(peer, _seen):
    """`mcpreel mcp` over the reel demo.reel."""
    recording = {"recording": "demo"}
    await expect("tools/list", peer.list_tools())
    await expect("list", peer.call("list_recordings", {"kind": "reels"}))
    await expect("show", peer.call("show_messages", {**recording, "filter": "tool:add_note"}))
    await expect("get", peer.call("get_message", {**recording, "seq": 1}))
    await expect("statistics", peer.call("statistics", recording))
    await expect("findings", peer.call("findings", recording))
    await expect("diff", peer.call("diff", {"a": "demo", "b": "demo"}))
    await expect("explain", peer.call("explain", {"name": "tools/call"}))
    await expect("own failure", peer.call("show_messages", {"recording": "none"}))
    await expect("resources/list", peer.list_resources())
    await expect("resources/templates/list", peer.list_templates())
    await expect("read", peer.read("mcpreel://reel/demo.reel"))
    await expect_refusal(peer, "read unknown", peer.read("mcpreel://reel/none"))
    await expect("prompts/list", peer.list_prompts())
    await expect("prompts/get", peer.prompt("review_session", recording))
    await expect("complete", peer.complete("review_session", {"name": "recording", "value": "d"}, None))


SCENARIOS = {"everything": everything, "time": time, "live": live, "agents": agents}


def server_environment():
    """The whole environment, or with MCPREEL_REAL_SERVER_ENV=sdk (None) what the SDK passes by default."""
    return None if os.environ.get("MCPREEL_REAL_SERVER_ENV") == "sdk" else dict(os.environ)


def transport_of(command):
    """The transport for a server's command, which may be a URL."""
    if not command.startswith(("http://", "https://")):
        return "stdio"
    return "sse" if command.endswith("/sse") else "http"


async def converse(scenario, connect, command, arguments):
    """Connect within the time limit, print the negotiated version, and run the scenario."""
    seen = Seen(transport_of(command))
    with anyio.fail_after(RUN_SECONDS):
        async with connect(command, arguments, server_environment(), seen) as (agreed, peer):
            emit("initialize", ok=mask(plain(agreed)))
            await SCENARIOS[scenario](peer, seen)


def main(connect):
    """The program: `connect(command, arguments, environment, seen)` yields what was negotiated and a Peer."""
    if len(sys.argv) < 3 or sys.argv[1] not in SCENARIOS:
        print(f"usage: {os.path.basename(sys.argv[0])} {'|'.join(SCENARIOS)} CMD ARG... | URL", file=sys.stderr)
        sys.exit(2)
    anyio.run(converse, sys.argv[1], connect, sys.argv[2], sys.argv[3:])
