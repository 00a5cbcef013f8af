"""The data around the tree: what is read again at a look, and what is not."""

import time

from d0ctl.actions import apply, request
from d0ctl.select import parse
from d0ctl_tui.read import snapshot
from d0ctl_tui.read.snapshot import MOST_AGE_S, Snapshot
from tests.cli.test_eta_suspended import BY_A_PERSON
from tests.cli.test_pause import say
from tests.cli.test_standing import drive
from tests.support.acting import act
from tests.support.building import job, line, package, production
from tests.support.rows import change, insert, value
from tests.support.site import Site
from tests.tui.conftest import Desk, Open
from tests.tui.test_arranging import choose


def look(site: Site, before: Snapshot, at: float) -> tuple[Snapshot, bool]:
    """Read the site, and tell whether the standstill of all jobs was read."""
    statements: list[str] = []
    site.store.connection.set_trace_callback(statements.append)
    after = snapshot.read(site.store, before, at)
    site.store.connection.set_trace_callback(None)
    return after, any("requirement.ready > 0" in statement for statement in statements)


def test_the_standstill_is_read_again_only_when_something_changed(site: Site) -> None:
    now = time.time()
    site.up()
    drive(site)
    site.submit(job(("s", [line(package("big", cpus=64))]), name="big"))

    first, is_read = look(site, Snapshot(), now)
    assert is_read and len(first.stopped) == 1
    same, is_read = look(site, first, now + 1)
    assert not is_read and same.stopped == first.stopped

    site.submit(production())
    submitted, is_read = look(site, same, now + 2)
    assert is_read and submitted.stopped == first.stopped
    site.fail("prod/1/1/1")
    failed, is_read = look(site, submitted, now + 3)
    assert is_read
    quiet, is_read = look(site, failed, now + 4)
    assert not is_read
    assert look(site, quiet, now + 3 + MOST_AGE_S)[1]


def test_a_node_that_grows_lets_a_job_move_at_the_next_look(site: Site) -> None:
    now = time.time()
    site.up()
    drive(site)
    site.submit(job(("s", [line(package("big", cpus=64))]), name="big"))
    first, _ = look(site, Snapshot(), now)

    site.up(cpus=64)
    after, is_read = look(site, first, now + 1)

    assert is_read
    assert (len(first.stopped), len(after.stopped)) == (1, 0)


def test_a_job_that_a_person_paused_is_not_stopped_by_nodes_that_take_nothing(site: Site) -> None:
    drive(site)
    for name in ("ready", "paused", "held"):
        site.submit(production(name=name))
    for name, verb in (("paused", "pause"), ("held", "hold")):
        apply(site.store, request(verb, parse(name)), actor="ada", note=None, now=time.time())

    moving, _ = look(site, Snapshot(), time.time())
    act(site.store, "node drain", "localhost", actor="ada", note="disk", now=time.time())
    drained, _ = look(site, moving, time.time())

    assert (list(moving.stopped), list(drained.stopped)) == ([], [1])


def test_packages_queued_behind_those_that_a_person_suspended_need_a_person(site: Site) -> None:
    drive(site)
    for name in ("long", "q2"):
        site.submit(production(name=name))
    attempt = site.launch("long/1/1/1")
    change(site.store, "node", {}, cpus=1)
    for line_number in (1, 2, 3):
        site.send(f"q2/1/{line_number}/1")
    say(site, attempt, "suspended", 2, why=BY_A_PERSON)

    after, _ = look(site, Snapshot(), time.time())

    assert (len(after.stopped), after.needing[2]) == (2, {"starting": 3})


def test_files_that_three_tries_could_not_transfer_are_counted_by_job(site: Site) -> None:
    site.submit(production())
    file = value(site.store, "file", "id", name="gen-1")
    insert(site.store, "transfer", file_id=file, cluster_id=1, wanted=1.0, tries=3, last_error="no")

    assert snapshot.read(site.store, Snapshot(), 5.0).untransferred == {1: 1}
    assert snapshot.read(site.store, Snapshot(), 5.0, until=5.0).untransferred == {}


def test_the_numbers_beside_a_filter_of_jobs_are_those_of_the_listed_jobs(
    site: Site, dashboard: Open
) -> None:
    site.submit(production("mine", originator="emmy"))
    site.submit(production("other"))
    for path in ("mine/1/1/1", "other/1/1/1", "other/1/2/1"):
        site.fail(path)

    async def script(desk: Desk) -> None:
        await desk.sees("✘ 3 failed")
        await choose(desk, "f", "my jobs")
        await desk.sees("1 of 2 jobs: of emmy", "✘ 1 failed")
        await choose(desk, "f", "all jobs")
        await desk.sees("✘ 3 failed")

    dashboard(script)
