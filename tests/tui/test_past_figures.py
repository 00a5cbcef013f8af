"""Each figure of the past is what the histories say of that moment, on a site at work."""

import time
from collections import Counter
from datetime import datetime
from typing import Any

from d0ctl.model import by_status
from tests.support.figures import Documents
from tests.support.site import Site
from tests.support.waiting import wait_until
from tests.tui.conftest import Desk, Open
from tests.tui.figure_checks import check, packages


def seconds(text: str) -> float:
    """A time of a document."""
    return datetime.fromisoformat(text).timestamp()


Histories = dict[str, list[tuple[float, str, str]]]


def histories(site: Site) -> Histories:
    """The changes of phase of each package: when, from, to."""
    return {path: [(seconds(event["at"]), event["from"], event["to"])
                   for event in site.json("history", path)["events"]]
            for path in site.phases()}  # fmt: skip


def counts(site: Site, histories: Histories, job: str, at: float) -> Counter[str]:
    """How many packages of a job were in each phase at a moment, by their histories."""
    found: Counter[str] = Counter()
    for path, events in histories.items():
        if path.partition("/")[0] == job:
            earlier = [new for when, _, new in events if when <= at]
            found[earlier[-1] if earlier else events[0][1] if events else site.phase(path)] += 1
    return found


def quiet_second(site: Site, histories: Histories) -> float:
    """A whole second of the past without a change close to it, when a package was failed.

    That is also one of the two seconds after the last change.
    """
    every = sorted(at for events in histories.values() for at, _, _ in events)
    quiet = next(
        float(at) for at in range(int(every[0]) + 1, int(every[-1]) + 3)
        if all(abs(at - one) > 0.05 for one in every)
        and counts(site, histories, "reco", at)["failed"] == 1
    )  # fmt: skip
    wait_until(lambda: time.time() > quiet, what="it is past")
    return quiet


def at_that_time(site: Site, job: str, phases: Counter[str]) -> Documents:
    """What the documents say of a job then: its packages by status and phase, and its history."""
    card = site.json("status", job)
    then: dict[str, Any] = {
        "packages": {str(status): n for status, n in by_status(phases).items()},
        "phases": dict(phases),
    }
    for key in ("submitted", "originator", "priority", "title", "stages"):
        then[key] = card[key]
    return Documents(then, site.json("history", job), packages(site))


def test_the_figures_of_a_past_moment_are_those_of_the_histories(
    busy: Site, dashboard: Open
) -> None:
    known = histories(busy)
    at = quiet_second(busy, known)
    reco = counts(busy, known, "reco", at)

    async def script(desk: Desk) -> None:
        await desk.press("at")
        await desk.type(time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at)))
        await desk.press("enter")
        await desk.sees("as it was", time.strftime("%H:%M:%S", time.localtime(at)))
        header = desk.lines("header")[0]
        assert f"✘ {reco['failed']} failed" in header
        done = f" {reco['done']}/{sum(reco.values())} "
        await desk.until(lambda: done in next(line for line in desk.lines("tree")
                                              if " reco " in line), done)  # fmt: skip
        await check(desk, ["about"], lambda: at_that_time(busy, "reco", reco))

    dashboard(script, home=busy.home.root, start="reco", size=(300, 60))
