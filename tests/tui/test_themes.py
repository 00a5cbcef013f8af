"""Every look can be read on every ground, in true colour and in 256 colours."""

import pytest
from rich.color import Color, ColorSystem
from textual.theme import Theme

from d0ctl_tui.terminal import Terminal
from d0ctl_tui.themes import COARSE, THEMES
from tests.support.building import production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open

READ = ("good", "bad", "warn", "live", "mark", "command", "title")
LEAST = 4.5
"""The least contrast of text on every ground, as WCAG asks for small text."""


def light(colour: str, coarse: bool) -> float:
    """How light a colour is, as WCAG reckons it, once the terminal shows it."""
    shown = Color.parse(colour)
    if coarse:
        shown = shown.downgrade(ColorSystem.EIGHT_BIT)
    parts = [part / 255 for part in shown.get_truecolor()]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str, coarse: bool) -> float:
    """The contrast of two colours, from 1 to 21."""
    dark, bright = sorted((light(one, coarse), light(other, coarse)))
    return (bright + 0.05) / (dark + 0.05)


def grounds(theme: Theme) -> dict[str, str]:
    """What text stands on."""
    assert theme.background and theme.panel
    return {"paper": theme.background, "panel": theme.panel,
            "cursor": theme.variables["d0-cursor"],
            "blurred": theme.variables["d0-blurred"]}  # fmt: skip


CASES = [(theme, coarse) for coarse, themes in ((False, THEMES), (True, COARSE))
         for theme in themes if not theme.ansi]  # fmt: skip


@pytest.mark.parametrize(("theme", "coarse"), CASES,
                         ids=[f"{theme.name}-{256 if coarse else 'true'}"
                              for theme, coarse in CASES])  # fmt: skip
def test_every_style_is_readable_on_every_background(theme: Theme, coarse: bool) -> None:
    for name, ground in grounds(theme).items():
        for look in READ:
            ink = theme.variables[f"d0-{look}"]
            assert contrast(ink, ground, coarse) >= LEAST, (look, name)
        assert theme.foreground and contrast(theme.foreground, ground, coarse) >= 7
    faint = theme.variables["d0-faint"]
    assert contrast(faint, grounds(theme)["paper"], coarse) >= LEAST
    assert contrast(faint, grounds(theme)["panel"], coarse) >= LEAST
    rail = theme.variables["scrollbar"]
    assert contrast(rail, grounds(theme)["paper"], coarse) >= 1.15


def test_there_are_the_same_themes_for_256_colours() -> None:
    assert [theme.name for theme in COARSE] == [theme.name for theme in THEMES]


def test_paper_and_cursor_differ_in_256_colours() -> None:
    for theme in COARSE[:-1]:
        shown = {light(ground, True) for ground in grounds(theme).values()}
        assert len(shown) >= 3 and light(grounds(theme)["paper"], True) != 0


@pytest.mark.parametrize("plain", [True, False])
def test_the_row_under_the_cursor_has_one_background(
    site: Site, dashboard: Open, plain: bool
) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.sees("✘ failed")
        tree = desk.main.tree_view
        styles = [part.style for part in tree.render_line(tree.cursor) if part.style]
        assert len({(style.bgcolor, style.reverse) for style in styles}) == 1
        if plain:
            assert len({style.color for style in styles}) == 1

    dashboard(script, start="prod/1/1/1", terminal=Terminal(plain=plain))
