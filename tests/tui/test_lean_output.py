"""Output with fewer sequences draws the same."""

import re

from hypothesis import given
from hypothesis import strategies as st

from d0ctl_tui.draw.lean_output import lean

NUMBERS = [
    "0", "", "1", "2", "3", "4", "7", "9", "31", "97", "39", "42", "49", "103", "38;5;200",
    "48;5;17", "38;2;1;2;3", "48;2;9;8;7", "1;38;2;1;2;3;48;2;4;5;6",
]  # fmt: skip

OFF = {"22": {"1", "2"}, "23": {"3"}, "24": {"4"}, "27": {"7"}, "29": {"9"}}

LINES = {"4", "7", "9"}

SEQUENCES = st.sampled_from(NUMBERS).map("\x1b[{}m".format)
OTHERS = st.sampled_from(
    ["a", "bc ", " ", " " * 7, " " * 20, "\x1b[3;4H", "\r\n", "\x1b[K", "\x1b[2J", "\x1b[?25l"]
)
TOKEN = re.compile(r"\x1b\[[?0-9;]*[A-Za-z]|.", re.DOTALL)


def drawn(data: str) -> list[tuple[str, tuple[str, str, frozenset[str]]]]:
    """Each character and sequence but moves with the ink, paper and attributes it is drawn in.

    Of a blank only what is seen: its paper, unless it has a line or is reversed.
    """
    cells: list[tuple[str, tuple[str, str, frozenset[str]]]] = []
    ink, paper, attributes = "39", "49", frozenset[str]()
    for token in TOKEN.findall(data):
        if token.endswith("m") and token.startswith("\x1b["):
            rest = token[2:-1].split(";")
            while rest:
                number = rest.pop(0)
                if number in ("38", "48"):
                    kind = rest.pop(0)
                    values = [rest.pop(0) for _ in range(3 if kind == "2" else 1)]
                    colour = ";".join((number, kind, *values))
                    ink, paper = (colour, paper) if number == "38" else (ink, colour)
                elif number in ("", "0"):
                    ink, paper, attributes = "39", "49", frozenset()
                elif number in OFF:
                    attributes -= OFF[number]
                elif 30 <= int(number) <= 39 or 90 <= int(number) <= 97:
                    ink = number
                elif 40 <= int(number) <= 49 or 100 <= int(number) <= 107:
                    paper = number
                else:
                    attributes |= {number}
        elif token.endswith("X"):
            cells += [(" ", ("", paper, frozenset()))] * int(token[2:-1])
        elif not token.endswith("C"):
            if token in "\r\n" or token.endswith("H"):
                cells.append((token, ("", "", frozenset())))
            elif token == " " and not attributes & LINES:
                cells.append((token, ("", paper, frozenset())))
            else:
                cells.append((token, (ink, paper, attributes)))
    return [*cells, ("end", (ink, paper, attributes))]


@given(st.lists(SEQUENCES | OTHERS).map("".join))
def test_lean_output_draws_the_same_in_no_more_bytes(data: str) -> None:
    for to_paper in (False, True):
        assert drawn(lean(data, to_paper)) == drawn(data)
        assert lean(lean(data, to_paper), to_paper) == lean(data, to_paper)


def test_a_long_blank_is_erased_only_on_the_paper_of_the_terminal() -> None:
    blank = " " * 30

    assert lean(f"a{blank}b") == "a\x1b[30X\x1b[30Cb"
    assert lean(f"\x1b[48;5;17m{blank}b") == f"\x1b[48;5;17m{blank}b"
    assert lean(f"\x1b[48;5;17m{blank}b", True) == "\x1b[48;5;17m\x1b[30X\x1b[30Cb"
    assert lean(f"\x1b[4m{blank}") == f"\x1b[4m{blank}"


def test_an_unchanged_style_is_not_sent_again() -> None:
    style = "\x1b[38;2;1;2;3;48;2;4;5;6m"
    data = f"{style}a\x1b[0m{style}b\x1b[0m\x1b[1;38;2;1;2;3;48;2;4;5;6mc\x1b[0m{style}d\x1b[0m"

    assert lean(data) == f"{style}ab\x1b[1mc\x1b[22md\x1b[0m"
