"""`file set-disposition`: what it changes, what undoes it, and what `why` says of the files."""

import re
import time

import pytest

from d0ctl.store.jobs import unneeded_files
from tests.cli.conftest import Type
from tests.support.building import production
from tests.support.rows import change, read
from tests.support.site import Site

SET = ("file", "set-disposition")


def given(site: Site) -> dict[str, str | None]:
    """The dispositions that people gave to files."""
    return dict(read(site.store, "file", "name", "disposition"))


def test_a_filter_by_disposition_is_undone_for_the_same_files(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    d0ctl(*SET, "prod:gen-*", "retain-indef", "--yes")
    before = given(site)

    done = d0ctl(*SET, "prod:*", "deletable", "--disposition", "retain-indef", "--yes")

    undo = "d0ctl file set-disposition 'prod:*' retain-indef --disposition deletable"
    assert done.stderr == f"to undo: {undo}\n"
    assert given(site) != before
    d0ctl(*SET, "prod:*", "retain-indef", "--disposition", "deletable", "--yes")
    assert given(site) == before


def test_files_that_others_had_joined_are_not_undone_with_these(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    d0ctl(*SET, "prod:gen-1", "retain-indef", "--yes")
    d0ctl(*SET, "prod:gen-2", "deletable", "--yes")

    done = d0ctl(*SET, "prod:*", "deletable", "--disposition", "retain-indef", "--yes")

    assert given(site)["gen-1"] == "deletable"
    assert "to undo" not in done.stderr


def with_an_only_copy(site: Site, disposition: str | None) -> None:
    """Make `gen-1` and have it read; the job file gives it this disposition."""
    site.up()
    site.submit(production(lines=1))
    for path in ("prod/1/1/1", "prod/1/1/2"):
        site.finish(path)
    change(site.store, "file", {"name": "gen-1"}, dispositions=disposition or "", size=1000)


def test_the_plan_counts_only_copies_that_are_removed(site: Site, d0ctl: Type) -> None:
    with_an_only_copy(site, "retain-indef")

    plan = d0ctl(*SET, "prod:gen-1", "deletable", "--dry-run").stdout
    done = d0ctl(*SET, "prod:gen-1", "deletable", "--yes")

    assert plan.splitlines()[-1] == (
        "would remove 1 file, 1.0 kB, now: no package needs it, and there is no other copy"
    )
    assert done.stdout.splitlines()[1:] == [
        "d0ctl removes 1 file, 1.0 kB, without another copy: an undo does not bring it back"
    ]
    with site.store.writing():
        unneeded_files.clean_up(site.store, now=time.time())
    assert read(site.store, "file", "present", name="gen-1") == [(0,)]


@pytest.mark.parametrize("word", ["retain-temp", "retain-indef", "as-written"])
def test_the_plan_counts_no_file_that_stays(site: Site, d0ctl: Type, word: str) -> None:
    with_an_only_copy(site, "retain-indef")

    assert "remove" not in d0ctl(*SET, "prod:gen-1", word, "--dry-run").stdout
    assert "remove" not in d0ctl(*SET, "prod:gen-1", word, "--yes").stdout


def test_the_plan_counts_no_file_that_is_needed(site: Site, d0ctl: Type) -> None:
    site.up()
    site.submit(production(lines=1))
    site.finish("prod/1/1/1")

    assert "remove" not in d0ctl(*SET, "prod:gen-1", "deletable", "--dry-run").stdout


def test_what_is_set_already_is_not_set_again_and_has_no_other_undo(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    d0ctl(*SET, "prod:gen-1", "deletable", "--yes")

    again = d0ctl(*SET, "prod:gen-1", "deletable", "--yes")

    assert again.exit_code == 0
    assert again.stdout == "nothing to set: 1 file of `prod:gen-1` is already deletable\n"
    assert "to undo" not in again.output
    assert d0ctl("history", "prod").stdout.count("file set-disposition") == 2  # and its undo


def test_files_that_only_a_person_kept_are_removed_as_written(site: Site, d0ctl: Type) -> None:
    with_an_only_copy(site, None)
    change(site.store, "file", {"name": "gen-1"}, disposition="retain-indef")

    plan = d0ctl(*SET, "prod:*", "as-written", "--dry-run").stdout

    assert "would remove 1 of them, 1.0 kB, now: no package needs it" in plan


def test_why_says_which_disposition_a_person_has_set(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    change(site.store, "file", {"name": "gen-1"}, dispositions="retain-temp")
    before = dispositions(d0ctl("why", "prod:gen-1").stdout)

    d0ctl(*SET, "prod:gen-[12]", "deletable", "--yes")

    set_by = "deletable, as a person has set it"
    assert before == ["retain-temp"]
    assert dispositions(d0ctl("why", "prod:gen-1").stdout) == [
        f"{set_by}, in place of the retain-temp of its job file then"
    ]
    assert dispositions(d0ctl("why", "prod:gen-2").stdout) == [set_by]
    assert re.search("gen-1 .* deletable", d0ctl("status", "prod/1/1/1").stdout)


def dispositions(said: str) -> list[str]:
    """What `why` says of the disposition of a file."""
    start = "- its disposition is "
    return [line.removeprefix(start) for line in said.splitlines() if line.startswith(start)]
