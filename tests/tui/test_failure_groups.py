"""The screen of failures: groups above, and all about the selected one below or beside them."""

import time
from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.drawing.signs import UNICODE
from d0ctl.show.drawing.spans import text
from d0ctl.show.failures import alike, failure_group
from d0ctl.store.opening import open_store
from d0ctl.store.views.activity import Failed
from d0ctl_tui.draw import failure_groups
from d0ctl_tui.draw.failure_groups import GroupColumns, grouped
from d0ctl_tui.screens.failed import failures
from tests.store.test_past import FIRST, spread_out
from tests.support.building import job, line, package, production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open
from tests.tui.test_log import write_log


def failing(site: Site) -> None:
    """Three packages that failed alike, and one that crashed."""
    site.submit(production(lines=5))
    for number in (1, 2, 3):
        site.fail(f"prod/1/{number}/1", detail=f"no calibration for run {number}")
    site.fail("prod/1/4/1", reason="seg-fault", detail="ended by SIGSEGV")


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60), (300, 100)])
def test_a_group_shows_its_packages_its_policy_and_what_to_type(
    site: Site, dashboard: Open, size: tuple[int, int]
) -> None:
    failing(site)

    async def script(desk: Desk) -> None:
        await desk.press("F")
        await desk.sees(
            "3 failed packages", "3 alike: no calibration for run 3",
            "the policy (default) does not retry `exit-code`",
            "$ d0ctl acknowledge 'prod:failed' --failed-for", "$ d0ctl why prod/1/3/1",
            "R retries all 3",
        )  # fmt: skip
        assert all(len(row) <= size[0] for row in desk.screen.splitlines())
        await desk.press("v")
        await desk.until(lambda: "3 exit-code" not in desk.screen, "only the details")
        await desk.sees("prod/1/1/1", "prod/1/2/1")
        await desk.press("escape")
        await desk.sees("1 seg-fault")
        await desk.press("j")
        await desk.sees("package `prod/1/4/1` failed: seg-fault: ended by")

    dashboard(script, size=size)


def test_a_key_shows_the_failures_of_all_jobs_or_again_of_one(site: Site, dashboard: Open) -> None:
    failing(site)
    site.submit(production("other"))
    site.fail("other/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.press("F")
        await desk.sees("failures of other", "1 failed package", "f all jobs")
        await desk.press("f")
        await desk.sees("failures of all jobs", "5 failed packages", "f one job")
        await desk.press("f")
        await desk.sees("failures of other", "1 failed package", "f all jobs")

    dashboard(script, start="other", size=(80, 24))


def test_failures_that_are_those_of_all_jobs_anyway_offer_no_other_job(
    site: Site, dashboard: Open
) -> None:
    failing(site)
    site.submit(production("other"))

    async def script(desk: Desk) -> None:
        await desk.press("F")
        await desk.sees("failures of all jobs", "4 failed packages")
        assert " f all jobs" not in desk.screen and "f one job" not in desk.screen

    dashboard(script, size=(120, 40))


def test_the_details_follow_the_cursor_into_an_open_group(site: Site, dashboard: Open) -> None:
    failing(site)

    async def script(desk: Desk) -> None:
        await desk.press("F")
        await desk.sees("3 alike")
        await desk.press("space", "j", "j")
        await desk.sees("package `prod/1/2/1`", "attempts")
        assert "prod/1/2/1  prod" not in desk.screen

    dashboard(script, size=(120, 40))


def test_the_log_of_the_latest_failure_is_beside_its_group(
    tmp_path: Path, site: Site, dashboard: Open
) -> None:
    site.submit(production())
    log = write_log(site, "prod/1/1/1", "event 1\nevent 2\n")
    log.with_name("1.err").write_text("Fatal: corrupt block\n")

    async def script(desk: Desk) -> None:
        await desk.press("F")
        await desk.sees("log  of prod/1/1/1", "│ Fatal: corrupt block", "│ event 2")
        await desk.press("t")
        await desk.sees("attempt 1 on localhost")

    dashboard(script, size=(120, 40))


def test_a_whole_group_is_acknowledged_by_a_key(site: Site, dashboard: Open) -> None:
    failing(site)

    async def script(desk: Desk) -> None:
        await desk.press("F")
        await desk.sees("3 alike", "$ d0ctl acknowledge 'prod:failed'")
        await desk.press("Y")
        selected = "$ d0ctl acknowledge prod:failed --failed-for exit-code"
        await desk.sees(selected, "would acknowledge 3 packages")
        await desk.press("enter")
        undo = "d0ctl acknowledge prod/1/1-3/1 --withdraw"
        await desk.sees("acknowledged 3 packages", f"to undo: {undo}")
        await desk.press("enter")
        await desk.sees("3 failed packages · 3 acknowledged", "1 seg-fault", "$ d0ctl why prod/")
        await desk.misses("$ d0ctl acknowledge")

    dashboard(script, size=(120, 40))


def test_the_past_offers_nothing_to_type(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")
    site.fail("prod/1/2/1")
    spread_out(site)

    async def script(desk: Desk) -> None:
        await desk.sees("✘ 2 failed")
        desk.app.show_as_of(FIRST + 60.0)
        await desk.press("F")
        await desk.sees("2 failed packages", "prod/1/2/1")
        await desk.misses("d0ctl acknowledge", "R retries")

    dashboard(script, size=(120, 40))


def test_messages_that_differ_only_in_numbers_are_shown_once() -> None:
    def failed(id: int, message: str) -> Failed:
        return Failed(id, "signal", "a", "reco/v1", None, float(id), message, job="prod")

    (group,) = grouped([failed(1, "run 1"), failed(3, "no disk"), failed(2, "run 2")], "reason")
    card = group.summary()

    assert card.causes == {"run 2": 2, "no disk": 1}
    assert (card.first, card.last, card.jobs, card.nodes) == (1.0, 3.0, {"prod": 3}, {"a": 3})


def test_the_card_of_many_failures_reads_a_few_of_them() -> None:
    jobs, number = 400, 3 * failure_groups.COMPARED
    failures = [
        Failed(id, "signal", "a", "reco/v1", None, float(id), "no disk",
               job=f"job{id % jobs}", tries=1 + id % 3)
        for id in range(1, number + 1)
    ]  # fmt: skip

    (group,) = grouped(failures, "reason")
    card = group.summary()
    page = Sheet(120)
    failure_group.draw(page, card, float(number))

    last = [list(range(number - after, 0, -jobs))[: failure_groups.FIRST] for after in range(3)]
    assert list(group.kinds.values()) == last
    assert list(group.kinds) == [(f"job{ids[0] % jobs}", "signal") for ids in last]
    assert (card.number, card.tries, card.last) == (number, (1, 3), float(number))
    assert "5,000 alike of the first 5,000: no disk" in "\n".join(map(text, page.lines))


def test_many_failures_are_grouped_by_the_property_that_was_asked_for_last(
    site: Site, dashboard: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Failed] = []

    def write(failed: Failed) -> str:
        written.append(failed)
        return ""

    monkeypatch.setattr(failures, "AT_ONCE", 0)
    monkeypatch.setattr(Failed, "__repr__", write)
    failing(site)

    async def script(desk: Desk) -> None:
        await desk.press("F")
        await desk.sees("4 failed packages", "3 exit-code", "1 seg-fault")
        await desk.press("tab")
        await desk.sees("4 localhost")
        await desk.press("tab", "tab", "tab", "tab")
        await desk.sees("4 localhost", "3 alike")
        await desk.press("shift+tab")
        await desk.sees("3 exit-code", "1 seg-fault")
        assert not written

    dashboard(script, size=(120, 40))


@pytest.mark.parametrize("job", ["alpha", "beta"])
def test_a_job_and_a_node_of_the_same_name_have_cells_of_their_own(job: str) -> None:
    one = Failed(1, "signal", "beta", "reco/v1", None, 1.0, "no disk", job=job)
    groups = grouped([one, Failed(2, "lost", "beta", "reco/v1", None, 2.0, "x", job="b")], "reason")
    columns = GroupColumns.of(groups, 120, "reason")

    heads = text(failure_groups.heads(columns, 120, "reason"))
    row = text(failure_groups.row(groups[-1], False, columns, 120, UNICODE))

    assert heads.index("last message") == row.index("no disk")
    assert row[heads.index("job") :].startswith(job)
    assert row[heads.index("where") :].startswith("beta")


@pytest.mark.parametrize(
    ("order", "marked"),
    [("number", "failed ↓"), ("name", "reason ↓"), ("nodes", "where ↓"), ("last", "last ↓")],
)
def test_the_column_by_which_the_groups_are_sorted_is_marked(order: str, marked: str) -> None:
    groups = grouped([Failed(1, "lost", "n", "reco/v1", None, 1.0, "x", job="a")], "reason")
    columns = GroupColumns.of(groups, 120, "reason")

    plain = failure_groups.heads(columns, 120, "reason")
    heads = failure_groups.heads(columns, 120, "reason", order, "↓")

    assert marked in text(heads)
    assert [word.strip() for word, role in heads if role == "key"] == [marked]
    assert text(heads).replace(" ↓", "").split() == text(plain).split()
    assert text(heads).index("last message") == text(plain).index("last message")


def test_the_key_that_undoes_is_in_the_last_line_of_a_screen_of_80_columns(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.press("F")
        await desk.sees("1 failed package", "R retry", "u undo", "? more")
        await desk.press("s")
        await desk.type("last")
        await desk.press("enter")
        await desk.until(lambda: "last ↓" in desk.lines("columns")[0], "an arrow at `last`")
        assert "…" not in desk.lines("title")[0]

    dashboard(script, size=(80, 24))


def test_what_the_policy_tries_again_for_the_same_reason_is_named(site: Site) -> None:
    final = package(name="final", policy={"stage-in": {"tries": 0}})
    site.submit(job(("make", [line(final), line(package(name="again"))]), name="prod"))
    site.fail("prod/1/1/1", reason="stage-in", detail="no such file")
    site.fail("prod/1/2/1", reason="stage-in", detail="no such file")

    with open_store(Home(site.store.home.root), read_only=True) as store:
        kinds = [alike.Kind("prod", "stage-in", ["prod/1/1/1"])]
        explanation = alike.several(store, kinds, {"prod": "prod:failed"})

    assert explanation.facts[-1] == (
        "the policy tries 1 package more of `prod` again that failed for `stage-in`, "
        "such as `prod/1/2/1`"
    )
    assert explanation.commands[0] == "d0ctl retry 'prod:failed' --failed-for stage-in"


def test_failures_on_a_node_are_retried_there_for_each_reason(site: Site) -> None:
    site.submit(production())
    site.fail("prod/1/1/1", reason="wall-time", detail="ran for too long")
    site.fail("prod/1/2/1", reason="platform-failure")
    kinds = [alike.Kind("prod", "wall-time", ["prod/1/1/1"]),
             alike.Kind("prod", "exit-code", ["prod/1/2/1"])]  # fmt: skip

    explanation = alike.several(site.store, kinds, {"prod": "prod:failed"}, node="localhost")

    assert explanation.commands[0] == (
        "d0ctl retry 'prod:failed' --node localhost --failed-for wall-time --wall-time 4s"
    )
    assert "d0ctl acknowledge 'prod:failed' --node localhost" in explanation.commands
    assert all("wall-time" in fact or "for exit-code: " in fact or "exit-code" in fact
               for fact in explanation.facts)  # fmt: skip


def test_a_removed_package_is_not_explained(site: Site) -> None:
    site.submit(production())

    assert alike.single(site.store, "prod/9/9/9", time.time()) is None
