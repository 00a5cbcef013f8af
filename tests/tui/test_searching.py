"""The search of all names and messages, step by step, as the dashboard shows it."""

import threading
from collections.abc import Iterator, Sequence
from functools import partial

import pytest

from d0ctl.errors import BadUsage
from d0ctl.store.views import search
from d0ctl.store.views.finding import wide_search
from d0ctl_tui.app_events import ThreadResult
from d0ctl_tui.screens.dialogs.search_box import Choice, Finder
from tests.support.building import job, line, package, production
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S
from tests.tui.conftest import Desk, Open


def test_the_letters_of_a_name_in_their_order_find_it(site: Site, dashboard: Open) -> None:
    lines = [line(package(f"hist-{number}", name="calibration")) for number in range(1, 4)]
    site.submit(job(("make", lines)))

    async def script(desk: Desk) -> None:
        await desk.press("slash")
        await desk.type("clbrtn")
        await desk.sees("package calibration  of prod/1")
        await desk.press("enter")
        await desk.sees("calibration: 3", "prod/1/3/1 calibration")

    dashboard(script)


def test_the_job_of_this_name_comes_before_newer_ones_with_longer_names(site: Site) -> None:
    for name in ("top", "top2"):
        site.submit(job(("make", [line(package("x"))]), name=name))

    assert [found.name for found in search.jobs(site.store, "top")] == ["top", "top2"]


def test_the_name_of_a_line_finds_its_row(site: Site, dashboard: Open) -> None:
    lines = [line(package(f"hist-{number}"), name=f"f={number}") for number in range(1, 13)]
    site.submit(job(("first", lines[:1]), ("make", lines[1:])))

    async def script(desk: Desk) -> None:
        await desk.press("slash")
        await desk.type("f=4")
        await desk.sees("line    f=4  prod/2/3")
        await desk.press("enter")
        await desk.until(
            lambda: desk.main.tree_view.selector == "prod/2/3/1", "the row of the line"
        )
        await desk.press("slash")
        await desk.hands.press("~", "f", "equals_sign", "1", "dollar_sign")
        await desk.sees("line    f=1  prod/1/1")
        assert "f=12" not in "\n".join(desk.lines("results"))

    dashboard(script)


def test_a_regular_expression_finds_files_and_messages_and_its_faults_are_reported(
    site: Site, dashboard: Open
) -> None:
    site.submit(production(lines=12))
    site.fail("prod/1/2/1")
    site.fail("prod/1/5/1")

    async def script(desk: Desk) -> None:
        await desk.press("slash")
        await desk.hands.press("~", *"gen", "minus", "1", "full_stop")
        await desk.sees("file    gen-10  of prod", "file    gen-12  of prod")
        assert "gen-2" not in "\n".join(desk.lines("results"))
        await desk.press("escape", "slash")
        await desk.hands.press("~", *"code", "space", "left_square_bracket", "0")
        await desk.sees("is not a regular expression: unterminated character set")
        await desk.hands.press("minus", "9", "right_square_bracket")
        await desk.sees("message binary 1 (tool) ended", "2 packages failed")
        await desk.press("enter")
        await desk.until(lambda: desk.main.tree_view.selector == "prod/1/2/1", "the first")
        await desk.sees("prod/1/5/1")

    dashboard(script)


def test_a_regular_expression_that_would_take_for_ever_is_given_up(site: Site) -> None:
    site.submit(production())
    site.fail("prod/1/1/1", detail=f"{'a' * 60}b")
    (pattern,) = wide_search.patterns("~(a|aa)+$")

    with pytest.raises(BadUsage, match="takes too long"):
        list(wide_search.search(site.store, pattern))


def test_messages_that_differ_only_in_their_exit_code_are_one_choice(
    site: Site, dashboard: Open
) -> None:
    site.submit(production(lines=3))
    for number in (1, 2):
        detail = f"binary 1 (tool) ended with exit code {number}: no geometry"
        site.fail(f"prod/1/{number}/1", detail=detail, exit_code=number)

    async def script(desk: Desk) -> None:
        await desk.press("slash")
        await desk.type("geometry")
        await desk.sees("message no geometry", "2 packages failed")
        assert "\n".join(desk.lines("results")).count("message no geometry") == 1

    dashboard(script)


def test_a_node_leads_to_what_ran_there(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.finish("prod/1/2/1")

    async def script(desk: Desk) -> None:
        await desk.press("slash")
        await desk.type("localho")
        await desk.sees("node    localhost", "ran on  localhost")
        await desk.press("down", "enter")
        await desk.sees("ran on localhost: 1", "prod/1/2/1 gen")

    dashboard(script)


def test_the_search_says_how_far_it_is_and_stops_for_another_text(
    site: Site, dashboard: Open
) -> None:
    goes_on = threading.Event()
    steps: list[str] = []
    ended: list[str] = []

    def deeper(words: str) -> Iterator[tuple[Sequence[Choice], float]]:
        try:
            yield [Choice(f"first {words}")], 0.4
            assert words != "a" or goes_on.wait(PATIENCE_S)
            for share in (0.6, 1.0):
                steps.append(words)
                yield [Choice(f"first {words}")], share
        finally:
            ended.append(words)

    async def script(desk: Desk) -> None:
        box = Finder(desk.app, "find", lambda words: [], slow=True, deeper=deeper)
        desk.app.push_screen(box)
        await desk.sees("type a text")
        await desk.type("a")
        await desk.sees("first a", "40% searched, esc stops")
        await desk.type("b")
        await desk.sees("first ab")
        await desk.misses("searched")
        goes_on.set()
        await desk.until(lambda: {"a", "ab"} <= set(ended), "the old search ends")
        assert steps.count("a") == 1
        assert steps.count("ab") == 2

    dashboard(script)


def test_enter_before_the_first_result_takes_it_when_it_comes(dashboard: Open) -> None:
    goes_on = threading.Event()
    taken: list[Choice | None] = []

    def deeper(words: str) -> Iterator[tuple[Sequence[Choice], float]]:
        yield [], 0.4
        assert goes_on.wait(PATIENCE_S)
        yield [Choice(f"first {words}")], 1.0

    async def script(desk: Desk) -> None:
        box = Finder(desk.app, "find", lambda words: [], slow=True, deeper=deeper)
        desk.app.push_screen(box, taken.append)
        await desk.sees("type a text")
        await desk.type("a")
        await desk.sees("40% searched")
        await desk.press("enter")
        goes_on.set()
        await desk.until(lambda: taken == [Choice("first a")], "it is taken")

    dashboard(script)


def test_results_of_a_search_whose_box_was_closed_are_dropped(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        box = Finder(desk.app, "find", lambda words: [], slow=True)
        desk.app.push_screen(box)
        await desk.sees("type a text")
        await desk.press("escape")
        await desk.until(lambda: not box.query("#box"), "it is closed")
        shown: list[int] = []
        late = partial(box._show_more, "", [Choice("late")], 0.4)
        desk.app.post_message(ThreadResult(late))
        desk.app.post_message(ThreadResult(partial(shown.append, 1)))
        await desk.until(lambda: shown, "the dashboard goes on")
        await desk.sees("A production")

    dashboard(script)


@pytest.mark.parametrize(
    ("words", "fitting", "others"),
    [
        ("100%", "it is 100% full", "it is 100 full"),
        ("a_b", "x a_b y", "a-b"),
        ("Ab", "xaBy", "a b"),
        ("~^gen-[0-9]+$", "gen-12", "gen-12.root"),
    ],
)
def test_a_pattern_fits_only_what_was_meant(words: str, fitting: str, others: str) -> None:
    pattern = wide_search.patterns(words)[0]

    assert pattern.fits(fitting)
    assert not pattern.fits(others)


def test_all_steps_together_find_what_one_step_finds(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.submit(production(lines=12))
    for number in (2, 5, 9):
        site.fail(f"prod/1/{number}/1")
    pattern = wide_search.patterns("e")[0]
    *_, whole = wide_search.search(site.store, pattern)
    monkeypatch.setattr(wide_search, "STEP", 3)

    *steps, last = wide_search.search(site.store, pattern)

    assert last == whole
    assert [step.share for step in steps] == sorted(step.share for step in steps)
    assert {one.kind for one in last.found} == {"stage", "package", "message", "file"}
