"""Checks of values that arrived as JSON: each returns the value, or raises ValueError.

The message of the error is the end of a sentence, such as "is not a whole number".
"""

import math
from typing import Any, Dict, List, Mapping, Optional, Pattern, Tuple

from d0ctl_wrapper.protocol.checks import quick

Check = quick.Check

_NONE: "Mapping[str, Tuple[Check, Any]]" = {}

LARGEST = 2**63 - 1
"""The largest whole number that fits into a database column."""

TEXT = 4096
"""The most characters of a text from a node."""


_WHOLE = "type(x) is int and %d <= x <= %d"
PLAIN = "type(x) is str and len(x) <= %d and x.isascii() and '\\0' not in x" % TEXT
"""The test of a text that has at most TEXT characters, all of them ASCII."""


@quick.test(_WHOLE % (0, LARGEST))
def whole(value: Any) -> int:
    """Accept 0, 1, 2 and so on."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST:
        raise ValueError("is not a whole number")
    return value


@quick.test(_WHOLE % (1, LARGEST))
def positive(value: Any) -> int:
    """Accept 1, 2, 3 and so on."""
    if whole(value) == 0:
        raise ValueError("is not above zero")
    return int(value)


@quick.test(_WHOLE % (-LARGEST, LARGEST))
def integer(value: Any) -> int:
    """Accept a whole number of either sign."""
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > LARGEST:
        raise ValueError("is not an integer")
    return value


def number(value: Any) -> float:
    """Accept a finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("is not a number")
    if abs(value) > LARGEST or not math.isfinite(value):
        raise ValueError("is not a finite number")
    return value


@quick.test("x is True or x is False")
def boolean(value: Any) -> bool:
    """Accept true and false."""
    if not isinstance(value, bool):
        raise ValueError("is neither true nor false")
    return value


@quick.test(PLAIN)
def string(value: Any) -> str:
    """Accept text that fits into a file name, an argument or a database."""
    if not isinstance(value, str):
        raise ValueError("is not text")
    if "\0" in value:
        raise ValueError("has a null character")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("is not valid Unicode")
    return value


@quick.test("x and " + PLAIN)
def filled(value: Any) -> str:
    """Accept text that is not empty."""
    if not string(value):
        raise ValueError("is empty")
    return str(value)


@quick.test(PLAIN + " and '..' not in x and x[:1] != '/' and x[-1:] not in '/.'")
def relative(value: Any) -> str:
    """Accept the path of a file below a folder, or that of a directory, with `/` at its end."""
    text = filled(value)
    parts = (text[:-1] if text.endswith("/") else text).split("/")
    if value.startswith("/") or ".." in parts or parts[-1] in ("", "."):
        raise ValueError("is not a relative path of a file")
    return str(value)


@quick.test(PLAIN + " and x[:1] == '/'")
def absolute(value: Any) -> str:
    """Accept a path that starts at the root."""
    if not filled(value).startswith("/"):
        raise ValueError("is not an absolute path")
    return str(value)


def one_of(*choices: Any) -> Check:
    """Make a check that accepts these values only."""

    @quick.test("type(x) is str and x in choices", choices=frozenset(choices))
    def check(value: Any) -> Any:
        if not isinstance(value, str) or value not in choices:
            raise ValueError("is not one of %s" % ", ".join(choices))
        return value

    return check


def bounded(check: Check) -> Check:
    """Make a check of a text that has at most TEXT characters."""

    def check_length(value: Any) -> Any:
        if isinstance(value, str) and len(value) > TEXT:
            raise ValueError("is longer than %d characters" % TEXT)
        return check(value)

    return _with_test_of(check, check_length, "(%s)")


@quick.test(PLAIN)
def free_text(value: Any) -> str:
    """Accept a text for people, and cut it after TEXT characters."""
    return string(value[:TEXT] if isinstance(value, str) else value)


def between(least: float, most: float) -> Check:
    """Make a check of a number in a range, its ends included."""
    ends = (max(least, -LARGEST), min(most, LARGEST))

    @quick.test("(type(x) is float or type(x) is int) and %r <= x <= %r" % ends)
    def check(value: Any) -> float:
        found = number(value)
        if not least <= found <= most:
            raise ValueError("is not between %.0f and %.0f" % (least, most))
        return found

    return check


def match(pattern: "Pattern[str]", what: str) -> Check:
    """Make a check of text that matches a regular expression."""

    @quick.test(PLAIN + " and pattern.match(x)", pattern=pattern)
    def check(value: Any) -> str:
        if not pattern.match(string(value)):
            raise ValueError("is not %s" % what)
        return str(value)

    return check


def maybe(check: Check) -> Check:
    """Make a check that accepts null as well."""

    def check_other(value: Any) -> Any:
        return None if value is None else check(value)

    return _with_test_of(check, check_other, "x is None or (%s)")


def _with_test_of(inner: Check, outer: Check, expression: str) -> Check:
    """Give the test of one check to a check around it; no test accepts a text beyond TEXT."""
    found = quick.of(inner)
    return quick.test(expression % found[0], **found[1])(outer) if found else outer


def many(check: Check, most: int = LARGEST) -> Check:
    """Make a check of a list of at most `most` items, each of which passes `check`."""

    def check_all(value: Any) -> "List[Any]":
        if not isinstance(value, list):
            raise ValueError("is not a list")
        if len(value) > most:
            raise ValueError("has more than %d items" % most)
        try:
            return [check(item) for item in value]
        except ValueError:
            pass  # once more, to name the item
        return [_within("item %d" % number, check, item) for number, item in enumerate(value, 1)]

    return check_all


def mapping(value: Any) -> "Dict[str, str]":
    """Accept an object of texts, whose names are not empty and have no `=`."""
    if not isinstance(value, dict):
        raise ValueError("is not an object")
    for name, text in value.items():
        if not filled(name) or "=" in name:
            raise ValueError("has a name with `=`")
        _within("`%s`" % name, string, text)
    return value


def dictionary(check: Check) -> Check:
    """Make a check of an object with any names, each value of which passes `check`."""

    def check_all(value: Any) -> "Dict[str, Any]":
        if not isinstance(value, dict):
            raise ValueError("is not an object")
        return {name: _within("`%s`" % name, check, each) for name, each in value.items()}

    return check_all


def record(
    fields: "Mapping[str, Check]", others: "Mapping[str, Tuple[Check, Any]]" = _NONE
) -> Check:
    """Make a check of an object with all of `fields`; unknown fields are left out.

    A field of `others` may be absent and gets its default.
    """

    compiled: "List[Optional[Check]]" = []

    def check(value: Any) -> "Dict[str, Any]":
        if not compiled:  # when it is first needed: most records of a process never are
            compiled.append(quick.record(fields, others))
        if compiled[0] is not None:
            try:
                checked: "Dict[str, Any]" = compiled[0](value)
                return checked
            except (KeyError, ValueError, quick.NotQuick):
                pass  # once more, to name the fault
        return check_by_field(value, fields, others)

    return check


def check_by_field(
    value: Any, fields: "Mapping[str, Check]", others: "Mapping[str, Tuple[Check, Any]]"
) -> "Dict[str, Any]":
    """Return an object with all of `fields`; raise ValueError that names the field at fault."""
    if not isinstance(value, dict):
        raise ValueError("is not an object")
    found = {name: _field(value, name, fields[name]) for name in fields}
    for name, (each, default) in others.items():
        found[name] = _within("`%s`" % name, each, value[name]) if name in value else default
    return found


def _field(value: "Dict[str, Any]", name: str, check: Check) -> Any:
    if name not in value:
        raise ValueError("has no `%s`" % name)
    return _within("`%s`" % name, check, value[name])


def _within(where: str, check: Check, value: Any) -> Any:
    try:
        return check(value)
    except ValueError as error:
        raise ValueError("%s %s" % (where, error))
