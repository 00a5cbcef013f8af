"""Whether each figure of a part of the screen is in the documents of a site at work."""

import re
import time
from collections.abc import Callable, Sequence
from typing import Any

from d0ctl.units import moment
from tests.support.figures import Documents
from tests.support.site import Site
from tests.tui.conftest import Desk

LOAD = re.compile(r" load [\d.]+")
"""The load of a machine, which changes by the second, and which `--json` does not have."""


PLOTS = "use  in the last"
"""The heading of the plots, which a card has once it is a minute old: `test_use_figures` compares
them with their samples.
"""


def without_plots(lines: Sequence[str]) -> list[str]:
    """Return lines without the block of plots, which a blank line ends."""
    found: list[str] = []
    is_plot = False
    for line in lines:
        is_plot = line.strip().startswith(PLOTS) or (is_plot and bool(line.strip()))
        found += [] if is_plot else [line]
    return found


def said(site: Site, path: str) -> Documents:
    """What the command line says of a job or of a part of one."""
    job = path.partition("/")[0]
    about = [site.json(verb, path) for verb in ("status", "why", "history")]
    found = Documents(*about, site.json("status", job), site.json("history", job))
    nodes = site.json("node", "list")["nodes"]
    found.ratios.update(f"{node['running']:g}/{node['cpus']}" for node in nodes)
    return found


async def check(desk: Desk, parts: Sequence[str], said: Callable[[], Documents]) -> str:
    """Return what parts of the screen show, once each figure of them is explained."""
    text, wrong = "", ["nothing"]

    def is_explained() -> bool:
        nonlocal text, wrong
        lines = [line for part in parts for line in without_plots(desk.lines(part))]
        text = LOAD.sub("", " ".join(lines))
        wrong = said().unexplained(text, desk.opened, time.time())
        return bool(text.strip()) and not wrong

    try:
        await desk.until(is_explained)
    except AssertionError as error:
        raise AssertionError(f"{parts} show what `--json` does not: {wrong}\n{text}") from error
    return text


def everything(site: Site) -> Documents:
    """What the command line says of all jobs and nodes."""
    jobs = site.json("status")["jobs"]
    nodes = site.json("node", "list")["nodes"]
    histories = [site.json("history", job["job"]) for job in jobs]
    found = Documents(jobs, nodes, histories, packages(site))
    up = sum(node["state"] == "up" for node in nodes)
    found.ratios.add(f"{up}/{len(nodes)}")
    running, cpus = sum(node["running"] for node in nodes), sum(node["cpus"] for node in nodes)
    found.ratios.add(f"{running:g}/{cpus}")
    found.know(sum(job["phases"].get("failed", 0) for job in jobs), "failed")
    return found


def packages(site: Site) -> list[Any]:
    """All packages of the site."""
    return [site.json("status", path) for path in site.phases()]


def times(first: float, last: float) -> set[str]:
    """All times of day between two moments."""
    return {moment(at, last) for at in range(int(first), int(last) + 2)}
