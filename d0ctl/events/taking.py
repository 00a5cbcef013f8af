"""What events change: datasets are looked up, nodes drained and resumed."""

import logging
from collections.abc import Sequence

import msgspec

from d0ctl.actions import ACTIONS
from d0ctl.actions.action import Author, NodeName
from d0ctl.config import Home
from d0ctl.dropbox import DropBox
from d0ctl.errors import D0Error, DatabaseUnavailable, NotFound, Refused
from d0ctl.events import event_file
from d0ctl.events.event_file import Event
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.nodes import draining, registry
from d0ctl.store.rest import taken_events
from d0ctl.store.tasks import feeding, state, views
from d0ctl.units import clean

log = logging.getLogger(__name__)


def take(
    home: Home, store: Store, box: DropBox, files: Sequence[tuple[str, str]], now: float
) -> None:
    """Carry out the events of files, the oldest first, each in a transaction; refuse bad ones.

    One that comes again, after a crash or from a queue, is removed without effect.
    """
    events: list[tuple[Event, str, str]] = []
    for name, text in files:
        try:
            key = event_file.read_key(home.event_key)
            events.append((event_file.read(text, key, now=now), name, text))
        except D0Error as error:
            _reject(box, name, text, error)
    for event, name, text in sorted(events, key=lambda entry: (entry[0].time, entry[1])):
        if taken_events.signature_of(store, event.id) == event.signature:
            log.info("event %s of %s has come again", event.id, event.sender)
            box.clear([name])
            continue
        try:
            _carry_out(store, event, now)
        except DatabaseUnavailable:
            raise
        except D0Error as error:
            _reject(box, name, text, error)
        else:
            log.info("event %s of %s: %s", event.kind, event.sender, clean(", ".join(event.names)))
            box.clear([name])


def _reject(box: DropBox, name: str, text: str, error: D0Error) -> None:
    box.reject_text(name, text, str(error))
    box.clear([name])


def _carry_out(store: Store, event: Event, now: float) -> None:
    """Carry out an event for all its names, or for none.

    One that is refused is remembered, too: sent again, it could do something later.
    """
    by = Author(event.sender, event.reason or f"event {event.kind}", now)
    try:
        with store.writing():
            _remember(store, event, now)
            for name in event.names:
                if event.kind == "node-down":
                    _drain(store, name, by)
                elif event.kind == "node-up":
                    _resume(store, name, by)
                else:
                    _look_up(store, name, by, event.kind)
    except DatabaseUnavailable:
        raise
    except D0Error:
        with store.writing():
            taken_events.remember(store, event.id, event.signature, now=now)
        raise


def _remember(store: Store, event: Event, now: float) -> None:
    taken_events.forget(store, before=now - event_file.STALE_S - event_file.EARLY_S)
    if not taken_events.remember(store, event.id, event.signature, now=now):
        raise Refused(f"another event with the id `{event.id}` was taken before")


def _drain(store: Store, name: str, by: Author) -> None:
    if registry.named(store, name).drained:
        raise Refused(f"node `{name}` is drained already")
    _act(store, "node drain", name, by)


def _resume(store: Store, name: str, by: Author) -> None:
    """Resume a node that the same sender drained: a person, or d0ctl, has other reasons."""
    draining.check_drained(registry.named(store, name))
    last = draining.drainings(store, name, 1)
    if not last or (last[0]["verb"], last[0]["actor"]) != ("node drain", by.actor):
        raise Refused(f"node `{name}` was not drained by {by.actor}, which so can't resume it")
    _act(store, "node resume", name, by)


def _act(store: Store, verb: str, name: str, by: Author) -> None:
    action = ACTIONS[verb]
    plan = action.plan(store, action.request(NodeName(name)), by.now)
    action.act(store, plan, by)
    lifecycle.keep_action(store, verb=verb, target=name, actor=by.actor, note=by.note, packages=0,
                          now=by.now, undo=action.undo(plan))  # fmt: skip


def _look_up(store: Store, name: str, by: Author, kind: str) -> None:
    """Let the feeder look up a dataset of a task, or all its inputs."""
    title, _, dataset = name.partition("/")
    task = state.task(store, views.task(store, title).id)
    assert task is not None
    inputs = [row.name for row in state.datasets(store, task.id) if not row.output]
    if dataset and dataset not in inputs:
        raise NotFound(f"task `{title}` has no input `{dataset}`: it has {', '.join(inputs)}")
    is_paused = task.status == "paused"
    if not (is_paused or task.status == "defined" or state.may_move(store, task.status, "defined")):
        raise Refused(f"task `{title}` is {task.status}, so its inputs are not looked up")
    if kind == "dataset-complete":
        rules = msgspec.structs.replace(task.rules, waits_for_input=False)
        state.change_rules(store, task, rules)
    feeding.look_again(store, task.id, now=by.now, name=dataset)
    if is_paused:
        state.look_when_resumed(store, task)
    elif task.status != "defined":
        state.move(store, task, "defined", now=by.now, actor=by.actor, note=by.note)
    lifecycle.keep_action(store, verb=f"event {kind}", target=name, actor=by.actor, note=by.note,
                          packages=0, now=by.now)  # fmt: skip
