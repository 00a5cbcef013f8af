"""Missing files beside other faults: reported, unless a faulty entry may make them."""

from pathlib import Path

import pytest

from d0ctl.errors import MOST_FAULTS, BadJobFile
from d0ctl.jobfile.reader import read_text

LATER = "missing files that faulty entries may make are reported later: "

READER = "{run: cat, inputs: [hits-1.txt, b.txt]}"


def refused(text: str) -> list[str]:
    """Return what is said about a job file with faults, without positions."""
    with pytest.raises(BadJobFile) as caught:
        read_text(text)
    return [line.partition(" ")[2] if line.startswith("-:") else line
            for line in str(caught.value).splitlines()]  # fmt: skip


def absent(name: str) -> str:
    """Say that a file is missing."""
    return f"no package makes `{name}`, and it is not beside the job file"


@pytest.mark.parametrize(
    "entry",
    [
        "{run: touch x, memry: 1 GB, outputs: x}",
        "{run: touch x, colour: red, outputs: x}",
        "{run: touch x, for: {n: []}, outputs: 'x-{n}'}",
        "{run: touch x, outputs: 'x-{n}'}",
        "{run: touch x, outputs: {file: x, sise: 3}}",
        "just text",
    ],
)
def test_a_fault_of_a_line_hides_no_missing_file_of_others(entry: str) -> None:
    answer = refused(f"stages: [{{lines: [{entry}, {READER}]}}]")

    assert {absent("hits-1.txt"), absent("b.txt")} <= set(answer)
    assert len(answer) == 3


@pytest.mark.parametrize(
    "stage",
    [
        "lines: [{run: touch x, otputs: [./hits-1.txt]}]",
        "lnes: [{run: touch x, outputs: [{file: hits-1.txt}]}]",
        "lines: {run: touch x, outputs: hits-1.txt}",
        "lines: [{run: touch x, outputs: 'hits-{n}.txt'}]",
        "lines: [{run: touch x, for: {n: []}, outputs: 'hits-{n}.txt'}]",
        "lines: [{run: touch x, otputs: 'hits-{n}.txt', for: {n: [1, 2]}}]",
    ],
)
def test_a_missing_file_that_a_faulty_entry_may_make_is_named_last(stage: str) -> None:
    answer = refused(f"stages: [{{{stage}}}, {{lines: [{READER}]}}]")

    assert absent("hits-1.txt") not in answer
    assert absent("b.txt") in answer
    assert answer[-1] == f"{LATER}`hits-1.txt`"


def test_a_late_output_with_a_misspelt_key_does_not_make_its_readers_wrong() -> None:
    late = "{lines: [{run: x, outputs: {file: 'h-*', lat: yes}}]}"

    answer = refused(f"stages: [{late}, {{lines: [{{run: cat, inputs: 'h-*'}}]}}]")

    assert answer == ["an output has no key `lat` (did you mean `late`?)"]


@pytest.mark.parametrize("stage", ["name: one", "lines: [{run: touch x, outputs: {n}}]"])
def test_a_stage_that_may_make_any_file_hides_all(stage: str) -> None:
    answer = refused(f"stages: [{{{stage}}}, {{lines: [{READER}]}}]")

    assert not any("no package makes" in line for line in answer)
    assert answer[-1] == f"{LATER}`hits-1.txt` and `b.txt`"


def test_many_files_that_may_be_made_are_not_all_named() -> None:
    answer = refused(
        "stages: [{name: one}, {lines: [{run: cat, for: {n: {range: [1, 9]}}, inputs: 'a-{n}'}]}]"
    )

    assert answer[-1] == f"{LATER}such as `a-1`"


def test_many_faulty_outputs_with_placeholders_hide_all_missing_files() -> None:
    lines = [f"{{run: x, outputs: 'out-{n}-{{x}}'}}" for n in range(101)]

    answer = refused(f"stages: [{{lines: [{', '.join(lines)}, {READER}]}}]")

    assert answer[MOST_FAULTS:] == ["and 81 more faults", f"{LATER}`hits-1.txt` and `b.txt`"]


def test_the_files_that_are_reported_later_are_no_faults(tmp_path: Path) -> None:
    with pytest.raises(BadJobFile) as caught:
        read_text("stages: [{name: one}, {lines: [{run: cat, inputs: a}]}]", directory=tmp_path)

    assert [fault.split(" ", 1)[1] for fault in caught.value.faults] == ["a stage needs `lines`"]
    assert caught.value.note == f"{LATER}`a`"
