"""Plots of the use of nodes and packages over time, in their cards."""

import re

from d0ctl.show.card_contents import about, about_node
from d0ctl.show.cards import node, package
from d0ctl.show.cards.node import Node
from d0ctl.show.cards.package import Package
from d0ctl.show.drawing.plot import bars, resampled
from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.drawing.signs import ASCII, UNICODE
from d0ctl.show.drawing.spans import text
from tests.support import rows
from tests.support.building import job, line, production
from tests.support.building import package as package_of
from tests.support.site import Site


def test_a_value_holds_back_to_the_one_before_it_but_not_over_a_gap() -> None:
    points = [(10.0, 1.0), (20.0, 4.0), (60.0, 2.0)]

    assert resampled(points, 0.0, 60.0, 6, 100.0) == [1.0, 4.0, 4.0, 2.0, 2.0, 2.0]
    assert resampled(points, 0.0, 60.0, 6, 10.0) == [1.0, 4.0, 4.0, None, None, 2.0]


def test_full_bars_are_the_top_and_unknown_values_blank() -> None:
    assert bars([0.0, 1.0, 2.0, None, 4.0], 4.0, UNICODE) == "▁▂▄ █"
    assert bars([0.0, 4.0], 4.0, ASCII) == "_#"
    assert bars([0.0], 0.0, UNICODE) == "▁"


def test_a_node_shows_load_memory_and_disk_over_time(site: Site) -> None:
    site.submit(production())
    now, id = 100_000, rows.value(site.store, "node", "id")
    rows.change(site.store, "node", facts='{"disk_total": 1000000000, "disk_free": 1}',
                memory=4_000_000_000, cpus=4)  # fmt: skip
    for minute in range(61):
        rows.insert(site.store, "node_sample", node_id=id, at=now - 60 * minute, load=2.0,
                    rss=1_000_000_000, disk_in_use=750_000_000)  # fmt: skip

    card = about_node(site.store, "localhost", float(now))
    assert isinstance(card, Node)
    sheet = Sheet(100)
    node.draw(sheet, card, float(now))
    shown = "\n".join(map(text, sheet.lines))

    assert "use  in the last 1 h" in shown
    assert "2 of 4, most 2" in shown
    assert "1.0 GB of 4.0 GB, most 1.0 GB" in shown
    assert "750 MB of 1.0 GB, most 750 MB" in shown


def test_the_load_that_a_node_reported_last_is_in_its_plot(site: Site) -> None:
    site.submit(production())
    now, id = 100_000, rows.value(site.store, "node", "id")
    rows.change(site.store, "node", state="up", contact=now - 5, load=3.5, cpus=4)
    for minute in (1, 2, 3):
        rows.insert(site.store, "node_sample", node_id=id, at=now - 60 * minute, load=1.0)

    card = about_node(site.store, "localhost", float(now))
    assert isinstance(card, Node)
    sheet = Sheet(100)
    node.draw(sheet, card, float(now))
    shown = "\n".join(map(text, sheet.lines))

    assert "load 3.5 then" in shown
    assert "3.5 of 4, most 3.5" in shown


def test_a_running_package_shows_its_cpus_between_reports(site: Site) -> None:
    site.submit(production())
    attempt = site.launch("prod/1/1/1")
    id, started = site.id_of("prod/1/1/1"), 1000.0
    rows.change(site.store, "attempt", {"id": attempt}, started=started)
    rows.insert(site.store, "progress", package_id=id, attempt_id=attempt, seq=1, at=1120.0,
                binary=1, line="", cpu=180.0, rss=3_000_000)  # fmt: skip
    for at, cpu, rss in ((1060, 60.0, 1_000_000), (1120, 180.0, 3_000_000)):
        rows.insert(site.store, "package_sample", package_id=id, attempt_id=attempt, at=at,
                    cpu=cpu, rss=rss)  # fmt: skip

    shown = use_of(site, "prod/1/1/1")

    assert "use  in the last 2 min" in shown
    assert "2 of 1, most 2" in shown
    assert "▄█" in shown


def test_the_memory_of_a_package_that_requests_none_has_figures_and_no_bars(site: Site) -> None:
    site.submit(job(("make", [line(package_of("x", memory=8_000_000)), line(package_of("y"))])))
    for path in ("prod/1/1/1", "prod/1/2/1"):
        attempt, id = site.launch(path), site.id_of(path)
        rows.change(site.store, "attempt", {"id": attempt}, started=1000.0)
        rows.insert(site.store, "progress", package_id=id, attempt_id=attempt, seq=1, at=1120.0,
                    binary=1, line="", cpu=60.0, rss=2_000_000)  # fmt: skip
        for at, rss in ((1060, 4_000_000), (1120, 2_000_000)):
            rows.insert(site.store, "package_sample", package_id=id, attempt_id=attempt, at=at,
                        cpu=60.0, rss=rss)  # fmt: skip

    requested, free = (use_of(site, path) for path in ("prod/1/1/1", "prod/1/2/1"))

    assert re.search(r"memory +[▁-█]+ +2.0 MB of 8.0 MB, most 4.0 MB", requested)
    assert re.search(r"memory +2.0 MB, most 4.0 MB", free)


def use_of(site: Site, path: str) -> str:
    """The card of a package."""
    card = about(site.store, path, 1120.0)
    assert isinstance(card, Package)
    sheet = Sheet(80)
    package.draw(sheet, card, 1120.0)
    return "\n".join(map(text, sheet.lines))
