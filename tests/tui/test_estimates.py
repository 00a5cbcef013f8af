"""The rows of the tree, the details beside it and `eta` tell the same end."""

import time

import pytest

from d0ctl.show.card_contents import about
from d0ctl.show.cards import part
from d0ctl.show.cards.part import Part
from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.drawing.spans import text
from d0ctl.show.forecast import estimates as card
from d0ctl.store.views import browse
from d0ctl.store.views.job_files import eta
from d0ctl_tui.draw.estimate import Estimates
from d0ctl_tui.read.tree_source import Source
from tests.cli.test_check import drive
from tests.support.building import production
from tests.support.rows import change
from tests.support.site import Site


def test_a_job_does_not_end_before_a_stage_of_it_though_another_is_unknown(site: Site) -> None:
    site.submit(production(lines=12))
    change(site.store, "stage", {"seq": 1}, work=72_000.0, is_timed=1)
    site.up()
    drive(site)
    source, now = Source(site.store.home), time.time()
    source.forget()
    rows = Estimates(source)
    rows.forget(now)

    assert rows.of((0,)) is None
    assert rows.least((0,)) == rows.of((0, 0)) and rows.least((0,)) is not None
    source.close()


@pytest.mark.parametrize(("selector", "path"), [("prod", (0,)), ("prod/1", (0, 0))])
def test_the_row_of_the_tree_and_the_details_end_at_the_same_time(
    site: Site, selector: str, path: tuple[int, ...]
) -> None:
    site.submit(production(lines=12))
    change(site.store, "stage", work=72_000.0, is_timed=1)
    site.up()
    for number in range(1, 6):
        site.finish(f"prod/1/{number}/1")
    drive(site)
    source, now = Source(site.store.home), time.time()
    source.forget()
    rows = Estimates(source)
    rows.forget(now)

    details = about(site.store, selector, now)

    assert isinstance(details, Part) and details.estimate is not None
    assert rows.of(path) == pytest.approx(details.estimate.middle)
    whole = eta.end_of(site.store, browse.job(site.store, "prod").id, now=now)
    assert whole is not None and details.estimate.middle <= whole.middle
    assert (selector == "prod") == (details.estimate == whole)
    sheet = Sheet(140)
    part.draw(sheet, details, now)
    page = list(map(text, sheet.lines))
    assert page[1].endswith(f" · {card.end(details.estimate, now)}")
    assert not any("at this rate" in row for row in page)
    source.close()
