"""The table of keys in docs/tui.md has each command of the main screen."""

import re
from pathlib import Path

from d0ctl_tui.commands import SCREENS, Command
from d0ctl_tui.key_names import sign_of

PAGE = (Path(__file__).parents[2] / "docs" / "tui.md").read_text()

IN_WORDS = {
    "up": "arrows", "down": "arrows", "pageup": "page up", "pagedown": "page up and down",
    "escape": "escape", "enter": "enter", "space": "space", "backspace": "backspace", "tab": "tab",
}  # fmt: skip
"""How the table names keys without a character."""


def is_in_table(command: Command) -> bool:
    """Whether a key of a command is in the table, as its character or its name."""
    table = PAGE.split("\n## Keys\n")[1].split("\n**Acting.**")[0].replace("\\|", "|")
    signs = set(re.findall("`([^`]+)`", table))
    words = {key for key, name in IN_WORDS.items() if name in table}
    return any(sign_of(key) in signs or key in words for key in command.keys.split(","))


def test_each_command_of_the_main_screen_is_on_the_page() -> None:
    main = SCREENS["the main screen"]

    assert len(main) > 50
    assert [command.id for command in main if not is_in_table(command)] == []
