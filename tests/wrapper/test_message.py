"""Messages: what is made is accepted, and nothing else."""

import json
import math
import runpy
from typing import Any, get_args
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d0ctl_wrapper.protocol import message, message_types

Message = dict[str, Any]

words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
lines = words.filter(lambda text: "\n" not in text)
phases = st.sampled_from(["staging-in", "running", "suspended"])
times = st.floats(0, message.LATEST)
spans = st.floats(0, message.LONGEST_SPAN_S)
amounts = st.floats(-message.LARGEST_COUNT, message.LARGEST_COUNT)
sizes = st.integers(0, 2**63 - 1)
ids = st.integers(1, 2**63 - 1)
hexes = st.text("0123456789abcdef", min_size=64, max_size=64)
codes = st.none() | st.integers(0, 255)
signals = st.none() | st.integers(1, 64)
offsets = st.integers(-50000, 50000)

usage = {"exit_code": codes, "signal": signals, "cpu": spans, "rss": sizes}
binaries = {"binary": ids, "started": times, "ended": times, "gap": st.none() | spans, **usage}
names = st.text("abc -_é", min_size=1, max_size=10).map(lambda name: f"sub/{name}")
described: dict[str, st.SearchStrategy[Any]] = {
    "name": names,
    "path": names.map(lambda name: f"/{name}"),
    "size": sizes,
    "checksum": hexes.map(lambda digits: f"sha256:{digits}"),
}
stamps: dict[str, st.SearchStrategy[Any]] = {
    "inode": st.none() | sizes,
    "mtime": st.none() | st.integers(-(2**62), 2**62),
}
outputs = st.fixed_dictionaries({**described, **stamps, "late": st.none() | names})


def numbered(**more: st.SearchStrategy[Any]) -> st.SearchStrategy[Message]:
    """Files with the numbers of their binaries."""
    return st.fixed_dictionaries({**described, "binary": ids, **more})


ranges = st.lists(st.integers(0, 10**9), max_size=4, unique=True).map(
    lambda numbers: [(3 * number, 3 * number + 1) for number in sorted(numbers)]
)
stored = st.fixed_dictionaries({"name": names, "locator": st.just("root://far//f")})
left = st.fixed_dictionaries(
    {
        "name": names,
        "path": names.map(lambda name: f"/{name}"),
        "size": sizes,
        "changed": sizes,
        "binary": ids,
        "late": st.none() | names,
    }
)
kept = st.fixed_dictionaries(
    {
        "through": sizes,
        "why": words,
        "supplied": st.lists(words, max_size=2),
        "files": st.lists(numbered(late=st.none() | names), max_size=2),
        "left": st.lists(left, max_size=2),
        "stored": st.lists(stored, max_size=2),
        "whole": st.booleans(),
        "parts": st.lists(numbered(done=ranges, supplied=words), max_size=2),
    }
)
staged = st.fixed_dictionaries(
    {
        **stamps,
        "locator": st.just("root://far//f"),
        "path": names.map(lambda name: f"/{name}"),
        "size": sizes,
        "checksum": hexes.map(lambda digits: f"sha256:{digits}"),
    }
)
endings = st.sampled_from(
    [("successful", None), ("killed", "killed"), ("failed", "site:no-beam")]
    + [("failed", reason) for reason in message.REASONS if reason != "killed"]
)
fields: dict[str, st.SearchStrategy[Message]] = {
    "start": st.fixed_dictionaries(
        {"pid": ids, "boot_id": words, "utc_offset": offsets, "phase": phases}
    ),
    "state": st.fixed_dictionaries({"phase": phases, "why": lines}),
    "progress": st.fixed_dictionaries(
        {
            **dict.fromkeys(("done", "total"), st.none() | amounts),
            "percent": st.none() | st.floats(0, 100),
            "eta": st.none() | times,
            "binary": ids,
            "line": lines,
            "cpu": spans,
            "rss": sizes,
        }
    ),
    "note": st.fixed_dictionaries({"binary": st.none() | ids, "text": lines}),
    "need": st.fixed_dictionaries({"bytes": sizes, "why": lines}),
    "binary": st.fixed_dictionaries(binaries),
    "end": st.fixed_dictionaries(
        {
            "started": times,
            "ended": times,
            "utc_offset": offsets,
            "binary": st.none() | ids,
            "detail": words,
            **usage,
            "stderr": words,
            "binaries": st.lists(st.fixed_dictionaries(binaries), max_size=3),
            "outputs": st.lists(outputs, max_size=3),
            "missing": st.lists(words, max_size=3),
            "partial": st.booleans(),
            "staged": st.lists(staged, max_size=2),
            "stored": st.lists(stored, max_size=2),
            "began": ids,
            "began_why": lines,
            "retained": st.none() | kept,
            "events": st.lists(st.fixed_dictionaries({"binary": ids, "done": ranges}), max_size=3),
        }
    ),
}


@st.composite
def files(draw: st.DrawFn) -> list[Message]:
    """The messages of one file, as a wrapper makes them."""
    attempt, token, first = draw(ids), draw(hexes), draw(st.integers(1, 1000))
    made = []
    for place, kind in enumerate(draw(st.lists(st.sampled_from(list(fields)), min_size=1))):
        common = {"attempt": attempt, "token": token, "seq": first + place, "kind": kind}
        one = {**common, "time": draw(times), **draw(fields[kind])}
        if kind == "end":
            one["outcome"], one["reason"] = draw(endings)
        made.append(one)
    return made


END: Message = {
    "attempt": 1,
    "token": "0" * 64,
    "seq": 2,
    "time": 1.5,
    "kind": "end",
    "outcome": "failed",
    "started": 1,
    "ended": 2,
    "utc_offset": -3600,
    "binary": 1,
    "reason": "exit-code",
    "detail": "",
    "exit_code": 3,
    "signal": None,
    "cpu": 0.1,
    "rss": 5,
    "stderr": "",
    "binaries": [],
    "outputs": [
        {
            "name": "x",
            "path": "/x",
            "size": 1,
            "checksum": "sha256:" + "0" * 64,
            "late": None,
            "inode": None,
            "mtime": None,
        }
    ],
    "missing": [],
    "partial": False,
    "staged": [],
    "stored": [],
    "began": 1,
    "began_why": "",
    "retained": None,
    "events": [],
}

LATER = ("partial", "staged", "stored", "began", "began_why", "retained", "events")
"""What the first wrappers did not say."""


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
        (
            {"kind": "stop"},
            "`kind` is none of start, state, progress, note, need, binary, part, end",
        ),
        ({"kind": []}, "`kind` is none of start, state, progress, note, need, binary, part, end"),
        ({"outcome": "done"}, "`outcome` is none of"),
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


def long_end(outputs: int) -> Message:
    """An end with so many outputs, and the same number of files that are kept."""
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
    kinds = [
        found[name] for name in ("Start", "State", "Progress", "Note", "Need", "Binary", "End")
    ]
    return {get_args(kind.__annotations__["kind"])[0]: set(kind.__annotations__) for kind in kinds}


FIELD_NAMES = field_names()


@given(files())
def test_type_checkers_know_just_the_fields_that_a_message_has(made: list[Message]) -> None:
    for found in message.parse(message.text(made)):
        assert set(found) == FIELD_NAMES[found["kind"]]
