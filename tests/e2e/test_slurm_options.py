"""More options of sbatch, and what a check leaves."""

from pathlib import Path

from tests.e2e.pilots import apply
from tests.support.site import Site
from tests.support.slurm import Slurm


def test_more_options_of_sbatch_reach_its_jobs(batch: Site, engine: Slurm) -> None:
    apply(batch, ", options: [--exclude=s1, '--begin=now+1hour']")
    batch.start_daemon()

    batch.submit("job: later\nstages: [{lines: [{run: 'true'}]}]\n")

    batch.wait(lambda: "BeginTime" in batch.ok("cluster", "list"), what="the pilot is queued")
    (job,) = engine.call("squeue", "--noheader", "--format=%F").split()
    seen = engine.call("scontrol", "show", "job", job)
    assert "ExcNodeList=s1" in seen
    assert "its start time has not come (BeginTime)" in batch.ok("why", "batch")


def test_an_option_that_d0ctl_sets_itself_is_refused(batch: Site) -> None:
    for option, fault in {
        "--time=60": "`--time` has a key of its own: `wall-time`",
        "--array=1-9": "d0ctl sets `--array` itself",
        "--arr=1-9": "d0ctl sets `--array` itself",
        "-p main": "options such as",
        "--exclude=$(id)": "options such as",
    }.items():
        batch.write(f"clusters: {{batch: {{kind: slurm, options: '{option}'}}}}", "site.yaml")

        done = batch.d0ctl("site", "apply", "site.yaml", "--yes")

        assert done.code == 2
        assert fault in done.err, done.err


def test_a_check_leaves_no_folder_even_if_its_first_removal_fails(batch: Site, tools: Path) -> None:
    apply(batch)
    failing = f'#!/bin/sh\nmkdir {batch.folder}/failed 2>/dev/null && exit 1\nexec /bin/rm "$@"\n'
    (tools / "rm").write_text(failing)
    (tools / "rm").chmod(0o755)

    batch.ok("cluster", "check", "batch")

    assert (batch.folder / "failed").exists()
    assert not [path for path in (batch.folder / "pilots").rglob("*") if "check-" in path.name]
