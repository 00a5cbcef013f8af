"""Each figure of a task on the screens is one that the command line has, on a site at work."""

import re
import time
from collections.abc import Iterator

import pytest

from tests.support.figures import Documents
from tests.support.homes import equip_nodes, make_home
from tests.support.site import Site
from tests.tui.conftest import Desk, Open
from tests.tui.figure_checks import check, packages

TASK = """
task: scan
title: Eight seeds, two in each package
goal: 90%
inputs: {{seeds: {{range: [1, 8]}}}}
split: {{files-per-package: 2, attempts: 1, at-once: yes}}
process:
  run: |
    for n in {{files}}; do
      test $n != 4 || exit 3
      if test $n -ge 5; then {gate}; fi
    done
    echo done > out-{{package.index}}
  outputs: ["out-{{package.index}}"]
"""


@pytest.fixture(scope="module")
def tasking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site with a task: one package has ended, one has failed, two run until a gate opens."""
    site = Site(tmp_path_factory.mktemp("tasking") / "site")
    try:
        equip_nodes(make_home(site.home.root))
        site.ok("node", "set", "localhost", "cpus=2")
        site.start_daemon()
        site.ok("task", "submit", site.write(TASK.format(gate=site.gate("go")), "task.yaml"))
        site.wait(
            lambda: sorted(site.phases().values()) == ["done", "failed", "running", "running"]
        )
        site.wait(lambda: files(site) == {"finished": 2, "failed": 2, "running": 4})
        yield site
    finally:
        site.close(kills=True)


def files(site: Site) -> dict[str, int]:
    """How many files of the task have each status."""
    return {name: n for name, n in site.json("task", "status", "scan")["files"].items() if n}


def documents(site: Site, opened: float) -> Documents:
    """What the command line says of the task and of its job."""
    task, job = site.json("task", "status", "scan"), site.json("status", "scan")
    found = Documents(
        task, job, packages(site), site.json("status", "scan/1"),
        *(site.json("task", verb, "scan") for verb in ("why", "history")),
        *(site.json(verb, "scan") for verb in ("why", "history")),
    )  # fmt: skip
    whole, done = sum(task["files"].values()), task["files"]["finished"]
    for of in (task, *task["datasets"]):
        for status, number in of["files"].items():
            found.know(number, status)
    found.know(done, "of")
    found.know(whole, "file", "files")
    found.know(task["packages"], "package", "packages")
    found.know(f"{100 * task['goal']:.0f}", "%")
    found.ratios |= {f"{done}/{whole}", f"{done / whole:.0%}"}
    found.ratios.add(f"✘{job['phases']['failed']}")
    found.know_rate(job["stages"][0]["rate"], opened, time.time())
    return found


def test_the_figures_of_the_row_and_the_details_of_a_task_are_in_the_documents(
    tasking: Site, dashboard: Open
) -> None:
    opened = time.time()

    async def script(desk: Desk) -> None:
        await desk.sees("2 of 8 files", "4 packages made", "changes of its status")
        await check(desk, ["about"], lambda: documents(tasking, opened))
        row = next(line for line in desk.lines("tree") if " scan " in line)
        row = re.sub(r" [~>]\d\d:\d\d", "", row)  # an estimate, which goes on with the clock
        now = time.time()
        assert documents(tasking, opened).unexplained(row, now, now) == []
        assert " 2/8 " in row and "2 finished, 4 running, 2 failed" in row

    dashboard(script, home=tasking.home.root, start="scan", size=(520, 100))


def test_the_figures_of_the_list_of_tasks_are_in_the_documents(
    tasking: Site, dashboard: Open
) -> None:
    opened = time.time()

    async def script(desk: Desk) -> None:
        await desk.press("J")
        await desk.sees("2/8", "2 of 8 files", "datasets")
        await check(desk, ["title", "tasklist", "taskabout"], lambda: documents(tasking, opened))

    dashboard(script, home=tasking.home.root, size=(300, 100))


@pytest.mark.parametrize("size", [(60, 24), (120, 40)])
def test_the_figures_of_the_tile_of_a_task_are_in_the_documents(
    tasking: Site, dashboard: Open, size: tuple[int, int]
) -> None:
    opened = time.time()

    def tile() -> Documents:
        found = documents(tasking, opened)
        job = tasking.json("status", "scan")
        found.know(1, "active")
        found.know(job["packages"]["launched"], f"✘{job['phases']['failed']}")
        return found

    async def script(desk: Desk) -> None:
        await desk.press("Z")
        await desk.sees("wall  1 active job", "25%  2/8 files", "▶ 2  ✘1")
        await check(desk, ["title", "wall"], tile)

    dashboard(script, home=tasking.home.root, size=size)
