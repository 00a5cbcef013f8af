"""Directories as inputs and outputs of a job file."""

from pathlib import Path

import pytest

from d0ctl.jobfile.spec import LineSpec
from tests.jobfile.conftest import Faults, Lines


def line(lines: Lines, text: str) -> LineSpec:
    """Return the line of a job that has no other."""
    (found,) = lines(f"stages: [{{lines: [{text}]}}]")
    return found


def test_a_name_with_a_slash_at_its_end_is_a_directory(lines: Lines, folder: Path) -> None:
    package = line(lines, "{run: x, inputs: [./raw/], outputs: [./a//b/]}").packages[0]
    (binary,) = package.binaries

    assert [(file.file, file.local) for file in binary.inputs] == [(f"{folder}/raw/", None)]
    assert [file.file for file in binary.outputs] == ["a/b/"]


def test_a_glob_with_a_slash_at_its_end_takes_directories(lines: Lines, folder: Path) -> None:
    (folder / "runs" / "r1").mkdir(parents=True)
    (folder / "runs" / "r2").mkdir()
    (folder / "runs" / "notes.txt").touch()

    text = '{for: {run: {glob: "runs/*/"}}, run: "x {run} {run.name}", inputs: "{run}"}'
    found = lines(f"stages: [{{lines: [{text}]}}]")

    assert [line.name for line in found] == ["run=r1", "run=r2"]
    (binary,) = found[0].packages[0].binaries
    assert binary.script == "x runs/r1/ r1"
    assert [(file.file, file.local) for file in binary.inputs] == [(f"{folder}/runs/r1/", "runs/")]


def test_a_directory_is_renamed_or_put_into_another(lines: Lines) -> None:
    for name, local in (("data", "data"), ("in/", "in/")):
        found = line(lines, f"{{run: x, inputs: [{{file: raw/, as: {name}}}]}}")
        assert found.packages[0].binaries[0].inputs[0].local == local


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("outputs: [a/, a/b]", "output `a/b` would be a part of directory `a/`"),
        ("outputs: [a/, a]", "output `a` would be a part of directory `a/`"),
        ("outputs: [a/, a/b/]", "output `a/b/` would be a part of directory `a/`"),
        ("inputs: [raw/, raw/a.raw]", "is a whole directory where input"),
        ("inputs: {file: raw/, as: x}, outputs: x/", "output `x/` would overwrite input"),
        ("inputs: raw/a.raw, outputs: raw/", "output `raw/` would contain input"),
        ("wrapper: raw/", "`wrapper` takes a script, not `raw/`"),
    ],
)
def test_impossible_directories_are_reported(faults: Faults, keys: str, expected: str) -> None:
    (answer,) = faults(f"stages: [{{lines: [{{run: x, {keys}}}]}}]")

    assert expected in answer
