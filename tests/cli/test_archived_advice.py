"""What is said of an archived job: no command to change it, as that is refused."""

from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.store.files import copies
from tests.cli.conftest import Type
from tests.support.building import document
from tests.support.rows import change, read
from tests.support.site import Site

TEXT = """\
job: old
stages:
  - name: gen
    lines:
      - for: {n: [1, 2]}
        run: cat raw > gen-{n}
        inputs: raw
        outputs: "gen-{n}"
      - {run: echo > kept, outputs: {file: kept, disposition: retain-indef}}
  - {name: sum, lines: [{run: "cat {inputs} > all", inputs: {from: gen}, outputs: all}]}
"""


@pytest.fixture
def archived(site: Site, home: Home, d0ctl: Type, tmp_path: Path) -> Path:
    """A file that was changed after packages of a job had read it, and the job had been archived.

    Of this job, the input of a merge was dropped before, and another one removed.
    """
    raw, file = tmp_path / "raw", tmp_path / "old.yaml"
    raw.write_text("1")
    file.write_text(TEXT)
    assert d0ctl("submit", str(file)).exit_code == 0
    for package in ("1/1", "1/3"):
        site.finish(f"old/{package}/1")
    d0ctl("kill-line", "old/1/2", "--drop-outputs")
    site.finish("old/2/1/1")
    change(site.store, "file", {"name": str(raw)}, checksum="sha256:1", size=1)
    found = [file for file, name in read(site.store, "file", "id", "name") if name == "gen-1"]
    with site.store.writing():
        copies.lose(site.store, [(found[0], 1)], now=0.0)
    assert d0ctl("archive", "old", "--as", "a", "--yes").exit_code == 0
    raw.write_text("other")
    return raw


@pytest.mark.usefixtures("archived")
def test_no_command_that_would_change_an_archived_job_is_advised(d0ctl: Type) -> None:
    parts = ("old", "old/1", "old/1/2", "old/1/1/1", "old/1/2/1", "old/2/1/1", "old:gen-1",
             "old:gen-2", "old:all")  # fmt: skip
    pages = [*(("why", part) for part in parts), ("results", "old"), ("results", "old:kept"),
             ("status", "old"), ("status", "old/1/2"), ("export", "old"),
             ("history", "old"), ("history",)]  # fmt: skip

    said = {page: d0ctl("--archive", "a", *page) for page in pages}

    for page, reply in said.items():
        for text in ("d0ctl update", "d0ctl retry", "--again", "again if", "d0ctl restore-line"):
            assert text not in reply.stdout + reply.stderr, page


def test_the_changed_inputs_of_archived_results_are_named(archived: Path, d0ctl: Type) -> None:
    said = d0ctl("--archive", "a", "results", "old").stderr

    assert f"`{archived}` has changed since 1 finished package read it\n" in said


@pytest.mark.usefixtures("archived")
def test_commands_for_scripts_name_the_archive_as_those_for_people_do(d0ctl: Type) -> None:
    for part in ("old", "old/1/1/1", "old:gen-2"):
        page = d0ctl("--archive", "a", "why", part).stdout
        told = document(d0ctl("why", part, "--archive", "a", "--json").stdout)

        typed = [text.strip()[2:] for text in page.splitlines() if text.strip().startswith("$ ")]
        assert told["commands"] == typed
        assert all(command.startswith("d0ctl --archive a ") for command in typed)


@pytest.mark.usefixtures("archived")
def test_readers_in_other_jobs_than_those_of_an_archive_are_not_denied(d0ctl: Type) -> None:
    page = d0ctl("--archive", "a", "why", "old:all").stdout

    assert "- no package of this archive reads it\n" in page


@pytest.mark.usefixtures("archived")
def test_the_folders_of_archived_attempts_are_not_said_to_be_there(d0ctl: Type) -> None:
    said = d0ctl("--archive", "a", "status", "old/1/1/1").stdout

    assert "attempts" in said and "/attempts/" not in said
