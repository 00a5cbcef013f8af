"""The list of nodes, a node's card and the strip of the dashboard call a state by one name."""

import pytest

from d0ctl.show.card_contents import about_node
from d0ctl.show.cards import node
from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.drawing.signs import UNICODE
from d0ctl.show.drawing.spans import text
from d0ctl.store.nodes import registry
from d0ctl.store.views.activity import NodeUse
from d0ctl_tui.draw import strips
from d0ctl_tui.read import snapshot
from tests.support import rows
from tests.support.site import Site

NOW = 100_000.0


@pytest.mark.parametrize(
    ("state", "contact", "words"),
    [
        ("unknown", 99_000.0, "○ not connected"),
        ("unknown", None, "○ unknown"),
        ("down", 99_000.0, "✘ down"),
    ],
)
def test_a_node_has_the_same_state_on_all_screens(
    site: Site, state: str, contact: float | None, words: str
) -> None:
    rows.change(site.store, "node", state=state, contact=contact, since=99_000.0)

    cells = node.cells(registry.named(site.store, "localhost"), NodeUse(), None, NOW, UNICODE)
    card = Sheet(100)
    contents = about_node(site.store, "localhost", NOW)
    assert isinstance(contents, node.Node)
    node.draw(card, contents, NOW)
    [strip] = strips.nodes(snapshot.nodes(site.store), {}, 100, NOW, UNICODE)

    assert text(cells[1]) == words  # type: ignore[arg-type]
    assert any(text(line).startswith(words) for line in card.lines)
    glyph, name = words.split(" ", 1)
    assert text(strip).lstrip().startswith(f"{glyph} localhost") and f" {name}" in text(strip)
