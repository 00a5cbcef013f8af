"""Logs that are printed as they grow: each byte once, in order, whole lines, whatever breaks."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from d0ctl.cli.terminal import tail
from d0ctl.errors import NodeUnreachable
from d0ctl.nodes.visits.peek import Piece
from d0ctl.show.visits.log_names import source as log_source

NAMES = ["1.out", "1.err", "2.out"]

LINES = st.lists(st.sampled_from([b"a\n", b"long line\n", b"\xff\n", b"\n", b"part"]), max_size=8)


class Node:
    """A node whose logs grow by a step at each look, and whose connection breaks now and then."""

    def __init__(self, steps: list[dict[str, bytes]], breaks: set[int]) -> None:
        self.steps = steps
        self.breaks = breaks
        self.questions = 0
        self.logs = dict.fromkeys(NAMES, b"")

    def listing(self) -> dict[str, Any]:
        """What lies there; ended at the look after the last step."""
        self.answer()
        for name, data in (self.steps.pop(0) if self.steps else {}).items():
            self.logs[name] += data
        entries = [{"name": name, "size": len(data)} for name, data in self.logs.items()]
        return {"state": "running" if self.steps else "ended", "entries": entries}

    def read(self, name: str, offset: int, length: int) -> Piece:
        """A part of a log, never all that was asked for."""
        self.answer()
        data = self.logs[name][offset : offset + min(length, 7)]
        return Piece(offset, data, len(self.logs[name]))

    def pieces(self, name: str, offset: int, end: int) -> Iterator[bytes]:
        """A part of a log, all of it."""
        self.answer()
        yield self.logs[name][offset:end]

    def answer(self) -> None:
        """Answer a greeting or a question, or break."""
        self.questions += 1
        if self.questions in self.breaks:
            raise NodeUnreachable("the connection broke")


class Paper:
    """What was printed: the pieces, each with its source."""

    def __init__(self, is_terminal: bool) -> None:
        self.is_terminal = is_terminal
        self.is_empty = self.has_first_head = False
        self.pieces: list[tuple[str, bytes]] = []

    def write(self, source: str, piece: bytes) -> None:
        """Take a piece."""
        self.pieces.append((source, piece))

    def flush(self) -> None:
        """Do nothing."""

    end_line = flush


def follow(
    node: Node, monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool, lines: int = 0
) -> Paper:
    """Follow the logs of this node to their end."""

    @contextmanager
    def visit(where: object) -> Iterator[Node]:
        node.answer()
        yield node

    paper = Paper(is_terminal)
    monkeypatch.setattr(tail, "visit", visit)
    monkeypatch.setattr(tail, "time", SimpleNamespace(sleep=lambda seconds: None))
    monkeypatch.setattr(tail, "visiting", SimpleNamespace(where=lambda store, tried: None))
    monkeypatch.setattr(tail, "Passthrough", lambda: paper)
    one: Any = SimpleNamespace(node_name="farm")
    tail.Tail(None, NAMES, lines).print(one, lambda: False)  # type: ignore[arg-type]
    return paper


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(st.fixed_dictionaries({name: LINES.map(b"".join) for name in NAMES})),
    breaks=st.sets(st.integers(2, 60)),
    is_terminal=st.booleans(),
)
def test_following_prints_each_byte_once_and_in_order(
    monkeypatch: pytest.MonkeyPatch,
    steps: list[dict[str, bytes]],
    breaks: set[int],
    is_terminal: bool,
) -> None:
    node = Node(list(steps), breaks)

    paper = follow(node, monkeypatch, is_terminal=is_terminal)

    for name in NAMES:
        printed = [piece for source, piece in paper.pieces if source == log_source(name)]
        assert b"".join(printed) == b"".join(step[name] for step in steps)
        if not is_terminal:
            assert all(piece.endswith(b"\n") for piece in printed[:-1])


def test_following_may_begin_at_the_last_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [{"1.out": b"a\nb\nc\n", "1.err": b"x\n"}, {"1.out": b"d\ne\nf\n"}]

    paper = follow(Node(steps, {5}), monkeypatch, is_terminal=False, lines=2)

    printed = [b"".join(p for source, p in paper.pieces if source == log_source(name))
               for name in NAMES]  # fmt: skip
    assert printed == [b"b\nc\nd\ne\nf\n", b"x\n", b""]


def test_a_line_that_is_too_long_is_printed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    node = Node([{"1.out": b"x" * 200_000}, {"1.err": b"y\n"}, {"1.out": b"z"}], set())

    paper = follow(node, monkeypatch, is_terminal=False)

    assert max(len(piece) for _, piece in paper.pieces) <= tail.LONGEST_PART + 7
    assert (
        b"".join(piece for _, piece in paper.pieces if b"y" not in piece) == b"x" * 200_000 + b"z"
    )


def test_a_node_that_never_answered_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NodeUnreachable):
        follow(Node([], {1}), monkeypatch, is_terminal=False)
