"""The last action of a person is undone by a key and from the palette."""

import time

import pytest

from d0ctl.actions import apply, request
from d0ctl.errors import BadUsage
from d0ctl.select import parse
from d0ctl.store.views import browse
from d0ctl_tui.screens.dialogs.undoing import request_of
from tests.support.building import production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open
from tests.tui.test_mouse import click
from tests.tui.test_typing_ahead import type_at_once


def act(site: Site, verb: str, path: str, actor: str = "emmy", **options: object) -> None:
    """A person acts."""
    asked = request(verb, parse(path), **options)
    apply(site.store, asked, actor=actor, note=None, now=time.time())


@pytest.mark.parametrize("command", [
    "d0ctl release prod", "d0ctl retry prod/1/3:canceled,failed prod/2",
    "d0ctl edit prod/1/2 --memory 1GB --cpus 1 --wall-time 1m --on n1 --on n2",
    "d0ctl priority prod 60", "d0ctl set-status prod/1/2 unscheduled",
    "d0ctl kill-line prod/1/2 --drop-outputs", "d0ctl acknowledge prod:failed --withdraw",
    "d0ctl update prod --previous", "d0ctl limit prod --max-running 5",
    "d0ctl task resume scan", "d0ctl task reassign scan n1 n2", "d0ctl node resume farm",
    "d0ctl node resume farm lab", "d0ctl node remove farm",
    "d0ctl throttle set node farm --max-running 3",
    "d0ctl file set-disposition prod:out deletable",
])  # fmt: skip
def test_the_commands_that_undo_actions_are_read(command: str) -> None:
    assert request_of(command).command() == command


def test_the_box_of_an_edit_undoes_it(site: Site, dashboard: Open) -> None:
    site.up(cpus=4)
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("I")
        await desk.type("cpus=2")
        await desk.press("enter")
        await desk.sees("would edit", "2 CPUs")
        await desk.press("enter")
        await desk.sees("to undo: d0ctl edit prod --cpus 1", "u undo")
        await desk.press("u")
        await desk.sees("$ d0ctl edit prod --cpus 1", "would edit")

    dashboard(script)


@pytest.mark.parametrize("command", [
    "d0ctl update prod --previous && d0ctl release prod", "d0ctl status prod", "d0ctl",
])  # fmt: skip
def test_a_command_that_is_not_one_action_is_refused(command: str) -> None:
    with pytest.raises(BadUsage):
        request_of(command)


def test_a_key_or_the_palette_undoes_the_last_action_of_this_person(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    act(site, "hold", "prod/1/2")
    act(site, "priority", "prod", actor="max", priority=70)

    async def script(desk: Desk) -> None:
        await desk.press("u")
        await desk.sees("$ d0ctl release prod/1/2", "would release 2 packages")
        await desk.press("enter")
        await desk.sees("released 2 packages")
        await desk.press("colon")
        await desk.type("undo")
        await desk.sees("undo your last action")
        await desk.press("enter")
        await desk.sees("$ d0ctl hold prod/1/2")

    dashboard(script)

    assert site.phase("prod/1/2/1") == "ready"


def test_the_result_names_the_key_that_undoes_it_also_among_failures(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.press("F")
        await desk.sees("1 failed package", "u undo")
        await desk.press("Y")
        await desk.sees("would acknowledge")
        await desk.press("enter")
        await desk.sees("acknowledged package", "enter close, as q does   u undo")
        await desk.press("u")
        await desk.sees("would withdraw the acknowledgement of")
        await desk.press("enter")
        await desk.sees("withdrew the acknowledgement of")

    dashboard(script, size=(140, 40))


@pytest.mark.parametrize("closing", [
    [], [("q", "to undo:")], [("q", "to undo:"), ("escape", "tab group by")],
])  # fmt: skip
def test_an_acknowledged_group_of_failures_is_undone_from_each_screen(
    site: Site, dashboard: Open, closing: list[tuple[str, str]]
) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")
    site.fail("prod/1/2/1")

    async def script(desk: Desk) -> None:
        await desk.press("F")
        await desk.sees("2 failed packages")
        await desk.press("Y")
        await desk.sees("acknowledge prod:failed --failed-for exit-code", "do it")
        await desk.press("enter")
        await desk.sees("acknowledged 2 packages")
        for key, shown_until_then in closing:
            await desk.press(key)
            await desk.misses(shown_until_then)
        await desk.press("u")
        await desk.sees("prod/1/1-2/1 --withdraw", "would withdraw the acknowledgement")

    dashboard(script, size=(140, 40))


def priorities(site: Site) -> list[int]:
    return [job.priority for job in sorted(browse.jobs(site.store), key=lambda job: job.name)]


def test_priorities_of_several_jobs_are_undone_by_one_plan(site: Site, dashboard: Open) -> None:
    for name, priority in (("alpha", 70), ("beta", 50), ("gamma", 50)):
        site.submit(production(name, priority=priority))
    act(site, "priority", "*", priority=60)

    async def script(desk: Desk) -> None:
        await desk.press("u")
        await desk.sees("priority: 2 commands", "`alpha`: 60 -> 70", "60 -> 50")
        await desk.press("enter")
        await desk.until(lambda: priorities(site) == [70, 50, 50], "all have their priorities")

    dashboard(script, size=(140, 40))


@pytest.mark.parametrize("uses_mouse", [False, True])
def test_a_box_undoes_its_own_action_after_others_in_a_shell(
    site: Site, dashboard: Open, uses_mouse: bool
) -> None:
    site.submit(production())
    site.submit(production("other"))
    site.fail("other/1/1/1")

    async def script(desk: Desk) -> None:
        for verb in ("acknowledge", "retry"):
            await desk.press("H")
            await desk.sees("would hold")
            await desk.press("enter")
            await desk.sees("to undo: d0ctl release prod/1/3", "u undo")
            act(site, verb, "other/1/1/1")
            if uses_mouse:
                await click(desk, "keys", "undo")
            else:
                await desk.press("u")
            await desk.sees("$ d0ctl release prod/1/3", "would release")
            await desk.press("enter")
            await desk.sees("released")
            await desk.press("q")
            await desk.misses("to undo")
        act(site, "hold", "other/1/2")
        await desk.press("u")
        await desk.sees("$ d0ctl release other/1/2", "would release")

    dashboard(script, start="prod/1/3", size=(140, 40))


def test_keys_typed_ahead_undo_the_action_of_their_box(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("H")
        await desk.sees("would hold")
        type_at_once(desk, "\ruback")
        await desk.sees("$ d0ctl release prod/1/3:held --reason back")

    dashboard(script, start="prod/1/3", size=(140, 40))


def test_a_box_undoes_its_action_on_several_jobs(site: Site, dashboard: Open) -> None:
    for name, priority in (("alpha", 70), ("beta", 50), ("gamma", 50)):
        site.submit(production(name, priority=priority))
    act(site, "priority", "*", priority=60)

    async def script(desk: Desk) -> None:
        await desk.press("u")
        await desk.sees("priority: 2 commands", "do it")
        await desk.press("enter")
        await desk.sees("to undo: d0ctl priority alpha 60", "u undo")
        act(site, "hold", "beta")
        await desk.press("u")
        await desk.sees("priority: 2 commands", "`alpha`: 70 -> 60", "50 -> 60")

    dashboard(script, size=(140, 40))


def test_why_nothing_is_undone_is_said(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")

    async def script(desk: Desk) -> None:
        await desk.press("u")
        await desk.sees("emmy has done nothing yet that could be undone")
        act(site, "retry", "prod/1/2/1")
        await desk.press("u")
        await desk.sees("no command undoes your last action, `retry`: history shows what it")

    dashboard(script)
