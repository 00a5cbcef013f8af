"""`why` of a node says why it gets no packages, however it is asked."""

import re
import time

import pytest

from d0ctl.store.nodes import contact, registry
from tests.cli.conftest import Type
from tests.cli.test_standing import drive
from tests.support.building import job, line, package, production
from tests.support.site import Site


@pytest.mark.parametrize("words", [("node", "localhost"), ("localhost",), ("--node", "localhost")])
def test_why_of_a_node_says_why_it_gets_no_ready_package(
    site: Site, d0ctl: Type, words: tuple[str, ...]
) -> None:
    drive(site)
    site.submit(job(("a", [line(package("big", cpus=64))]), name="wide"))
    site.up()

    answer = d0ctl("why", *words).stdout

    assert answer.startswith("node `localhost` is up, with 4 of 4 slots free")
    assert "`wide/1/1/1` is ready: the node is ruled out: 4 CPUs, needs 64" in answer


def test_why_of_an_idle_node_says_that_nothing_is_ready(site: Site, d0ctl: Type) -> None:
    drive(site)
    site.up()

    assert "- no package is ready" in d0ctl("why", "node", "localhost").stdout


def test_why_takes_the_kind_of_a_thing_before_its_name_and_no_other_word(
    site: Site, d0ctl: Type
) -> None:
    drive(site)
    site.submit(production())

    assert d0ctl("why", "job", "prod").stdout == d0ctl("why", "prod").stdout
    assert "`gen-1`" in d0ctl("why", "file", "gen-1").stdout
    refused = d0ctl("why", "prod", "gen-1")
    assert (refused.exit_code, refused.stderr) == (
        2, "d0ctl: unexpected argument `gen-1`\nd0ctl why prod:gen-1\n"
    )  # fmt: skip


def test_a_node_that_is_down_says_when_it_is_tried_again_if_a_daemon_runs(
    site: Site, d0ctl: Type
) -> None:
    node, now = registry.named(site.store, "localhost").id, time.time()
    with site.store.writing():
        contact.down(site.store, node, "no route to host", now=now, wait_s=3000.0)

    without = " ".join(d0ctl("why", "localhost").stdout.split())
    assert "no daemon is running, so nothing tries to reach it" in without
    assert "next try" not in without + d0ctl("node", "list").stdout
    drive(site)
    assert "no route to host; next try in " in d0ctl("node", "list").stdout
    why = " ".join(d0ctl("why", "localhost").stdout.split())
    assert re.search("next try in (49|50) min .. s, or at once after `node check`", why)


def test_a_node_that_is_resumed_is_tried_at_once(site: Site, d0ctl: Type) -> None:
    node = registry.named(site.store, "localhost").id
    with site.store.writing():
        contact.down(site.store, node, "no route to host", now=time.time(), wait_s=3000.0)
    d0ctl("node", "drain", "localhost")

    d0ctl("node", "resume", "localhost")

    assert registry.named(site.store, "localhost").next_try is None


def test_a_node_that_is_down_and_drained_is_said_to_be_both(site: Site, d0ctl: Type) -> None:
    drive(site)
    site.up()
    with site.store.writing():
        contact.down(site.store, 1, "connection refused", now=time.time())
    d0ctl("node", "drain", "localhost", "--reason", "new disk")

    answer = d0ctl("why", "localhost").stdout

    assert answer.startswith("node `localhost` has been down since")
    assert "- it is drained, too (new disk): once it answers, it still takes no new" in answer


def test_why_of_a_node_says_once_that_a_package_of_a_held_job_is_ready(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.up()
    d0ctl("hold", "prod")

    answer = d0ctl("why", "localhost").stdout

    assert "- `prod/1/1/1` is ready: job `prod` has been held by " in answer
