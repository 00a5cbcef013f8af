"""Drops by state, of lines of which other packages have succeeded."""

import pytest

from d0ctl.store.checks.check import faults
from tests.cli.conftest import Type
from tests.support.building import production
from tests.support.site import Site


@pytest.mark.parametrize("has_merged", [False, True])
def test_the_undo_of_a_drop_by_state_brings_all_packages_back(
    site: Site, d0ctl: Type, has_merged: bool
) -> None:
    site.submit(production(lines=2))
    site.finish("prod/1/1/1")
    site.finish("prod/1/2/1")
    site.finish("prod/1/2/2")

    dropped = d0ctl("kill-line", "prod/1/*:ready", "--drop-outputs")

    undo = dropped.stderr.rpartition("d0ctl ")[2].split()
    assert (site.phase("prod/1/1/1"), site.phase("prod/1/1/2")) == ("done", "dropped")
    assert undo == ["restore-line", "prod/1/1", "--again"]
    assert "prod/1/1/2` was dropped by" in d0ctl("why", "prod").stdout
    if has_merged:
        site.finish("prod/2/1/1")
        assert "prod/2/1/1 ran with 1 of 2 inputs" in d0ctl("status", "prod").stdout
    assert faults(site.store) == []
    assert d0ctl(*undo).exit_code == 0
    assert site.phase("prod/1/1/2") == "ready"
    site.finish("prod/1/1/2")
    site.finish("prod/2/1/1")
    assert site.phase("prod/2/1/1") == "done"
    assert faults(site.store) == []


def test_the_files_of_lines_that_have_succeeded_are_said_to_go_with_them(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    said = "unchanged, but their files are dropped: 1 successful"

    for more in (["--dry-run"], ["--yes"]):
        assert said in d0ctl("kill-line", "prod/1/1-2", "--drop-outputs", *more).stdout
