"""Faults of inputs that are nowhere: the names that are proposed, and lists without any."""

import pytest

from .conftest import Faults, Warnings

LINES = """\
stages:
  - lines:
      - {{for: {{n: [14, 15]}}, run: x, outputs: "{0}-{{n}}.root"}}
  - lines:
      - for: {{n: [14, 15]}}
        packages:
          - {{run: x, outputs: "{1}-{{n}}.root"}}
          - {{run: x, inputs: "gen-{{n}}.root", outputs: "gem-{{n}}.root"}}
          - {{run: x, outputs: "geo-{{n}}.root"}}
"""


@pytest.mark.parametrize(
    ("first", "earlier", "hint"),
    [
        ("raw_hits", "digits", ""),
        ("ge", "digits", " (did you mean `ge-14.root`?)"),
        ("raw_hits", "ge", " (did you mean `ge-14.root`?)"),
    ],
    ids=["none can be read", "of an earlier stage", "earlier in the line"],
)
def test_only_outputs_that_are_there_before_are_proposed(
    faults: Faults, first: str, earlier: str, hint: str
) -> None:
    absent = "8:30: no package makes `gen-14.root`, and it is not beside the job file"

    assert faults(LINES.format(first, earlier)) == [f"{absent}{hint}, and 1 more like it"]


MERGE = """\
stages:
  - name: sim
    lines: [{for: {n: [1, 2]}, run: "echo {n} > {n}.txt", outputs: "{n}.txt"}]
  - name: merge
    lines:
      - {ENTRY}
"""
REASON = "is empty, as this line has no `inputs`: add e.g. `inputs: {from: sim}`"


@pytest.mark.parametrize(
    ("entry", "place"),
    [
        ("run: 'sort {inputs} > all; wc {inputs}', outputs: all", "6:21: `{inputs}`"),
        ("run: [sort, -n, '{inputs}'], inputs: null", "6:27: `{inputs}`"),
        ("run: 'merge @{inputs.list}'", "6:23: `{inputs.list}`"),
        ("run: sort, check: 'test -s {inputs}'", "6:37: `{inputs}`"),
    ],
)
def test_a_list_of_inputs_in_a_binary_without_inputs_is_a_fault(
    faults: Faults, entry: str, place: str
) -> None:
    assert faults(MERGE.replace("ENTRY", entry)) == [f"{place} {REASON}"]


def test_a_second_binary_needs_inputs_of_its_own(faults: Faults) -> None:
    entry = "binaries: [{run: gen > a, outputs: a}, {run: 'sort {inputs}'}]"

    assert faults(f"stages: [{{lines: [{{{entry}}}]}}]") == [
        "1:71: `{inputs}` is empty, as this binary has no `inputs`: add e.g. `inputs: FILE`"
    ]


def test_a_list_of_no_inputs_that_a_binary_declares_is_a_warning(warnings: Warnings) -> None:
    (warning,) = warnings(MERGE.replace("ENTRY", "run: 'sort {inputs}', inputs: []"))

    assert warning == f"`{{inputs}}` {REASON}"


@pytest.mark.parametrize(
    "entry",
    [
        "run: 'sort {inputs}', stdin: 1.txt",
        "run: 'sort {{inputs}} ${inputs}'",
        "run: 'sort {inputs}', inputs: {from: sim}",
    ],
)
def test_a_binary_may_name_a_list_of_inputs(warnings: Warnings, entry: str) -> None:
    assert warnings(MERGE.replace("ENTRY", entry)) == []
