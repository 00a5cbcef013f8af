"""Directories beside the job file that packages have read: changes in them, and only these."""

from pathlib import Path

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
