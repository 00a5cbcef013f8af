"""`why` of a package on a node: why that node."""

from collections.abc import Sequence

from d0ctl.daemon.steps.schedule import decide
from d0ctl.nodes.transports.transport import Address
from d0ctl.store.nodes import placement, registry
from d0ctl.units import iso, moment
from tests.show.asking import NOW, why
from tests.support.jobs import binary, job, package
from tests.support.rows import change
from tests.support.site import Site


def site_of_two(site: Site) -> None:
    """The nodes `localhost` and `other`, with four CPUs each."""
    site.up(cpus=4)
    registry.add(site.store, Address("other", "ssh", "other"), cpus=4)
    site.up("other", cpus=4)


def schedule(site: Site, packages: Sequence[int] = (), now: float = NOW) -> None:
    """Give ready packages to nodes, as the daemon does; or only these."""
    with site.store.writing():
        decisions = [found for found in decide(site.store, now=now)
                     if not packages or found.package in packages]  # fmt: skip
        placement.assign(site.store, decisions, now=now)


def test_a_package_on_a_node_says_why_that_node(site: Site) -> None:
    site_of_two(site)
    site.submit(job("prod", [package(binary())]))
    site.submit(job("only", [package(binary(), nodes=("other",))]))
    schedule(site)

    found = why(site, "prod/1/1/1")
    node, other = found.details["node_choice"]["node"], found.details["node_choice"]["rival"]
    assert {node, other} == {"localhost", "other"}
    said = f"it went to `{node}`: `{other}` would have been as good ("
    assert [fact for fact in found.facts if fact.startswith(said)]
    only = "it went to `other`: no other could take it then ("
    assert [fact for fact in why(site, "only/1/1/1").facts if fact.startswith(only)]


def test_a_later_package_that_went_to_a_node_for_the_same_reason_has_its_own_time(
    site: Site,
) -> None:
    site_of_two(site)
    site.submit(job("prod", [package(binary(), nodes=("other",)) for _ in range(2)]))
    schedule(site, [1], NOW)
    schedule(site, [2], NOW + 100)

    times = [why(site, f"prod/1/{line}/1").details["node_choice"]["at"] for line in (1, 2)]

    assert times == [iso(NOW), iso(NOW + 100)]


def test_numbers_that_were_compared_for_an_earlier_package_have_their_time(site: Site) -> None:
    site_of_two(site)
    site.submit(job("prod", [package(binary(), nodes=("other",)) for _ in range(2)]))
    schedule(site, [1], NOW)
    schedule(site, [2], NOW + 100)
    change(site.store, "node_choice", rule="earliest", rival="localhost", mine=10, theirs=12)

    first, later = (why(site, f"prod/1/{line}/1") for line in (1, 2))

    said = "it would end there in 10 s, on `localhost` in 12 s (decided at "
    (own,), (shared,) = ([fact for fact in found.facts if said in fact] for found in (first, later))
    assert ", by the numbers of " not in own
    assert shared.endswith(f", by the numbers of {moment(NOW, NOW)}, for a package like it)")
    assert later.details["node_choice"]["compared"] == iso(NOW)


def test_a_node_that_came_up_meanwhile_had_no_room(site: Site) -> None:
    site.up(cpus=4)
    registry.add(site.store, Address("other", "ssh", "other"), cpus=1)
    site.submit(job("beside", [package(binary(), nodes=("other",))]))
    site.submit(job("prod", [package(binary()) for _ in range(2)]))
    schedule(site, [2], NOW)
    site.up("other", cpus=1)
    schedule(site, [1], NOW + 50)
    schedule(site, [3], NOW + 100)

    said = (
        "it went to `localhost`: the other node that meets its request could not take it then "
        "(decided at "
    )
    assert [fact for fact in why(site, "prod/1/2/1").facts if fact.startswith(said)]


def test_a_node_that_a_package_avoids_is_named(site: Site) -> None:
    site_of_two(site)
    site.submit(job("prod", [package(binary())]))
    change(site.store, "requirement", avoid="other")
    schedule(site)

    said = "no other could take it then, and it avoids `other` (decided"
    assert [fact for fact in why(site, "prod/1/1/1").facts if said in fact]


def test_a_package_without_a_node_says_nothing_of_one(site: Site) -> None:
    site_of_two(site)
    site.submit(job("prod", [package(binary())]))

    assert "node_choice" not in why(site, "prod/1/1/1").details


def test_a_site_of_one_node_has_no_choice_to_explain(site: Site) -> None:
    site.up(cpus=4)
    site.submit(job("prod", [package(binary())]))
    schedule(site)

    assert not [fact for fact in why(site, "prod/1/1/1").facts if "went to" in fact]
