"""The colours: each theme has those of the states and of the frame."""

from rich.console import Console
from textual.theme import Theme

STATES = ("good", "bad", "warn", "live", "faint", "mark", "command", "title", "line", "cursor")
"""The colours that a theme must define, besides Textual's own."""


def _theme(name: str, colours: dict[str, str], *, dark: bool, ansi: bool = False) -> Theme:
    ink, paper = colours["ink"], colours["paper"]
    variables = {f"d0-{state}": colours[state] for state in STATES}
    variables |= {
        "d0-blurred": colours["blurred"],
        "d0-panel": colours["panel"],
        "block-cursor-background": colours["cursor"],
        "input-cursor-background": ink if not ansi else "ansi_default",
        "input-cursor-foreground": paper if not ansi else "ansi_default",
        "input-cursor-text-style": "reverse" if ansi else "none",
        "scrollbar": colours["blurred"] if not ansi else "ansi_bright_black",
        "scrollbar-hover": colours["faint"],
        "scrollbar-active": colours["live"],
        "scrollbar-background": paper,
        "scrollbar-background-hover": paper,
        "scrollbar-background-active": paper,
        "scrollbar-corner-color": paper,
    }
    if ansi:
        variables |= {"ansi-background": "ansi_black", "ansi-foreground": "ansi_white"}
    return Theme(
        name=name, primary=colours["live"], secondary=colours["title"], warning=colours["warn"],
        error=colours["bad"], success=colours["good"], accent=colours["mark"], foreground=ink,
        background=paper, surface=paper, panel=colours["panel"], dark=dark, variables=variables,
        ansi=ansi,
    )  # fmt: skip


DARK = _theme("dark", {
    "ink": "#d6dbe4", "paper": "#12161d", "panel": "#1a202a", "good": "#6cc782",
    "bad": "#ff6b6b", "warn": "#e8b84a", "live": "#5ab4f2", "faint": "#808ba2",
    "mark": "#d98cf0", "command": "#8fd3c8", "title": "#9db4ff", "line": "#2c3544",
    "cursor": "#203454", "blurred": "#242d3b",
}, dark=True)  # fmt: skip

LIGHT = _theme("light", {
    "ink": "#20242c", "paper": "#fbfaf7", "panel": "#efede7", "good": "#1a6d33",
    "bad": "#c0212f", "warn": "#7f5200", "live": "#0b63b0", "faint": "#636977",
    "mark": "#8a2fb0", "command": "#0a6b62", "title": "#3046b0", "line": "#d5d1c6",
    "cursor": "#cfe1f7", "blurred": "#e6e3da",
}, dark=False)  # fmt: skip

SAFE = _theme("colour-blind", {
    "ink": "#bccbe0", "paper": "#14161a", "panel": "#1d2026", "good": "#45aef0",
    "bad": "#e69000", "warn": "#fff27a", "live": "#ffffff", "faint": "#858b96",
    "mark": "#d990b8", "command": "#9ad0f5", "title": "#cfd8e6", "line": "#333842",
    "cursor": "#183a5b", "blurred": "#272c34",
}, dark=True)  # fmt: skip

TERMINAL = _theme("terminal", {
    "ink": "ansi_default", "paper": "ansi_default", "panel": "ansi_default",
    "good": "ansi_green", "bad": "ansi_bright_red", "warn": "ansi_yellow", "live": "ansi_cyan",
    "faint": "ansi_default", "mark": "ansi_bright_magenta", "command": "ansi_green",
    "title": "ansi_default", "line": "ansi_default", "cursor": "ansi_default",
    "blurred": "ansi_default",
}, dark=True, ansi=True)  # fmt: skip

SIXTEEN = _theme("16-colour", {
    "ink": "ansi_bright_white", "paper": "ansi_black", "panel": "ansi_black",
    "good": "ansi_bright_green", "bad": "ansi_bright_red", "warn": "ansi_bright_yellow",
    "live": "ansi_bright_cyan", "faint": "ansi_white", "mark": "ansi_bright_magenta",
    "command": "ansi_green", "title": "ansi_cyan", "line": "ansi_white", "cursor": "ansi_blue",
    "blurred": "ansi_black",
}, dark=True, ansi=True)  # fmt: skip

COARSE_DARK = _theme("dark", {
    "ink": "#d7d7d7", "paper": "#121212", "panel": "#1c1c1c", "good": "#5fd787",
    "bad": "#ff8787", "warn": "#ffaf5f", "live": "#5fafff", "faint": "#8a8a8a",
    "mark": "#d787ff", "command": "#87d7d7", "title": "#afafff", "line": "#3a3a3a",
    "cursor": "#303030", "blurred": "#262626",
}, dark=True)  # fmt: skip

COARSE_LIGHT = _theme("light", {
    "ink": "#1c1c1c", "paper": "#ffffff", "panel": "#eeeeee", "good": "#005f00",
    "bad": "#af0000", "warn": "#5f5f00", "live": "#005faf", "faint": "#626262",
    "mark": "#8700af", "command": "#005f5f", "title": "#0000af", "line": "#d0d0d0",
    "cursor": "#d7d7ff", "blurred": "#eeeeee",
}, dark=False)  # fmt: skip

COARSE_SAFE = _theme("colour-blind", {
    "ink": "#d7d7ff", "paper": "#121212", "panel": "#1c1c1c", "good": "#5fafff",
    "bad": "#d78700", "warn": "#ffff87", "live": "#ffffff", "faint": "#8a8a8a",
    "mark": "#d787af", "command": "#87d7ff", "title": "#afd7ff", "line": "#3a3a3a",
    "cursor": "#303030", "blurred": "#262626",
}, dark=True)  # fmt: skip

THEMES = (DARK, LIGHT, SAFE, TERMINAL, SIXTEEN)
"""All themes, in the order of the key."""

COARSE = (COARSE_DARK, COARSE_LIGHT, COARSE_SAFE, TERMINAL, SIXTEEN)
"""The same with the colours of a terminal with 256 colours."""

NAMES = tuple(theme.name for theme in THEMES)


ANSI = (TERMINAL.name, SIXTEEN.name)
"""Those of the sixteen colours that every terminal with colours has."""


def colours() -> str | None:
    """Return the colours of the terminal by its environment, as Rich calls them; None for none."""
    return Console(force_terminal=True).color_system
