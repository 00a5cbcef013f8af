"""The use of nodes and packages over time: which samples are kept, and when they go."""

from d0ctl.store.history import use_samples
from d0ctl.store.views import one_package
from tests.support import rows
from tests.support.building import production
from tests.support.site import Site


def node(site: Site) -> int:
    """The id of the only node."""
    return int(rows.value(site.store, "node", "id"))


def report(site: Site, path: str, attempt: int, *, at: float, cpu: float, rss: int = 1000) -> None:
    """Record a report of the wrapper of a package."""
    package = site.id_of(path)
    if not rows.count(site.store, "progress", package_id=package):
        rows.insert(site.store, "progress", package_id=package, attempt_id=attempt, seq=1, at=at,
                    binary=1, line="", cpu=cpu, rss=rss)  # fmt: skip
    else:
        rows.change(site.store, "progress", {"package_id": package}, at=at, cpu=cpu, rss=rss)


def sample(site: Site, now: float) -> None:
    """Take samples of the node, as the daemon does."""
    with site.store.writing():
        use_samples.take(site.store, node(site), now=now)


def test_a_package_is_sampled_at_most_twice_a_minute_and_less_often_later(site: Site) -> None:
    site.submit(production())
    attempt = site.launch("prod/1/1/1")
    rows.change(site.store, "attempt", {"id": attempt}, started=1000.0)
    for at in (1010.0, 1020.0, 1045.0, 11_000.0, 11_060.0, 11_200.0):
        report(site, "prod/1/1/1", attempt, at=at, cpu=at - 1000)
        sample(site, at)

    found = one_package.samples(site.store, site.id_of("prod/1/1/1"))

    assert [sample.at for sample in found] == [1010, 1045, 11_000, 11_200]
    assert found[-1].cpu == 10_200


def test_a_node_has_a_sample_with_the_memory_of_its_packages_for_a_day(site: Site) -> None:
    site.submit(production())
    for number in (1, 2):
        path = f"prod/1/{number}/1"
        report(site, path, site.launch(path), at=1000.0, cpu=1.0, rss=300)
    rows.change(site.store, "node", {"id": node(site)}, load=2.5)
    sample(site, 1000.0)
    sample(site, 1060.0)

    assert [(sample.at, sample.load, sample.rss) for sample in use_samples.of_node(
        site.store, node(site), since=0.0)] == [(1000, 2.5, 600), (1060, 2.5, 600)]  # fmt: skip
    (later,) = use_samples.of_nodes(site.store, since=1001.0)["localhost"]
    assert (later.at, later.load, later.rss) == (1060, 2.5, 600)

    sample(site, 1060.0 + use_samples.KEPT_S)

    left = use_samples.of_node(site.store, node(site), since=0.0)
    assert [sample.at for sample in left] == [1060, 1060 + use_samples.KEPT_S]


def test_the_samples_of_a_package_go_with_its_attempt(site: Site) -> None:
    site.submit(production())
    attempt = site.launch("prod/1/1/1")
    report(site, "prod/1/1/1", attempt, at=1000.0, cpu=1.0)
    sample(site, 1000.0)
    assert rows.count(site.store, "package_sample") == 1

    site.end("prod/1/1/1")

    assert rows.count(site.store, "package_sample") == 0
