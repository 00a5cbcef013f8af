"""Notifications: events become mails by the routes of the site; similar events share one mail."""

import json
import time
from collections.abc import Iterable
from typing import Any

from d0ctl.daemon.delivery import Delivery
from d0ctl.daemon.desk import Desk
from d0ctl.daemon.turn import Turn
from d0ctl.jobfile.spec import MailMode
from d0ctl.notify.routes import Person, Routes
from d0ctl.schedule.standstill import is_alarming
from d0ctl.show.drawing.remark_texts import remark
from d0ctl.show.job_end import needs_a_person
from d0ctl.show.why import production as wording
from d0ctl.store import Store
from d0ctl.store.connection import Row
from d0ctl.store.mail import mail_queue, new_events
from d0ctl.store.mail.mail_queue import Notice
from d0ctl.store.nodes import registry, standstill
from d0ctl.store.nodes.site import setting
from d0ctl.store.nodes.standstill import JobStanding, Production
from d0ctl.store.views import browse

STANDS_STILL = "stands-still"
"""The problem of the whole production, or of a job, and the kind of its notification."""

ALL, PRODUCTION = 0, "production"
"""The id and name that stand for the whole production instead of a job or node."""


def queue_notifications(desk: Desk, turn: Turn) -> None:
    """Queue mails about recent events, in a transaction of its own after that of the turn.

    So an error in notifications undoes nothing that a turn did.
    """
    turn.after(_queue, desk)


def _queue(desk: Desk) -> None:
    if setting(desk.store, "mail") is None and not new_events.is_begun(desk.store):
        return
    with desk.store.writing():
        has_mail = collect(desk.store, now=time.time())
    if has_mail and desk.delivery is None:
        desk.delivery = Delivery(desk.home)
        desk.delivery.start()


def send_last(desk: Desk) -> None:
    """Queue and send what is due before the process ends, within a time limit."""
    _queue(desk)
    if desk.delivery is not None:
        desk.delivery.stop()


def collect(store: Store, *, now: float) -> bool:
    """Read the new events and queue their notifications; return whether the site has any mail."""
    said = setting(store, "mail")
    if not said:
        if new_events.is_begun(store):
            new_events.stop(store)
            mail_queue.close(store, "the site file has no `mail` any more", now=now)
        return False
    if not new_events.is_begun(store):
        new_events.begin(store)
    routes = Routes(said, setting(store, "researchers") or {})
    _clear(store, routes, now)
    found = new_events.read(store)
    for row in found.failures:
        _failures(store, routes, row)
    for row in found.given_up:
        _given_up(store, routes, row, now)
    for row in found.ends:
        _ended(store, routes, row)
    for row in found.nodes:
        _node(store, routes, row, now)
    for row in found.software:
        _software(store, routes, row)
    _standstill(store, routes, now)
    return True


def _standstill(store: Store, routes: Routes, now: float) -> None:
    """Report that the whole production stands still or moves again."""
    found = standstill.production(store, driven=True, now=now)
    _standing_jobs(store, routes, found, now)
    stands = is_alarming(found.cause)
    if stands == new_events.is_open_problem(store, STANDS_STILL, ALL):
        return
    if not stands:
        new_events.remove_problem(store, STANDS_STILL, ALL)
        _cleared(store, routes, STANDS_STILL, ALL, PRODUCTION, now)
        return
    text = wording.standstill(found, now).text
    people = routes.of_standstill(dict.fromkeys(row.cluster for row in registry.nodes(store)))
    for person in people:
        mail_queue.forget_cleared(store, STANDS_STILL, ALL, person.address)
        notice = Notice(
            person.address, STANDS_STILL, ALL, PRODUCTION, now, now, now + person.digest,
            problem=STANDS_STILL, samples=[{"message": text}],
        )  # fmt: skip
        mail_queue.add(store, notice)
    if people:
        new_events.add_problem(store, STANDS_STILL, ALL, PRODUCTION, now=now)


def _standing_jobs(store: Store, routes: Routes, found: Production, now: float) -> None:
    """Report to their researchers that jobs stand still or move again.

    Those that a person, or a job that is held or paused, keeps waiting are not reported.
    """
    known = new_events.standing_jobs(store)
    for job in found.jobs:
        state = job.standing
        if known.pop(job.id, None) is not None:
            if state.moves:
                new_events.remove_problem(store, STANDS_STILL, job.id)
                _cleared(store, routes, STANDS_STILL, job.id, job.name, now)
        elif is_alarming(state.cause) and state.is_settled and not job.halted:
            _job_stands_still(store, routes, job, wording.why_still(found, job, now), now)
    for ended in known:
        new_events.remove_problem(store, STANDS_STILL, ended)
        mail_queue.clear(store, STANDS_STILL, ended)


def _job_stands_still(
    store: Store, routes: Routes, job: JobStanding, text: str, now: float
) -> None:
    people = routes.of_job(*new_events.researcher_of(store, job.id))
    for person in people:
        mail_queue.forget_cleared(store, STANDS_STILL, job.id, person.address)
        notice = Notice(
            person.address, STANDS_STILL, job.id, job.name, now, now, now + person.digest,
            problem=STANDS_STILL, samples=[{"message": text}],
        )  # fmt: skip
        mail_queue.add(store, notice)
    if people:
        new_events.add_problem(store, STANDS_STILL, job.id, job.name, now=now)


def _failures(store: Store, routes: Routes, row: Row) -> None:
    """Report packages of a job that failed for one reason, including those that are tried again."""
    people = routes.of_failure(row["reason"], row["cluster"], row["originator"], row["mail"])
    failures = row["failed"] + row["held"]
    for person in people:
        is_all = person.mode == MailMode.EVERYTHING
        if not (is_all or failures):
            continue
        notice = Notice(
            person.address, "failures", row["job_id"], row["name"], row["first"], row["last"],
            row["recorded"] + person.digest, row["reason"], row["count"] if is_all else failures,
            row["failed"], row["held"], "held" if row["held"] else None,
            _examples(store, row, is_all=is_all),
        )  # fmt: skip
        mail_queue.add(store, notice)
    if row["held"] and people:
        new_events.add_problem(store, "held", row["job_id"], row["name"], now=row["recorded"])


def _examples(store: Store, row: Row, *, is_all: bool) -> list[dict[str, Any]]:
    """Return an example that stays failed or held, and the first and the latest of all.

    If d0ctl has held the job because too many failed alike, the first example says so.
    """
    shown = {row["worst"] or row["example"]: None}
    if is_all:
        shown |= {row["example"]: None, row["other"]: None}
    examples = [new_events.example(store, attempt) for attempt in shown]
    (job,) = browse.jobs(store, row["name"])
    if job.is_held_by_d0ctl:
        examples[0]["stopped"] = remark(job.hold_note)
    return examples


def _given_up(store: Store, routes: Routes, row: Row, now: float) -> None:
    """Report a node whose attempts count as lost because it did not answer in time."""
    people = routes.of_node(row["cluster"])
    for person in people:
        notice = Notice(
            person.address, "node-given-up", row["id"], row["name"], row["at"], row["at"],
            row["at"] + person.digest, count=row["count"], problem="node-down",
        )  # fmt: skip
        mail_queue.add(store, notice)
    if people:
        new_events.add_problem(store, "node-down", row["id"], row["name"], now=now)


def _ended(store: Store, routes: Routes, row: Row) -> None:
    """Report at once, with all queued notices, that a job has ended or can't move any more."""
    is_still = needs_a_person(store, row["id"])
    people = routes.of_job(row["originator"], row["mail"])
    is_urgent = is_still or row["task"] in ("broken", "exhausted", "failed")
    recipients = [person for person in people if is_urgent or person.mode == MailMode.EVERYTHING]
    how = f"task is {row['task']}{', ' + row['note'] if row['note'] else ''}" if row["task"] else ""
    if is_still and recipients:
        new_events.add_problem(store, "still", row["id"], row["name"], now=row["ended"])
    for person in recipients:
        at = row["ended"]
        problem = "still" if is_still else None
        mail_queue.forget_cleared(store, "still", row["id"], person.address)
        mail_queue.add(store, Notice(person.address, "ended", row["id"], row["name"], at, at, at,
                                 reason=how, problem=problem))  # fmt: skip


def _node(store: Store, routes: Routes, row: Row, now: float) -> None:
    """Report a node that does not answer, was drained for failures, or has a cache in doubt.

    People who want only mails that need a person are notified of a node without contact when it
    is given up, or if it was the last one.
    """
    people = routes.of_node(row["cluster"])
    is_down, is_last = row["kind"] == "node-down", False
    if is_down:
        # Of others a daemon that has just started may not know yet whether they answer.
        is_last = not any(view.node.takes or view.node.state == "unknown"
                          for view in standstill.node_views(store, now=now))  # fmt: skip
    recipients = _of_everything(people) if is_down and not is_last else people
    for person in recipients:
        at = row["since"] or now
        notice = Notice(
            person.address, row["kind"], row["id"], row["name"], at, at, now + person.digest,
            mail_queue.LAST_NODE if is_last else "", problem=row["kind"],
            samples=[{"message": remark(row["evidence"]) or "it does not answer"}],
        )  # fmt: skip
        mail_queue.add(store, notice)
    if recipients:
        new_events.add_problem(store, row["kind"], row["id"], row["name"], now=now)


def _software(store: Store, routes: Routes, row: Row) -> None:
    """Report software orders to the person who gave them, once all nodes have answered."""
    people = routes.of_job(row["report_to"], None)
    for person in people if row["failed"] else _of_everything(people):
        notice = Notice(
            person.address, "software", row["id"], row["title"], row["asked"], row["ended"],
            row["ended"] + person.digest, row["verb"], row["count"], row["failed"],
            samples=json.loads(row["answers"]),
        )  # fmt: skip
        mail_queue.add(store, notice)


def _of_everything(people: Iterable[Person]) -> list[Person]:
    return [person for person in people if person.mode == MailMode.EVERYTHING]


def _clear(store: Store, routes: Routes, now: float) -> None:
    """Report problems that are over, once, to those who were notified of them."""
    for row in new_events.cleared(store):
        kind, subject_id = row["kind"], row["subject_id"]
        if row["is_there"]:
            _cleared(store, routes, kind, subject_id, row["subject"], now)
        else:
            mail_queue.clear(store, kind, subject_id)


def _cleared(
    store: Store, routes: Routes, kind: str, subject_id: int, subject: str, now: float
) -> None:
    """Report to those who were notified of a problem that it is over."""
    for recipient in mail_queue.clear(store, kind, subject_id):
        due = now + routes.person(recipient).digest
        mail_queue.add(store, Notice(recipient, "cleared", subject_id, subject, now, now, due,
                                 reason=kind))  # fmt: skip
