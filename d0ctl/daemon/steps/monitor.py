"""Nodes: who looks after them, what they report, and how it is held against the store."""

import logging
import time
from collections.abc import Mapping

from d0ctl.daemon.control import Control
from d0ctl.daemon.steps import software
from d0ctl.nodes.courier import Carried, Courier, Down, Said, Up, launch, order_many
from d0ctl.nodes.link import Frame
from d0ctl.sitefile.defaults import GRACE_S
from d0ctl.store.attempts import launches, messages, outputs
from d0ctl.store.connection import Row, Store
from d0ctl.store.files import copies
from d0ctl.store.jobs import unneeded_files
from d0ctl.store.nodes import contact, leases, registry
from d0ctl.store.nodes.leases import LEASE
from d0ctl.store.nodes.site import default
from d0ctl.units import clean, duration

log = logging.getLogger(__name__)

KEPT_EVERY_S = 60.0
"""How often it is kept when a node was heard: each time costs a transaction."""

PARTIAL = "kill partial"
"""The request to end attempts and keep what they have made so far."""


def stand_in(control: Control, now: float) -> None:
    """Be the daemon that `status` and `stop` mean, where no other lives."""
    if control.job is None and not leases.living_holder(control.store, LEASE):
        leases.take_lease(control.store, LEASE, now=now)


def look_after(control: Control, now: float) -> None:
    """Take the leases of nodes that nobody looks after; let go of those that were removed."""
    known = {row["id"]: row for row in registry.nodes(control.store)}
    for node, courier in control.couriers.items():
        if node not in known:
            leases.give_lease(control.store, f"node {node}")
            control.after(control.end, node)
        elif _is_another(courier, known[node]):
            control.after(control.end, node)
    for node, row in known.items():
        if node in control.couriers or not leases.take_lease(
            control.store, f"node {node}", now=now
        ):
            continue
        courier = Courier(
            node,
            registry.address_of(row),
            control.site,
            cpus=row["cpus_asked"],
            deliver=control.dropbox.deliver,
            unread=control.dropbox.unread,
            report=control.report,
        )
        control.after(control.begin, courier)


def _is_another(courier: Courier, row: Row) -> bool:
    """Whether a node was removed and added again, so that its number stands for another now."""
    return (
        courier.address != registry.address_of(row)
        or courier.cpus != row["cpus_asked"]
        or (row["state"] == "unknown" and courier.is_up)
    )


def keep_contact(control: Control, now: float) -> None:
    """Keep when each node was heard and its load, once in `KEPT_EVERY_S`."""
    for node, courier in control.couriers.items():
        heard = now - courier.silent
        if courier.is_up and heard - control.heard.get(node, 0.0) >= KEPT_EVERY_S:
            control.heard[node] = heard
            contact.note_contact(control.store, node, courier.load, at=heard)


def give_up(control: Control, now: float) -> None:
    """unreachable -> failed, by platform-failure: nodes that did not answer for as long as the
    site waits, while we tried (D0 Job Definition, section 5, case 1).

    It is longer than any lease, so what may go on there touches nothing outside of its attempt;
    and when the node is back, it is ended before anything else happens there.
    """
    patience = float(default(control.store, "unreachable-after"))
    for node, since in control.down_since.items():
        if time.monotonic() - since < patience:
            continue
        row = registry.by_id(control.store, node)
        if row is not None:
            registry.give_up(control.store, row["name"])
        lost = launches.unreachable(control.store, node)
        if lost:
            told = f"its node did not answer for {duration(patience)}"
            log.warning("node %s is given up with %d attempts", control.name_of(node), len(lost))
            messages.fail(
                control.store, node, lost, reason="platform-failure", message=told, now=now
            )


def hear(control: Control, now: float) -> None:
    """Act on what the couriers report."""
    for report in control.reports:
        match report:
            case Up():
                _up(control, report, now)
            case Down():
                _log_down(control, report)
                control.down_since.setdefault(report.node, time.monotonic())
                contact.down(control.store, report.node, report.trouble, now=now)
            case Said():
                _said(control, report.node, report.frame, now)
            case Carried(errand=software.Delivery()):
                software.delivered(control, report, now)
            case Carried():
                _carried(control, report, now)


def _log_down(control: Control, report: Down) -> None:
    log.warning("node `%s` is down: %s", control.name_of(report.node), clean(report.trouble))


def _up(control: Control, report: Up, now: float) -> None:
    courier = control.couriers.get(report.node)
    if courier is None:
        return
    control.purging.pop(report.node, None)
    control.forget_orders(report.node)
    row = registry.by_id(control.store, report.node)
    rebooted = bool(row and row["boot"] and row["boot"] != report.facts.get("boot_id"))
    trouble = contact.up(control.store, report.node, report.facts, now=now)
    if trouble:
        contact.down(control.store, report.node, trouble, now=now)
        control.after(courier.hang_up, trouble)
        return
    control.down_since.pop(report.node, None)
    log.info("node %s is up with %d attempts", courier.address.name, len(report.attempts))
    found = launches.reconcile(control.store, report.node, report.attempts, now=now)
    if found.lost:
        reason = "platform-failure" if rebooted else "lost"
        said = "the node was rebooted" if rebooted else "the node has it no more"
        messages.fail(control.store, report.node, found.lost, reason=reason, message=said, now=now)
    control.after(control.unswept.__setitem__, report.node, list(report.cached))
    control.after(courier.accept, report.link)
    control.after(control.wake.set)
    control.after(launch, courier, found.launch)
    _order(control, courier, "resend", found.resend)
    _order(control, courier, "kill", found.kill, grace=GRACE_S)
    for order in kills(control.store, launches.killing(control.store, report.node)):
        control.after(courier.order, order)
    control.after(courier.order, courier.renewal)


def kills(store: Store, requests: Mapping[int, str]) -> list[Frame]:
    """The orders to end attempts, by their requests."""
    if not requests:
        return []
    grace, partial_grace = default(store, "grace"), default(store, "partial-grace")
    by_request: dict[str, list[int]] = {}
    for attempt, request in requests.items():
        by_request.setdefault(request, []).append(attempt)
    return [
        {
            "kind": "kill",
            "attempts": which,
            "grace": 0.0 if request.endswith(" now") else grace,
            "partial": request == PARTIAL,
            "partial_grace": partial_grace,
        }
        for request, which in by_request.items()
    ]


def _order(control: Control, courier: Courier, kind: str, which: list[int], **more: float) -> None:
    if which:
        control.after(order_many, courier, {"kind": kind, **more}, which)


def _said(control: Control, node: int, frame: Frame, now: float) -> None:
    """One frame of a relay that is neither a message nor an answer."""
    match frame["kind"]:
        case "dead":
            for entry in frame["attempts"]:
                messages.fail(
                    control.store,
                    node,
                    [entry["attempt"]],
                    reason="lost",
                    message=str(entry["message"]),
                    now=now,
                )
        case "refused":
            launches.refuse(
                control.store,
                node,
                frame["attempt"],
                str(frame["reason"]),
                str(frame["message"]),
                now=now,
            )
        case "absent":
            launches.end_unstarted(control.store, node, frame["attempts"], now=now)
        case "pong":
            contact.note_free_disk(control.store, node, frame["disk_free"])
        case "forgotten":
            _purged(control, node, frame)
        case "software":
            software.answered(control, node, frame, now)
        case "fault":
            log.warning("node %s: %s", control.name_of(node), clean(frame["message"]))


def _purged(control: Control, node: int, frame: Frame) -> None:
    """Some of what a node was asked to remove is gone; it is asked for the rest later."""
    asked, purge = control.purging.get(node, (0.0, []))
    gone = {*frame["attempts"], *frame["paths"]}
    left = [entry for entry in purge if not gone.intersection(entry[1:])]
    unneeded_files.removed(control.store, (entry[0] for entry in purge if entry not in left))
    control.after(control.purging.update, {node: (asked if left else 0.0, left)})


def _carried(control: Control, report: Carried, now: float) -> None:
    key, copy = report.errand
    control.carrying.pop(key, None)
    if report.trouble is None:
        node = report.node if key[1] != 1 else None
        copies.arrive(
            control.store,
            file=key[0],
            cluster=key[1],
            result=key[2],
            path=copy.target,
            node=node,
            **report.weight._asdict(),
            now=now,
        )
        return
    log.warning("file %d: %s", key[0], report.trouble)
    is_gone = report.is_gone or (report.is_spoilt and copies.is_hopeless(control.store, *key))
    lost = _copies_at(control, key[0], copy.source) if is_gone else []
    is_over = is_gone and not lost and key[1] != 1
    if is_over and copies.give_up(control.store, key[0], key[1]):
        return
    copies.delay(
        control.store, file=key[0], cluster=key[1], result=key[2], trouble=report.trouble, now=now
    )
    if is_gone and report.is_spoilt:
        outputs.lose_spoilt(control.store, lost, report.trouble, now=now)
    elif is_gone:
        copies.lose(control.store, lost, now=now)


def _copies_at(control: Control, file: int, path: str) -> list[tuple[int, int]]:
    return [
        (file, row["cluster_id"])
        for row in copies.copies(control.store, file)
        if row["path"] == path
    ]
