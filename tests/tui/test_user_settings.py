"""Keys, columns and options of the dashboard, as a user has set them in a file."""

import pytest

from d0ctl.errors import BadJobFile
from d0ctl_tui.commands import SCREENS
from d0ctl_tui.read import user_settings
from d0ctl_tui.read.user_settings import UserSettings
from d0ctl_tui.terminal import CHOICES, Terminal
from tests.support.building import production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open

OWN = """
theme: light
interval: 1.5
slow: yes
read-only: yes
notices: no
columns: [end, node]
keys:
  nodes: [f5, "%"]
  kill: H
  hold: K
"""


def test_what_the_file_says_is_read() -> None:
    assert user_settings.read(OWN, "f") == UserSettings(
        "light", 1.5, slow=True, read_only=True, notices=False, columns=("end", "node"),
        keys={"nodes": "f5,percent_sign", "kill": "H", "hold": "K"},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("themes: dark", "f:1:1: there is no setting `themes` (did you mean `theme`?)"),
        ("theme: pink",
         "f:1:8: there is no theme `pink`: dark, light, colour-blind, terminal, 16-colour"),
        ("interval: -1", "f:1:11: `interval` takes seconds up to 3600, as in `interval: 2`"),
        ("slow: maybe", "f:1:7: `maybe` is neither `yes` nor `no`"),
        ("columns: [nodes]", "f:1:11: there is no column `nodes` (did you mean `node`?)"),
        ("columns: [cpu, cpu]", "f:1:16: the column `cpu` is there twice: remove one"),
        ("keys: x", "f:1:7: `keys` takes commands with their keys, as in `keys: {kill: f8}`"),
        ("keys: {kil: f8}", "f:1:8: there is no command `kil` (did you mean `kill`?)"),
        ("keys: {kill: []}", "f:1:14: `kill` needs a key, as in `kill: f8`"),
        ("keys: {kill: hyper}",
         "f:1:14: there is no key `hyper`: type a character, `f5`, `ctrl+a`, `pageup` or such"),
        ("keys: {kill: page-up}",
         "f:1:14: there is no key `page-up` (did you mean `pageup`?)"),
        ("keys: {kill: ^p}", "f:1:14: there is no key `^p`: write `ctrl+p`"),
        ("keys:\n  kill: j", "f:2:3: the key `j` of `kill` is also that of `line-down`: "
         "give one of them another, as in `line-down: f8`"),
        ("keys:\n  kill: f8\n  log: f8", "f:3:3: the key `f8` of `log` is also that of `kill`: "
         "give one of them another, as in `kill: f8`"),
    ],
)  # fmt: skip
def test_each_fault_is_a_line_that_says_where_and_what_to_type(text: str, fault: str) -> None:
    with pytest.raises(BadJobFile) as refused:
        user_settings.read(text, "f")

    assert list(refused.value.faults) == [fault]


def test_no_screen_has_a_key_twice_and_a_name_has_the_same_keys_everywhere() -> None:
    known: dict[str, str] = {}
    for table in SCREENS.values():
        keys = [key for command in table for key in command.keys.split(",")]
        assert len(keys) == len(set(keys))
        for command in table:
            assert known.setdefault(command.id, command.keys) == command.keys


def test_keys_columns_and_theme_are_those_of_the_user_on_every_screen(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    own = user_settings.read('columns: [end]\nkeys: {nodes: [f5, "%"], help: f2}', "f")
    terminal = Terminal(theme="light", columns=own.columns, keys=own.keys)

    async def script(desk: Desk) -> None:
        await desk.sees("f5 nodes", "f2 help")
        assert desk.app.theme == "light"
        await desk.misses("researcher")
        await desk.press("o")
        await desk.press("percent_sign")
        await desk.sees("what each does")
        await desk.press("f2")
        await desk.sees("f2", "this help")
        await desk.press("escape", "escape")
        await desk.press("f2")
        await desk.sees("f5 %", "the nodes and their running packages")
        await desk.press("escape", "colon")
        await desk.type("running packages")
        await desk.sees("f5 %")

    dashboard(script, terminal=terminal, size=(200, 50))


def test_columns_of_the_usual_order_are_there_without_a_file(site: Site, dashboard: Open) -> None:
    site.submit(production(originator="emmy@here"))

    async def script(desk: Desk) -> None:
        await desk.sees("researcher", "priority")

    dashboard(script, terminal=Terminal(columns=CHOICES), size=(240, 50))
