"""Texts that are pasted into the fields of boxes."""

import asyncio

import pytest
from textual import events

from tests.support.building import production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open
from tests.tui.test_typing_ahead import type_at_once


def test_all_lines_of_a_pasted_reason_are_kept(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("S")
        await desk.sees("would pause", "do it")
        await desk.type("see ")
        desk.app.post_message(events.Paste("mail of Ada:\n  disk\nis full\n"))
        await desk.sees("--reason 'see mail of Ada: disk is full'")

    dashboard(script, start="prod")


def test_all_lines_of_a_pasted_answer_are_kept(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("P")
        await desk.sees("priority prod: ")
        desk.app.post_message(events.Paste("4\n4\n"))
        await desk.sees("> 4 4")

    dashboard(script, start="prod")


@pytest.mark.parametrize("after", [0, 1, 3, 8, 20, 60])
def test_a_paste_waits_for_the_keys_before_it_and_the_box_that_they_open(
    site: Site, dashboard: Open, after: int
) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("P")
        await desk.sees("priority prod: ")
        type_at_once(desk, "71\r")
        for _ in range(after):
            await asyncio.sleep(0)
        desk.app.post_message(events.Paste("disk\nfull"))
        type_at_once(desk, "ish")
        await desk.sees("$ d0ctl priority prod 71 --reason 'disk fullish'")

    dashboard(script)


def test_a_paste_follows_the_keys_that_wait_for_the_result_of_an_action(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("H")
        await desk.sees("would hold")
        type_at_once(desk, "\r/")
        desk.app.post_message(events.Paste("prod/1/2"))
        type_at_once(desk, "/1")
        await desk.sees("> prod/1/2/1")

    dashboard(script, start="prod/1/3")
