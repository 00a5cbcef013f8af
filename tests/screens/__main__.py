"""Run the productions, press keys, and write what is seen as SVG and as text."""

import asyncio
import base64
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from d0ctl.config import Home
from d0ctl_tui.app import Dashboard
from d0ctl_tui.terminal import Terminal
from tests.support.browser import browser
from tests.support.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "screens"
PROGRAM = Path(sys.executable).with_name("d0ctl")
REST_S = 0.6

SHOWN_FOLDER = "/home/noether"
"""The user's folder in the pictures. It is as long as the real one, so that lines break alike."""

PLENTY = Terminal()
"""A terminal that can show everything."""


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture: its name and size, where it is taken, and the keys before."""

    name: str
    start: str
    keys: tuple[str, ...] = ()
    size: tuple[int, int] = (120, 36)
    terminal: Terminal = PLENTY


KEEP_BLANKS = '<text xml:space="preserve" '

RUNNING = (
    Shot("running", "zpeak/1/3/3", ("h",)),
    Shot("running-80x24", "zpeak/1/3", (), (80, 24)),
)

ENDED = (
    Shot("package", "reco001/1/4/1"),
    Shot("package-whole", "reco001/1/4/1", ("v",)),
    Shot("failures", "reco001", ("F", "space")),
    Shot("drop-line", "reco001/1/4", ("D", *"bad", "space", *"tape")),
    Shot(
        "retry", "reco001/1/4/1", ("R", "tab", *"memory", "equals_sign", *"8GB", "enter", *"more")
    ),
    Shot("log", "reco001/1/4/1", ("t",)),
    Shot("nodes", "reco001", ("o",)),
    Shot("palette", "reco001/1/4", ("colon", *"line")),
    Shot("search", "reco001", ("slash", *"hist-1")),
    Shot("filter", "reco001/1", ("f",)),
    Shot("filtered", "reco001/1", ("f", "enter")),
    Shot("help", "reco001", ("question_mark",)),
    Shot("marks", "reco001/1/3", ("space", "space", "space", "a")),
    Shot("timeline", "reco001", ("i",)),
    Shot("wall", "reco001", ("Z",)),
    Shot("tasks", "skim", ("J",)),
    Shot("task", "skim"),
    Shot("small", "reco001/1/4/1", (), (80, 24)),
    Shot("large", "reco001/1/4/1", (), (120, 40)),
    Shot("wide", "reco001/1/9/1", (), (200, 60)),
    Shot("huge", "reco001/1/9/1", (), (300, 100)),
    Shot("light", "reco001/1/4/1", (), (120, 36), Terminal(theme="light")),
    Shot("colour-blind", "reco001/1/4/1", (), (120, 36), Terminal(theme="colour-blind")),
    Shot("plain", "reco001/1/4/1", (), (80, 24), Terminal(ascii=True, plain=True)),
)


def d0ctl(home: Home, *words: str) -> str:
    """What a command prints. Raises CalledProcessError where it fails."""
    environment = os.environ | {"D0CTL_HOME": str(home.root)}
    return subprocess.run(
        [PROGRAM, *words], check=True, capture_output=True, text=True, env=environment
    ).stdout


@contextmanager
def at_work(folder: Path) -> Iterator[Home]:
    """A home with a daemon."""
    home = Home(folder / ".local" / "share" / "d0ctl")
    home.root.parent.mkdir(parents=True)
    d0ctl(home, "daemon", "start")
    try:
        yield home
    finally:
        d0ctl(home, "daemon", "stop")


async def take(home: Home, shot: Shot) -> None:
    """Open the dashboard, press the keys, write what is seen."""
    app = Dashboard(home, shot.terminal, "emmy", shot.start)
    async with app.run_test(size=shot.size) as hands:
        await hands.pause(REST_S)
        for key in shot.keys:
            await hands.press(key)
            await hands.pause(0.05)
        await hands.pause(REST_S)
        picture = app.export_screenshot(title=f"d0ctl tui {shot.start}")
        strips = app.screen._compositor.render_strips()
    text = "\n".join(strip.text.rstrip() for strip in strips) + "\n"
    write(f"{shot.name}.svg", picture.replace("<text ", KEEP_BLANKS))
    write(f"{shot.name}.txt", text)
    print(f"docs/screens/{shot.name}.svg")


def write(name: str, picture: str) -> None:
    """Write what is seen, with the folder that a user would have."""
    folder = str(Path.home())
    assert len(folder) == len(SHOWN_FOLDER)
    (FOLDER / name).write_text(picture.replace(folder, SHOWN_FOLDER))


async def photograph(home: Home, profile: Path) -> None:
    """Open the dashboard in a browser, and write what its page looks like."""
    environment = os.environ | {"D0CTL_HOME": str(home.root)}
    pipe = asyncio.subprocess.PIPE
    server = await asyncio.create_subprocess_exec(
        PROGRAM,
        "tui",
        "--web",
        "reco001/1/4/1",
        env=environment,
        stdout=pipe,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        assert server.stdout is not None
        link = ""
        while not (found := re.search(r"http://\S+token=\S+", link)):
            link = (await server.stdout.readline()).decode()
            assert link, "the server has ended"
        async with browser(profile, "1200,760") as page:
            await page.open(found[0])
            await page.sees("reco001", "corrupt block")
            await asyncio.sleep(REST_S)
            taken = await page.call("Page.captureScreenshot", format="png")
        (FOLDER / "browser.png").write_bytes(base64.b64decode(taken["data"]))
        print("docs/screens/browser.png")
    finally:
        server.send_signal(signal.SIGINT)
        await server.wait()


async def photograph_report(home: Home, folder: Path) -> None:
    """Write what the page of the report of a job looks like."""
    d0ctl(home, "report", "usage", "zpeak", "--html", str(folder / "report.html"))
    async with browser(folder / "profile", "1312,1400") as page:
        await page.open(f"file://{folder}/report.html")
        await page.sees("zpeak")
        height = await page.run("document.documentElement.scrollHeight")
        whole = {"x": 0, "y": 0, "width": 1312, "height": height, "scale": 1}
        taken = await page.call("Page.captureScreenshot", format="png", clip=whole,
                                captureBeyondViewport=True)  # fmt: skip
    (FOLDER / "report.png").write_bytes(base64.b64decode(taken["data"]))
    print("docs/screens/report.png")


def ended(home: Home, job: str) -> Callable[[], bool]:
    """Whether nothing of a job moves any more."""
    words = '"ended": null'
    return lambda: words not in d0ctl(home, "status", job, "--json").split('"stages"')[0]


def main() -> int:
    """Make all pictures."""
    FOLDER.mkdir(exist_ok=True)
    os.environ["TZ"] = "UTC"
    time.tzset()
    with (
        tempfile.TemporaryDirectory(dir="/tmp", prefix="") as folder,
        at_work(Path(folder)) as home,
    ):
        os.environ["HOME"] = folder
        d0ctl(home, "submit", str(ROOT / "tests/screens/reco.yaml"))
        wait_until(ended(home, "reco001"), 120, "reco001 ends")
        d0ctl(home, "task", "submit", str(ROOT / "tests/screens/skim.yaml"))
        wait_until(
            lambda: '"finished"' in d0ctl(home, "task", "status", "skim", "--json"),
            120,
            "skim ends",
        )
        zpeak = str(ROOT / "examples/zpeak/job.yaml")
        d0ctl(home, "submit", zpeak, "--set", f"python={sys.executable}")
        wait_until(
            lambda: "successful" in d0ctl(home, "status", "zpeak/1/3"), 240, "some lines end"
        )
        for shot in RUNNING:
            asyncio.run(take(home, shot))
        wait_until(ended(home, "zpeak"), 240, "zpeak ends")
        for shot in ENDED:
            asyncio.run(take(home, shot))
        asyncio.run(photograph(home, Path(folder) / "profile"))
        asyncio.run(photograph_report(home, Path(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
