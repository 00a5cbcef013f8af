"""Two attempts beside each other: what differs is marked."""

import time

from d0ctl.actions import apply, request
from d0ctl.select import parse
from d0ctl.store.files import copies
from tests.support.building import job, line, package, production
from tests.support.rows import value
from tests.support.site import Site
from tests.tui.conftest import Desk, Open
from tests.tui.test_log import write_log


def test_a_failed_package_is_compared_with_one_of_its_stage_by_its_outcome_and_stderr(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    log = write_log(site, "prod/1/2/1", "event loop\n")
    log.with_name("1.err").write_text("no calibration for run 3\n")

    async def script(desk: Desk) -> None:
        await desk.press("equals_sign")
        await desk.sees("prod/1/1/1 1", "prod/1/2/1 1", "last lines of prod/1/2/1",
                        "no calibration for run 3")  # fmt: skip
        lines = {line.split()[1]: line for line in desk.lines("card") if line.startswith("  ≠")}
        assert "successful" in lines["outcome"] and "failed" in lines["outcome"]
        assert "exit-code" in lines["reason"] and "node" not in lines
        assert not any(line.split()[1:] == ["-", "-"] for line in desk.lines("card"))
        await desk.press("escape", "t")
        await desk.sees("binary 1/1 stderr", "no calibration for run 3")

    dashboard(script, start="prod/1/2/1", size=(120, 50))


def test_a_failed_package_is_compared_with_one_of_the_same_number_in_its_line(
    site: Site, dashboard: Open
) -> None:
    lines = [line(package(f"gen{n}"), package(f"sel{n}", needs=[f"gen{n}"])) for n in (1, 2)]
    site.submit(job(("a", lines)))
    site.finish("prod/1/1/1")
    site.finish("prod/1/1/2")
    write_log(site, "prod/1/2/1", "no calibration\n")

    async def script(desk: Desk) -> None:
        await desk.press("equals_sign")
        await desk.sees("prod/1/1/1 1", "prod/1/2/1 1")

    dashboard(script, start="prod/1/2/1", size=(120, 50))


def test_a_comparison_that_is_not_possible_says_what_to_mark(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")

    async def script(desk: Desk) -> None:
        await desk.press("equals_sign")
        await desk.sees("has one attempt", "mark two packages to compare them")
        await desk.press("escape")
        desk.main.go_to("prod")
        await desk.press("equals_sign")
        await desk.sees("choose a package, or mark two")

    dashboard(script, start="prod/1/2/1")


def test_two_marked_packages_are_compared_by_what_their_attempts_requested_and_not_now(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")
    apply(site.store, request("retry", parse("prod/1/2/1"), memory=1 << 30),
          actor="emmy", note=None, now=time.time())  # fmt: skip
    site.fail("prod/1/2/1")
    site.finish("prod/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.press("equals_sign")
        await desk.sees("prod/1/2/1 2", "two attempts")
        await desk.sees("1 CPU, memory -", "1 CPU, memory 1.1 GB")
        await desk.press("escape", "space")
        desk.main.go_to("prod/1/1/1")
        await desk.press("space", "equals_sign")
        await desk.sees("prod/1/1/1 1", "prod/1/2/1 2", "two attempts", "requested")

    dashboard(script, start="prod/1/2/1", size=(120, 50))


def come(site: Site, name: str, size: int) -> None:
    """Copy a file from outside to the node, with contents of this size."""
    file = value(site.store, "file", "id", name=name)
    arrival = copies.Arrival(file, 1, 0, f"/cache/{name}", None, size, f"sha256:{size:064x}")
    with site.store.writing():
        copies.arrive(site.store, [arrival], now=time.time())


def retry(site: Site, path: str) -> None:
    """Let a failed package run again."""
    apply(site.store, request("retry", parse(path)), actor="emmy", note=None, now=time.time())


def test_inputs_that_came_again_with_other_contents_are_marked(site: Site, dashboard: Open) -> None:
    site.submit(job(("a", [line(package(needs=["/reco.py"])) for _ in range(2)])))
    come(site, "/reco.py", 222)
    site.fail("prod/1/1/1")
    site.fail("prod/1/2/1")
    come(site, "/reco.py", 174)
    retry(site, "prod/1/1/1")
    site.finish("prod/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.sees("174 B", "changed since attempt 1: reco.py")
        await desk.press("equals_sign")
        await desk.sees("prod/1/2/1 1", "reco.py 174 B", "reco.py, changed since")
        await desk.until(lambda: mark(desk) == "≠", "a mark of what differs")
        await desk.press("escape")
        desk.main.go_to("prod/1/1/1")
        await desk.sees("2 attempts")
        await desk.misses("changed since")
        await desk.press("equals_sign")
        await desk.sees("prod/1/1/1 2", "reco.py, changed since", "reco.py 174 B")
        await desk.until(lambda: mark(desk) == "≠", "a mark of what differs")

    dashboard(script, start="prod/1/2/1", size=(120, 60))


def test_inputs_of_two_attempts_before_the_last_change_may_differ(
    site: Site, dashboard: Open
) -> None:
    site.submit(job(("a", [line(package(needs=["/reco.py"]))])))
    come(site, "/reco.py", 222)
    site.fail("prod/1/1/1")
    retry(site, "prod/1/1/1")
    site.fail("prod/1/1/1")
    come(site, "/reco.py", 174)

    async def script(desk: Desk) -> None:
        await desk.press("equals_sign")
        await desk.sees("prod/1/1/1 2", "reco.py, changed since", "? what may differ")
        await desk.until(lambda: mark(desk) == "?", "a mark of what may differ")

    dashboard(script, start="prod/1/1/1", size=(120, 60))


def test_an_input_that_was_made_again_is_marked(site: Site, dashboard: Open) -> None:
    site.submit(job(("a", [line(package("raw"), package(needs=["raw"], name="2"))])))
    site.finish("prod/1/1/1")
    site.fail("prod/1/1/2")
    apply(site.store, request("set-status", parse("prod/1/1/1"), status="unscheduled"),
          actor="emmy", note=None, now=time.time())  # fmt: skip
    site.finish("prod/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.sees("made again since attempt 1: raw")

    dashboard(script, start="prod/1/1/2", size=(120, 60))


def mark(desk: Desk) -> str:
    """The mark before the first input."""
    return next(line for line in desk.lines("card") if "input 1" in line).split("input")[0].strip()
