"""The verbs for files: retained files are listed, given up by a person or by a merge, purged."""

from pathlib import Path

import pytest

from tests.support.site import Site
from tests.support.waiting import wait_until

SMALL = """\
job: reco
stages:
  - lines:
      - for: {n: [1, 2, 3]}
        nodes: [farm]
        run: "head -c {n}000 /dev/zero > {n}.root; echo log > {n}.log"
        outputs:
          - {file: "{n}.root", disposition: retain-indef}
          - {file: "{n}.log", disposition: retain-indef}
"""


@pytest.fixture
def reco(site: Site) -> Site:
    """A site whose node has retained the small files of a job."""
    site.add("farm")
    site.start_daemon()
    site.submit(SMALL)
    site.ok("wait", "reco")
    return site


def cached(site: Site) -> list[str]:
    """The files in the caches of the node and on the control host, but not spare ones."""
    folders = [*(site.folder / "farm").rglob("cache"), site.home.root / "cache"]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return sorted(path.name for path in files if "aside" not in path.parts)


def test_retained_files_are_removed_after_their_job(reco: Site) -> None:
    listed = reco.json("file", "list", "reco:*.root")

    assert (listed["total"], listed["bytes"]) == (3, 6000)
    first = listed["files"][0]
    assert (first["file"], first["maker"], first["size"]) == ("reco:1.root", "reco/1/1/1", 1000)
    assert (first["disposition"], first["given"]) == ("retain-indef", None)
    (copy,) = first["copies"]
    assert copy["node"] == "farm" and Path(copy["path"]).stat().st_size == 1000
    lost = reco.ok("remove", "reco", "--dry-run")
    assert "would lose 6 files" in lost and "reco:3.root  3.0 kB" in lost, lost
    assert reco.ok("file", "list", "reco", "--node", "farm").count("retain-indef") == 6
    assert reco.d0ctl("file", "list", "reco:*.nothing").code == 3
    assert reco.d0ctl("file", "set-disposition", "reco:*.root", "gone").code == 2

    plan = reco.ok("file", "set-disposition", "reco:*.root", "deletable", "--dry-run")
    assert "would set 3 files" in plan and len(cached(reco)) == 6
    assert "would remove 3 files, 6.0 kB, now: no package needs them" in plan
    words = ("reco:*.root", "deletable", "--reason", "merged")
    done = reco.d0ctl("file", "set-disposition", *words, "--yes")

    assert "file set-disposition 'reco:*.root' as-written" in done.err
    assert "an undo does not bring them back" in done.out
    wait_until(lambda: cached(reco) == ["1.log", "2.log", "3.log"])
    assert reco.json("status", "reco")["status"] == "successful"
    assert {one["present"] for one in reco.json("file", "list", "reco:*.root")["files"]} == {False}
    kept = reco.ask("select note from action where verb = 'file set-disposition'")
    assert [tuple(row) for row in kept] == [("merged; deletable",)]
    assert "purged 3 files" in reco.ok("file", "purge", "reco:*.log", "--yes")
    wait_until(lambda: cached(reco) == [])
    assert reco.d0ctl("file", "purge", "reco", "--yes").code == 4
    assert reco.d0ctl("doctor", "--nodes").code == 0


def test_a_merge_job_gives_up_the_small_files_and_leaves_no_copies_on_the_way(reco: Site) -> None:
    reco.submit("""\
job: looks
stages: [{lines: [{nodes: [localhost], run: "cat 1.log > seen", inputs: ["reco:1.log"],
                   outputs: [seen]}]}]
""")
    reco.ok("wait", "looks")
    reco.submit("""\
job: merge
hold: yes
stages:
  - lines:
      - nodes: [localhost]
        run: cat 1.root 2.root > all
        inputs:
          - {file: "reco:1.root", disposition: deletable}
          - {file: "reco:2.root", disposition: deletable}
        outputs: [all]
""")

    refused = reco.d0ctl("file", "purge", "reco:[12].root", "--yes")
    assert refused.code == 4 and "2 needed by packages" in refused.err
    reco.ok("release", "merge")
    reco.ok("wait", "merge")

    wait_until(lambda: cached(reco) == ["1.log", "2.log", "3.log", "3.root"])
    assert (reco.home.root / "results/merge/all").stat().st_size == 3000
    assert [one["node"] for one in reco.json("file", "list", "reco:1.log")["files"][0]["copies"]
            ] == ["farm"]  # fmt: skip
    assert reco.d0ctl("doctor", "--nodes").code == 0
