"""The log view: unreadable logs are reported, and long or coloured lines are readable."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from d0ctl.model import Address
from d0ctl.show.drawing.spans import text, width
from d0ctl.store.nodes import registry
from d0ctl_tui.draw.log_text import marked, shifted, spans, wrapped
from d0ctl_tui.draw.pager import Pager
from d0ctl_tui.terminal import Terminal
from tests.support.building import production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open


def write_log(site: Site, path: str, content: str) -> Path:
    """A failed package, and what its binary printed."""
    site.up(base=str(site.store.home.root / "base"))
    attempt = site.launch(path)
    log = site.store.home.root / "base" / "attempts" / str(attempt) / "1.out"
    log.parent.mkdir(parents=True)
    log.write_bytes(content.encode())
    site.end(path, "failed", reason="exit-code", exit_code=1)
    return log


def test_colours_become_styles_and_other_escapes_are_shown() -> None:
    assert spans("\x1b[31mred\x1b[0m plain") == [("red", "bad"), (" plain", "plain")]
    assert spans("\x1b[1;32mok\x1b[m") == [("ok", "good")]
    assert spans("\x1b[38;2;1;2;3mtrue\x1b[38;5;9mred") == [("true", "plain"), ("red", "bad")]
    assert spans("a\x1b[2Jb\x1b]0;title\x07") == [("a\\x1b[2Jb\\x1b]0;title\\x07", "plain")]


def test_the_last_state_of_an_overprinted_line_is_shown() -> None:
    assert spans(" 10%|#   |\r 20%|##  |\r") == [(" 20%|##  |", "plain")]


@given(st.text(max_size=200))
def test_no_log_line_sends_a_control_character(line: str) -> None:
    assert all(words.isprintable() for words, _ in spans(line))


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Mn", "Cf"]), max_size=80),
       st.integers(4, 30))  # fmt: skip
def test_a_wrapped_line_is_all_there_and_no_row_is_too_wide(line: str, columns: int) -> None:
    rows = wrapped([(line, "plain")], columns)

    assert "".join(text(row) for row in rows) == line
    assert all(width(row) <= columns for row in rows)


def test_a_line_that_is_shifted_shows_what_is_hidden_on_both_sides() -> None:
    line = [("0123456789abcdefghij", "plain")]

    assert text(shifted(line, 0, 10, "…")) == "012345678…"
    assert text(shifted(line, 5, 10, "…")) == "…6789abcd…"
    assert text(shifted(line, 10, 10, "…")) == "…bcdefghij"
    assert text(shifted(line, 0, 20, "…")) == line[0][0]


def test_a_match_is_brought_out_across_colours() -> None:
    assert marked([("no cal", "bad"), ("ibration", "plain")], "CALIB") == [
        ("no ", "bad"), ("cal", "match"), ("ib", "match"), ("ration", "plain"),
    ]  # fmt: skip


@given(st.lists(st.text("ab ", max_size=30), min_size=1, max_size=20), st.integers(1, 6))
def test_in_wrapped_lines_every_row_is_passed_once_up_and_down(
    lines: list[str], height: int
) -> None:
    data = "".join(f"{line}\n" for line in lines).encode()
    pager = Pager(lambda at, length: data[at : at + length], size=len(data),
                  rows=lambda line: max(1, -(-cell_len(line) // 8)))  # fmt: skip
    places = [(pager.top, pager.row)]
    for _ in range(1 + sum(map(pager.rows, lines))):
        pager.forward(1, height)
        places.append((pager.top, pager.row))
    back = [(pager.top, pager.row)]
    for _ in range(1 + sum(map(pager.rows, lines))):
        pager.backward(1)
        back.append((pager.top, pager.row))
    down, up = list(dict.fromkeys(places)), list(dict.fromkeys(back))

    assert up == down[::-1]
    assert len(down) == max(1, sum(pager.rows(line) for line in lines) - height + 1)


def test_a_log_that_cannot_be_read_is_not_shown_as_empty_and_r_tries_again(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    registry.add(site.store, Address("gone", "ssh", "emmy@127.0.0.1:1"), cpus=1)
    site.up("gone", machine_id="gone")
    site.launch("prod/1/1/1", "gone")
    site.end("prod/1/1/1", "failed", reason="exit-code", exit_code=1)

    async def script(desk: Desk) -> None:
        await desk.press("t")
        await desk.sees("unreadable", "this log can't be read: ", "r tries again")
        await desk.misses("nothing was printed")
        await desk.press("r")
        await desk.sees("this log can't be read: ")

    dashboard(script, start="prod/1/1/1")


def test_a_log_that_was_removed_is_not_shown_as_empty_and_is_read_when_it_is_back(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    log = write_log(site, "prod/1/1/1", "it is here\n")
    aside = log.parent.with_name("aside")
    log.parent.rename(aside)

    async def script(desk: Desk) -> None:
        await desk.press("t")
        await desk.sees("unreadable", "the folder of attempt 1 no longer exists")
        aside.rename(log.parent)
        await desk.press("r")
        await desk.sees("it is here", "100 %")

    dashboard(script, start="prod/1/1/1")


def test_keys_for_another_binary_or_attempt_say_that_there_is_none(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    write_log(site, "prod/1/1/1", "it is here\n")

    async def script(desk: Desk) -> None:
        await desk.press("t")
        await desk.sees("it is here", "100 %")
        await desk.press("b")
        await desk.sees("this package has one binary")
        await desk.press("a")
        await desk.sees("this package has had one attempt")

    dashboard(script, start="prod/1/1/1")


def test_an_empty_log_is_shown_as_empty(site: Site, dashboard: Open) -> None:
    site.submit(production())
    write_log(site, "prod/1/1/1", "")

    async def script(desk: Desk) -> None:
        await desk.press("t")
        await desk.sees("nothing was printed", "0 B")

    dashboard(script, start="prod/1/1/1")


def test_a_long_line_is_scrolled_sideways_and_wrapped(site: Site, dashboard: Open) -> None:
    site.submit(production())
    lines = [f"line {n}" for n in range(100)] + ["x" * 300 + "MIDDLE" + "y" * 300 + " END"]
    write_log(site, "prod/1/1/1", "\n".join(lines) + "\n")

    async def script(desk: Desk) -> None:
        await desk.press("t")
        await desk.sees("xxx…")
        await desk.misses("END")
        await desk.press(*["right"] * 11)
        await desk.sees("END")
        await desk.press(*["left"] * 11)
        await desk.sees("line 99")
        await desk.press("w")
        await desk.sees("wrapped", "MIDDLE", "END")
        await desk.press("g")
        await desk.sees("line 0")
        await desk.press("G")
        await desk.sees("END")
        await desk.press("w", "slash")
        await desk.type("middle")
        await desk.press("enter")
        await desk.press("g", "n")
        await desk.sees("xMIDDLEy")

    dashboard(script, start="prod/1/1/1", size=(100, 24))


def test_a_log_is_searched_by_a_regular_expression(site: Site, dashboard: Open) -> None:
    site.submit(production())
    write_log(site, "prod/1/1/1", "".join(f"event {n} took {n % 7} s\n" for n in range(2000)))

    async def script(desk: Desk) -> None:
        async def search(text: str) -> None:
            await desk.press("slash")
            await desk.sees("~ begins a regular expression")
            await desk.press("ctrl+u")
            await desk.hands.press(*text)
            await desk.press("enter")

        await desk.press("t")
        await desk.sees("event 1999 took 4 s")
        await desk.press("g")
        await desk.sees("event 0 took 0 s")
        await search("~12.4")
        await desk.until(lambda: "event 1204" in desk.lines("pager")[0], "the first match")
        await search("~12(")
        await desk.sees("`12(` is not a regular expression")
        await desk.press("n")
        await desk.until(lambda: "event 1214" in desk.lines("pager")[0], "the next of before")
        await search("~12[xyz]4")
        await desk.sees("no match for `~12[xyz]4`")

    dashboard(script, start="prod/1/1/1")


def test_a_log_says_whether_it_is_followed_or_has_ended(site: Site, dashboard: Open) -> None:
    site.submit(production())
    log = write_log(site, "prod/1/1/1", "it has ended\n")
    attempt = site.launch("prod/1/2/1")
    folder = log.parent.with_name(str(attempt))
    folder.mkdir()
    (folder / "1.out").write_text("it goes on\n")

    async def script(desk: Desk) -> None:
        await desk.press("t")
        await desk.until(lambda: "ended  13 B" in desk.lines("title")[0], "it has ended")
        await desk.press("escape")
        desk.main.go_to("prod/1/2/1")
        await desk.press("t")
        await desk.until(lambda: " following  11 B" in desk.lines("title")[0], "it is followed")
        await desk.press("F")
        await desk.until(lambda: "not following" in desk.lines("title")[0], "it stays")
        await desk.press("F")
        await desk.until(lambda: "not following" not in desk.lines("title")[0], "it goes on")

    dashboard(script, start="prod/1/1/1")


def test_a_log_is_saved_to_a_file_that_does_not_exist_yet(
    site: Site, dashboard: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.submit(production())
    log = write_log(site, "prod/1/1/1", "no calibration\n" * 20_000)
    monkeypatch.chdir(tmp_path)
    saved = tmp_path / "prod-1-1-1.1.1.out"

    async def script(desk: Desk) -> None:
        await desk.press("t")
        await desk.sees("no calibration", "100 %")
        await desk.press("S")
        await desk.sees("save this log to", saved.name)
        await desk.press("enter")
        await desk.sees("saved 300 kB as ")
        await desk.press("S", "enter")
        await desk.sees("exists:", "another name")
        await desk.press("ctrl+u", *"nowhere", "slash", "x", "enter")
        await desk.sees("there is no folder")

    dashboard(script, start="prod/1/1/1", size=(200, 40))

    assert saved.read_bytes() == log.read_bytes()


def test_a_dashboard_that_is_read_only_saves_no_log(
    site: Site, dashboard: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.submit(production())
    write_log(site, "prod/1/1/1", "no calibration\n")
    monkeypatch.chdir(tmp_path)

    async def script(desk: Desk) -> None:
        await desk.press("t")
        await desk.sees("no calibration")
        await desk.press("S", "enter")
        await desk.sees("this dashboard is read-only and writes no files")

    dashboard(script, start="prod/1/1/1", terminal=Terminal(read_only=True))

    assert not list(tmp_path.glob("prod*"))
