"""The real production: the same histogram on this machine, on two nodes, and after kill -9."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.site import EXAMPLES, PATIENCE_S, Site
from tests.support.waiting import wait_until

pytestmark = pytest.mark.xdist_group("zpeak")

ZPEAK = EXAMPLES / "zpeak" / "job.yaml"
EVENTS = 300
PACKAGES = 26
SETTINGS = ("--set", f"python={sys.executable}", "--set", f"events={EVENTS}")


@contextmanager
def ended(folder: Path) -> Iterator[Site]:
    """A site that lives as long as a module's tests."""
    site = Site(folder)
    try:
        yield site
    finally:
        site.end()


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The production on this machine, without a daemon."""
    with ended(tmp_path_factory.mktemp("here") / "site") as site:
        site.ok("run", ZPEAK, *SETTINGS)
        yield site


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The production on two nodes, the daemon killed when some is done and some runs."""
    with ended(tmp_path_factory.mktemp("there") / "site") as site:
        for name in ("north", "south"):
            site.add(name, None, "--dir", site.folder / name / "work", cpus=1)
        site.alone()
        site.start_daemon()
        site.ok("submit", ZPEAK, *SETTINGS)
        for done in (3, 12):
            wait_until(lambda n=done: in_the_middle(site, n), PATIENCE_S, f"{done} are done")  # type: ignore[misc]
            site.kill_daemon()
            site.start_daemon()
        site.ok("wait", "zpeak")
        yield site


def in_the_middle(site: Site, done: int) -> bool:
    """Whether at least so many packages are done, and others run."""
    found = site.json("status", "zpeak")["packages"]
    return bool(found["successful"] >= done and found["launched"])


def result(site: Site, name: str) -> str:
    """A result of the production."""
    return (site.home / "results" / "zpeak" / name).read_text()


def packages(site: Site) -> list[Any]:
    """All packages of the production."""
    found = site.json("status", "zpeak/*/*/*")["packages"]
    assert isinstance(found, list)
    return found


def test_the_peak_is_where_the_z_is(here: Site) -> None:
    peak = json.loads(result(here, "peak.json"))

    assert peak["mass_gev"] == pytest.approx(91.2, abs=1)
    assert 0 < peak["error_gev"] < 0.5
    assert peak["events"] > EVENTS
    assert (here.home / "results" / "zpeak" / "peak.png").read_bytes().startswith(b"\x89PNG")
    assert here.phases("zpeak") == {"done": PACKAGES}


def test_two_nodes_share_the_work(there: Site) -> None:
    nodes = [package["node"] for package in packages(there)]

    assert set(nodes) == {"north", "south"}
    assert min(nodes.count(node) for node in set(nodes)) >= 3


def test_the_histogram_is_the_same_bin_for_bin_after_kill_9(here: Site, there: Site) -> None:
    assert len(result(here, "mass.csv").splitlines()) > 50
    assert result(there, "mass.csv") == result(here, "mass.csv")
    assert result(there, "peak.json") == result(here, "peak.json")
    assert result(there, "peak.txt") == result(here, "peak.txt")


def test_nothing_ran_twice_for_all_the_kills(there: Site) -> None:
    assert {package["attempts"] for package in packages(there)} == {1}
    assert {package["phase"] for package in packages(there)} == {"done"}
    assert there.d0ctl("doctor").code == 0


def test_the_files_were_carried_between_the_nodes(there: Site) -> None:
    (merge,) = [package for package in packages(there) if package["path"] == "zpeak/2/1/1"]
    document = there.package("zpeak/2/1/1")
    makers = {one["from"] for one in document["inputs"] if one["from"]}
    made_on = {package["node"] for package in packages(there) if package["path"] in makers}

    assert len(makers) == 8
    assert made_on - {merge["node"]}
    assert all(one["present"] for one in document["inputs"])
