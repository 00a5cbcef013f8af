"""Lines keep to their width, whatever is in them."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from d0ctl.show.drawing.spans import cell_len as cell_width
from d0ctl.show.drawing.spans import (
    cut,
    cut_front,
    fit,
    foreign,
    merged,
    pad,
    spread,
    text,
    width,
    wrap,
)

WORDS = st.text(alphabet="ab c/é世界🚀e\u0301[]\\", max_size=40)
LINES = st.lists(st.tuples(WORDS, st.sampled_from(["", "bad", "match"])), max_size=6)
COLUMNS = st.integers(1, 50)


@given(WORDS, COLUMNS)
def test_a_cut_text_is_never_too_wide(words: str, columns: int) -> None:
    assert cell_len(cut(words, columns)) <= columns
    assert cell_len(cut_front(words, columns)) <= columns
    assert cell_len(pad(words, columns)) == columns


def test_blanks_that_have_no_room_leave_no_ellipsis() -> None:
    assert fit([("1 waiting", ""), ("   ", "match"), ("  ", "")], 10) == (
        ("1 waiting", ""),
        (" ", "match"),
    )


@given(LINES, COLUMNS)
def test_a_line_that_is_fitted_keeps_to_its_columns(
    line: list[tuple[str, str]], columns: int
) -> None:
    fitted = fit(line, columns)

    assert width(fitted) <= columns
    if width(line) <= columns:
        assert text(fitted) == text(line)


@given(LINES, LINES, COLUMNS)
def test_two_parts_that_are_spread_keep_to_their_columns(
    left: list[tuple[str, str]], right: list[tuple[str, str]], columns: int
) -> None:
    assert width(spread(left, right, columns)) <= columns


@given(WORDS, st.integers(-3, 3))
def test_wrapping_ends_whatever_the_columns(words: str, columns: int) -> None:
    assert "".join(wrap(words, columns)).replace(" ", "") == words.replace(" ", "")


@given(WORDS, st.integers(4, 30))
def test_wrapping_loses_no_letter_and_keeps_to_the_columns(words: str, columns: int) -> None:
    lines = wrap(words, columns)

    assert all(cell_len(line) <= columns for line in lines)
    assert "".join(lines).replace(" ", "") == words.replace(" ", "")


@given(LINES)
def test_a_line_in_fewer_pieces_says_the_same(line: list[tuple[str, str]]) -> None:
    assert text(merged(line)) == text(line)


def test_a_text_from_outside_can_not_move_the_cursor() -> None:
    assert foreign("a\x1b[2Jb\nc\u202ed") == "a\\x1b[2Jb\\nc\\u202ed"
    assert foreign(None) == ""


def test_a_text_takes_the_columns_that_the_dashboards_library_reckons_with() -> None:
    characters = filter(str.isprintable, map(chr, range(0x20, 0x110000)))

    assert not [c for c in characters if cell_width(c) != cell_len(c)]
