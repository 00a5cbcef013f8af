"""The stream of files from one node to another (docs/protocol.md, section Streams of files)."""

import json
import re
import signal
from typing import IO, Any, Dict

from d0ctl_wrapper.protocol.checks import shape

LONGEST_ORDER = 16 * 1024 * 1024
"""The most bytes of an order, which lists the files of a stream."""

LONGEST_LINE = 64 * 1024
"""The most bytes of any other line."""

RESUMED = 8 * 1024 * 1024
"""From this size on, a file that was cut off is continued later."""

PART = b"part-"
"""The beginning of the names of files that are continued."""

CIPHERS = (
    "aes128-gcm@openssh.com,aes256-gcm@openssh.com,chacha20-poly1305@openssh.com,"
    "aes128-ctr,aes192-ctr,aes256-ctr"
)
"""Of the ssh program for much data, the fastest first: CPUs have instructions for AES."""

SILENCE_S = 120
"""The seconds without a byte after which a process at an end of a stream ends."""

SENDS, RECEIVES = b"send\n", b"receive\n"
"""The lines before an order to an end that takes several: what it does."""

END = b"\n"
"""Behind the last file of a stream: Slurm keeps an unfinished line back until its step ends."""

GONE, SPOILT, OTHER = "gone", "spoilt", "other"
"""Kinds of faults: there is no such file, it is another file, and everything else."""

FAULTS = ("", GONE, SPOILT, OTHER)

ANSWER, CALL = "answer", "call"
"""The roles of the two ends of a direct connection."""

DIRECT = shape.record(
    {
        "role": shape.one_of(ANSWER, CALL),
        "name": shape.match(re.compile("[0-9a-f]{32}"), "is not the name of a login"),
    },
    {"public": (shape.string, "")},
)
"""How an end is connected to the other node, and the key that may log in where it answers."""

ALIAS = "d0ctl"
"""The name of the other node in the lines of `known_hosts`."""

CALL_ORDER = shape.record(
    {
        "user": shape.filled,
        "host": shape.filled,
        "port": shape.positive,
        "known_hosts": shape.filled,
        "private": shape.filled,
        "command": shape.filled,
    }
)
"""The second order to the end that calls: where and how it logs in."""

_DIRECT = {"direct": (shape.maybe(DIRECT), None)}

SEND = shape.record(
    {
        "nonce": shape.filled,
        "base": shape.absolute,
        "files": shape.many(
            shape.record({"path": shape.filled, "size": shape.whole, "offset": shape.whole})
        ),
    },
    _DIRECT,
)
"""The order to a sender: absolute paths, or relative to `base`."""

RECEIVE = shape.record(
    {
        "nonce": shape.filled,
        "base": shape.absolute,
        "files": shape.many(
            shape.record(
                {
                    "path": shape.filled,
                    "size": shape.whole,
                    "checksum": shape.filled,
                }
            )
        ),
    },
    _DIRECT,
)
"""The order to a receiver: where each file goes, and what it is."""

ENTRY = shape.record(
    {
        "size": shape.whole,
        "executable": shape.boolean,
        "fault": shape.one_of(*FAULTS),
        "message": shape.bounded(shape.string),
    }
)
"""The line before the bytes of a file; `size` is how many follow."""


def encode(record: "Dict[str, Any]") -> bytes:
    """Return a record as a line."""
    return json.dumps(record, separators=(",", ":")).encode("ascii") + b"\n"


def line(source: "IO[bytes]", most: int = LONGEST_LINE) -> bytes:
    """Read a line without its end; raise ValueError if there is none, or it is too long."""
    alive()
    found = source.readline(most)
    if not found.endswith(b"\n"):
        raise ValueError("the stream has ended too soon")
    return found[:-1]


def greet(nonce: str) -> bytes:
    """Return the line that begins a stream, after what a login shell prints."""
    return b"d0ctl " + nonce.encode("ascii", "replace") + b"\n"


def skip_greeting(source: "IO[bytes]", nonce: str) -> None:
    """Read until the line that begins the stream."""
    mark = greet(nonce)[:-1]
    while not line(source).rstrip().endswith(mark):
        pass


def alive() -> None:
    """Note progress: without any for a while, the process is ended by SIGALRM."""
    signal.alarm(SILENCE_S)
