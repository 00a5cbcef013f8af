"""Run times of earlier packages, and the estimates that follow from them."""

import pytest

from d0ctl.jobfile.spec import JobSpec, PackageSpec
from d0ctl.schedule.estimates import Range
from d0ctl.store import Store
from d0ctl.store.attempts.history.estimates import Program, place_of, samples
from d0ctl.store.clusters import throttles
from d0ctl.store.due_times import PackageTimes
from d0ctl.store.jobs.correction import correct, planning
from d0ctl.store.jobs.submission.urgency import urgency
from d0ctl.store.nodes import placement
from d0ctl.store.views.job_files import eta, eta_audit
from tests.store.catalogue import entry, keep
from tests.store.test_urgency import timed
from tests.support.jobs import NOW, binary, job, line, package, stage, submitted
from tests.support.rows import change, read, value
from tests.support.site import Site

SOURCE = "/home/reco.yaml"


@pytest.fixture
def site(store: Store) -> Site:
    """This machine with one CPU."""
    return Site.of(store, cpus=1)


def run(site: Site, took: float) -> None:
    """Run what this machine has room for; it takes these seconds."""
    node = site.node("localhost")
    site.schedule()
    site.hand_out(node)
    site.order(node)
    for attempt, state in node.attempts.items():
        if state == "running":
            node.end(attempt, "successful")
    for message in node.spool:
        if message["kind"] == "end":
            message["ended"] = message["binaries"][0]["ended"] = NOW + took
            message["began"] = 1
    site.deliver(node, node.spool)


def workers(number: int, seconds: float | None = None) -> list[PackageSpec]:
    """Packages that make a file each."""
    return [timed(seconds, (), (f"a{n}",)) for n in range(number)]


def merged(number: int, seconds: float | None = None, **more: object) -> JobSpec:
    """A job with a merge after its packages."""
    merge = timed(None, tuple(f"a{n}" for n in range(number)))
    return job("one", workers(number, seconds), [merge], **more)


def test_a_job_learns_from_its_first_packages_how_long_its_chains_are(
    store: Store, site: Site
) -> None:
    submitted(store, merged(3))

    run(site, 40.0)

    assert read(store, "stage", "is_timed", "drift", by="seq") == [(1, 40.0), (0, 1.0)]
    assert [
        (requirement.rank, requirement.seconds) for requirement in placement.requirements(store)
    ] == [(41.0, 40.0)]
    assert eta.end_of(store, 1, now=NOW) is None


def test_unmeasured_packages_take_longer_than_expected_by_as_much_as_the_others_did(
    store: Store, site: Site
) -> None:
    submitted(store, job("one", [timed(20.0), timed(80.0)]))

    run(site, 40.0)

    assert [
        (requirement.rank, requirement.seconds) for requirement in placement.requirements(store)
    ] == [(10.0, 10.0)]


def test_the_next_job_from_the_file_knows_what_the_last_took(store: Store, site: Site) -> None:
    submitted(store, merged(3, source=SOURCE))
    for _ in range(4):
        run(site, 40.0)

    expected = urgency(store, merged(3, source=SOURCE))

    assert expected.of(1, 1, 1)[:2] == (80.0, 40.0)
    assert expected.ranges[1].high == pytest.approx(3 * 40 * (1 + 1 / 4))
    submitted(store, merged(3, source=SOURCE), name="two")
    end = value(store, "job", "first_end", name="two")
    assert NOW + 80 < end < NOW + 4 * 40 + 80
    assert urgency(store, merged(3, source="/home/other.yaml")).of(1, 1, 1).seconds is None


def test_lines_added_to_a_measured_stage_leave_its_run_times(store: Store, site: Site) -> None:
    submitted(store, job("one", workers(3), source=SOURCE))
    for _ in range(3):
        run(site, 40.0)
    more = job("one", workers(5), source=SOURCE)

    with store.writing():
        outline = planning.plan(store, 1, more)
        correct.correct(store, 1, more, outline, actor="ada", note="", now=NOW + 200)

    (left,) = eta.stages_of(store, 1, now=NOW + 200)
    assert left.seconds is not None
    assert left.seconds.middle == pytest.approx(40.0)


def test_software_is_known_wherever_it_runs_and_what_it_needs_is_kept_too(
    store: Store, site: Site
) -> None:
    keep(store, entry())
    reco = package(binary(software="reco/v1", outputs=("a",)))
    submitted(store, job("one", [reco], source=SOURCE))
    run(site, 40.0)
    run(site, 40.0)

    elsewhere = urgency(store, job("two", [timed(1.0)], [reco], source="-"))

    assert elsewhere.of(2, 1, 1).seconds == 40.0
    known = samples(store, Program("software", "reco/v1"))
    assert known == samples(store, place_of(SOURCE, "stage", 1, 1))
    assert known == {"seconds": [40.0], "rss": [1000.0], "output": [7.0]}


def test_an_audit_compares_launches_with_ends_and_counts_the_range(
    store: Store, site: Site
) -> None:
    submitted(store, job("one", workers(2, 30.0)))
    run(site, 40.0)
    run(site, 90.0)

    (found,) = [
        estimate for estimate in eta_audit.audit(store, None, 99) if estimate.kind == "stage"
    ]
    assert (found.name, found.within) == ("one/stage", 1)
    assert found.pairs == [pytest.approx((40.0, 90.0), rel=0.01), (30.0, 40.0)]


def test_a_running_package_ends_when_it_is_expected_to(store: Store, site: Site) -> None:
    submitted(store, job("one", workers(2, 30.0)))
    node = site.node("localhost")
    site.schedule()
    site.hand_out(node)
    site.order(node)
    site.deliver(node, node.spool)

    running = eta.package_times(store, 1, now=NOW + 10)
    waiting = eta.package_times(store, 2, now=NOW + 10)

    assert running == PackageTimes(None, Range(NOW + 15, NOW + 30, NOW + 60))
    assert waiting is not None and waiting.start is not None
    assert waiting.start.middle > NOW + 10 and waiting.end.middle > waiting.start.middle + 29


def test_a_package_that_cools_off_begins_when_it_has(store: Store) -> None:
    submitted(store, job("one", workers(1, 30.0)))
    for phase in ("assigned", "starting"):
        store.connection.execute("update package set phase = ?", [phase])
    store.connection.execute(
        "update package set phase = 'cooloff', node_id = null, not_before = ?", [NOW + 500]
    )

    times = eta.package_times(store, 1, now=NOW)
    end = eta.end_of(store, 1, now=NOW)

    assert times is not None and times.start is not None
    assert times.start.low == NOW + 500
    assert end is not None and end.low >= NOW + 530


def test_a_job_has_no_end_before_each_package_of_a_line_is_measured(
    store: Store, site: Site
) -> None:
    lines = [line(timed(None, (), (f"a{n}",)), timed(None, (f"a{n}",), (f"b{n}",)))
             for n in range(2)]  # fmt: skip
    submitted(store, job("one", stage(*lines)))
    number = value(store, "job", "id")
    first, second = (row[0] for row in read(store, "requirement", "id"))
    run(site, 0.3)

    change(store, "requirement", {"id": first}, pace=0.3)
    assert eta.end_of(store, number, now=NOW) is None
    change(store, "requirement", {"id": second}, pace=12.0)
    assert eta.end_of(store, number, now=NOW) is not None


def test_a_job_of_equal_packages_has_an_end_once_one_is_measured(store: Store, site: Site) -> None:
    submitted(store, job("one", workers(3)))
    number = value(store, "job", "id")
    assert eta.end_of(store, number, now=NOW) is None
    run(site, 0.3)

    (requirement,) = (row[0] for row in read(store, "requirement", "id"))
    change(store, "requirement", {"id": requirement}, pace=0.3)
    assert eta.end_of(store, number, now=NOW) is not None


@pytest.mark.parametrize("name", ["researcher ro*", "job o*"])
def test_a_throttle_counts_in_the_end_of_a_job_as_its_own_limit_does(
    store: Store, name: str
) -> None:
    Site.of(store, cpus=4)
    submitted(store, job("one", workers(6, 25.0), originator="root@lab"))
    free = eta.end_of(store, 1, now=NOW)
    change(store, "job", max_running=1)
    limited = eta.end_of(store, 1, now=NOW)
    change(store, "job", max_running=None)

    with store.writing():
        throttles.change(store, name, {"max-running": 1})
    throttled = eta.end_of(store, 1, now=NOW)

    assert free is not None and limited is not None
    assert throttled == limited
    assert limited.low - NOW > 2 * (free.low - NOW)
