#!/usr/bin/env python3
"""The terminal interface with a large reel, and with a flood.

    python3 benches/tui.py [--bin target/release/mcpreel] [--work DIR] [--messages N] [--check]

A terminal of 80 columns and 24 rows is a pseudo-terminal; what is written to it is drawn on a screen in memory, as a
terminal would. Figures: the time from the start to the first full screen of a reel of 1,000,000 messages (target 200 ms),
to the next screen after a key (target 100 ms), to the end of the reel, and to an event in its middle; then a session whose
server sends 10,000 messages a second: the frames with newer messages a second (target 30), how far the newest message on
the screen is behind the server, and whether the reel holds every message. `--check` is short and judges only what is on
the screen and in the reel. Exit code 0: all targets met; 1: not.
"""

import argparse
import codecs
import fcntl
import json
import os
import pty
import re
import select
import signal
import statistics
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

from context import ROOT

COLUMNS, ROWS = 80, 24
FIRST_SCREEN, NEXT_SCREEN, FRAMES = 0.2, 0.1, 30.0
RATE = 10_000
PATIENCE = 120.0
PART = re.compile(r"\x1b\[([?>=]?)([0-9;]*)([A-Za-z])|\x1b\][^\x07]*\x07|\x1b[()=>78].?|([^\x1b]+)")


class Screen:
    """What a terminal shows: enough of one for this program."""

    def __init__(self) -> None:
        self.rows = [[" "] * COLUMNS for _ in range(ROWS)]
        self.at = (0, 0)
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.left = ""

    def write(self, data: bytes) -> None:
        text = self.left + self.decoder.decode(data)
        cut = text.rfind("\x1b")
        # An escape sequence may have come only in part.
        is_part = cut >= 0 and not PART.fullmatch(text, cut) and "\x1b" not in text[cut + 1:] and len(text) - cut < 32 \
            and not PART.match(text, cut)
        text, self.left = (text[:cut], text[cut:]) if is_part else (text, "")
        for part in PART.finditer(text):
            mark, numbers, letter, plain = part.groups()
            if plain:
                self.put(plain)
            elif letter == "H":
                row, column = ([int(number or 1) for number in numbers.split(";")] + [1, 1])[:2] if numbers else (1, 1)
                self.at = (row - 1, column - 1)
            elif letter == "J":
                self.rows = [[" "] * COLUMNS for _ in range(ROWS)]

    def put(self, text: str) -> None:
        row, column = self.at
        for letter in text:
            if 0 <= row < ROWS and column < COLUMNS:
                self.rows[row][column] = letter
            column += 1
        self.at = (row, column)

    def lines(self) -> list[str]:
        return ["".join(row).rstrip() for row in self.rows]

    def numbers(self) -> list[int]:
        """The numbers of the events in the list."""
        found = (re.match(r"[> ]\s*(\d+) ", line) for line in self.lines()[2:-1])
        return [int(match[1]) for match in found if match]


    def selected(self) -> int:
        """The number of the selected event, or -1."""
        found = (re.match(r">\s*(\d+) ", line) for line in self.lines()[2:-1])
        return next((int(match[1]) for match in found if match), -1)


class Terminal:
    """A program in a terminal."""

    def __init__(self, command: list[str]) -> None:
        self.screen = Screen()
        self.start = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
            os.execvpe(command[0], command, {**os.environ, "TERM": "xterm-256color", "NO_COLOR": "1"})

    def read(self, patience: float) -> bool:
        """Draws what the program has written. Returns whether there was anything."""
        if not select.select([self.fd], [], [], patience)[0]:
            return False
        try:
            data = os.read(self.fd, 1 << 20)
        except OSError:
            data = b""
        self.screen.write(data)
        return bool(data)

    def wait(self, is_right) -> float:
        """Returns the seconds until the screen is right."""
        start = time.perf_counter()
        while not is_right(self.screen):
            if time.perf_counter() - start > PATIENCE:
                raise SystemExit("the screen never was as it should be:\n" + "\n".join(self.screen.lines()))
            self.read(0.5)
        return time.perf_counter() - start

    def keys(self, keys: str) -> None:
        os.write(self.fd, keys.encode())

    def peak(self) -> float:
        """The most memory so far, in MiB."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024

    def end(self) -> None:
        os.kill(self.pid, signal.SIGTERM)
        while self.read(2.0):
            pass
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def large(binary: str, work: Path, count: int) -> list[tuple[str, str, float, float | None]]:
    """The figures of a large reel: name, text, value and bound."""
    server, reel = build(work), work / f"large-{count}.reel"
    if not reel.exists():
        command = [binary, "record", "-o", str(reel), "--", server, "flood", str(count), "64"]
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    terminal = Terminal([binary, "tui", str(reel)])
    terminal.wait(lambda screen: len(screen.numbers()) == ROWS - 3)
    first = time.perf_counter() - terminal.start
    took = []
    for page in range(20):
        before = terminal.screen.selected()
        terminal.keys("\x1b[6~")
        took.append(terminal.wait(lambda screen: screen.selected() > before))
    terminal.keys("G")
    last = count  # the event that opened the session is number 0
    to_end = terminal.wait(lambda screen: last in screen.numbers())
    whole = time.perf_counter() - terminal.start
    middle = count // 2
    terminal.keys(f"#{middle}\r")
    to_middle = terminal.wait(lambda screen: middle in screen.numbers())
    peak = terminal.peak()
    terminal.end()
    return [
        ("first screen", f"{first * 1000:.0f} ms", first, FIRST_SCREEN),
        ("next screen", f"{statistics.median(took) * 1000:.0f} ms, at most {max(took) * 1000:.0f} ms",
         statistics.median(took), NEXT_SCREEN),
        ("to the end", f"{to_end * 1000:.0f} ms after the key; {whole:.2f} s after the start", to_end, None),
        ("to the middle", f"{to_middle * 1000:.0f} ms", to_middle, None),
        ("memory", f"{peak:.0f} MiB at most, for {count} messages", peak, None),
    ]


def flood(binary: str, work: Path, seconds: int) -> list[tuple[str, str, float, float | None]]:
    server, reel = build(work), work / "flood.reel"
    reel.unlink(missing_ok=True)
    command = [binary, "record", "-o", str(reel), "--label", "flood", "--", server, "clock", str(RATE), str(seconds)]
    recorder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    while not reel.exists() or not reel.stat().st_size:
        time.sleep(0.002)
    begin = time.perf_counter()
    terminal = Terminal([binary, "tui", "--session", "flood"])
    newest, frames, behind = 0, [], []
    while recorder.poll() is None:
        if not terminal.read(0.2):
            continue
        numbers = terminal.screen.numbers()
        if numbers and numbers[-1] > newest:
            newest = numbers[-1]
            frames.append(time.perf_counter())
            behind.append((time.perf_counter() - begin) * RATE - newest)
    recorder.stdin.close()
    sent = json.loads(subprocess.run([binary, "stats", str(reel), "--format", "json"], stdout=subprocess.PIPE,
                                     check=True).stdout)["messages"]
    terminal.wait(lambda screen: sent in screen.numbers())
    exported = subprocess.run([binary, "export", str(reel)], stdout=subprocess.PIPE, check=True).stdout
    held = [int(number) for number in re.findall(rb'"data":\{"n":(\d+)', exported)]
    terminal.end()
    if held != list(range(sent)):
        raise SystemExit(f"the reel holds {len(held)} of {sent} messages")
    a_second = (len(frames) - 1) / (frames[-1] - frames[0]) if len(frames) > 1 else 0.0
    # The beginning of the session is not known to a millisecond: the smallest delay counts as none.
    late = [messages / RATE - min(behind) / RATE for messages in behind]
    return [
        ("flood", f"{a_second:.1f} frames with newer messages a second", -a_second, -FRAMES),
        ("flood, behind", f"{statistics.median(late) * 1000:.0f} ms, at most {max(late) * 1000:.0f} ms",
         statistics.median(late), None),
        ("flood, reel", f"all of {sent} messages", 0.0, None),
    ]


def build(work: Path) -> str:
    server = work / "server"
    source = Path(__file__).parent / "server.c"
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-o", str(server), str(source)], check=True)
    return str(server)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "target/release/mcpreel"))
    parser.add_argument("--work", type=Path, default=ROOT / "target/tui")
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    binary = os.path.abspath(args.bin)
    count, seconds = (min(args.messages, 20_000), 2) if args.check else (args.messages, 10)
    missed = False
    for figures in (large(binary, args.work, count), flood(binary, args.work, seconds)):
        for name, text, value, bound in figures:
            is_met = args.check or bound is None or value <= bound
            missed |= not is_met
            state = "info" if bound is None else "ok" if is_met else "MISS"
            print(f"{state:4} {name:14} {text}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
