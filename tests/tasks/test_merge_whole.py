"""Whole tasks with a merge, with the programs of d0ctl and a node behind an sshd."""

from pathlib import Path

from tests.support.site import Site
from tests.support.waiting import wait_until
from tests.tasks.test_processes import status
from tests.tasks.test_whole import submit

MERGE = """
merge:
  files-per-merge: 2
  run: cat {files} > all-{package.index}.txt
  inputs: ["{files}"]
  outputs: ["all-{package.index}.txt"]
"""


def start(site: Site, from_number: int) -> Path:
    """Submit a task of eight numbers of which the later ones wait for a file; return that."""
    go = site.folder / "go"
    site.ok("node", "set", "localhost", "cpus=2")
    submit(site, "reco", inputs="{seeds: {range: [1, 8]}}", split="{at-once: yes}", more=MERGE,
           run=f"test {{files}} -lt {from_number} || until test -e {go}; do sleep 0.1; done;"
               " echo {files} > out-{package.index}.txt")  # fmt: skip
    return go


def merged(site: Site) -> list[int]:
    """The numbers in the merged files of the results."""
    files = (site.home.results / "reco").glob("all-*.txt")
    return sorted(int(line) for path in files for line in path.read_text().splitlines())


def ran(site: Site, stage: str) -> set[str]:
    """The nodes where packages of a stage have succeeded."""
    with site.opened(read_only=True) as store:
        rows = store.connection.execute(
            "select distinct attempt.node_name from attempt"
            " join package on package.id = attempt.package_id and attempt.outcome = 'successful'"
            " join stage on stage.id = package.stage_id where stage.name = ?", [stage]
        )  # fmt: skip
        return {row[0] for row in rows}


def test_a_task_that_is_finished_hard_merges_what_there_is(real_site: Site) -> None:
    start(real_site, 4)
    real_site.start_daemon()
    wait_until(lambda: "3 finished" in real_site.ok("task", "status", "reco"), what="three files")
    real_site.ok("task", "finish", "reco", "--hard")
    wait_until(lambda: status(real_site, "reco") == "finished", what="the task has ended")
    wait_until(lambda: merged(real_site) == [1, 2, 3], what="the rest is merged")

    seeds, unmerged, _ = real_site.json("task", "status", "reco")["datasets"]
    assert seeds["files"] == {"finished": 3, "ready": 5}
    assert unmerged["files"] == {"finished": 3}
    cache = real_site.base() / "cache"
    wait_until(lambda: not [*cache.rglob("out-*.txt")], what="the intermediate files are removed")
    assert len([*cache.rglob("all-*.txt")]) <= 2


def test_a_task_with_a_merge_is_reassigned_to_a_node_behind_an_sshd(real_site: Site) -> None:
    real_site.add("farm01", real_site.start_sshd("farm01"))
    real_site.ok("node", "drain", "farm01")
    go = start(real_site, 1)
    real_site.start_daemon()
    wait_until(lambda: "2 running" in real_site.ok("task", "status", "reco"), what="two run here")
    real_site.ok("node", "resume", "farm01")
    real_site.ok("task", "reassign", "reco", "farm01")
    go.touch()
    wait_until(lambda: status(real_site, "reco") == "done", what="the task is done")
    wait_until(lambda: merged(real_site) == [*range(1, 9)], what="the results are here")

    assert ran(real_site, "process") == {"localhost", "farm01"}
    assert ran(real_site, "merge") == {"farm01"}
