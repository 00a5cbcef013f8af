"""Every look can be read on every ground, in true colour, in 256 colours and in sixteen."""

import math
from collections.abc import Sequence
from itertools import combinations

import pytest
from rich.color import Color, ColorSystem
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from textual.theme import Theme

from d0ctl.show.drawing.signs import ROLES
from d0ctl_tui.terminal import Terminal
from d0ctl_tui.themes import ANSI, COARSE, NAMES, THEMES
from d0ctl_tui.widgets.lines import LineView
from d0ctl_tui.widgets.looks import LOOKS
from tests.support.building import production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open

READ = ("good", "bad", "warn", "live", "mark", "command", "title")
LEAST = 4.5
"""The least contrast of text on every ground, as WCAG asks for small text."""


XTERM = TerminalTheme(
    (0, 0, 0), (229, 229, 229),
    [(0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0),
     (0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229)],
    [(127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0),
     (92, 92, 255), (255, 0, 255), (0, 255, 255), (255, 255, 255)],
)  # fmt: skip
"""The sixteen colours of xterm, on black."""

DIM = 2 / 3
"""What terminals leave of the light of dim text."""


def light(colour: str | Color, coarse: bool, *, ground: bool = False, left: float = 1.0) -> float:
    """How light a colour is, as WCAG reckons it, once the terminal shows it."""
    shown = Color.parse(colour) if isinstance(colour, str) else colour
    if coarse:
        shown = shown.downgrade(ColorSystem.EIGHT_BIT)
    triplet = shown.get_truecolor(XTERM, foreground=not ground)
    parts = [part * left / 255 for part in triplet]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast_of(style: Style, coarse: bool) -> float:
    """The contrast of text in this style with its background."""
    default = Color.default()
    left = DIM if style.dim else 1.0
    lights = sorted((light(style.color or default, coarse, left=left),
                     light(style.bgcolor or default, coarse, ground=True)))  # fmt: skip
    return (lights[1] + 0.05) / (lights[0] + 0.05)


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


Matrix = tuple[tuple[float, float, float], ...]

SEEN: dict[str, Matrix] = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
                   (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
                     (-0.011820, 0.042940, 0.968881)),
    "all colours": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
}  # fmt: skip
"""What people see of linear light: Machado, Oliveira, Fernandes (2009), severity 1."""

XYZ: Matrix = ((0.4339, 0.3762, 0.1899), (0.2126, 0.7152, 0.0722), (0.0178, 0.1095, 0.8728))
"""From the linear light of sRGB to CIE XYZ, as parts of white."""

APART = 20.0
"""The least distance of the colours of two states: about nine just noticeable differences."""


def product(matrix: Matrix, vector: tuple[float, ...]) -> tuple[float, ...]:
    """A matrix times a vector."""
    return tuple(sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)


def lab(colour: str, seen: Matrix) -> tuple[float, float, float]:
    """A colour as people see it, in CIE L*a*b*."""
    parts = [part / 255 for part in Color.parse(colour).get_truecolor(XTERM)]
    linear = tuple(p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    shown = tuple(min(1.0, max(0.0, part)) for part in product(seen, linear))
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in product(XYZ, shown))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("seen", SEEN.values(), ids=SEEN.keys())
@pytest.mark.parametrize("themes", [THEMES, COARSE], ids=["true", "256"])
def test_states_have_distant_colours_for_people_who_see_no_red_or_green(
    themes: Sequence[Theme], seen: Matrix
) -> None:
    safe = next(theme for theme in themes if theme.name == "colour-blind")
    words = ("running", "failed", "successful", "waiting", "held", "ready")
    colours = {
        word: safe.variables[f"d0-{role}"] if (role := ROLES[word]) != "plain" else safe.foreground
        for word in words
    }

    for one, other in combinations(words, 2):
        distance = math.dist(lab(colours[one] or "", seen), lab(colours[other] or "", seen))
        assert distance >= APART, (one, other)


def test_there_are_the_same_themes_for_256_colours() -> None:
    assert [theme.name for theme in COARSE] == [theme.name for theme in THEMES]


def test_paper_and_cursor_differ_in_256_colours() -> None:
    for theme in (theme for theme in COARSE if not theme.ansi):
        shown = {light(ground, True) for ground in grounds(theme).values()}
        assert len(shown) >= 3 and light(grounds(theme)["paper"], True) != 0


@pytest.mark.parametrize("kind", ["true", "256", "16"])
def test_every_piece_of_text_on_a_screen_is_readable_in_every_theme(
    site: Site, dashboard: Open, kind: str
) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")
    names = [name for name in NAMES if (name in ANSI) == (kind == "16")]
    rows = ("", "cursor", "blurred", "pinned")

    async def look_around(desk: Desk) -> None:
        seen: set[tuple[str, str, str]] = set()
        for name in names:
            desk.app.theme = name
            await desk.hands.pause()
            for view in desk.app.screen.query(LineView):
                for look in set(LOOKS) - {*rows}:
                    for row in rows:
                        text = view.style_of(look, row)
                        assert contrast_of(text, kind == "256") >= LEAST, (name, view, look, row)
                        seen.add((name, look, row))
        assert len(seen) == len(names) * (len(LOOKS) - 3) * len(rows)

    async def script(desk: Desk) -> None:
        await desk.sees("✘ failed")
        await look_around(desk)
        for key in ("K", "slash"):
            await desk.press(key)
            await desk.until(lambda: desk.app.screen is not desk.main, "the box")
            await look_around(desk)
            await desk.press("escape")
            await desk.until(lambda: desk.app.screen is desk.main, "no box")

    terminal = Terminal(plain=kind == "16", coarse=kind == "256", theme=names[0])
    dashboard(script, start="prod/1/1/1", terminal=terminal)


@pytest.mark.parametrize("theme", ["terminal", "16-colour"])
def test_themes_of_sixteen_colours_use_no_others_and_the_key_leads_from_one_to_the_other(
    site: Site, dashboard: Open, theme: str
) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.sees("A production")
        for name in (theme, *(other for other in ANSI if other != theme), theme):
            assert desk.app.theme == name
            for view in desk.app.screen.query(LineView):
                for style in (view.style_of(look) for look in LOOKS):
                    for colour in (style.color, style.bgcolor):
                        assert colour is None or colour.number is None or colour.number < 16
                        assert colour is None or colour.triplet is None
            await desk.press("T")
            await desk.hands.pause()

    dashboard(script, terminal=Terminal(plain=True, theme=theme))


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
