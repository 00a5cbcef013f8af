"""Keys after an action: they close the box with its result, and act."""

import time

from d0ctl.actions import apply, request
from d0ctl.select import parse
from tests.support.building import production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open
from tests.tui.test_typing_ahead import type_at_once


def test_a_key_after_an_action_closes_its_box_and_acts_but_q_only_closes(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("H")
        await desk.sees("would hold")
        await desk.press("enter")
        await desk.sees(
            "held", "enter close, as q does   u undo   any other key closes it and acts"
        )
        await desk.press("k", "k")
        await desk.misses("to undo")
        await desk.until(lambda: desk.main.tree_view.selector == "prod/1/1", "two lines up")
        await desk.press("w")
        await desk.sees("views: choose one")
        await desk.press("escape", "H")
        await desk.sees("would hold")
        await desk.press("enter")
        await desk.sees("to undo")
        await desk.press("q")
        await desk.misses("to undo")
        await desk.sees("‖ held")

    dashboard(script, start="prod/1/3")


def test_keys_typed_while_an_action_is_done_act_afterwards(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("H")
        await desk.sees("would hold")
        type_at_once(desk, "\rkkL")
        await desk.sees("$ d0ctl release prod/1/1")
        assert desk.main.tree_view.selector == "prod/1/1"

    dashboard(script, start="prod/1/3")

    assert site.phase("prod/1/3/1") == "held"


def test_keys_typed_while_an_action_is_refused_do_nothing(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("H")
        await desk.sees("would hold")
        asked = request("hold", parse("prod/1/3"))
        apply(site.store, asked, actor="tester", note=None, now=time.time())
        type_at_once(desk, "\rkk")
        await desk.sees("tester held `prod/1/3`", "enter close")
        await desk.press("escape")
        await desk.misses("tester held")
        assert desk.main.tree_view.selector == "prod/1/3"

    dashboard(script, start="prod/1/3")


def test_a_plan_that_changes_nothing_is_only_closed_and_is_not_the_last_action(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    site.finish("prod/1/1/2")

    async def script(desk: Desk) -> None:
        await desk.press("H")
        await desk.sees("would hold")
        await desk.press("enter")
        await desk.sees("to undo")
        await desk.press("escape")
        desk.main.go_to("prod/1/1")
        await desk.press("D")
        await desk.sees("there is no package to drop", "removed from the inputs", "enter do it")
        await desk.press("ctrl+o")
        await desk.sees("nothing to kill in `prod/1/1`: 2 successful", "enter close")
        await desk.misses("do it")
        await desk.press("enter")
        await desk.misses("nothing to kill")
        await desk.press("u")
        await desk.sees("$ d0ctl release prod/1/3")

    dashboard(script, start="prod/1/3")


def test_fields_are_examples_before_an_action_and_gone_after_it(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")

    async def script(desk: Desk) -> None:
        await desk.press("R")
        await desk.sees(
            "would retry", "with   such as memory=8GB", "reason recorded with your name"
        )
        await desk.press("enter")
        await desk.sees("retried", "enter close")
        await desk.misses("memory=8GB", "recorded with your name")

    dashboard(script, start="prod/1/2/1")
