"""The database as it was at an earlier moment: what had run, where, and what had failed."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from d0ctl.actions import apply, request
from d0ctl.select import parse
from d0ctl.store.connection import Store
from d0ctl.store.history import past_state
from d0ctl.store.nodes import contact, placement, registry
from d0ctl.store.opening import open_store
from d0ctl.store.views import activity, one_package, outline
from tests.support.building import job, line, package, production
from tests.support.rows import change
from tests.support.site import Site

FIRST = 1_000_000.0
"""When the first event happened; each later one happened a second after the one before."""


@contextmanager
def as_of(site: Site, at: float) -> Iterator[Store]:
    """A store that reads the past."""
    with open_store(site.home, read_only=True) as store:
        store.make_temporary_tables()
        past_state.enter(store, at)
        yield store


def spread_out(site: Site) -> None:
    """Give all that has happened times of their own: each event a second, before them the job."""
    store = site.store
    with store.writing():
        for event in range(1, activity.last_event(store) + 1):
            change(store, "event", {"id": event}, at=FIRST + event)
        for row in reversed(activity.events(store, 0, 1000)):
            number = {"starting": "launched", "running": "started"}.get(row.new)
            at = FIRST + row.id
            change(store, "package", {"id": site.id_of(row.path)}, changed=at)
            if number:
                change(store, "attempt", {"package_id": site.id_of(row.path)}, **{number: at})
            elif row.old == "running":
                change(store, "attempt", {"package_id": site.id_of(row.path)}, ended=at)
        change(store, "job", submitted=FIRST)


def phases(store: Store) -> dict[str, str]:
    """The phase of each package by its path."""
    rows = outline.packages_by_id(store, range(1, 100)).values()
    return {row.path: row.phase for row in rows}


def test_every_phase_between_two_events_is_the_one_it_was(site: Site) -> None:
    site.submit(production())
    before, seen = site.phases(), []
    site.launch("prod/1/1/1")
    site.end("prod/1/1/1")
    site.fail("prod/1/2/1")
    spread_out(site)
    events = list(reversed(activity.events(site.store, 0, 1000)))

    for number in range(len(events) + 1):
        expected = before | {event.path: event.new for event in events[:number]}
        with as_of(site, FIRST + number + 0.5) as store:
            seen.append(phases(store) == expected)
            counts = outline.totals(store, outline.job_ids(store))
            assert counts == {phase: list(expected.values()).count(phase)
                              for phase in expected.values()}  # fmt: skip

    assert seen == [True] * (len(events) + 1)


def test_an_attempt_that_was_running_has_no_end_and_takes_its_slot(site: Site) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")
    spread_out(site)
    running = next(event for event in activity.events(site.store, 0, 99) if event.new == "running")

    with as_of(site, running.at + 0.5) as store:
        (attempt,) = one_package.attempts(store, site.id_of("prod/1/2/1"))
        assert (attempt.ended, attempt.outcome, attempt.reason) == (None, None, None)
        assert [use.used for use in activity.node_use(store).values()] == [1]
        assert activity.needing_a_person(store) == {}
        assert activity.events(store, 0, 99)[0].new == "running"


def test_before_its_submission_a_job_is_not_there(site: Site) -> None:
    site.submit(production())
    spread_out(site)

    with as_of(site, FIRST - 1) as store:
        assert list(outline.job_ids(store)) == []
    with as_of(site, FIRST + 1) as store:
        assert len(outline.job_ids(store)) == 1


def test_a_failure_that_was_acknowledged_later_needed_a_person(site: Site) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")
    spread_out(site)
    at = time.time()
    apply(site.store, request("acknowledge", parse("prod")), actor="me", note=None, now=at)

    with as_of(site, at - 1) as store:
        assert [counts["failed"] for counts in activity.needing_a_person(store).values()] == [1]
    with as_of(site, at + 1) as store:
        assert activity.needing_a_person(store) == {}


@pytest.mark.parametrize(("verb", "options"), [
    ("kill-line", {"drop_outputs": True}), ("retry", {}), ("acknowledge", {"withdraw": True}),
])  # fmt: skip
def test_an_acknowledgement_is_seen_in_the_past_after_its_end(
    site: Site, verb: str, options: dict[str, bool]
) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")
    spread_out(site)
    at = time.time()
    apply(site.store, request("acknowledge", parse("prod/1/2")), actor="me", note="seen", now=at)
    apply(site.store, request(verb, parse("prod/1/2"), **options), actor="me", note=None,
          now=at + 10)  # fmt: skip

    with as_of(site, at + 5) as store:
        seen = one_package.acknowledgement(store, site.id_of("prod/1/2/1"))
        assert seen is not None and (seen.at, seen.actor, seen.note) == (at, "me", "seen")
        assert activity.needing_a_person(store) == {}
    with as_of(site, at + 11) as store:
        assert one_package.acknowledgement(store, site.id_of("prod/1/2/1")) is None


def test_a_failure_is_not_seen_as_acknowledged_while_its_package_was_dropped(site: Site) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")
    spread_out(site)
    at = time.time()
    for wait, (verb, options) in enumerate((
        ("acknowledge", {}), ("kill-line", {"drop_outputs": True}), ("restore-line", {}),
    )):  # fmt: skip
        apply(site.store, request(verb, parse("prod/1/2"), **options), actor="me", note=None,
              now=at + 10 * wait)  # fmt: skip

    seen = []
    for second in (5, 15, 25):
        with as_of(site, at + second) as store:
            (job,) = outline.jobs(store, outline.job_ids(store)).values()
            seen.append(job.acknowledged)
    assert seen == [1, 0, 1]


def test_a_line_that_was_dropped_later_was_not_dropped_yet(site: Site) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")
    at = time.time() + 1
    drop = request("kill-line", parse("prod/1/2"), drop_outputs=True)
    apply(site.store, drop, actor="me", note=None, now=at)

    assert [dropped(site, at + second) for second in (-0.5, 5)] == [[None] * 3, [None, at, None]]


def dropped(site: Site, at: float) -> list[float | None]:
    """Return since when each line of the first stage was dropped."""
    with as_of(site, at) as store:
        (job,) = outline.jobs(store, outline.job_ids(store)).values()
        (stage, *_) = outline.stages(store, job, 1, 9)
        return [line.dropped for line in outline.lines(store, job, stage, 1, 9)]


@pytest.mark.parametrize(("begin", "end"), [("hold", "release"), ("pause", "resume")])
def test_a_stop_of_a_job_is_seen_in_the_past_after_its_end(
    site: Site, begin: str, end: str
) -> None:
    site.submit(production())
    at = time.time() + 1
    for verb, now in ((begin, at), (end, at + 10), (begin, at + 20)):
        apply(site.store, request(verb, parse("prod")), actor="me", note="quiet", now=now)

    assert [stops(site, at + second) for second in (-0.5, 5, 15, 25)] == [
        [], [(begin, at, "me", "quiet")], [], [(begin, at + 20, "me", "quiet")],
    ]  # fmt: skip


@pytest.mark.parametrize("begin", ["hold", "pause"])
def test_a_stop_that_a_finish_ended_is_seen_in_the_past(site: Site, begin: str) -> None:
    site.submit(production())
    at = time.time() + 1
    for verb, now in ((begin, at), ("finish", at + 10)):
        apply(site.store, request(verb, parse("prod")), actor="me", note="quiet", now=now)

    assert [stops(site, at + second) for second in (5, 15)] == [[(begin, at, "me", "quiet")], []]


def test_a_pause_is_seen_in_the_past_before_it_suspended_running_packages(site: Site) -> None:
    site.submit(production())
    at = time.time() + 1
    pause = request("pause", parse("prod"))
    apply(site.store, pause, actor="me", note="first", now=at)
    apply(site.store, request("pause", parse("prod"), running=True), actor="you", note="then",
          now=at + 10)  # fmt: skip

    assert stops(site, at + 5) == [("pause", at, "me", "first")]
    assert stops(site, at + 15) == [("pause", at + 10, "you", "then")]


def stops(site: Site, at: float) -> list[tuple[str, float | None, str | None, str | None]]:
    """Return the hold and the pause of the only job at a moment: since when, by whom and why."""
    with as_of(site, at) as store:
        (job,) = outline.jobs(store, outline.job_ids(store)).values()
    hold = [("hold", job.hold_since, job.hold_actor, job.hold_note)] * job.hold
    return hold + [("pause", job.pause_since, job.pause_actor, job.pause_note)] * job.pause


def test_the_present_is_the_same_by_both_ways(site: Site) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    site.fail("prod/1/2/1")
    site.launch("prod/1/3/1")

    with as_of(site, time.time() + 1) as store:
        ids = outline.job_ids(store)
        assert phases(store) == site.phases()
        assert outline.jobs(store, ids) == outline.jobs(site.store, ids)
        assert activity.events(store, 0, 99) == activity.events(site.store, 0, 99)
        assert activity.failed(store, ids, 9) == activity.failed(site.store, ids, 9)


def test_a_node_that_was_down_is_down_and_others_are_not_known(site: Site) -> None:
    site.submit(production())
    node = registry.named(site.store, "localhost").id
    with site.store.writing():
        contact.down(site.store, node, "no route to host", now=FIRST + 10)
        contact.up(site.store, node, {"cpus": 4}, now=FIRST + 20)

    states = []
    for at in (5, 15, 25):
        with as_of(site, FIRST + at) as store:
            row = registry.named(store, "localhost")
            states.append((row.state, row.last_error))

    assert states == [("unknown", None), ("down", "no route to host"), ("unknown", None)]


def test_a_job_that_has_continued_since_had_ended(site: Site) -> None:
    site.submit(job(("a", [line(package("made")), line(package("other"))]), name="maker"))
    site.submit(job(("a", [line(package("read", needs=["maker:made"]))]), name="reader"))
    site.finish("maker/1/2/1")
    site.fail("maker/1/1/1")
    at = time.time() + 1
    with site.store.writing():
        placement.end_jobs(site.store, now=at)
    apply(site.store, request("retry", parse("maker")), actor="me", note=None, now=at + 10)

    with as_of(site, at + 5) as store:
        then = outline.jobs(store, outline.job_ids(store)).values()
        assert [(job.name, job.status, job.blocked, job.ended is None) for job in then] == [
            ("reader", "failed", True, False), ("maker", "failed", False, False),
        ]  # fmt: skip
    with as_of(site, at + 15) as store:
        assert [job.ended for job in outline.jobs(store, outline.job_ids(store)).values()] == [
            None, None,
        ]  # fmt: skip


def test_a_job_was_not_blocked_by_files_that_were_dropped_later(site: Site) -> None:
    site.submit(job(("a", [line(package("made"))]), name="maker"))
    site.submit(job(("a", [line(package("read", needs=["maker:made"]))]), name="reader"))
    site.launch("maker/1/1/1")
    at = time.time() + 1
    for second, verb in enumerate(("kill-line", "restore-line", "kill-line")):
        drop = {"drop_outputs": True} if verb == "kill-line" else {}
        asked = request(verb, parse("maker/1/1"), **drop)
        apply(site.store, asked, actor="me", note=None, now=at + 10 * second)
        if second == 0:
            site.end("maker/1/1/1", "killed")

    seen = []
    for moment in (at - 0.5, at + 15):
        with as_of(site, moment) as store:
            (reader, _) = outline.jobs(store, outline.job_ids(store)).values()
            seen.append((reader.status, reader.blocked, reader.ended))
    assert seen == [("submitted", False, None)] * 2
