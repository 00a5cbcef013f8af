"""Jobs that read a stage of another job, and are submitted after a line of it was dropped."""

from pathlib import Path

import pytest

from d0ctl.store.checks.check import faults
from tests.cli.conftest import Type
from tests.cli.test_dropped_elsewhere import MERGE
from tests.support.building import production
from tests.support.site import Site

GROUPS = """\
job: late
stages:
  - lines: [{run: "cat {inputs} > m", inputs: {from: prod/1}, outputs: m}]
  - lines:
      - for: {part: {from: prod/1, by: 1}}
        run: cat {part} > g{part.index}
        inputs: "{part}"
        outputs: "g{part.index}"
"""


@pytest.fixture
def late(site: Site, d0ctl: Type, tmp_path: Path) -> Path:
    """The job file of a job that reads all outputs of a stage, of which a line is dropped."""
    site.submit(production(lines=2))
    for package in ("1/1/1", "1/1/2", "1/2/1", "1/2/2"):
        site.finish(f"prod/{package}")
    d0ctl("kill-line", "prod/1/2", "--drop-outputs")
    path = tmp_path / "late.yaml"
    path.write_text(MERGE)
    return path


def test_a_job_that_was_submitted_without_a_dropped_file_is_out_of_date_once_that_is_back(
    site: Site, d0ctl: Type, late: Path
) -> None:
    assert d0ctl("submit", str(late)).exit_code == 0
    assert "late/1/1/1 will run with 1 of 2 inputs" in d0ctl("status", "late").stdout
    site.finish("late/1/1/1")
    assert "nothing to change" in d0ctl("update", "late", "--dry-run").stdout
    assert "out of date" not in d0ctl("status", "late").stdout

    restored = d0ctl("restore-line", "prod/1/2", "--again").stdout

    assert "to run it again with these: d0ctl update late/1/1/1 --again\n" in restored
    for words in (["status", "late"], ["why", "late"], ["why", "late/1/1/1"]):
        assert "out of date" in d0ctl(*words).stdout
    d0ctl("update", "late", "--again")
    site.finish("late/1/1/1")
    whole = "`late` is successful: 1 of 1 package done\n"
    assert d0ctl("status", "late", "-q").stdout == whole
    assert faults(site.store) == []


def test_a_job_that_was_submitted_without_a_dropped_file_reads_it_if_that_is_back_before_it_begins(
    site: Site, d0ctl: Type, late: Path
) -> None:
    d0ctl("submit", str(late))
    assert site.phase("late/1/1/1") == "ready"

    d0ctl("restore-line", "prod/1/2")

    assert "missing" not in d0ctl("status", "late").stdout
    site.finish("late/1/1/1")
    assert "nothing to change" in d0ctl("update", "late", "--dry-run").stdout
    assert faults(site.store) == []


def test_a_package_with_early_start_does_not_wait_for_files_that_were_dropped_before(
    site: Site, d0ctl: Type, late: Path
) -> None:
    text = late.read_text().replace("cat {inputs}", "cat {inputs.list}")
    late.write_text(text.replace("[{run:", "[{early-start: yes, run:"))
    assert d0ctl("submit", str(late)).exit_code == 0
    assert faults(site.store) == []

    d0ctl("restore-line", "prod/1/2")

    assert faults(site.store) == []


def test_groups_do_not_have_files_that_were_dropped_before_their_job_was_submitted(
    site: Site, d0ctl: Type, late: Path
) -> None:
    late.write_text(GROUPS)
    assert d0ctl("submit", str(late)).exit_code == 0

    assert "2 packages" in d0ctl("status", "late").stdout
    assert "nothing to change" in d0ctl("update", "late", "--dry-run").stdout
    site.finish("late/1/1/1")
    site.finish("late/2/1/1")
    d0ctl("restore-line", "prod/1/2", "--again")
    updated = d0ctl("update", "late", "--again").stdout
    assert "1 package to run again: 1 successful" in updated and "added: 1" in updated
    assert faults(site.store) == []


def test_a_job_is_refused_if_all_files_that_it_reads_or_one_that_it_requires_are_dropped(
    site: Site, d0ctl: Type, late: Path
) -> None:
    text = late.read_text()
    late.write_text(text.replace("from: prod/1", "from: prod/1, required: yes"))
    assert "`prod:sim-2` was dropped, so nothing can read it" in d0ctl("submit", str(late)).stderr
    assert "`prod:sim-2` was dropped" in d0ctl("validate", str(late)).stderr
    late.write_text(text)
    d0ctl("kill-line", "prod/1/1", "--drop-outputs")
    assert "has no output that others can read" in d0ctl("submit", str(late)).stderr


def test_the_plan_of_a_job_counts_the_dropped_files_among_those_that_it_names(
    d0ctl: Type, late: Path
) -> None:
    for words in (["validate", str(late), "--list"], ["submit", str(late), "--dry-run"]):
        assert "(job `prod`, 1 dropped)" in d0ctl(*words).stdout


def test_no_removal_that_is_refused_is_suggested_to_free_a_name(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.submit(production(lines=1))
    for path in ("prod/1/1/1", "prod/1/1/2", "prod/2/1/1", "prod/3/1/1"):
        site.finish(path)
    reader, again = tmp_path / "late.yaml", tmp_path / "prod.yaml"
    reader.write_text(GROUPS)
    again.write_text("job: prod\nstages: [{lines: [{run: 'true'}]}]\n")
    before = d0ctl("submit", str(again)).stderr
    assert d0ctl("submit", str(reader)).exit_code == 0

    while_it_is_read = d0ctl("submit", str(again)).stderr

    assert ("makes room" in before, "makes room" in while_it_is_read) == (True, False)
    assert d0ctl("remove", "prod", "--yes").exit_code == 4
