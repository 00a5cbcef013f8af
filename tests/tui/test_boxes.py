"""Boxes: no line of them is cut, and what they offer can be clicked."""

import re

import pytest

from d0ctl.show.drawing.spans import text, width
from d0ctl_tui.commands import Command
from d0ctl_tui.screens.dialogs import help, search_results
from d0ctl_tui.screens.dialogs.search_box import Choice, Finder, Results, broken
from d0ctl_tui.screens.dialogs.search_results import best_first
from d0ctl_tui.terminal import Terminal
from d0ctl_tui.widgets.choice_lines import arranged
from tests.support.building import production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open

CHOICES = [("enter", "do it", "plain"), ("esc", "cancel", "plain"),
           ("^o", "keep the files made so far, marked partial", "plain"),
           ("", "read-only: nothing is changed from here", "warn")]  # fmt: skip


@pytest.mark.parametrize("columns", [20, 34, 42, 50, 76, 106, 200])
def test_keys_take_as_many_lines_as_they_need(columns: int) -> None:
    lines = arranged(CHOICES, columns)

    words = " ".join(" ".join(text(line) for line in lines).split())
    assert words == " ".join(f"{key} {title}".strip() for key, title, _ in CHOICES)
    assert all(width(line) <= columns for line in lines)


@pytest.mark.parametrize("columns", [60, 77, 106, 200])
def test_the_list_of_keys_cuts_nothing(columns: int) -> None:
    walk = Command("n", "next", "next problem: other stage, state or reason", "look")
    pause = Command("K", "kill", "task pause: make and start no more packages", "act")

    lines = help.keys((walk, pause), columns)

    words = " ".join(text(line) for line in lines).split()
    assert set(words) >= set(f"{walk.title} {pause.title}".split())
    assert all(width(line) <= columns for line in lines)


@pytest.mark.parametrize("size", [(140, 45), (80, 24)])
def test_the_border_of_the_help_says_how_many_lines_are_below(
    site: Site, dashboard: Open, size: tuple[int, int]
) -> None:
    site.submit(production())

    def below(desk: Desk) -> int:
        """How many more lines the border names."""
        found = re.search(r"(\d+) more lines? below", desk.screen)
        return int(found[1]) if found else 0

    async def script(desk: Desk) -> None:
        await desk.press("question_mark")
        await desk.sees("moving", "more lines below")
        await desk.settled("words")
        first = below(desk)
        await desk.press("down")
        await desk.until(lambda: below(desk) == first - 1, "one line less")
        await desk.press("end")
        await desk.misses("more lines below", "more line below")
        await desk.press("home")
        await desk.until(lambda: below(desk) == first, "all again")

    dashboard(script, size=size)


def test_the_border_of_a_help_that_fits_says_nothing(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("question_mark")
        await desk.sees("moving", "this help")
        await desk.settled("words")
        assert "more line" not in desk.screen

    dashboard(script, size=(140, 80))


@pytest.mark.parametrize("columns", [30, 60, 76, 200])
def test_a_long_choice_is_broken_and_not_cut(columns: int) -> None:
    choice = Choice("ERROR: no calibration for the run 1234567", "12 packages failed lately",
                    key="right l", kind="message")  # fmt: skip

    lines = broken(choice, columns)

    words = " ".join(text(line) for line in lines).replace("right l", "").split()
    assert words == f"message {choice.label} {choice.about}".split()
    assert all(width(line) <= columns for line in lines)
    assert text(lines[0]).rstrip().endswith("right l")


def test_the_cursor_moves_by_choices_and_not_by_lines(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("f")
        await desk.sees("show only", "transferring")
        box = desk.app.screen
        assert isinstance(box, Finder)
        labels = [choice.label for choice in box.results.choices]
        for _ in range(labels.index("launched") + 1):
            await desk.press("down")
        await desk.until(
            lambda: labels[box.results.highlighted] == labels[labels.index("launched") + 1],
            "the choice after the one of two lines",
        )
        lit = [row for row in range(box.results.line_count()) if box.results.is_under_cursor(row)]
        assert len(lit) == 1
        await desk.press("up")
        await desk.until(lambda: labels[box.results.highlighted] == "launched", "the one before")
        lit = [row for row in range(box.results.line_count()) if box.results.is_under_cursor(row)]
        assert len(lit) == 3

    dashboard(script, size=(80, 24))


@pytest.mark.parametrize("columns", [80, 120])
def test_a_read_only_plan_names_all_its_keys(site: Site, dashboard: Open, columns: int) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.press("R")
        await desk.sees(
            "esc close", "read-only: nothing is changed from here", "^o start from scratch",
            "tab change memory, time or node",
        )  # fmt: skip

    dashboard(script, size=(columns, 24), start="prod/1/1/1", terminal=Terminal(read_only=True))


@pytest.mark.parametrize("columns", [36, 40, 46])
def test_the_words_of_a_key_go_on_in_the_next_line_and_can_be_clicked_there(
    site: Site, dashboard: Open, columns: int
) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("K")
        await desk.sees("^o keep the files", "do it")
        keys = desk.app.screen.query_one("#keys")
        rows = desk.lines("keys")
        begins = next(number for number, row in enumerate(rows) if "^o" in row)
        assert rows[begins + 1].startswith("   ")
        words = " ".join(row.strip() for row in rows[begins : begins + 2])
        assert words == "^o keep the files made so far, marked partial"
        await desk.hands.click(keys, offset=(5, begins + 1))
        await desk.sees("--partial")

    dashboard(script, size=(columns, 24), start="prod/1/1/1")


def test_a_key_in_the_second_line_of_a_plan_can_be_clicked(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.press("R")
        await desk.sees("tab change memory, time or node", "do it")
        keys = desk.app.screen.query_one("#keys")
        await desk.until(lambda: keys.size.height == 2, "two lines")
        await desk.hands.click("#keys", offset=(6, 1))
        await desk.until(lambda: desk.app.focused and desk.app.focused.id == "values", "the field")

    dashboard(script, size=(80, 24), start="prod/1/1/1")


def test_the_box_of_filters_names_the_job_that_they_are_limited_to(
    site: Site, dashboard: Open
) -> None:
    site.submit(production("good"))
    site.submit(production("bad"))
    site.fail("bad/1/2/1")

    async def script(desk: Desk) -> None:
        desk.main.go_to("good")
        await desk.press("f")
        await desk.sees("show only, of good")
        await desk.press("escape", "slash")
        await desk.type("good/1/1/1")
        await desk.press("enter", "f")
        await desk.sees("show only, of good")
        await desk.press("enter")
        await desk.sees("needs a person, of good: 0")
        await desk.press("escape")
        await desk.misses("needs a person")
        desk.main.go_to("good/1/1/1")
        await desk.press("f")
        await desk.type("all jobs")
        await desk.sees("of all jobs  instead of one")
        await desk.press("enter")
        await desk.sees("show only, of all jobs")
        await desk.press("enter")
        await desk.sees("needs a person, of all jobs: 1", "bad/1/2/1")

    dashboard(script)


def test_what_contains_the_typed_text_is_the_first_choice(site: Site, dashboard: Open) -> None:
    for job in ("bad", "good"):
        site.submit(production(job))

    async def script(desk: Desk) -> None:
        desk.main.go_to("good")
        await desk.press("f")
        await desk.type("of all")
        await desk.sees("of all jobs  instead of one")
        await desk.press("enter")
        await desk.sees("show only, of all jobs")
        await desk.press("escape")
        await desk.press("f")
        await desk.type("eld")
        results = desk.app.screen.query_one(Results)
        await desk.until(lambda: [one.label for one in results.choices][:1] == ["held"], "held")
        await desk.press("escape")
        for path in ("good", "good/1"):
            desk.app.places.been.append(path)
        assert search_results.jumps(desk.main, "good")[0].label == "good"

    dashboard(script)


@pytest.mark.parametrize(("typed", "order"), [
    ("", "cab ab abc b"), ("ab", "ab abc cab b"), ("AB  ", "ab abc cab b"), ("b", "b ab cab abc"),
])  # fmt: skip
def test_choices_that_begin_with_the_typed_text_are_before_those_that_contain_it(
    typed: str, order: str
) -> None:
    choices = [Choice("cab"), Choice("ab"), Choice("abc", "d0ctl x"), Choice("b")]
    if typed == "b":
        choices[1] = Choice("ab", "d0ctl by")

    assert [choice.label for choice in best_first(choices, typed)] == order.split()


def test_a_question_stays_open_and_says_what_is_wrong_with_the_answer(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("P", *"80x", "enter")
        await desk.sees("a priority is a number from 0 to 100, not `80x`", "80x")
        await desk.press("backspace")
        await desk.misses("a priority is a number")
        await desk.press("enter")
        await desk.sees("$ d0ctl priority prod 80", "would change the priority")
        await desk.press("escape", "at", *"noon", "enter")
        await desk.sees("`noon` is not a time: write 03:00, 2026-11-22 03:00, or 2h ago as 2h")
        await desk.press("escape")
        await desk.misses("is not a time")

    dashboard(script, start="prod", size=(80, 24))


def test_a_refused_action_offers_its_other_way_only_if_that_is_possible(
    site: Site, dashboard: Open
) -> None:
    site.submit(production(lines=2))
    site.finish("prod/1/1/1")
    site.launch("prod/1/2/1")

    async def script(desk: Desk) -> None:
        await desk.press("K")
        await desk.sees("`prod/1/1/1` is successful, so it can't be killed", "enter close")
        await desk.misses("^o")
        await desk.press("ctrl+o")
        await desk.misses("--partial")
        await desk.press("enter", "slash")
        await desk.type("prod/1/2/1")
        await desk.press("enter", "S")
        await desk.sees("is running, so it can't be paused", "^o suspend running packages, too")
        await desk.press("ctrl+o")
        await desk.sees("$ d0ctl pause prod/1/2/1 --running", "would pause 1 package", "do it")

    dashboard(script, start="prod/1/1/1", size=(100, 40))
