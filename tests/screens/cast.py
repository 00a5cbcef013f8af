"""`make cast`: type the commands of the tutorial at a terminal, and write what came when.

The recording is an asciicast of version 2, which asciinema plays; the picture that moves is
made of it, and needs no player.
"""

import json
import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import termios
import time
from html import escape
from pathlib import Path
from typing import NamedTuple

import pyte

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "docs" / "screens" / "first.cast"
PROGRAMS = Path(sys.executable).parent
COLUMNS, ROWS = 100, 28
PROMPT = "\x1b[32m$\x1b[0m "
KEY_S, READ_S, LINE_S = 0.04, 1.2, 0.12
"""Seconds for a key, for reading what a command printed, and for each line of it."""

COMMANDS = (
    "d0ctl validate mc.yaml",
    "d0ctl run mc.yaml",
    "d0ctl logs mc/1/3/1",
    "d0ctl kill-line mc/1/3 --drop-outputs --dry-run",
    "echo '3 60' >> cuts.txt",
    "d0ctl retry 'mc:failed'",
    "d0ctl run mc",
    "d0ctl history mc",
)


class Event(NamedTuple):
    """What came, and when, in seconds from the beginning."""

    at: float
    text: str


def prepare(folder: Path) -> None:
    """Write the files of the tutorial."""
    page = (ROOT / "docs" / "tutorial.md").read_text()
    for kind, name in {"sh": "sim.sh", "yaml": "mc.yaml"}.items():
        text = re.findall(rf"^```{kind}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[0]
        (folder / name).write_text(text)
    (folder / "sim.sh").chmod(0o755)
    (folder / "cuts.txt").write_text("1 50\n2 50\n4 55\n")


def printed(command: str, folder: Path, environment: dict[str, str]) -> list[Event]:
    """Run a command at a terminal of its own."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (ROWS, COLUMNS))
    began, events = time.monotonic(), []
    process = subprocess.Popen(
        ["bash", "-c", command], cwd=folder, env=environment,
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    data = b""
    while True:
        select.select([ours], [], [])
        try:
            more = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        data += more
        text = data.decode(errors="ignore")
        data = data[len(text.encode()) :]
        events.append(Event(time.monotonic() - began, text))
    process.wait()
    os.close(ours)
    return events


def record(folder: Path, environment: dict[str, str]) -> list[Event]:
    """Type all commands, and return what is seen."""
    prepare(folder)
    events, now = [Event(0.0, PROMPT)], 0.5
    for command in COMMANDS:
        for letter in command:
            events.append(Event(now, letter))
            now += KEY_S
        events.append(Event(now, "\r\n"))
        said = printed(command, folder, environment)
        events += [Event(now + at, text) for at, text in said]
        now += said[-1].at if said else 0.0
        now += 0.1
        events.append(Event(now, PROMPT))
        now += READ_S + LINE_S * sum(text.count("\n") for _, text in said)
    return [*events, Event(now, "")]


def cast(events: list[Event]) -> str:
    """Return the recording."""
    header = {"version": 2, "width": COLUMNS, "height": ROWS, "title": "d0ctl: a first production",
              "env": {"SHELL": "/bin/bash", "TERM": "xterm-256color"}}  # fmt: skip
    lines = [header, *([round(at, 3), "o", text] for at, text in events)]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def read(text: str) -> list[Event]:
    """Return the events of a recording."""
    return [Event(at, said) for at, _, said in map(json.loads, text.splitlines()[1:])]


def lines_of(events: list[Event]) -> list[str]:
    """Return all lines that were ever shown whole."""
    screen = pyte.Screen(1000, 1000)
    pyte.Stream(screen).feed("".join(text for _, text in events))
    return [line.rstrip() for line in screen.display if line.strip()]


# the picture that moves --------------------------------------------------------------------

COLOURS = {"black": "#1e1e1e", "red": "#ff6b68", "green": "#7ec699", "brown": "#e5c07b",
           "blue": "#6cb6ff", "magenta": "#d2a8ff", "cyan": "#76d7ea", "white": "#e6e6e6",
           "default": "#e6e6e6", "brightblack": "#8b949e"}  # fmt: skip
WIDE, HIGH, PAPER = 8.4, 18, "#16181d"


def svg(events: list[Event]) -> str:
    """Return the recording as a film: pictures beside each other, of which one is in sight."""
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.Stream(screen)
    shown: list[tuple[float, str]] = []
    for at, text in events:
        stream.feed(text)
        picture = drawn(screen)
        if shown and at - shown[-1][0] < 0.35:
            shown[-1] = (shown[-1][0], picture)
        elif not shown or shown[-1][1] != picture:
            shown.append((at, picture))
    end = events[-1].at
    width, height = COLUMNS * WIDE + 16, ROWS * HIGH + 16
    steps = "".join(f"{100 * at / end:.2f}%{{transform:translateX({-width * number:.0f}px)}}"
                    for number, (at, _) in enumerate(shown))  # fmt: skip
    frames = "".join(f'<g transform="translate({width * number + 8:.0f} 8)">{picture}</g>'
                     for number, (_, picture) in enumerate(shown))  # fmt: skip
    ink = COLOURS["default"]
    last = -width * (len(shown) - 1)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}">'
        f"<title>d0ctl: a first production</title><style>"
        f"text{{font:14px ui-monospace,Menlo,'DejaVu Sans Mono',monospace;white-space:pre}}"
        f"@keyframes film{{{steps}"
        f"100%{{transform:translateX({last:.0f}px)}}}}"
        f".film{{animation:film {end:.1f}s steps(1,end) infinite}}</style>"
        f'<rect width="100%" height="100%" rx="8" fill="{PAPER}"/>'
        f'<g class="film" fill="{ink}">{frames}</g></svg>\n'
    )


def drawn(screen: pyte.Screen) -> str:
    """Return what a screen shows, a text for each run of one colour."""
    runs = []
    for row in range(screen.lines):
        start = 0
        cells = [screen.buffer[row][column] for column in range(screen.columns)]
        while start < len(cells):
            end, colour = start, cells[start].fg
            while end < len(cells) and cells[end].fg == colour:
                end += 1
            text = "".join(cell.data for cell in cells[start:end])
            if text.strip():
                left = start + len(text) - len(text.lstrip())
                text = text.strip()
                fill = COLOURS.get(colour, f"#{colour}")
                ink = "" if fill == COLOURS["default"] else f' fill="{fill}"'
                at = f'x="{left * WIDE:.1f}" y="{(row + 0.8) * HIGH:.1f}"'
                size = f'textLength="{len(text) * WIDE:.1f}"'
                runs.append(f"<text {at} {size}{ink}>{escape(text)}</text>")
            start = end
    return "".join(runs)


def main() -> int:
    """Record, and write both files."""
    with tempfile.TemporaryDirectory(prefix="d0ctl-cast-") as name:
        folder = Path(name) / "mc"
        folder.mkdir()
        own = {
            key: value
            for key, value in os.environ.items()
            if key not in ("COLUMNS", "LINES", "NO_COLOR")
        }
        environment = own | {
            "D0CTL_HOME": str(Path(name) / "home"), "TERM": "xterm-256color", "USER": "emmy",
            "LOGNAME": "emmy", "TZ": "UTC",
            "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
        }  # fmt: skip
        events = [
            Event(at, text.replace(name, "/home/emmy")) for at, text in record(folder, environment)
        ]
    text = cast(events)
    FILE.write_text(text)
    FILE.with_suffix(".svg").write_text(svg(read(text)))
    for file in (FILE, FILE.with_suffix(".svg")):
        print(f"{file.relative_to(ROOT)}  {file.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
