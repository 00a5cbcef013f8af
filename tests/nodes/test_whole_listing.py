"""A listing of a node in several frames: one time limit for all of them."""

import shlex
import sys
from contextlib import closing

import pytest

from d0ctl.errors import NodeUnreachable
from d0ctl.nodes.link import Frame, Link
from d0ctl.nodes.transports.local import LocalTransport
from d0ctl.nodes.visits import whole_listing

RELAY = """
import json, sys, time
name = json.loads(sys.stdin.readline())["id"]
for number in range({frames}):
    entry = {{"path": "/raw/%d" % number, "size": 1, "time": 2}}
    more = number < {last}
    print(json.dumps({{"kind": "files", "id": name, "entries": [entry], "more": more}}), flush=True)
    time.sleep({pause})
"""


def listed(frames: int, last: int, pause: float, longest_s: float) -> list[Frame]:
    """The entries of all frames of a relay."""
    transport = LocalTransport("n1")
    relay = RELAY.format(frames=frames, last=last, pause=pause)
    stream = transport.start(shlex.join([sys.executable, "-I", "-S", "-c", relay]))
    request = {"kind": "folder", "path": "/raw", "match": "*"}
    with closing(Link(transport, stream, "")) as link:
        parts = whole_listing.entries(link, "n1", request, "files", longest_s)
        return [entry for part in parts for entry in part]


def test_frames_until_the_last_one_are_a_listing() -> None:
    assert [entry["path"] for entry in listed(5, 2, 0.0, 30.0)] == ["/raw/0", "/raw/1", "/raw/2"]


def test_frames_that_come_steadily_but_never_end_are_cut_off() -> None:
    with pytest.raises(NodeUnreachable) as caught:
        listed(100_000, 100_000, 0.02, 1.0)

    assert str(caught.value).startswith("node `n1` has listed only ")
    assert str(caught.value).endswith(" entries within 1.0 s")


def test_a_relay_that_ends_early_is_no_listing() -> None:
    with pytest.raises(NodeUnreachable, match="`n1` ended before it had listed everything"):
        listed(3, 5, 0.0, 30.0)
