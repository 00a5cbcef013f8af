"""What is true of a package is seen on its line, stage and job: problems, progress, the end."""

import time

from d0ctl.actions import apply, request
from d0ctl.select import parse
from d0ctl.store.nodes import contact, registry
from tests.cli.test_check import drive
from tests.support.building import production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open


def progress(site: Site, path: str, percent: float, left: float) -> None:
    """The wrapper of a package tells how far it is."""
    attempt = site.launch(path)
    site.tell({"attempt": attempt, "kind": "progress", "seq": 2, "time": time.time(),
               "binary": 1, "done": percent, "total": 100.0, "percent": percent, "line": "",
               "eta": time.time() + left, "cpu": 1.0, "rss": 1 << 20})  # fmt: skip


def rows(desk: Desk) -> dict[str, str]:
    """The rows of the tree by what stands first on them."""
    lines = [line.strip() for line in desk.lines("tree")]
    return {line.split()[1]: line for line in lines if line}


def test_a_failure_is_seen_on_every_row_above_it_and_what_waits_for_it_is_blocked(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    site.launch("prod/1/2/1")
    site.fail("prod/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.sees("✘ failed")
        found = await desk.settled("tree")
        assert "▶ running ✘1" in found[0]
        assert "▶ running ✘1" in found[1]
        assert "✘ failed" in found[2]
        assert "⊗ blocked" in found[4]
        assert "▶ running" in found[5] and "✘" not in found[5]

    dashboard(script, start="prod/1/1/1", size=(80, 30))


def test_a_package_out_of_contact_is_seen_on_every_row_above_it(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    with site.store.writing():
        contact.down(
            site.store, registry.named(site.store, "localhost").id, "gone", now=time.time()
        )

    async def script(desk: Desk) -> None:
        await desk.sees("? unreachable")
        assert all("?1" in line for line in (await desk.settled("tree"))[:3])

    dashboard(script, start="prod/1/1/1")


def test_stages_and_lines_of_a_held_job_are_held(site: Site, dashboard: Open) -> None:
    site.submit(production())
    apply(site.store, request("hold", parse("prod")), actor="me", note=None, now=time.time())

    async def script(desk: Desk) -> None:
        await desk.sees("○ ready")
        assert all("‖ held" in line for line in (await desk.settled("tree"))[:3])
        await desk.press("up", "up")
        await desk.sees("1  make")
        assert "‖ held" in "\n".join((await desk.settled("about"))[:3])

    dashboard(script, start="prod/1/1/1")


def test_a_held_job_whose_packages_still_run_is_held_and_has_no_end(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    progress(site, "prod/1/1/1", 50.0, 3600.0)
    apply(site.store, request("hold", parse("prod")), actor="me", note=None, now=time.time())

    async def script(desk: Desk) -> None:
        await desk.sees("▶ running")
        job, stage = (await desk.settled("tree"))[:2]
        assert "‖ held" in job and "running" not in job.partition("held")[0]
        assert "~" not in job and "▶ running" in stage

    dashboard(script, start="prod/1/1/1", size=(120, 40))


def test_progress_and_end_climb_from_the_package_to_its_job(site: Site, dashboard: Open) -> None:
    site.submit(production())
    progress(site, "prod/1/1/1", 50.0, 3600.0)
    progress(site, "prod/1/2/1", 30.0, 7200.0)
    drive(site)

    async def script(desk: Desk) -> None:
        await desk.sees("50 %")
        job, stage, line, *_ = await desk.settled("tree")
        assert "10% 0/8" in job and "13% 0/6" in stage and "25% 0/2" in line
        assert all(">" in row.rpartition("/")[2] for row in (job, stage, line))
        await desk.press("g")
        await desk.sees("10 % including running packages")

    dashboard(script, start="prod/1/1/1", size=(130, 36))


def test_the_details_are_those_of_the_last_job_once_all_is_collapsed(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.sees("stage make, line")
        await desk.press("minus")
        await desk.until(lambda: desk.main.tree_view.selector == "prod")
        await desk.sees("of 8 packages done")

    dashboard(script, start="prod/1/1/1", size=(130, 36))
