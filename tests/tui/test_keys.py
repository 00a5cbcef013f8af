"""Every key of a verb opens the dialog of that verb, and what is shown to type does the same."""

import shlex
from typing import Any

import pytest
from typer.testing import CliRunner

from d0ctl.actions import ACTIONS, Request, request
from d0ctl.cli import action_command, changing
from d0ctl.cli.app import app
from d0ctl.select import parse, parse_all
from d0ctl_tui.commands import ACT
from d0ctl_tui.run_action import JobAction, first_way
from d0ctl_tui.screens.plan import PlanDialog
from tests.cli.building import Site, production
from tests.tui.conftest import Desk, Open

KEYS = {
    "H": "hold", "L": "release", "R": "retry", "K": "kill", "D": "kill-line", "U": "restore-line",
    "P": "priority", "S": "pause", "C": "resume", "E": "finish", "M": "set-status", "X": "remove",
}  # fmt: skip


def test_every_verb_has_a_key() -> None:
    assert {command.keys: command.verb for command in ACT if command.verb} == KEYS
    assert set(KEYS.values()) == set(ACTIONS)


@pytest.mark.parametrize(("key", "verb"), KEYS.items())
def test_a_key_opens_the_dialog_of_its_verb(
    site: Site, dashboard: Open, key: str, verb: str
) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")

    async def script(desk: Desk) -> None:
        await desk.press(key)
        if verb == "priority":
            await desk.type("7")
            await desk.press("enter")
        if verb == "set-status":
            await desk.sees("unscheduled")
            await desk.press("enter")
        await desk.until(lambda: isinstance(desk.app.screen, PlanDialog), verb)
        dialog = desk.app.screen
        assert isinstance(dialog, PlanDialog) and isinstance(dialog.action, JobAction)
        assert dialog.action.request.name == verb
        await desk.sees(f"$ d0ctl {verb} ")

    dashboard(script, start="prod/1/2/1")


REQUESTS = [
    request("hold", parse_all(["a/1/1-3/1", "a/1/7/1"])),
    request("release", parse("a:held", reason="exit-code", node="n1", older_than="90m")),
    request("retry", parse("a/1/1/1"), memory=8 * 10**9, disk=10**9, cpus=2,
            wall_time=5400.0, nodes=("n1", "n2")),
    request("retry", parse("a/1/1/1"), environment={"A": "1 2"}, parameters={"cut": "5"},
            from_scratch=True),
    request("kill", parse("a"), partial=True),
    request("kill-line", parse("a/1/2"), drop_outputs=True),
    request("kill-line", parse("a/1/2")),
    request("restore-line", parse("a/1/2")),
    request("pause", parse("a"), running=True),
    request("resume", parse("a")),
    request("finish", parse("a"), hard=True, partial=True),
    request("finish", parse("a")),
    request("priority", parse_all(["a", "b"]), priority=7),
    request("set-status", parse("a/1/1/1"), status="successful"),
    request("remove", parse("a")),
]  # fmt: skip


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda one: f"{one.name} {one.target}")
def test_the_command_that_is_shown_is_read_as_the_same_request(
    request_: Request[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[tuple[Request[Any], str | None]] = []

    def take(request: Request[Any]) -> None:
        taken.append((request, changing.reason()))

    monkeypatch.setattr(action_command, "carry_out", take)
    words = shlex.split(request_.command("it's so"))[1:]

    result = CliRunner().invoke(app, words, prog_name="d0ctl")

    assert result.exit_code == 0, result.output
    assert taken == [(request_, "it's so")]


@pytest.mark.parametrize("verb", [name for name, action in ACTIONS.items() if action.ways])
def test_switching_goes_through_all_ways_of_an_action_and_comes_back(verb: str) -> None:
    ways = ACTIONS[verb].ways
    first = action = first_way(verb, parse("a/1/2"))
    seen = []
    for _ in ways:
        assert action.next_way is not None
        seen.append(action.next_way)
        action = action.switched()

    assert action == first
    assert seen == [*ways[1:], ways[0]]


def test_the_palette_drains_a_node_and_says_where_nothing_is_found(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("colon")
        await desk.type("zzz")
        await desk.sees("nothing found for `zzz`")
        await desk.press("backspace", "backspace", "backspace")
        await desk.type("drain")
        await desk.press("enter")
        await desk.sees("drain which node")
        await desk.press("enter")
        await desk.sees("$ d0ctl node drain localhost", "would drain `localhost`")
        await desk.press("escape", "slash")
        await desk.type("nowhere")
        await desk.sees("nothing found for `nowhere`")

    dashboard(script)
