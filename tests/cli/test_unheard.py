"""Launched packages while no daemon runs: nobody knows what became of them."""

import json
import time

import pytest

from d0ctl.store.nodes import contact
from d0ctl.store.nodes.holder import holder
from d0ctl.units import moment
from tests.cli.conftest import Type
from tests.cli.test_check import drive
from tests.support.jobs import binary, job, package
from tests.support.rows import change, insert, value
from tests.support.site import Site


def test_without_a_daemon_a_package_was_running_when_its_node_was_last_heard(
    site: Site, d0ctl: Type
) -> None:
    site.up()
    site.submit(job("prod", [package(binary(runtime=3.0))]))
    attempt = site.launch("prod/1/1/1")
    with site.store.writing():
        change(site.store, "attempt", {"id": attempt}, started=time.time() - 3600)

    for words in (("why", "prod/1/1/1"), ("status", "prod/1/1/1")):
        said = " ".join(d0ctl(*words).stdout.split())
        assert "was running on `localhost` when that was last heard, at " in said
        assert "no daemon is running, so it is not known whether it has ended since" in said
        assert "d0ctl daemon start" in said
        assert "d0ctl kill" not in said and "straggler" not in said and "later than" not in said
    drive(site)
    assert "has been running on `localhost` for 1 h 00 min" in d0ctl("why", "prod/1/1/1").stdout


def unheard(site: Site) -> None:
    """A package had run for 10 s when its node was last heard, an hour ago."""
    site.up()
    site.submit(job("prod", [package(binary(runtime=3.0), name="1")]))
    attempt, heard = site.launch("prod/1/1/1"), time.time() - 3600
    site.tell({"attempt": attempt, "kind": "progress", "seq": 2, "time": heard, "binary": 1,
               "done": 2.0, "total": 3.0, "percent": 66.0, "line": "event 2", "eta": heard + 7200,
               "cpu": 1.0, "rss": 1000})  # fmt: skip
    with site.store.writing():
        change(site.store, "attempt", {"id": attempt}, launched=heard - 10, started=heard - 10)
        change(site.store, "node", {"name": "localhost"}, contact=heard)


def test_without_a_daemon_packages_grow_no_older_and_are_not_late(site: Site, d0ctl: Type) -> None:
    unheard(site)

    for words in (("prod",), ("prod/1",), ("prod/1/1",), ("prod/*/*/*",)):
        said = " ".join(d0ctl("status", *words).stdout.split())
        name = " line" if "*" in words[0] else ""
        assert f"prod/1/1/1{name} ▶ running localhost 10 s 66 % · event 2" in said, words
        assert "straggler" not in said and " left" not in said
    said = " ".join(d0ctl("status", "prod/1/1/1").stdout.split())
    assert f"1 running localhost {began(site)} 10 s" in said
    assert "ends about" not in said and " left" not in said
    assert "1 attempt in 10 s" in d0ctl("report", "timeline").stdout
    assert json.loads(d0ctl("status", "prod", "--json").stdout)["stragglers"] == []


def test_with_a_daemon_the_same_packages_grow_older_and_are_late(site: Site, d0ctl: Type) -> None:
    unheard(site)
    drive(site)

    said = " ".join(d0ctl("status", "prod").stdout.split())
    assert "prod/1/1/1 ◷ straggler localhost 1 h 00 min 66 % · 2 h 00 min left · event 2" in said
    assert "1 attempt in 1 h 00 min" in d0ctl("report", "timeline").stdout


def began(site: Site) -> str:
    """When the attempt began."""
    return moment(value(site.store, "attempt", "started"), time.time())


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_check_of_a_node_says_nothing_of_its_packages(
    site: Site, d0ctl: Type, is_killed: bool
) -> None:
    unheard(site)
    known = moment(value(site.store, "node", "contact", name="localhost"), time.time())
    if is_killed:
        insert(site.store, "lease", name="node 1", holder=f"{holder()}x", taken=1)
    else:
        with site.store.writing():
            contact.unknown(site.store, 1, now=time.time())

    d0ctl("node", "check", "localhost")

    assert f"when that was last heard, at {known}" in d0ctl("why", "prod/1/1/1").stdout
    assert "prod/1/1/1 ▶ running localhost 10 s" in " ".join(d0ctl("status", "prod").stdout.split())
    assert f"last heard {known}" not in d0ctl("node", "list").stdout
