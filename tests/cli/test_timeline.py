"""`report timeline`: nodes or lines as rows, time as columns, as in the dashboard."""

import csv
import re
import time
from pathlib import Path

from d0ctl.show.usage.slot_places import places
from d0ctl.store import open_store
from d0ctl.store.views.finding import wide_search
from tests.cli.conftest import Type
from tests.support import rows
from tests.support.building import document, production
from tests.support.live import live
from tests.support.site import Site


def ran(site: Site) -> None:
    """Two packages beside each other, an hour each, and a failed one after the first of them."""
    site.submit(production())
    now = time.time()
    for path in ("prod/1/1/1", "prod/1/3/1"):
        site.finish(path)
    site.fail("prod/1/2/1")
    spans = {"prod/1/1/1": (10, 6), "prod/1/3/1": (10, 5), "prod/1/2/1": (4, 1)}
    for path, (begin, end) in spans.items():
        began = now - 600 * begin
        rows.change(site.store, "attempt", {"package_id": site.id_of(path)}, launched=began,
                    started=began, ended=now - 600 * end)  # fmt: skip


def test_an_attempt_takes_the_first_slot_that_is_free() -> None:
    assert places([(0.0, 4.0), (1.0, 2.0), (2.0, 3.0), (4.0, 5.0)]) == [0, 1, 1, 0]
    assert places([]) == []


def test_nodes_have_a_row_for_each_slot(site: Site, d0ctl: Type) -> None:
    ran(site)

    head, axis, first, second, legend = d0ctl("report", "timeline").stdout.splitlines()

    assert head.startswith("slots of nodes  3 attempts in 1 h 30 min")
    assert "│" in axis
    assert first.startswith(" localhost") and "█" in first and "▒" in first
    assert "█" in second and "▒" not in second
    assert legend.startswith("█ ran  ▒ failed")
    assert max(map(len, (axis, first, second))) <= 100


def test_a_job_has_a_row_for_each_line(site: Site, d0ctl: Type) -> None:
    ran(site)

    lines = d0ctl("report", "timeline", "prod").stdout.splitlines()

    assert lines[0].startswith("lines of prod")
    assert [line.split()[0] for line in lines[2:5]] == ["1/1", "1/2", "1/3"]
    assert "▒" in lines[3]


def test_its_document_has_each_attempt_in_its_row(site: Site, d0ctl: Type) -> None:
    ran(site)

    nodes = document(d0ctl("report", "timeline", "--json").stdout)
    job = document(d0ctl("report", "timeline", "prod", "--json").stdout)

    assert [(row["row"], row["slot"], [each["path"] for each in row["attempts"]])
            for row in nodes["rows"]] == [
        ("localhost", 1, ["prod/1/1/1", "prod/1/2/1"]), ("localhost", 2, ["prod/1/3/1"]),
    ]  # fmt: skip
    attempts = [each for row in nodes["rows"] for each in row["attempts"]]
    assert nodes["begin"] == min(attempt["launched"] for attempt in attempts)
    assert nodes["end"] == max(attempt["ended"] for attempt in attempts)
    assert [attempt["outcome"] for attempt in attempts] == ["successful", "failed", "successful"]
    assert [(row["row"], row["slot"]) for row in job["rows"]] == [
        ("1/1", None), ("1/2", None), ("1/3", None),
    ]  # fmt: skip
    assert (job["job"], nodes["job"]) == ("prod", None)


def test_its_csv_has_a_line_for_each_attempt_of_its_document(site: Site, d0ctl: Type) -> None:
    ran(site)
    site.launch("prod/1/1/2")

    printed = list(csv.DictReader(d0ctl("report", "timeline", "--csv").stdout.splitlines()))
    report = document(d0ctl("report", "timeline", "--json").stdout)

    attempts = [{"row": row["row"], "slot": row["slot"], **each}
                for row in report["rows"] for each in row["attempts"]]  # fmt: skip
    words = {None: "", True: "yes", False: "no"}
    assert printed == [
        {key: words[value] if value is None or value is True or value is False else str(value)
         for key, value in attempt.items()}
        for attempt in attempts
    ]  # fmt: skip
    assert [one["ended"] for one in printed].count("") == 1
    refused = d0ctl("report", "timeline", "--csv", "--json")
    assert (refused.exit_code, refused.stderr) == (
        2,
        "d0ctl: one of `--csv` and `--json`\nd0ctl report timeline --help\n",
    )


def test_on_a_terminal_it_is_as_wide_as_that(site: Site) -> None:
    ran(site)

    with live("report", "timeline", columns=140) as screen:
        screen.expect("slots of nodes")

        assert screen.end() == 0
        lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in screen.raw.splitlines()]
        assert 110 < max(map(len, lines)) <= 140


def test_without_attempts_and_for_a_stage_it_says_so(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    assert "nothing has run yet" in d0ctl("report", "timeline").stdout
    refused = d0ctl("report", "timeline", "prod/1")
    assert (refused.exit_code, "`prod/1` is not one job" in refused.stderr) == (2, True)


def test_attempts_before_a_restore_are_still_among_the_latest(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    ran(site)
    d0ctl("backup", str(tmp_path / "saved.db"))
    site.store.close()
    d0ctl("restore", str(tmp_path / "saved.db"), "--yes")

    with open_store(site.store.home) as store:
        Site.of(store).launch("prod/1/1/2")
        assert rows.value(store, "attempt", "max(id)") > 2**40
        found = list(wide_search.search(store, wide_search.patterns("localhost")[0]))
        assert len(wide_search.ran_on(store, "localhost")) == 4
    head = d0ctl("report", "timeline").stdout.splitlines()[0]

    assert head.startswith("slots of nodes  4 attempts in ")
    assert len(found) < 20
