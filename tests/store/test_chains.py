"""Files that failed attempts leave: given to the next one, and removed once unneeded."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from d0ctl.jobfile.spec import OutputSpec
from d0ctl.store import Store, lifecycle, open_store
from d0ctl.store.attempts import messages
from d0ctl.store.nodes import placement
from d0ctl_wrapper.protocol import launch as launches
from tests.support.homes import faults, make_home
from tests.support.jobs import NOW, binary, job, package, phases, stage, submitted
from tests.support.messages import end_message, output
from tests.support.site import Site

EVENTS = {"first": 1, "last": 10, "part": "new"}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """Two nodes, and a package of two binaries launched on one of them."""
    with open_store(make_home(tmp_path / "home")) as store:
        steps = (
            binary(outputs=["a"], check="test -s a", check_timeout=5.0),
            binary("ana", inputs=["a"], outputs=[OutputSpec("b", checksum="md5:" + "0" * 32)],
                   log_rules=({"match": "bad"},), events=EVENTS),
        )  # fmt: skip
        submitted(store, job("all", stage(package(*steps))))
        made = Site.of(store, "farm", cpus=2)
        made.schedule()
        for node in made.nodes.values():
            made.hand_out(node)
        yield made


def where(site: Site) -> Any:
    """The node that has the package."""
    return next(node for node in site.nodes.values() if node.orders)


def launched(site: Site) -> dict[str, Any]:
    """What the last launch says, by way of the wrapper's own check."""
    [order] = [what for kind, what in where(site).orders if kind == "launch"]
    found = launches.check(order)
    assert isinstance(found, dict)
    return found


def kept(through: int = 1) -> dict[str, Any]:
    file = {**output("/farm/cache/1", "a"), "binary": 1, "late": None}
    return {
        "through": through,
        "why": "",
        "supplied": ["x"] * through,
        "files": [file][:through],
        "parts": [],
        "left": [],
        "stored": [],
        "whole": False,
    }


def end(site: Site, attempt: int, *, reason: str | None = "exit-code", **more: Any) -> None:
    """Let an attempt say that it ended."""
    outcome = "failed" if reason else "successful"
    answer: Any = {**end_message(attempt, outcome, reason), **more}
    with site.store.writing():
        messages.apply(site.store, [answer], now=site.now)


def made(attempt: int) -> list[dict[str, Any]]:
    """The outputs of an attempt that went well."""
    return [output(f"/farm/cache/{attempt}", name) for name in ("a", "b")]


def again(site: Site) -> None:
    """Have the failed package tried again, and launched."""
    with site.store.writing():
        site.store.connection.execute(
            "update package set phase = 'ready', node_id = null where phase = 'failed'"
        )
    for node in site.nodes.values():
        node.orders.clear()
    site.schedule()
    for node in site.nodes.values():
        site.hand_out(node)


def purges(store: Store) -> list[tuple[int, str]]:
    return [tuple(row) for row in store.connection.execute("select node_id, path from purge")]


def test_a_launch_has_the_verification_of_its_binaries(site: Site) -> None:
    first, second = launched(site)["binaries"]

    assert (first["check"], first["check_timeout"], first["events"]) == ("test -s a", 5.0, None)
    assert second["outputs"][0]["checksum"] == "md5:" + "0" * 32
    assert second["events"] == EVENTS
    assert second["log_rules"] == [
        {"match": "bad", "reason": "log-message", "passive": False, "required": False}
    ]
    assert launched(site)["previous"] == []


def test_the_next_attempt_on_that_node_gets_the_kept_files(site: Site) -> None:
    node = where(site)
    end(site, 1, retained=kept())
    again(site)

    assert where(site) is node, "the files draw it there"
    assert launched(site)["previous"] == [
        {"attempt": 1, "number": 1, "retained": kept(), "twin": None}
    ]


def test_another_node_gets_no_kept_files(site: Site) -> None:
    node = where(site)
    end(site, 1, retained=kept())
    site.unlink(node)
    again(site)

    assert where(site) is not node
    assert launched(site)["previous"] == []


@pytest.mark.parametrize(("through", "size"), [(0, 0), (1, 1)])
def test_kept_files_count_with_their_size_among_the_inputs(
    site: Site, through: int, size: int
) -> None:
    end(site, 1, retained=kept(through))
    again(site)
    with site.store.writing():
        places = placement.local_bytes(site.store, [1])

    assert set(places[1].values()) == {size * kept()["files"][0]["size"]}


def test_of_a_lost_attempt_only_the_number_is_reported(site: Site) -> None:
    node = where(site)
    with site.store.writing():
        messages.fail(site.store, node.id, [1], reason="lost", message="gone", now=site.now)
    again(site)

    assert where(site) is node
    assert launched(site)["previous"] == [
        {"attempt": 1, "number": 1, "retained": None, "twin": None}
    ]


def test_kept_files_are_removed_when_the_package_succeeds(site: Site) -> None:
    node = where(site)
    end(site, 1, retained=kept())
    assert purges(site.store) == []
    again(site)
    with site.store.writing():
        messages.fail(site.store, node.id, [2], reason="lost", message="gone", now=site.now)
    again(site)
    assert [attempt["number"] for attempt in launched(site)["previous"]] == [1, 2]

    end(site, 3, reason=None, began=2, began_why="attempt 1 left a", events=[], outputs=made(3))
    assert purges(site.store) == [
        (node.id, "cache/1"), (node.id, "cache/2"), (node.id, "attempts/2/work"),
    ]  # fmt: skip
    row = site.store.connection.execute("select began, began_why from attempt where id = 3")
    assert tuple(row.fetchone()) == (2, "attempt 1 left a")
    assert not faults(site.store)


def test_kept_files_are_removed_when_the_package_is_dropped(site: Site) -> None:
    node = where(site)
    end(site, 1, retained=kept())
    with site.store.writing():
        selected = site.store.select([1])
        lifecycle.drop(selected, actor="tester", note=None, now=NOW)

    assert set(phases(site.store).values()) == {"dropped"}
    assert purges(site.store) == [(node.id, "cache/1")]


def test_a_package_that_succeeds_at_once_leaves_nothing_to_clear(site: Site) -> None:
    end(site, 1, reason=None, outputs=made(1))

    assert purges(site.store) == []


def test_a_late_report_of_kept_files_changes_nothing(site: Site) -> None:
    end(site, 1, retained=kept())
    end(site, 1, retained=kept(0), began=2, began_why="no")
    row = site.store.connection.execute("select retained, began_why from attempt where id = 1")

    found = tuple(row.fetchone())
    assert '"through":1' in found[0] and found[1] is None


def test_a_try_that_only_delivers_takes_nothing_of_its_node(tmp_path: Path) -> None:
    with open_store(make_home(tmp_path / "home")) as store:
        both = [package(binary(outputs=[name]), cpus=2, memory=5) for name in ("a", "b")]
        submitted(store, job("all", stage(*both)))
        site = Site.of(store, cpus=2)
        site.schedule()
        [node] = site.nodes.values()
        site.hand_out(node)
        end(site, 1, reason="stage-out", retained={**kept(), "whole": True})
        site.schedule()
        site.hand_out(node)
        assert list(phases(store).values()) == ["failed", "starting"]

        again(site)

        assert list(phases(store).values()) == ["starting", "starting"]
        assert launched(site)["delivers"] is True
        [room] = placement.nodes(store)
        assert (room.used, room.memory_used, room.delivering) == (2, 5, 1)


def test_kept_files_draw_the_next_attempt_to_their_node(site: Site) -> None:
    node = where(site)
    end(site, 1, retained=kept())
    with site.store.writing():
        assert placement.local_bytes(site.store, [1]) == {1: {node.cluster: 7}}


def test_earlier_kept_files_are_removed_once_only_a_transfer_is_left(site: Site) -> None:
    node = where(site)
    end(site, 1, retained=kept())
    again(site)

    end(site, 2, retained={**kept(2), "whole": True})

    assert purges(site.store) == [(node.id, "cache/1")]
    rows = site.store.connection.execute("select retained is null from attempt order by id")
    assert [row[0] for row in rows] == [1, 0]
