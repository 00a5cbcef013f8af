"""Shares of the site file, from the rows of jobs to nodes."""

import json
from collections import Counter

import pytest

from d0ctl.store import Store
from d0ctl.store.attempts.history import share_usage
from d0ctl.store.nodes import placement
from tests.support.jobs import NOW, job, simple, submitted
from tests.support.rows import read
from tests.support.site import Site

SHARES = {
    "physics": {"share": 3, "researchers": ["*@physics"]},
    "top": {"share": 1, "jobs": ["top*"]},
}


@pytest.fixture
def site(store: Store) -> Site:
    """This machine with eight CPUs, and a site with shares."""
    share(store, SHARES)
    return Site.of(store, cpus=8)


def share(store: Store, shares: object) -> None:
    """Let the site have shares."""
    with store.writing():
        store.change("keep_setting", name="shares", value=json.dumps(shares))
        store.forget()


def packages(store: Store, name: str, originator: str = "ada", number: int = 20) -> None:
    """Submit packages of a researcher."""
    submitted(store, job(name, [simple() for _ in range(number)], originator=originator))


def placed(store: Store) -> Counter[str]:
    """Return how many packages of each job have a node."""
    rows = read(store, "v_package", "job", "phase", by="package_id")
    return Counter(name for name, phase in rows if phase != "ready")


def test_groups_get_cpus_by_their_shares_whatever_came_first(store: Store, site: Site) -> None:
    for name, originator in (("free", "ada"), ("top1", "ada"), ("top2", "ole"),
                             ("mc", "emmy@physics")):  # fmt: skip
        packages(store, name, originator)

    site.schedule()

    assert placed(store) == {"mc": 6, "top1": 2}


def test_cpus_that_a_group_does_not_want_go_to_the_others(store: Store, site: Site) -> None:
    packages(store, "free")
    packages(store, "mc", "emmy@physics", number=1)
    packages(store, "top", number=3)

    site.schedule()

    assert placed(store) == {"mc": 1, "top": 3, "free": 4}


def test_a_share_of_zero_runs_when_no_other_share_wants_cpus(store: Store, site: Site) -> None:
    share(store, {"night": {"share": 0, "jobs": ["night*"]}, "others": {"share": 1}})
    packages(store, "night", number=5)
    packages(store, "day", number=6)

    site.schedule()

    assert placed(store) == {"day": 6, "night": 2}


def test_past_use_reduces_the_cpus_of_a_group_for_a_while(store: Store, site: Site) -> None:
    packages(store, "mc", "emmy@physics", number=8)
    site.settle()
    packages(store, "mc2", "emmy@physics")
    packages(store, "top")
    nodes = placement.nodes(store)

    soon = share_usage.standing(store, nodes, now=NOW + 1e4)
    late = share_usage.standing(store, nodes, now=NOW + 60 * 7 * 86400)

    assert soon is not None and late is not None
    assert soon.groups["physics"].used == pytest.approx(8, abs=0.5)
    assert late.groups["physics"].used < 1e-9
    assert soon.groups["physics"].target < 6
    assert late.groups["physics"].target < 6.01
