"""Each figure of the dashboard is one that the command line has, on a site at work."""

import platform
import re
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from d0ctl.show.history.time_rows import PERIODS, Period
from d0ctl.units import iso
from tests.support import rows
from tests.support.figures import MOMENT, Documents, figures
from tests.support.site import Site
from tests.tui.conftest import Desk, Open
from tests.tui.figure_checks import check, everything, packages, said, times

SHEETS = ("reco", "reco/1", "reco/1/4", "reco/2", "reco/1/3/1", "reco/1/1/1", "long", "long/1",
          "long/1/1/1", "long/1/3/1", "long/1/4/1", "later", "later/1")  # fmt: skip
"""A job, a stage, a line and packages in every state that lasts."""


def test_each_figure_of_a_row_and_of_its_sheet_is_in_the_documents(
    busy: Site, dashboard: Open
) -> None:
    async def look(desk: Desk, path: str) -> None:
        here = busy.json("status", path)
        desk.main.go_to(path)
        await desk.until(lambda: path in desk.lines("about")[0].split(), path)
        await desk.sees("why")
        assert len(list(figures(await check(desk, ["about"], lambda: said(busy, path))))) >= 2
        tree = desk.main.tree_view
        row = desk.lines("tree")[tree.cursor - tree.scroll_offset.y]
        assert Documents(here).unexplained(row, time.time(), time.time()) == [], path
        if isinstance(counts := here.get("packages"), dict):
            assert f" {counts['successful']}/{sum(counts.values())} " in f"{row} "

    async def script(desk: Desk) -> None:
        for path in SHEETS:
            await look(desk, path)

    dashboard(script, home=busy.home.root, size=(520, 80))


def test_the_figures_of_header_nodes_and_changes_are_in_the_documents(
    busy: Site, dashboard: Open
) -> None:
    async def script(desk: Desk) -> None:
        await desk.sees("daemon up")
        header, _, changed = desk.lines("header")[0].partition(" changed ")
        documents = everything(busy)
        now = time.time()
        assert documents.unexplained(header.replace(str(busy.home.root), ""), now, now) == []
        assert "1/1 node up   2/2 slots   ✘ 1 failed" in header
        assert changed.strip() in times(min(documents.moments), now)
        text = await check(desk, ["nodes", "ticker"], lambda: everything(busy))
        assert " 2/2 " in text
        attempts = [attempt for package in packages(busy) for attempt in package["attempts"]]
        assert f"{sum(bool(attempt['ended']) for attempt in attempts)} ended" in desk.screen

    dashboard(script, home=busy.home.root, size=(240, 60))


def test_the_figures_of_a_node_are_in_the_documents(busy: Site, dashboard: Open) -> None:
    now = int(time.time())
    with busy.opened() as store, store.writing():
        node = rows.value(store, "node", "id", name="localhost")
        for at in (now - 100, now - 50):
            rows.insert(store, "node_sample", node_id=node, at=at, load=1.5, rss=10**7)

    def documents() -> Documents:
        found = Documents(
            busy.json("node", "list"), busy.json("why", "localhost"), packages(busy),
            platform.freedesktop_os_release(),
        )  # fmt: skip
        node = busy.listed_node("localhost")
        found.ratios.add(f"{node['used']}/{node['cpus']}")
        found.know(node["cpus"], "slots")
        found.know(node["launched"], "packages")
        found.know(platform.python_version(), before="python")
        return found

    async def script(desk: Desk) -> None:
        await desk.press("o")
        await desk.sees("2/2 slots in use", "use  in the last", "running here  2 packages")
        await check(desk, ["nodelist", "nodeabout"], documents)

    dashboard(script, home=busy.home.root, size=(360, 80))


def test_the_figures_of_failures_are_in_the_documents(busy: Site, dashboard: Open) -> None:
    report = busy.json("report", "failures", "reco")
    documents = Documents(report, busy.json("status", "reco/1/3/1"))
    documents.know(report["packages"], "failed")
    for group in report["by_reason"]:
        documents.know(group["packages"], group["reason"])

    async def script(desk: Desk) -> None:
        await desk.press("F")
        await desk.sees("1 exit-code", "1 failed package")
        await desk.press("space")
        await desk.sees("try 2")
        await check(desk, ["title", "groups"], lambda: documents)

    dashboard(script, home=busy.home.root, size=(360, 80))


def test_the_figures_of_the_wall_are_in_the_documents(busy: Site, dashboard: Open) -> None:
    def documents() -> Documents:
        found = everything(busy)
        jobs = busy.json("status")["jobs"]
        found.know(sum(job["ended"] is None for job in jobs), "active")
        for job in jobs:
            total, counts = sum(job["packages"].values()), job["packages"]
            done = f"{counts['successful']}/{total}"
            found.ratios |= {done, f"{counts['successful'] / total:.0%}"}
            found.ratios.add(f"✘{job['phases'].get('failed', 0) - job['acknowledged']}")
            found.know(counts["launched"], before=done)
        return found

    async def script(desk: Desk) -> None:
        await desk.press("Z")
        await desk.sees("wall  2 active jobs", "reco/1/3/1", "67%  4/6")
        await check(desk, ["title", "wall"], documents)

    dashboard(script, home=busy.home.root, size=(50, 60))


def test_the_figures_of_the_timeline_are_in_the_documents(busy: Site, dashboard: Open) -> None:
    async def script(desk: Desk) -> None:
        opened = time.time()
        await desk.press("i")
        await desk.sees("slots of nodes over time")
        await desk.until(lambda: " running " in desk.lines("title")[0], "what runs at the edge")
        title, rows = desk.lines("title")[0], [row for row in desk.lines("times") if row.strip()]
        report, now = busy.json("report", "timeline"), time.time()
        left, right = re.split(r" {3,}", title.strip(), maxsplit=1)
        attempt = MOMENT.sub("", right)  # the time at the cursor is no time of the attempt
        assert Documents(report).unexplained(attempt, opened, now) == []
        slots, [node] = report["rows"], busy.json("node", "list")["nodes"]
        assert len(rows) == len(slots)
        period = next(p for p in PERIODS if Period(0, p, 1).length in left.split("  "))
        ticks = [opened + tick / 20 for tick in range(int(20 * (now - opened)) + 2)]
        assert rows[0].split()[0] == slots[0]["row"]
        shares = [100 * share(slots, node["cpus"], at, period) for at in ticks]
        shown = float(rows[0].split()[1].removesuffix("%"))
        assert min(shares) - 0.5 <= shown <= max(shares) + 0.5

    dashboard(script, home=busy.home.root, size=(160, 40))


def share(slots: Sequence[Any], slots_of_node: int, now: float, period: float) -> float:
    """Return how much of the slots was in use from the first start to the last end in a period."""
    ran: list[tuple[float, float]] = []
    for one in (attempt for slot in slots for attempt in slot["attempts"]):
        began, ended = (one[key] and datetime.fromisoformat(one[key]).timestamp()
                        for key in ("started", "ended"))  # fmt: skip
        if began is not None:
            ran.append((max(began, now - period), min(ended or now, now)))
    first, last = min(began for began, _ in ran), max(ended for _, ended in ran)
    return sum(max(0.0, ended - began) for began, ended in ran) / ((last - first) * slots_of_node)


@pytest.mark.parametrize(
    ("screen", "wrong"),
    [
        ("3/5  60 %  1 failed", []),
        ("4/5  60 %  1 failed", ["4/5 60"]),
        ("3/5  60 %  2 failed", ["% 2 failed"]),
        ("since 12:00:07, took 4.0 s", []),
        ("since 12:00:08, took 5.0 s", ["12:00:08", "5.0 s"]),
        ("prod/1/2/1", ["prod/1/2/1"]),
    ],
)
def test_a_figure_that_no_document_has_is_found(screen: str, wrong: list[str]) -> None:
    at = datetime(2026, 11, 22, 12, 0, 7)
    ended = at + timedelta(seconds=4)
    words = [iso(one.timestamp()) for one in (at, ended)]
    counts = {"successful": 3, "failed": 1, "unscheduled": 1}
    documents = Documents({"path": "prod/1/1/1", "packages": counts, "phases": {"failed": 1},
                           "started": words[0], "ended": words[1]})  # fmt: skip

    assert documents.unexplained(screen, at.timestamp() + 60, at.timestamp() + 90) == wrong
