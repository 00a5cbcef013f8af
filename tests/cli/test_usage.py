"""What attempts took: success, waste, efficiency, waits and throughput."""

import csv
import os
import re
import time
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from d0ctl.show.usage import timeline
from d0ctl.store.attempts import messages
from d0ctl.store.attempts.launching import launches
from d0ctl.store.nodes import contact
from d0ctl.store.views.usage import NodeStay
from tests.cli.conftest import Type
from tests.support import rows
from tests.support.building import document, job, line, package
from tests.support.site import Site

T0 = 0.0
"""Two hours ago."""


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tell the time of each test: all of them may take an hour."""
    monkeypatch.setattr(f"{__name__}.T0", time.time() - 7200)


def used(site: Site) -> None:
    """Three packages of two CPUs: two succeeded within an hour each, one failed after half."""
    site.submit(job(("make", [line(package(f"f-{n}", cpus=2)) for n in (1, 2, 3)])))
    for n in (1, 2):
        site.launch(f"prod/1/{n}/1")
        site.end(f"prod/1/{n}/1", cpu=5400.0)
    site.fail("prod/1/3/1", cpu=1800.0)
    rows.change(site.store, "job", {"name": "prod"}, submitted=T0 - 60)
    for n, length in ((1, 3600), (2, 3600), (3, 1800)):
        rows.change(site.store, "attempt", {"package_id": site.id_of(f"prod/1/{n}/1")},
                    launched=T0, started=T0, ended=T0 + length)  # fmt: skip


def test_each_group_of_the_usage_report_has_its_figures(d0ctl: Type, site: Site) -> None:
    used(site)

    answer = document(d0ctl("report", "usage", "--json").stdout)

    expected = {
        "attempts": 3, "successful": 2, "failed": 1, "success": 0.6667, "mean_run": 3600.0,
        "shortest_run": 3600.0, "longest_run": 3600.0, "reserved_cpu_hours": 5.0,
        "cpu_hours": 3.5, "wasted_cpu_hours": 0.5, "efficiency": 0.7, "mean_wait": 60.0,
        "longest_wait": 60.0, "per_hour": 2.0,
    }  # fmt: skip
    assert answer["failures"] == [{"reason": "exit-code", "count": 1}]
    names = {"node": "localhost", "researcher": "me@here", "job": "prod", "stage": "prod/1 make"}
    for group, name in names.items():
        (one,) = answer[f"by_{group}"]
        assert one[group] == name
        assert one.items() >= expected.items()


@pytest.mark.parametrize("returns", [False, True])
def test_a_lost_attempt_has_run_until_its_node_stopped_answering(
    d0ctl: Type, site: Site, returns: bool
) -> None:
    site.submit(job(("make", [line(package("f"))])))
    attempt = site.launch("prod/1/1/1")
    rows.change(site.store, "attempt", {"id": attempt}, launched=T0, started=T0)
    with site.store.writing():
        contact.down(site.store, 1, "no route to host", now=T0 + 1800)
    with site.store.writing():
        if returns:
            launches.reconcile(site.store, 1, {}, now=T0 + 5400)
        messages.fail(site.store, 1, [attempt], reason="platform-failure", message="no contact",
                      now=T0 + 5400)  # fmt: skip

    total = document(d0ctl("report", "usage", "--json").stdout)["total"]
    failures = document(d0ctl("report", "failures", "--json").stdout)

    assert (total["failed"], total["wasted_cpu_hours"], failures["cpu_hours"]) == (1, 0.5, 0.5)


def test_an_attempt_that_is_lost_after_its_node_answered_again_has_run_until_then(
    d0ctl: Type, site: Site
) -> None:
    site.submit(job(("make", [line(package("f"))])))
    attempt = site.launch("prod/1/1/1")
    rows.change(site.store, "attempt", {"id": attempt}, launched=T0, started=T0)
    with site.store.writing():
        contact.down(site.store, 1, "no route to host", now=T0 + 1800)
        launches.reconcile(site.store, 1, {attempt: "running"}, now=T0 + 3600)
        messages.fail(site.store, 1, [attempt], reason="platform-failure", message="gone",
                      now=T0 + 5400)  # fmt: skip

    total = document(d0ctl("report", "usage", "--json").stdout)["total"]

    assert total["wasted_cpu_hours"] == 1.5


def test_the_usage_of_short_packages_is_not_rounded_to_nothing(d0ctl: Type, site: Site) -> None:
    site.submit(job(("make", [line(package("f"))])))
    site.launch("prod/1/1/1")
    site.end("prod/1/1/1", cpu=0.09)

    total = document(d0ctl("report", "usage", "--json").stdout)["total"]

    assert total["cpu_hours"] * 3600 == pytest.approx(0.09)


def test_software_usage_is_the_sum_of_its_binaries(d0ctl: Type, site: Site) -> None:
    site.submit(job(("make", [line(package("f"))])))
    rows.change(site.store, "binary", {"package_id": site.id_of("prod/1/1/1")},
                software="reco/v1")  # fmt: skip
    ran = {"binary": 1, "started": T0, "ended": T0 + 3600, "exit_code": 3, "signal": None,
           "cpu": 2700.0, "rss": 1}  # fmt: skip
    site.fail("prod/1/1/1", binaries=[ran])

    (one,) = document(d0ctl("report", "usage", "--by", "software", "--json").stdout)["by_software"]

    assert (one["software"], one["attempts"], one["failed"]) == ("reco/v1", 1, 1)
    assert (one["efficiency"], one["wasted_cpu_hours"], one["mean_wait"]) == (0.75, 0.75, None)


def test_the_same_attempts_have_the_same_rate_by_software_and_by_node(
    d0ctl: Type, site: Site
) -> None:
    site.submit(job(("make", [line(package("f")), line(package("g"))])))
    rows.change(site.store, "binary", {"seq": 1}, software="reco/v1")
    for n in (1, 2):
        ran = {"binary": 1, "started": T0 + 600 * n, "ended": T0 + 900 * n, "exit_code": 0,
               "signal": None, "cpu": 1.0, "rss": 1}  # fmt: skip
        site.launch(f"prod/1/{n}/1")
        site.end(f"prod/1/{n}/1", binaries=[ran])
        rows.change(site.store, "attempt", {"package_id": site.id_of(f"prod/1/{n}/1")},
                    launched=T0, started=T0, ended=T0 + 3600)  # fmt: skip

    answer = document(d0ctl("report", "usage", "--json").stdout)

    assert answer["by_node"][0]["per_hour"] == answer["by_software"][0]["per_hour"] == 2.0


@pytest.mark.parametrize(
    ("words", "attempts"),
    [(("prod/1/1-2",), 2), (("--since", "80m"), 2), (("--since", "5m"), 0), (("prod:failed",), 1)],
)
def test_a_selector_and_a_time_narrow_it(
    d0ctl: Type, site: Site, words: tuple[str, ...], attempts: int
) -> None:
    used(site)

    assert (
        document(d0ctl("report", "usage", *words, "--json").stdout)["total"]["attempts"] == attempts
    )


def test_csv_has_a_row_for_each_name_of_each_group(d0ctl: Type, site: Site) -> None:
    used(site)

    found = list(csv.DictReader(d0ctl("report", "usage", "--csv").stdout.splitlines()))

    assert [(row["by"], row["name"]) for row in found] == [
        ("node", "localhost"), ("researcher", "me@here"), ("job", "prod"),
        ("stage", "prod/1 make"),
    ]  # fmt: skip
    assert {row["efficiency"] for row in found} == {"0.7"}


def test_people_read_tables_or_that_nothing_has_ended(d0ctl: Type, site: Site) -> None:
    assert d0ctl("report", "usage").stdout == "no attempt has ended\n"
    recent = d0ctl("report", "usage", "--since", "2h").stdout
    assert recent == "no attempt has ended in the last 2 h 00 min\n"

    used(site)

    answer = d0ctl("report", "usage").stdout
    assert re.search(
        r"localhost +3 +67% +1 h 00 min +1 h 00 min +5 h 00 min +3 h 30 min +30 min 00 s +70% "
        r"+1 min 00 s +1 min 00 s +2\.0",
        answer,
    )
    assert "software" not in answer


@pytest.mark.parametrize(
    ("words", "says"),
    [(("--csv", "--json"), "one of"), (("--by", "moon"), "not one of node, software"),
     (("--since", "soon"), "--since"), (("--since", "7"), "did you mean `7d`?")],
)  # fmt: skip
def test_an_impossible_report_is_refused_in_one_line(
    d0ctl: Type, site: Site, words: tuple[str, ...], says: str
) -> None:
    answer = d0ctl("report", "usage", *words)

    assert (answer.exit_code, says in answer.stderr) == (2, True)


class Outside(HTMLParser):
    """What a page takes from elsewhere or runs."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Any]]) -> None:
        """Note scripts, links and whatever has an address."""
        if tag in ("script", "link", "iframe", "object") or {"src", "href"} & dict(attrs).keys():
            self.found.append(tag)


def plots(text: str) -> list[ET.Element]:
    """The plots of a page."""
    return [ET.fromstring(one) for one in re.findall(r"<svg.*?</svg>", text, re.DOTALL)]


def test_the_html_page_has_plots_and_loads_nothing(d0ctl: Type, site: Site, tmp_path: Path) -> None:
    used(site)
    rows.change(site.store, "stage", {"name": "make"}, name="<script>alert(1)</script>")
    path = tmp_path / "week.html"

    assert d0ctl("report", "usage", "prod", "--html", str(path)).stdout == f"wrote {path}\n"

    text = path.read_text()
    outside = Outside()
    outside.feed(text)
    assert outside.found == []
    assert "url(" not in text and "@import" not in text
    assert "<span>successful, without killed ones</span>" in text
    assert '<div class="wide"><svg' in text, "it scrolls sideways, so that its texts stay legible"
    over_time, *rest = plots(text)
    assert [one.text for one in over_time.iter("title")] == [
        "localhost: 3 attempts", "prod/1/3/1: failed (exit-code), 30 min 00 s",
        "prod/1/1/1: successful, 1 h 00 min", "prod/1/2/1: successful, 1 h 00 min",
    ]  # fmt: skip
    assert len(rest) == 4


def test_the_usage_report_says_that_wasted_time_may_be_run_time(d0ctl: Type, site: Site) -> None:
    used(site)
    note = "or their run time if their CPU time is not known"

    assert note in " ".join(d0ctl("report", "usage").stdout.split())
    assert note not in d0ctl("report", "usage", "prod/1/1-2").stdout


def test_a_page_that_can_not_be_written_is_refused(d0ctl: Type, site: Site) -> None:
    used(site)

    answer = d0ctl("report", "usage", "--html", "/nowhere/week.html")

    assert (answer.exit_code, "can't write `/nowhere/week.html`" in answer.stderr) == (4, True)


def test_metrics_leave_links_and_pipes_in_their_place(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    page, link, pipe = (tmp_path / name for name in ("d0ctl.prom", "link", "pipe"))
    page.write_text("old")
    link.symlink_to(page)
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

    written = [d0ctl("report", "metrics", "-o", str(output)).exit_code for output in (link, pipe)]
    received = os.read(reader, 65536)
    os.close(reader)

    assert written == [0, 0]
    assert (link.is_symlink(), pipe.is_fifo()) == (True, True)
    assert "# HELP" in page.read_text() and b"# HELP" in received
    assert {path.name for path in tmp_path.iterdir() if path.is_file()} == {"d0ctl.prom", "link"}


def test_attempts_at_a_time_are_in_slots_of_their_own() -> None:
    stays = [NodeStay("n", 0, 10, 1, "successful", None, "a"),
             NodeStay("n", 5, 15, 1, "lost", None, "b"),
             NodeStay("n", 10, 20, 1, "failed", "signal", "c")]  # fmt: skip

    shapes = [one for one in ET.fromstring(timeline.svg(stays)).iter("rect") if len(one)]

    a, b, c = (float(shape.attrib["y"]) for shape in shapes if shape.attrib.get("fill"))
    assert a == c < b


def test_many_attempts_are_drawn_as_the_cpus_in_use() -> None:
    stays = [NodeStay("n", n, n + 2, 4, "successful", None, "a") for n in range(5_000)]

    found = ET.fromstring(timeline.svg(stays))

    assert len(list(found.iter("polygon"))) == 1
    assert [one.text for one in found.iter("title")] == [
        "n: 5,000 attempts", "at most 8.0 CPUs in use",
    ]  # fmt: skip
