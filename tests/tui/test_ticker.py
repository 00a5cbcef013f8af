"""The list of changes: what matters by default, all of them on request."""

import time

import pytest

from d0ctl.policy.remarks import Against, GivenUp, NodeFailing, noted
from d0ctl.show.drawing.signs import UNICODE
from d0ctl.show.drawing.spans import text, width
from d0ctl.store.history import notable
from d0ctl.store.history.notable import Notable
from d0ctl.store.views import activity
from d0ctl_tui.draw import ticker
from tests.support import rows
from tests.support.building import job, line, package, production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open


def test_the_ticker_shows_failures_actions_nodes_and_ends_of_jobs(site: Site) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    site.fail("prod/1/2/1")
    now = time.time()
    rows.insert(site.store, "action", at=now + 1, actor="ann", verb="hold", target="prod/1/3",
                note="wait")  # fmt: skip
    rows.change(site.store, "node", state="down", since=now + 2, last_error="no route")
    rows.change(site.store, "job", ended=now + 3)

    found = notable.latest(site.store, 10, until=now + 3)

    assert [(one.what, one.subject, one.state) for one in found] == [
        ("job", "prod", "failed"), ("node", "localhost", "down"), ("action", "prod/1/3", "hold"),
        ("failure", "prod/1/2/1", "failed"), ("action", "prod", "submit"),
    ]  # fmt: skip
    assert found[0].left > 0
    assert [one.what for one in notable.latest(site.store, 10, until=now + 1)] == [
        "action", "failure", "action"
    ]  # fmt: skip
    assert len(notable.latest(site.store, 2, until=now + 3)) == 2


def test_the_ticker_still_shows_that_a_node_was_down_once_it_is_up_again(site: Site) -> None:
    now = time.time()
    for state, at in (("down", now + 1), ("up", now + 2)):
        rows.change(site.store, "node", state=state, since=at, last_error="no route")

    found = notable.latest(site.store, 10, until=now + 3)

    assert [(one.subject, one.state, one.at) for one in found] == [
        ("localhost", "up", now + 2), ("localhost", "down", now + 1)
    ]  # fmt: skip


def test_a_drain_by_d0ctl_names_it_once() -> None:
    note = noted(NodeFailing("prod/1", 3, 3, {"exit-code": 3}, {"successful": 7, "failed": 0}, []))
    events = [Notable("action", 100.0, "hole", "node drain", actor="d0ctl", note=note),
              Notable("node", 100.0, "hole", "drained", note=note)]  # fmt: skip

    action, node = [text(row) for row in ticker.what_matters(events, 200, 100.0, UNICODE)]

    assert "hole node drain d0ctl: 3 attempts of `prod/1` failed" in action
    assert "hole drained by d0ctl: 3 attempts of `prod/1` failed" in node


@pytest.mark.parametrize(("phase", "status"), [("dropped", "successful"), ("canceled", "canceled")])
def test_a_job_ends_with_the_status_of_its_packages(site: Site, phase: str, status: str) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    for left in ("ready", "waiting"):
        rows.change(site.store, "package", {"phase": left}, phase=phase)
    rows.change(site.store, "job", ended=time.time())

    (end, *_) = notable.latest(site.store, 10, until=time.time() + 9)

    assert (end.what, end.state, end.left == 0) == ("job", status, phase == "dropped")


def test_a_final_stage_does_not_change_how_a_job_ended(site: Site) -> None:
    site.submit(job(("make", [line(package("f"))]), ("clean", [line(package("g"))])))
    rows.change(site.store, "stage", {"seq": 2}, final=1)
    site.finish("prod/1/1/1")
    site.fail("prod/2/1/1")
    rows.change(site.store, "job", ended=time.time())

    (end, *_) = notable.latest(site.store, 10, until=time.time() + 9)

    assert (end.state, end.left > 0) == ("successful", True)


def test_a_failure_that_is_tried_again_says_so(site: Site) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")
    rows.change(site.store, "attempt", {"outcome": "failed"}, answer="resubmit")

    lines = ticker.what_matters(
        notable.latest(site.store, 5, until=time.time() + 9), 200, time.time(), UNICODE
    )

    assert "exit-code tried again: " in text(lines[0])


@pytest.mark.parametrize("columns", [30, 60, 120])
def test_the_switch_is_on_the_first_line(columns: int) -> None:
    (line,) = ticker.with_switch([], columns, UNICODE, "c", is_all=False)

    assert text(line).endswith("c all" if columns < 55 else "what matters c all")
    assert width(line) <= columns


def test_the_ticker_says_how_jobs_ended() -> None:
    ends = [
        Notable("job", 0.0, "prod", "successful"),
        Notable("job", 0.0, "mc", "failed", left=3, failed=1),
        Notable("job", 0.0, "reco", "canceled", left=1),
        Notable("job", 0.0, "gen", "failed", left=2),
    ]  # fmt: skip

    good, bad, killed, blocked = ticker.what_matters(ends, 100, 0.0, UNICODE)

    assert text(good).endswith("prod successful")
    assert text(bad).endswith("mc failed 3 packages did not succeed")
    assert text(killed).endswith("reco canceled 1 package did not succeed")
    assert text(blocked).endswith("gen blocked 2 packages did not succeed")


def test_a_dashboard_that_starts_knows_the_last_change_that_is_no_event(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    at = time.time()
    rows.insert(site.store, "action", at=at, actor="ann", verb="hold", target="prod/1/3",
                note="wait")  # fmt: skip

    async def script(desk: Desk) -> None:
        await desk.sees("prod  A production")
        assert desk.app.changed == at

    dashboard(script)


def test_c_switches_between_what_matters_and_all_changes(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    site.fail("prod/1/2/1")

    async def script(desk: Desk) -> None:
        await desk.sees("prod/1/2/1 failed", "c all")
        assert "prod/1/1/1 successful" not in "\n".join(desk.lines("ticker"))
        await desk.press("c")
        await desk.sees("prod/1/1/1 successful", "c what matters")
        await desk.press("c")
        await desk.misses("prod/1/1/1 successful")

    dashboard(script, size=(160, 40))


def test_a_failure_among_all_changes_has_its_reason_once_and_why_it_is_not_tried_again(
    site: Site,
) -> None:
    site.submit(production())
    site.fail("prod/1/2/1", reason="lost", detail="no such attempt")
    rows.change(site.store, "event", {"new": "failed"}, note=noted(
        GivenUp("lost", "no such attempt", Against.TRIES, 10)))  # fmt: skip

    events = activity.events(site.store, 0, 50)
    lines = [text(line) for line in ticker.everything(events, 200, time.time(), UNICODE)]

    (failed,) = [line for line in lines if " failed " in line]
    assert failed.endswith(" failed localhost lost no such attempt; it was tried again 10 times")
