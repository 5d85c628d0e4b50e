#!/usr/bin/env python3
"""Peers that send endlessly, or one message of many small values: how much memory does each command take at most?

    benches/memory_attacks.py [--binary PATH] [--only NAME] [--bound MB] [--value-mb MB]

Each attack starts the real binary, lets a hostile peer send for some seconds, and prints the peak memory (VmHWM
of /proc/PID/status). Exits with 1 if one is above the bound. Needs only Linux and Python.

The attacks `values-SHAPE-COMMAND` are about one message of `--value-mb` (60), which in memory, as a tree of values, would
take many times as much: in a reel, of a server, or of a client. `--only values` runs them all, `--only values-zeros` those of
a shape. They also fail if a command takes more than a minute.
"""

import argparse
import base64
import fcntl
import json
import os
import pty
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SECONDS = 4.0
MIB = 1 << 20
ENDLESS = ["sh", "-c", "exec tr '\\0' x </dev/zero"]
INITIALIZE = (b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
              b'"clientInfo":{"name":"a","version":"1"}}}')


class Watched:
    """A process and the peak of its memory, followed until it ends."""

    def __init__(self, command, folder, stdin=subprocess.DEVNULL):
        env = {"PATH": os.environ["PATH"], "HOME": str(folder), "MCPREEL_HOME": str(folder)}
        self.process = subprocess.Popen(command, cwd=folder, env=env, stdin=stdin, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.peak, self.output = 0, {}
        self.threads = [threading.Thread(target=work, daemon=True) for work in (
            self._follow, lambda: self._read("out", self.process.stdout), lambda: self._read("err", self.process.stderr))]
        for thread in self.threads:
            thread.start()

    def _follow(self):
        while self.process.poll() is None:
            self.peak = max(self.peak, peak(self.process.pid))
            time.sleep(0.005)

    def _read(self, name, stream):
        self.output[name] = b""
        while chunk := stream.read1(1 << 16):
            self.output[name] = (self.output[name] + chunk)[-4096:]

    def wait_for(self, word, seconds=20):
        """The first word of standard error with this prefix."""
        end = time.time() + seconds
        while time.time() < end:
            for found in self.output.get("err", b"").split():
                if found.startswith(word):
                    return found.decode()
            time.sleep(0.02)
        raise SystemExit(f"no {word!r} in {self.output}")

    def end(self, seconds=30.0):
        """Waits for the end, then requests it; returns peak and exit code."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
        for thread in self.threads:
            thread.join(2)
        last = self.output.get("err", b"").decode("utf-8", "replace").strip().splitlines()
        return self.peak, self.process.returncode, last[-1] if last else ""


def peak(pid):
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) << 10
    except OSError:
        pass
    return 0


def pour(send, chunk, seconds=SECONDS):
    """Sends the same bytes repeatedly."""
    end = time.time() + seconds
    try:
        while time.time() < end:
            send(chunk)
    except OSError:
        pass


def client(port):
    stream = socket.create_connection(("127.0.0.1", port))
    stream.settimeout(SECONDS)
    return stream


def upgraded(port):
    """A WebSocket to a listener."""
    stream = client(port)
    key = base64.b64encode(os.urandom(16)).decode()
    stream.sendall((f"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
    stream.recv(4096)
    return stream


def frame(opcode, payload, is_masked):
    head = bytes([0x80 | opcode])
    mask = 0x80 if is_masked else 0
    if len(payload) < 126:
        head += bytes([mask | len(payload)])
    else:
        head += bytes([mask | 127]) + struct.pack(">Q", len(payload))
    return head + (b"\0\0\0\0" if is_masked else b"") + payload


def port_of(watched):
    place = watched.wait_for(b"http://127.0.0.1:").rstrip(";,")
    return int(place.split(":")[2].split("/")[0])


def listening(binary, folder, *command):
    watched = Watched([binary, *command], folder)
    return watched, port_of(watched)


def serving(answer):
    """A server of one connection after another."""
    listener = socket.create_server(("127.0.0.1", 0))

    def work():
        while True:
            try:
                stream, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=lambda: answer(stream), daemon=True).start()

    threading.Thread(target=work, daemon=True).start()
    return listener.getsockname()[1]


def pings_at_a_listener(binary, folder, *command):
    watched, port = listening(binary, folder, *command)
    pings = frame(9, b"p" * 125, True) * 500
    pour(upgraded(port).sendall, pings)
    return watched.end(0.1)


def pings_from_a_server(binary, folder):
    def answer(stream):
        from hashlib import sha1
        asked = stream.recv(4096).decode()
        key = next(line.split(": ")[1] for line in asked.split("\r\n") if line.lower().startswith("sec-websocket-key"))
        accepted = base64.b64encode(sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()
        stream.sendall((f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        f"Sec-WebSocket-Accept: {accepted}\r\nSec-WebSocket-Protocol: mcp\r\n\r\n").encode())
        pour(stream.sendall, frame(9, b"p" * 125, False) * 500)

    url = f"ws://127.0.0.1:{serving(answer)}/"
    return Watched([binary, "call", "tools/list", "--url", url, "--timeout", "20s"], folder).end(25)


def line_from_a_server(binary, folder, *command):
    return Watched([binary, *command, "--", *ENDLESS], folder, subprocess.PIPE).end(SECONDS * 5)


def line_to_standard_input(binary, folder, *command):
    zeros = subprocess.Popen(ENDLESS, stdout=subprocess.PIPE)
    watched = Watched([binary, *command], folder, zeros.stdout)
    zeros.stdout.close()
    ended = watched.end(SECONDS * 5)
    zeros.kill()
    return ended


def line_over_tcp(binary, folder):
    port = serving(lambda stream: pour(stream.sendall, b"x" * MIB, 20))
    return Watched([binary, "call", "tools/list", "--url", f"tcp:127.0.0.1:{port}"], folder).end(30)


def lines_at_a_listener(binary, folder):
    watched = Watched([binary, "serve", "--listen", "tcp:0"], folder)
    port = int(watched.wait_for(b"tcp:127.0.0.1:").rstrip(";,").split(":")[2])

    def one():
        stream = client(port)
        pour(stream.sendall, b"{" + b"x" * MIB)

    return at_once(8, one, watched)


def at_once(count, work, watched):
    threads = [threading.Thread(target=work, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS * 3)
    return watched.end(0.1)


def events(binary, folder):
    def answer(stream):
        stream.recv(65536)
        stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: ")
        pour(stream.sendall, b"x" * MIB, 20)

    return Watched([binary, "call", "tools/list", "--url", f"http://127.0.0.1:{serving(answer)}/"], folder).end(30)


def heads(binary, folder):
    watched, port = listening(binary, folder, "serve", "--listen", "0")

    def one():
        stream = client(port)
        stream.sendall(b"GET / HTTP/1.1\r\n")
        pour(stream.sendall, b"X-A: " + b"x" * 1000 + b"\r\n")

    return at_once(20, one, watched)


def bodies(binary, folder, *command):
    """Six clients that send 60 MiB each of an unfinished body."""
    watched, port = listening(binary, folder, *command)

    def one():
        stream = client(port)
        stream.sendall(f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
                       f"Content-Length: {64 * MIB}\r\n\r\n".encode())
        try:
            for _ in range(60):
                stream.sendall(b" " * MIB)
            time.sleep(2)
        except OSError:
            pass

    return at_once(6, one, watched)


def frames_at_a_listener(binary, folder):
    """Six WebSockets that send 60 MiB each of an unfinished message."""
    watched, port = listening(binary, folder, "serve", "--listen", "0")

    def one():
        stream = upgraded(port)
        try:
            stream.sendall(b"\x01\x80\0\0\0\0")
            for _ in range(60):
                stream.sendall(b"\0" + frame(0, b" " * MIB, True)[1:])
            time.sleep(2)
        except OSError:
            pass

    return at_once(6, one, watched)


ATTACKS = {
    "pings-record": lambda b, f: pings_at_a_listener(b, f, "record", "--listen", "0", "-o", "r.reel", "--", "cat"),
    "pings-serve": lambda b, f: pings_at_a_listener(b, f, "serve", "--listen", "0"),
    "pings-call": pings_from_a_server,
    "line-call": lambda b, f: line_from_a_server(b, f, "call", "tools/list"),
    "line-call-record": lambda b, f: line_from_a_server(b, f, "call", "tools/list", "--record", "r.reel"),
    "line-host": lambda b, f: line_from_a_server(b, f, "host", "--say", "hi"),
    "line-overlay": lambda b, f: line_from_a_server(b, f, "overlay", "o.yaml"),
    "line-overlay-client": lambda b, f: line_to_standard_input(b, f, "overlay", "o.yaml", "--", "cat"),
    "line-serve": lambda b, f: line_to_standard_input(b, f, "serve"),
    "line-survive": lambda b, f: Watched(
        [b, "survive", "--connect", "20s", "--", "sh", "-c", "tr '\\0' x </dev/zero | eval \"$MCPREEL_SERVER\""], f).end(60),
    "line-record": lambda b, f: line_from_a_server(b, f, "record", "-o", "r.reel"),
    "line-record-client": lambda b, f: line_to_standard_input(b, f, "record", "-o", "r.reel", "--", "cat"),
    "line-record-url": lambda b, f: line_to_standard_input(b, f, "record", "-o", "r.reel", "--url", "tcp:127.0.0.1:9"),
    "line-tcp": line_over_tcp,
    "lines-listener": lines_at_a_listener,
    "frames-listener": frames_at_a_listener,
    "events": events,
    "heads": heads,
    "bodies-serve": lambda b, f: bodies(b, f, "serve", "--listen", "0"),
    "bodies-record": lambda b, f: bodies(b, f, "record", "--listen", "0", "-o", "r.reel", "--", "cat"),
}


# One message of many small values.

SLOW = 60.0
INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
CALL = (b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","arguments":{"v":%b}}}')
STRUCTURED = b'{"jsonrpc":"2.0","id":2,"result":{"content":[],"structuredContent":{"v":%b}}}'
TEXT = b'{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":%b}]}}'
PING = b'{"jsonrpc":"2.0","method":"x"}'
# Answers what a session needs, and each call of a tool with the bytes of a file.
SERVER = r"""
import re, sys
out, big = sys.stdout.buffer, open(sys.argv[1], 'rb').read()
for line in sys.stdin.buffer:
    ends = line[:400] + line[-400:]
    id = re.search(rb'"id":("[^"]*"|[0-9]+)', ends)
    method = re.search(rb'"method":"([^"]*)"', ends)
    if not id or not method:
        continue
    if method[1] == b'tools/call':
        out.write(big.replace(b'"id":2', b'"id":' + id[1], 1))
    else:
        result = {b'initialize': b'{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":'
                                 b'{"name":"s","version":"1"}}',
                  b'tools/list': b'{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}'}.get(method[1], b'{}')
        out.write(b'{"jsonrpc":"2.0","id":' + id[1] + b',"result":' + result + b'}\n')
    out.flush()
"""


def rows(piece, size):
    return b"[" + b",".join([piece] * (size // (len(piece) + 1))) + b"]"


# Each makes a value of about this many bytes.
SHAPES = {
    "zeros": lambda size: rows(b"0", size),
    "keys": lambda size: b"{" + b",".join(b'"k%07d":0' % at for at in range(size // 13)) + b"}",
    "arrays": lambda size: rows(b"[]", size),
    "objects": lambda size: rows(b'{"a":0}', size),
    "nested": lambda size: rows(b"[" * 100 + b"]" * 100, size),
    "deep": lambda size: b"[" * (size // 2) + b"]" * (size // 2),
    "strings": lambda size: rows(b'"x"', size),
    "escapes": lambda size: b'"' + b"\\n" * (size // 2) + b'"',
    "json-text": lambda size: json.dumps(rows(b"0", size).decode()).encode(),
    "batch": lambda size: rows(PING, size),
    "batch-zeros": lambda size: rows(b"0", size),
    "batch-objects": lambda size: rows(b'{"a":0}', size),
}


class Values:
    """A folder with reels and files that contain a message of this shape."""

    def __init__(self, binary, folder, shape, size):
        self.binary, self.folder = binary, Path(folder)
        value = SHAPES[shape](size)
        is_text = value[:1] == b'"'
        is_batch = shape.startswith("batch")
        message = value if is_batch else (TEXT if is_text else STRUCTURED) % value
        self.requests = b"\n".join([INITIALIZE, INITIALIZED, CALL % (b"0" if is_batch else value), b""])
        few = b"\n".join([INITIALIZE, INITIALIZED, CALL % b"0", b""])
        (self.folder / "server.py").write_text(SERVER)
        (self.folder / "requests").write_bytes(self.requests)
        (self.folder / "big").write_bytes(message + b"\n")
        # The other one differs in its last value.
        (self.folder / "other").write_bytes(message.replace(b"0", b"1", 3) + b"\n")
        for reel, big, requests in [("r", "big", few), ("o", "other", few), ("a", "big", self.requests)]:
            self.run("record", "-o", f"{reel}.reel", "--", *self.server(big), stdin=requests)

    @staticmethod
    def server(big="big"):
        return ["python3", "server.py", big]

    def run(self, *words, stdin=None):
        """Runs a command to its end. What it reads stays open until it has ended, or for some seconds."""
        reading = None if stdin is None else self.pipe(stdin)
        watched = Watched([self.binary, *words], self.folder, subprocess.DEVNULL if stdin is None else reading)
        if reading is not None:
            os.close(reading)
        return watched.end(SLOW)

    @staticmethod
    def pipe(text):
        reading, writing = os.pipe()

        def feed():
            with open(writing, "wb") as pipe:
                try:
                    pipe.write(text)
                    pipe.flush()
                    time.sleep(SECONDS)
                except OSError:
                    pass

        threading.Thread(target=feed, daemon=True).start()
        return reading

    def tool(self, name, arguments):
        call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        return self.run("mcp", stdin=b"\n".join([INITIALIZE, INITIALIZED, json.dumps(call).encode(), b""]))

    def terminal(self, keys):
        """The terminal interface, with a key every second."""
        main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "MCPREEL_HOME": str(self.folder), "TERM": "xterm"}
        process = subprocess.Popen([self.binary, "tui", "a.reel"], cwd=self.folder, env=env, stdin=side, stdout=side,
                                   stderr=side, start_new_session=True,
                                   preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(side)

        def drain():
            try:
                while os.read(main, 1 << 16):
                    pass
            except OSError:
                pass

        threading.Thread(target=drain, daemon=True).start()
        most, began, due = 0, time.time(), iter(enumerate(keys, 2))
        at, key = next(due)
        while process.poll() is None and time.time() - began < SLOW:
            most = max(most, peak(process.pid))
            if time.time() - began > at:
                os.write(main, key.encode())
                at, key = next(due, (SLOW, ""))
            time.sleep(0.02)
        process.kill()
        return most, process.wait(), ""


CLIENT = '(cat requests; sleep 5) | sh -c "$MCPREEL_SERVER"'
COMMANDS = {
    "validate": lambda v: v.run("validate", "a.reel"),
    "record-check": lambda v: v.run("record", "--check", "-o", "q.reel", "--", *v.server(), stdin=v.requests),
    "call": lambda v: v.run("call", "tools/call", "name=t", "--", *v.server()),
    "call-expect": lambda v: v.run("call", "tools/call", "name=t", "--expect", ".x", "--", *v.server()),
    "diff": lambda v: v.run("diff", "r.reel", "o.reel"),
    "diff-json": lambda v: v.run("diff", "r.reel", "o.reel", "--format", "json"),
    "diff-arguments": lambda v: v.run("diff", "r.reel", "a.reel"),
    "diff-surface": lambda v: v.run("diff", "--surface", "r.reel", "o.reel"),
    "show": lambda v: v.run("show", "a.reel", "--details"),
    "show-full": lambda v: v.run("show", "a.reel", "--full"),
    "show-json": lambda v: v.run("show", "a.reel", "-f", "json"),
    "show-as-call": lambda v: v.run("show", "a.reel", "--as-call"),
    "show-check": lambda v: v.run("show", "a.reel", "--check"),
    "show-jq": lambda v: v.run("show", "a.reel", "--jq", ".seq"),
    "view-tree": lambda v: v.run("show", "a.reel", "--view", "tree"),
    "view-prompt": lambda v: v.run("show", "a.reel", "--view", "prompt"),
    "stats": lambda v: v.run("stats", "a.reel"),
    "stats-audit": lambda v: v.run("stats", "a.reel", "--audit"),
    "stats-context": lambda v: v.run("stats", "a.reel", "--context"),
    "html": lambda v: v.run("export", "a.reel", "-f", "html", "-o", "x.html"),
    "jsonl": lambda v: v.run("export", "a.reel", "-f", "jsonl", "-o", "x.jsonl"),
    "import": lambda v: v.run("export", "r.reel", "-o", "y.jsonl") and v.run("import", "y.jsonl", "-o", "y.reel"),
    "har": lambda v: v.run("export", "a.reel", "-f", "har", "-o", "x.har"),
    "otlp": lambda v: v.run("export", "a.reel", "-f", "otlp", "-o", "x.otlp"),
    "markdown": lambda v: v.run("export", "a.reel", "-f", "markdown", "-o", "x.md"),
    "redact": lambda v: v.run("redact", "a.reel", "-o", "x.reel"),
    "replay": lambda v: v.run("replay", "a.reel", "--allow-destructive", "--", *v.server()),
    "mock": lambda v: v.run("mock", "a.reel", stdin=v.requests),
    "mock-other": lambda v: v.run("mock", "r.reel", stdin=v.requests),
    "mcp-get": lambda v: v.tool("get_message", {"recording": f"{v.folder}/a.reel", "seq": 5}),
    "mcp-validate": lambda v: v.tool("validate", {"recording": f"{v.folder}/a.reel"}),
    "tui": lambda v: v.terminal(["G", "\r", "v", "v", "v", "q", "q", "q", "q"]),
    "serve": lambda v: v.run("serve", stdin=v.requests),
    "overlay": lambda v: v.run("overlay", "o.yaml", "--", *v.server(), stdin=v.requests),
    "host": lambda v: v.run("host", "--say", "hi", "--", *v.server()),
    "survive": lambda v: v.run("survive", "--only", "reminder", "--wait", "1s", "--connect", "9s", "--", "sh", "-c", CLIENT),
}


def values(shape, command, size):
    def attack(binary, folder):
        ready = Values(binary, folder, shape, size)
        began = time.time()
        most, code, last = COMMANDS[command](ready)
        return (most, code, last) if time.time() - began < SLOW else (1 << 40, code, "more than a minute")

    return attack


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(HERE.parent / "target/release/mcpreel"))
    parser.add_argument("--only", action="append", metavar="NAME", help="an attack, or the beginning of several names")
    parser.add_argument("--bound", type=int, default=128, help="MiB")
    parser.add_argument("--value-mb", type=float, default=60.0, help="the size of a message of many values, in MB; 0 leaves these attacks out")
    args = parser.parse_args()
    worst, size = 0, int(args.value_mb * 1e6)
    shapes = SHAPES if size else []
    ATTACKS.update({f"values-{shape}-{command}": values(shape, command, size) for shape in shapes for command in COMMANDS})
    wanted = [name for name in ATTACKS if not args.only or name.startswith(tuple(args.only))]
    if not wanted:
        parser.error(f"no attack begins with {' or '.join(args.only)}")
    for name in wanted:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "o.yaml").write_text("name: o\nhooks: []\n")
            began = time.time()
            most, code, last = ATTACKS[name](str(Path(args.binary).resolve()), folder)
            worst = max(worst, most)
            print(f"{name:30} {most / MIB:7.1f} MiB  exit {code}  {time.time() - began:4.1f} s  {last[:110]}", flush=True)
    sys.exit(worst > args.bound * MIB)


if __name__ == "__main__":
    main()
