"""`status --watch` on a terminal: drawn in place, never cleared, and left as it was."""

import signal
from pathlib import Path

import pytest

from d0ctl.cli.terminal.live_screen import LiveScreen
from d0ctl.show.drawing.sheet import Sheet
from tests.cli.conftest import Type
from tests.cli.test_check import drive
from tests.cli.test_rehearse import JOB
from tests.support.building import production
from tests.support.live import live
from tests.support.site import Site

ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"


def test_a_change_is_drawn_in_place_without_clearing_the_screen(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    with live("status", "prod", "--watch", columns=100, rows=60) as screen:
        screen.expect("0 of 8 packages done")
        d0ctl("hold", "prod", "--reason", "wrong geometry")
        screen.expect("wrong geometry")
        raw = screen.raw

    assert raw.count(ENTER) == 1
    assert "\x1b[2J" not in raw
    assert "\x1b[J" not in raw
    assert raw.count("A production") == 1  # this row has not changed, so it was not sent again


def test_it_quits_by_a_key_and_leaves_the_terminal_as_it_was(site: Site) -> None:
    site.submit(production())

    with live("status", "--watch") as screen:
        screen.expect("q: quit")
        screen.press("q")

        assert screen.end() == 0
        assert screen.raw.endswith("\x1b[?7h\x1b[?25h" + LEAVE)


def test_a_signal_leaves_the_terminal_as_it_was(site: Site) -> None:
    site.submit(production())

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        with live("status", "--watch") as screen:
            screen.expect("q: quit")
            screen.process.send_signal(number)

            assert screen.end() == 128 + number
            assert screen.raw.endswith(LEAVE)


def test_the_page_follows_the_size_of_the_terminal_and_scrolls(site: Site) -> None:
    site.submit(production(lines=30))
    site.fail("prod/1/1/1", stderr="\n".join(f"word {n} " * 20 for n in range(5)))

    with live("status", "prod", "--watch", rows=12) as screen:
        screen.expect("lines 1 to 11 of")
        assert len(screen.rows) == 12
        assert max(map(len, screen.rows)) <= 80
        screen.press(" ")
        screen.expect("lines 11 to 21 of")
        screen.press("k")
        screen.expect("lines 10 to 20 of")
        screen.resize(200, 100)
        screen.expect("actions of people")

        assert screen.rows[1:3] == ["", "prod  A production"]
        assert any(len(row) > 100 for row in screen.rows)


def test_keys_that_arrive_together_all_count(site: Site) -> None:
    site.submit(production(lines=30))

    with live("status", "prod", "--watch", rows=12) as screen:
        screen.expect("lines 1 to 11 of")
        screen.press("jj\x1b[Bj")
        screen.expect("lines 5 to 15 of")
        screen.press("kq")

        assert screen.end() == 0


def test_the_rest_of_a_row_is_erased_behind_blanks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LiveScreen, "size", (20, 4))
    screen, page = LiveScreen(), Sheet(20)
    page.add(("3 waiting", ""), (" " * 11, ""))
    page.add(("x" * 20, ""))

    screen.draw(page, 0.0)

    first, second = capsys.readouterr().out.split("\x1b[2;1H")
    assert "3 waiting\x1b[K" in first
    assert second.startswith("x" * 20 + "\x1b[3;1H")


def test_a_page_that_fits_is_as_wide_as_the_terminal_also_without_watching(site: Site) -> None:
    site.submit(production())
    site.fail("prod/1/1/1", detail="a long story " * 20)

    for columns in (80, 120, 200):
        with live("status", "prod", columns=columns) as screen:
            screen.end()
            lines = screen.raw.splitlines()

        assert columns - 20 < max(map(len, lines)) <= columns


def test_the_list_uses_the_width_for_bars_and_says_when_jobs_end(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "mc.yaml").write_text(JOB)
    drive(site)
    d0ctl("submit", str(tmp_path / "mc.yaml"))
    site.submit(production())
    site.fail("prod/1/1/1")
    bars = []

    for columns in (80, 120, 200):
        with live("status", columns=columns) as screen:
            screen.end()
            lines = screen.raw.splitlines()
        assert max(map(len, lines)) <= columns
        assert lines[0].startswith("1 failed")
        row = next(line for line in lines if line.startswith("mc "))
        bars.append(row.count("─"))
        assert ("ends about" in row) == (columns > 80)

    assert bars[0] < bars[2]
    assert "0 of 29 packages done" in lines[0]


def test_it_does_not_advise_the_command_that_was_typed(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.up()
    site.launch("prod/1/1/1")
    drive(site)

    assert "d0ctl status prod --watch" in d0ctl("status", "prod").stdout
    with live("status", "prod", "--watch", columns=100, rows=60) as screen:
        screen.expect("is running")
        assert "d0ctl status prod --watch" not in "\n".join(screen.rows)
