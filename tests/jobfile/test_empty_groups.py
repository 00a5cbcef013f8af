"""Groups without files: their stage makes none for others, or a pattern is searched too early."""

import pytest

from .conftest import Faults
from .test_groups import merge


@pytest.mark.parametrize(
    "entry",
    [
        "{for: {p: {glob: 's*', by: 2}}, run: 'cat {p}', inputs: '{p}'}",
        "{for: {p: {glob: 's*'}}, run: 'cat {p}', inputs: '{p}'}",
        "{run: 'cat {inputs}', inputs: {glob: 's*'}}",
    ],
)
def test_a_pattern_of_files_that_a_stage_makes_is_a_fault_that_names_the_stage(
    faults: Faults, entry: str
) -> None:
    (found,) = faults(merge(entry))

    assert found.endswith(
        "no file matches `s*`, but stage `sim` makes such files: write `from: sim, match: 's*'` "
        "instead of `glob`"
    )


@pytest.mark.parametrize("match", ["", ", match: 's*'"])
def test_groups_of_a_stage_without_files_for_others_are_a_fault(faults: Faults, match: str) -> None:
    text = merge(f"{{for: {{p: {{from: sim{match}, by: 2}}}}, run: 'cat {{p}}', inputs: '{{p}}'}}")
    chained = text.replace("inputs: s5", "inputs: [s1, s2, s3, s4, s5]")
    without = chained.replace(", outputs: {file: last, size: 25}", "")

    (found,) = faults(without)

    assert found.endswith(
        ": stage `sim` has no output that other stages can read: `s{n}` is read in the stage "
        "itself, and its other packages have no `outputs`"
    )
