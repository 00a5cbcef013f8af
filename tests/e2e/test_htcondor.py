"""Packages in jobs of HTCondor, whose tools have stand-ins: pilots come, work and go."""

import os
import signal
from pathlib import Path

import pytest

from tests.e2e.pilots import KEYS, WAITING, began, begin, finish, pilots, write
from tests.support.htcondor import Pool
from tests.support.site import Site
from tests.support.site.commands import EXAMPLES, fingerprint
from tests.support.waiting import wait_until


@pytest.fixture
def batch(condor: Site) -> Site:
    """A site whose packages run in jobs of the pool only."""
    return condor


def apply(batch: Site, more: str = "", idle: str = "10m") -> None:
    """Put the pool into the site."""
    write(batch, f"kind: htcondor, {KEYS.replace('idle: 2s', f'idle: {idle}')}{more}")


def put(tools: Path, tool: str, text: str) -> None:
    """Put a tool before the one of the pool, at once."""
    new = tools / f"{tool}.new"
    new.write_text(f"#!/bin/sh\n{text}\n")
    new.chmod(0o755)
    new.replace(tools / tool)


def lost(batch: Site) -> str:
    """Why the first attempt of the package failed; the second was successful."""
    first, second = batch.package("night/1/1/1")["attempts"]
    assert (first["reason"], second["outcome"]) == ("platform-failure", "successful")
    return str(first["message"])


def test_a_production_runs_in_the_scratch_folders_of_jobs(batch: Site, pool: Pool) -> None:
    apply(batch, idle="2s")
    batch.start_daemon()

    batch.submit((EXAMPLES / "hello/job.yaml").read_text())

    batch.wait(lambda: batch.look() == {"done": 5}, what="the job is done")
    bases = {row[0] for row in batch.ask("select base from attempt")}
    assert all(base.startswith(f"{pool.folder}/dir_") for base in bases)
    assert (batch.home.root / "results/hello/hello.txt").exists()
    wait_until(lambda: set(pilots(batch)) == {"ended"}, what="idle pilots have ended")
    wait_until(lambda: not pool.jobs(), what="their jobs have left the queue")
    assert [node["node"] for node in batch.json("node", "list")["nodes"]] == ["localhost"]


def test_node_check_tests_the_whole_path_of_a_pilot(batch: Site, pool: Pool) -> None:
    apply(batch)

    found = batch.json("cluster", "check", "batch")

    names = [one["what"] for one in found["findings"] if one["ok"]]
    assert names[:4] == ["tools", "submission", "queue", "reach"]
    assert names[-1] == "detached processes"
    assert found["ok"]
    assert not pool.jobs()


def test_pilots_are_reached_through_an_access_point(batch: Site, pool: Pool) -> None:
    login = batch.start_sshd("login")
    path = pool.variables["PATH"]
    (login.home / ".bashrc").write_text(f"export PATH='{path}'\n")
    apply(
        batch,
        f", login: '{login.destination}', via: openssh, identity: {login.identity},"
        f" accept-key: '{fingerprint(login)}'",
    )
    batch.start_daemon()

    begin(batch)
    assert batch.ask("select kind, destination from node where job <> ''") == [
        ("htcondor", login.destination)
    ]
    finish(batch)


def test_a_killed_pilot_loses_only_its_running_packages(batch: Site, pool: Pool) -> None:
    apply(batch)
    batch.start_daemon()
    batch.submit("job: day\nstages: [{name: go, lines: [{run: 'true'}]}]\n")
    batch.wait_phase("day/1/1/1", "done")
    begin(batch)

    (job,) = pool.jobs()
    os.kill(job["pid"], signal.SIGKILL)
    wait_until(lambda: len(began(batch)) == 2, what="it runs again")
    (batch.folder / "go").touch()
    batch.wait(lambda: batch.look() == {"done": 2}, what="both are done")

    assert lost(batch) == "pilot `batch-1` has ended: it ended with exit code 1"
    assert len(batch.package("day/1/1/1")["attempts"]) == 1


def test_packages_of_a_pilot_that_is_removed_run_again(batch: Site, pool: Pool) -> None:
    apply(batch)
    batch.start_daemon()
    begin(batch)

    pool.call("condor_rm", *[job["id"] for job in pool.jobs()])
    wait_until(lambda: len(began(batch)) == 2, what="it runs again")
    finish(batch)

    assert lost(batch) == "pilot `batch-1` has ended: removed: via condor_rm (by user emmy)"


def test_the_event_log_names_who_removed_a_pilot_that_the_history_forgot(
    batch: Site, pool: Pool, tools: Path
) -> None:
    put(tools, "condor_history", "exit 1")
    apply(batch, f", event-log: {batch.folder}/events.log")
    batch.start_daemon()
    begin(batch)

    pool.call("condor_rm", *[job["id"] for job in pool.jobs()])
    wait_until(lambda: len(began(batch)) == 2, what="it runs again")
    finish(batch)

    assert lost(batch) == "pilot `batch-1` has ended: removed: via condor_rm (by user emmy)"


def test_packages_of_a_pilot_that_is_evicted_run_again_in_another(batch: Site, pool: Pool) -> None:
    apply(batch)
    batch.start_daemon()
    begin(batch)

    (first,) = pool.jobs()
    pool.change(first["id"], JobStatus=1, VacateReason="preempted by its machine")
    wait_until(lambda: len(began(batch)) == 2, what="it runs again")
    finish(batch)

    assert lost(batch) == "pilot `batch-1` has ended: evicted: preempted by its machine"
    assert len(set(began(batch))) == 2
    wait_until(lambda: first["id"] not in [job["id"] for job in pool.jobs()],
               what="the first job is removed")  # fmt: skip


def test_a_hold_is_shown_with_its_code_and_the_job_is_removed(batch: Site, pool: Pool) -> None:
    apply(batch)
    batch.start_daemon()
    begin(batch)

    (first,) = pool.jobs()
    pool.change(first["id"], JobStatus=5, HoldReason="Job has gone over its memory limit",
                HoldReasonCode=34, HoldReasonSubCode=102)  # fmt: skip
    wait_until(lambda: len(began(batch)) == 2, what="it runs again")
    held = (
        "held: it used more memory than it requested: Job has gone over its memory limit"
        " (code 34, subcode 102)"
    )
    assert f"a pilot (job {first['id']}) ended at " in " ".join(batch.ok("why", "batch").split())
    assert held in " ".join(batch.ok("why", "batch").split())
    finish(batch)

    assert held in lost(batch)
    wait_until(lambda: first["id"] not in [job["id"] for job in pool.jobs()],
               what="the held job is removed")  # fmt: skip


def test_why_says_what_a_queued_pilot_waits_for(batch: Site, pool: Pool) -> None:
    pool.limit(0)
    apply(batch)
    batch.start_daemon()
    batch.submit(WAITING.format(folder=batch.folder))

    free = "no machine that fits is free (no match found)"
    batch.wait(lambda: free in batch.ok("why", "night/1/1/1"), what="why it is queued")
    (job,) = pool.jobs()
    pool.change(job["id"], JobStatus=5, HoldReason="via condor_hold (by user root)",
                HoldReasonCode=1, HoldReasonSubCode=0)  # fmt: skip
    held = "held: a user holds it: via condor_hold (by user root) (code 1, subcode 0)"
    batch.wait(lambda: held in " ".join(batch.ok("why", "batch").split()), what="why it is held")

    pool.limit(2)
    pool.change(job["id"], JobStatus=1)
    wait_until(lambda: began(batch), what="the package runs")
    finish(batch)
    assert len(pilots(batch)) == 1


@pytest.mark.parametrize("answer", ["", "echo ERROR: Failed to commit job submission >&2; exit 1"])
def test_a_submission_whose_answer_is_lost_is_found(
    batch: Site, pool: Pool, tools: Path, answer: str
) -> None:
    apply(batch)
    put(tools, "condor_submit", f'{pool.tools}/condor_submit "$@" >> {tools}/jobs\n{answer}')
    batch.start_daemon()

    begin(batch)
    finish(batch)

    assert (tools / "jobs").read_text().count("\n") == 1
    assert batch.ask("select job, seq from pilot") == [("1", 0)]


def test_a_daemon_killed_during_a_submission_finds_its_pilot(
    batch: Site, pool: Pool, tools: Path
) -> None:
    apply(batch)
    wait = f"until [ -e {tools}/over ]; do sleep 0.1; done"
    put(tools, "condor_submit", f'{pool.tools}/condor_submit "$@" > {tools}/jobs\n{wait}')
    batch.start_daemon()
    batch.submit(WAITING.format(folder=batch.folder))
    wait_until(lambda: (tools / "jobs").exists() and (tools / "jobs").read_text(), what="submit")

    batch.kill_daemon()
    (tools / "condor_submit").unlink()
    (tools / "over").touch()
    batch.start_daemon()
    wait_until(lambda: began(batch), what="the package runs")
    finish(batch)

    assert batch.ask("select job, seq from pilot") == [("1", 0)]


@pytest.mark.parametrize("wrong", ["echo no schedd >&2; exit 1", "echo '[{'; exit 0"])
def test_a_queue_that_gives_no_answer_fails_no_package(
    batch: Site, tools: Path, wrong: str
) -> None:
    apply(batch)
    batch.start_daemon()
    begin(batch)
    asked = tools / "asked"

    put(tools, "condor_q", f"echo >> {asked}\n{wrong}")
    wait_until(lambda: asked.exists() and len(asked.read_text()) > 2, what="it failed three times")
    assert batch.phase("night/1/1/1") == "running"
    assert "cluster `batch` does not answer since" in batch.ok("why", "batch")
    (tools / "condor_q").unlink()
    finish(batch)

    assert len(began(batch)) == 1


def test_a_queue_that_hangs_keeps_no_package_waiting(batch: Site, tools: Path) -> None:
    apply(batch)
    batch.start_daemon()
    begin(batch)
    asked, over = tools / "asked", tools / "over"

    put(tools, "condor_q", f"touch {asked}\nuntil [ -e {over} ]; do sleep 0.1; done\nexit 1")
    wait_until(asked.exists, what="it hangs")
    (batch.folder / "go").touch()
    batch.wait_phase("night/1/1/1", "done")
    assert batch.ask("select fault from cluster where fault is not null") == []

    over.touch()
    batch.wait(lambda: batch.ask("select 1 from cluster where fault_of = 'queue'"), what="it fails")


def test_a_refused_submission_is_shown_with_its_reason(batch: Site) -> None:
    apply(batch, ", requirements: 'OpSys == \"none\"'")
    batch.start_daemon()
    batch.submit(WAITING.format(folder=batch.folder))
    batch.wait(lambda: batch.ask("select 1 from cluster where retry > 0"), what="it is refused")

    seen = " ".join(batch.ok("why", "night/1/1/1").split())
    assert "cluster `batch` takes no jobs since" in seen
    assert "ERROR: no such system" in seen


def test_a_batch_system_with_pilots_keeps_its_kind(batch: Site) -> None:
    apply(batch)
    batch.start_daemon()
    begin(batch)

    for rest in ("{batch: {kind: slurm}}", "{}"):
        batch.write(f"clusters: {rest}", "site.yaml")
        done = batch.d0ctl("site", "apply", "site.yaml", "--yes")
        assert (done.code, "cluster `batch` has 1 pilot" in done.err) == (4, True)
    finish(batch)
