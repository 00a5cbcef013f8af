"""How a job file says what verifies a binary, and what is wrong with that."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d0ctl.errors import BadJobFile
from d0ctl.jobfile.reader import read_text
from d0ctl.jobfile.spec import BinarySpec


def read(binary: str) -> BinarySpec:
    """The binary of a job of one."""
    [stage] = read_text(f"stages: [{{lines: [{{run: x, {binary}}}]}}]").stages
    return next(iter(stage.lines)).packages[0].binaries[0]


def fault(binary: str) -> str:
    """The faults of a binary, from its column in the file on."""
    with pytest.raises(BadJobFile) as answer:
        read(binary)
    return str(answer.value)


def test_a_log_rule_has_its_fields() -> None:
    rules = 'log-rules: [FATAL, {match: a, reason: "site:beam"}, {match: b, passive: yes}]'

    assert read(rules).log_rules == (
        {"match": "FATAL"},
        {"match": "a", "reason": "site:beam"},
        {"match": "b", "passive": True},
    )
    assert read("log-rules: {match: done, required: yes, passive: no}").log_rules == (
        {"match": "done", "required": True, "passive": False},
    )


def test_rules_take_placeholders() -> None:
    text = "stages: [{lines: [{for: {n: [7, 8]}, run: x, log-rules: '^bad {n}$'}]}]"
    [stage] = read_text(text).stages

    rules = [line.packages[0].binaries[0].log_rules for line in stage.lines]
    assert rules == [({"match": "^bad 7$"},), ({"match": "^bad 8$"},)]


@pytest.mark.parametrize(
    ("binary", "expected"),
    [
        ("log-rules: [{match: ^'('}]", "`match`: `(` is not a regular expression"),
        ("log-rules: [{^mach: x}]", "a log rule has no key `mach` (did you mean `match`?)"),
        ("log-rules: [^{reason: log-message}]", "a log rule needs `match`"),
        ("log-rules: [{match: x, reason: ^exit-code}]", "`reason` takes `log-message`, or"),
        ("log-rules: [{match: x, reason: ^'site:'}]", "`reason` takes `log-message`, or"),
        ("log-rules: [{match: x, passive: ^3}]", "`passive` takes `yes` or `no`"),
        ("log-rules: [{match: x, required: yes, ^passive: yes}]",
         "`required` can't be combined with `passive`"),
        ("log-rules: [{match: x, required: yes, ^reason: log-message}]",
         "`required` can't be combined with `reason`"),
        ("log-rules: [^[x]]", "a log rule takes a regular expression or keys, not a list"),
        ("^check-timeout: 3m", "`check-timeout` needs `check`"),
        ("events: ^{part: x}", "`events` needs `of`: the number of events"),
        ("events: ^{of: 3}", "`events` needs `part`: the file that holds the finished ones"),
        ("events: {of: ^0, part: x}", "`of` takes a whole number of events, 1 or more"),
        ("events: {of: 3, part: ^../x}", "`part`: output `../x` must not leave"),
        ("events: {of: 3, part: x, ^by: 2}", "`events` has no key `by`"),
        ("events: ^500", "`events` takes a mapping"),
        ("outputs: [{file: x, checksum: ^abc}]", "`checksum`: `abc` is not a checksum such as"),
    ],
)  # fmt: skip
def test_a_fault_has_its_place(binary: str, expected: str) -> None:
    before, _, after = binary.partition("^")
    column = len("stages: [{lines: [{run: x, ") + len(before) + 1

    assert f"-:1:{column}: {expected}" in fault(before + after)


@given(st.integers(1, 10**15), st.integers(0, 10**15))
def test_events_are_numbered_from_the_first(number: int, first: int) -> None:
    events = read(f"events: {{of: {number}, first: {first}, part: new}}").events

    assert events == {"first": first, "last": first + number - 1, "part": "new"}


def test_events_begin_at_1() -> None:
    assert read("events: {of: 500, part: new}").events == {"first": 1, "last": 500, "part": "new"}


def test_a_checksum_is_brought_into_one_form() -> None:
    [output] = read(f"outputs: [{{file: x, checksum: {'AB' * 16}}}]").outputs

    assert output.checksum == "md5:" + "ab" * 16
