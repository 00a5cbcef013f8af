"""Job files that ask for far more than they say: refused before it is made."""

from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d0ctl.errors import BadJobFile
from d0ctl.jobfile.language import name_index
from d0ctl.jobfile.language.name_index import NameIndex
from d0ctl.jobfile.reader import read_text
from d0ctl.jobfile.sections import loops
from tests.support.mutating import CALM

HUGE = "{range: [1, 9000000]}"
SIM = f"- {{name: sim, lines: [{{for: {{n: {HUGE}}}, run: x}}]}}\n"
MADE = "- {name: sim, lines: [{for: {n: {range: [1, 100]}}, run: x, outputs: 's.{n}'}]}\n"


def refused(text: str, folder: Path) -> str:
    """The one fault of a job."""
    with pytest.raises(BadJobFile) as caught:
        read_text(text, "j", folder)
    (fault,) = caught.value.faults
    return fault


def lines(number: int, line: str) -> str:
    """A job with a stage of 100 files, and another of some lines."""
    return f"stages:\n{MADE}- name: b\n  lines:\n" + f"  - {line}\n" * number


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        (
            "{for: {n: HUGE}, run: x, inputs: ['/a{n}', '/b{n}']}",
            "18,000,000 inputs in all its lines",
        ),
        ("{for: {n: HUGE}, run: x, outputs: ['a{n}', 'b{n}']}", "18,000,000 outputs in all"),
        ("{for: {n: HUGE}, binaries: [{run: x}, {run: y}]}", "18,000,002 binaries in all"),
        ("{for: {n: HUGE, m: HUGE}, run: x}", "81,000,000,000,002 packages are more than"),
        ("{for: {n: HUGE}, run: x, after: [a/1, a/2]}", "18,000,000 lines that `after` names"),
    ],
)
def test_files_that_each_line_names_are_counted_by_multiplication(
    tmp_path: Path, line: str, answer: str
) -> None:
    text = "stages:\n- {name: a, lines: [{run: x}, {run: y}]}\n- lines:\n  - " + line

    assert answer in refused(text.replace("HUGE", HUGE), tmp_path)


@pytest.mark.parametrize(
    "inputs", ["{from: sim}", "{from: sim, match: 's.*'}", "{glob: 'g*'}", "'{p}'"]
)
def test_files_that_each_line_reads_again_are_counted_by_multiplication(
    tmp_path: Path, inputs: str
) -> None:
    for number in range(100):
        (tmp_path / f"g{number}").touch()
    text = f"{{for: {{n: {{range: [1, 1000000]}}, p: {{from: sim, by: 100}}}}, run: x, " \
           f"inputs: {inputs}}}"  # fmt: skip

    fault = refused(lines(1, text), tmp_path)

    assert "with these, 100,000,000 inputs come from stages, groups and globs" in fault
    assert "(at most 2,000,100): read each file in fewer lines, or merge" in fault


def test_inputs_of_explicit_lines_are_counted_together(tmp_path: Path) -> None:
    fault = refused(lines(21_000, "{run: x, inputs: {from: sim}}"), tmp_path)

    assert fault.startswith("j:20006:29: with these, 2,000,200 inputs come from stages")


def test_a_merge_of_all_outputs_is_not_too_much(tmp_path: Path) -> None:
    assert read_text(lines(3, "{run: x, inputs: {from: sim}}"), "j", tmp_path).packages == 103


@pytest.mark.parametrize("source", ["list: [a, b]", "lines: names", "glob: 'n*'", "from: sim"])
def test_values_that_loops_list_are_counted_for_all_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    (tmp_path / "names").write_text("a\nb\n")
    monkeypatch.setattr(loops, "MAX_LISTED", 9)
    line = f"{{for: {{p: {{{source}, by: 200}}}}, run: x, inputs: /x}}"

    fault = refused(lines(20, line), tmp_path)

    assert "with these, the loops of the file list more than 9 values and files" in fault


def test_groups_of_a_huge_stage_are_refused(tmp_path: Path) -> None:
    text = f"stages:\n{SIM.replace('}, run', f', m: {HUGE}}}, run')}" \
           "- lines: [{for: {p: {from: sim, by: 2}}, run: x}]"  # fmt: skip

    with pytest.raises(BadJobFile, match="81,000,000,000,000 inputs and outputs"):
        read_text(text, "j", tmp_path)


def test_a_pattern_without_fixed_ends_is_compared_for_a_limited_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(name_index, "MOST_STEPS", 10_000)
    line = "{for: {n: {range: [1, 100]}}, run: x, inputs: {from: sim, match: '*[{n}]*'}}"

    fault = refused(lines(1, line), tmp_path)

    assert "`match` compares too many lines with too many files, at `*[2]*`" in fault
    assert "begin or end the pattern with fixed text" in fault


names = st.lists(st.text("ab1.[\n", min_size=1, max_size=5), max_size=8)


@given(names, st.lists(st.text("ab1.*?[]", max_size=6), max_size=4))
@CALM
def test_an_index_finds_what_matches(found: list[str], patterns: list[str]) -> None:
    index = NameIndex(found)
    for pattern in patterns:
        expected = [at for at, name in enumerate(found) if fnmatchcase(name, pattern)]
        assert index.matching(pattern) == expected


SHAPES = ["".join(parts) for parts in product(["s.", "*.", "??", "*"], ["{}"], [".x", ".*"])]


@pytest.mark.parametrize("shape", SHAPES)
def test_few_names_are_compared_with_each_pattern(shape: str) -> None:
    index = NameIndex([f"s.{number:04}.x" for number in range(1000)])

    for number in range(1000):
        index.matching(shape.format(f"{number:04}"))

    searched = 1000 * sum(len(f"s.{number:04}.x\n") for number in range(1000))
    assert index.steps <= searched + 3 * 1000 * name_index.COMPARISON
