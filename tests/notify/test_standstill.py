"""People get one mail when production stands still, and one when it moves again."""

import json
from collections.abc import Callable
from pathlib import Path

from d0ctl.nodes.transports.transport import Address
from d0ctl.store import Store
from d0ctl.store.nodes import contact, registry
from tests.notify.conftest import Notified, Say, script
from tests.support.building import production
from tests.support.site import Site

ADMIN = "admin@lab.example"


def down(site: Site) -> None:
    """The only node stops answering."""
    with site.store.writing():
        contact.down(site.store, 1, "no route to host", now=1e9)


def test_a_standstill_is_sent_once_to_admins_and_needs_a_person(
    site: Site, say: Say, notified: Notified
) -> None:
    say()
    site.submit(production())
    down(site)
    for _ in range(3):
        notified.collect()

    (standing,) = [notice for notice in notified.waiting(ADMIN) if notice.kind == "stands-still"]
    assert (standing.count, standing.needs_a_person) == (1, True)
    assert standing.samples[0]["message"].startswith("0 of 1 node up: `localhost` down since ")
    assert "stands-still" in notified.kinds("grid@lab.example")
    assert "stands-still" not in notified.kinds("me@here")


def test_a_standstill_that_is_over_before_it_was_sent_is_not_sent(
    site: Site, say: Say, notified: Notified
) -> None:
    say()
    site.submit(production())
    down(site)
    notified.collect()
    site.up()
    notified.collect()

    assert "stands-still" not in notified.kinds(ADMIN)
    assert [notice for notice in notified.waiting(ADMIN) if notice.reason == "stands-still"] == []


def test_people_notified_of_a_standstill_hear_when_production_moves_again(
    site: Site, say: Say, carry: Callable[..., None], tmp_path: Path
) -> None:
    events = tmp_path / "events"
    say(command=[script(tmp_path / "hook", f"cat >> {events}")])
    site.submit(production())
    down(site)
    for now in (4e9, 4e9 + 60):
        carry(now, is_command=True)
    site.up()
    for now in (5e9, 5e9 + 60):
        carry(now, is_command=True)

    notified = {(event["event"], event.get("trouble")): event
            for event in map(json.loads, events.read_text().splitlines())}  # fmt: skip
    still = notified["stands-still", None]
    assert still["needs_person"] is True
    assert still["headline"].startswith("production stands still: 0 of 1 node up")
    assert "job" not in still
    assert notified["cleared", "stands-still"]["headline"] == "production moves again"


def test_people_hear_that_it_is_over_if_it_was_back_for_a_moment(
    site: Site, say: Say, carry: Callable[..., None], notified: Notified
) -> None:
    say()
    site.submit(production())
    down(site)
    for now in (4e9, 4e9 + 400):
        carry(now)
    site.up()
    notified.collect(5e9)
    down(site)
    notified.collect(5e9 + 3)
    site.up()
    notified.collect(5e9 + 6)

    over = {notice.reason for notice in notified.waiting(ADMIN) if notice.kind == "cleared"}
    assert over >= {"stands-still", "node-down"}


def test_the_last_node_that_goes_down_needs_a_person(
    site: Site, say: Say, notified: Notified
) -> None:
    say(mode="when-needed")
    down(site)
    notified.collect()

    (notice,) = notified.waiting(ADMIN)
    assert (notice.kind, notice.needs_a_person) == ("node-down", True)


def test_a_node_is_not_called_the_last_while_others_are_not_known_to_be_down(
    site: Site, say: Say, notified: Notified
) -> None:
    with site.store.writing():
        registry.add(site.store, Address("other", "ssh", "other"), cpus=2)
    say()
    down(site)
    notified.collect()

    (notice,) = notified.waiting(ADMIN)
    assert (notice.kind, notice.needs_a_person) == ("node-down", False)


def test_a_pause_by_a_person_sends_no_mail(
    store: Store, site: Site, say: Say, notified: Notified
) -> None:
    say()
    site.submit(production(), hold=True)
    notified.collect()

    assert notified.kinds(ADMIN) == []
