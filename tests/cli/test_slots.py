"""The slots of a node are counted in one way, and worded alike, wherever they are shown."""

from d0ctl.show.card_contents import about_node
from d0ctl.show.cards import node
from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.drawing.signs import UNICODE
from d0ctl.show.drawing.spans import text
from d0ctl.store.attempts.launching import launches
from d0ctl.store.nodes import contact, registry
from d0ctl_tui.draw import strips
from d0ctl_tui.read import snapshot
from tests.cli.conftest import Type
from tests.support import rows
from tests.support.building import job, line, package, production
from tests.support.site import Site

NOW = 100_000.0


def work(site: Site) -> None:
    """Have two packages run, and three assigned, on a node of two slots."""
    site.submit(production(lines=6))
    site.up(cpus=2)
    for number in (1, 2):
        site.launch(f"prod/1/{number}/1")
    for number in (3, 4, 5):
        site.assign(f"prod/1/{number}/1")


def test_running_and_next_packages_are_counted_apart_on_all_screens(
    site: Site, d0ctl: Type
) -> None:
    work(site)

    (strip,) = strips.nodes(snapshot.nodes(site.store), {}, 100, NOW, UNICODE)
    card = Sheet(100)
    contents = about_node(site.store, "localhost", NOW)
    assert isinstance(contents, node.Node)
    node.draw(card, contents, NOW)

    assert "2/2 in use, 3 next" in d0ctl("node", "list").stdout
    assert "`localhost` has 2/2 slots in use, 3 next" in d0ctl("why", "localhost").stdout
    assert " 2/2, 3 next " in d0ctl("top").stdout
    assert " 2/2, 3 next" in text(strip)
    assert 'd0ctl_node_slots_used{node="localhost"} 2.0' in d0ctl("report", "metrics").stdout
    assert any("2/2 slots in use, 3 next" in text(line) for line in card.lines)


def test_slots_of_suspended_packages_are_counted_on_all_screens(site: Site, d0ctl: Type) -> None:
    work(site)
    rows.change(site.store, "package", {"id": site.id_of("prod/1/1/1")}, phase="suspended")

    (strip,) = strips.nodes(snapshot.nodes(site.store), {}, 100, NOW, UNICODE)

    assert "2/2 in use, 1 suspended, 3 next" in d0ctl("node", "list").stdout
    assert "`localhost` has 2/2 slots in use, 1 suspended" in d0ctl("why", "localhost").stdout
    assert " 2/2, 1 suspended, 3 next " in d0ctl("top").stdout
    assert " 2/2, 1 suspended, 3 next" in text(strip)


def test_a_node_that_is_down_has_no_slots_in_use(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=6))
    site.up(cpus=2)
    for number in (1, 2, 3):
        site.launch(f"prod/1/{number}/1")
    with site.store.writing():
        node_id = registry.named(site.store, "localhost").id
        contact.down(site.store, node_id, "connection refused", now=NOW)

    (strip,) = strips.nodes(snapshot.nodes(site.store), {}, 100, NOW, UNICODE)

    assert " 0/2, 3 unreachable" in text(strip)
    assert "0/2 in use, 3 unreachable" in d0ctl("node", "list").stdout
    said = d0ctl("why", "localhost").stdout
    assert "`localhost` has 0/2 slots in use, 3 unreachable: 3 packages of `prod`" in said
    assert " 0/2, 3 unreachable " in d0ctl("top").stdout


def test_packages_that_need_a_part_of_their_cpus_take_parts_of_slots(
    site: Site, d0ctl: Type
) -> None:
    site.submit(job(("copy", [line(package(f"x{n}")) for n in (1, 2, 3)])))
    rows.change(site.store, "requirement", cpu=25)
    site.up(cpus=1)
    for number in (1, 2, 3):
        site.launch(f"prod/1/{number}/1")

    assert "0.75/1 in use" in d0ctl("node", "list").stdout
    assert "has 0.75/1 slots in use: 3 packages of `prod`" in d0ctl("why", "localhost").stdout
    assert " 0.75/1 " in d0ctl("top").stdout


def test_packages_that_are_queued_on_a_node_are_counted_apart_from_running_ones(
    site: Site, d0ctl: Type
) -> None:
    work(site)
    with site.store.writing():
        launches.launch(site.store, [registry.named(site.store, "localhost").id], limit=10, now=NOW)

    for words in (("status",), ("status", "prod"), ("status", "prod/1")):
        assert "2 running  3 queued on nodes" in d0ctl(*words).stdout
    assert "running or queued 5 on localhost" in " ".join(d0ctl("status", "prod").stdout.split())
    assert '"launched": 5' in d0ctl("status", "prod", "--json").stdout
