"""Files with damage: what a slip, a bad copy or an enemy makes of a sound one."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

CALM = settings(deadline=None, suppress_health_check=list(HealthCheck))

SIZE = 1_000_000 if "EXAMPLES" in os.environ else 20_000
"""How many bytes of a file are the same again and again: many in `make soak`."""

LEAST_S, SECONDS_PER_BYTE = 20.0, 1e-6
"""The CPU time that a file may take: a second per megabyte, and more for what a small one asks for.

A few bytes may ask for 10^5 lines; a search without bounds takes minutes.
"""

Piece = tuple[bytes, bytes, bytes]
"""The beginning of a file, what follows again and again, and the end."""


@st.composite
def damaged(draw: st.DrawFn, sources: Sequence[bytes], words: Sequence[str]) -> bytes:
    """A file in which pieces or lines are cut, doubled, moved or replaced by words and bytes."""
    data = draw(st.sampled_from(sources))
    foreign = st.sampled_from(words).map(str.encode) | st.binary(max_size=4)
    for _ in range(draw(st.integers(1, 6))):
        begin, other = draw(st.integers(0, len(data))), draw(st.integers(0, len(data)))
        end = begin + draw(st.sampled_from([0, 0, 1, 3, 10, 80]))
        piece = draw(foreign | st.sampled_from([data[begin:end], data[begin:end] * 3]))
        if draw(st.booleans()):
            data = data[:begin] + piece + data[end if other > begin else begin :]
        else:
            lines = data.splitlines(keepends=True) or [b""]
            at, another = begin % len(lines), lines[other % len(lines)]
            lines[at : at + 1] = draw(st.sampled_from([[], [lines[at], another], [another]]))
            data = b"".join(lines)
    return data


@st.composite
def pieces(draw: st.DrawFn, sources: Sequence[bytes], words: Sequence[str]) -> Piece:
    """What a file consists of that has few words very often."""
    source = draw(st.sampled_from(sources))
    begin = draw(st.integers(0, len(source)))
    often = "".join(draw(st.lists(st.sampled_from(words), min_size=1, max_size=3)))
    return source[:begin], often.encode(), draw(st.sampled_from([b"", source[begin:]]))


def joined(piece: Piece) -> bytes:
    """The file of these pieces."""
    begin, often, end = piece
    return begin + often * (SIZE // len(often)) + end


@contextmanager
def in_time(*sizes: int) -> Iterator[list[int]]:
    """What is done takes no longer than it may for the sizes of what is read, and of those added.

    Shorter files may make longer ones.
    """
    begun, found = time.process_time(), list(sizes)
    yield found
    took = time.process_time() - begun
    assert took < LEAST_S + SECONDS_PER_BYTE * sum(found)
