"""Lists and findings on a terminal that is too narrow for a row of them."""

import pytest

from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.drawing.spans import text
from tests.cli.conftest import Type
from tests.support.building import production
from tests.support.live import live
from tests.support.rows import change
from tests.support.site import Site

STORY = "the third disk of the second crate is full and nobody has come to change it yet"

LISTS = [("policy", "show"), ("file", "list", "prod"), ("node", "list"),
         ("report", "failures", "prod")]  # fmt: skip


@pytest.fixture
def troubled(site: Site, d0ctl: Type) -> Site:
    """A failed package and a drained node, both with a long story."""
    site.submit(production())
    site.fail("prod/1/1/1", detail=STORY)
    d0ctl("node", "drain", "localhost", "--reason", STORY)
    return site


@pytest.mark.parametrize("words", LISTS, ids=" ".join)
@pytest.mark.parametrize("columns", [40, 80])
def test_a_narrow_list_has_all_words_of_a_wide_one(
    troubled: Site, d0ctl: Type, words: tuple[str, ...], columns: int
) -> None:
    whole = d0ctl(*words).stdout.split()
    with live(*words, columns=columns, rows=60) as screen:
        screen.end()
        shown = screen.raw.splitlines()

    assert max(map(len, shown)) <= columns
    assert not set(whole) - set(" ".join(shown).split())


def test_doctor_breaks_its_lines_between_words(troubled: Site, d0ctl: Type) -> None:
    change(troubled.store, "stage_count", {"phase": "ready", "stage_id": 1}, n=4)

    whole = d0ctl("doctor").stdout
    with live("doctor", columns=50) as screen:
        assert screen.end() == 5
        shown = screen.raw.splitlines()

    assert "counted as ready" in whole
    assert max(map(len, shown)) <= 50
    assert not set(whole.replace(":", "").split()) - set(" ".join(shown).replace(":", "").split())


def test_cells_without_room_follow_below_their_row() -> None:
    sheet = Sheet(columns=30)

    sheet.rows([["one", "short", "end"], ["two", "x" * 20, "it ended"], ["three", "", "w " * 30]])

    assert [text(line).rstrip() for line in sheet.lines] == [
        "one    short", "      end",
        "two    xxxxxxxxxxxxxxxxxxxx", "      it ended",
        "three", "      " + "w " * 11 + "w", "      " + "w " * 11 + "w", "      " + "w " * 5 + "w",
    ]  # fmt: skip
