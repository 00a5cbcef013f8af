"""Packages with jobs of their own in HTCondor, whose tools have stand-ins."""

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.pilots import KEYS, WAITING, finish, write
from tests.support.htcondor import Pool
from tests.support.site import Site
from tests.support.waiting import wait_until

MANY = """\
job: many
stages: [{lines: [{for: {i: {range: [1, 12]}}, run: 'echo {i} > {i}.txt', outputs: ['{i}.txt']}]}]
"""


def apply(condor: Site, more: str = "") -> None:
    """Put the pool into the site; each package has a job."""
    keys = f"kind: htcondor, mode: direct, {KEYS}, dir: {condor.folder}/shared"
    write(condor, f"{keys}{more}")


def test_packages_have_jobs_of_their_own_and_few_submissions(
    condor: Site, pool: Pool, tools: Path
) -> None:
    apply(condor)
    shim = tools / "condor_submit"
    shim.write_text(f'#!/bin/sh\necho >> {tools}/calls\nexec {pool.tools}/condor_submit "$@"\n')
    shim.chmod(0o755)
    pool.limit(8)
    condor.start_daemon()

    condor.submit(MANY)

    condor.wait(lambda: condor.look() == {"done": 12}, what="all are done")
    assert len((tools / "calls").read_text().splitlines()) <= 10
    assert {row[0] for row in condor.ask("select node_name from attempt")} == {"batch"}
    assert (condor.home.root / "results/many/12.txt").read_text() == "12\n"
    condor.wait(lambda: condor.ask("select 1 from pilot") == [], what="all jobs are settled")


def test_a_job_has_the_requests_and_the_priority_of_its_package(condor: Site, pool: Pool) -> None:
    apply(condor)
    condor.start_daemon()
    asks = "- cpus: 2\n        priority: 70\n        run:"
    condor.submit(WAITING.replace("- run:", asks).format(folder=condor.folder))
    condor.wait_phase("night/1/1/1", "running")

    (job,) = pool.jobs()
    assert (job["RequestCpus"], job["JobPrio"]) == (2, 20)
    assert job["JobBatchName"].endswith("-night.wait")
    finish(condor)


def test_why_explains_a_job_in_the_queue_and_kill_removes_it(condor: Site, pool: Pool) -> None:
    apply(condor)
    pool.limit(0)
    condor.start_daemon()
    condor.submit(WAITING.format(folder=condor.folder))
    waits = "select 1 from pilot where reason = 'no match found'"
    condor.wait(lambda: condor.ask(waits), what="it is in the queue")

    condor.ok("priority", "night", "70")
    condor.wait(lambda: pool.jobs()[0]["JobPrio"] == 20, what="it comes before others")
    (job,) = pool.jobs()
    said = condor.ok("why", "night/1/1/1")
    assert f"its job {job['id']} of `batch` is queued: no machine that fits is free" in said
    condor.ok("kill", "night", "--yes")
    condor.wait_phase("night/1/1/1", "canceled")
    wait_until(lambda: not pool.jobs(), what="its job is removed")


@pytest.mark.parametrize(
    ("ad", "reason", "words"),
    [
        ({"JobStatus": 5, "HoldReasonCode": 34, "HoldReasonSubCode": 102}, "out-of-memory",
         "has ended: held: it used more memory than it requested (code 34, subcode 102)"),
        ({"JobStatus": 5, "HoldReasonCode": 1, "HoldReason": "via condor_hold (by user root)"},
         "killed", "has ended: held: a user holds it: via condor_hold (by user root)"),
        ({"JobStatus": 1, "VacateReason": "Startd was shutdown"}, "platform-failure",
         "has ended: evicted: Startd was shutdown"),
    ],
)  # fmt: skip
def test_the_state_of_a_job_is_the_reason_of_its_package(
    condor: Site, pool: Pool, ad: dict[str, Any], reason: str, words: str
) -> None:
    apply(condor)
    condor.start_daemon()
    condor.submit(WAITING.format(folder=condor.folder))
    condor.wait_phase("night/1/1/1", "running")
    (job,) = pool.jobs()

    pool.change(job["id"], **ad)

    over = "select reason, message from attempt where number = 1 and ended > 0"
    condor.wait(lambda: condor.ask(over), what="it is over")
    ((seen, message),) = condor.ask(over)
    assert (seen, words in message) == (reason, True), message
    wait_until(lambda: job["id"] not in {one["id"] for one in pool.jobs()}, what="it is removed")


def test_the_history_names_who_removed_the_job_of_a_package(condor: Site, pool: Pool) -> None:
    apply(condor)
    condor.start_daemon()
    condor.submit(WAITING.format(folder=condor.folder))
    condor.wait_phase("night/1/1/1", "running")
    (job,) = pool.jobs()

    pool.call("condor_rm", job["id"])

    over = "select outcome, reason, message from attempt where ended > 0"
    condor.wait(lambda: condor.ask(over), what="it is over")
    removed = "has ended: removed: via condor_rm (by user emmy)"
    assert condor.ask(over) == [("failed", "killed", f"job {job['id']} of `batch` {removed}")]
