"""The manual pages: of every command, up to date, without faults, and where `man` looks."""

import re
import subprocess

from tests.support import debian_program, man_pages

PAGES = sorted(man_pages.FOLDER.iterdir())


def test_man_pages_match_the_help_texts() -> None:
    assert {path.name: path.read_text() for path in PAGES} == dict(man_pages.pages()), (
        "type `make options`"
    )


def test_mandoc_finds_no_fault() -> None:
    mandoc = debian_program("mandoc", "mandoc")

    checked = subprocess.run(
        [mandoc, "-T", "lint", "-W", "warning", *PAGES], capture_output=True, text=True
    )

    assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")


def test_man_pages_show_dashes_as_typed() -> None:
    mandoc = debian_program("mandoc", "mandoc")

    shown = subprocess.run(
        [mandoc, "-T", "utf8", man_pages.FOLDER / "d0ctl-status.1"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip

    plain = re.sub(".\b", "", shown)
    assert "d0ctl status reco001 --status failed --node farm02" in plain
