"""Patterns in a command that match the inputs of a package only without their folder."""

import pytest

from .conftest import Warnings

JOB = """\
stages:
- name: sim
  lines:
  - for: {{n: [1, 2]}}
    run: mkdir -p out && date > out/r_{{n}}.txt
    outputs: "out/r_{{n}}.txt"
- lines:
  - run: "{run}"
    inputs: {{from: sim}}
    outputs: all.txt
"""


@pytest.mark.parametrize("pattern", ["r_*.txt", "./r_*.txt"])
def test_a_pattern_without_the_folder_of_the_inputs_is_a_warning(
    warnings: Warnings, pattern: str
) -> None:
    written = "out/" + pattern.removeprefix("./")

    assert warnings(JOB.format(run=f"cat {pattern} > all.txt")) == [
        f"`{pattern}` is `{written}` in the working directory: write that, or `layout: flat`"
    ]


@pytest.mark.parametrize(
    "run",
    [
        "cat out/r_*.txt > all.txt",
        "cp out/*.txt . && cat r_*.txt > all.txt",
        "cd out && cat r_*.txt > ../all.txt",
        "for f in {{inputs}}; do ln $f; done; cat r_*.txt > all.txt",
        "find -name 'r_*.txt' > all.txt",
        "tar cf all.txt *",
        "seq 9 | split - r_; cat r_a* > all.txt",
    ],
)
def test_a_pattern_that_finds_the_files_is_no_warning(warnings: Warnings, run: str) -> None:
    assert warnings(JOB.format(run=run.format())) == []
