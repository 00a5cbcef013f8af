"""Failures that are acknowledged in the dashboard, and the way from one group to the next."""

import time

from d0ctl.actions import apply, request
from d0ctl.select import parse
from d0ctl.store.nodes import placement
from tests.support.building import job, line, package, production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open


def failing(site: Site) -> None:
    """Three packages that failed for the same reason, one for another, one in another stage."""
    stages = [(name, [line(package()) for _ in range(5)]) for name in ("one", "two")]
    site.submit(job(*stages, name="wide"))
    for number in (1, 2, 4):
        site.fail(f"wide/1/{number}/1")
    site.fail("wide/1/3/1", reason="signal", signal=11, exit_code=None)
    site.fail("wide/2/5/1")


def test_n_goes_by_group_and_the_bracket_by_package(site: Site, dashboard: Open) -> None:
    failing(site)

    async def script(desk: Desk) -> None:
        for key, number in (("n", "1/1"), ("n", "1/3"), ("n", "2/5"), ("n", "1/1"), ("N", "2/5"),
                            ("N", "1/3"), ("N", "1/1"), ("right_square_bracket", "1/2"),
                            ("n", "1/3"), ("left_square_bracket", "1/2")):  # fmt: skip
            await desk.press(key)
            path = f"wide/{number}/1"
            assert desk.main.tree_view.selector == path, (key, path)

    dashboard(script, start="wide")


def test_n_takes_failures_of_one_reason_with_different_messages_one_by_one(
    site: Site, dashboard: Open
) -> None:
    site.submit(job(("one", [line(package()) for _ in range(4)]), name="wide"))
    messages = ("exit code 1", "exit code 1", "exit code 42: no table", "exit code 43: no table")
    for number, message in enumerate(messages, 1):
        site.fail(f"wide/1/{number}/1", detail=message)

    async def script(desk: Desk) -> None:
        for number in (1, 3, 1):
            await desk.press("n")
            assert desk.main.tree_view.selector == f"wide/1/{number}/1"

    dashboard(script, start="wide")


def test_an_acknowledged_failure_leaves_the_header_and_the_walk(
    site: Site, dashboard: Open
) -> None:
    failing(site)

    async def script(desk: Desk) -> None:
        await desk.sees("✘ 5 failed")
        await desk.press("Y")
        await desk.sees("$ d0ctl acknowledge wide/1", "would acknowledge 4 packages")
        await desk.type("seen")
        await desk.press("enter")
        await desk.sees("acknowledged 4 packages of `wide/1`", "--reason seen ", "reason seen ")
        await desk.press("enter")
        await desk.sees("✘ 1 failed", "4 failures acknowledged")
        await desk.press("n")
        assert desk.main.tree_view.selector == "wide/2/5/1"
        await desk.press("f")
        await desk.sees("unacknowledged failures")
        await desk.press("enter")
        await desk.sees("needs a person: 1")
        await desk.press("escape", "F")
        await desk.sees("1 acknowledged", "3 acknowledged", "D drops, Y acknowledges")
        await desk.press("down")
        await desk.sees("R retries it, D drops, a offers more")

    dashboard(script, start="wide/1")


def test_who_acknowledged_a_failure_is_said_in_its_row_and_its_details(
    site: Site, dashboard: Open
) -> None:
    failing(site)

    async def script(desk: Desk) -> None:
        await desk.press("Y")
        await desk.sees("would acknowledge")
        await desk.type("seen")
        await desk.press("enter")
        await desk.sees("acknowledged package")
        await desk.press("enter")
        await desk.sees("failure acknowledged by emmy", "exit-code  acknowledged by emmy")

    dashboard(script, start="wide/1/1/1", size=(160, 40))


def test_the_walk_says_that_there_is_no_other_problem(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")

    async def script(desk: Desk) -> None:
        await desk.press("n")
        await desk.until(lambda: desk.main.tree_view.selector == "prod/1/2/1", "it is selected")
        await desk.misses("no other problem")
        for key in ("n", "N", "right_square_bracket"):
            await desk.press(key)
            await desk.sees("no other problem")
            await desk.press("up", "down")
            await desk.misses("no other problem")

    dashboard(script, size=(120, 40))


def test_the_walk_leaves_out_what_only_acknowledged_failures_block(
    site: Site, dashboard: Open
) -> None:
    makers, merge = [line(package("a")), line(package("b"))], line(package("all", needs=["a", "b"]))
    site.submit(job(("make", makers), ("merge", [merge]), name="prod"))
    site.fail("prod/1/1/1")
    site.fail("prod/1/2/1")
    placement.end_jobs(site.store, now=time.time())
    known = request("acknowledge", parse("prod"))
    apply(site.store, known, actor="emmy", note="known", now=time.time())

    async def script(desk: Desk) -> None:
        await desk.press("n")
        await desk.sees("nothing needs a person")

    dashboard(script, start="prod")
