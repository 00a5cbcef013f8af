"""`status -q` names jobs that stand still while others move."""

import time

import pytest

from d0ctl.store.nodes import leases, placement
from tests.cli.conftest import Type
from tests.support.building import document, job, line, package, production
from tests.support.rows import read
from tests.support.site import Site


def drive(site: Site) -> None:
    """A daemon lives."""
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())


def test_a_job_whose_last_packages_are_held_is_named_while_others_move(
    site: Site, d0ctl: Type
) -> None:
    drive(site)
    site.up()
    site.submit(production("moves"))
    site.submit(job(("a", [line(package("x"))]), name="stuck"))
    d0ctl("hold", "stuck/1/1/1", "--yes")

    result = d0ctl("status", "-q", "--json")

    assert (result.exit_code, document(result.stdout)["commands"]) == (1, ["d0ctl why stuck"])
    assert d0ctl("status", "-q").stdout == "failures: `stuck` stands still: 1 package is held\n"


def test_failures_of_one_job_do_not_hide_a_job_that_stands_still(site: Site, d0ctl: Type) -> None:
    drive(site)
    site.up()
    site.submit(production("moves"))
    site.fail("moves/1/1/1")
    site.submit(job(("a", [line(package("x", cpus=64))]), name="stuck"))

    result = d0ctl("status", "-q")

    assert (result.exit_code, result.stdout) == (
        1,
        "failures: 1 package failed in `moves`; `stuck`: no node can take 1 package: "
        "`localhost`: 4 CPUs, needs 64\n",
    )


def test_all_jobs_that_stand_still_are_named_if_none_moves(site: Site, d0ctl: Type) -> None:
    drive(site)
    site.up()
    site.submit(production("kept"))
    d0ctl("hold", "kept")
    for name in ("big", "bigger"):
        site.submit(job(("a", [line(package(f"x-{name}", cpus=64))]), name=name))

    result = d0ctl("status", "-q")

    assert (result.exit_code, result.stdout) == (
        5, "stands still: `big`: no node can take 1 package: `localhost`: 4 CPUs, needs 64; "
           "`bigger` stands still, too; `kept` is held\n",
    )  # fmt: skip


def test_a_standstill_does_not_hide_failures_of_other_jobs(site: Site, d0ctl: Type) -> None:
    drive(site)
    site.up()
    site.submit(job(("a", [line(package("x"))]), name="broken"))
    site.fail("broken/1/1/1")
    site.submit(job(("a", [line(package("y", cpus=64))]), name="kept"))

    result = d0ctl("status", "-q")

    assert (result.exit_code, result.stdout) == (
        5,
        "stands still: `kept`: no node can take 1 package: `localhost`: 4 CPUs, needs 64; "
        "1 package failed in `broken`\n",
    )
    commands = document(d0ctl("status", "-q", "--json").stdout)["commands"]
    assert commands == ["d0ctl why kept", "d0ctl why broken"]

    d0ctl("acknowledge", "broken", "--yes")

    assert "failed" not in d0ctl("status", "-q").stdout


def test_held_and_paused_jobs_are_named_while_others_move(site: Site, d0ctl: Type) -> None:
    drive(site)
    site.up()
    for name in ("moves", "kept", "asleep"):
        site.submit(production(name))
    d0ctl("hold", "kept")
    d0ctl("pause", "asleep")

    result = d0ctl("status", "-q")

    assert (result.exit_code, result.stdout) == (
        0, "moving: 1 job; `kept` is held; `asleep` is paused\n",
    )  # fmt: skip


@pytest.mark.parametrize(("verb", "state"), [("pause", "paused"), ("hold", "held")])
def test_held_and_paused_jobs_are_named_while_their_packages_still_run(
    site: Site, d0ctl: Type, verb: str, state: str
) -> None:
    drive(site)
    site.up()
    site.submit(production("kept"))
    site.launch("kept/1/1/1")
    d0ctl(verb, "kept")

    whole, job, stage = (d0ctl("status", *words, "-q") for words in ([], ["kept"], ["kept/1"]))

    assert [result.exit_code for result in (whole, job, stage)] == [0, 0, 0]
    assert whole.stdout == f"moving: 1 job; `kept` is {state}\n"
    assert job.stdout == f"`kept` is running: 0 of 8 packages done; it is {state}\n"
    assert stage.stdout == f"`kept/1` is running: 0 of 6 packages done; its job is {state}\n"


def test_production_with_only_held_packages_left_needs_a_person_and_does_not_stand_still(
    site: Site, d0ctl: Type
) -> None:
    drive(site)
    site.up()
    site.submit(production("kept"))
    site.submit(production("asleep"))
    d0ctl("hold", "kept/*")
    d0ctl("pause", "asleep")

    result = d0ctl("status", "-q")

    assert (result.exit_code, result.stdout) == (
        1, "failures: `kept` stands still: 8 packages are held; `asleep` is paused\n",
    )  # fmt: skip
    assert "d0ctl_status 1.0\n" in d0ctl("report", "metrics").stdout
    assert document(d0ctl("doctor", "--json").stdout)["standstill"] is None


def test_a_job_whose_packages_run_on_without_a_daemon_does_not_stand_still(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    before = d0ctl("status", "prod").stdout
    site.launch("prod/1/1/1")

    cards, answer = d0ctl("status", "prod").stdout, d0ctl("why", "prod").stdout
    row = next(line for line in d0ctl("status").stdout.splitlines() if line.startswith("prod"))

    assert "stands still" in before
    assert all("running" in text and "stands still" not in text for text in (cards, row, answer))
    assert answer.startswith("1 package continues in job `prod`, but no daemon is running, "
                             "so nothing new starts")  # fmt: skip
    assert "d0ctl daemon start" in answer


def test_failures_are_named_beside_a_job_that_a_person_holds(site: Site, d0ctl: Type) -> None:
    drive(site)
    site.up()
    site.submit(job(("a", [line(package("x"))]), name="broken"))
    site.fail("broken/1/1/1")
    site.submit(production("kept"))
    d0ctl("hold", "kept")

    result = d0ctl("status", "-q")

    assert (result.exit_code, result.stdout) == (
        1, "failures: 1 package failed in `broken`; `kept` is held\n",
    )  # fmt: skip


@pytest.mark.parametrize("verb", ["hold", "pause"])
def test_a_hold_names_the_packages_that_start_nevertheless(
    site: Site, d0ctl: Type, verb: str
) -> None:
    site.submit(production("kept"))
    site.send("kept/1/1/1")

    plan, done = d0ctl(verb, "kept", "--dry-run").stdout, d0ctl(verb, "kept").stdout

    assert "nodes have 1 package already that will start" in d0ctl("why", "kept").stdout
    rest = "1 package queued on a node starts nevertheless: `d0ctl pause kept --running` prevents"
    assert rest in plan and rest in done


def test_a_job_with_several_held_packages_releases_all_of_them(site: Site, d0ctl: Type) -> None:
    drive(site)
    site.submit(production("kept"))
    d0ctl("hold", "kept/*")

    answer = d0ctl("why", "kept").stdout

    assert answer.startswith("no package of job `kept` is running now: ")
    assert "d0ctl release kept:held" in answer and "d0ctl release kept/" not in answer


def test_a_job_that_waits_for_a_retried_package_of_another_is_not_blocked(
    site: Site, d0ctl: Type
) -> None:
    drive(site)
    site.up()
    site.submit(job(("a", [line(package("x"))]), name="first"))
    site.submit(job(("a", [line(package("y", needs=["first:x"]))]), name="second"))
    site.submit(job(("a", [line(package("z", needs=["second:y"]))]), name="third"))
    site.submit(job(("a", [line(package("other"))]), name="alone"))
    site.fail("alone/1/1/1")
    site.fail("first/1/1/1")
    with site.store.writing():
        placement.end_jobs(site.store, now=time.time())
    for name in ("second", "third"):
        assert d0ctl("status", name, "-q").exit_code == 1

    d0ctl("retry", "first:failed")

    for name in ("second", "third"):
        assert d0ctl("status", name, "-q").exit_code == 0
        assert "blocked" not in d0ctl("why", name).stdout + d0ctl("status", name).stdout
    assert read(site.store, "resumed_job", "job_id", by="job_id") == []
    assert "alone" in d0ctl("status", "-q").stdout


def test_the_overview_names_a_job_with_failures_before_one_that_a_person_paused(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")
    site.submit(production("later"))
    d0ctl("pause", "later")

    assert d0ctl("status").stdout.endswith("d0ctl status prod    d0ctl why prod\n")
