"""The real production: the same histogram on this machine, on two nodes, and after kill -9."""

import fcntl
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.site import Site
from tests.support.site.commands import EXAMPLES
from tests.support.waiting import wait_until

EVENTS = 300
LINES = 3
"""The example has eight."""
PACKAGES = 3 * LINES + 2
SETTINGS = ("--set", f"python={sys.executable}", "--set", f"events={EVENTS}")

Outcome = dict[str, Any]
"""What a production has left: its results, and what the reading verbs say of it."""


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """The production on this machine, without a daemon."""
    return once("here", produce_here, tmp_path_factory.getbasetemp())


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """The production on two nodes, the daemon killed when some is done and some runs."""
    return once("there", produce_there, tmp_path_factory.getbasetemp())


def once(name: str, produce: Callable[[Site], None], folder: Path) -> Outcome:
    """Have one of all test processes produce, and give each of them the outcome."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    kept = folder / f"zpeak-{name}.json"
    with (folder / f"zpeak-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            site = Site(Path(tempfile.mkdtemp(prefix=f"zpeak-{name}-", dir=folder)) / "site")
            try:
                produce(site)
                kept.write_text(json.dumps(outcome(site)))
            finally:
                site.close()
    found: Outcome = json.loads(kept.read_text())
    return found


def job(site: Site) -> Path:
    """The example with fewer lines, beside its programs."""
    folder = site.jobs / "zpeak"
    shutil.copytree(EXAMPLES / "zpeak", folder)
    text = (folder / "job.yaml").read_text()
    assert text.count("range: [1, 8]") == 1
    (folder / "job.yaml").write_text(text.replace("range: [1, 8]", f"range: [1, {LINES}]"))
    return folder / "job.yaml"


def produce_here(site: Site) -> None:
    """As a newcomer does."""
    site.ok("run", job(site), *SETTINGS)


def produce_there(site: Site) -> None:
    """As a site does on its worst day."""
    for name in ("north", "south"):
        site.add(name, None, "--dir", site.folder / name / "work", cpus=1)
    site.alone()
    site.start_daemon()
    site.ok("submit", job(site), *SETTINGS)
    for done in (2, 5):
        wait_until(lambda n=done: in_the_middle(site, n), what=f"{done} are done")  # type: ignore[misc]
        site.kill_daemon()
        site.start_daemon()
    site.ok("wait", "zpeak")


def in_the_middle(site: Site, done: int) -> bool:
    """Whether at least so many packages are done, and others run."""
    found = site.look()
    return found.get("done", 0) >= done and found.get("running", 0) > 0


def outcome(site: Site) -> Outcome:
    """All that the tests look at."""
    results = site.home.root / "results" / "zpeak"
    return {
        **{name: (results / name).read_text() for name in ("mass.csv", "peak.json", "peak.txt")},
        "png": (results / "peak.png").read_bytes()[:4].decode("latin-1"),
        "phases": site.counts("zpeak"),
        "packages": site.json("status", "zpeak/*/*/*")["packages"],
        "attempts": site.ask(
            "select package_id, number, kind, node_name, launched, ended, outcome, reason, message"
            "  from attempt order by 1, 2"
        ),
        "inputs": {
            path: site.package(path)["inputs"]
            for (path,) in site.ask("select path from v_package order by path")
        },
        "doctor": str(site.d0ctl("doctor")),
    }


def test_the_peak_is_at_the_mass_of_the_z(here: Outcome) -> None:
    peak = json.loads(here["peak.json"])

    assert peak["mass_gev"] == pytest.approx(91.2, abs=1)
    assert 0 < peak["error_gev"] < 0.5
    assert peak["events"] > EVENTS
    assert here["png"] == "\x89PNG"
    assert here["phases"] == {"done": PACKAGES}


def test_two_nodes_share_the_work(there: Outcome) -> None:
    assert {package["node"] for package in there["packages"]} == {"north", "south"}


def test_the_histogram_is_the_same_bin_for_bin_after_kill_9(here: Outcome, there: Outcome) -> None:
    assert len(here["mass.csv"].splitlines()) > 50
    assert there["mass.csv"] == here["mass.csv"]
    assert there["peak.json"] == here["peak.json"]
    assert there["peak.txt"] == here["peak.txt"]


def test_no_package_ran_twice_in_spite_of_the_kills(there: Outcome) -> None:
    assert {package["attempts"] for package in there["packages"]} == {1}, there["attempts"]
    assert there["phases"] == {"done": PACKAGES}
    assert there["doctor"].startswith("exit 0\n"), there["doctor"]


def test_files_were_carried_between_the_nodes_and_went_when_all_had_read_them(
    there: Outcome,
) -> None:
    nodes = {package["path"]: package["node"] for package in there["packages"]}
    carried = [
        reader
        for reader, inputs in there["inputs"].items()
        for one in inputs
        if one["from"] and nodes[one["from"]] != nodes[reader]
    ]

    assert carried
    assert not any(one["present"] for one in there["inputs"]["zpeak/2/1/1"] if one["from"])
