"""update: keys that make nothing out of date, of packages that have succeeded."""

from pathlib import Path
from typing import Any

import pytest

from d0ctl.store.checks.check import faults
from tests.cli.conftest import Type
from tests.cli.test_update import FIRST
from tests.support.building import document
from tests.support.rows import read
from tests.support.site import Site

SIM = 'outputs: "s{n}.txt"'
CHECK = SIM + "\n        check: test -s s{n}.txt"
PATHS = ("mc/1/1/1", "mc/1/2/1", "mc/2/1/1")
TAKES = "2 packages that have run take changed keys, such as `check` or `memory`, for the next run"


@pytest.fixture
def file(site: Site, tmp_path: Path, d0ctl: Type) -> Path:
    """The job file of a job whose packages have succeeded."""
    path = tmp_path / "mc.yaml"
    path.write_text(FIRST)
    assert d0ctl("submit", str(path)).exit_code == 0
    for package in PATHS:
        site.finish(package)
    return path


def status(d0ctl: Type, package: str = "mc/1/1/1") -> Any:
    """What `status` says of a package."""
    return document(d0ctl("status", package, "--json").stdout)


def checks(site: Site) -> list[str | None]:
    """The checks of the binaries, in their order."""
    return [check for (check,) in read(site.store, "binary", '"check"', by="package_id")]


def test_a_check_that_is_added_holds_once_a_package_runs_again(
    site: Site, file: Path, d0ctl: Type
) -> None:
    file.write_text(FIRST.replace(SIM, CHECK))

    plan = d0ctl("update", "mc", "--dry-run").stdout
    assert checks(site) == [None] * 3
    done = d0ctl("update", "mc").stdout

    for said in (plan, done):
        assert said.splitlines()[-2:] == [TAKES, "unchanged: 3 packages"]
    assert checks(site) == ["test -s s1.txt", "test -s s2.txt", None]
    assert {site.phase(path) for path in PATHS} == {"done"}
    assert "test -s s1.txt" in d0ctl("export", "mc").stdout
    assert "nothing to change" in d0ctl("update", "mc", "--dry-run").stdout
    assert "out of date" not in d0ctl("status", "mc").stdout
    assert d0ctl("set-status", "mc/1/1/1", "unscheduled").exit_code == 0
    assert faults(site.store) == []

    d0ctl("update", "mc", "--previous")
    assert checks(site) == [None] * 3


def test_requests_change_for_the_next_run_and_reports_keep_those_of_the_last(
    site: Site, file: Path, d0ctl: Type
) -> None:
    before = d0ctl("report", "usage", "--json").stdout
    file.write_text(FIRST.replace(SIM, SIM + "\n        cpus: 2\n        wall-time: 1h"))

    done = d0ctl("update", "mc").stdout

    assert f"2 packages: cpus 1 -> 2, wall-time none -> 1h\n{TAKES}\n" in done
    present = status(d0ctl)
    assert (present["cpus"], present["asked"]["wall_time"]) == (2, 3600)
    assert document(d0ctl("report", "usage", "--json").stdout) == document(before)
    assert faults(site.store) == []


def test_requests_of_a_retry_stay_until_the_job_file_changes(
    site: Site, file: Path, d0ctl: Type
) -> None:
    d0ctl("set-status", "mc/2/1/1", "unscheduled")
    site.fail("mc/2/1/1")
    d0ctl("retry", "mc/2/1/1", "--memory", "1GB", "--yes")
    site.finish("mc/2/1/1")

    assert "nothing to change" in d0ctl("update", "mc", "--dry-run").stdout
    file.write_text(FIRST.replace("job: mc", "job: mc\ntitle: Night run"))
    done = d0ctl("update", "mc").stdout

    assert "1 package: memory 1GB -> none\n" in done
    assert "1 package that has run takes changed keys" in done
    assert status(d0ctl, "mc/2/1/1")["asked"]["memory"] is None


def test_packages_that_ran_during_an_update_take_checks_by_the_next_one(
    site: Site, file: Path, d0ctl: Type
) -> None:
    d0ctl("set-status", "mc/1", "unscheduled")
    for path in PATHS[:2]:
        site.launch(path)
    file.write_text(FIRST.replace(SIM, CHECK))
    assert "changed keys" not in d0ctl("update", "mc").stdout
    for path in PATHS[:2]:
        site.end(path)

    assert TAKES in d0ctl("update", "mc").stdout
    assert checks(site)[0] == "test -s s1.txt"


def test_why_names_the_check_that_failed(site: Site, file: Path, d0ctl: Type) -> None:
    file.write_text(FIRST.replace(SIM, CHECK))
    d0ctl("update", "mc")
    d0ctl("set-status", "mc/1/1/1", "unscheduled")
    detail = "the check of binary 1 (1) ended with exit code 1"
    site.fail("mc/1/1/1", reason="verification", detail=detail, exit_code=1)

    before = d0ctl("why", "mc/1/1/1").stdout
    file.write_text(FIRST.replace(SIM, CHECK.replace("test -s", "wc")))
    d0ctl("update", "mc")
    after = d0ctl("why", "mc/1/1/1").stdout

    assert "the check is `test -s s1.txt`\n" in before
    assert "the check is now `wc s1.txt`\n" in after
