"""Marks: rows, rows beside each other and filters come to one selection, without a limit."""

import time
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d0ctl.actions import preview, request
from d0ctl.select import Selector, parse
from d0ctl.select.condense import condense
from d0ctl.store.views import browse, outline
from d0ctl_tui.read.marks import Marks, beside, filtered
from tests.support.building import job, line, package, production
from tests.support.rows import change
from tests.support.site import Site
from tests.tui.conftest import Desk, Open


def test_neighbours_become_ranges_of_lines_and_packages() -> None:
    assert sorted(map(str, condense(["a/1/1/1", "a/1/1/2", "a/1/1/4", "b/2", "c"]))) == [
        "a/1/1/1-2", "a/1/1/4", "b/2", "c",
    ]  # fmt: skip
    assert condense(f"a/1/{n}/1" for n in range(1, 5_001)) == [parse("a/1/1-5000/1")]
    assert condense(f"a/2/{n}" for n in (1, 2, 3, 5)) == [parse("a/2/1-3"), parse("a/2/5")]


PATHS = st.lists(
    st.builds("j/{}/{}/{}".format, st.integers(1, 2), st.integers(1, 6), st.integers(1, 4))
)


@given(PATHS)
def test_a_condensed_selection_is_the_same_packages(paths: list[str]) -> None:
    found = [
        f"j/{stage}/{line}/{package}"
        for one in condense(paths)
        for stage in range(one.stage.first, one.stage.last + 1)
        for line in range(one.line.first, one.line.last + 1)
        for package in range(one.package.first, one.package.last + 1)
    ]

    assert sorted(found) == sorted(set(paths))


def test_a_mark_of_a_list_goes_over_to_its_rows_when_one_is_taken_off() -> None:
    marks = Marks()
    marks.toggle_whole(beside("a/1", [f"a/1/{n}" for n in range(1, 6)]), "a/1/2", None)
    assert (len(marks), str(marks.selection())) == (5, "a/1/*")

    marks.toggle("a/1/3")

    assert (len(marks), str(marks.selection())) == (4, "a/1/1-2 a/1/4-5")
    assert not marks.covers("a/1/3")


def test_a_filter_that_is_marked_is_its_selector_and_its_packages_for_a_verb_on_lines() -> None:
    wanted = Selector("a", states=("ready",))
    whole = filtered(wanted, array("q", [7, 3]), lambda: ["a/1/2/1", "a/1/3/1"])
    marks = Marks()
    marks.toggle_whole(whole, "a/1/2/1", 3)

    assert str(marks.selection()) == "a:ready"
    assert str(marks.selection("line")) == "a/1/2-3"
    assert str(marks.selection("job")) == "a"
    assert marks.covers("a/1/3/1", 7) and not marks.covers("a/1/4/1", 8)
    marks.toggle_whole(whole, "a/1/2/1", 3)
    assert marks.selection() is None


@pytest.mark.parametrize(
    ("wanted", "lines"),
    [
        (parse("a/1/*:waiting,running"), "a/1/*:waiting,running"),
        (parse("a/1/*:running", node="farm01"), "a/1/2-3"),
    ],
)
def test_lines_that_are_marked_by_the_states_of_their_packages_are_those_when_they_are_dropped(
    wanted: Selector, lines: str
) -> None:
    marks = Marks()
    whole = filtered(wanted, array("q", [7, 3]), lambda: ["a/1/2/1", "a/1/3/1"])
    marks.toggle_whole(whole, "a/1/2/1", 3)

    assert str(marks.selection("line")) == lines


def test_marks_of_every_second_package_choose_just_those_in_one_plan(site: Site) -> None:
    wide = job(("one", [line(package(f"f-{n}")) for n in range(1, 401)]), name="wide")
    site.submit(wide)
    marks = Marks({f"wide/1/{n}/1" for n in range(1, 401, 2)})

    plan = preview(site.store, request("hold", marks.selection() or parse("wide")), now=time.time())

    assert plan.packages == 200
    assert outline.selected(site.store, plan.request.target, 0.0)[0] == site.id_of("wide/1/1/1")


@pytest.fixture
def many(site: Site) -> Site:
    """A job of 6,000 ready packages, more than once could be marked."""
    site.submit(job(("one", [line(package(f"f-{n}")) for n in range(1, 6_001)]), name="wide"))
    return site


def test_a_filter_of_thousands_is_marked_whole_and_held_as_one_act(
    many: Site, dashboard: Open
) -> None:
    async def script(desk: Desk) -> None:
        await desk.press("f")
        await desk.type("ready")
        await desk.press("enter", "asterisk")
        await desk.sees("6,000 marked")
        await desk.press("H")
        await desk.sees("would hold 6,000 packages", "$ d0ctl hold wide:ready")
        await desk.press("enter")
        await desk.sees("held 6,000 packages")

    dashboard(script)

    assert many.phase("wide/1/6000/1") == "held"
    acts = browse.actions(many.store, "wide", 9)
    assert [(act.verb, act.packages) for act in acts] == [("hold", 6_000), ("submit", 6_000)]


def test_a_filter_except_one_package_is_held_with_one_command(many: Site, dashboard: Open) -> None:
    async def script(desk: Desk) -> None:
        await desk.press("f")
        await desk.type("ready")
        await desk.press("enter", "asterisk", "j", "j", "space")
        await desk.sees("5,999 marked")
        await desk.press("H")
        await desk.sees("would hold 5,999 packages", "$ d0ctl hold wide/1/1-2/1 wide/1/4-6000/1")
        await desk.press("enter")
        await desk.sees("held 5,999 packages")

    dashboard(script)

    assert (many.phase("wide/1/3/1"), many.phase("wide/1/4/1")) == ("ready", "held")


def test_a_retry_of_many_says_how_many_are_refused_and_why(site: Site, dashboard: Open) -> None:
    site.submit(production(lines=9))
    for number in range(1, 6):
        site.fail(f"prod/1/{number}/1")
    for number in (6, 7):
        site.fail(f"prod/1/{number}/1", reason="out-of-memory", rss=1 << 40, detail="it took 2 GB")
    change(site.store, "requirement", memory=2000000000)

    async def script(desk: Desk) -> None:
        await desk.press("f")
        await desk.type("failed")
        await desk.press("enter", "asterisk", "R")
        await desk.sees("would retry 5 packages", "not retried: 2 packages, because it ran out")
        await desk.press("enter")
        await desk.sees("retried 5 packages of `prod:failed`", "not retried: 2 packages")

    dashboard(script)

    assert [site.phase(f"prod/1/{n}/1") for n in (5, 6)] == ["ready", "failed"]


def test_marks_end_with_the_action_on_them_and_stay_through_others(
    site: Site, dashboard: Open
) -> None:
    site.submit(production(lines=9))
    site.fail("prod/1/9/1")

    async def act(desk: Desk, verb: str, plan: str) -> None:
        await desk.press(verb)
        await desk.sees(plan)
        await desk.press("enter")
        await desk.sees("to undo")
        await desk.press("escape")

    async def script(desk: Desk) -> None:
        await desk.press("space", "space", "F")
        await act(desk, "Y", "acknowledge prod/1/9/1")
        await desk.press("escape")
        await desk.sees("2 marked")
        await act(desk, "u", "would withdraw the acknowledgement of 1 package")
        await desk.sees("2 marked")
        await desk.press("P")
        await desk.sees("priority prod/1/1-2: ")
        await desk.press("escape", "H")
        await desk.sees("hold prod/1/1-2")
        await desk.press("enter")
        await desk.sees("to undo")
        await desk.press("H")
        await desk.sees("hold prod/1/3")
        await desk.misses("marked")

    dashboard(script, start="prod/1/1")
