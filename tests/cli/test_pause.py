"""pause and resume, as they are typed."""

import time

import pytest

from d0ctl import actions
from d0ctl.actions import request
from d0ctl.actions.packages.pause import PausePlan
from d0ctl.select import parse
from d0ctl.store.attempts.launching import launches
from d0ctl.store.nodes import placement, registry
from d0ctl_wrapper.protocol.text import PAUSED
from tests.cli.conftest import Type
from tests.support.building import document, production
from tests.support.homes import faults
from tests.support.site import Site


def say(site: Site, attempt: int, phase: str, seq: int, why: str = "") -> None:
    """A wrapper tells in which state it is, and why."""
    site.tell({"attempt": attempt, "kind": "state", "seq": seq, "time": time.time(),
               "phase": phase, "why": why or f"it is {phase}"})  # fmt: skip


def test_a_paused_job_starts_nothing_and_names_the_person(site: Site, d0ctl: Type) -> None:
    name = site.submit(production())
    site.up()

    result = d0ctl("pause", name, "--reason", "disk check")

    assert (result.exit_code, result.stdout) == (0, "paused job `prod`\n")
    assert result.stderr == "to undo: d0ctl resume prod\n"
    assert placement.requirements(site.store) == []
    answer = document(d0ctl("status", name, "--json").stdout)
    assert (answer["paused"], answer["pause"]["reason"]) == (True, "disk check")
    assert "has been paused by" in d0ctl("why", "prod/1/1/1").stdout
    assert "d0ctl resume prod" in d0ctl("status", name).stdout
    again = d0ctl("pause", name)
    assert again.exit_code == 4
    assert "(disk check), so it can't be paused again" in again.stderr


def test_a_resumed_job_continues(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    d0ctl("pause", "prod")

    assert d0ctl("resume", "prod").stdout == "resumed job `prod`\n"

    assert len(placement.requirements(site.store)) == 1
    refused = d0ctl("resume", "prod")
    assert refused.exit_code == 4
    assert "is not paused as a whole" in refused.stderr
    assert refused.stderr.endswith("\nd0ctl status prod\n")
    d0ctl("hold", "prod/1/1")
    again = d0ctl("resume", "prod")
    assert again.stderr.endswith("\nd0ctl release prod:held\n")
    assert "prod/1/1/1" in d0ctl("status", "prod:held").stdout


def test_a_package_of_a_paused_job_is_resumed_with_it(site: Site, d0ctl: Type) -> None:
    site.submit(production("a"))
    d0ctl("pause", "a")
    assert "the whole job is paused: d0ctl resume a" in d0ctl("resume", "a/1/1/1").stderr


def test_the_plan_of_a_resume_counts_the_packages_on_nodes(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    attempt = site.launch("prod/1/1/1")
    d0ctl("pause", "prod", "--running")

    def suspended() -> int:
        plan = actions.preview(site.store, request("resume", parse("prod")), now=time.time())
        assert isinstance(plan, PausePlan)
        return plan.launched

    assert suspended() == 0
    say(site, attempt, "suspended", 2)
    assert suspended() == 1


def test_the_plan_of_a_resume_says_what_stays_suspended_on_a_full_disk(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    for line, causes in ((1, f"{PAUSED}; the disk has 0 B left"), (2, PAUSED)):
        attempt = site.launch(f"prod/1/{line}/1")
        say(site, attempt, "suspended", 2, why=f"{causes}; stopped by SIGSTOP")
    d0ctl("pause", "prod")

    stays = "1 package stays suspended until its node lets it continue: the disk has 0 B left\n"
    for target in ("prod", "prod/1"):
        answer = d0ctl("resume", target, "--dry-run")
        assert answer.stdout.endswith(stays), answer
    assert stays in d0ctl("resume", "prod").stdout


def test_an_assigned_package_of_a_paused_job_is_not_launched(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.up()
    site.assign("prod/1/1/1")

    d0ctl("pause", "prod")

    assert site.phase("prod/1/1/1") == "ready"


def test_an_assigned_package_of_a_held_job_is_not_launched(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.up()
    site.assign("prod/1/1/1")

    d0ctl("hold", "prod")

    assert site.phase("prod/1/1/1") == "ready"


def test_only_pause_with_running_suspends_running_packages(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")

    d0ctl("pause", "prod")
    assert document(d0ctl("status", "prod/1/1/1", "--json").stdout)["request"] is None
    result = d0ctl("pause", "prod", "--running")

    assert "1 package is being suspended" in result.stdout
    answer = document(d0ctl("status", "prod/1/1/1", "--json").stdout)
    assert (answer["phase"], answer["request"]) == ("running", "pause")
    assert "if it does not do so by itself within 10 s, it" in d0ctl("why", "prod/1/1/1").stdout


def test_pause_running_says_that_suspended_packages_keep_what_they_have(
    site: Site, d0ctl: Type
) -> None:
    most, kept = "have up to 10 s to pause by", "suspended packages keep their CPUs and memory"
    site.submit(production())
    site.launch("prod/1/1/1")

    plans = [d0ctl("pause", name, "--running", "--dry-run").stdout for name in ("prod", "prod/1/1")]
    harmless = d0ctl("pause", "prod", "--dry-run").stdout
    nothing_runs = d0ctl("pause", "prod/1/2", "--running", "--dry-run").stdout

    assert all(kept in plan and most in plan for plan in plans)
    assert kept not in harmless and kept not in nothing_runs
    assert kept in d0ctl("pause", "prod", "--running").stdout
    assert kept not in d0ctl("resume", "prod").stdout


def test_the_plan_of_pause_running_counts_packages_that_a_guard_has_suspended(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    attempt = site.launch("prod/1/1/1")
    nothing_runs = d0ctl("pause", "prod/1/2", "--running", "--dry-run").stdout
    say(site, attempt, "suspended", 2)

    whole = d0ctl("pause", "prod", "--running", "--dry-run").stdout
    part = d0ctl("pause", "prod/1/1", "--running", "--dry-run").stdout
    d0ctl("pause", "prod/1/1", "--running")
    again = d0ctl("pause", "prod/1/1", "--running", "--dry-run")

    assert "; 1 suspended package would stay so until `d0ctl resume`" in whole
    assert "running packages continue" not in whole
    assert "1 suspended" in part and "suspended" not in nothing_runs
    assert "1 suspended" not in again.stdout


def test_a_guard_s_cause_is_not_replaced_by_a_person_s_reason(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    attempt = site.launch("prod/1/1/1")
    say(site, attempt, "suspended", 2)

    d0ctl("pause", "prod", "--running", "--reason", "quiet")
    while_paused = d0ctl("why", "prod/1/1/1").stdout
    d0ctl("resume", "prod", "--reason", "all good again")
    resumed = d0ctl("why", "prod/1/1/1").stdout

    assert "- because: it is suspended\n" in while_paused and "quiet" not in while_paused
    assert "- because: it is suspended\n" in resumed and "all good again" not in resumed


def test_the_plan_of_pause_running_says_that_nothing_runs(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    said = d0ctl("pause", "prod", "--running", "--dry-run").stdout

    assert "; 0 running packages would be suspended" in said


def test_a_stopped_wrapper_reports_it_and_continues_on_request(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    attempt = site.launch("prod/1/1/1")
    here = registry.named(site.store, "localhost").id
    d0ctl("pause", "prod", "--running")

    assert launches.requested(site.store, here) == {attempt: "pause"}
    say(site, attempt, "suspended", seq=2)
    answer = document(d0ctl("status", "prod/1/1/1", "--json").stdout)
    assert (answer["phase"], answer["request"]) == ("suspended", None)
    assert "1 suspended" in d0ctl("status").stdout
    assert "1 running" not in d0ctl("status").stdout
    assert launches.requested(site.store, here) == {}
    assert d0ctl("wait", "prod").stdout == "`prod` is paused\n"

    d0ctl("resume", "prod")
    assert launches.requested(site.store, here) == {attempt: "resume"}
    assert "- it was asked to continue, and has not" in d0ctl("why", "prod/1/1/1").stdout
    say(site, attempt, "running", seq=3)
    answer = document(d0ctl("status", "prod/1/1/1", "--json").stdout)
    assert (answer["phase"], answer["request"]) == ("running", None)
    site.end("prod/1/1/1")
    assert site.phase("prod/1/1/1") == "done"


def test_a_pause_that_is_undone_before_it_took_effect_resumes(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    attempt = site.launch("prod/1/1/1")
    here = registry.named(site.store, "localhost").id

    d0ctl("pause", "prod/1/1/1", "--running")
    d0ctl("resume", "prod/1/1/1")

    assert launches.requested(site.store, here) == {attempt: "resume"}
    with site.store.writing():
        launches.settle_resumed(site.store, [attempt])
    assert launches.requested(site.store, here) == {}


def test_parts_of_a_job_are_paused_and_resumed_beside_held_packages(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    d0ctl("hold", "prod/1/1")

    paused = d0ctl("pause", "prod/1")
    resumed = d0ctl("resume", "prod/1")

    assert "paused 4 packages of `prod/1`" in paused.stdout
    assert "unchanged: 2 held" in paused.stdout
    assert "resumed 4 packages of `prod/1`" in resumed.stdout
    assert [site.phase(f"prod/1/{n}/1") for n in (1, 2, 3)] == ["held", "ready", "ready"]


def test_status_of_a_paused_package_shows_how_to_resume_it(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    d0ctl("pause", "prod/1/2/1", "--reason", "look first")

    answer = d0ctl("why", "prod/1/2/1").stdout

    assert "has been paused by" in answer
    assert "d0ctl resume prod/1/2/1" in answer


def test_ended_packages_can_not_be_paused(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")

    assert d0ctl("pause", "prod/1/1/1").stderr.startswith(
        "d0ctl: package `prod/1/1/1` is successful, so it can't be paused"
    )
    site.launch("prod/1/1/2")
    assert d0ctl("pause", "prod/1/1/2").exit_code == 4


def test_wait_returns_where_a_paused_job_can_only_be_moved_by_a_person(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    d0ctl("pause", "prod")

    assert d0ctl("wait", "prod").exit_code == 1


@pytest.mark.parametrize(
    "command",
    ["kill prod/1/1/1", "kill-line prod/1/1", "kill-line prod/1/1 --drop-outputs",
     "set-status prod/1/1/1 canceled", "finish prod", "finish prod/1/1 --hard"],
)  # fmt: skip
def test_a_paused_package_that_ends_is_no_longer_paused(
    site: Site, d0ctl: Type, command: str
) -> None:
    site.submit(production())
    d0ctl("pause", "prod/1/1")

    result = d0ctl(*command.split(), "--yes")

    assert result.exit_code == 0
    assert site.phase("prod/1/1/1") in ("canceled", "dropped")
    assert faults(site.store) == {}


def test_a_package_that_was_suspended_tells_how_long(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    now = time.time()
    site.end("prod/1/1/1", started=now - 60, ended=now, suspended=45.0)

    why = d0ctl("why", "prod/1/1/1").stdout
    assert "in 1 min 00 s on `localhost`, 45 s of it suspended" in why
    assert "was suspended for 45 s" in d0ctl("status", "prod/1/1/1").stdout
