"""Results are said to depend on files of packages that have failed since."""

import time
from pathlib import Path

import pytest

from d0ctl.store.jobs import require
from tests.cli.conftest import Type
from tests.support.site import Site

SCAN = """\
job: scan
stages:
  - {name: sim, lines: [{for: {n: [1, 2, 3, 4]}, run: sim, outputs: "s{n}"}]}
  - {name: cut, lines: [{for: {n: [1, 2, 3]}, run: cut, inputs: "s{n}", outputs: "c{n}"}]}
  - {name: merge, lines: [{run: merge, inputs: {from: cut}, outputs: merged.txt}]}
  - {name: all, require: 50%, lines: [{run: all, inputs: {from: sim}, outputs: all.txt}]}
"""


@pytest.fixture
def scanned(site: Site, d0ctl: Type, tmp_path: Path) -> Site:
    """A job of which only the last simulation has not succeeded, and nothing needs it."""
    (file := tmp_path / "scan.yaml").write_text(SCAN)
    assert d0ctl("submit", str(file)).exit_code == 0
    site.fail("scan/1/4/1", reason="exit-code", exit_code=3)
    for path in [path for path in site.phases() if path != "scan/1/4/1"]:
        if path == "scan/4/1/1":
            with site.store.writing():
                require.continue_stages(site.store, now=time.time())
        site.finish(path)
    return site


def test_results_name_the_package_that_has_failed_since_they_were_made(
    scanned: Site, d0ctl: Type
) -> None:
    before = [d0ctl("results", "scan").stderr, d0ctl("why", "scan:merged.txt").stdout]

    assert d0ctl("set-status", "scan/1/2/1", "unscheduled").exit_code == 0
    scanned.fail("scan/1/2/1", reason="exit-code", exit_code=3)

    assert "since" not in "".join(before)
    assert d0ctl("results", "scan").stderr.splitlines()[-1:] == [
        "3 successful packages depend on a file of `scan/1/2/1`, which has failed since"
    ]
    said = "depends on a file of `scan/1/2/1`, which has failed since\n"
    assert f"`scan/3/1/1` {said}" in d0ctl("why", "scan:merged.txt").stdout
    assert f"it {said}" in d0ctl("why", "scan/3/1/1").stdout
    assert "since" not in d0ctl("why", "scan/2/1/1").stdout


def test_several_packages_that_have_failed_since_are_counted(scanned: Site, d0ctl: Type) -> None:
    assert d0ctl("set-status", "scan/1/1-2/1", "unscheduled").exit_code == 0
    scanned.fail("scan/1/1/1", reason="exit-code", exit_code=3)
    assert d0ctl("kill", "scan/1/2/1").exit_code == 0

    assert d0ctl("results", "scan").stderr.splitlines()[-1:] == [
        "4 successful packages depend on files of `scan/1/1/1` and 1 more package, "
        "which have not succeeded since"
    ]
