"""A file seen through a window shows the lines that it has, wherever the window is."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d0ctl.errors import BadUsage
from d0ctl_tui.draw.pager import LONGEST, SEARCHED, Pager

TEXTS = st.lists(st.text(alphabet="abcX\t", max_size=12), min_size=1, max_size=60)


def pager(data: bytes) -> Pager:
    """A window on these bytes."""
    return Pager(lambda offset, length: data[offset : offset + length], size=len(data))


@given(TEXTS, st.integers(1, 10))
def test_going_down_line_by_line_shows_every_line_once(texts: list[str], height: int) -> None:
    data = "".join(f"{text}\n" for text in texts).encode()
    one = pager(data)
    seen = [text for _, text in one.window(height)]
    for _ in range(len(texts)):
        before = one.top
        one.forward(1, height)
        if one.top > before:
            seen.append(one.window(height)[-1][1])

    assert seen == texts


@given(TEXTS, st.integers(1, 10))
def test_the_end_is_a_full_window_and_the_way_back_ends_at_the_top(
    texts: list[str], height: int
) -> None:
    one = pager("\n".join(texts).encode())

    one.to_end(height)
    tail = [text for _, text in one.window(height)]
    assert tail == "\n".join(texts).removesuffix("\n").split("\n")[-height:] or not one.size

    one.backward(len(texts) + 1)
    assert one.top == 0


@given(TEXTS, st.sampled_from(["X", "ab", "cX"]))
def test_a_search_goes_through_all_matches_and_back(texts: list[str], word: str) -> None:
    data = "".join(f"{text}\n" for text in ["", *texts]).encode()
    one = pager(data)
    lines = [number for number, text in enumerate(["", *texts]) if word.lower() in text.lower()]
    offsets = [len("".join(f"{t}\n" for t in ["", *texts][:number])) for number in lines]

    found = []
    while one.find(word, forward=True, cancelled=lambda: False):
        found.append(one.top)
    assert found == offsets

    back = []
    while one.find(word, forward=False, cancelled=lambda: False):
        back.append(one.top)
    assert back == offsets[:-1][::-1]


def test_a_line_without_an_end_is_shown_in_pieces() -> None:
    one = pager(b"x" * (LONGEST * 2 + 5))

    assert [len(text) for _, text in one.window(10)] == [LONGEST, LONGEST, 5]
    one.to_end(1)
    assert one.top > 0


def test_a_search_begins_in_the_first_line_of_the_window_and_goes_around_the_end() -> None:
    one = pager(b"one X\ntwo\nthree X\n")

    assert one.find("x", forward=True, cancelled=lambda: False, here=True) and one.top == 0
    assert one.find("x", forward=True, cancelled=lambda: False) and one.top == 10
    assert not one.find("x", forward=True, cancelled=lambda: False)
    assert one.find_around("x", forward=True, cancelled=lambda: False) and one.top == 0
    assert one.find_around("x", forward=False, cancelled=lambda: False) and one.top == 10
    assert not one.find_around("none", forward=False, cancelled=lambda: False)


@pytest.mark.parametrize("gap", [0, 1, 3, 20])
@given(TEXTS, st.sampled_from(["~X", "~^[ab]+c", "~a.c$", "~(ab|ca)+", "~^x"]))
def test_a_regular_expression_finds_the_lines_that_it_fits(
    gap: int, texts: list[str], typed: str
) -> None:
    lines = [text + "\t" * gap for text in texts] if gap else texts
    data = "".join(f"é{text}\n{text}\n" for text in lines).encode()
    shown = data.decode().splitlines()
    fitting = [n for n, line in enumerate(shown) if re.search(typed[1:], line, re.IGNORECASE)]
    offsets = [len("".join(f"{line}\n" for line in shown[:n]).encode()) for n in fitting]
    log = pager(data)

    found = []
    if log.find(typed, forward=True, cancelled=lambda: False, here=True):
        found.append(log.top)
        while log.find(typed, forward=True, cancelled=lambda: False):
            found.append(log.top)
    assert found == offsets

    back = []
    while log.find(typed, forward=False, cancelled=lambda: False):
        back.append(log.top)
    assert back == offsets[:-1][::-1]


def test_a_regular_expression_is_found_where_the_pieces_of_a_log_meet() -> None:
    for before in range(SEARCHED - 12, SEARCHED + 2):
        log = pager(b"x" * (before - 1) + b"\nmatch 123 here\n" + b"y" * 200)

        assert log.find("~^match \\d+", forward=True, cancelled=lambda: False)
        assert log.window(1)[0][1] == "match 123 here"
        log.top = log.size
        assert log.find("~^match \\d+", forward=False, cancelled=lambda: False)
        assert log.window(1)[0][1] == "match 123 here"


def test_no_piece_of_a_log_begins_a_line_for_a_regular_expression() -> None:
    log = pager(b"x" * SEARCHED * 2)

    assert log.find("~^x", forward=True, cancelled=lambda: False, here=True) and log.top == 0
    assert not log.find("~^x", forward=True, cancelled=lambda: False)


def test_a_wrong_regular_expression_is_refused_and_a_tilde_alone_is_searched() -> None:
    log = pager(b"a\n~\n")

    with pytest.raises(BadUsage, match="is not a regular expression"):
        log.find("~(", forward=True, cancelled=lambda: False)
    assert log.find("~", forward=True, cancelled=lambda: False) and log.top == 2


def test_a_cancelled_search_finds_nothing() -> None:
    one = pager(b"a\nb\n")

    assert not one.find("b", forward=True, cancelled=lambda: True)
    assert one.top == 0
