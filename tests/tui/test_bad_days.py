"""Bad days: nothing of them ends the dashboard, and nothing stale is shown as fresh."""

import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from d0ctl.actions import apply, request
from d0ctl.config import Home
from d0ctl.select import parse
from d0ctl.store import open_store
from d0ctl.store.backup import back_up, restore
from d0ctl.store.nodes.registry import add_localhost
from d0ctl_tui.terminal import Terminal
from tests.support.building import job, line, package, production
from tests.support.rows import change, checkpoint
from tests.support.site import Site
from tests.tui.conftest import Desk, Open


def test_a_database_that_vanishes_leaves_what_is_known_marked_as_stale(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    database = site.store.home.database
    aside = database.with_suffix(".aside")

    async def script(desk: Desk) -> None:
        await desk.sees("▾ prod")
        database.rename(aside)
        await desk.sees("stale: ", "▾ prod")
        await desk.press("j", "l", "j", "l", "F", "escape", "o", "escape", "n", "f", "escape")
        aside.rename(database)
        await desk.misses("stale: ")
        await desk.sees("▾ prod")

    dashboard(script, draws=True)


def test_a_database_that_is_replaced_is_read_anew(
    site: Site, dashboard: Open, tmp_path: Path
) -> None:
    site.submit(production("before"))
    other = Home(tmp_path / "other")
    with open_store(other, create=True) as store:
        add_localhost(store)
        Site.of(store).submit(production("after"))
        checkpoint(store)

    async def script(desk: Desk) -> None:
        await desk.sees("▾ before")
        aside = tmp_path / "copy.db"
        shutil.copy(other.database, aside)
        site.store.close()
        for leftover in site.store.home.root.glob("d0ctl.db-*"):
            leftover.unlink()
        aside.rename(site.store.home.database)
        await desk.sees("after  A production", "1 make")
        await desk.misses("before  A production")

    dashboard(script, draws=True)


def test_a_restored_database_has_its_own_changes_and_notices(
    site: Site, dashboard: Open, tmp_path: Path
) -> None:
    site.submit(production())
    back_up(site.store, tmp_path / "backup.db")
    for _ in range(5):
        site.fail("prod/1/1/1")
        apply(site.store, request("retry", parse("prod")), actor="me", note=None, now=time.time())

    async def script(desk: Desk) -> None:
        await desk.press("c", "b")
        await desk.sees("notice when prod", "prod/1/1/1 ready")
        site.store.close()
        restore(site.home, tmp_path / "backup.db", now=time.time())
        await desk.misses("prod/1/1/1 ready")
        await desk.until(
            lambda: not any(job.last_event for job in desk.app.source.followed.values())
        )
        with open_store(site.home) as store:
            Site.of(store).fail("prod/1/2/1")
        await desk.sees("✘ prod/1/2/1 failed", "prod has its first failure: prod/1/2/1")

    dashboard(script)


def test_a_newer_schema_is_reported_and_the_rest_stays_as_it_was(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.sees("▾ prod")
        database = site.store.home.database
        newer = database.with_suffix(".newer")
        site.store.connection.execute("vacuum into ?", [str(newer)])
        with sqlite3.connect(newer) as made:
            made.execute("update _sqlite_migrations set name = '999_newer'")
        # Else the new file would be read together with the log of the old one.
        checkpoint(site.store)
        newer.rename(database)
        await desk.sees("was written by a newer d0ctl", "▾ prod")

    dashboard(script, draws=True)


def test_a_lock_that_is_held_long_does_not_stop_reading(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.sees("▾ prod")
        with site.store.writing():
            await desk.press("j", "l", "v", "escape", "G", "g")
            await desk.sees("▸ 1")

    dashboard(script, draws=True)


def test_a_job_removed_while_selected_disappears(site: Site, dashboard: Open) -> None:
    site.submit(production("stays"))
    site.submit(production("goes"))

    async def script(desk: Desk) -> None:
        await desk.until(lambda: desk.main.tree_view.selector == "goes/1/2/1")
        apply(site.store, request("remove", parse("goes")), actor="me", note=None, now=time.time())
        await desk.misses("goes  A production")
        await desk.sees("▸ stays")
        await desk.press("j", "k", "l", "n", "t")
        await desk.sees("stays")

    dashboard(script, start="goes/1/2/1", draws=True)


NAMES = (
    *("[bold]x[/bold]", "a\x1b[2J\x1b]0;pwned\x07", "日本語の名前🚀"),
    *("e\u0301\u0301\u200d", "\u202egnol"),
)


def test_escapes_in_names_are_shown_and_not_executed(site: Site, dashboard: Open) -> None:
    lines = [line(package(f"file-{n}", name=name), name=name) for n, name in enumerate(NAMES)]
    site.submit(job(("[red]stage", lines), name="odd", title="\x1b[31m[blink]title"))
    site.fail("odd/1/2/1", detail="\x1b[2J[/nope]", stderr="\x1b[2J\x07[bold]\n日本\n")

    async def script(desk: Desk) -> None:
        await desk.sees("[red]stage", "[bold]x[/bold]", "a\\x1b[2J", "日本語")
        assert "\x1b" not in desk.screen
        for keys in (["v", "escape"], ["F", "space", "escape"], ["t", "escape"],
                     ["D", "escape"], ["n"], ["slash", *"odd", "escape"]):  # fmt: skip
            await desk.press(*keys)
            assert "\x1b" not in desk.screen
        for width in (40, 60, 80, 200):
            await desk.hands.resize_terminal(width, 24)
            await desk.sees("odd")

    dashboard(script, start="odd/1/2/1", size=(160, 36), draws=True)


def test_ten_thousand_failures_at_once_are_grouped_and_walked(site: Site, dashboard: Open) -> None:
    site.submit(job(("many", [line(package(name="p")) for _ in range(10_000)]), name="many"))

    async def script(desk: Desk) -> None:
        await desk.sees("many")
        with site.store.writing():
            for old, new in (
                ("ready", "assigned"),
                ("assigned", "starting"),
                ("starting", "failed"),
            ):
                change(site.store, "package", {"phase": old}, phase=new, changed=time.time())
        await desk.sees("✘ 10.0k failed")
        await desk.press("F")
        await desk.sees("10,000 failed packages")
        await desk.press("enter", "G")
        await desk.sees("many/1/10000/1")
        await desk.press("escape", "n", "right_square_bracket")
        await desk.until(lambda: desk.main.tree_view.selector == "many/1/2/1")

    dashboard(script, draws=True)


@pytest.mark.parametrize(
    ("size", "plain"),
    [((80, 24), True), ((20, 8), False), ((1, 1), True),
     pytest.param((200, 60), False, marks=pytest.mark.long)], ids=str,
)  # fmt: skip
def test_any_size_and_a_resize_at_any_time_are_drawn(
    site: Site, dashboard: Open, size: tuple[int, int], plain: bool
) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")

    async def script(desk: Desk) -> None:
        for key in ("v", "F", "question_mark", "o", "D", "colon"):
            await desk.press(key)
            await desk.hands.resize_terminal(60, 15)
            await desk.press("escape")
            await desk.hands.resize_terminal(*size)
        await desk.hands.resize_terminal(100, 30)
        await desk.sees("prod")
        if plain:
            assert desk.screen.isascii()

    dashboard(
        script,
        size=size,
        start="prod/1/2/1",
        terminal=Terminal(ascii=plain, plain=plain),
        draws=True,
    )


def test_a_clock_that_jumps_back_changes_no_more_than_times(
    site: Site, dashboard: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.sees("▾ prod")
        real = time.time
        monkeypatch.setattr(time, "time", lambda: real() - 86_400 * 3)
        site.finish("prod/1/1/1")
        await desk.sees("1/8")
        monkeypatch.setattr(time, "time", lambda: real() + 86_400 * 300)
        site.finish("prod/1/2/1")
        await desk.sees("2/8")

    dashboard(script, draws=True)


def test_a_crash_says_where_its_traceback_is(tmp_path: Path, site: Site) -> None:
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from d0ctl.config import Home\n"
        "from d0ctl_tui.app import Dashboard\n"
        "from d0ctl_tui.terminal import Terminal\n"
        "class Broken(Dashboard):\n"
        "    def on_changed(self, news):\n"
        "        raise RuntimeError('it broke')\n"
        "app = Broken(Home(Path(sys.argv[1])), Terminal(), 'emmy')\n"
        "app.run(headless=True)\n"
        "sys.exit(app.return_code)\n"
    )
    broken = tmp_path / "broken.py"
    broken.write_text(code)
    done = subprocess.run(
        [sys.executable, str(broken), str(site.store.home.root)],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip

    assert done.returncode == 1
    answer = done.stderr.replace("\n", "")
    assert "the traceback is in" in answer, done
    (kept,) = site.store.home.logs.glob("tui-*.txt")
    assert str(kept) in answer
    assert "RuntimeError: it broke" in kept.read_text()
