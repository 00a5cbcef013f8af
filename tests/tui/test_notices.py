"""Notices about chosen jobs: bell, desktop, title of the window; in the row, and off."""

import time
from collections.abc import Iterator

import pytest

from d0ctl import select
from d0ctl.actions import apply, request
from d0ctl.store.history import notable
from d0ctl.store.history.notable import JobState
from d0ctl_tui.watch import terminal_notices
from tests.cli.test_pause import say
from tests.support import rows
from tests.support.building import job, line, package, production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open
from tests.tui.test_terminal import PROGRAM, Screen


def state(
    *, failed: int = 0, new: str = "", ended: float | None = None, is_reported: bool = False
) -> JobState:
    """A job of eight packages, five of which are done."""
    return JobState(1, "prod", ended, 8, 5, failed, new, is_reported=is_reported)


def test_only_the_first_failure_and_the_end_give_notice() -> None:
    about = terminal_notices.about
    first = state(failed=2, new="prod/1/2/1 exit-code")

    assert about(state(), state()) == ""
    assert about(state(), first) == "prod has its first failure: prod/1/2/1 exit-code"
    assert about(state(failed=1), first) == "prod has another failure: prod/1/2/1 exit-code"
    assert about(state(failed=1, is_reported=True), first) == ""
    assert about(state(), state(ended=1.0)) == "prod has ended: 5 of 8 packages done"
    assert about(state(failed=1), state(failed=3, ended=1.0)).endswith("done, 3 failed")


def test_a_notice_rings_and_asks_for_a_desktop_notification_in_two_ways() -> None:
    assert terminal_notices.notice("a; b\x1b]0;x\a", in_tmux=False).count("\x1b") == 2
    assert terminal_notices.notice("done", in_tmux=False) == (
        "\a\x1b]9;done\a\x1b]777;notify;d0ctl;done\a"
    )


def test_tmux_gets_the_notice_in_an_envelope() -> None:
    answer = terminal_notices.notice("done", in_tmux=True)

    assert answer.startswith("\a\x1bPtmux;\x1b\x1b]9;done\a") and answer.endswith("\x1b\\")


def test_states_of_jobs_have_counts_and_the_first_failure_after_an_event(site: Site) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    site.fail("prod/1/2/1")
    job = site.id_of("prod")

    (one,) = notable.states(site.store, {job: 0, 999: 0})
    (later,) = notable.states(site.store, {job: one.last_event})

    assert (one.name, one.done, one.failed, one.ended) == ("prod", 1, 1, None)
    assert one.new_failure == "prod/1/2/1 exit-code"
    assert (later.failed, later.new_failure) == (1, "")


def test_b_chooses_a_job_and_its_row_says_so(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.sees("prod  A production")
        await desk.press("b")
        await desk.sees("prod ♪  A production", "notice when prod first fails or ends")
        site.fail("prod/1/2/1")
        await desk.sees("prod has its first failure: prod/1/2/1 exit-code")
        rows.change(site.store, "job", ended=time.time())
        await desk.sees("prod has ended: 0 of 8 packages done, 1 failed")
        await desk.misses("♪")

    dashboard(script)


def test_a_job_with_failures_gives_notice_of_the_next_one_only(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")
    seen = request("acknowledge", select.parse("prod"))
    apply(site.store, seen, actor="ada", note="known", now=time.time())

    async def script(desk: Desk) -> None:
        await desk.sees("prod  A production")
        await desk.press("b")
        await desk.sees("prod ♪  A production")
        site.fail("prod/1/3/1")
        await desk.sees("prod has another failure: prod/1/3/1 exit-code")
        site.fail("prod/1/1/1")
        rows.change(site.store, "job", ended=time.time())
        await desk.sees("prod has ended: 0 of 8 packages done, 3 failed")

    dashboard(script)


def test_without_a_job_there_is_nothing_to_choose(site: Site, dashboard: Open) -> None:
    async def script(desk: Desk) -> None:
        await desk.press("b")
        await desk.sees("choose a job")

    dashboard(script)


@pytest.fixture
def screens(site: Site) -> Iterator[list[Screen]]:
    """Terminals, which are closed at the end."""
    opened: list[Screen] = []
    yield opened
    for one in opened:
        one.program.kill()
        one.program.wait()


def test_the_terminal_gets_bell_notices_and_a_title_that_is_given_back(
    site: Site, screens: list[Screen], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TMUX", raising=False)
    site.submit(production())
    screen = Screen(PROGRAM, "tui", home=site.store.home.root)
    screens.append(screen)
    screen.sees(b"prod")
    screen.type(b"b")
    screen.sees("♪".encode())
    site.fail("prod/1/2/1")

    screen.sees(b"\a\x1b]9;prod has its first failure: prod/1/2/1 exit-code\a\x1b]777;notify;")
    screen.sees(b"\x1b]2;" + "✘ 1 d0ctl".encode() + b"\a")
    assert b"\x1b[22;2t\x1b]2;" in screen.read()

    rows.change(site.store, "job", ended=time.time())

    ended = b"prod has ended: 0 of 8 packages done, 1 failed"
    screen.sees(b"\a\x1b]9;" + ended + b"\a\x1b]777;notify;d0ctl;" + ended + b"\a")

    screen.type(b"q")
    screen.sees(b"\x1b[23;2t")


def test_the_title_follows_what_is_read_later(
    site: Site, screens: list[Screen], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TMUX", raising=False)
    site.submit(production())
    screen = Screen(PROGRAM, "tui", "--interval", "5", home=site.store.home.root)
    screens.append(screen)
    screen.sees(b"\x1b]2;d0ctl\a")

    site.fail("prod/1/2/1")

    screen.sees(b"\x1b]2;" + "✘ 1 d0ctl".encode() + b"\a")


def test_the_title_counts_packages_that_run_and_not_their_slots(
    site: Site, screens: list[Screen], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TMUX", raising=False)
    site.submit(job(("make", [line(package(f"gen-{n}", cpus=2)) for n in range(3)])))
    attempts = [site.launch(f"prod/1/{number}/1") for number in (1, 2, 3)]
    say(site, attempts[-1], "suspended", 2)
    screen = Screen(PROGRAM, "tui", home=site.store.home.root)
    screens.append(screen)

    screen.sees(b"\x1b]2;" + "▶ 2 d0ctl".encode() + b"\a")


def test_the_option_no_notices_turns_notices_off(
    site: Site, screens: list[Screen], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("D0CTL_NO_NOTICES", "1")
    site.submit(production())
    screen = Screen(PROGRAM, "tui", home=site.store.home.root)
    screens.append(screen)
    screen.sees(b"prod")
    screen.type(b"b")
    screen.sees(b"the bell is off")
    site.fail("prod/1/2/1")

    screen.sees(b"has its first failure")

    sent = screen.read()
    assert [one for one in (b"\x1b]9;", b"\x1b]777;", b"\x1b]2;") if one in sent] == []


def test_a_notice_gives_the_last_line_back_at_the_next_key(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("t")
        await desk.sees("only a package has a log: choose one")
        await desk.press("j")
        await desk.misses("only a package has a log")
        assert "? more" in desk.lines("footer")[0]

    dashboard(script, size=(80, 24))


def test_a_notice_about_a_job_stays_while_keys_are_pressed(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("b")
        await desk.sees("♪")
        site.fail("prod/1/2/1")
        await desk.sees("prod has its first failure")
        await desk.press("j")
        await desk.until(lambda: desk.main.tree_view.cursor == 1, "one line down")
        assert "prod has its first failure" in desk.lines("footer")[0]

    dashboard(script)


@pytest.mark.parametrize(("key", "sign"), [("x", "x"), ("ctrl+g", "ctrl+g"), ("f7", "f7")])
def test_a_key_without_a_command_is_answered(
    site: Site, dashboard: Open, key: str, sign: str
) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press(key)
        await desk.sees(f"no command on `{sign}`: `?` lists the keys")
        await desk.press("j")
        await desk.misses("no command on")
        await desk.press("o")
        await desk.sees("localhost  this machine")
        await desk.press(key)
        await desk.sees(f"no command on `{sign}`: `?` lists the keys")
        await desk.press("question_mark")
        await desk.sees("keys", "moving")
        await desk.press(key)
        await desk.misses("no command on")

    dashboard(script)
