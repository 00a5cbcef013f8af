"""JSON read and written faster than by the standard library, with the same outcome."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d0ctl import fast_json
from d0ctl_wrapper.protocol.checks import json_text

EDGES = [
    "", " ", "{", "nul", "NaN", "-Infinity", "1e999", "-0", "01", "1.", "1e5", "[1,]", '{"a":1,}',
    '{"a":1,"a":2}', '"\\ud800"', '"\\ud83d\\ude00"', '"\x00"', '"\\u0000"', '"\n"', "\ufeff1",
    "9" * 18, "9" * 19, "9" * 40, "-" + "9" * 40, "0." + "3" * 40, "[" * 2000 + "]" * 2000,
    "[" * 300_000, '"' + "[" * 300_000 + '"', " 1 ", "1 2", "'a'", "true", '{"\\ud800":1}',
]  # fmt: skip

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
texts = (
    st.sampled_from(EDGES) | values.map(json.dumps) | st.text('[]{},:"\\u0d8e1.- \n', max_size=9)
)


def outcome(read: Any, text: str | bytes) -> str:
    """What is read, with its types; or the error."""
    try:
        return repr(read(text))
    except ValueError as error:
        return f"error: {error}"


@given(texts)
def test_a_text_is_read_as_by_the_check_of_the_wrapper(text: str) -> None:
    assert outcome(fast_json.decode_bounded, text) == outcome(json_text.decode_bounded, text)
    line = text.encode("utf-8", "surrogatepass")
    assert outcome(fast_json.decode_bounded, line) == outcome(json_text.decode_bounded, line)


@given(st.binary(max_size=9))
def test_bytes_are_read_as_by_the_check_of_the_wrapper(line: bytes) -> None:
    assert outcome(fast_json.decode_bounded, line) == outcome(json_text.decode_bounded, line)


surrogates = st.text(st.characters(categories=["Cs", "L", "Zl"]))


@given(values.filter(lambda value: value == value) | surrogates)
def test_a_value_is_written_as_one_line_of_ascii_that_says_the_same(value: Any) -> None:
    line = fast_json.encode(value)

    assert line.isascii()
    assert len(line.decode().splitlines()) == 1
    if "Infinity" not in json.dumps(value) and "NaN" not in json.dumps(value):
        assert json.loads(line) == value


@given(st.text() | surrogates)
def test_a_text_comes_back_as_it_was_written(text: str) -> None:
    assert fast_json.decode_text(fast_json.encode(text).decode()) == text


@pytest.mark.parametrize("line", ["", "1", '["a"]', '"a', "null", "[" * 300_000])
def test_a_value_that_is_no_text_is_refused(line: str) -> None:
    with pytest.raises(ValueError):
        fast_json.decode_text(line)
