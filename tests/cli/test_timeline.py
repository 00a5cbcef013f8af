"""`report timeline`: nodes or lines as rows, time as columns, as in the dashboard."""

import csv
import re
import time
from pathlib import Path

import pytest

from d0ctl.cli.commands.looking.pages import timeline_report
from d0ctl.show.usage.slot_places import places
from d0ctl.store import open_store
from d0ctl.store.attempts import messages
from d0ctl.store.attempts.launching import launches
from d0ctl.store.nodes import contact
from d0ctl.store.views.finding import wide_search
from tests.cli.conftest import Type
from tests.support import rows
from tests.support.building import document, job, line, package, production
from tests.support.live import live
from tests.support.site import Site

T0 = 1_700_000_000.0
"""When the node of packages that lose contact launched them."""


def silent(site: Site) -> None:
    """Five packages ran for a minute; two began with them and ran on when their node went silent,
    half a minute later, and one only waited there.
    """
    site.submit(job(("make", [line(package(f"f{n}")) for n in range(8)])))
    for number in range(1, 6):
        site.finish(f"prod/1/{number}/1")
    for number in (6, 7):
        site.launch(f"prod/1/{number}/1")
    site.send("prod/1/8/1")
    rows.change(site.store, "attempt", launched=T0)
    for number in range(1, 8):
        of = {"package_id": site.id_of(f"prod/1/{number}/1")}
        rows.change(site.store, "attempt", of, started=T0)
        if number < 6:
            rows.change(site.store, "attempt", of, ended=T0 + 60)
    with site.store.writing():
        contact.down(site.store, 1, "no route to host", now=T0 + 30)


def timeline(d0ctl: Type) -> dict[str, dict[str, str]]:
    """The attempts of `report timeline --csv`, by line."""
    printed = csv.DictReader(d0ctl("report", "timeline", "--csv").stdout.splitlines())
    return {row["path"].split("/")[2]: row for row in printed}


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


def test_its_csv_has_the_run_time_of_each_attempt(
    site: Site, d0ctl: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent(site)
    monkeypatch.setattr(timeline_report, "MOST", 1)  # of the page: documents have more
    rows.change(site.store, "attempt", {"package_id": site.id_of("prod/1/2/1")}, suspended=20.0)

    found = {line: row["run_time"] for line, row in timeline(d0ctl).items()}

    assert found == {"1": "60.0", "2": "40.0", "3": "60.0", "4": "60.0", "5": "60.0",
                     "6": "", "7": "", "8": ""}  # fmt: skip


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


@pytest.mark.parametrize("state", ["down", "unknown"])
def test_attempts_on_a_node_that_does_not_answer_take_no_slots(
    site: Site, d0ctl: Type, state: str
) -> None:
    silent(site)
    rows.change(site.store, "node", {"id": 1}, state=state, since=T0 + 3600)

    found = timeline(d0ctl)
    (head, *_) = d0ctl("report", "timeline").stdout.splitlines()
    report = document(d0ctl("report", "timeline", "--json").stdout)

    lost = [(found[n]["ended"], found[n]["contact_lost"], found[n]["straggler"]) for n in "678"]
    assert lost == [("", "2023-11-14T22:13:50.000Z", "no")] * 3
    assert {found[n]["contact_lost"] for n in "12345"} == {""}
    assert head.startswith("slots of nodes  8 attempts in 1 min")
    assert report["end"] == "2023-11-14T22:14:20.000Z"


def test_lost_attempts_took_slots_until_their_node_stopped_answering(
    site: Site, d0ctl: Type
) -> None:
    silent(site)
    with site.store.writing():
        messages.fail(site.store, 1, [6, 7, 8], reason="lost", message="gone", now=T0 + 5400)

    found = timeline(d0ctl)

    assert [(found[n]["outcome"], found[n]["ended"], found[n]["contact_lost"]) for n in "68"] == [
        ("lost", "2023-11-14T23:43:20.000Z", "2023-11-14T22:13:50.000Z")] * 2  # fmt: skip
    assert {row["straggler"] for row in found.values()} == {"no"}
    assert "straggler" not in d0ctl("report", "timeline").stdout
    assert "8 attempts in 1 min" in d0ctl("report", "timeline").stdout
    page = site.home.root / "page.html"
    d0ctl("report", "usage", "--html", str(page))
    assert "prod/1/6/1: lost (lost), 30 s" in page.read_text()
    assert "prod/1/8/1: lost (lost), 0.0 s" in page.read_text()


def test_a_package_that_was_killed_out_of_contact_took_a_slot_until_then(
    site: Site, d0ctl: Type
) -> None:
    silent(site)

    assert d0ctl("kill", "prod/1/6/1", "--yes").exit_code == 0

    found = timeline(d0ctl)["6"]
    assert (found["outcome"], found["contact_lost"], found["straggler"]) == (
        "killed", "2023-11-14T22:13:50.000Z", "no")  # fmt: skip


def test_an_attempt_that_went_on_out_of_contact_ran_until_its_end(site: Site, d0ctl: Type) -> None:
    silent(site)
    with site.store.writing():
        launches.reconcile(site.store, 1, dict.fromkeys((6, 7, 8), "running"), now=T0 + 5400)
        contact.up(site.store, 1, {}, now=T0 + 5400)
    site.end("prod/1/6/1", started=T0, ended=T0 + 6000)
    site.end("prod/1/8/1", started=T0 + 5400, ended=T0 + 5460)

    again = timeline(d0ctl)

    assert {row["contact_lost"] for row in again.values()} == {""}
    assert [again[n]["straggler"] for n in "1678"] == ["no", "yes", "yes", "no"]
