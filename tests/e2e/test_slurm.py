"""Packages in allocations of a real Slurm: pilots come, work and go."""

import signal
from pathlib import Path

from tests.e2e.pilots import WAITING, apply, began, begin, finish, pilots, start
from tests.support.site import Site
from tests.support.site.commands import EXAMPLES, fingerprint
from tests.support.slurm import Slurm
from tests.support.waiting import Pid, wait_until

APART = """\
#!/bin/sh
for real in $(which -a srun); do :; done
for word do shift; set -- "$@" "$(printf %s "$word" | sed s,/pilots/,/apart/,g)"; done
exec "$real" "$@"
"""
"""An srun to machines on which the folder of the pilots is another one."""


def test_a_production_runs_in_allocations(batch: Site) -> None:
    apply(batch)
    batch.start_daemon()

    batch.submit((EXAMPLES / "hello/job.yaml").read_text())

    batch.wait(lambda: batch.look() == {"done": 5}, what="the job is done")
    bases = {row[0] for row in batch.ask("select base from attempt")}
    assert all(base.startswith(f"{batch.folder}/pilots/") for base in bases)
    assert (batch.home.root / "results/hello/hello.txt").exists()
    wait_until(lambda: set(pilots(batch)) == {"ended"}, what="idle pilots have ended")
    assert [node["node"] for node in batch.json("node", "list")["nodes"]] == ["localhost"]
    assert batch.package("hello/1/1/1")["attempts"][0]["node"].startswith("batch-")


def test_a_job_file_sends_packages_to_pilots_or_keeps_them_away(batch: Site) -> None:
    apply(batch)
    batch.ok("node", "resume", "localhost")
    batch.start_daemon()

    batch.submit("""
        job: both
        stages:
          - name: inside
            lines: [{run: echo $SLURM_JOB_ID >inside.txt, outputs: [inside.txt], nodes: batch}]
          - name: outside
            lines:
              - {run: echo $SLURM_JOB_ID >outside.txt, outputs: [outside.txt], exclude-nodes: batch}
        """)

    batch.wait(lambda: batch.look() == {"done": 2}, what="both are done")
    results = batch.home.root / "results/both"
    assert (results / "inside.txt").read_text().strip()
    assert not (results / "outside.txt").read_text().strip()
    assert batch.ok("export", "both").count("nodes: [batch]\n") == 2
    assert batch.package("both/1/1/1")["attempts"][0]["node"].startswith("batch-")


def test_a_second_pilot_comes_when_the_first_is_full(batch: Site) -> None:
    apply(batch)
    batch.start_daemon()
    alone = WAITING.replace("- run:", "- cpus: 2\n        run:").format(folder=batch.folder)
    batch.submit(alone)
    wait_until(lambda: began(batch), what="the first package runs")

    batch.submit(alone.replace("night", "day"))
    wait_until(lambda: len(set(began(batch))) == 2, what="the second runs in another pilot")
    seen = batch.ok("why", "batch")
    assert all(f"pilot `batch-{number}` (job " in seen for number in (1, 2))
    (batch.folder / "go").touch()
    batch.wait(lambda: batch.look() == {"done": 2}, what="both are done")


def test_node_check_tests_the_whole_path_of_a_pilot(batch: Site, engine: Slurm) -> None:
    apply(batch)

    found = batch.json("cluster", "check", "batch")

    names = [one["what"] for one in found["findings"] if one["ok"]]
    assert names[:4] == ["tools", "submission", "queue", "reach"]
    assert names[-1] == "detached processes"
    assert found["ok"]
    wait_until(lambda: not engine.call("squeue", "--noheader"), what="its job is cancelled")
    assert not list((batch.folder / "pilots").rglob("check-*"))


def test_cluster_check_says_whether_jobs_share_the_folder_of_direct_mode(
    batch: Site, tools: Path
) -> None:
    apply(batch, ", mode: direct")
    shared = batch.json("cluster", "check", "batch")
    srun = tools / "srun"
    srun.write_text(APART)
    srun.chmod(0o755)

    apart = batch.d0ctl("cluster", "check", "batch")

    assert shared["findings"][-1]["what"] == "shared folder"
    assert shared["ok"]
    assert apart.code == 6
    assert "is not the same on its machine as on the login node" in apart.out
    assert not list((batch.folder / "pilots").rglob("shared-*"))


def test_a_check_gives_the_reason_of_a_refused_submission(batch: Site) -> None:
    apply(batch, ", partition: nightly")

    done = batch.d0ctl("cluster", "check", "batch")

    assert done.code == 1
    assert "submission" in done.out
    assert "invalid partition" in done.out.lower()


def test_a_check_that_stays_in_the_queue_says_why_and_is_cancelled(
    batch: Site, engine: Slurm
) -> None:
    apply(batch)
    for _ in range(2):
        engine.call("sbatch", "--cpus-per-task=4", "--output=/dev/null", "--wrap=sleep 600")
    wait_until(lambda: engine.call("squeue", "--noheader", "--states=R", "--format=%A").count("\n")
               == 2, what="Slurm is full")  # fmt: skip

    seen = batch.ok("cluster", "check", "batch", "--wait", "1s")

    assert "did not begin within 1 s" in seen
    reasons = "(Resources)", "(Priority)", "it was submitted just now"  # before Slurm has looked
    assert any(reason in seen for reason in reasons), seen
    assert "d0ctl" not in engine.call("squeue", "--noheader", "--format=%j")


def test_pilots_are_reached_through_a_login_node(batch: Site, engine: Slurm) -> None:
    login = batch.start_sshd("login")
    settings = [f"export {name}='{value}'" for name, value in engine.variables.items()]
    (login.home / ".bashrc").write_text("\n".join(settings) + "\n")
    apply(
        batch,
        f", login: '{login.destination}', via: openssh, identity: {login.identity},"
        f" accept-key: '{fingerprint(login)}'",
    )
    batch.start_daemon()

    begin(batch)
    assert batch.ask("select destination, via from node where kind = 'slurm'") == [
        (login.destination, "openssh")
    ]
    finish(batch)


def test_packages_survive_a_broken_connection_to_their_pilot(batch: Site) -> None:
    start(batch)

    for step in [pid for pid in batch.processes() if is_step(pid)]:
        step.kill(signal.SIGKILL)
    batch.wait_phase("night/1/1/1", "unreachable")
    batch.wait_phase("night/1/1/1", "running")
    finish(batch)

    assert len(began(batch)) == 1


def is_step(pid: Pid) -> bool:
    """Whether a process is the client of a step."""
    program, _, _ = pid.command_line().partition(" ")
    return program.rpartition("/")[2] == "srun"


def test_a_batch_that_was_accepted_without_an_answer_is_found(batch: Site, tools: Path) -> None:
    apply(batch)
    sbatch = tools / "sbatch"
    real = batch.variables["PATH"].split(":")[1]
    wait = f"until [ -e {tools}/over ]; do sleep 0.1; done"
    sbatch.write_text(f'#!/bin/sh\n{real}/sbatch "$@" > {tools}/array\n{wait}\n')
    sbatch.chmod(0o755)
    batch.start_daemon()
    batch.submit(WAITING.format(folder=batch.folder))
    wait_until(lambda: (tools / "array").exists() and (tools / "array").read_text(), what="sbatch")

    batch.kill_daemon()
    sbatch.unlink()
    (tools / "over").touch()
    batch.start_daemon()
    wait_until(lambda: began(batch), what="the package runs")
    finish(batch)

    assert batch.ask("select job, seq from pilot") == [((tools / "array").read_text().strip(), 0)]


def test_a_batch_that_a_late_controller_accepted_is_found(batch: Site, tools: Path) -> None:
    apply(batch)
    sbatch, real = tools / "sbatch", batch.variables["PATH"].split(":")[1]
    error = "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation"
    sbatch.write_text(f'#!/bin/sh\n{real}/sbatch "$@" >> {tools}/array\necho {error} >&2\nexit 1\n')
    sbatch.chmod(0o755)
    batch.start_daemon()

    begin(batch)
    finish(batch)

    assert batch.ask("select job, seq from pilot") == [((tools / "array").read_text().strip(), 0)]


def test_a_refused_submission_is_shown_until_the_site_file_is_corrected(batch: Site) -> None:
    apply(batch, ", partition: nightly")
    batch.start_daemon()
    batch.submit(WAITING.format(folder=batch.folder))
    batch.wait(lambda: batch.ask("select 1 from cluster where retry > 0"), what="it is refused")

    why = "cluster `batch` takes no jobs since"
    for words in (("why", "night/1/1/1"), ("why", "batch"), ("why", "night"), ("status",)):
        seen = " ".join(batch.ok(*words).split())
        assert why in seen
        assert "nvalid partition name specified" in seen
    faults = {one["cluster"]: one["fault"] for one in batch.json("cluster", "list")["clusters"]}
    assert faults["batch"]["what"] == "submit"
    assert faults["batch"]["retry"] > faults["batch"]["since"]

    apply(batch)
    wait_until(lambda: began(batch), what="the package runs")
    finish(batch)

    assert "takes no jobs" not in batch.ok("cluster", "list")


def test_a_queue_that_hangs_keeps_nothing_else_waiting(batch: Site, tools: Path) -> None:
    apply(batch)
    batch.ok("node", "resume", "localhost")
    batch.start_daemon()
    batch.ok("node", "drain", "localhost")
    begin(batch)
    asked, over = tools / "asked", tools / "over"

    (tools / "squeue").write_text(
        f"#!/bin/sh\ntouch {asked}\nuntil [ -e {over} ]; do sleep 0.1; done\nexit 1\n"
    )
    (tools / "squeue").chmod(0o755)
    wait_until(asked.exists, what="it hangs")
    batch.ok("node", "resume", "localhost")
    batch.submit("job: day\nstages: [{name: go, lines: [{run: 'true', nodes: [localhost]}]}]\n")
    batch.wait_phase("day/1/1/1", "done")
    (batch.folder / "go").touch()
    batch.wait_phase("night/1/1/1", "done")
    assert batch.ask("select fault from cluster where fault is not null") == []

    over.touch()
    batch.wait(lambda: batch.ask("select 1 from cluster where fault_of = 'queue'"), what="it fails")
    assert "cluster `batch` does not answer since" in batch.ok("why", "batch")


def test_a_controller_that_is_killed_and_comes_back_loses_nothing(
    batch: Site, engine: Slurm
) -> None:
    start(batch)

    with engine.without_controller():
        batch.wait(lambda: batch.ask("select 1 from cluster where fault_of = 'queue'"), "no answer")
        assert "cluster `batch` does not answer since" in batch.ok("why", "batch")
        batch.submit((EXAMPLES / "hello/job.yaml").read_text())
        assert batch.phase("night/1/1/1") in ("running", "unreachable")
    (batch.folder / "go").touch()

    batch.wait(lambda: batch.look() == {"done": 6}, what="both jobs are done")
    wrong = "select 1 from cluster where fault is not null"
    batch.wait(lambda: not batch.ask(wrong), what="nothing is wrong any more")


def test_a_queue_that_gives_no_answer_fails_no_package(batch: Site, tools: Path) -> None:
    start(batch)
    asked = tools / "asked"

    (tools / "squeue").write_text(f"#!/bin/sh\necho >> {asked}\necho no controller >&2\nexit 1\n")
    (tools / "squeue").chmod(0o755)
    wait_until(lambda: asked.exists() and len(asked.read_text()) > 2, what="it failed three times")
    assert batch.phase("night/1/1/1") == "running"
    (tools / "squeue").unlink()
    finish(batch)

    assert len(began(batch)) == 1


def test_the_example_runs_there(batch: Site) -> None:
    text = (EXAMPLES / "patterns/slurm-site.yaml").read_text()
    folder = f"    dir: {batch.folder}/pilots\n    poll: 1s\n    idle: 2s\n"
    batch.ok("site", "apply", batch.write(text + folder, "site.yaml"), "--yes")

    batch.ok("run", EXAMPLES / "patterns/slurm.yaml")

    assert len((batch.home.root / "results/slurm/all.txt").read_text().splitlines()) == 6
    usage = batch.json("report", "usage", "slurm")["by_node"]
    assert {one["node"].partition("-")[0] for one in usage} == {"batch"}
