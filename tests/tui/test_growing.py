"""Expanded jobs whose rows become more."""

import time

from msgspec.structs import replace

from d0ctl.store.jobs.correction import correct, planning
from tests.support.building import job, line, package, production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open


def test_an_expanded_job_that_is_updated_shows_its_new_rows(site: Site, dashboard: Open) -> None:
    site.submit(production("other"))
    site.submit(production("prod", lines=2))
    last = job(("last", [line(package("end"))]))
    longer = production(lines=4)
    longer = replace(
        longer, stages=(*longer.stages, *last.stages), packages=longer.packages + last.packages
    )

    async def script(desk: Desk) -> None:
        await desk.sees("prod  A production", "other")
        await desk.press("l", "j", "l", "G")
        await desk.until(lambda: desk.main.tree_view.selector == "other", "it is the last row")
        with site.store.writing():
            id, now = site.id_of("prod"), time.time()
            plan = planning.plan(site.store, id, longer)
            correct.correct(site.store, id, longer, plan, actor="me", note="", now=now)
        await desk.sees("▸ 3 1", "▸ 4 1", "▸ 4 last")
        assert desk.main.tree_view.selector == "other"

    dashboard(script)
