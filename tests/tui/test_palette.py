"""The palette has every verb of the command line, or says why it is not there."""

from d0ctl.actions import ACTIONS
from d0ctl.cli.epilogs import EPILOGS
from d0ctl.show.not_here import NOT_HERE
from d0ctl_tui.commands import MAIN
from d0ctl_tui.screens.dialogs import search_results
from d0ctl_tui.screens.dialogs.search_results import SEEN
from tests.support.building import production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open


def test_each_verb_of_the_command_line_is_in_the_palette_once() -> None:
    known = [*ACTIONS, *SEEN, *NOT_HERE]

    assert sorted(known) == sorted({*ACTIONS, *EPILOGS})
    assert set(SEEN.values()) <= {command.action for command in MAIN}


def test_the_palette_shows_every_verb_and_says_why_some_are_not_there(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("colon")
        await desk.type("report usage")
        await desk.sees("d0ctl report usage", "not here, enter copies it: it prints a list")
        await desk.press("enter")
        await desk.until(lambda: desk.app.clipboard == "d0ctl report usage", "it is copied")
        await desk.press("colon")
        await desk.type("daemon")
        await desk.sees("d0ctl daemon start", "a process that goes on without the dashboard")
        await desk.press("enter")
        await desk.until(lambda: desk.app.clipboard == "d0ctl daemon start", "the first one")
        await desk.press("colon")
        await desk.type("report failures")
        await desk.sees("failures in groups  d0ctl report failures")
        await desk.press("enter")
        await desk.sees("failures of all jobs")
        desk.app.pop_screen()
        for verb in (*SEEN, *NOT_HERE, *ACTIONS):
            found = search_results.palette(desk.main, verb)
            assert f"d0ctl {verb}" in {word for one in found for word in (one.label, one.about)}

    dashboard(script)


def test_the_verb_that_was_typed_is_the_first_choice(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.sees("prod  A production")
        for verb in ("submit", "node drain", "status"):
            first = search_results.palette(desk.main, verb)[0]
            assert f"d0ctl {verb}" in (first.about, first.label)

    dashboard(script)


def test_a_word_of_another_program_finds_what_does_the_same_here(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.sees("prod  A production")
        choices = search_results.palette(desk.main, "scancel")
        acts = search_results.actions(desk.main, ["kill", "retry"], "Cancel")
        assert "d0ctl kill" in {choice.about for choice in choices}
        assert acts[0].about == "d0ctl kill"
        assert search_results.palette(desk.main, "nonsense") == []

    dashboard(script)


def test_actions_and_palette_of_the_screen_of_nodes_act_on_the_node_under_the_cursor(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("o")
        await desk.sees("localhost  this machine")
        for key, title in (("a", "act on localhost"), ("colon", "what to do")):
            await desk.press(key)
            await desk.sees(title)
            await desk.type("drain")
            await desk.press("enter")
            await desk.sees("would drain `localhost`")
            await desk.press("escape")
            await desk.until(lambda: "would drain" not in desk.screen, "it is closed")

    dashboard(script)


def test_the_palette_of_the_screen_of_nodes_goes_back_for_commands_of_the_main_screen(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("o", "colon")
        await desk.type("hold")
        await desk.sees("d0ctl hold")
        await desk.press("enter")
        await desk.sees("would hold")
        await desk.press("escape")
        await desk.until(lambda: desk.app.screen is desk.main, "the main screen")

    dashboard(script, start="prod")
