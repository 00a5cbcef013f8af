"""What a site file says of nodes that fail packages, and when they get packages then."""

import pytest

from d0ctl.store import Store
from d0ctl.store.attempts import node_record
from d0ctl.store.nodes import draining
from tests.store.bad_nodes import StillSite, fail_on, set_up
from tests.support.site_file import apply_site


def seconds_until_next(site: StillSite, most: int = 4000) -> int:
    """Seconds until a bad node gets one more package, in steps of ten."""
    before, began = site.launched_on("hole"), site.at
    while site.at < began + most:
        site.fill()
        if site.launched_on("hole") > before:
            break
        site.at += 10.0
    return round(site.at - began)


@pytest.mark.parametrize(("key", "failures"), [({}, 3), ({"failures": 5}, 5)])
def test_a_node_is_drained_after_as_many_failures_as_the_site_says(
    store: Store, key: dict[str, object], failures: int
) -> None:
    apply_site(store, bad_nodes={"pause": 1, "minimum-run": 1, **key})
    site = set_up(store, "good", "hole", packages=200)

    fail_on(site, "hole", rounds=50)

    assert site.launched_on("hole") == failures


def test_a_site_that_drains_no_node_gives_packages_to_a_bad_one(store: Store) -> None:
    apply_site(store, bad_nodes={"failures": "no"})
    site = set_up(store, "good", "hole", packages=200)

    for _ in range(20):
        site.round("hole")

    assert (site.launched_on("hole"), site.row("hole").drained) == (20, 0)


@pytest.mark.parametrize(
    ("keys", "pauses"),
    [
        ({"pause": "10s"}, [10, 20, 1200, 1200]),
        ({"pause": "50s"}, [50, 100, 1200, 1200]),
        ({"pause": "50s", "minimum-run": "1m"}, [50, 60, 60, 60]),
    ],
)
def test_a_suspect_pauses_for_as_long_as_the_site_says(
    store: Store, keys: dict[str, object], pauses: list[int]
) -> None:
    apply_site(store, bad_nodes=keys)
    site = set_up(store, "good", "hole", packages=200)
    site.fill()
    site.end_running(site.node("hole"), "failed", "exit-code")

    found = []
    for _ in pauses:
        found.append(seconds_until_next(site))
        site.end_running(site.node("hole"), "failed", "exit-code")

    assert found == pauses


@pytest.mark.parametrize(
    ("keys", "rests"),
    [
        ({"try-again": "10m"}, [600, 1200, 2400]),
        ({"try-again": "10m", "longest": "15m"}, [600, 900, 900]),
    ],
)
def test_a_drained_node_is_tried_again_when_the_site_says(
    store: Store, keys: dict[str, object], rests: list[int]
) -> None:
    apply_site(store, bad_nodes=keys)
    site = set_up(store, "good", "hole", packages=400)
    fail_on(site, "hole", rounds=50)
    bad = draining.bad_node(store, site.node("hole").id)
    assert bad is not None
    site.at = bad.since

    found = []
    for _ in rests:
        found.append(seconds_until_next(site))
        site.end_running(site.node("hole"), "failed", "exit-code")

    assert found == rests


@pytest.mark.parametrize(
    ("keys", "well", "badly", "is_excluded"),
    [
        ({}, 6, 5, True),
        ({"completed": 11}, 6, 5, False),
        ({"completed": 9}, 5, 5, True),
        ({}, 5, 5, False),
        ({"successful": 7}, 6, 5, False),
        ({"successful": 4}, 4, 7, True),
        ({}, 4, 7, False),
        ({"failed": 6}, 6, 5, False),
        ({"failed": 4}, 7, 4, True),
        ({}, 7, 4, False),
    ],
)
def test_a_job_excludes_a_node_when_the_site_says(
    store: Store, keys: dict[str, object], well: int, badly: int, is_excluded: bool
) -> None:
    apply_site(store, bad_nodes={"failures": "no"}, exclusion=keys)
    site = set_up(store, "hole", packages=60)
    here, hole = site.node("localhost"), site.node("hole")
    site.fill()
    for node, outcome, reason, number in (
        (here, "successful", None, well), (hole, "failed", "hook", badly),
    ):  # fmt: skip
        for _ in range(number):
            site.end_running(node, outcome, reason)
            site.fill()

    assert bool(node_record.exclusions(store, 1)) is is_excluded


@pytest.mark.parametrize(("keys", "is_excluded"), [({}, True), ({"rate": "30%"}, False)])
def test_a_job_excludes_a_node_where_less_than_the_rate_of_the_site_succeeds(
    store: Store, keys: dict[str, object], is_excluded: bool
) -> None:
    apply_site(store, bad_nodes={"failures": "no"}, exclusion=keys)
    site = set_up(store, "hole", packages=60)
    for outcome, reason in [("failed", "hook")] * 6 + [("successful", None)] * 4:
        site.fill()
        site.end_running(site.node("hole"), outcome, reason)
        site.end_running(site.node("localhost"), "successful")

    assert bool(node_record.exclusions(store, 1)) is is_excluded
