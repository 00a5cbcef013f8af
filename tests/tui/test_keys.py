"""Every key of a verb opens the dialog of that verb, and what is shown to type does the same."""

import shlex
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from d0ctl.actions import ACTIONS, apply, request
from d0ctl.actions.action import AnyRequest
from d0ctl.cli import action_command, changing
from d0ctl.cli.app import app
from d0ctl.select import parse
from d0ctl.store.views import names
from d0ctl_tui.commands import ACT, NODES, TASKS
from d0ctl_tui.run_action import PlannedAction, first_way
from d0ctl_tui.screens.dialogs.plan import PlanDialog
from tests.support.building import production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open
from tests.tui.typed_requests import REQUESTS

KEYS = {
    "H": "hold", "L": "release", "R": "retry", "K": "kill", "D": "kill-line", "U": "restore-line",
    "P": "priority", "S": "pause", "C": "resume", "E": "finish", "M": "set-status", "X": "remove",
    "A": "clone", "I": "edit", "V": "archive", "W": "update", "B": "limit", "Y": "acknowledge",
}  # fmt: skip


@pytest.mark.parametrize("start", ["prod", "prod/1/2/1"])
def test_each_key_opens_the_dialog_of_its_verb(site: Site, dashboard: Open, start: str) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")

    async def script(desk: Desk) -> None:
        for key, verb in KEYS.items():
            if (ACTIONS[verb].level == "job") != (start == "prod"):
                continue
            if verb == "archive":  # of a job that has ended: a test of its own
                continue
            await desk.press(key)
            if verb == "priority":
                await desk.type("7")
                await desk.press("enter")
            if verb == "set-status":
                await desk.until(lambda: desk.app.screen is not desk.main, verb)
                await desk.until(lambda: desk.screen.count("unscheduled") > 1, "the choices")
                await desk.press("enter")
            await desk.until(lambda: isinstance(desk.app.screen, PlanDialog), verb)
            dialog = desk.app.screen
            assert isinstance(dialog, PlanDialog) and isinstance(dialog.action, PlannedAction)
            assert dialog.action.request.name == verb
            await desk.sees(f"$ d0ctl {verb} ")
            await desk.press("escape")
            await desk.until(lambda: desk.app.screen is desk.main, f"{verb} is closed")

    dashboard(script, start=start, size=(100, 30))


def test_the_key_of_archive_opens_its_dialog_for_a_job_that_has_ended(
    site: Site, dashboard: Open
) -> None:
    site.submit(production(lines=1))
    site.finish("prod/1/1/1")
    job = request("kill", parse("prod"))
    apply(site.store, job, actor="me", note=None, now=time.time())

    async def script(desk: Desk) -> None:
        await desk.press("V")
        await desk.sees("$ d0ctl archive prod ", "would move job `prod` to archive")

    dashboard(script, start="prod", size=(100, 30))


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda one: f"{one.name} {one.target}")
def test_the_command_that_is_shown_is_read_as_the_same_request(
    request_: AnyRequest[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[tuple[AnyRequest[Any, Any], str | None]] = []

    def take(request: AnyRequest[Any, Any]) -> None:
        taken.append((request, changing.reason()))

    monkeypatch.setattr(action_command, "carry_out", take)
    words = shlex.split(request_.command("it's so"))[1:]

    result = CliRunner().invoke(app, words, prog_name="d0ctl")

    assert result.exit_code == 0, result.output
    assert taken == [(request_, "it's so")]


@pytest.mark.parametrize("verb", [name for name, action in ACTIONS.items() if action.ways])
def test_switching_goes_through_all_ways_of_an_action_and_comes_back(verb: str) -> None:
    ways = ACTIONS[verb].ways
    first = action = first_way(verb, parse("a" if ACTIONS[verb].level == "job" else "a/1/2"))
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
        await desk.sees("node drain: which node")
        await desk.press("enter")
        await desk.sees("$ d0ctl node drain localhost", "would drain `localhost`")
        await desk.press("escape", "slash")
        await desk.type("nowhere")
        await desk.sees("nothing found for `nowhere`")

    dashboard(script)


NODE_KEYS = {
    "A": "node add", "K": "node accept-key", "d": "node drain", "C": "node resume",
    "f": "node free", "X": "node remove", "b": "node benchmark", "e": "node set",
    "l": "node accept-loss",
}  # fmt: skip


TASK_KEYS = {
    "S": "task pause", "C": "task resume", "E": "task finish", "K": "task kill", "R": "task retry",
    "I": "task incexec", "A": "task avalanche", "N": "task reassign",
    "Y": "task acknowledge",
}  # fmt: skip


def test_every_action_on_rows_nodes_and_tasks_has_a_key() -> None:
    assert {command.keys: command.verb for command in ACT if command.verb} == KEYS
    assert {command.keys: command.verb for command in NODES if command.verb} == NODE_KEYS
    assert {command.keys: command.verb for command in TASKS if command.verb} == TASK_KEYS
    elsewhere = {"submit", "file purge", "file set-disposition", "throttle set",
                 "cluster set", "researcher set",
                 *(name for name in ACTIONS if name.startswith("token "))}  # fmt: skip
    assert {*KEYS.values(), *NODE_KEYS.values(), *TASK_KEYS.values()} == set(ACTIONS) - elsewhere


@pytest.mark.parametrize(
    ("key", "verb"),
    [("K", "node accept-key"), ("d", "node drain"), ("f", "node free"), ("X", "node remove")],
)
def test_a_key_on_the_screen_of_nodes_opens_the_dialog_of_its_action(
    site: Site, dashboard: Open, key: str, verb: str
) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("o")
        await desk.sees("what each does")
        await desk.press(key)
        if verb == "node free":
            await desk.sees("node free localhost: How much to free")
            return
        if verb == "node accept-key":
            await desk.sees("fingerprint")
            await desk.press("enter")
        await desk.sees(f"$ d0ctl {verb} localhost")

    dashboard(script)


def test_a_node_is_added_from_the_palette(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("colon")
        await desk.type("add a node")
        await desk.press("enter")
        await desk.sees("name of the node")
        await desk.type("farm")
        await desk.press("enter")
        await desk.sees("as for ssh")
        await desk.type("127.0.0.1:1")
        await desk.press("enter")
        await desk.sees("$ d0ctl node add farm 127.0.0.1:1", "would add `farm`")

    dashboard(script)


def test_a_throttle_is_set_from_the_palette(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("colon")
        await desk.type("throttle")
        await desk.press("enter")
        await desk.sees("e.g. researcher emmy")
        await desk.type("job big*")
        await desk.press("enter", "tab")
        await desk.type("max-running=4")
        await desk.press("enter")
        await desk.sees("$ d0ctl throttle set job 'big*' --max-running 4", "max-running none -> 4")
        await desk.press("enter")
        await desk.sees("to undo: d0ctl throttle set job 'big*' --max-running none")

    dashboard(script)


def test_files_get_a_disposition_and_are_purged_from_the_palette(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("colon")
        await desk.type("file set-disposition")
        await desk.press("enter")
        await desk.sees("which files, as JOB:NAME")
        await desk.type("prod:*")
        await desk.press("enter")
        await desk.sees("as-written")
        await desk.type("retain-temp")
        await desk.press("enter")
        await desk.sees("$ d0ctl file set-disposition 'prod:*' retain-temp", "would set")
        await desk.press("enter")
        await desk.sees("to undo: d0ctl file set-disposition 'prod:*' as-written")
        await desk.press("enter", "colon")
        await desk.type("file purge")
        await desk.press("enter")
        await desk.type("prod")
        await desk.press("enter")
        await desk.sees("no file of `prod:*` can be purged")

    dashboard(script)


def test_a_job_file_is_submitted_from_the_palette(
    site: Site, dashboard: Open, tmp_path: Path
) -> None:
    site.submit(production())
    path = tmp_path / "new.yaml"
    path.write_text("job: new\nstages: [{lines: [{run: 'true', outputs: [all.txt]}]}]\n")

    async def script(desk: Desk) -> None:
        await desk.press("colon")
        await desk.type("submit a job file")
        await desk.press("enter")
        await desk.type(str(path))
        await desk.press("enter")
        await desk.sees("would submit `new`: 1 stage, 1 line, 1 package",
                        "warning:", "`all.txt`")  # fmt: skip
        await desk.press("enter")
        await desk.sees("submitted `new`: 1 package")
        await desk.press("enter")
        await desk.until(lambda: desk.main.tree_view.selector == "new", "it is at the new job")

    dashboard(script)
    assert names.jobs(site.store) == ["new", "prod"]


def test_ctrl_c_says_how_to_leave(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("ctrl+c")
        await desk.sees("ctrl+c does nothing here: `q` leaves")
        await desk.press("o", "ctrl+c")
        await desk.sees("ctrl+c does nothing here: `q` leaves")

    dashboard(script)
