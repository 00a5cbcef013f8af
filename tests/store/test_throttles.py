"""Throttles of the site file, from the rows of jobs to nodes."""

import json
from collections import Counter

import pytest

from d0ctl.store import Store
from d0ctl.store.clusters import throttles
from d0ctl.store.nodes.site import throttle_rules
from tests.support.jobs import job, simple, submitted
from tests.support.rows import read
from tests.support.site import Site


@pytest.fixture
def site(store: Store) -> Site:
    """This machine and a farm of two nodes, with eight CPUs each."""
    return Site.of(store, "farm1", "farm2", cpus=8)


def throttle(store: Store, **keys: tuple[str, object]) -> None:
    """Let the site have throttles."""
    with store.writing():
        for name, value in keys.items():
            throttles.change(store, name.replace("_", " ").replace("ALL", "*"), dict([value]))


def packages(store: Store, name: str, originator: str = "ada", number: int = 30) -> None:
    """Submit packages of a researcher."""
    submitted(store, job(name, [simple() for _ in range(number)], originator=originator))


def placed(store: Store, by: str = "job") -> Counter[str]:
    """Return how many packages have a node, by job or by node."""
    rows = read(store, "v_package", by, "phase", by="package_id")
    return Counter(name for name, phase in rows if phase != "ready")


def test_no_more_packages_run_at_once_than_a_throttle_says(store: Store, site: Site) -> None:
    throttle(store, node_farmALL=("max-running", 2), researcher_ada=("max-running", 9))
    packages(store, "one")
    packages(store, "two")
    packages(store, "other", "ole@lab")

    site.schedule()
    site.schedule()

    assert placed(store, "node")["farm1"] == placed(store, "node")["farm2"] == 2
    assert placed(store) == {"one": 9, "other": 3}


def test_no_more_packages_are_launched_in_a_time_than_a_throttle_says(
    store: Store, site: Site
) -> None:
    throttle(store, job_oneALL=("max-launches", "3/1h"))
    packages(store, "one")
    packages(store, "two", number=2)

    site.schedule()
    site.schedule()
    assert placed(store) == {"one": 3, "two": 2}

    for _ in range(20):
        site.schedule()

    assert placed(store) == {"one": 6, "two": 2}


def test_a_limit_that_is_lifted_holds_nothing_back(store: Store, site: Site) -> None:
    throttle(store, job_one=("max-running", 3))
    packages(store, "one")
    site.schedule()
    with store.writing():
        throttles.change(store, "job one", {})

    site.schedule()

    assert placed(store) == {"one": 24}
    assert throttle_rules(store) == []


def test_of_several_throttles_each_counts(store: Store, site: Site) -> None:
    throttle(store, job_ALL=("max-running", 5), job_one=("max-running", 7),
             researcher_ada=("max-running", 8))  # fmt: skip
    packages(store, "one")
    packages(store, "two")

    site.schedule()

    assert placed(store) == {"one": 5, "two": 3}


def test_counts_of_launches_of_long_ago_are_forgotten(store: Store, site: Site) -> None:
    throttle(store, job_ALL=("max-launches", "1/10m"))
    packages(store, "one")
    for _ in range(30):
        site.schedule()

    assert len(store.connection.execute("select * from launch_tally").fetchall()) <= 2
    assert json.loads(store.value("setting", name="throttles")) == {
        "job *": {"max-launches": "1/10m"}
    }


def test_packages_that_only_deliver_outputs_count_for_no_throttle(store: Store, site: Site) -> None:
    throttle(store, job_one=("max-running", 9), node_ALL=("max-running", 9))
    packages(store, "one")
    site.schedule()
    farm = site.node("farm1")
    on_farm = placed(store, "node")["farm1"]
    (job_id,) = {row[0] for row in read(store, "job", "id")}
    with store.writing():
        store.connection.execute(
            "insert into requirement (job_id, stage_id, cpus, needs, stay)"
            " select job_id, stage_id, cpus, needs, 'farm1' from requirement limit 1"
        )
        store.connection.execute(
            "update package set requirement_id = (select max(id) from requirement)"
            " where node_id = ?", (farm.id,),
        )  # fmt: skip

    found = throttles.allowances(store, {farm.id: "farm1"}, [job_id], now=0.0)

    assert on_farm > 0
    assert [allowance.running for allowance in found.nodes[farm.id]] == [0]
    assert [allowance.running for allowance in found.jobs[job_id]] == [9 - on_farm]
