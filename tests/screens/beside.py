"""Write docs/beside.md: ten things as a command prints and as the dashboard draws them."""

import asyncio
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from d0ctl.config import Home
from d0ctl_tui.app import Dashboard
from tests.screens.__main__ import PLENTY, REST_S, ROOT, SHOWN_FOLDER, at_work, d0ctl, ended
from tests.support.waiting import wait_until

PAGE = ROOT / "docs" / "beside.md"

SIZE = (100, 34)
"""Columns and rows of the dashboard; the command line has as many columns."""

LEAD = (
    "# Command line and dashboard beside each other\n\n"
    "Look here to see which command shows what a screen of the dashboard shows. Both read the same"
    " data and take their words from the same functions, so a word that you know from one means the"
    " same in the other. Of a job, a stage, a line, a package, a node and a file, both show the"
    " same card; `v` gives it the whole screen. All of it is one real production, taken by"
    " `make screens`.\n"
)


@dataclass(frozen=True, slots=True)
class Thing:
    """What is shown: the command, and where the dashboard is opened and which keys are pressed."""

    title: str
    command: str
    start: str
    keys: tuple[str, ...] = ()
    shown_keys: str = ""
    note: str = ""
    undo: str = ""


DROP = "kill-line reco001/1/9 --drop-outputs"

THINGS = (
    Thing("A job", "status reco001", "reco001", ("v",), "`v`"),
    Thing("A stage", "status reco001/1", "reco001/1", ("v",), "`v`"),
    Thing("A line", "status reco001/1/4", "reco001/1/4", ("v",), "`v`",
          note=" the only package of the line"),
    Thing("A package", "status reco001/1/4/1", "reco001/1/4/1", ("v",), "`v`"),
    Thing("A node", "why localhost", "reco001", ("o",), "`o`"),
    Thing("A file", "why reco001:hist-4.csv", "reco001",
          ("slash", *"reco001:hist-4.csv", "enter"), "`/`, its name, Enter"),
    Thing("Failures", "report failures reco001", "reco001", ("F",), "`F`"),
    Thing("Why", "why reco001/2/1/1", "reco001/2/1/1"),
    Thing("The plan of a kill", f"{DROP} --dry-run", "reco001/1/9", ("D",), "`D`"),
    Thing("Its outcome", f"{DROP} --yes", "reco001/1/9", ("D", "enter"), "`D`, Enter",
          undo="restore-line reco001/1/9"),
)  # fmt: skip


async def drawn(home: Home, thing: Thing) -> str:
    """Return what the dashboard shows after the keys."""
    app = Dashboard(home, PLENTY, "emmy", thing.start)
    async with app.run_test(size=SIZE) as hands:
        await hands.pause(REST_S)
        for key in thing.keys:
            await hands.press({":": "colon", "-": "minus", ".": "full_stop"}.get(key, key))
            await hands.pause(0.1)
        await hands.pause(2 * REST_S)
        strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips).rstrip()


def section(home: Home, number: int, thing: Thing) -> str:
    """Return the section of a thing."""
    printed = d0ctl(home, *thing.command.split()).rstrip()
    if thing.undo:
        d0ctl(home, *thing.undo.split(), "--yes")
    seen = asyncio.run(drawn(home, thing))
    keys = f", then {thing.shown_keys}" if thing.keys else ""
    where = f"`d0ctl tui {thing.start}`{keys}"
    head = f"\n## {number}. {thing.title}\n\n"
    command = f"`d0ctl {thing.command}` prints:\n\n```text\n{printed}\n```\n\n"
    return f"{head}{command}{where} shows{thing.note}:\n\n```text\n{seen}\n```\n"


def main() -> int:
    """Run the production, and write the page."""
    os.environ |= {"TZ": "UTC", "COLUMNS": str(SIZE[0])}
    time.tzset()
    with (
        tempfile.TemporaryDirectory(dir="/tmp", prefix="") as folder,
        at_work(Path(folder)) as home,
    ):
        d0ctl(home, "submit", str(ROOT / "tests/screens/reco.yaml"))
        wait_until(ended(home, "reco001"), 120, "reco001 ends")
        sections = [section(home, number, thing) for number, thing in enumerate(THINGS, 1)]
    PAGE.write_text((LEAD + "".join(sections)).replace(folder, SHOWN_FOLDER))
    print("docs/beside.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
