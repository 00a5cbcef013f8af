"""finish and priority, as they are typed."""

import shlex
import time

import pytest

from d0ctl.store.checks.check import faults
from d0ctl.store.jobs.finish import sweep
from d0ctl.store.nodes import placement
from tests.cli.conftest import Type
from tests.support.building import document, production
from tests.support.site import Site


def test_a_soft_finish_lets_running_packages_end(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")

    preview = d0ctl("finish", "prod", "--dry-run").stdout
    result = d0ctl("finish", "prod", "--reason", "enough")

    assert preview == (
        "would finish job `prod`: 7 packages would be canceled; "
        "1 running package would continue to its end\n"
    )
    assert result.stdout == "finished job `prod`\n7 packages canceled, 1 still running\n"
    assert site.phase("prod/1/1/1") == "running"
    assert site.phase("prod/2/1/1") == "canceled"
    site.end("prod/1/1/1")
    assert site.phase("prod/1/1/1") == "done"
    assert document(d0ctl("status", "prod", "--json").stdout)["finishing"]["how"] == "soft"
    assert faults(site.store) == []


def test_the_plan_of_a_finish_names_how_later_stages_run_with_what_is_there(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    assert "later stages" not in d0ctl("finish", "prod", "--dry-run").stdout
    for package in ("prod/1/1/1", "prod/1/1/2"):
        site.finish(package)
    d0ctl("hold", "prod/1/2/1")
    site.launch("prod/1/3/1")

    plan = d0ctl("finish", "prod", "--dry-run").stdout

    instead = (
        "d0ctl kill-line 'prod/1/*:unscheduled,scheduled,launched,failed,canceled' --drop-outputs"
    )
    assert f"later stages would not run; to run them with what is there: {instead}\n" in plan
    assert d0ctl(*shlex.split(instead)[1:], "--yes").exit_code == 0
    assert (site.phase("prod/1/2/1"), site.phase("prod/1/3/1")) == ("dropped", "killing")
    assert site.phase("prod/2/1/1") == "ready"


def test_the_plan_of_a_finish_lets_several_packages_continue_to_their_ends(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    for line in (1, 2):
        site.launch(f"prod/1/{line}/1")

    plan = d0ctl("finish", "prod", "--dry-run").stdout

    assert "2 running packages would continue to their ends" in plan


def test_a_hard_finish_ends_running_packages(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    d0ctl("finish", "prod")

    again = d0ctl("finish", "prod")
    result = d0ctl("finish", "prod", "--hard")

    assert again.exit_code == 4
    assert again.stderr.endswith("d0ctl finish prod --hard kills running packages\n")
    assert "1 being killed" in result.stdout
    assert site.phase("prod/1/1/1") == "killing"
    site.end("prod/1/1/1", "killed", reason="killed")
    with site.store.writing():
        placement.end_jobs(site.store, now=time.time())
    assert document(d0ctl("status", "prod", "--json").stdout)["status"] == "canceled"
    assert d0ctl("finish", "prod", "--hard").exit_code == 4


def test_the_history_of_a_hard_finish_counts_the_packages_it_kills(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")

    d0ctl("finish", "prod", "--hard")

    entry = d0ctl("history", "prod").stdout.split("finish", 1)[1]
    assert "8 packages" in entry
    assert "to undo: d0ctl retry prod:canceled" in entry


def test_nothing_of_a_job_that_is_being_finished_starts_again(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    d0ctl("finish", "prod")

    site.end("prod/1/1/1", "lost", reason="lost")
    assert site.phase("prod/1/1/1") == "ready"
    assert placement.requirements(site.store) == []
    with site.store.writing():
        assert sweep(site.store, now=time.time()) == 1

    assert site.phase("prod/1/1/1") == "canceled"


def test_a_part_of_a_job_is_finished_by_its_packages(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")

    soft = d0ctl("finish", "prod/1")
    hard = d0ctl("finish", "prod/1", "--hard")

    assert soft.stdout.startswith("finished 5 packages of `prod/1`\nunchanged: 1 running")
    assert "1 package is being killed on" in hard.stdout
    assert site.phase("prod/1/1/1") == "killing"
    assert site.phase("prod/2/1/1") == "waiting"
    assert d0ctl("finish", "prod", "--soft", "--hard").exit_code == 2


def test_status_of_a_canceled_package_shows_the_reason_or_the_person(
    site: Site, d0ctl: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "emmy")
    site.submit(production())

    d0ctl("finish", "prod/1/1")
    d0ctl("finish", "prod/1/2", "--reason", "enough events")

    (silent, answer) = (d0ctl("history", f"prod/1/{line}/1").stdout for line in (1, 2))
    assert "emmy: finished" in silent
    assert "enough events" in answer and "finished" not in answer


def test_a_priority_for_a_job_with_nothing_to_start_is_reported_as_useless(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=1))
    d0ctl("kill", "prod")

    plan = d0ctl("priority", "prod", "80", "--dry-run").stdout
    result = d0ctl("priority", "prod", "80")

    assert plan == (
        "would change the priority of job `prod`: 50 -> 80; no package is left to start\n"
    )
    assert result.stdout == (
        "priority of job `prod`: 50 -> 80\n"
        "no package is left to start; the priority counts for packages that are retried\n"
    )


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        (["priority"], "SELECTOR"), (["priority", "prod"], "NUMBER"),
        (["set-status", "prod/1/1/1"], "STATUS"),
    ],
)  # fmt: skip
def test_a_missing_argument_is_named(
    site: Site, d0ctl: Type, words: list[str], missing: str
) -> None:
    site.submit(production())

    result = d0ctl(*words)

    assert (result.exit_code, f"missing argument `{missing}`" in result.stderr) == (2, True)


def test_the_list_of_jobs_has_one_blank_line_before_its_commands(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")

    lines = d0ctl("status").stdout.splitlines()

    assert lines[-1].startswith("d0ctl status prod")
    assert lines[-2] == "" and lines[-3] != ""


def test_submitting_a_job_by_its_name_says_how_to_continue_it(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    result = d0ctl("submit", "prod")

    assert (result.exit_code, result.stderr) == (
        2, "d0ctl: `prod` is a job, not a job file\nto continue it: d0ctl run prod\n",
    )  # fmt: skip


def test_a_higher_priority_comes_first_and_can_be_undone(site: Site, d0ctl: Type) -> None:
    site.submit(production("one"))
    site.submit(production("two"))
    first = placement.requirements(site.store)[0].id

    result = d0ctl("priority", "two", "80")

    assert result.stdout == "priority of job `two`: 50 -> 80\n"
    assert result.stderr == "to undo: d0ctl priority two 50\n"
    assert placement.requirements(site.store)[0].id != first
    assert d0ctl("priority", "two", "80").exit_code == 4
    assert d0ctl("priority", "two", "101").exit_code == 2
    assert d0ctl("priority", "tow", "5").stderr.endswith("did you mean `two`?\n")


def test_packages_get_a_priority_of_their_own_and_leave_that_of_their_job(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production("one"))
    site.submit(production("two", lines=3))

    result = d0ctl("priority", "two/1/3/1", "80")

    assert result.stdout == "priority of package `two/1/3/1`: 50 -> 80\n"
    assert result.stderr == "to undo: d0ctl priority two/1/3/1 50\n"
    assert "priority 80" in d0ctl("status", "two/1/3/1").stdout
    assert d0ctl("priority", "two/1/3/1", "80").exit_code == 4
    assert d0ctl("priority", "two", "20").stdout == (
        "priority of job `two`: 50 -> 20\npackages of `two/1` have a priority of their own\n"
    )
    assert [requirement.ready for requirement in placement.requirements(site.store)] == [1, 3, 2]
    assert d0ctl("doctor").exit_code == 0
    Site.of(site.store, cpus=1).schedule()
    assert site.phase("two/1/3/1") == "assigned"


def test_a_job_that_is_being_finished_is_not_finished_twice(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    assert d0ctl("finish", "prod").exit_code == 0
    assert d0ctl("finish", "prod").exit_code == 4
    assert d0ctl("finish", "prod", "--hard", "--partial").exit_code == 0

    assert d0ctl("finish", "prod", "--hard", "--partial").exit_code == 4
    assert d0ctl("finish", "prod", "--hard").exit_code == 0
