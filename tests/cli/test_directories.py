"""Directories beside the job file, and in results: changes in them are known, and only these."""

import os
from pathlib import Path

import pytest

from d0ctl.cli.commands.looking.pages import result_copies
from d0ctl.errors import D0Error
from d0ctl_wrapper.host import packing
from tests.support.site import Site

FILE = """\
job: one
stages: [{lines: [{run: "cat calib/* > all.txt", inputs: calib/, outputs: all.txt}]}]
"""
CHANGED = "calib/` has changed since 1 finished package read it"


def calib_of(site: Site) -> Path:
    """Run a package that reads a directory, and return this."""
    folder = site.jobs / "calib"
    folder.mkdir()
    (folder / "run1.txt").write_text("1\n")
    assert site.d0ctl("run", site.write(FILE)).code == 0
    return folder


def test_a_directory_that_is_as_it_was_has_not_changed(real_site: Site) -> None:
    folder = calib_of(real_site)
    (folder / "run1.txt").touch()

    answer = real_site.d0ctl("results", "one")

    assert "changed" not in f"{answer.out}{answer.err}"
    assert "nothing to change" in real_site.ok("update", "one", "--again", "--dry-run")


def test_what_has_read_a_changed_directory_runs_again_once(real_site: Site) -> None:
    folder = calib_of(real_site)
    (folder / "run2.txt").write_text("2\n")
    before = real_site.d0ctl("results", "one")

    real_site.ok("update", "one", "--again")
    real_site.drive("one")

    after = real_site.d0ctl("results", "one")
    assert CHANGED in f"{before.out}{before.err}"
    assert CHANGED not in f"{after.out}{after.err}"
    assert (real_site.home.results / "one" / "all.txt").read_text() == "1\n2\n"


def test_a_changed_directory_can_be_accepted(real_site: Site) -> None:
    folder = calib_of(real_site)
    (folder / "run1.txt").unlink()

    real_site.ok("update", "one", "--accept")

    assert "nothing to change" in real_site.ok("update", "one", "--dry-run")


def test_a_changed_folder_is_not_copied(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "to" / "target"
    source.mkdir()
    (source / "a.txt").write_text("a")
    checksum = packing.digest(os.fsencode(source))[1]
    (source / "a.txt").write_text("b")

    with pytest.raises(D0Error, match="differs from its checksum sha256:"):
        result_copies.copy(source, target, checksum)

    assert [*target.parent.iterdir()] == []


def test_a_folder_in_results_that_was_changed_is_named(real_site: Site) -> None:
    text = "job: one\nstages: [{lines: [{run: mkdir p; echo > p/a; echo > p/b, outputs: p/}]}]"
    assert real_site.d0ctl("run", real_site.write(text)).code == 0
    before = real_site.d0ctl("doctor"), real_site.ok("why", "one:p/")
    (real_site.home.results / "one" / "p" / "a").unlink()

    doctor, why = real_site.d0ctl("doctor"), real_site.ok("why", "one:p/")

    assert not [text for text in (before[0].out, before[1]) if "contents" in text]
    assert "was delivered, but has other contents now" in doctor.out
    assert "was changed: it has other contents now" in why
