"""`top`: nodes and packages by use, once or in place on a terminal."""

import time

from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.drawing.spans import text
from d0ctl.show.usage import top_page
from d0ctl.show.usage.top_page import NodeUse
from d0ctl.units import iso
from tests.cli.conftest import Type
from tests.support.building import document, production
from tests.support.live import live
from tests.support.rows import change, insert, value
from tests.support.site import Site


def busy(site: Site) -> None:
    """Two packages on a node: one has used 1.5 CPUs for 100 s, the other reported nothing."""
    site.submit(production())
    attempt = site.launch("prod/1/1/1")
    site.launch("prod/1/2/1")
    with site.store.writing():
        started = value(site.store, "attempt", "started", id=attempt)
        insert(site.store, "progress", package_id=site.id_of("prod/1/1/1"), attempt_id=attempt,
               seq=1, at=started + 100, binary=1, percent=40.0, line="", cpu=150.0,
               rss=2_000_000_000)  # fmt: skip


def test_packages_and_nodes_are_listed_by_use(site: Site, d0ctl: Type) -> None:
    busy(site)

    answer = document(d0ctl("top", "--json").stdout)
    screen = d0ctl("top").stdout

    first, second = answer["packages"]
    assert (first["path"], first["cores"], first["rss"]) == ("prod/1/1/1", 1.5, 2_000_000_000)
    assert (second["path"], second["cores"], second["rss"]) == ("prod/1/2/1", None, None)
    (node,) = answer["nodes"]
    assert (node["given"], node["cores"], node["packages"]) == (2, 1.5, 2)
    assert "2/4" in screen and "40 %" in screen and "\x1b" not in screen


def test_the_disk_of_a_node_and_its_load_are_shown(site: Site, d0ctl: Type) -> None:
    busy(site)
    node, now = value(site.store, "node", "id"), int(time.time())
    change(site.store, "node", facts='{"disk_total": 1000000000, "disk_free": 250000000}')
    for minute in range(10):
        insert(site.store, "node_sample", node_id=node, at=now - 60 * minute,
               load=4.0 if minute < 5 else 0.5)  # fmt: skip

    (answer,) = document(d0ctl("top", "--json").stdout)["nodes"]
    screen = d0ctl("top").stdout

    assert (answer["disk"], answer["disk_free"]) == (1_000_000_000, 250_000_000)
    assert answer["disk_in_use"] == 750_000_000
    assert "750 MB" in screen and "load, 1 h" in screen and "▁█" in screen


def test_with_since_the_document_has_the_samples_of_that_time(site: Site, d0ctl: Type) -> None:
    busy(site)
    node, now = value(site.store, "node", "id"), int(time.time())
    package = site.id_of("prod/1/1/1")
    attempt = value(site.store, "attempt", "id", package_id=package)
    for minutes in (1, 90):
        insert(site.store, "node_sample", node_id=node, at=now - 60 * minutes, load=2.5)
        insert(site.store, "package_sample", package_id=package, attempt_id=attempt,
               at=now - 60 * minutes, cpu=3.0, rss=5)  # fmt: skip

    without = document(d0ctl("top", "--json").stdout)
    hour = document(d0ctl("top", "--since", "1h", "--json").stdout)["samples"]
    day = document(d0ctl("top", "--since", "1d", "--json").stdout)["samples"]

    assert without["samples"] is None
    assert hour["nodes"] == {"localhost": [
        {"at": iso(now - 60), "load": 2.5, "rss": None, "disk_free": None,
         "disk_in_use": None}
    ]}  # fmt: skip
    assert hour["packages"] == {"prod/1/1/1": [{"at": iso(now - 60), "cpu": 3.0, "rss": 5}]}
    assert (len(day["nodes"]["localhost"]), len(day["packages"]["prod/1/1/1"])) == (2, 2)
    assert "load, 6 h" in d0ctl("top", "--since", "6h").stdout
    assert d0ctl("top", "--since", "x").exit_code == 2


def test_a_narrow_page_has_all_numbers_and_no_plot() -> None:
    page = Sheet(80)
    node = NodeUse(
        "localhost", "drained", 16, 12.0, 11.5, 10**10, 10**11, 12, 10**12, 10**10, 99 * 10**10
    )

    top_page.draw(page, [node], [], {"localhost": [(1000.0, 1.0)]}, 1000.0)

    shown = "\n".join(map(text, page.lines))
    assert "load, 1 h" not in shown and "…" not in shown
    assert "990 GB" in shown and " 12" in shown


def test_without_packages_it_says_so(site: Site, d0ctl: Type) -> None:
    site.up()

    assert "no package is on a node" in d0ctl("top").stdout


def test_on_a_terminal_it_stays_until_q(site: Site) -> None:
    busy(site)

    with live("top") as screen:
        screen.expect("prod/1/1/1")
        site.end("prod/1/2/1")
        screen.expect("1/4")
        screen.press("q")

        assert screen.end() == 0
        assert "\x1b[2J" not in screen.raw
