"""Results of an archived job whose name was used again: they are in results/JOB.1 then."""

import json

import pytest

from tests.support.site import Site

JOB = """
    job: fix
    stages:
      - lines:
          - {{run: "mkdir d; echo {n} | tee r.txt > d/x", outputs: [r.txt, d/]}}
"""

OLD = ("--archive", "old")

ABSENT = "missing, as results/fix has other files now, such as of a later job of this name"


@pytest.fixture
def archived(site: Site) -> Site:
    """A site with an archived job, whose results are still in the folder of its name."""
    site.ok("run", site.write(JOB.format(n=1)))
    site.ok("archive", "fix", "--as", "old", "--yes")
    return site


def found(site: Site, name: str) -> tuple[object, ...]:
    """Return where a result of the archived job is, and whether it is present, in two documents."""
    result = json.loads(site.ok("results", f"fix:{name}", "--json", *OLD))
    file = json.loads(site.ok("file", "list", f"fix:{name}", "--json", *OLD))
    (row,), (listed,) = result["files"], file["files"]
    why = json.loads(site.ok("why", f"fix:{name}", "--json", *OLD))
    assert row["present"] == listed["present"] == why["details"]["file"]["present"]
    assert row["copies"] == listed["copies"]
    return result["folder"], row["path"], [copy["path"] for copy in listed["copies"]]


@pytest.mark.parametrize("name", ["r.txt", "d/"])
def test_all_commands_find_a_result_that_a_later_job_has_moved_aside(
    archived: Site, name: str
) -> None:
    site, results = archived, archived.home.results
    path = str(results / "fix" / name)
    assert found(site, name) == (str(results / "fix"), path, [path])
    assert "in results/\n" in site.ok("file", "list", f"fix:{name}", *OLD)

    site.ok("run", site.write(JOB.format(n=2)))

    path = str(results / "fix.1" / name)
    assert found(site, name) == (str(results / "fix.1"), path, [path])
    assert path in site.ok("results", "fix", *OLD)
    assert "in results/fix.1/\n" in site.ok("file", "list", f"fix:{name}", *OLD)
    assert f"- it is a result: {path}\n" in site.ok("why", f"fix:{name}", *OLD)
    site.ok("results", "fix", "--copy", str(site.folder / "copy"), *OLD)
    assert (site.folder / "copy" / "r.txt").read_text() == "1\n"
    assert (site.folder / "copy" / "d" / "x").read_text() == "1\n"


def test_a_result_that_was_written_later_with_the_same_contents_stays_where_it_is(
    archived: Site,
) -> None:
    path = archived.home.results / "fix" / "r.txt"
    path.touch()  # as a copy of the folder does

    assert found(archived, "r.txt")[1] == str(path)


def test_a_result_that_is_nowhere_is_not_present_and_commands_say_why(archived: Site) -> None:
    site = archived
    site.ok("run", site.write(JOB.format(n=2)))
    (site.home.results / "fix.1" / "r.txt").unlink()

    assert found(site, "r.txt") == (str(site.home.results / "fix"), None, [])
    assert ABSENT in site.ok("results", "fix", *OLD)
    assert ABSENT not in site.ok("results", "fix")
    listed = site.d0ctl("file", "list", "fix:*", *OLD)
    assert f"  {ABSENT}\n" in listed.out
    assert "2 files; 1 present" in listed.err
    why = site.ok("why", "fix:r.txt", *OLD)
    assert why.startswith("file `r.txt` of job `fix` is recorded, but its copy is missing from")
    assert f"- it is {ABSENT}\n" in why
    copied = site.d0ctl("results", "fix", "--copy", str(site.folder / "copy"), *OLD)
    assert copied.code == 1
    assert f"`r.txt` was not copied: {ABSENT}\n" in copied.err
    assert "d0ctl --archive old why" not in copied.err
    assert "missing from results/" in site.ok("status", "fix/1/1/1", *OLD)


def test_a_moved_home_is_not_called_the_cause_that_an_archived_result_is_missing(
    archived: Site,
) -> None:
    site = archived
    (site.home.results / "fix" / "r.txt").unlink()
    moved = site.home.root.rename(site.folder / "moved")

    why = site.ok("--home", str(moved), "why", "fix:r.txt", *OLD)

    assert "missing from results/" in why
    assert "moved from" not in why
