"""Quick checks of records: what they accept, the checks that name faults return as well."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d0ctl.nodes import frame_checks
from d0ctl_wrapper.protocol import message, requests
from d0ctl_wrapper.protocol.checks import quick, shape

MODULES = (frame_checks, message, requests)
"""Whose checks are tested: an import makes them."""

CHECKS = [
    (check, eval(f"lambda x: {expression}", dict(names)))
    for check, (expression, names) in quick.TESTS.items()
]

EDGES = [0, 1, -1, -86399, 86400, 2**63 - 1, 2**63, -(2**63), 10**30, 0.0, 1e18, 1e308, True, None]
TEXTS = ["", ".", "..", "/", "a/", "a/.", "../a", "a/../b", "/a", "a=", "\0", "\ud800", "é", "\n"]

numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
texts = (
    st.text()
    | st.text("ab./=\n\0", max_size=6)
    | st.text("0123456789abcdef", min_size=64, max_size=64)
    | st.text("0123456789abcdef", min_size=64, max_size=64).map(lambda digits: f"sha256:{digits}")
    | st.sampled_from([*TEXTS, *message.REASONS, "running", "successful", "start", "site:a"])
    | st.integers(shape.TEXT - 1, shape.TEXT + 1).map(lambda length: "x" * length)
    | st.sampled_from([998, 1000, 1001, 2000, 2001]).map(lambda length: "x" * length)
)
values = st.sampled_from(EDGES) | numbers | texts | st.lists(st.integers(), max_size=1)


def test_the_checks_of_messages_requests_and_frames_are_tested() -> None:
    assert all(module.__name__ for module in MODULES)
    assert len(CHECKS) > 40


@given(values)
def test_a_value_that_a_quick_test_accepts_is_returned_as_it_is_by_its_check(value: Any) -> None:
    for check, is_accepted in CHECKS:
        try:
            accepted = bool(is_accepted(value))
        except (TypeError, AttributeError):
            pytest.fail(f"the test of {check} raises for {value!r}")
        if accepted:
            assert check(value) is value


def test_quick_tests_accept_what_messages_usually_hold() -> None:
    usual = ["running", 7, 0.5, None, "/data/a.txt", "a.txt", True, "f" * 64, "sha256:" + "0" * 64]
    usual += ["log-message"]

    for check, is_accepted in CHECKS:
        assert any(is_accepted(value) for value in [*usual, *choices_of(check)]), check


def choices_of(check: quick.Check) -> list[str]:
    """Words that some choices consist of."""
    expression = quick.of(check)
    assert expression is not None
    return sorted(expression[1].get("choices", ())) + sorted(expression[1].get("reasons", ()))


FIELDS = {
    "number": shape.positive,
    "name": shape.bounded(shape.relative),
    "line": shape.free_text,
    "list": shape.many(shape.record({"size": shape.whole})),
}
OTHERS = {"end": (shape.maybe(shape.between(0.0, 9.0)), None), "kind": (shape.one_of("a"), "a")}

objects = st.dictionaries(
    st.sampled_from([*FIELDS, *OTHERS, "unknown"]),
    values
    | st.lists(st.fixed_dictionaries({"size": st.integers()}), max_size=2)
    | st.sampled_from(["a", 5]),
)
good = st.fixed_dictionaries(
    {
        "number": st.integers(1, 9),
        "name": st.just("a.txt"),
        "line": st.just("a line"),
        "list": st.lists(st.fixed_dictionaries({"size": st.integers(0, 9)}), max_size=2),
    },
    optional={"end": st.floats(0, 9), "kind": st.just("a"), "unknown": st.none()},
)


@given(good, objects)
def test_a_record_is_checked_as_by_field(whole: dict[str, Any], changed: dict[str, Any]) -> None:
    some: list[Any] = [whole, changed, {**whole, **changed}, [], "text", None]
    for value in some:
        assert _outcome(shape.record(FIELDS, OTHERS), value) == _outcome(
            lambda given: shape.check_by_field(given, FIELDS, OTHERS), value
        )


def _outcome(check: quick.Check, value: Any) -> str:
    """The text of what a check returns, or of its error."""
    try:
        return json.dumps(check(value))
    except ValueError as error:
        return f"error: {error}"
