"""Mails about software that nodes installed or removed late, because they were down."""

import json

from d0ctl.model import Address
from d0ctl.notify.compose import document
from d0ctl.show.notifications import mail
from d0ctl.store import Store
from d0ctl.store.nodes import registry, software
from tests.notify.conftest import Notified, Say
from tests.support.site import Site

ENTRY = {"name": "reco", "version": "v1", "platform": "", "archive": "/reco.tar", "size": 1,
         "checksum": "sha256:00", "manifest": None}  # fmt: skip


def ask(store: Store, *names: str, to: str | None = "me@here") -> dict[str, int]:
    """Push software to nodes, whose answers nobody waits for unless `to` is None; the orders."""
    with store.writing():
        orders = {
            name: software.ask(store, "push", registry.named(store, name), ENTRY,
                               actor="me", now=100.0)
            for name in names
        }  # fmt: skip
        for order in orders.values():
            if to is not None:
                software.report_late(store, order, to)
    return orders


def answer(store: Store, node: str, order: int, *, ok: bool) -> None:
    """Have a node answer an order."""
    frame = {"id": str(order), "ok": ok, "message": "installed" if ok else "disk full",
             "faults": []}  # fmt: skip
    with store.writing():
        software.end_order(store, registry.named(store, node).id, frame, now=200.0)


def test_one_report_comes_when_the_last_node_has_answered(
    site: Site, say: Say, notified: Notified
) -> None:
    say()
    with site.store.writing():
        registry.add(site.store, Address("far", destination="far"), cpus=1)
    orders = ask(site.store, "localhost", "far")
    answer(site.store, "localhost", orders["localhost"], ok=True)
    notified.collect()
    assert notified.recipients() == []

    answer(site.store, "far", orders["far"], ok=False)
    for _ in range(2):
        notified.collect()

    (notice,) = notified.waiting()
    assert (notice.count, notice.failed, notice.needs_a_person) == (2, 1, True)
    assert mail.headline(notice, {}) == "push of reco/v1: failed on 1 of 2 nodes that answered late"
    text = mail.body([notice], {}, str(site.home.root))
    assert "\n  far: disk full\n" in text and "\n  d0ctl software where reco/v1\n" in text
    event = json.loads(json.dumps(document(notice, {}, "lab")))
    assert (event["event"], event["software"], event["verb"], event["failed"]) == (
        "software", "reco/v1", "push", 1,
    )  # fmt: skip


def test_an_answer_that_the_command_waited_for_is_not_reported(
    site: Site, say: Say, notified: Notified
) -> None:
    say()
    for order in ask(site.store, "localhost", to=None).values():
        answer(site.store, "localhost", order, ok=True)
    notified.collect()

    assert notified.recipients() == []


def test_people_who_want_only_urgent_mail_get_none_about_success(
    site: Site, say: Say, notified: Notified
) -> None:
    say(recipients={"me@here": {"mode": "when-needed"}})
    for order in ask(site.store, "localhost").values():
        answer(site.store, "localhost", order, ok=True)
    notified.collect()

    assert notified.recipients() == []
