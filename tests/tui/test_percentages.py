"""The percentages of jobs, stages and lines in the tree."""

import pytest

from d0ctl.show.drawing.signs import UNICODE
from d0ctl.show.drawing.spans import text
from d0ctl.store.views.shapes import StageSummary
from d0ctl_tui.draw import tree_rows
from d0ctl_tui.draw.columns import Columns
from d0ctl_tui.draw.row_cells import RowContext

LIFE = [{"running": 2, "ready": 10}, {"done": 1, "ready": 11}, {"done": 9, "running": 3},
        {"done": 11, "held": 1}]  # fmt: skip
"""The packages of a stage from the first to the last."""


@pytest.mark.parametrize(("times", "has_share"), [(1, True), (8, True), (100, False)])
def test_a_percentage_stays_in_its_row_while_packages_begin_and_end(
    times: int, has_share: bool
) -> None:
    context, needed, shares = RowContext(0, UNICODE, 0.0), set(), set()
    for counts in LIFE:
        many = {phase: times * number for phase, number in counts.items()}
        row = StageSummary(id=1, seq=2, name="merge", require=1.0, lines=40, max_running=None,
                           final=0, counts=many, blocked=False)  # fmt: skip
        need = tree_rows.need(row, context)
        needed.add(need.count)
        shares.add("% " in text(tree_rows.draw(row, Columns.of(160, need), context)))

    assert (len(needed), shares) == (1, {has_share})


def test_a_row_has_no_percentage_before_its_first_package_and_after_its_last() -> None:
    context = RowContext(0, UNICODE, 0.0)
    for counts in ({"ready": 12}, {"done": 12}, {"done": 11, "failed": 1}):
        row = StageSummary(id=1, seq=2, name="merge", require=1.0, lines=40, max_running=None,
                           final=0, counts=counts, blocked=False)  # fmt: skip
        drawn = text(tree_rows.draw(row, Columns.of(160, tree_rows.need(row, context)), context))
        assert "%" not in drawn
