"""Getting to what one looks for: search, filters, palette, jump list, the walk through problems."""

import threading
import time
from functools import partial

import pytest
from textual.widgets import Input

from d0ctl.actions import apply, request
from d0ctl.select import parse
from d0ctl.store.nodes import placement
from d0ctl_tui.screens.dialogs.search_box import Choice, Finder, Results
from tests.support.building import job, line, package, production
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S
from tests.tui.at_work import drive, lacks_files
from tests.tui.conftest import Desk, Open


def test_search_finds_a_path_a_node_a_stage_and_a_file(site: Site, dashboard: Open) -> None:
    site.submit(production(lines=30))

    async def script(desk: Desk) -> None:
        await desk.press("slash")
        await desk.type("gen-12")
        await desk.sees("file    gen-12  not made yet  prod/1/12/1")
        await desk.press("enter")
        await desk.sees("file `gen-12` of job `prod` does not exist yet")
        await desk.press("enter")
        await desk.until(lambda: desk.main.tree_view.selector == "prod/1/12/1", "the maker")
        await desk.press("slash")
        await desk.type("local")
        await desk.sees("node    localhost")
        await desk.press("escape", "slash")
        await desk.type("merge")
        await desk.sees("stage   prod/2  merge")
        await desk.press("escape", "slash")
        await desk.type("prod/1/7")
        await desk.sees("path    prod/1/7  go there")
        await desk.press("enter")
        await desk.until(lambda: desk.main.tree_view.selector == "prod/1/7", "the line")

    dashboard(script)


def test_enter_takes_what_is_found_for_the_whole_text_though_the_search_still_runs(
    site: Site, dashboard: Open
) -> None:
    goes_on = threading.Event()
    taken: list[Choice | None] = []

    def find(words: str) -> list[Choice]:
        return [Choice(words)] if words != "ab" or goes_on.wait(PATIENCE_S) else []

    async def script(desk: Desk) -> None:
        desk.app.push_screen(Finder(desk.app, "find", find, slow=True), taken.append)
        await desk.type("a")
        await desk.sees(" a ")
        await desk.type("b")
        await desk.press("enter")
        goes_on.set()
        await desk.until(lambda: taken, "a choice is taken")

    dashboard(script)

    assert [choice.label for choice in taken if choice] == ["ab"]


def test_enter_before_the_first_choices_are_shown_takes_the_first(
    site: Site, dashboard: Open
) -> None:
    taken: list[Choice | None] = []

    async def script(desk: Desk) -> None:
        finder = Finder(desk.app, "which", lambda words: [Choice("one"), Choice("two")])
        finder.on_input_submitted(Input.Submitted(Input(), ""))
        desk.app.push_screen(finder, taken.append)
        await desk.until(lambda: taken, "a choice is taken")

    dashboard(script)

    assert [choice.label for choice in taken if choice] == ["one"]


def test_search_finds_the_packages_that_failed_for_a_reason(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")

    async def script(desk: Desk) -> None:
        await desk.press("slash")
        await desk.type("exit")
        await desk.sees("reason  exit-code  1 failed lately")
        await desk.press("enter")
        await desk.sees("exit-code: 1", "prod/1/2/1 gen")

    dashboard(script)


def test_search_finds_the_packages_whose_failures_say_a_word(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")

    async def script(desk: Desk) -> None:
        await desk.press("slash")
        await desk.type("exit code 3")
        await desk.sees("message exit code 3  1 package failed lately, e.g. binary 1 (tool) ended")
        await desk.press("enter")
        await desk.sees("exit code 3: 1", "prod/1/2/1 gen")

    dashboard(script)


def test_search_finds_packages_by_their_name(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("slash")
        await desk.type("sim")
        await desk.sees("package sim  of prod/1")
        await desk.press("enter")
        await desk.sees("sim: 3", "prod/1/2/2 sim")

    dashboard(script)


def test_the_walk_goes_through_all_that_needs_a_person_and_round(
    site: Site, dashboard: Open
) -> None:
    site.submit(production("one"))
    site.submit(production("two"))
    site.fail("one/1/2/1")
    site.fail("two/1/1/1")
    site.fail("two/1/3/1")

    async def script(desk: Desk) -> None:
        for place in ("two/1/1/1", "two/1/3/1", "one/1/2/1", "two/1/1/1"):
            await desk.press("right_square_bracket")
            await desk.until(lambda place=place: desk.main.tree_view.selector == place, place)  # type: ignore[misc]
        for place in ("one/1/2/1", "two/1/3/1"):
            await desk.press("left_square_bracket")
            await desk.until(lambda place=place: desk.main.tree_view.selector == place, place)  # type: ignore[misc]

    dashboard(script)


def test_the_walk_finds_a_job_in_which_nothing_moves_though_nothing_failed(
    site: Site, dashboard: Open
) -> None:
    site.submit(production("one"))
    asked = request("kill", parse("one/1"))
    apply(site.store, asked, actor="tester", note=None, now=time.time())
    with site.store.writing():
        placement.end_jobs(site.store, now=time.time())

    async def script(desk: Desk) -> None:
        await desk.press("n")
        await desk.until(lambda: desk.main.tree_view.selector == "one/2/1/1", "the stalled one")

    dashboard(script)


@pytest.mark.parametrize(
    ("name", "typed", "shown"),
    [
        ("lost", "person", ("⊗ blocked", "waits for file `all` of `maker/1/1/1`")),
        ("prod", "waiting", ("⊗ blocked", "· waiting", "waits for package `prod/1/1/1` before it")),
    ],
)
def test_a_list_says_what_blocked_packages_wait_for(
    site: Site, dashboard: Open, name: str, typed: str, shown: tuple[str, ...]
) -> None:
    lacks_files(site)
    site.submit(production())
    site.fail("prod/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.press("f")
        await desk.type(typed)
        await desk.press("enter")
        await desk.until(lambda: all(map("\n".join(desk.lines("tree")).__contains__, shown)), typed)

    dashboard(script, start=name, size=(240, 40))


def test_the_walk_and_the_first_line_have_a_job_that_no_node_can_take(
    site: Site, dashboard: Open
) -> None:
    drive(site)
    site.submit(job(("a", [line(package(f"x{n}", cpus=64)) for n in (1, 2)]), name="wide"))
    site.submit(production("fine"))

    async def script(desk: Desk) -> None:
        await desk.sees("wide", "✘ stands still", "· submitted", "✘ 1 stands still")
        await desk.press("n")
        await desk.until(lambda: desk.main.tree_view.selector == "wide/1/1/1", "its first package")
        site.submit(job(("a", [line(package("y", cpus=64))]), name="wider"))
        await desk.sees("✘ 2 stand still")
        apply(
            site.store, request("kill", parse("wide")), actor="tester", note=None, now=time.time()
        )
        await desk.sees("✘ 1 stands still")

    dashboard(script, size=(120, 40))


def test_the_walk_and_the_first_line_have_a_job_that_waits_for_another_try(
    site: Site, dashboard: Open
) -> None:
    drive(site)
    site.submit(job(("a", [line(package(f"x{n}")) for n in (1, 2)]), name="late"))
    site.submit(production("fine"))
    for path in ("late/1/1/1", "late/1/2/1"):
        site.fail(path, reason="stage-in", detail="no such file: raw.dat")

    async def script(desk: Desk) -> None:
        await desk.sees("late", "✘ stands still", "✘ 1 stands still")
        await desk.press("n")
        await desk.until(lambda: desk.main.tree_view.selector == "late/1/1/1", "its first package")
        await desk.press("f", "enter")
        await desk.until(lambda: len(desk.main.tree_view.filtered or ()) == 2, "both packages")

    dashboard(script, size=(120, 40))


def test_a_walk_without_a_problem_is_reported(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("n")
        await desk.sees("nothing needs a person")

    dashboard(script)


def test_the_palette_runs_the_commands_that_it_names(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("colon")
        await desk.type("hold")
        await desk.sees("hold: do not schedule", "d0ctl hold")
        await desk.press("enter")
        await desk.sees("would hold job `prod`")

    dashboard(script)


def test_backspace_goes_back_to_the_previous_place(site: Site, dashboard: Open) -> None:
    site.submit(production(lines=9))
    site.fail("prod/1/8/1")

    async def script(desk: Desk) -> None:
        tree = desk.main.tree_view
        await desk.until(lambda: tree.selector == "prod/1/2")
        await desk.press("slash")
        await desk.type("prod/1/8/1")
        await desk.sees("go there")
        await desk.press("enter")
        await desk.until(lambda: tree.selector == "prod/1/8/1")
        await desk.press("backspace")
        await desk.until(lambda: tree.selector == "prod/1/2")
        await desk.press("backspace")
        await desk.until(lambda: tree.selector == "prod")
        await desk.press("backspace")
        await desk.sees("no row was left by a search, a problem or a change")
        await desk.press("n")
        await desk.until(lambda: tree.selector == "prod/1/8/1")
        await desk.press("backspace")
        await desk.until(lambda: tree.selector == "prod")

    dashboard(script, start="prod/1/2")


FILTERS = {
    "mine": "my jobs", "myj": "my jobs", "failed": "failed", "today": "hide jobs 1 day",
    "month": "hide jobs 30 days", "hidden": "hide jobs 7 days", "done": "successful",
    "killed": "canceled", "problems": "needs a person", "fld": "failed",
}  # fmt: skip
"""The first choice for words that people type."""


def test_a_filter_is_found_by_other_words_and_by_letters(site: Site, dashboard: Open) -> None:
    site.submit(production("mine", originator="emmy"))

    def is_first(desk: Desk, wanted: str) -> bool:
        choices = desk.app.screen.query_one(Results).choices
        labels = [
            choice.label.replace("that ended ", "").removesuffix(" ago") for choice in choices
        ]
        return labels[:1] == [wanted]

    async def script(desk: Desk) -> None:
        for typed, wanted in FILTERS.items():
            await desk.press("f")
            await desk.type(typed)
            await desk.until(partial(is_first, desk, wanted), f"{wanted} for {typed}")
            await desk.press("escape")

    dashboard(script)
