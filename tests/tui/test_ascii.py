"""With `--ascii` every screen is in ASCII, however narrow it is."""

from functools import partial

from d0ctl.model import Address
from d0ctl.store.nodes import registry
from d0ctl_tui.terminal import Terminal
from tests.support.building import production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open
from tests.tui.test_screens import settle

WAYS = {
    "tree": (), "help": ("question_mark",), "palette": ("colon",), "filter": ("f",),
    "search": ("slash", *"prod"), "nodes": ("o",), "failures": ("F", "space"),
    "plan": ("K",), "card": ("v",), "marks": ("space", "space"),
}  # fmt: skip


OF_THE_TREE = ("tree", "card", "marks")

SIZES = ((80, 32), (60, 20), (40, 12))


def is_drawn(desk: Desk, width: int) -> bool:
    """Whether something stands on a screen of this width."""
    return max(map(len, desk.screen.splitlines())) > width / 2


def test_every_screen_is_in_ascii(site: Site, dashboard: Open) -> None:
    site.submit(production("a-production-with-a-name-that-is-long"))
    site.submit(production(title="Größe der 測試 …"))
    site.fail("prod/1/2/1", stderr="Fatal: corrupt block\n")
    host = "a-host-with-a-name-of-more-than-eighteen-letters"
    registry.add(site.store, Address(host, "ssh", host), cpus=1)

    async def look_around(desk: Desk, keys: tuple[str, ...]) -> None:
        await desk.press(*keys)
        for width, height in SIZES:
            await desk.hands.resize_terminal(width, height)
            await settle(desk, partial(is_drawn, desk, width))
            assert is_drawn(desk, width)
            assert [line for line in desk.screen.splitlines() if not line.isascii()] == [], keys
        await desk.hands.resize_terminal(*SIZES[0])

    async def script(desk: Desk) -> None:
        await desk.sees("d0ctl")
        for name, keys in WAYS.items():
            await look_around(desk, keys)
            assert (desk.app.screen is not desk.main) == (name not in OF_THE_TREE), name
            await desk.press("escape")
            await desk.until(lambda: desk.app.screen is desk.main, "the tree")

    dashboard(script, start="prod/1/2/1", size=SIZES[0], terminal=Terminal(ascii=True, plain=True))
