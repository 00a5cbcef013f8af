"""Memory and disk that packages took, as those to come are expected to take them."""

from typing import Any

import pytest

from d0ctl.jobfile.spec import JobSpec, OutputSpec
from d0ctl.schedule.estimates import sizes_of
from d0ctl.show.why import group
from d0ctl.store import Store
from d0ctl.store.nodes import contact, registry
from d0ctl.store.views import browse
from d0ctl.store.views.job_files import eta, eta_audit
from tests.show.asking import why
from tests.support.jobs import binary, job, package
from tests.support.rows import change, read, value
from tests.support.site import Site

GB = 1_000_000_000


def reco(name: str, lines: int, **more: Any) -> JobSpec:
    """Packages of the same place in a job file."""
    return job(name, [package(binary(runtime=600.0, **more)) for _ in range(lines)],
               source="/home/reco.yaml")  # fmt: skip


@pytest.fixture
def learned(site: Site) -> Site:
    """A site where four packages took 3 GB of memory each."""
    site.up(cpus=8, memory=8 * GB)
    site.submit(reco("first", 4))
    for line in range(1, 5):
        site.launch(f"first/1/{line}/1")
    for line in range(1, 5):
        end(site, f"first/1/{line}/1")
    return site


def end(site: Site, path: str, disk: int | None = None) -> None:
    """A package ends, with what its binary took."""
    record = {"binary": 1, "started": None, "ended": None, "exit_code": 0, "signal": None,
              "cpu": 1.0, "rss": 3 * GB, "gap": 0.0, "disk": disk}  # fmt: skip
    site.end(path, rss=3 * GB, binaries=[record])


def test_the_next_packages_are_expected_to_take_as_much(learned: Site) -> None:
    learned.submit(reco("next", 4, work_size=2 * GB))

    found = eta.sizes_of_package(learned.store, learned.id_of("next/1/1/1"))

    assert found.memory is not None and found.memory.middle == 3 * GB
    assert found.work is not None and found.work.high == 2 * GB
    facts = why(learned, "next/1/1/1").facts
    assert any(fact.startswith("it is expected to take 3.0 GB of memory") for fact in facts), facts
    assert any("2.0 GB of work files" in fact for fact in facts)


def test_a_job_with_an_unreachable_package_says_that_it_goes_on(learned: Site) -> None:
    learned.submit(reco("next", 2))
    learned.launch("next/1/1/1")
    with learned.store.writing():
        contact.down(learned.store, registry.named(learned.store, "localhost").id, "", now=1e9)

    facts = group.job(learned.store, browse.job(learned.store, "next"), 1e9).facts

    assert any(fact.startswith("it may continue there; if the node") for fact in facts), facts
    assert not any("expected to take" in fact for fact in facts), facts


def test_no_more_packages_go_to_a_node_than_its_memory_holds(learned: Site) -> None:
    from d0ctl.daemon.steps.schedule import decide

    learned.submit(reco("next", 6))
    with learned.store.writing():
        decisions = decide(learned.store, now=0.0)

    assert len(decisions) == 2


def test_an_estimate_keeps_no_package_from_an_empty_node(learned: Site) -> None:
    from d0ctl.daemon.steps.schedule import decide

    learned.submit(reco("next", 6))
    with learned.store.writing():
        change(learned.store, "node", memory=GB)
        decisions = decide(learned.store, now=0.0)

    assert len(decisions) == 1


def test_a_stage_learns_from_its_first_packages(site: Site) -> None:
    site.up(cpus=8)
    site.submit(reco("prod", 3))
    assert sizes_of(value(site.store, "stage", "sizes")).memory is None

    site.launch("prod/1/1/1")
    end(site, "prod/1/1/1")

    sizes = sizes_of(value(site.store, "stage", "sizes"))
    assert sizes.memory is not None and sizes.memory.middle == 3 * GB
    (row,) = {row[0] for row in read(site.store, "requirement", "memory_expected")}
    assert row == round(sizes.memory.high)


def test_the_peak_of_work_files_is_learned_and_reserved(site: Site) -> None:
    site.up(cpus=8, memory=80 * GB)
    site.submit(reco("prod", 3))
    site.launch("prod/1/1/1")
    end(site, "prod/1/1/1", disk=2 * GB)

    sizes = sizes_of(value(site.store, "stage", "sizes"))
    assert sizes.work is not None and sizes.work.middle == 2 * GB
    (row,) = {row[0] for row in read(site.store, "requirement", "space_expected")}
    assert row == sizes.space and row >= 2 * GB
    site.submit(reco("next", 1))
    facts = why(site, "next/1/1/1").facts
    assert any("2.0 GB of work files (1.0 GB to 4.0 GB)" in fact for fact in facts), facts


def test_an_audit_compares_what_was_reserved_with_what_was_taken(learned: Site) -> None:
    learned.submit(reco("next", 2))
    learned.launch("next/1/1/1")
    end(learned, "next/1/1/1", disk=GB)

    (found,) = [
        estimate
        for estimate in eta_audit.audit(learned.store, None, 99)
        if estimate.kind == "memory"
    ]

    ((reserved, taken),) = found.pairs
    assert (found.name, found.within, taken) == ("next/stage", 1, 3 * GB)
    assert reserved > 3 * GB


@pytest.mark.parametrize(("work", "taken"), [(5_000, 10), (GB, GB + 10)], ids=["few", "many"])
def test_an_audit_counts_work_files_from_the_size_on_from_which_they_are_reserved(
    site: Site, work: int, taken: int
) -> None:
    site.up()
    site.submit(job("makes", [package(binary(outputs=[OutputSpec("f", size=8)], runtime=600.0))]))
    site.launch("makes/1/1/1")
    end(site, "makes/1/1/1", disk=10 + work)

    (found,) = [audit for audit in eta_audit.audit(site.store, None, 99) if audit.kind == "disk"]

    assert found.pairs == [(16, taken)]
    assert found.within == (taken <= 16)


def test_the_request_of_a_job_goes_before_the_estimate(learned: Site, store: Store) -> None:
    spec = job("asks", [package(binary(runtime=600.0), memory=GB)], source="/home/reco.yaml")
    learned.submit(spec)

    rows = read(store, "requirement", "memory", "memory_expected")
    assert (GB, None) in rows
