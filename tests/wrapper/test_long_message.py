"""Messages in parts, and those that are refused before they are parsed."""

import json
import runpy
from typing import get_args
from unittest.mock import patch

import pytest
from hypothesis import given

from d0ctl_wrapper.protocol import message, message_types
from tests.wrapper.generated import (
    END,
    Message,
    files,
)


def long_end(outputs: int) -> Message:
    """An end with this number of outputs, and of kept files."""
    described = [
        {"name": f"out/{n:06}", "path": f"/cache/{n:06}", "size": n, "checksum": f"sha256:{n:064x}"}
        for n in range(outputs)
    ]
    files = [{**one, "binary": 1, "late": None} for one in described]
    kept = {
        "through": 1, "why": "", "supplied": ["x"], "files": files, "parts": [], "left": [],
        "stored": [], "whole": False,
    }  # fmt: skip
    listed = [{**one, "late": None, "inode": 7, "mtime": -1} for one in described]
    return {
        **END,
        "outputs": listed,
        "retained": kept,
        "missing": [f"/in/{n}" for n in range(outputs)],
    }


def test_a_long_end_is_split_and_joined_again() -> None:
    made = long_end(20_000)

    text = message.text([made])

    assert max(map(len, text.splitlines())) <= message.LONGEST
    (found,) = message.parse(text)
    assert {**found, "seq": 2} == made
    assert found["seq"] == 2 + text.count("\n") - 1


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (0, "is a part without its end"),
        (-1, "follows message"),
    ],
)
def test_an_end_that_lacks_a_part_is_refused(line: int, reason: str) -> None:
    lines = message.text([long_end(10_000)]).splitlines(keepends=True)
    chosen = lines[:1] if line == 0 else [lines[0], *lines[2:]]

    with pytest.raises(ValueError, match=reason):
        message.parse("".join(chosen))


def test_a_part_of_an_unknown_list_is_refused() -> None:
    common = {"attempt": 1, "token": "0" * 64, "seq": 1, "time": 0.5, "kind": "part"}
    part = {**common, "field": "retained.files", "items": []}

    with pytest.raises(ValueError, match="a part of a list that its end does not have"):
        message.parse(message.text([part, END]))
    with pytest.raises(ValueError, match="`items` item 1 is not an object"):
        message.parse(message.text([{**part, "items": [1]}, END]))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (json.dumps({**END, "detail": "x" * message.LONGEST}) + "\n", "line 1 is longer than"),
        ("x" * message.LONGEST_TEXT + "\n", "the text is longer than"),
        ("[]" * 300_000 + "\n", "more than 250000 lists and objects"),
    ],
)
def test_a_text_beyond_the_limits_is_refused_before_it_is_parsed(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        message.parse(text)


def test_a_long_detail_is_cut() -> None:
    (found,) = message.parse(json.dumps({**END, "detail": "x" * 5000}) + "\n")

    assert found["detail"] == "x" * 4096


def test_unknown_fields_are_left_out() -> None:
    assert message.parse(json.dumps({**END, "more": []}) + "\n") == [END]


def test_a_token_belongs_to_a_key_and_an_attempt() -> None:
    tokens = {message.token(key, attempt) for key in (b"a", b"b") for attempt in (1, 2, 12)}

    assert len(tokens) == 6
    assert message.token(b"a", 1) == message.token(b"a", 1)
    assert message.parse(message.text([{**END, "token": message.token(b"a", 1)}]))


def field_names() -> dict[str, set[str]]:
    """The fields that type checkers know of each kind of message."""
    with patch("typing.TYPE_CHECKING", True):
        found = runpy.run_path(str(message_types.__file__))
    kinds = [found[name] for name in ("Start", "State", "Progress", "Note", "Need", "End")]
    return {get_args(kind.__annotations__["kind"])[0]: set(kind.__annotations__) for kind in kinds}


FIELD_NAMES = field_names()


@given(files())
def test_type_checkers_know_just_the_fields_that_a_message_has(made: list[Message]) -> None:
    for found in message.parse(message.text(made)):
        assert set(found) == FIELD_NAMES[found["kind"]]
