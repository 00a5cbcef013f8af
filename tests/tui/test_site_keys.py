"""Settings of clusters and researchers are changed from the palette."""

import pytest

from d0ctl.model import Address
from d0ctl.store.clusters import site_changes
from d0ctl.store.nodes import registry
from tests.support.site import Site
from tests.tui.conftest import Desk, Open


@pytest.mark.parametrize(
    ("verb", "name", "word"),
    [("cluster set", "farm", "capacity=2TB"), ("researcher set", "emmy", "mail=e@lab")],
)
def test_a_setting_is_changed_from_the_palette_with_its_undo(
    site: Site, dashboard: Open, verb: str, name: str, word: str
) -> None:
    registry.add(site.store, Address("f1", destination="f1"), cpus=1, cluster="farm")
    with site.store.writing():
        site_changes.keep_setting(site.store, "researchers", {"emmy": {}})

    async def script(desk: Desk) -> None:
        await desk.press("colon")
        await desk.type(verb)
        await desk.press("enter")
        await desk.sees(f"{verb}: name of the")
        await desk.type(name)
        await desk.press("enter")
        await desk.sees("in the site file")
        await desk.type(word)
        await desk.press("enter")
        await desk.sees(f"$ d0ctl {verb} {name} {word}", "none -> ")
        await desk.press("enter")
        await desk.sees(f"to undo: d0ctl {verb} {name} {word.partition('=')[0]}=none")

    dashboard(script)
