"""What the dashboard does to jobs: the same as the command line, once the plan has been seen."""

import time

import pytest

from d0ctl.actions import apply, request
from d0ctl.model import Address
from d0ctl.select import parse
from d0ctl.store.nodes import draining, registry
from d0ctl.store.views import browse
from d0ctl_tui.screens import offered_actions
from tests.support.building import production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open


def test_holding_shows_the_plan_and_keeps_who_and_why(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("H")
        await desk.sees("would hold job `prod`: 8 packages would not start")
        await desk.type("nodes burn")
        await desk.sees("$ d0ctl hold prod --reason 'nodes burn'")
        await desk.press("enter")
        await desk.sees("held job `prod`")
        await desk.press("enter")
        await desk.sees("‖ held", "held by emmy")

    dashboard(script)

    assert site.store.row("jobs", pattern="prod")["hold"] == 1  # type: ignore[index]
    assert browse.actions(site.store, "prod", 1)[0].note == "nodes burn"


def test_escape_does_nothing(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("H")
        await desk.sees("would hold")
        await desk.press("escape")
        await desk.misses("would hold")

    dashboard(script)

    assert site.store.row("jobs", pattern="prod")["hold"] == 0  # type: ignore[index]


def test_a_line_is_dropped_with_its_outputs_and_the_merge_goes_on(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    site.fail("prod/1/2/1")

    async def script(desk: Desk) -> None:
        await desk.press("D")
        await desk.sees("would drop 2 packages", "only kill: later packages wait")
        await desk.press("ctrl+o")
        await desk.sees(
            "packages that need their outputs will keep waiting", "drop the outputs, too"
        )
        await desk.press("ctrl+o")
        await desk.sees("would drop 2 packages", "continuing without these files: 1 package",
                        "$ d0ctl kill-line prod/1/2 --drop-outputs")  # fmt: skip
        await desk.press("enter")
        await desk.sees("dropped 2 packages of `prod/1/2`")
        await desk.press("enter")
        await desk.sees("⊘ dropped")

    dashboard(script, start="prod/1/2/1")

    assert site.phase("prod/1/2/1") == "dropped"


def test_a_verb_that_is_refused_says_why_and_what_to_type(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.press("K")
        await desk.sees("is successful, so it can't be killed", "d0ctl why prod/1/1/1")
        await desk.press("enter")
        await desk.misses("so it can't be killed")

    dashboard(script, start="prod/1/1/1")


@pytest.mark.parametrize(("key", "verb"), [("X", "remove"), ("V", "archive")])
def test_an_action_on_whole_jobs_is_refused_on_other_rows(
    site: Site, dashboard: Open, key: str, verb: str
) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press(key)
        await desk.sees(f"`{verb}` is for whole jobs: choose a job")
        await desk.press("a")
        await desk.sees("act on prod/1/1/1", "not possible here now:", verb)

    dashboard(script, start="prod/1/1/1")


def test_marks_are_acted_on_at_once_and_neighbours_become_a_range(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("space", "space")
        await desk.sees("2 marked", "◆")
        await desk.press("a")
        await desk.sees("act on 2 selected", "kill: end packages")
        await desk.type("kill")
        await desk.press("enter")
        await desk.sees("$ d0ctl kill prod/1/1-2", "would kill 4 packages")
        await desk.press("enter")
        await desk.sees("killed 4 packages")
        await desk.press("enter")
        await desk.misses("marked")

    dashboard(script, start="prod/1/1")

    assert site.phase("prod/1/2/2") == "canceled"
    assert site.phase("prod/1/3/1") == "ready"


def test_actions_that_apply_to_no_marked_package_are_not_offered(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    for line in (1, 2):
        site.finish(f"prod/1/{line}/1")

    async def script(desk: Desk) -> None:
        await desk.press("space")
        await desk.sees("1 marked")
        await desk.press("a")
        await desk.sees("act on prod/1/1/1", "set-status")
        await desk.misses("kill: end packages")
        await desk.misses("d0ctl hold")
        await desk.press("escape", "slash")
        await desk.type("prod/1/1/2")
        await desk.press("enter", "space", "a")
        await desk.sees("act on 2 selected", "set-status", "kill: end packages", "d0ctl hold")

    dashboard(script, start="prod/1/1/1")


def test_actions_that_do_not_apply_to_a_job_are_not_offered_but_named(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    asked = request("pause", parse("prod"))
    apply(site.store, asked, actor="tester", note=None, now=time.time())

    async def script(desk: Desk) -> None:
        await desk.press("a")
        await desk.sees("act on prod", "kill: end packages", "resume: continue after a pause")
        await desk.sees("not possible here now: ")
        await desk.misses("release: schedule again", "kill-line: end or drop it")
        await desk.misses("pause: start nothing", "retry: run failed packages again")
        last = desk.screen[desk.screen.index("not possible here now: ") :].partition("╯")[0]
        assert all(verb in last for verb in ("release", "kill-line", "restore-line", "retry"))
        await desk.type("release")
        await desk.sees("not possible here now: release")
        await desk.press("enter")
        await desk.until(lambda: desk.app.screen is desk.main, "nothing is done")

    dashboard(script, size=(80, 40))


def test_actions_that_do_not_apply_to_a_whole_list_of_rows_are_not_offered(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    for number in (1, 2, 3):
        site.fail(f"prod/1/{number}/1")

    async def script(desk: Desk) -> None:
        await desk.press("f", *"failed", "enter")
        await desk.until(lambda: len(desk.main.tree_view.filtered or ()) == 3, "the failed ones")
        await desk.press("asterisk", "a")
        await desk.sees("act on 3 selected", "retry: run failed packages again")
        await desk.sees("not possible here now: ")
        await desk.misses("release: schedule again", "resume: continue after a pause")

    dashboard(script, size=(120, 40))


def test_of_more_packages_only_actions_for_other_rows_are_left_out(
    site: Site, dashboard: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.submit(production())
    monkeypatch.setattr(offered_actions, "MOST_TRIED", 3)

    async def script(desk: Desk) -> None:
        await desk.press("a")
        await desk.sees("release: schedule again", "not possible here now: kill-line, restore-line")

    dashboard(script, size=(120, 40))


def test_all_rows_beside_one_are_marked_and_unmarked(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("asterisk")
        await desk.sees("3 marked")
        await desk.press("asterisk")
        await desk.misses("marked")
        await desk.press("space")
        await desk.sees("1 marked")
        await desk.press("escape")
        await desk.misses("marked")

    dashboard(script, start="prod/1/1")


def test_a_verb_for_lines_is_not_offered_a_job(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("D")
        await desk.sees("`kill-line` is for lines")

    dashboard(script)


def test_a_node_is_drained_and_resumed(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("o")
        await desk.sees("localhost  this machine")
        await desk.press("d")
        await desk.sees("would drain `localhost`: it would take no new packages")
        await desk.type("new kernel")
        await desk.press("enter")
        await desk.sees("drained `localhost`", "◒", "new kernel")
        await desk.press("enter", "u")
        await desk.sees("would resume `localhost`")
        await desk.press("enter")
        await desk.sees("resumed `localhost`")

    dashboard(script)

    assert not registry.named(site.store, "localhost").drained


def test_a_job_is_paused_with_or_without_its_running_packages_and_resumed(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.press("S")
        await desk.sees("$ d0ctl pause prod", "suspend running packages, too")
        await desk.press("ctrl+o")
        await desk.sees("$ d0ctl pause prod --running", "let running packages continue")
        await desk.press("ctrl+o")
        await desk.sees("suspend running packages, too")
        await desk.press("enter")
        await desk.sees("paused")
        await desk.press("enter", "C")
        await desk.sees("$ d0ctl resume prod")
        await desk.press("enter")
        await desk.sees("resumed")

    dashboard(script)


def test_a_node_that_fails_packages_is_shown_with_the_evidence_and_resumed(
    site: Site, dashboard: Open
) -> None:
    site.submit(production(lines=30))
    registry.add(site.store, Address("hole", "ssh", "hole"), cpus=1)
    for name in ("localhost", "hole"):
        site.up(name, machine_id=name)
    for number in range(1, 8):
        site.finish(f"prod/1/{number}/1")
    for number in range(8, 11):
        site.launch(f"prod/1/{number}/1", "hole")
        site.end(f"prod/1/{number}/1", "failed", reason="exit-code")

    async def script(desk: Desk) -> None:
        await desk.press("o")
        await desk.sees("by d0ctl: 3 attempts of", "drained by d0ctl at", "went elsewhere")
        await desk.press("C")
        await desk.sees("would resume `hole`")
        await desk.press("enter")
        await desk.sees("resumed `hole`")

    dashboard(script)

    assert draining.bad_node(site.store, registry.named(site.store, "hole").id) is None
