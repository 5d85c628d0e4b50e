#!/usr/bin/env python3
"""Peers that send endlessly, at full scale: how much memory does each command take at most?

    benches/memory_attacks.py [--binary PATH] [--only NAME] [--bound MB]

Each attack starts the real binary, lets a hostile peer send for some seconds, and prints the peak memory (VmHWM
of /proc/PID/status). Exits with 1 if one is above the bound. Needs only Linux and Python.
"""

import argparse
import base64
import os
import socket
import struct
import subprocess
import sys
import tempfile
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(HERE.parent / "target/release/mcpreel"))
    parser.add_argument("--only", action="append", choices=ATTACKS)
    parser.add_argument("--bound", type=int, default=128, help="MiB")
    args = parser.parse_args()
    worst = 0
    for name in args.only or ATTACKS:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "o.yaml").write_text("name: o\nhooks: []\n")
            began = time.time()
            most, code, last = ATTACKS[name](str(Path(args.binary).resolve()), folder)
            worst = max(worst, most)
            print(f"{name:20} {most / MIB:7.1f} MiB  exit {code}  {time.time() - began:4.1f} s  {last[:110]}", flush=True)
    sys.exit(worst > args.bound * MIB)


if __name__ == "__main__":
    main()
