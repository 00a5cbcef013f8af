"""Files beside the job file that a package without `outputs` may make anew."""

from pathlib import Path

import pytest

from .conftest import Warnings

LINE = """\
stages:
- name: s
  lines:
  - for: {{s: [1, 2]}}
    packages:
    - {{run: './gen.sh {{s}}', inputs: gen.sh{more}}}
    - {{run: 'cat gen-{{s}}.txt > r-{{s}}.txt', inputs: {read}, outputs: 'r-{{s}}.txt'}}
"""

STAGES = """\
stages:
- name: gen
  lines:
  - {{for: {{s: {values}}}, run: './gen.sh {argument}', inputs: gen.sh}}
- name: reco
  lines:
  - for: {{s: [1, 2]}}
    run: 'cat gen-{{s}}.txt > r-{{s}}.txt'
    inputs: 'gen-{{s}}.txt'
    outputs: 'r-{{s}}.txt'
"""


@pytest.fixture
def warned(folder: Path, warnings: Warnings) -> Warnings:
    """Return the warnings about a job file beside which old files are."""
    (folder / "gen.sh").write_text("echo new > gen-$1.txt\n")
    (folder / "gen.sh").chmod(0o755)
    for number in (1, 2):
        (folder / f"gen-{number}.txt").write_text("old\n")
    return warnings


def _message(maker: str) -> str:
    return (
        f"the `gen-1.txt` beside the job file is read; if {maker} makes it, add "
        "`outputs: gen-{s}.txt` there"
    )


def test_a_file_that_a_package_of_the_line_may_make_is_a_warning(warned: Warnings) -> None:
    text = LINE.format(more="", read="'gen-{s}.txt'")
    assert warned(text) == [_message("package 1 of its line")]


def test_a_file_that_an_earlier_stage_may_make_is_a_warning(warned: Warnings) -> None:
    text = STAGES.format(values="[1, 2]", argument="{s}")
    assert warned(text) == [_message("stage `gen`")]


@pytest.mark.parametrize(
    "text",
    [
        LINE.format(more=", outputs: 'gen-{s}.txt'", read="'gen-{s}.txt'"),
        LINE.format(more=", outputs: 'other-{s}.txt'", read="'gen-{s}.txt'"),
        LINE.format(more="", read="[gen-1.txt, gen-2.txt]"),
        LINE.replace("inputs: gen.sh", "inputs: [gen.sh, 'gen-{{s}}.txt']").format(
            more="", read="'gen-{s}.txt'"
        ),
        STAGES.format(values="[1, 2, 3]", argument="{s}"),
        STAGES.format(values="[1, 2]", argument="all"),
    ],
)
def test_a_file_that_no_earlier_package_may_make_is_no_warning(warned: Warnings, text: str) -> None:
    assert not [line for line in warned(text) if "beside the job file is read" in line]


def test_files_that_the_loop_lists_are_no_warning(warned: Warnings) -> None:
    text = """\
stages:
- name: s
  lines:
  - for: {f: {glob: gen-*.txt}}
    packages:
    - run: echo {f.stem}
    - {run: 'cat {f} > {f.stem}.out', inputs: '{f}', outputs: '{f.stem}.out'}
"""
    assert warned(text) == []
