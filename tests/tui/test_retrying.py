"""Retries, priorities and restored lines, asked for in the dashboard."""

import re
import time

import pytest

from d0ctl.actions import apply, request
from d0ctl.actions.option import read_words, typed
from d0ctl.actions.packages.retry import RetryOptions
from d0ctl.errors import BadUsage
from d0ctl.select import parse
from d0ctl.store.views import browse
from tests.support.building import job, line, package, production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open


def test_a_failed_package_is_retried(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")

    async def script(desk: Desk) -> None:
        await desk.press("R")
        await desk.sees("$ d0ctl retry prod/1/2/1", "do it")
        await desk.press("enter")
        await desk.sees("retried package `prod/1/2/1`")
        await desk.press("enter")
        await desk.sees("○ ready")

    dashboard(script, start="prod/1/2/1")


@pytest.mark.parametrize("start", ["prod/1", "prod"])
def test_killed_packages_are_retried_by_the_other_way(
    site: Site, dashboard: Open, start: str
) -> None:
    site.submit(production())
    asked = request("kill", parse("prod/1/1-2"))
    apply(site.store, asked, actor="me", note=None, now=time.time())

    async def script(desk: Desk) -> None:
        await desk.press("R")
        await desk.sees("can be retried", "^o retry those canceled")
        await desk.press("ctrl+o")
        await desk.sees(f"$ d0ctl retry {start}:canceled", "would retry 4 packages", "do it")
        await desk.type("file is there")
        await desk.press("enter")
        await desk.sees("retried 4 packages", "--reason 'file is there'")
        await desk.until(lambda: site.phase("prod/1/1/1") == "ready", "it is back")

    dashboard(script, start=start, size=(80, 24))
    assert browse.package(site.store, parse("prod/1/1/1")).note == "file is there"


def test_a_refused_pause_offers_to_pause_running_packages(site: Site, dashboard: Open) -> None:
    site.submit(production(lines=1))
    site.launch("prod/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.press("S")
        await desk.sees("can't be paused", "^o")
        await desk.press("ctrl+o")
        await desk.sees("--running", "would pause")

    dashboard(script, start="prod/1/1/1", size=(80, 24))


def test_another_way_takes_values_that_were_just_typed(site: Site, dashboard: Open) -> None:
    site.submit(production(lines=1))
    site.launch("prod/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.press("S")
        await desk.sees("would pause", "^o suspend running packages, too", "tab set options")
        await desk.press("tab")
        await desk.type("for=1h")
        await desk.sees("plan with it", "^o suspend running packages, too")
        await desk.press("ctrl+o")
        await desk.sees("pause prod --running --for 1h", "would be suspended")

    dashboard(script, start="prod", size=(80, 24))


@pytest.mark.parametrize("key", ["enter", "ctrl+o"])
def test_values_typed_as_the_reason_are_planned_with(site: Site, dashboard: Open, key: str) -> None:
    site.submit(production(lines=1))

    async def script(desk: Desk) -> None:
        await desk.press("S")
        await desk.sees("would pause", "do it")
        await desk.type("for=1h")
        await desk.press(key)
        await desk.sees("pause prod", "--for 1h", "for=1h", "do it")
        await desk.misses("--reason")
        await desk.type("a reason with for=1h")
        await desk.press("enter")
        await desk.until(lambda: browse.job(site.store, "prod").pause, "it is paused")

    dashboard(script, start="prod", size=(80, 24))
    paused = browse.job(site.store, "prod")
    assert (paused.pause_until is not None, paused.pause_note) == (True, "a reason with for=1h")


def test_wrong_values_typed_as_the_reason_are_refused(site: Site, dashboard: Open) -> None:
    site.submit(production(lines=1))

    async def script(desk: Desk) -> None:
        await desk.press("S")
        await desk.sees("would pause", "do it")
        await desk.type("for=soon")
        await desk.press("enter")
        await desk.sees("`soon` is not a time", "plan with it")
        await desk.misses("--reason")

    dashboard(script, start="prod", size=(80, 24))


def test_a_priority_is_asked_for_and_given(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("P")
        await desk.sees("priority prod: now 50; 0 to 100; higher is scheduled first")
        await desk.type("80")
        await desk.press("enter")
        await desk.sees("$ d0ctl priority prod 80", "do it")
        await desk.press("enter")
        await desk.until(lambda: browse.job(site.store, "prod").priority == 80, "it is given")

    dashboard(script)


def test_a_dropped_line_is_restored(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")
    asked = request("kill-line", parse("prod/1/2"), drop_outputs=True)
    apply(site.store, asked, actor="me", note=None, now=time.time())

    async def script(desk: Desk) -> None:
        await desk.sees("⊘ dropped")
        await desk.press("U")
        await desk.sees("$ d0ctl restore-line prod/1/2", "do it")
        await desk.press("enter")
        await desk.until(lambda: site.phase("prod/1/2/2") == "waiting", "it is back")

    dashboard(script, start="prod/1/2")


def test_changes_by_other_people_meanwhile_are_not_repeated(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("K")
        await desk.sees("would kill 2 packages", "do it")
        apply(
            site.store,
            request("hold", parse("prod/1/2/1")),
            actor="you",
            note="mine",
            now=time.time(),
        )
        await desk.press("enter")
        await desk.sees("you")
        await desk.misses("killed 2 packages")

    dashboard(script, start="prod/1/2")

    assert site.phase("prod/1/2/1") == "held"


def test_failed_packages_are_retried_with_other_memory_time_and_node(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    site.fail("prod/1/2/1", reason="out-of-memory", detail="it took 2 GB")

    async def script(desk: Desk) -> None:
        await desk.press("R")
        await desk.sees("would retry 1 package", "tab change memory, time or node")
        await desk.press("shift+tab")
        await desk.type("memory=8G")
        await desk.sees("enter plan with it")
        await desk.type("X")
        await desk.press("enter")
        await desk.sees("`8GX` is not a size")
        await desk.press("backspace")
        await desk.type("B wall-time=4h cpus=2 on=localhost")
        await desk.press("enter")
        await desk.sees("$ d0ctl retry prod/1/2/1 --memory 8GB --cpus 2 --wall-time 4h",
                        "--on localhost", "do it")  # fmt: skip
        await desk.type("more of it")
        await desk.press("enter")
        await desk.sees("retried package `prod/1/2/1`")
        await desk.press("enter")

    dashboard(script, start="prod/1/2/1")

    one = browse.package(site.store, parse("prod/1/2/1"))
    assert (one.phase, one.memory, one.cpus, one.wall_time) == ("ready", 8 * 10**9, 2, 4 * 3600.0)
    assert (one.nodes, one.note) == ('["localhost"]', "more of it")


def test_a_retry_that_needs_more_memory_is_offered_and_takes_it_as_on_the_command_line(
    site: Site, dashboard: Open
) -> None:
    site.submit(job(("a", [line(package("x", memory=1 << 30))])))
    site.up()
    site.fail("prod/1/1/1", reason="out-of-memory", detail="it took 2 GB", rss=1 << 30)

    async def script(desk: Desk) -> None:
        await desk.press("a")
        await desk.sees("act on prod/1/1/1", "retry: run failed packages again")
        await desk.type("retry")
        await desk.press("enter")
        await desk.sees("it ran out of memory and would get no more: --memory SIZE")
        await desk.sees("memory=1700MB", "enter plan with it")
        await desk.type("--memory 4GB")
        await desk.press("enter")
        await desk.sees("$ d0ctl retry prod/1/1/1 --memory 4GB", "do it")

    dashboard(script, start="prod/1/1/1")


@pytest.mark.parametrize("wrong", ["cpus=99", "on=n9"])
def test_the_cursor_stays_in_the_field_that_was_refused(
    site: Site, dashboard: Open, wrong: str
) -> None:
    site.submit(production())
    site.up(cpus=4)
    site.fail("prod/1/2/1")

    async def script(desk: Desk) -> None:
        await desk.press("R")
        await desk.sees("would retry 1 package", "recorded with your name")
        await desk.press("shift+tab")
        await desk.type(wrong)
        await desk.press("enter")
        await desk.sees("d0ctl node list", "enter close")
        await desk.misses("recorded with your name")
        await desk.press(*["backspace"] * len(wrong))
        await desk.type("cpus=2")
        await desk.press("enter")
        await desk.sees("$ d0ctl retry prod/1/2/1 --cpus 2", "recorded with your name", "do it")

    dashboard(script, start="prod/1/2/1")


def test_a_refused_action_asks_for_no_reason_and_separates_thousands(
    site: Site, dashboard: Open
) -> None:
    site.submit(production(lines=1200))

    async def script(desk: Desk) -> None:
        await desk.press("R")
        await desk.sees("can be retried: ", "1,200 ready")
        await desk.misses("recorded with your name")

    dashboard(script, start="prod")


def test_a_package_that_a_person_retried_says_by_whom_and_why(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")
    asked = request("retry", parse("prod/1/2/1"))
    apply(site.store, asked, actor="emmy", note="network", now=time.time())

    async def script(desk: Desk) -> None:
        await desk.sees("retried: network", "retried by emmy, ")
        await desk.misses("resubmit")
        await desk.misses("put back")

    dashboard(script, start="prod/1/2/1", size=(160, 50))


def test_values_that_make_no_sense_are_refused_as_on_the_command_line() -> None:
    unchanged = RetryOptions()

    for text, answer in [("memry=2GB", "`memry=2GB` is not one of memory, disk, cpus, gpus, wall"),
                       ("memory", "`memory` has no value"),
                       ("cpus=0", "`--cpus`: it must be more than 0, not `0`"),
                       ("wall-time=-5m", "`--wall-time`: `-5m` is not a time")]:  # fmt: skip
        with pytest.raises(BadUsage, match=re.escape(answer)):
            read_words(unchanged, text)
    again = read_words(unchanged, "--disk=20GB on=a on=b wall-time=90m")
    assert read_words(again, "") == unchanged
    assert typed(again) == ["--disk", "20GB", "--wall-time", "1h30m", "--on", "a", "--on", "b"]
