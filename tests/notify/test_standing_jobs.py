"""Researchers hear once that a job of theirs stands still, and once that it moves again."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from d0ctl.model import Address
from d0ctl.show.notifications import mail
from d0ctl.store.nodes import registry
from tests.notify.conftest import Notified, Say, script
from tests.notify.events import NOW, many
from tests.support.acting import act
from tests.support.building import job, line, package
from tests.support.rows import change, count
from tests.support.site import Site

ADMIN = "admin@lab.example"


@pytest.fixture
def stands(site: Site, say: Say) -> Site:
    """A job that no node takes, as its own is drained, beside one that runs."""
    say()
    registry.add(site.store, Address("near", "ssh", "near"), cpus=2)
    site.up("near")
    site.submit(job(("only", [line(package("x", nodes=("localhost",)))]), name="still"))
    site.submit(many(1))
    site.launch("prod/1/1/1", "near")
    act(site.store, "node drain", "localhost", actor="eve", note=None, now=NOW)
    return site


def moves(site: Site) -> None:
    """A person lets the node take packages again."""
    act(site.store, "node resume", "localhost", actor="eve", note=None, now=NOW)


def test_it_is_sent_once_with_the_digest_and_needs_a_person(
    stands: Site, notified: Notified
) -> None:
    for now in (NOW, NOW + 1):
        notified.collect(now)

    (notice,) = notified.waiting()
    assert (notice.kind, notice.subject, notice.needs_a_person) == ("stands-still", "still", True)
    assert notice.due == NOW + 300
    said = "still stands still: no node that takes packages now can take its 1 package"
    assert mail.headline(notice, {}) == said
    assert "d0ctl why still" in mail.body([notice], {}, "/home")
    assert notified.kinds(ADMIN) == []


def test_one_that_moves_before_it_was_sent_is_not_reported(
    stands: Site, notified: Notified
) -> None:
    notified.collect(NOW)
    moves(stands)
    notified.collect(NOW + 1)

    assert notified.kinds() == []
    assert count(stands.store, "problem") == 0


def test_the_command_hears_of_it_and_that_the_job_moves_again(
    stands: Site, say: Say, carry: Callable[..., None], tmp_path: Path
) -> None:
    events = tmp_path / "events"
    say(command=[script(tmp_path / "hook", f"cat >> {events}")])
    for now in (NOW, NOW + 60):
        carry(now, is_command=True)
    moves(stands)
    for now in (NOW + 100, NOW + 160):
        carry(now, is_command=True)

    still, again = map(json.loads, events.read_text().splitlines())
    assert (still["event"], still["job"], still["needs_person"]) == ("stands-still", "still", True)
    assert (again["event"], again["trouble"], again["job"]) == ("cleared", "stands-still", "still")
    assert again["headline"] == "still moves again"


def test_one_that_a_person_holds_is_not_reported(site: Site, say: Say, notified: Notified) -> None:
    say()
    site.submit(many(1), hold=True)
    notified.collect(NOW)

    assert notified.kinds() == []


def test_nobody_hears_that_a_job_moves_which_has_ended(
    stands: Site, notified: Notified, carry: Callable[..., None]
) -> None:
    carry(NOW)
    carry(NOW + 400)
    change(stands.store, "job", {"name": "still"}, ended=NOW, notified=NOW)
    notified.collect(NOW + 500)

    assert notified.kinds() == []
    assert count(stands.store, "problem") == 0
