"""Packages with jobs of their own in a real Slurm."""

from pathlib import Path

from tests.e2e.pilots import WAITING, apply, began, begin, finish, runs_again, start
from tests.support.site import Site
from tests.support.slurm import Slurm
from tests.support.waiting import wait_until

DIRECT = ", mode: direct"

ASKS = "- cpus: 3\n        memory: 500MB\n        wall-time: 50m\n        run:"

MANY = """\
job: many
stages: [{lines: [{for: {i: {range: [1, 200]}}, run: 'echo {i} > {i}.txt', outputs: ['{i}.txt']}]}]
"""


def names(engine: Slurm) -> list[str]:
    """The names of the jobs in the queue."""
    return engine.call("squeue", "--noheader", "--array", "--format=%j").split()


def fill(batch: Site, engine: Slurm) -> str:
    """Fill Slurm with a job of another kind; its id."""
    job = engine.call("sbatch", "--parsable", "--nodes=2", "--ntasks-per-node=1",
                      "--cpus-per-task=4", "--output=/dev/null", "--wrap=sleep 600")  # fmt: skip
    batch.wait(lambda: "R" in engine.call("squeue", "--noheader", "--format=%t"), "it is full")
    return job.strip()


def refuse(tools: Path, error: str, arrays: str = "*") -> None:
    """Have sbatch refuse jobs with some options."""
    new = tools / "new"
    new.write_text(
        f"#!/bin/sh\nfor real in $(which -a sbatch); do :; done\n"
        f'case "$*" in {arrays}) echo sbatch: error: {error} >&2; exit 1;; esac\n'
        'exec "$real" "$@"\n'
    )
    new.chmod(0o755)
    new.replace(tools / "sbatch")


def test_200_packages_have_jobs_of_their_own_and_few_submissions(batch: Site, tools: Path) -> None:
    apply(batch, DIRECT)
    real = batch.variables["PATH"].split(":")[1]
    shim = tools / "sbatch"
    shim.write_text(f'#!/bin/sh\necho $* >> {tools}/calls\nexec {real}/sbatch "$@"\n')
    shim.chmod(0o755)
    batch.start_daemon()

    batch.submit(MANY)

    batch.wait(lambda: batch.look() == {"done": 200}, what="all are done")
    calls = (tools / "calls").read_text().splitlines()
    assert len(calls) <= 10
    assert all("--cpus-per-task=1 " in call and "-many.stage1 " in call for call in calls)
    assert {row[0] for row in batch.ask("select node_name from attempt")} == {"batch"}
    assert (batch.home.root / "results/many/200.txt").read_text() == "200\n"
    batch.wait(lambda: batch.ask("select 1 from pilot") == [], what="all jobs are settled")


def test_a_batch_job_requests_the_resources_of_its_package(batch: Site, engine: Slurm) -> None:
    apply(batch, DIRECT)
    batch.start_daemon()
    batch.submit(WAITING.replace("- run:", ASKS).format(folder=batch.folder))
    wait_until(lambda: began(batch), what="it runs")

    asked = engine.call("squeue", "--noheader", "--format=%C %m %l %j").split()
    assert asked[:3] == ["3", "477M", "1:00:00"]
    assert asked[3].endswith("-night.wait")
    finish(batch)


def test_why_explains_a_pending_batch_job_and_kill_cancels_it(batch: Site, engine: Slurm) -> None:
    apply(batch, DIRECT)
    fill(batch, engine)
    batch.start_daemon()
    batch.submit(MANY)
    waiting = "select count(*) from pilot where state = 'queued' and reason <> 'None'"
    batch.wait(lambda: batch.ask(waiting) == [(200,)], "they wait")

    assert "of `batch` is queued: " in batch.ok("why", "many/1/1/1")
    assert "jobs: 200 queued: " in batch.ok("why", "batch")
    assert "jobs: 200 queued: " in batch.ok("cluster", "list")
    batch.ok("kill", "many", "--yes")
    batch.wait(lambda: batch.look() == {"canceled": 200}, what="they are canceled")
    wait_until(lambda: len(names(engine)) == 1, what="their jobs are cancelled, too")
    assert batch.ask("select count(*) from attempt where started > 0") == [(0,)]


def test_a_package_that_runs_is_paused_asked_and_killed(batch: Site, engine: Slurm) -> None:
    start(batch, DIRECT)

    batch.wait_phase("night/1/1/1", "running")
    batch.ok("pause", "night", "--running")
    batch.wait_phase("night/1/1/1", "suspended")
    batch.ok("resume", "night")
    batch.wait_phase("night/1/1/1", "running")
    assert batch.json("status", "night/1/1/1", "--now")["now"]["phase"] == "running"
    batch.ok("kill", "night/1/1/1", "--yes")
    batch.wait_phase("night/1/1/1", "canceled")
    wait_until(lambda: not names(engine), what="its job is over")


def test_a_package_ends_at_the_time_limit_of_its_job(batch: Site) -> None:
    apply(batch, f"{DIRECT}, wall-time: 10s")
    batch.start_daemon()
    begin(batch)

    batch.wait(lambda: batch.ask("select 1 from attempt where ended > 0"), "it is over")
    assert batch.ask("select reason from attempt where number = 1") == [("wall-time",)]


def test_a_job_that_is_cancelled_is_a_killed_package(
    batch: Site, engine: Slurm, tools: Path
) -> None:
    start(batch, DIRECT)

    (job,), sacct = began(batch), tools / "sacct"
    sacct.write_text(f"#!/bin/sh\necho '{job}_0|CANCELLED by 1000'\n")
    sacct.chmod(0o755)
    engine.call("scancel", job)
    batch.wait(lambda: batch.ask("select 1 from attempt where ended > 0"), "it is over")

    assert batch.ask("select outcome, reason, message from attempt") == [
        ("failed", "killed", f"job {job}_0 of `batch` has ended: CANCELLED by 1000")
    ]


def test_a_package_on_a_machine_that_fails_runs_again(batch: Site, engine: Slurm) -> None:
    start(batch, DIRECT)
    machine = engine.call("squeue", "--noheader", "--format=%N").strip()

    with engine.without(machine):
        wait_until(lambda: len(began(batch)) == 2, what="it runs again")
    first, _ = runs_again(batch)

    assert "NODE_FAIL" in first["message"]


def test_a_job_that_is_requeued_runs_nothing_twice(batch: Site, engine: Slurm) -> None:
    start(batch, DIRECT)

    batch.wait(lambda: batch.ask("select 1 from pilot where state = 'running'"), "it is seen")
    (job,) = began(batch)
    engine.call("scontrol", "update", f"JobId={job}", "Requeue=1")
    engine.call("scontrol", "requeue", job)
    runs_again(batch)

    assert began(batch)[1] != job


def test_a_lost_answer_to_a_submission_starts_nothing_twice(batch: Site, tools: Path) -> None:
    apply(batch, DIRECT)
    sbatch, real = tools / "sbatch", batch.variables["PATH"].split(":")[1]
    error = "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation"
    sbatch.write_text(f'#!/bin/sh\n{real}/sbatch "$@" >> {tools}/array\necho {error} >&2\nexit 1\n')
    sbatch.chmod(0o755)
    batch.start_daemon()

    begin(batch)
    finish(batch)

    assert len((tools / "array").read_text().split()) == 1


def test_jobs_beyond_a_full_queue_wait(batch: Site, tools: Path) -> None:
    apply(batch, DIRECT)
    refuse(tools, "QOSMaxSubmitJobPerUserLimit", "*--array=0-[0-9][0-9]*")
    batch.start_daemon()

    batch.submit(MANY.replace("200", "20"))

    batch.wait(lambda: batch.look() == {"done": 20}, what="all are done")


def test_why_explains_the_limit_on_submissions_that_sbatch_names(batch: Site, tools: Path) -> None:
    apply(batch, DIRECT)
    policy = "Batch job submission failed: Job violates accounting/QOS policy"
    refuse(tools, f"AssocMaxSubmitJobLimit >&2; echo sbatch: error: {policy}")
    batch.start_daemon()

    batch.submit("job: one\nstages: [{lines: [{run: 'true'}]}]\n")

    batch.wait(lambda: batch.ask("select 1 from cluster where fault is not null"), "it is refused")
    seen = " ".join(batch.ok("why", "batch").split())
    assert f"AssocMaxSubmitJobLimit; {policy}" in seen
    assert "(its account has as many jobs in the queue as it may have)" in seen


def test_a_request_that_slurm_refuses_as_impossible_fails(batch: Site, tools: Path) -> None:
    apply(batch, DIRECT)
    refuse(tools, "Batch job submission failed: Requested node configuration is not available")
    batch.start_daemon()

    batch.submit("job: big\nstages: [{lines: [{run: 'true', cpus: 64}]}]\n")

    batch.wait(lambda: batch.ask("select 1 from attempt where ended > 0"), "it fails")
    reason, message = batch.ask("select reason, message from attempt")[0]
    assert reason == "launch-failed"
    assert message.endswith("Requested node configuration is not available")


def test_auto_gives_long_packages_jobs_and_short_ones_pilots(batch: Site) -> None:
    apply(batch, ", mode: auto")
    batch.start_daemon()

    batch.submit(
        "job: both\nstages: [{name: long, lines: [{run: 'true', runtime: 1h}]},"
        " {name: short, lines: [{run: 'true', runtime: 1s}]}]\n"
    )

    batch.wait(lambda: batch.look() == {"done": 2}, what="both are done")
    (long,), (short,) = batch.ask("select node_name from attempt order by package_id")
    assert long == "batch"
    assert short.startswith("batch-")


def test_a_stage_chooses_jobs_of_their_own_or_pilots_by_its_nodes(batch: Site) -> None:
    apply(batch, ", mode: auto")
    batch.start_daemon()

    batch.submit(
        "job: both\nstages: [{name: own, lines: [{run: 'true', runtime: 1s, nodes: [batch]}]},"
        " {name: pilots, lines: [{run: 'true', runtime: 20m, exclude-nodes: [batch]}]}]\n"
    )

    batch.wait(lambda: batch.look() == {"done": 2}, what="both are done")
    (own,), (pilot,) = batch.ask("select node_name from attempt order by package_id")
    assert own == "batch"
    assert pilot.startswith("batch-")
    assert batch.ask("select count(*) from pilot where node_id > 0") == [(1,)]


def test_no_more_jobs_are_submitted_than_the_site_allows(batch: Site, engine: Slurm) -> None:
    apply(batch, f"{DIRECT}, max-jobs: 3")
    fill(batch, engine)
    batch.start_daemon()

    batch.submit(MANY)

    batch.wait(lambda: batch.look() == {"ready": 194, "starting": 6}, what="six CPUs are asked for")
