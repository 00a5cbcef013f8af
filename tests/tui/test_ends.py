"""When packages ended, in their rows and in the order of a list."""

import time

import pytest

from d0ctl.actions import apply, request
from d0ctl.select import parse
from d0ctl.show.drawing.signs import UNICODE
from d0ctl.store.views import outline
from d0ctl.store.views.finding import package_order
from d0ctl.units import moment
from d0ctl_tui.draw.columns import Columns
from d0ctl_tui.draw.package_rows import draw
from d0ctl_tui.draw.row_cells import RowContext
from tests.support.building import production
from tests.support.site import Site


@pytest.mark.parametrize(("verb", "options"), [
    ("kill", {}), ("kill-line", {"drop_outputs": True}),
])  # fmt: skip
def test_a_canceled_package_ended_when_it_was_canceled_and_not_with_its_last_attempt(
    site: Site, verb: str, options: dict[str, bool]
) -> None:
    site.submit(production())
    site.fail("prod/1/1/1", reason="stage-in")
    assert site.phase("prod/1/1/1") == "cooloff"
    site.finish("prod/1/2/1")
    site.fail("prod/1/3/1", reason="stage-in")
    later = time.time() + 7200
    apply(site.store, request(verb, parse("prod/1/1"), **options), actor="me", note=None, now=later)

    ids = [site.id_of(f"prod/1/{line}/1") for line in (1, 2, 3)]
    row = outline.packages_by_id(site.store, ids)[ids[0]]
    shown = draw(row, Columns(40, 12, 0, 0, 0, 8), RowContext(0, UNICODE, later))
    ordered = package_order.ordered(site.store, ids[::-1], "end", later)

    assert "".join(text for text, _ in shown).rstrip().endswith(moment(later, later))
    assert [*ordered] == ids
