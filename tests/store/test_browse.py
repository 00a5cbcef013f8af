"""What is shown is read in bounded time, and read right."""

import json
import re
import time
from collections import defaultdict
from importlib.resources import files
from typing import Any

import pytest

from d0ctl.errors import NotFound
from d0ctl.model import Phase
from d0ctl.select import parse
from d0ctl.store.nodes.standstill import is_settled
from d0ctl.store.views import browse, one_package, search, selection
from tests.support.building import job, line, package, production
from tests.support.rows import change
from tests.support.site import Site

LARGE = "package|input|file|attempt|event|binary|line|chosen"
"""Tables that grow with the jobs; `chosen` is what was asked for."""


def browse_queries() -> list[str]:
    """The names of what screens and `why` ask."""
    folder = files("d0ctl_sql") / "queries"
    text = "\n".join((folder / f"{name}.sql").read_text() for name in ("browse", "explain"))
    return re.findall(r"^-- name: (\w+)$", text, re.MULTILINE)


@pytest.mark.parametrize("name", browse_queries())
def test_no_screen_scans_a_table_that_grows(site: Site, name: str) -> None:
    parameters: defaultdict[str, str] = defaultdict(lambda: "[]")
    text = site.store._queries[name]
    plan = site.store.connection.execute(f"explain query plan {text}", parameters).fetchall()

    scans = [row["detail"] for row in plan if re.match(rf"SCAN ({LARGE})\b", row["detail"])]
    allowed = ("SCAN chosen", "USING INDEX attempt_failed", "USING COVERING INDEX attempt_failed",
                   "USING INDEX package_live")  # fmt: skip
    assert [scan for scan in scans if not any(word in scan for word in allowed)] == []


def test_the_counts_of_a_job_are_its_packages(site: Site) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    site.fail("prod/1/2/1")

    found = browse.job(site.store, "prod")

    assert found.counts == {"done": 1, "failed": 1, "ready": 2, "waiting": 4}
    assert found.packages == 8
    assert found.status == "submitted"
    assert [stage.status for stage in browse.stages(site.store, found)] == ["submitted"] * 3


def test_a_job_is_blocked_once_only_a_person_can_help(site: Site) -> None:
    site.submit(production(lines=1))
    assert not browse.job(site.store, "prod").blocked

    site.fail("prod/1/1/1")

    found = browse.job(site.store, "prod")
    assert found.blocked
    assert found.status == "failed"
    assert is_settled(site.store, found.id)


def test_a_job_that_waits_for_another_is_not_blocked(site: Site) -> None:
    site.submit(production("first", lines=1))
    site.submit(job(("a", [line(package("y", needs=["first:all"]))]), name="second"))

    found = browse.job(site.store, "second")

    assert not found.blocked
    assert not is_settled(site.store, found.id)


def test_a_selector_chooses_the_packages_that_it_means(site: Site) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")

    def chosen(text: str, **filters: Any) -> list[str]:
        selected = selection.choose(site.store, parse(text, **filters), now=time.time())
        return [row.path for row in selection.packages(selected)]

    assert chosen("prod/1/2-3/1") == ["prod/1/2/1", "prod/1/3/1"]
    assert chosen("prod/merge") == ["prod/2/1/1"]
    assert chosen("p*/*/1/1") == ["prod/1/1/1", "prod/2/1/1", "prod/3/1/1"]
    assert chosen("prod:failed,ready") == ["prod/1/1/1", "prod/1/2/1", "prod/1/3/1"]
    assert chosen("prod/1/*:failed") == chosen("prod", reason="exit-code")
    assert len(chosen("*")) == 8


def test_nothing_chosen_is_not_found(site: Site) -> None:
    site.submit(production())

    for text in ("prod:failed", "prod/1/4-9", "prod/4-5/1"):
        with pytest.raises(NotFound):
            selection.choose(site.store, parse(text), now=time.time())
    failed = selection.choose(site.store, parse("prod:failed"), now=time.time(), lenient=True)
    assert failed.count() == 0


def test_failures_come_the_latest_first_and_bounded(site: Site) -> None:
    site.submit(production(lines=4))
    for number in (2, 1, 3):
        site.fail(f"prod/1/{number}/1")
    found = browse.job(site.store, "prod")

    paths = [failure.path for failure in browse.failures(site.store, found.id, 2)]

    assert paths == ["prod/1/3/1", "prod/1/1/1"]


def test_samples_are_bounded(site: Site) -> None:
    site.submit(production(lines=5))
    found = browse.job(site.store, "prod")

    rows = browse.in_phases(site.store, found.id, [Phase.READY], 2)

    assert [row.path for row in rows] == ["prod/1/1/1", "prod/1/2/1"]


def test_a_file_that_is_found_exists_or_was_removed_or_is_not_made_yet(site: Site) -> None:
    site.submit(production(lines=3))
    site.finish("prod/1/1/1")
    site.finish("prod/1/2/1")
    change(site.store, "file", {"name": "gen-2"}, present=0)

    found = search.files(site.store, [browse.job(site.store, "prod").id], "gen-")

    states = {match.name: match.about for match in found}
    assert states == {"gen-1": "exists", "gen-2": "removed", "gen-3": "not made yet"}


def test_missing_inputs_are_listed_first(site: Site) -> None:
    site.submit(production(lines=8))
    site.finish("prod/1/3/1")
    site.finish("prod/1/3/2")

    shown = one_package.inputs(site.store, site.id_of("prod/2/1/1"), 3)

    assert [output.present for output in shown] == [0, 0, 0]
    assert len(one_package.inputs(site.store, site.id_of("prod/2/1/1"))) == 8


def test_outputs_tell_where_their_copies_are(site: Site) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")

    (output,) = one_package.outputs(site.store, site.id_of("prod/1/1/1"))

    assert output.copies == ["control:/tmp/base/cache/1/gen-1"]
    assert json.loads(output.places) == output.copies


def test_a_job_knows_what_it_makes(site: Site) -> None:
    site.submit(production())

    assert browse.produces(site.store, "prod", "all") is True
    assert browse.produces(site.store, "prod", "none") is False
    assert browse.produces(site.store, "nojob", "all") is None
