"""What a relay may say, and what is no valid frame."""

import json
import shlex
import sys
from contextlib import closing, suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d0ctl.errors import NodeUnreachable
from d0ctl.nodes import frame_checks
from d0ctl.nodes.link import Link
from d0ctl.nodes.transports.local import LocalTransport
from d0ctl_wrapper.protocol.frames import LISTED, LONGEST

FACTS = {
    "boot_id": "b", "machine_id": "", "base": "/x", "cpus": 2, "gpus": 1, "memory": 5,
    "system": "Linux",
    "machine": "x86_64", "hostname": "n1", "time": 1.5, "user": "emmy", "home": "/home/emmy",
    "shell": "/bin/sh", "os": "", "python": "3.6.8", "executable": "/usr/bin/python3",
    "filesystem": "ext4", "utc_offset": 0, "load": 0.5, "disk_total": 9, "disk_free": 1,
    "noexec": False, "folder": "5f3a",
}  # fmt: skip

GOOD: list[dict[str, Any]] = [
    {
        "kind": "hello",
        "facts": FACTS,
        "attempts": [{"attempt": 3, "state": "ended"}],
        "more": False,
        "cached": [1, 2],
    },
    {"kind": "listed", "attempts": [{"attempt": 3, "state": "dead"}], "more": True},
    {"kind": "accepted", "attempts": [1]},
    {"kind": "refused", "attempt": 1, "reason": "disk-full", "message": ""},
    {
        "kind": "messages",
        "files": [{"name": "1.1", "text": "any \u0000 text", "more": False}],
        "disk_free": 10**9,
    },
    {"kind": "dead", "attempts": [{"attempt": 1, "message": "gone", "reason": "lost"}]},
    {"kind": "absent", "attempts": []},
    {"kind": "forgotten", "attempts": [1], "paths": ["/x"]},
    {"kind": "fault", "message": "why"},
    {"kind": "taken", "id": "a", "ok": True, "message": "", "inode": None, "mtime": 5},
    {"kind": "hashed", "id": "a", "ok": False, "size": None, "checksum": None, "message": "x"},
    {"kind": "data", "id": "a", "offset": 0, "size": 1, "base64": "eA==", "message": ""},
    {
        "kind": "software",
        "id": "7",
        "ok": False,
        "message": "1 fault",
        "faults": ["`x` is missing"],
    },
    {
        "kind": "listing",
        "id": "a",
        "state": "ended",
        "type": "folder",
        "more": False,
        "entries": [{"name": "x", "type": "link", "size": None, "time": -1.5, "target": "y"}],
        "message": "",
    },
    {
        "kind": "status",
        "id": "a",
        "attempt": 3,
        "state": "running",
        "message": "",
        "status": {
            "time": 1.5,
            "phase": "running",
            "why": "",
            "wrapper_started": 1,
            "started": None,
            "seq": 3,
            "since": 1,
            "binary": 1,
            "began": None,
            "done": None,
            "total": None,
            "percent": None,
            "line": "",
            "eta": None,
            "cpu": 0.1,
            "rss": 5,
            "processes": 1,
            "disk_free": None,
            "last_sign": None,
        },
    },
    {"kind": "pong", "id": "ping", "time": 1.0, "load": 0.5, "disk_free": None},
]

ACTED_ON = {
    *("facts", "attempts", "attempt", "files", "paths", "ok", "id", "base64"),
    *("state", "entries", "status"),
}


@pytest.mark.parametrize("frame", GOOD, ids=[frame["kind"] for frame in GOOD])
def test_a_frame_of_the_protocol_is_read_as_it_is(frame: dict[str, Any]) -> None:
    assert frame_checks.read(json.dumps(frame).encode()) == frame


@pytest.mark.parametrize("frame", GOOD, ids=[frame["kind"] for frame in GOOD])
def test_a_frame_that_lacks_a_needed_field_is_refused(frame: dict[str, Any]) -> None:
    for key in ACTED_ON & frame.keys():
        less = {name: value for name, value in frame.items() if name != key}
        with pytest.raises(NodeUnreachable, match="invalid frame"):
            frame_checks.read(json.dumps(less).encode())
        with pytest.raises(NodeUnreachable, match="invalid frame"):
            frame_checks.read(json.dumps({**frame, key: [{}]}).encode())


def test_a_hello_names_a_bounded_number_of_attempts_with_a_cache() -> None:
    most = {**GOOD[0], "cached": list(range(1, LISTED + 1))}

    assert frame_checks.read(json.dumps(most).encode()) == most
    with pytest.raises(NodeUnreachable, match=f"`cached` has more than {LISTED} items"):
        frame_checks.read(json.dumps({**most, "cached": list(range(1, LISTED + 2))}).encode())


@pytest.mark.parametrize("attempt", [0, -1, 2**63, 1.5, "1", True, [1]])
def test_a_hello_names_attempts_with_a_cache_by_their_numbers(attempt: object) -> None:
    with pytest.raises(NodeUnreachable, match="`cached` item 1 is"):
        frame_checks.read(json.dumps({**GOOD[0], "cached": [attempt]}).encode())


def test_unknown_fields_are_left_out() -> None:
    facts = {**FACTS, "more": "x" * 5000}
    frame = {**GOOD[0], "facts": facts, "other": [1]}

    assert frame_checks.read(json.dumps(frame).encode()) == GOOD[0]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"kind":"pong","id":"x","a":"' + b"x" * LONGEST + b'"}', "longer than 8388608"),
        (b'{"kind":"pong","id":"x","a":[' + b"[]," * 300_000 + b"[]]}", "more than 250000 lists"),
    ],
)
def test_an_oversized_frame_is_refused_before_it_is_parsed(line: bytes, reason: str) -> None:
    with pytest.raises(NodeUnreachable, match=reason):
        frame_checks.read(line)


def test_long_output_of_a_relay_is_quoted_in_part() -> None:
    frame = frame_checks.read(json.dumps({"kind": "fault", "message": "x" * 100_000}).encode())

    assert frame == {"kind": "fault", "message": "x" * 4096}


def test_a_long_frame_goes_to_the_relay_in_pieces() -> None:
    frame = {"kind": "launch", "attempts": ["é" * 5_000_000]}

    lines = list(frame_checks.write(frame))

    assert max(map(len, lines)) < LONGEST
    pieces = [json.loads(line) for line in lines]
    assert json.loads("".join(piece["text"] for piece in pieces)) == frame
    assert [piece["more"] for piece in pieces] == [True] * (len(pieces) - 1) + [False]


def test_a_frame_of_a_later_protocol_is_skipped() -> None:
    assert frame_checks.read(b'{"kind": "news", "what": 1}') is None


@pytest.mark.parametrize(
    "line", [b"", b"[]", b"7", b"{", b"\xff", b"[" * 100_000, b'{"kind": NaN}', b'{"kind": [1]}']
)
def test_a_line_that_is_no_frame_is_refused(line: bytes) -> None:
    with pytest.raises(NodeUnreachable):
        frame_checks.read(line)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.sampled_from(GOOD), st.data())
def test_an_invalid_frame_is_refused_without_other_effects(
    frame: dict[str, Any], data: st.DataObject
) -> None:
    key = data.draw(st.sampled_from(sorted(frame)))
    line = json.dumps({**frame, key: data.draw(json_values)}).encode()

    with suppress(NodeUnreachable):
        frame_checks.read(line)


HASTY = """
import json, sys
print("d0ctl", json.loads(sys.stdin.readline())["nonce"])
for frame in sys.argv[1:]:
    print(frame)
"""
"""A relay that sends these frames after its greeting."""


def test_messages_before_the_hello_end_the_link_so_that_they_are_sent_again() -> None:
    hello, messages = GOOD[0], {"kind": "messages", "files": [{"name": "1.1", "text": "x"}]}
    transport = LocalTransport("n1")
    command = [sys.executable, "-c", HASTY, json.dumps(messages), json.dumps(hello)]
    link = Link(transport, transport.start(shlex.join(command)), "/x")

    with closing(link), pytest.raises(NodeUnreachable, match="messages before its hello"):
        link.greet({"base": "/x"})
