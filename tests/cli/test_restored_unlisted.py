"""Restored lines that the job file no longer has: no `from` takes their files."""

import json
from pathlib import Path

import pytest

from d0ctl.store.checks.check import faults
from tests.cli.conftest import Type
from tests.support.site import Site

MADE = """\
job: made
stages:
  - {name: sim, lines: [{for: {n: [1, 2, 3]}, run: "true", outputs: "s-{n}"}]}
"""
LESS = MADE.replace("[1, 2, 3]", "[1, 2]")
READ = "job: read\nstages: [{lines: [{run: cat, inputs: {from: made/sim}}]}]\n"
DROP = ("kill-line", "made/1/3", "--drop-outputs")
RESTORE = ("restore-line", "made/1/3")


def inputs_of_reader(d0ctl: Type, folder: Path) -> list[str]:
    """Submit a job that reads the stage; what it reads."""
    (folder / "read.yaml").write_text(READ)
    assert d0ctl("submit", str(folder / "read.yaml")).exit_code == 0
    package = json.loads(d0ctl("status", "read/1/1/1", "--json").stdout)
    return [file["file"] for file in package["inputs"]]


@pytest.mark.parametrize(
    "moves",
    [
        ["less", RESTORE],
        [DROP, "less", RESTORE],
        [DROP, "less", "less", RESTORE],
        ["done", "less", DROP, RESTORE],
        [DROP, "less"],
    ],
)
def test_no_from_takes_files_of_a_restored_line_that_the_job_file_lacks(
    site: Site, d0ctl: Type, tmp_path: Path, moves: list[str | tuple[str, ...]]
) -> None:
    path = tmp_path / "made.yaml"
    path.write_text(MADE)
    d0ctl("submit", str(path))
    for move in moves:
        if move == "done":
            site.finish("made/1/3/1")
        elif move == "less":
            path.write_text(LESS)
            d0ctl("update", "made")
        else:
            done = d0ctl(*move)
            assert done.exit_code == 0
            leaves_out = "the job file does not have `made/1/3`, so `from` leaves these files out"
            assert (leaves_out in done.stdout) == (move == RESTORE)

    assert inputs_of_reader(d0ctl, tmp_path) == ["s-1", "s-2"]

    unlisted = "line `made/1/3` is no longer in the job file: no `from` takes its files"
    assert (unlisted in d0ctl("why", "made").stdout) == (RESTORE in moves)
    assert faults(site.store) == []
    path.write_text(MADE)
    d0ctl("update", "made")
    assert "no longer in the job file" not in d0ctl("why", "made").stdout
    assert (site.phase("made/1/3/1") == "dropped") == (RESTORE not in moves)


def test_a_line_that_the_job_file_has_again_is_read_once_a_person_restores_it(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    path = tmp_path / "made.yaml"
    path.write_text(MADE)
    d0ctl("submit", str(path))
    d0ctl(*DROP)
    for text in (LESS, MADE):
        path.write_text(text)
        d0ctl("update", "made")

    assert site.phase("made/1/3/1") == "dropped"
    assert d0ctl(*RESTORE).exit_code == 0
    assert inputs_of_reader(d0ctl, tmp_path) == ["s-1", "s-2", "s-3"]
    assert "no longer in the job file" not in d0ctl("why", "made").stdout


def test_update_names_a_reader_once_when_the_job_file_loses_a_dropped_line(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    path = tmp_path / "made.yaml"
    path.write_text(MADE)
    d0ctl("submit", str(path))
    inputs_of_reader(d0ctl, tmp_path)
    d0ctl(*DROP)
    path.write_text(LESS)

    said = [d0ctl("update", "made").stdout for _ in range(2)]
    follow = d0ctl("update", "read")
    d0ctl(*RESTORE)

    follows = "to have `read` follow: d0ctl update read\n"
    assert [follows in text for text in said] == [True, False]
    assert follow.exit_code == 0
    package = json.loads(d0ctl("status", "read/1/1/1", "--json").stdout)
    assert [file["file"] for file in package["inputs"]] == ["s-1", "s-2"]


MERGE = "  - {name: merge, lines: [{run: cat, inputs: {from: sim}, outputs: all}]}\n"


def test_a_package_does_not_lack_files_that_the_job_file_does_not_give_to_it_any_more(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    path = tmp_path / "made.yaml"
    path.write_text(MADE + MERGE)
    d0ctl("submit", str(path))
    inputs_of_reader(d0ctl, tmp_path)
    d0ctl(*DROP)
    for package in ("made/1/1/1", "made/1/2/1", "made/2/1/1", "read/1/1/1"):
        site.finish(package)
    lacking = [d0ctl("status", job).stdout for job in ("made", "read")]
    path.write_text(LESS + MERGE)
    for job in ("made", "read"):
        d0ctl("update", job)
    complete = [d0ctl("status", job).stdout for job in ("made", "read")]

    restored = d0ctl(*RESTORE, "--again").stdout

    assert all("ran with 2 of 3 inputs, missing: s-3" in page for page in lacking)
    assert not any("missing" in page for page in complete)
    assert "no other package reads the restored files" in restored
    assert site.phase("made/2/1/1") == site.phase("read/1/1/1") == "done"
    site.finish("made/1/3/1")
    assert all("out of date" not in d0ctl("status", job).stdout for job in ("made", "read"))
    path.write_text(MADE + MERGE)
    assert "1 package out of date" in d0ctl("update", "made").stdout
    assert faults(site.store) == []
