"""The lines of the tree are those of a naive walk, whatever is expanded."""

from hypothesis import given, settings
from hypothesis import strategies as st

from d0ctl_tui.read.outline import Branch, Outline, Path
from tests.support.examples import examples

SOME = settings(max_examples=examples(40))


def branches(depth: int = 3) -> st.SearchStrategy[Branch]:
    """Trees of some depth, of which any part is expanded."""
    if not depth:
        return st.builds(Branch, st.integers(0, 6))

    def with_open(size: int) -> st.SearchStrategy[Branch]:
        inner = st.dictionaries(st.integers(0, size - 1), branches(depth - 1), max_size=4)
        return st.builds(Branch, st.just(size), inner if size else st.just({}))

    return st.integers(0, 12).flatmap(with_open)


def walk(branch: Branch, path: Path = ()) -> list[Path]:
    """All rows, one after the other."""
    rows: list[Path] = []
    for ordinal in range(branch.size):
        rows.append((*path, ordinal))
        if ordinal in branch.open:
            rows += walk(branch.open[ordinal], (*path, ordinal))
    return rows


def outline(root: Branch) -> Outline:
    """An outline of this tree."""
    made = Outline()
    made.root = root
    return made


@SOME
@given(branches())
def test_every_line_is_that_of_a_naive_walk(root: Branch) -> None:
    rows = walk(root)
    made = outline(root)

    assert made.height == len(rows)
    assert [made.locate(line) for line in range(len(rows))] == rows
    assert [made.line_of(path) for path in rows] == list(range(len(rows)))


@SOME
@given(branches(), st.integers(0, 200), st.integers(0, 5))
def test_pinned_rows_are_the_ancestors_of_the_row_below_them(
    root: Branch, where: int, most: int
) -> None:
    rows, made = walk(root), outline(root)
    if not rows:
        return
    top = where % len(rows)

    pinned = [rows[line] for line in made.pinned(top, most)]

    first = rows[top + len(pinned)]
    ancestors = [first[: depth + 1] for depth in range(len(first) - 1)]
    assert pinned == ancestors[: len(pinned)] and len(pinned) <= most
    if pinned != ancestors and len(pinned) < most:  # one more would be one too many
        below = rows[top + len(pinned) + 1 :]
        assert not below or len(below[0]) - 1 <= len(pinned)


@SOME
@given(
    branches(),
    st.lists(
        st.tuples(
            st.sampled_from(["expand", "collapse", "resize"]),
            st.integers(0, 200),
            st.integers(0, 5),
        )
    ),
)
def test_expanding_collapsing_and_growing_keep_the_lines_true(
    root: Branch, deeds: list[tuple[str, int, int]]
) -> None:
    made = outline(root)

    for deed, where, size in deeds:
        if not made.height:
            return
        path = made.locate(where % made.height)
        if deed == "expand":
            made.expand(path, size)
        elif deed == "resize":
            made.resize(path, size)
        else:
            made.collapse(path)
        assert [made.locate(line) for line in range(made.height)] == walk(made.root)


def test_a_million_children_take_no_more_than_their_number() -> None:
    made = Outline(1)
    made.expand((0,), 1_000_000)
    made.expand((0, 999_998), 3)

    assert made.height == 1_000_004
    assert made.locate(1_000_000) == (0, 999_998, 0)
    assert made.locate(1_000_003) == (0, 999_999)


def test_a_new_top_keeps_what_is_expanded_below_what_is_still_there() -> None:
    made = Outline(3)
    made.expand((1,), 2)
    made.expand((2,), 4)

    made.reorder(3, {0: 1, 1: 2})

    assert made.is_open((2,))
    assert list(made.expanded()) == [(2,)]
    assert made.height == 5


def test_the_nearest_row_is_the_row_itself_the_last_beside_it_or_its_parent() -> None:
    made = Outline(2)
    made.expand((1,), 2)
    made.expand((1, 1), 4)

    assert made.nearest((1, 1, 3)) == (1, 1, 3)
    made.resize((1, 1), 3)
    assert made.nearest((1, 1, 3)) == (1, 1, 2)
    made.resize((1,), 1)
    assert made.nearest((1, 1, 2)) == (1, 0)
    made.resize((1,), 0)
    assert made.nearest((1, 0)) == (1,)
