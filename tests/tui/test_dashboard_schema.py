"""The JSON Schema of the file of the dashboard, by which an editor completes and checks one."""

import json
from typing import Any

import pytest
from hypothesis import event, given, settings

from d0ctl.errors import BadJobFile
from d0ctl_tui.commands import COMMANDS
from d0ctl_tui.read import user_settings
from d0ctl_tui.read.user_settings import UserSettings
from tests.support.dashboard_schema import dashboard_schema
from tests.support.examples import examples
from tests.support.planting import changed
from tests.support.validation import refusals
from tests.tui.test_user_settings import OWN

GOOD: dict[str, Any] = {
    "theme": "light", "interval": 1.5, "slow": "yes", "read-only": False, "notices": "no",
    "columns": ["end", "node"],
    "keys": {"nodes": ["f5", "%"], "kill": "H", "hold": "K", "filter": 5, "quit": "ctrl+x"},
}  # fmt: skip

VALUES: list[Any] = [
    None, True, 0, 1, -1, 2.5, 3600, 3601, "", " ", "no", "5", "1e2", "a", "f5", "f99", "dark",
    "cpu", "ctrl+a", "pageup", "pgup", "Home", "~", "ä", [], {}, ["a"], ["f5", "f6"], ["cpu"],
    {"kill": "a"},
]  # fmt: skip


def test_the_schema_has_each_setting_and_command_with_a_sentence() -> None:
    known = dashboard_schema()["properties"]

    assert set(known) == set(user_settings.KEYS)
    assert set(known["keys"]["properties"]) == set(COMMANDS)
    for schema in (*known.values(), *known["keys"]["properties"].values()):
        assert schema["description"]


@pytest.mark.parametrize("text", [OWN, user_settings.page(UserSettings()), json.dumps(GOOD)])
def test_an_editor_and_the_dashboard_accept_a_file_with_every_key(text: str) -> None:
    user_settings.read(text, "f")

    assert refusals("dashboard", text) == []


@settings(max_examples=examples(200))
@given(changed(GOOD, [*user_settings.KEYS, "log", "sort", "nonsense"], VALUES))
def test_an_editor_accepts_what_the_dashboard_accepts(document: dict[str, Any]) -> None:
    text = json.dumps(document)

    try:
        user_settings.read(text, "f")
    except BadJobFile:
        event("refused by the dashboard")
        return

    event("accepted by the dashboard")
    assert refusals("dashboard", text) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("themes: dark", "themes"),
        ("theme: pink", "theme: takes `dark`, `light`, `colour-blind`"),
        ("interval: 4000", "interval: takes seconds up to 3600"),
        ("slow: maybe", "slow: 'maybe' does not match"),
        ("columns: [nodes]", "columns/0: takes `others`, `node`"),
        ("columns: [cpu, cpu]", "columns: takes columns, each of them once: others"),
        ("keys: {kil: f8}", "kil"),
        ("keys: {kill: f99}", "keys/kill: takes a character, `f8`, `ctrl+a`, `pageup` or such"),
        ("keys: {kill: []}", "keys/kill"),
    ],
)
def test_an_editor_says_what_is_wrong(text: str, fault: str) -> None:
    assert fault in "\n".join(refusals("dashboard", text))
