"""A line with just one package is one row, which stands for both."""

import time

from d0ctl.actions import apply, request
from d0ctl.select import parse
from tests.support import jobs
from tests.support.building import job, line, package
from tests.support.site import Site
from tests.tui.conftest import Desk, Open


def submit(site: Site) -> None:
    """Submit a stage of four lines with one package each, and one with two."""
    single = [line(package(f"f{i}", name="gen"), name=f"run{i}") for i in range(1, 5)]
    site.submit(job(("make", [*single, line(package("x"), package("y"))]), name="one"))


def test_the_row_has_line_package_and_state_and_the_binaries_below(
    site: Site, dashboard: Open
) -> None:
    submit(site)
    site.fail("one/1/2/1")

    async def script(desk: Desk) -> None:
        await desk.sees("1 run1 gen", "2 run2 gen")
        rows = [row.strip() for row in await desk.settled("tree")]
        assert "○ ready" in rows[2] and "✘ failed" in rows[3] and "exit-code" in rows[3]
        assert rows[6].startswith("▸ 5") and "0/2" in rows[6]
        await desk.press("l")
        await desk.sees("1 tool")
        await desk.press("l")
        assert desk.main.tree_view.selector == "one/1/1/1"
        await desk.press("h", "h")
        await desk.misses("1 tool")

    dashboard(script, start="one/1/1", size=(160, 36))


def test_enter_shows_the_card_of_the_package_and_t_its_log(site: Site, dashboard: Open) -> None:
    submit(site)
    site.fail("one/1/2/1", stderr="Fatal: corrupt block\n")

    async def script(desk: Desk) -> None:
        await desk.press("enter")
        await desk.sees("every change", "one/1/2/1  gen", "Fatal: corrupt block")
        await desk.press("escape", "t")
        await desk.sees("attempt 1")

    dashboard(script, start="one/1/2")


def test_the_path_of_the_package_and_the_next_problem_lead_to_the_row(
    site: Site, dashboard: Open
) -> None:
    submit(site)
    site.fail("one/1/2/1")
    site.fail("one/1/4/1")

    async def script(desk: Desk) -> None:
        tree = desk.main.tree_view
        await desk.until(lambda: tree.cursor_path == (0, 0, 1), "its row")
        await desk.press("right_square_bracket")
        await desk.until(lambda: tree.cursor_path == (0, 0, 3), "the next")
        await desk.press("l", "l", "left_square_bracket")
        await desk.until(lambda: tree.cursor_path == (0, 0, 1), "the one before")

    dashboard(script, start="one/1/2/1")


def test_verbs_on_packages_act_on_the_package_and_verbs_on_lines_on_the_line(
    site: Site, dashboard: Open
) -> None:
    submit(site)

    async def script(desk: Desk) -> None:
        await desk.press("H")
        await desk.sees("$ d0ctl hold one/1/1/1")
        await desk.press("enter")
        await desk.until(lambda: site.phase("one/1/1/1") == "held", "it is held")
        await desk.press("enter", "j", "D")
        await desk.sees("$ d0ctl kill-line one/1/2")
        await desk.press("enter")
        await desk.until(lambda: site.phase("one/1/2/1") == "dropped", "it is dropped")

    dashboard(script, start="one/1/1")


def test_a_dropped_line_says_so_although_its_package_is_done(site: Site, dashboard: Open) -> None:
    submit(site)
    site.finish("one/1/1/1")
    wanted = request("kill-line", parse("one/1/1"), drop_outputs=True)
    apply(site.store, wanted, actor="me", note=None, now=time.time())

    async def script(desk: Desk) -> None:
        await desk.sees("run1 gen")
        assert "dropped" in (await desk.settled("tree"))[2]

    dashboard(script, start="one/1/3")


def test_marks_are_of_lines_and_one_row_can_be_taken_out(site: Site, dashboard: Open) -> None:
    submit(site)

    async def script(desk: Desk) -> None:
        marks = desk.main.tree_view.marks
        await desk.press("space", "space")
        assert str(marks.selection()) == "one/1/1-2"
        await desk.press("asterisk")
        assert str(marks.selection()) == "one/1/*"
        await desk.press("space")
        assert (len(marks), str(marks.selection())) == (4, "one/1/1-2 one/1/4-5")

    dashboard(script, start="one/1/1")


def test_a_package_that_was_marked_in_a_filter_is_marked_in_the_tree(
    site: Site, dashboard: Open
) -> None:
    submit(site)
    site.fail("one/1/2/1")

    async def script(desk: Desk) -> None:
        await desk.press("slash", *"one/1/2", "colon", *"failed", "enter")
        await desk.sees("one/1/2:failed: 1")
        await desk.press("space", "escape")
        await desk.sees("1 marked")
        await desk.until(lambda: desk.lines("tree")[3].startswith("◆"), "its row is marked")
        await desk.press("space")
        assert not desk.main.tree_view.marks

    dashboard(script, start="one/1/2")


def test_a_binary_that_the_attempt_did_not_need_is_skipped(site: Site, dashboard: Open) -> None:
    chain = jobs.package(jobs.binary(name="reco"), jobs.binary(name="ana"), jobs.binary(name="dst"))
    site.submit(jobs.job("one", [chain]))
    site.launch("one/1/1/1")
    ran = {"binary": 2, "started": 100.0, "ended": 150.0, "exit_code": 0, "signal": None,
           "cpu": 40.0, "rss": 1}  # fmt: skip
    site.end("one/1/1/1", binaries=[ran], reason="exit-code", began=2, began_why="it is there")

    async def script(desk: Desk) -> None:
        await desk.sees("every change")
        await desk.press("l")
        await desk.sees("3 dst")
        rows = await desk.settled("tree")
        for name, state in (("1 reco", "skipped"), ("2 ana", "successful"), ("3 dst", "waiting")):
            assert state in next(row for row in rows if name in row)

    dashboard(script, start="one/1/1", size=(160, 36))
