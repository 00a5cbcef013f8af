"""restore-line --again: lines that packages have succeeded without."""

import re
import time
from pathlib import Path

from d0ctl.store.checks.check import faults
from d0ctl.store.files import copies
from d0ctl.store.nodes import placement
from d0ctl.store.views import browse, left_out
from tests.cli.conftest import Type
from tests.support.building import document, job, line, package
from tests.support.rows import change, read
from tests.support.site import Site

MERGED = """
job: prod
stages:
  - {name: sim, lines: [{for: {n: [1, 2]}, run: "true", outputs: "sim-{n}"}]}
  - {name: merge, lines: [{run: "true", inputs: {from: sim}, outputs: all}]}
  - {name: plot, lines: [{run: "true", inputs: [all], outputs: plot}]}
"""

CHAINS = """
job: prod
stages:
  - name: sim
    lines:
      - for: {n: [1, 2]}
        packages:
          - {run: "true", inputs: [gains.txt], outputs: "gen-{n}"}
          - {run: "true", inputs: ["gen-{n}"], outputs: "sim-{n}"}
  - {name: merge, lines: [{run: "true", inputs: {from: sim}, outputs: all}]}
"""


def dropped_and_merged(site: Site, d0ctl: Type, folder: Path, *, is_lost: bool) -> None:
    """Two chains, of which one was dropped before the merge, whose source has changed since.

    If `is_lost`, its files were removed, too.
    """
    (folder / "gains.txt").write_text("1")
    (folder / "prod.yaml").write_text(CHAINS)
    d0ctl("submit", str(folder / "prod.yaml"))
    for path in ("1/1/1", "1/1/2", "1/2/1", "1/2/2"):
        site.finish(f"prod/{path}")
    change(site.store, "file", {"name": str(folder / "gains.txt")}, checksum="sha256:1", size=1)
    d0ctl("kill-line", "prod/1/2", "--drop-outputs")
    site.finish("prod/2/1/1")
    if is_lost:
        files = read(site.store, "file", "id", "name")
        made = [file for file, name in files if name.endswith("-2")]
        with site.store.writing():
            copies.lose(site.store, [(file, 1) for file in made], now=time.time())
    (folder / "gains.txt").write_text("22")


def test_the_packages_of_a_restored_line_that_are_made_again_are_counted(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    dropped_and_merged(site, d0ctl, tmp_path, is_lost=True)

    plan = d0ctl("restore-line", "prod/1/2", "--again", "--dry-run").stdout
    done = d0ctl("restore-line", "prod/1/2", "--again").stdout

    for said, will in ((plan, "would"), (done, "will")):
        assert (f"2 packages {will} run again, too, because their outputs were removed\n"
                "  prod/1/2/1\n  prod/1/2/2\n") in said  # fmt: skip
        assert f"start now read the new contents:\n  {tmp_path}/gains.txt\n" in said
        assert "finished package" not in said
    assert [site.phase(f"prod/1/2/{n}") for n in (1, 2)] == ["ready", "waiting"]
    assert faults(site.store) == []


def test_the_plan_says_which_files_have_changed_since_a_restored_line_read_them(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    dropped_and_merged(site, d0ctl, tmp_path, is_lost=False)

    plan = d0ctl("restore-line", "prod/1/2", "--again", "--dry-run").stdout
    d0ctl("restore-line", "prod/1/2", "--again")

    changed = f"`{tmp_path}/gains.txt` has changed since 1 finished package read it"
    assert f"{changed}: `d0ctl update prod/1/2 --again` runs it again" in plan
    assert "outputs were removed" not in plan
    assert plan.startswith("would restore the files of `prod/1/2`\n")
    assert "`d0ctl update prod/1 --again` runs them again" in d0ctl("results", "prod").stderr


def test_a_line_that_a_merge_has_succeeded_without_comes_back_and_is_merged_after_all(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "prod.yaml").write_text(MERGED)
    d0ctl("submit", str(tmp_path / "prod.yaml"))
    site.finish("prod/1/1/1")
    site.fail("prod/1/2/1")
    d0ctl("kill-line", "prod/1/2", "--drop-outputs")
    site.finish("prod/2/1/1")
    site.finish("prod/3/1/1")
    (first, *_) = read(site.store, "location", "file_id", "cluster_id", by="file_id")
    with site.store.writing():
        copies.lose(site.store, [first], now=time.time())

    answers = [document(d0ctl("why", path, "--json").stdout)
               for path in ("prod/1/2/1", "prod/1/2", "prod:sim-2")]  # fmt: skip
    refused = d0ctl("restore-line", "prod/1/2")
    (command,) = re.findall(r"to run it again with them: (d0ctl .*)", refused.stderr)
    plan = d0ctl(*command.split()[1:], "--dry-run").stdout
    done = d0ctl(*command.split()[1:]).stdout

    assert refused.exit_code == 4
    assert all(command in answer["commands"] for answer in answers), answers
    assert command == "d0ctl restore-line prod/1/2 --again"
    assert "to run again with them: 2 packages" in plan
    assert "2 packages that had succeeded without them run again" in done
    assert "1 package will run again, too, because its outputs were removed\n  prod/1/1/1" in done
    assert [site.phase(f"prod/{n}/1/1") for n in (1, 2, 3)] == ["ready", "waiting", "waiting"]
    d0ctl("retry", "prod/1/2/*:failed,canceled")
    site.finish("prod/1/1/1")
    site.finish("prod/1/2/1")
    site.finish("prod/2/1/1")
    assert site.phase("prod/3/1/1") == "ready"
    assert left_out.short_packages(site.store, browse.job(site.store, "prod").id, 9) == []
    assert faults(site.store) == []


def test_a_drop_and_its_undo_leave_the_end_of_a_job_where_it_was(site: Site, d0ctl: Type) -> None:
    site.submit(job(("sim", [line(package(f"sim-{n}"), name=f"{n}") for n in (1, 2)])))
    site.finish("prod/1/1/1")
    site.fail("prod/1/2/1")
    with site.store.writing():
        placement.end_jobs(site.store, now=time.time())
    ended = browse.job(site.store, "prod").ended

    for words in (("kill-line", "prod/1/2", "--drop-outputs"), ("restore-line", "prod/1/2")):
        assert d0ctl(*words).exit_code == 0
        with site.store.writing():
            placement.end_jobs(site.store, now=time.time() + 60)

        assert ended
        assert browse.job(site.store, "prod").ended == ended

    d0ctl("retry", "prod/1/2/1")
    assert browse.job(site.store, "prod").ended is None


def test_a_line_that_comes_back_after_an_update_removed_it_is_said_to_have_no_readers(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    path = tmp_path / "prod.yaml"
    path.write_text(MERGED)
    d0ctl("submit", str(path))
    site.fail("prod/1/2/1")
    path.write_text(MERGED.replace("[1, 2]", "[1]"))
    d0ctl("update", "prod", "--yes")

    plan = d0ctl("restore-line", "prod/1/2", "--dry-run").stdout
    done = d0ctl("restore-line", "prod/1/2", "--yes").stdout

    assert "restored, and read by no other package: 1 file\n  sim-2\n" in plan
    assert "added to the inputs" not in plan
    assert "no other package reads the restored files\n" in done


def test_a_merge_that_is_dropped_itself_neither_blocks_a_restore_nor_runs_again(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "prod.yaml").write_text(MERGED)
    d0ctl("submit", str(tmp_path / "prod.yaml"))
    site.finish("prod/1/1/1")
    site.finish("prod/1/2/1")
    d0ctl("kill-line", "prod/1/2", "--drop-outputs")
    site.finish("prod/2/1/1")
    d0ctl("kill-line", "prod/2/1", "--drop-outputs")

    assert "d0ctl restore-line prod/1/2\n" in d0ctl("why", "prod/1/2/1").stdout
    d0ctl("restore-line", "prod/1/2")

    assert site.phase("prod/2/1/1") == "done"
    assert faults(site.store) == []

    d0ctl("restore-line", "prod/2/1")

    status = d0ctl("status", "prod").stdout
    assert "prod/2/1/1 ran with 1 of 2 inputs, missing: sim-2" in status
    assert "1 package of `prod` is out of date" in status
    d0ctl("update", "prod", "--again", "--yes")
    assert site.phase("prod/2/1/1") == "ready"
    assert faults(site.store) == []
