"""How each screen looks, compared with an accepted picture; `D0CTL_DRAW=1` draws them again."""

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from d0ctl_tui.terminal import Terminal
from tests.cli.conftest import type_in
from tests.cli.test_standing import drive
from tests.support.building import production
from tests.support.site import Site
from tests.tasks import making
from tests.tui.conftest import Desk, Open

FOLDER = Path(__file__).with_name("screens")

PLAIN = Terminal(ascii=True, plain=True)
PLENTY = Terminal()

RETRIED = ("m", "e", "m", "o", "r", "y", "equals_sign", "8", "G", "B")

SCREENS: dict[str, tuple[str | None, tuple[str, ...], tuple[int, int], Terminal]] = {
    "jobs": (None, (), (120, 36), PLENTY),
    "jobs-80x24": (None, (), (80, 24), PLENTY),
    "jobs-plain": (None, (), (80, 24), PLAIN),
    "jobs-wide": (None, (), (200, 60), PLENTY),
    "line": ("prod/1/2", (), (120, 36), PLENTY),
    "stage": ("prod/1", ("l",), (120, 36), PLENTY),
    "failed": ("prod/1/2/1", (), (120, 36), PLENTY),
    "failed-80x24": ("prod/1/2/1", (), (80, 24), PLENTY),
    "failed-whole": ("prod/1/2/1", ("v",), (100, 40), PLENTY),
    "waiting": ("prod/2/1/1", (), (120, 36), PLENTY),
    "marks": ("prod/1/1", ("space", "space"), (100, 30), PLENTY),
    "broad": ("prod/1/2/1", ("greater_than_sign",), (120, 30), PLENTY),
    "failures": ("prod", ("F", "space"), (120, 30), PLENTY),
    "nodes": ("prod", ("o",), (120, 30), PLENTY),
    "help": ("prod", ("question_mark",), (120, 40), PLENTY),
    "help-80x24": ("prod", ("question_mark",), (80, 24), PLAIN),
    "palette": ("prod", ("colon", "h", "o", "l", "d"), (100, 30), PLENTY),
    "filter": ("prod/1", ("f",), (100, 34), PLENTY),
    "filtered": ("prod/1", ("f", "enter"), (100, 30), PLENTY),
    "drop": ("prod/1/2", ("D",), (100, 30), PLENTY),
    "hold": ("prod", ("H", "w", "h", "y"), (80, 24), PLAIN),
    "retry": ("prod/1/2/1", ("R", "shift+tab", *RETRIED, "enter"), (100, 30), PLENTY),
}

TASK_SCREENS: dict[str, tuple[str | None, tuple[str, ...], tuple[int, int], Terminal]] = {
    "task": ("reco", (), (120, 40), PLENTY),
    "task-80x24": ("calib", (), (80, 24), PLENTY),
    "task-verb": ("skim", ("K",), (80, 24), PLAIN),
    "tasks": ("reco", ("J",), (120, 40), PLENTY),
    "tasks-80x24": ("calib", ("J",), (80, 24), PLAIN),
}

NOW = 1_034_000_000.0
"""When all of it happens."""


@pytest.fixture(autouse=True)
def still(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The clock stands still, and the home is always called the same."""
    monkeypatch.setattr(time, "time", lambda: NOW)
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("HOME", str(tmp_path))
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def with_a_failure(site: Site) -> None:
    """A production with a line that has begun, one that failed and one that runs."""
    site.submit(production())
    site.finish("prod/1/1/1")
    site.fail("prod/1/2/1", stderr="opening raw-2\nFatal: corrupt block\n")
    site.launch("prod/1/3/1")


@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_looks_as_it_did(site: Site, dashboard: Open, name: str) -> None:
    site.submit(production("done", lines=2))
    for path in ("1/1/1", "1/1/2", "1/2/1", "1/2/2", "2/1/1", "3/1/1"):
        site.finish(f"done/{path}")
    with_a_failure(site)
    compare(dashboard, name, *SCREENS[name])


@pytest.mark.parametrize("name", TASK_SCREENS)
def test_tasks_look_as_they_did(site: Site, dashboard: Open, tmp_path: Path, name: str) -> None:
    site.submit(production("prod"))
    tens = "{files-per-package: 10, at-once: yes}"
    making.submit(site.store, now=NOW, name="reco", split=tens, more="title: Reconstruction")
    making.submit(site.store, now=NOW, name="skim", split="{scouts: 4, target-time: 1h}")
    making.submit(site.store, tmp_path, NOW, name="calib", inputs="{raw: {csv: none.csv}}")
    making.work(site.store, NOW)
    for line in range(1, 4):
        site.finish(f"reco/1/{line}/1")
    site.finish("skim/1/1/1")
    making.work(site.store, NOW)
    compare(dashboard, name, *TASK_SCREENS[name])


def compare(
    dashboard: Open, name: str, start: str | None, keys: tuple[str, ...], size: tuple[int, int],
    terminal: Terminal,
) -> None:  # fmt: skip
    """Compare a screen with its accepted picture, or draw that again."""
    kept = FOLDER / f"{name}.txt"
    expected = "" if os.environ.get("D0CTL_DRAW") else kept.read_text()
    seen: list[str] = []

    async def script(desk: Desk) -> None:
        await desk.sees("d0ctl")
        for key in keys:
            await desk.press(key)
            await desk.hands.pause(0.05)
        await settle(desk, lambda: desk.screen + "\n" == expected)
        seen.append(desk.screen)

    dashboard(script, size=size, start=start, terminal=terminal)

    if not expected:
        FOLDER.mkdir(exist_ok=True)
        kept.write_text(seen[0] + "\n")
    assert seen[0] + "\n" == kept.read_text()


async def settle(desk: Desk, is_expected: Callable[[], bool]) -> None:
    """Return once a drawn screen is as expected at several looks, or stays the same at many."""
    looks: list[str] = []
    while len(looks) < (3 if is_expected() else 40):
        await asyncio.sleep(0.1)
        look = desk.screen
        if not desk.is_drawn or set(looks) - {look}:
            looks.clear()
        else:
            looks.append(look)


def test_command_line_and_dashboard_say_the_same_of_a_package(
    site: Site, dashboard: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("D0CTL_HOME", str(tmp_path / "home"))
    site.submit(production())
    site.finish("prod/1/1/1")
    site.fail("prod/1/1/2", stderr="opening gen-1\nFatal: corrupt block\n")
    *printed, _, commands = type_in("status", "prod/1/1/2").stdout.splitlines()
    seen: list[str] = []

    def missing(desk: Desk) -> list[str]:
        shown = {line.strip() for line in desk.screen.splitlines()}
        return [line for line in printed if line.strip() not in shown]

    async def script(desk: Desk) -> None:
        await desk.press("v")
        await desk.sees("every change")
        await settle(desk, lambda: not missing(desk))
        seen.extend(missing(desk))

    dashboard(script, size=(300, 80), start="prod/1/1/2")

    assert {"why", "failure history", "stderr", "attempts", "inputs", "outputs"} <= {
        line.split("  ")[0] for line in printed
    }
    assert seen == []
    assert commands == "d0ctl logs prod/1/1/2    d0ctl history prod/1/1/2"


CARDS = ("file `", "prod", "node `localhost`")
"""What cards begin with; above the card of a job, `status` says what stops all jobs."""


@pytest.mark.parametrize(
    "keys, sign, typed, expected",
    [
        (("v",), "stages", ("status", "prod"), "stages"),
        (("slash", *"prod:gen", "minus", "2", "enter"), "file  prod:gen-2",
         ("why", "prod:gen-2"), "does not exist yet"),
        (("slash", *"prod", "slash", "1", "slash", "2", "slash", "1", "slash", "1", "enter"),
         "binary  prod/1/2/1/1", ("status", "prod/1/2/1/1"), "command"),
        (("o",), "running here", ("why", "localhost"), "is up, with 3 of 4 slots free"),
    ],
    ids=["job", "file", "binary", "node"],
)  # fmt: skip
def test_command_line_and_dashboard_say_the_same_of_a(
    keys: tuple[str, ...], sign: str, typed: tuple[str, ...], expected: str,
    site: Site, dashboard: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("D0CTL_HOME", str(tmp_path / "home"))
    with_a_failure(site)
    printed = [line.strip() for line in type_in(*typed).stdout.splitlines()]
    card = printed[[line.startswith(CARDS) for line in printed].index(True) :]
    seen: list[str] = []

    def missing(desk: Desk) -> list[str]:
        shown = {line.strip() for line in desk.screen.splitlines()}
        lines = [line for line in card if line and line not in shown]
        return [line for line in lines if not line.startswith("d0ctl ")]

    async def script(desk: Desk) -> None:
        await desk.sees("A production")
        for key in keys:
            await desk.press({":": "colon"}.get(key, key))
        await desk.sees(sign)
        await settle(desk, lambda: not missing(desk))
        seen.extend(missing(desk))

    dashboard(script, size=(300, 80), start="prod")

    assert any(expected in line for line in printed), printed
    assert seen == []


DROP = ("kill-line", "prod/1/2", "--drop-outputs")
PLAN = ("D",)

THINGS = {
    "stage": ("prod/1", ("v",), ("status", "prod/1"), "3 lines"),
    "line": ("prod/1/2", ("v",), ("status", "prod/1/2"), "0 of 2 packages done"),
    "why": ("prod/1/2/2", ("v",), ("why", "prod/1/2/2"), "is blocked: it waits for package"),
    "plan": ("prod/1/2", PLAN, (*DROP, "--dry-run"), "would drop 2 packages"),
    "outcome": ("prod/1/2", (*PLAN, "enter"), (*DROP, "--yes"), "dropped 2 packages"),
}
"""Where the dashboard is opened, the keys, the command, and what both say."""


@pytest.mark.parametrize("name", THINGS)
def test_each_line_that_a_command_prints_is_on_the_dashboard(
    site: Site, dashboard: Open, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, keys, words, expected = THINGS[name]
    monkeypatch.setenv("D0CTL_HOME", str(site.home.root))
    drive(site)
    with_a_failure(site)
    printed = [line.strip() for line in type_in(*words).stdout.splitlines() if line.strip()]
    if name == "outcome":
        type_in("restore-line", "prod/1/2", "--yes")
    seen: list[str] = []

    def missing(desk: Desk) -> list[str]:
        return [line for line in printed if line not in desk.screen]

    async def script(desk: Desk) -> None:
        await desk.sees("A production")
        for key in keys:
            if key == "enter" and name == "outcome":
                await desk.sees("would drop 2 packages")
            await desk.press(key)
        await settle(desk, lambda: not missing(desk))
        seen.extend(missing(desk))

    dashboard(script, size=(300, 80), start=start)

    assert any(expected in line for line in printed), printed
    assert seen == []


def test_failures_have_their_reason_node_number_and_message_in_both(
    site: Site, dashboard: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("D0CTL_HOME", str(site.home.root))
    drive(site)
    with_a_failure(site)
    facts = ("1", "exit-code", "localhost", "14:13:20", "binary 1 (tool) ended with exit code 3")
    printed = type_in("report", "failures", "prod").stdout

    async def script(desk: Desk) -> None:
        await desk.press("F")
        await desk.sees(*facts)

    dashboard(script, size=(300, 80), start="prod")

    assert [fact for fact in facts if fact not in printed] == []
