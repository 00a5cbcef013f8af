"""What is said of the files of an archived job: only those in results/ exist."""

from pathlib import Path

import pytest

from d0ctl.config import Home
from tests.cli.conftest import Type
from tests.support.building import document
from tests.support.site import Site

TEXT = """\
job: old
stages:
  - name: gen
    lines:
      - for: {n: [1, 2]}
        run: "echo > gen-{n}"
        outputs: {file: "gen-{n}", disposition: retain-indef}
  - name: sum
    lines:
      - {run: "cat {inputs} > all", inputs: {from: gen}, outputs: {file: all, result: yes}}
"""


@pytest.fixture
def archived(site: Site, home: Home, d0ctl: Type, tmp_path: Path) -> Path:
    """The path of the result of a job that was archived."""
    file = tmp_path / "old.yaml"
    file.write_text(TEXT)
    assert d0ctl("submit", str(file)).exit_code == 0
    for package in ("1/1", "1/2", "2/1"):
        site.finish(f"old/{package}/1")
    result = home.result("old", "all")
    result.parent.mkdir(parents=True, exist_ok=True)
    result.write_text("1234567890")
    assert d0ctl("archive", "old", "--as", "a", "--yes").exit_code == 0
    return result


@pytest.mark.usefixtures("archived")
def test_why_says_that_a_file_was_removed_when_its_job_was_archived(d0ctl: Type) -> None:
    said = d0ctl("why", "old:gen-1", "--archive", "a").stdout

    assert said.startswith(
        "file `gen-1` of job `old` was made by `old/1/1/1` and is gone: it was removed when the"
        " job was archived\n"
    )
    assert "it is kept" not in said


def test_the_files_of_an_archived_job_are_listed_as_removed(d0ctl: Type, archived: Path) -> None:
    reply = d0ctl("file", "list", "old", "--archive", "a")
    found = document(d0ctl("file", "list", "old", "--archive", "a", "--json").stdout)
    states = [line.rsplit("  ", 1)[-1] for line in reply.stdout.splitlines()]

    assert states[:3] == ["removed", "removed", "in results/"]
    assert "3 files; 1 present, " in reply.stdout + reply.stderr
    assert [file["present"] for file in found["files"]] == [False, False, True]

    archived.unlink()

    assert "missing from results/" in d0ctl("file", "list", "old", "--archive", "a").stdout
    assert "missing from results/" in d0ctl("status", "old/2/1/1", "--archive", "a").stdout
    assert "is missing from results/" in d0ctl("why", "old:all", "--archive", "a").stdout


@pytest.mark.usefixtures("archived")
@pytest.mark.parametrize("package", ["old/1/1/1", "old/2/1/1"])
def test_the_card_of_an_archived_package_shows_its_files_as_removed(
    d0ctl: Type, package: str
) -> None:
    said = d0ctl("status", package, "--archive", "a").stdout

    (line,) = [line for line in said.splitlines() if line.lstrip().startswith("gen-1")]
    assert "removed" in line


def test_a_blocked_package_waits_in_an_archive_for_what_it_waited_for(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    file = tmp_path / "old.yaml"
    file.write_text(TEXT)
    d0ctl("submit", str(file))
    site.finish("old/1/1/1")
    site.fail("old/1/2/1", "no such calibration")
    before = d0ctl("why", "old:all").stdout
    assert d0ctl("archive", "old", "--as", "a", "--yes").exit_code == 0

    assert "gen-1" not in before
    assert "gen-1" not in d0ctl("why", "old:all", "--archive", "a").stdout


READER = """\
job: late
stages: [{lines: [{run: "wc -l {inputs} > n", inputs: {from: old/sum}, outputs: n}]}]
"""


def test_an_archived_job_that_read_files_of_another_one_still_says_which(
    site: Site, home: Home, d0ctl: Type, tmp_path: Path
) -> None:
    for name, text in (("old", TEXT.replace("all", "sub/all")), ("late", READER)):
        (tmp_path / f"{name}.yaml").write_text(text)
        assert d0ctl("submit", str(tmp_path / f"{name}.yaml")).exit_code == 0
    for package in ("old/1/1/1", "old/1/2/1", "old/2/1/1", "late/1/1/1"):
        site.finish(package)
    result = home.result("old", "sub/all")
    result.parent.mkdir(parents=True, exist_ok=True)
    result.write_text("1")
    assert d0ctl("archive", "late", "--as", "a", "--yes").exit_code == 0

    why = d0ctl("why", "late:n", "--archive", "a").stdout
    there = d0ctl("status", "late/1/1/1", "--archive", "a").stdout
    result.unlink()
    away = d0ctl("status", "late/1/1/1", "--archive", "a").stdout

    assert "its command was wc -l sub/all > n\n" in why
    assert "it was made from `old:sub/all`" in why
    assert "sub/all  ✔" in there and "does not exist" not in there
    assert "sub/all  ·  does not exist" in away
