"""`file set-disposition`: what it changes, what undoes it, and what `why` says of the files."""

import re

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


def test_why_says_which_disposition_a_person_has_set(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    change(site.store, "file", {"name": "gen-1"}, dispositions="retain-temp")
    before = dispositions(d0ctl("why", "prod:gen-1").stdout)

    d0ctl(*SET, "prod:gen-[12]", "deletable", "--yes")

    set_by = "deletable, as a person has set it"
    assert before == ["retain-temp"]
    assert dispositions(d0ctl("why", "prod:gen-1").stdout) == [
        f"{set_by}, in place of retain-temp in the job file"
    ]
    assert dispositions(d0ctl("why", "prod:gen-2").stdout) == [set_by]
    assert re.search("gen-1 .* deletable", d0ctl("status", "prod/1/1/1").stdout)


def dispositions(said: str) -> list[str]:
    """What `why` says of the disposition of a file."""
    start = "- its disposition is "
    return [line.removeprefix(start) for line in said.splitlines() if line.startswith(start)]
