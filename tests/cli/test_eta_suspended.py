"""Estimates while packages are suspended that a person paused: their CPUs are not free."""

import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from d0ctl_wrapper.protocol.text import PAUSED
from tests.cli.conftest import Type
from tests.cli.test_check import drive
from tests.cli.test_pause import say
from tests.cli.test_rehearse import JOB
from tests.support.building import job, line, package, production
from tests.support.rows import change
from tests.support.site import Site

BY_A_PERSON = f"{PAUSED}; stopped by SIGSTOP"


@pytest.fixture(autouse=True)
def submitted(site: Site, d0ctl: Type, tmp_path: Path) -> None:
    """Job `mc` is submitted, and something drives it."""
    (tmp_path / "mc.yaml").write_text(JOB)
    drive(site)
    d0ctl("submit", str(tmp_path / "mc.yaml"))


def suspend(site: Site, d0ctl: Type) -> None:
    """A package of another job runs, and a person suspends it."""
    site.submit(production(name="big"))
    attempt = site.launch("big/1/1/1")
    d0ctl("pause", "big", "--running")
    say(site, attempt, "suspended", 2, why=BY_A_PERSON)


def test_cpus_of_suspended_packages_are_no_capacity(site: Site, d0ctl: Type) -> None:
    suspend(site, d0ctl)
    change(site.store, "node", {}, cpus=2)

    one_left = d0ctl("eta", "mc").stdout
    d0ctl("resume", "big")
    resumed = d0ctl("eta", "mc").stdout

    assert "1 CPU worth " in one_left
    assert "2 CPUs worth " in resumed


def test_no_job_ends_while_suspended_packages_have_all_cpus(site: Site, d0ctl: Type) -> None:
    suspend(site, d0ctl)
    change(site.store, "node", {}, cpus=1)

    head, *_ = d0ctl("eta", "mc").stdout.splitlines()

    assert head == "mc  no estimate of its end: suspended packages have all CPUs"
    assert "ends about" not in d0ctl("status", "mc").stdout
    assert "begins about" not in d0ctl("why", "mc/1/1/1").stdout


def test_no_package_begins_soon_while_suspended_packages_leave_too_few_cpus_for_it(
    site: Site, d0ctl: Type
) -> None:
    suspend(site, d0ctl)
    timed = package("z")
    timed = replace(timed, binaries=(replace(timed.binaries[0], runtime=600.0),))
    site.submit(job(("a", [line(timed)]), name="other"))
    site.launch("other/1/1/1")
    change(site.store, "node", {}, cpus=2)
    before = d0ctl("why", "mc/1/1/1").stdout
    d0ctl("edit", "mc", "--cpus", "2")

    said, of_job = d0ctl("why", "mc/1/1/1").stdout, d0ctl("why", "mc").stdout

    assert "`mc/1/1/1` begins about " in before
    assert of_job.startswith("job `mc` stands still: suspended packages have the CPUs that its ")
    assert "begins" not in said


def test_packages_that_a_guard_suspended_go_on_by_themselves(site: Site, d0ctl: Type) -> None:
    say(site, site.launch("mc/1/1/1"), "suspended", 2)
    change(site.store, "node", {}, cpus=1)

    assert d0ctl("eta", "mc").stdout.startswith("mc  ends about")
    change(site.store, "package", {"phase": "suspended"}, changed=time.time() - 60)
    assert "no estimate of its end: 1 package is suspended\n" in d0ctl("eta", "mc").stdout
    said = d0ctl("why", "mc/1/1/1").stdout
    assert "ends" not in said and "$ d0ctl why localhost\n" in said
    assert "is suspended: 1 package is launched\n" in d0ctl("why", "mc").stdout


def test_a_job_of_which_a_person_suspended_packages_has_no_estimate(
    site: Site, d0ctl: Type
) -> None:
    attempt = site.launch("mc/1/1/1")
    d0ctl("pause", "mc/1/1", "--running")
    say(site, attempt, "suspended", 2, why=BY_A_PERSON)

    head, *_ = d0ctl("eta", "mc").stdout.splitlines()

    assert head == "mc  no estimate of its end: 1 package is suspended"
    assert "ends about" not in d0ctl("why", "mc/1/1/1").stdout


def test_why_of_a_ready_package_names_suspended_ones_that_have_its_cpus(
    site: Site, d0ctl: Type
) -> None:
    suspend(site, d0ctl)
    change(site.store, "node", {}, cpus=1)

    said = d0ctl("why", "mc/1/1/1").stdout
    d0ctl("resume", "big")
    resumed = d0ctl("why", "mc/1/1/1").stdout

    fact = "1 package of `big` is suspended there and keeps its CPUs until resumed or killed"
    assert f"- {fact}, e.g. `big/1/1/1`" in said
    assert "$ d0ctl resume big\n  $ d0ctl resume 'big:suspended'   # only these\n" in said
    assert "CPUs free in" not in said
    assert "suspended there" not in resumed and "d0ctl resume" not in resumed


def test_a_job_stands_still_while_suspended_packages_have_all_cpus(site: Site, d0ctl: Type) -> None:
    suspend(site, d0ctl)
    change(site.store, "node", {}, cpus=1)

    stopped, whole = d0ctl("status", "--check"), d0ctl("why", "mc").stdout
    d0ctl("resume", "big")
    resumed = d0ctl("status", "--check")

    why = "`mc`: suspended packages have the CPUs that its 20 packages need"
    assert (stopped.exit_code, resumed.exit_code) == (5, 0)
    assert why in stopped.stdout
    assert "d0ctl resume big" in whole


def test_a_job_stands_still_while_its_own_suspended_packages_have_all_cpus(
    site: Site, d0ctl: Type
) -> None:
    attempt = site.launch("mc/1/1/1")
    d0ctl("pause", "mc/1/1", "--running")
    say(site, attempt, "suspended", 2, why=BY_A_PERSON)
    free = d0ctl("status", "mc", "--check")
    change(site.store, "node", {}, cpus=1)

    stopped, whole = d0ctl("status", "mc", "--check"), d0ctl("why", "mc").stdout
    d0ctl("resume", "mc:suspended")
    resumed = d0ctl("status", "mc", "--check")

    assert [answer.exit_code for answer in (free, stopped, resumed)] == [0, 5, 0]
    assert "stands still" in stopped.stdout
    assert "suspended packages have the CPUs that its 19 packages need" in stopped.stdout
    assert "1 package of `mc` stays suspended until `d0ctl resume mc:suspended`" in whole
