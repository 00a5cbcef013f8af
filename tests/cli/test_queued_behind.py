"""Packages that are queued on a node whose slots have packages that a person suspended."""

import pytest

from d0ctl.store.nodes import placement
from tests.cli.conftest import Type
from tests.cli.test_check import drive
from tests.cli.test_eta_suspended import BY_A_PERSON
from tests.cli.test_pause import say
from tests.support.building import production
from tests.support.rows import change
from tests.support.site import Site


@pytest.fixture(autouse=True)
def queued(site: Site, d0ctl: Type) -> None:
    """Packages are queued on a node with one slot, which a suspended one of a paused job has."""
    drive(site)
    site.submit(production(name="long"))
    site.submit(production(name="q2"))
    attempt = site.launch("long/1/1/1")
    change(site.store, "node", {}, cpus=1)
    for line in (1, 2, 3):
        site.send(f"q2/1/{line}/1")
    d0ctl("pause", "long", "--running")
    say(site, attempt, "suspended", 2, why=BY_A_PERSON)


def test_a_job_that_is_queued_behind_suspended_packages_stands_still(d0ctl: Type) -> None:
    checks = [d0ctl("status", *part, "--check") for part in ([], ["q2"], ["q2/1"], ["q2/1/1"])]
    why = d0ctl("why", "q2").stdout
    d0ctl("resume", "long")
    resumed = d0ctl("status", "--check")

    assert [check.exit_code for check in (*checks, resumed)] == [5, 5, 5, 5, 0]
    reason = "suspended packages have the CPUs that its"
    needs = [f"{reason} {need}" for need in (*["3 packages need"] * 3, "1 package needs")]
    assert all(need in check.stdout for need, check in zip(needs, checks, strict=True))
    assert f"job `q2` stands still: {needs[0]}" in why
    assert "`q2/1/1/1` waits for a slot on `localhost`" in why
    assert "is running" not in why
    assert "$ d0ctl resume long\n" in why


def test_a_package_that_waits_for_a_slot_names_the_suspended_ones_that_have_it(
    d0ctl: Type,
) -> None:
    said = d0ctl("why", "q2/1/1/1").stdout

    assert "package `q2/1/1/1` waits for a slot on `localhost`" in said
    assert (
        "1 package of `long` is suspended there and keeps its CPUs until resumed or killed" in said
    )
    assert "$ d0ctl resume long\n" in said


def test_a_package_that_waits_behind_running_ones_says_so_and_its_job_moves(
    site: Site, d0ctl: Type
) -> None:
    d0ctl("resume", "long")
    change(site.store, "package", {"phase": "suspended"}, phase="running")

    assert "waits for a slot on `localhost`" in d0ctl("why", "q2/1/1/1").stdout
    assert "suspended" not in d0ctl("why", "q2/1/1/1").stdout
    assert d0ctl("status", "q2", "--check").exit_code == 0


@pytest.mark.parametrize("pace", [None, 0.01])
def test_a_node_is_sent_nothing_in_advance_for_slots_of_suspended_packages(
    site: Site, d0ctl: Type, pace: float | None
) -> None:
    change(site.store, "requirement", {}, pace=pace)
    (suspended,) = placement.nodes(site.store)
    d0ctl("resume", "long")
    (resumed,) = placement.nodes(site.store)

    assert (suspended.suspended, resumed.suspended) == (1.0, 0.0)
    assert suspended.lasting - resumed.lasting == (1.0 if pace else 0.0)


def test_a_package_with_a_free_slot_is_starting(site: Site, d0ctl: Type) -> None:
    change(site.store, "node", {}, cpus=2)

    assert "is starting on `localhost`" in d0ctl("why", "q2/1/1/1").stdout
    assert d0ctl("status", "q2", "--check").exit_code == 0
