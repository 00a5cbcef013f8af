"""With other keys for all commands, nothing on any screen names a usual one."""

import ast
import json
import re
from collections.abc import Iterable
from pathlib import Path

import d0ctl.show
import d0ctl_tui
from d0ctl_tui.commands import COMMANDS
from d0ctl_tui.read import user_settings
from d0ctl_tui.screens.dialogs.help import Help
from d0ctl_tui.screens.dialogs.search_box import Finder
from d0ctl_tui.terminal import Terminal
from tests.support.building import production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open

LETTERS = [letter for letter in map(chr, range(0x400, 0x530)) if letter.isalpha()]
OTHER = dict(zip(COMMANDS, LETTERS, strict=False))
"""Another key for each command, which no command has usually."""

USUAL = {key for command in COMMANDS.values() for key in command.key.split()}

OF_BOXES = {
    "log.py": {"`{words}`"},
    "log_search.py": {"`*`", "`+`"},
    "plan.py": {"tab", "enter", "esc", "^o"},
    "search_box.py": {"esc"},
    "search_results.py": {"enter"},
    "commands.py": USUAL,
    "user_settings.py": {"`f8`"},
}
"""Modules that name keys of boxes, which can't be changed, or usual keys."""

SCREENS = {
    "failures": "failures of", "nodes": "slots in use", "tasks": "no tasks", "peek": "attempt 1 on",
    "timeline": "slots of nodes", "wall": "1 active job", "log": "attempt 1 on",
    "compare": "two attempts",
}  # fmt: skip
"""Commands that open a screen, and what that shows."""


def own() -> Terminal:
    """A terminal whose user has changed the keys of all commands."""
    settings = user_settings.read(json.dumps({"keys": OTHER}), "f")
    return Terminal(keys=settings.keys)


def keys_of(footer: str) -> set[str]:
    """The keys that the last line names: each is behind two blanks."""
    return set(re.findall(r"(?:^|  )(\S+) \S", f" {footer}"))


def assert_other(keys: Iterable[str]) -> None:
    """Check that there are keys, and that none is a usual one."""
    found = set(keys)
    assert found and found <= set(LETTERS)


def test_last_line_and_help_of_each_screen_have_the_keys_of_the_user(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")

    async def look(desk: Desk, command: str, shown: str) -> None:
        await desk.press(OTHER[command])
        await desk.sees(shown)
        assert_other(keys_of(desk.lines("footer")[0]))
        await desk.press(OTHER["help"])
        await desk.until(lambda: isinstance(desk.app.screen, Help))
        box = desk.app.screen
        assert isinstance(box, Help)
        spans = [span for line in box._draw(100) for span in line]
        assert_other(key for text, look in spans if look == "key" for key in text.split())
        await desk.press("escape", OTHER["leave"])
        await desk.until(lambda: desk.app.screen is desk.main, f"{command} is left")

    async def script(desk: Desk) -> None:
        await desk.sees("prod/1/1/1", f"what matters {OTHER['changes']} all")
        assert_other(keys_of(desk.lines("footer")[0]))
        for command, shown in SCREENS.items():
            await look(desk, command, shown)

    dashboard(script, terminal=own(), start="prod/1/1/1", size=(200, 40))


def test_palette_past_and_notices_name_the_keys_of_the_user(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.sees("prod")
        await desk.press(OTHER["shell"])
        await desk.sees(f"or the nodes by `{OTHER['nodes']}`")
        await desk.press(OTHER["palette"])
        await desk.until(lambda: isinstance(desk.app.screen, Finder))
        box = desk.app.screen
        assert isinstance(box, Finder)
        await desk.until(lambda: len(box.results.choices) > len(USUAL))
        assert_other(key for choice in box.results.choices for key in choice.key.split())
        await desk.press("escape", OTHER["earlier"])
        await desk.sees(f"{OTHER['earlier']} earlier  {OTHER['later']} later",
                        f"{OTHER['moment']} time  {OTHER['clear']} now")  # fmt: skip
        await desk.press(OTHER["kill"])
        await desk.sees(f"this is the past: {OTHER['clear']} goes to the present")
        await desk.press(OTHER["clear"])
        await desk.misses("as it was")
        await desk.press(OTHER["views"])
        await desk.type("mine")
        await desk.press("enter")
        await desk.sees(f"saved as `mine`: `{OTHER['views']}` shows it again")

    dashboard(script, terminal=own(), size=(160, 40))


def test_no_text_of_the_dashboard_names_a_key_that_can_be_changed() -> None:
    words = sorted((key for key in USUAL if len(key) > 1 and key not in ("up", "end", "home",
                    "left", "right", "down", "space")), key=len, reverse=True)  # fmt: skip
    names = re.compile(
        rf"`[^`\s]`|(?<![\w-])(?:{'|'.join(map(re.escape, words))}|escape)(?![\w-])"
        r"|(?<![\w'])[^\W\d_](?= (?:shows|goes|tries|stops|copies)\b)"
    )
    found: dict[str, set[str]] = {}
    folders = [Path(module.__path__[0]) for module in (d0ctl_tui, d0ctl.show)]
    for path in (path for folder in folders for path in folder.rglob("*.py")):
        for text in texts(ast.parse(path.read_text())):
            if keys := set(names.findall(text)) - OF_BOXES.get(path.name, set()):
                found.setdefault(path.name, set()).update(keys)

    assert found == {}


def texts(tree: ast.AST) -> Iterable[str]:
    """The sentences in a module: its texts with a blank, or with a quoted word, but docstrings."""
    inside = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        value = node.value if isinstance(node, ast.Constant) and id(node) not in inside else None
        if isinstance(value, str) and set(" `") & set(value):
            yield value
