#!/usr/bin/env python3
"""Makes docs/show.svg, the picture in README.md, out of what `mcpreel show` prints.

    docs/picture.py [MCPREEL]     writes docs/show.svg (MCPREEL is target/debug/mcpreel by default)
    docs/picture.py [MCPREEL] -   writes it to standard output

The picture follows the reader's light or dark mode. It needs Python 3.8 or newer and nothing else.
"""

import html
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent
SESSION = DOCS.parent / "examples" / "session.jsonl"
PICTURE = DOCS / "show.svg"

# What is typed and what runs: the picture names no file, as `show` takes the newest recording.
COMMANDS = [
    ("mcpreel show", ["show"]),
    ("mcpreel show 'slow:>500ms or error'", ["show", "slow:>500ms or error"]),
]

COLUMN = 7.2  # the width of a character in pixels
LINE = 18  # the height of a line
MARGIN = 16
BAR = 30  # the height of the window's title bar

# Select Graphic Rendition codes that mcpreel uses, and the classes that stand for them.
CLASSES = {"1": "b", "38;5;243": "d", "38;5;161": "red", "38;5;64": "green", "38;5;130": "yellow", "38;5;133": "magenta", "38;5;31": "cyan"}

STYLE = """
text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #24292f; white-space: pre }
.window { fill: #ffffff; stroke: #d0d7de } .bar { fill: #f6f8fa } .dot { fill: #d0d7de }
.b { font-weight: 600 } .d { fill: #6e7781 } .prompt { fill: #1a7f37; font-weight: 600 }
.red { fill: #cf222e } .green { fill: #116329 } .yellow { fill: #7d4e00 }
.blue { fill: #0550ae } .magenta { fill: #8250df } .cyan { fill: #0a6c74 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.window { fill: #0d1117; stroke: #30363d } .bar { fill: #161b22 } .dot { fill: #484f58 }
.d { fill: #8b949e } .prompt { fill: #3fb950 }
.red { fill: #ff7b72 } .green { fill: #7ee787 } .yellow { fill: #e3b341 }
.blue { fill: #79c0ff } .magenta { fill: #d2a8ff } .cyan { fill: #56d4dd }
}
""".strip()


def outputs(mcpreel):
    """Each command with the lines that it prints on a reel of the example session."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "MCPREEL_HOME": folder, "TZ": "UTC", "LC_ALL": "C.UTF-8"}
        reels = Path(folder) / "reels"
        reels.mkdir()

        def run(*arguments):
            return subprocess.run([mcpreel, *arguments], env=environment, cwd=folder, check=True, capture_output=True).stdout

        run("import", str(SESSION), "-o", str(reels / "20260101-000000-memory-1.reel"))
        for typed, arguments in COMMANDS:
            yield typed, run(*arguments, "--color", "always").decode().splitlines()


def spans(line):
    """The pieces of a line that have one style: (column, text, classes)."""
    column, classes = 0, []
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        code = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if code is None:
            # Spaces move the column: so columns line up in any font.
            for word in re.finditer(r"\S+(?: \S+)*", part):
                yield column + word.start(), word.group(), list(classes)
            column += len(part)
            continue
        if code.group(1) in ("", "0"):
            classes = []
        elif code.group(1) in CLASSES:
            classes.append(CLASSES[code.group(1)])
        else:
            sys.exit(f"picture.py: no class for the code {code.group(1)} in {line!r}")


def text(column, row, content, classes):
    """One piece of text. textLength gives it the same width in every font."""
    attribute = f' class="{" ".join(classes)}"' if classes else ""
    x, y = MARGIN + column * COLUMN, BAR + MARGIN + row * LINE
    length = f'{len(content) * COLUMN:.1f}'
    return f'<text x="{x:.1f}" y="{y}" textLength="{length}" lengthAdjust="spacingAndGlyphs"{attribute}>{html.escape(content, quote=False)}</text>'


def picture(mcpreel):
    body, row, columns = [], 0, 0
    for typed, lines in outputs(mcpreel):
        row += 1 if row else 0
        body.append(text(0, row, "$", ["prompt"]))
        body.append(text(2, row, typed, ["b"]))
        row += 1
        for line in lines:
            for column, content, classes in spans(line):
                body.append(text(column, row, content, classes))
                columns = max(columns, column + len(content))
            row += 1
    width, height = round(2 * MARGIN + columns * COLUMN), BAR + 2 * MARGIN + (row - 1) * LINE
    frame = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">',
        "<title>mcpreel show: one line per message of a recorded MCP session</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="window" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8"/>',
        f'<path class="bar" d="M1 {BAR - 2}V8.5a7.5 7.5 0 0 1 7.5 -7.5H{width - 8.5}a7.5 7.5 0 0 1 7.5 7.5V{BAR - 2}z"/>',
        *(f'<circle class="dot" cx="{MARGIN + 4 + 18 * n}" cy="{BAR / 2}" r="5"/>' for n in range(3)),
    ]
    return "\n".join([*frame, *body, "</svg>"]) + "\n"


def main():
    arguments = sys.argv[1:]
    to_stdout = "-" in arguments
    arguments = [argument for argument in arguments if argument != "-"]
    mcpreel = Path(arguments[0] if arguments else DOCS.parent / "target/debug/mcpreel").resolve()
    made = picture(str(mcpreel))
    if to_stdout:
        sys.stdout.write(made)
    else:
        PICTURE.write_text(made)


if __name__ == "__main__":
    main()
