"""Messages: what is made is accepted, and nothing else."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d0ctl_wrapper.protocol import message
from tests.wrapper.generated import END, Message, fields, files

LATER = ("suspended", "partial", "staged", "stored", "began", "began_why", "retained", "events",
         "wrapper_started")  # fmt: skip
"""What the first wrappers did not say."""

KINDS = (*list(fields)[:-1], "part", "end")
"""All kinds of messages: the generated ones, and the parts of a long end."""


@given(files())
def test_messages_are_parsed_as_they_were_written(made: list[Message]) -> None:
    assert message.parse(message.text(made)) == made


@given(files(), st.data())
def test_a_truncated_text_yields_no_new_message(made: list[Message], data: st.DataObject) -> None:
    text = message.text(made)
    cut = text[: data.draw(st.integers(0, len(text) - 1))]

    try:
        found = message.parse(cut)
    except ValueError:
        return
    assert found == made[: len(found)]
    assert cut.count("\n") == len(found)


def test_fields_that_older_wrappers_lack_get_their_defaults() -> None:
    common = {"attempt": 1, "token": "0" * 64, "seq": 1, "time": 0.5}
    start = {**common, "kind": "start", "pid": 7, "boot_id": "b", "utc_offset": 0}
    end = {name: value for name, value in END.items() if name not in LATER}

    assert message.parse(message.text([start, end])) == [
        {**start, "phase": "running"},
        END,
    ]


@given(st.text())
def test_any_text_is_refused_by_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        message.parse(text)


@given(files(), st.data())
def test_any_other_value_of_a_field_is_refused_or_read_as_it_is(
    made: list[Message], data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(made[0])))
    made[0][name] = data.draw(st.none() | st.booleans() | st.floats() | st.text() | st.integers())

    try:
        found = message.parse("".join(json.dumps(one) + "\n" for one in made))
    except ValueError:
        return
    assert found == made
    assert type(found[0][name]) is type(made[0][name])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"attempt": "1"}, "`attempt` is not a whole number"),
        ({"attempt": True}, "`attempt` is not a whole number"),
        ({"attempt": 1.0}, "`attempt` is not a whole number"),
        ({"attempt": 0}, "`attempt` is not above zero"),
        ({"attempt": 2**63}, "`attempt` is not a whole number"),
        ({"token": "0" * 63}, "`token` is not a token"),
        ({"token": "0" * 64 + "\n"}, "`token` is not a token"),
        ({"token": "٠" * 64}, "`token` is not a token"),
        ({"time": None}, "`time` is not a number"),
        ({"time": math.nan}, "NaN is not a number"),
        ({"time": math.inf}, "Infinity is not a number"),
        ({"kind": "stop"}, f"`kind` is not one of {', '.join(KINDS)}$"),
        ({"kind": []}, f"`kind` is not one of {', '.join(KINDS)}$"),
        ({"outcome": "done"}, "`outcome` is not one of"),
        ({"outcome": "successful"}, "outcome `successful` with reason `exit-code`"),
        ({"outcome": "killed"}, "outcome `killed` with reason `exit-code`"),
        ({"reason": None}, "outcome `failed` with reason `None`"),
        ({"reason": "killed"}, "outcome `failed` with reason `killed`"),
        ({"reason": "bad-luck"}, "`reason` is not a known reason"),
        ({"reason": "site:"}, "`reason` is not a known reason"),
        ({"detail": 5}, "`detail` is not text"),
        ({"detail": "\0"}, "`detail` has a null character"),
        ({"detail": "\ud800"}, "`detail` is not valid Unicode"),
        ({"stderr": "x" * 2001}, "`stderr` is longer than 2000"),
        ({"signal": 0}, "`signal` is not above zero"),
        ({"started": -1.0}, "`started` is not between 0 and"),
        ({"ended": 2.0**34}, "`ended` is not between 0 and"),
        ({"cpu": 2.0**41}, "`cpu` is not between 0 and"),
        ({"utc_offset": 86400}, "`utc_offset` is not between"),
        ({"missing": ["x" * 4097]}, "`missing` item 1 is longer than 4096"),
        ({"outputs": [{**END["outputs"][0], "name": "x" * 4097}]}, "`name` is longer than 4096"),
        ({"binaries": {}}, "`binaries` is not a list"),
        ({"binaries": [1]}, "`binaries` item 1 is not an object"),
        ({"missing": [1]}, "`missing` item 1 is not text"),
        ({"outputs": [{**END["outputs"][0], "name": "../x"}]}, "`name` is not a relative path"),
        ({"outputs": [{**END["outputs"][0], "name": "/x"}]}, "`name` is not a relative path"),
        ({"outputs": [{**END["outputs"][0], "path": "x"}]}, "`path` is not an absolute path"),
        ({"outputs": [{**END["outputs"][0], "checksum": "0"}]}, "`checksum` is not a checksum"),
    ],
)
def test_a_wrong_field_is_refused_by_its_name(change: Message, reason: str) -> None:
    with pytest.raises(ValueError, match=f"^line 1 .*{reason}"):
        message.parse(json.dumps({**END, **change}) + "\n")


@pytest.mark.parametrize("name", [name for name in END if name not in LATER])
def test_a_missing_field_is_refused_by_its_name(name: str) -> None:
    text = json.dumps({key: value for key, value in END.items() if key != name}) + "\n"

    with pytest.raises(ValueError, match=f"line 1 has no `{name}`"):
        message.parse(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "line end"),
        ("{}", "line end"),
        ("\n", "not JSON"),
        ("[]\n", "not an object"),
        ("null\n", "not an object"),
        ("[" * 100_000 + "\n", "nested|not JSON"),
        (json.dumps(END) + "\n\n", "line 2 is not JSON"),
        (json.dumps(END) + "\n" + json.dumps(END) + "\n", "message 2 follows message 2"),
        (
            json.dumps(END) + "\n" + json.dumps({**END, "attempt": 2, "seq": 3}) + "\n",
            "several attempts",
        ),
    ],
)
def test_a_text_that_is_no_message_file_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        message.parse(text)
