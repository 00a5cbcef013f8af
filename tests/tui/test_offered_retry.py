"""A retry is offered for packages that cool off or were canceled if no package has failed."""

import time

import pytest

from d0ctl.actions import apply, request
from d0ctl.select import parse
from tests.support.building import job, line, package
from tests.support.rows import change
from tests.support.site import Site
from tests.tui.conftest import Desk, Open


def cooling(site: Site) -> None:
    """A job of which all packages wait for another try."""
    site.submit(job(("a", [line(package()) for _ in range(3)]), name="late"))
    for seq in (1, 2, 3):
        path = f"late/1/{seq}/1"
        site.fail(path)
        change(site.store, "package", {"id": site.id_of(path)}, phase="cooloff", not_before=1e12)


@pytest.mark.parametrize("start", ["late", "late/1"])
def test_it_is_offered_while_all_packages_cool_off_and_is_for_these(
    site: Site, dashboard: Open, start: str
) -> None:
    cooling(site)

    async def script(desk: Desk) -> None:
        await desk.press("a")
        await desk.sees(f"act on {start}", "retry: run failed packages again")
        await desk.type("retry")
        await desk.press("enter")
        await desk.sees(f"$ d0ctl retry {start}:cooloff", "would retry", "do it")
        await desk.type("file is there")
        await desk.press("enter")
        await desk.sees("retried", "--reason 'file is there'")

    dashboard(script, start=start, size=(100, 40))

    assert site.phase("late/1/2/1") == "ready"


def test_it_is_offered_on_marked_lines_while_their_packages_are_canceled(
    site: Site, dashboard: Open
) -> None:
    site.submit(job(("a", [line(package()) for _ in range(3)]), name="gone"))
    apply(site.store, request("kill", parse("gone")), actor="me", note=None, now=time.time())

    async def script(desk: Desk) -> None:
        await desk.press("space", "space", "a")
        await desk.sees("act on 2 selected", "retry: run failed packages again")
        await desk.type("retry")
        await desk.press("enter")
        await desk.sees("$ d0ctl retry gone/1/1-2:canceled", "would retry 2 packages", "do it")

    dashboard(script, start="gone/1/1", size=(100, 40))


def test_a_retry_of_cooling_packages_asks_for_no_values_but_first_offers_these(
    site: Site, dashboard: Open
) -> None:
    cooling(site)

    async def script(desk: Desk) -> None:
        await desk.press("R")
        await desk.sees("can be retried: 3 cooloff", "^o retry those cooling off   enter close")
        await desk.misses("with   such as", "tab change")
        await desk.type("file is there")
        await desk.press("ctrl+o")
        await desk.sees("$ d0ctl retry late:cooloff", "would retry", "do it", "with   such as")
        await desk.misses("file is there")

    dashboard(script, start="late", size=(100, 40))


def test_a_wrong_value_offers_no_other_way_and_its_error_goes_when_it_is_corrected(
    site: Site, dashboard: Open
) -> None:
    site.submit(job(("a", [line(package())]), name="late"))
    site.fail("late/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.press("R")
        await desk.sees("would retry", "^o start from scratch")
        await desk.press("tab")
        await desk.press(*"memory")
        await desk.sees("plan with it", "^o start from scratch")
        await desk.press("enter")
        await desk.sees("`memory` ", "plan with it")
        await desk.misses("^o")
        await desk.press("equals_sign", *"8GB")
        await desk.sees("not planned yet", "^o start from scratch")
        await desk.press("ctrl+o")
        await desk.sees("--memory 8GB --from-scratch", "would retry", "do it")

    dashboard(script, start="late/1/1/1", size=(100, 40))
