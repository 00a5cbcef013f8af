"""A listing that a read-only relay sends in several frames, whole or not at all."""

import time
import uuid
from collections.abc import Iterator

from d0ctl.errors import NodeUnreachable
from d0ctl.nodes.link import Frame, Link
from d0ctl.units import clean, count, duration


def entries(
    link: Link, node: str, request: Frame, answer: str, longest_s: float
) -> Iterator[list[Frame]]:
    """Yield the entries of each frame of kind `answer`.

    Raises NodeUnreachable after the last ones unless the listing is whole, and if all frames
    together take longer than `longest_s`: then what was listed says nothing of the rest.
    """
    name, listed, until = uuid.uuid4().hex, 0, time.monotonic() + longest_s
    try:
        with link.bounded(longest_s):
            link.send({**request, "id": name})
            for frame in link.frames():
                if frame["kind"] == "fault":
                    raise NodeUnreachable(f"node `{node}` {clean(frame['message'])}")
                if frame["kind"] == answer and frame["id"] == name:
                    listed += len(frame["entries"])
                    yield frame["entries"]
                    if not frame["more"]:
                        return
    except NodeUnreachable as error:
        if time.monotonic() < until:
            raise
        raise _late(node, listed, longest_s) from error
    if time.monotonic() >= until:
        raise _late(node, listed, longest_s)
    raise NodeUnreachable(f"node `{node}` ended before it had listed everything")


def _late(node: str, listed: int, longest_s: float) -> NodeUnreachable:
    some = f"only {count(listed, 'entry', 'entries')}" if listed else "nothing"
    return NodeUnreachable(f"node `{node}` has listed {some} within {duration(longest_s)}")
