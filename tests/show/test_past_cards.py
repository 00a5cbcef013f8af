"""The sentences about jobs and packages as they were at an earlier moment."""

import pytest

from d0ctl.show.cards.package import Package, draw
from d0ctl.show.cards.part import Part
from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.drawing.spans import text
from d0ctl.show.history import past_cards
from d0ctl.store.views import activity
from tests.store.test_past import as_of, spread_out
from tests.support import rows
from tests.support.building import production
from tests.support.site import Site

LONG_AFTER_S = 1000.0


def said(site: Site, path: str, new: str | None = None) -> str:
    """Return what is said of a package after its change to a phase, or of a part at the end."""
    events = [event for event in activity.events(site.store, 0, 99) if new in (None, event.new)]
    at = events[0].at + (LONG_AFTER_S if new is None else 0.5)
    with as_of(site, at) as store:
        card = past_cards.about(store, path, at)
    assert isinstance(card, Package | Part)
    return card.why.answer


@pytest.mark.parametrize(
    ("new", "begin"),
    [
        ("running", "package `prod/1/1/1` had been running on `localhost` since "),
        ("failed", "package `prod/1/1/1` had failed on `localhost` at "),
    ],
)
def test_a_package_of_the_past_has_an_english_sentence(site: Site, new: str, begin: str) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")
    spread_out(site)

    assert said(site, "prod/1/1/1", new).startswith(begin)


def test_a_package_that_waited_for_a_try_had_been_cooling_off(site: Site) -> None:
    site.submit(production())
    site.fail("prod/1/1/1", reason="stage-in", detail="no answer")
    spread_out(site)

    assert said(site, "prod/1/1/1", "cooloff").startswith("package `prod/1/1/1` had been cooling")


def test_a_line_that_had_failed_has_an_english_sentence(site: Site) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")
    spread_out(site)

    assert said(site, "prod/1/1") == "`prod/1/1` had failed"


def test_a_card_of_the_past_leaves_out_requests_which_were_not_recorded(site: Site) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    spread_out(site)

    with as_of(site, activity.events(site.store, 0, 99)[-1].at + LONG_AFTER_S) as store:
        card = past_cards.about(store, "prod/1/1/1", LONG_AFTER_S)
    assert isinstance(card, Package)
    sheet = Sheet(100)
    draw(sheet, card, LONG_AFTER_S)
    text = "\n".join("".join(span[0] for span in line) for line in sheet.lines)

    assert "prod/1/1/1" in text and "1 attempt" in text
    assert "requests" not in text


def test_a_card_of_the_past_counts_no_later_restart(site: Site) -> None:
    site.submit(production())
    site.fail("prod/1/1/1", reason="lost", detail="its wrapper is gone")
    site.launch("prod/1/1/1")
    moments = [event.at for event in activity.events(site.store, 0, 99) if event.new == "running"]
    rows.change(site.store, "attempt", {"number": 1}, ended=max(moments) - 1e-6)

    shown = []
    for at in sorted(moments):
        with as_of(site, at) as store:
            card = past_cards.about(store, "prod/1/1/1", at)
        assert isinstance(card, Package)
        sheet = Sheet(100)
        draw(sheet, card, at)
        shown.append("\n".join(text(line) for line in sheet.lines))

    assert "1 attempt\n" in shown[0]
    assert "2 attempts, 1 restart\n" in shown[1]
