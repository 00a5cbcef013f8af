"""The warnings about outputs that are not copied to results/ because of their dispositions."""

import pytest

from .conftest import Warnings, line

ONLY = "copied to results/ only with `result: yes`"


def made(keys: str, more: str = "") -> str:
    """A job file whose three lines make a file with these keys; `more` are other stages."""
    outputs = f"{{file: 'a-{{n}}.txt', {keys}}}"
    run = f"for: {{n: [1, 2, 3]}}, run: 'echo > a-{{n}}.txt', outputs: {outputs}"
    return f"stages:\n- name: gen\n  lines: [{{{run}}}]\n{more}"


@pytest.mark.parametrize("said", ["retain-indef", "retain-temp", "[forward, retain-indef]"])
def test_outputs_that_nothing_reads_and_are_retained_are_one_warning(
    warnings: Warnings, said: str
) -> None:
    assert warnings(made(f"disposition: {said}")) == [
        f"no package reads `a-1.txt`, but as it has a disposition, it is {ONLY}, and 2 more like it"
    ]


def test_outputs_of_several_entries_are_one_warning(warnings: Warnings) -> None:
    of = "{file: %s, disposition: retain-temp}"
    text = line(f"{{run: 'date > a > b', outputs: [{of % 'a'}, {of % 'b'}]}}")

    assert warnings(text) == [
        f"no package reads `a`, but as it has a disposition, it is {ONLY}, and 1 more like it"
    ]


def test_a_deletable_output_that_nothing_reads_is_a_warning(warnings: Warnings) -> None:
    assert warnings(made("disposition: deletable")) == [
        "no package reads `a-1.txt`, which is deletable: it is removed, and "
        f"{ONLY}, and 2 more like it"
    ]


def test_an_output_that_is_stored_without_a_locator_is_a_warning(warnings: Warnings) -> None:
    reader = "- lines: [{run: 'cat {inputs}', inputs: {from: gen}}]"
    expected = [
        f"`disposition: store` needs a `locator`: `a-1.txt` is not stored, and {ONLY}, "
        "and 2 more like it"
    ]

    assert warnings(made("disposition: store")) == expected
    assert warnings(made("disposition: [store, deletable]", reader)) == expected


@pytest.mark.parametrize("keys", ["result: yes", "result: no", "locator: '/data/a-{n}.txt'"])
def test_outputs_that_are_copied_or_stored_or_not_results_are_no_warning(
    warnings: Warnings, keys: str
) -> None:
    assert warnings(made(f"disposition: retain-indef, {keys}")) == []


@pytest.mark.parametrize("inputs", ["{from: gen}", "[a-1.txt, a-2.txt, a-3.txt]"])
def test_outputs_that_another_stage_reads_are_no_warning(warnings: Warnings, inputs: str) -> None:
    reader = f"- lines: [{{run: 'cat {{inputs}}', inputs: {inputs}}}]"

    assert warnings(made("disposition: retain-indef", reader)) == []


def test_only_the_outputs_that_nothing_reads_are_counted(warnings: Warnings) -> None:
    group = "- lines: [{for: {part: {from: gen, match: '*-[23].txt', by: 2}}, run: 'cat {part}', "
    group += "inputs: '{part}'}]"

    assert warnings(made("disposition: retain-indef", group)) == [
        f"no package reads `a-1.txt`, but as it has a disposition, it is {ONLY}"
    ]


def test_a_late_output_that_is_read_is_no_warning(warnings: Warnings) -> None:
    made = "{file: 'x-*', late: yes, disposition: retain-temp}"
    first = f"- name: gen\n  lines: [{{run: 'date > x-1', outputs: {made}}}]\n"
    reader = "- lines: [{run: 'cat {inputs}', inputs: {from: gen}}]"

    assert warnings(f"stages:\n{first}{reader}") == []
