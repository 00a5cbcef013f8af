"""`d0ctl history`: failures by reason, node and time; actions; each change of a package."""

import time
from collections.abc import Sequence
from shlex import quote
from typing import Annotated

import typer
from msgspec.structs import replace

from d0ctl import select
from d0ctl.cli import options, session
from d0ctl.cli.commands.looking.pages import site_history
from d0ctl.cli.commands.looking.usage_report import WithArchives, check_archives
from d0ctl.cli.schemas import history as documents
from d0ctl.cli.schemas import packages
from d0ctl.cli.schemas.fill import fill
from d0ctl.cli.terminal import completion
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import emit_json, sheet, show
from d0ctl.cli.terminal.periods import length
from d0ctl.errors import BadUsage
from d0ctl.model import phase_word
from d0ctl.select import Selector
from d0ctl.show.cards.package import EVERY_CHANGE
from d0ctl.show.drawing.remark_texts import by_whom, remark
from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.history.logbook_page import LATE_S, how_it_ended, parts
from d0ctl.show.history.spent_values import without_spent
from d0ctl.show.history.undo_commands import UPDATE, PastAction, action_reasons, undo_at
from d0ctl.show.lists import NOTHING_FAILED, STDERR_LINES, cause
from d0ctl.show.why.phases import recovery
from d0ctl.store.connection import Store
from d0ctl.store.history import notable, package_actions
from d0ctl.store.nodes import registry
from d0ctl.store.views import browse, failure_counts, one_package, selection
from d0ctl.store.views.failure_counts import FailedAttempt
from d0ctl.store.views.selection import located
from d0ctl.store.views.shapes import ActionView
from d0ctl.store.views.shapes.of_package import EventView
from d0ctl.units import count, moment

app = single()

MOST_SHOWN = 20
MOST_IN_DOCUMENT = 10_000

MOST_ACTIONS, MOST_READ = 50, 1_000
"""How many actions on a job are shown, and how many are read to find those on a package."""


Subject = Annotated[
    str | None,
    typer.Argument(metavar="SELECTOR", autocompletion=completion.parts_or_nodes,
                   help="A job, stage, line or package, as in `reco001/2/3/1`; a node "
                   "(default: all jobs and nodes)."),
]  # fmt: skip

Since = Annotated[
    str | None,
    typer.Option("--since", metavar="TIME",
                 help="Of a node, or of all: only the last part of the history: `8h`, "
                 "`yesterday`, `2026-11-27`."),
]  # fmt: skip


@app.command()
def history(
    selector: Subject = None,
    status: options.Status = None,
    reason: options.Reason = None,
    node: options.Node = None,
    older_than: options.OlderThan = None,
    since: Since = None,
    with_archives: WithArchives = False,
    json: options.Json = False,
) -> None:
    """Show failures and actions; of a package, all changes."""
    are_filtered = bool(status or reason or older_than)
    if selector is None and are_filtered:
        raise BadUsage("filters need a selector", hint="d0ctl history '*'")
    if selector is None or (not (are_filtered or node) and _is_node(selector)):
        check_archives(None, with_archives=with_archives)
        site_history.show_all(length(since), selector or node, with_archives=with_archives,
                              json=json)  # fmt: skip
        return
    check_archives(selector, with_archives=with_archives)
    if since is not None:
        raise BadUsage("`--since` takes no job", hint=f"d0ctl history --since {quote(since)}")
    wanted = select.parse_all([selector], status=status or (), reason=reason, node=node,
                          older_than=older_than)  # fmt: skip
    with session.reader() as store, store.reading():
        history_document = document(store, wanted, MOST_IN_DOCUMENT if json else MOST_SHOWN)
    if json:
        emit_json(history_document)
    else:
        _draw(history_document, time.time())


def _is_node(name: str) -> bool:
    """Return whether a word names a node, and no job."""
    with session.reader() as store:
        return registry.find(store, name) is not None and not browse.has_job(store, name)


def document(store: Store, wanted: Selector, limit: int = MOST_IN_DOCUMENT) -> documents.History:
    """Read the history of the selection."""
    events: list[documents.Event] = []
    now: documents.Current | None = None
    wanted = located(store, wanted)
    notes: list[packages.Note] = []
    ends: list[notable.Notable] = []
    actions = _actions(store, wanted)
    if wanted.is_one and wanted.level == "job":
        job = browse.job(store, wanted.job)
        reasons = failure_counts.reasons_of_job(store, job.id)
        failed = failure_counts.attempts_of_job(store, job.id, limit)
        ends = notable.ends(store, job.id, limit)
    else:
        selected = selection.choose(store, wanted, now=time.time(), lenient=True)
        reasons = failure_counts.reasons_of_selected(selected)
        failed = failure_counts.attempts_of_selected(selected, limit)
    if wanted.is_one and wanted.level == "package":
        package = browse.package(store, wanted)
        changes = one_package.events(store, package.id)
        actions = package_actions.on_package(actions, package, changes)
        events = [_event(event) for event in changes]
        now = fill(documents.Current, package)
        notes = [fill(packages.Note, note, attempt=note.number, text=remark(note.text))
                 for note in one_package.notes(store, package.id)]  # fmt: skip
    return {
        "selector": str(wanted),
        "reasons": [fill(documents.Reason, row) for row in reasons],
        "failures": [_failure(row) for row in failed],
        "events": events,
        "notes": notes,
        "actions": [
            fill(documents.Action, action, reason=remark(action.note)) for action in actions
        ],
        "ends": [fill(documents.EndedJob, end, job=end.subject, status=end.state) for end in ends],
        "now": now,
    }


def _event(event: EventView) -> documents.Event:
    return fill(documents.Event, event, note=remark(event.note),
                **{"from": event.old, "to": event.new})  # fmt: skip


def _failure(row: FailedAttempt) -> documents.FailedAttempt:
    return fill(documents.FailedAttempt, row, attempt=row.number, node=row.node_name)


def _actions(store: Store, wanted: Selector) -> list[ActionView]:
    """Return the actions of people on the job, if just one is selected."""
    if wanted.wildcard_level == "job":
        return []
    is_package = wanted.is_one and wanted.level == "package"  # then few of them are shown
    found = browse.actions(store, wanted.job, MOST_READ if is_package else MOST_ACTIONS)
    listed = [replace(action, undo=undo_at(action, time.time()))
              for action in without_spent(store, found)]  # fmt: skip
    # a package has not all updates of its job, and `--previous` undoes the last that changed it
    updates = [action.at for action in listed if action.verb == UPDATE and action.undo]
    return [replace(action, undo=None) if action.verb == UPDATE and action.at in updates[1:]
            else action for action in listed]  # fmt: skip


def _draw(document: documents.History, now: float) -> None:
    page = sheet()
    if document["events"]:
        _events(page, document["events"], now)
    state = document["now"]
    if state and (until := state["not_before"]):
        _goes_on(page, state, until, now)
    _failures(page, document, now)
    if document["notes"]:
        page.head("notes")
        page.table([
            [_when(note["at"], now), f"attempt {note['attempt']}",
             f"binary {note['binary']}" if note["binary"] else "", note["text"]]
            for note in document["notes"]
        ])  # fmt: skip
    if document["actions"]:
        reasons = action_reasons(
            PastAction(
                action["verb"],
                action["target"],
                action["reason"],
                None if page.archive else action["undo"],
                action["packages"],
            )
            for action in document["actions"]
        )
        part, _, below = document["selector"].partition("/")
        page.head(f"actions of people{f' on job `{part}`' * bool(below and not document['now'])}")
        page.table([
            [_when(action["at"], now), action["actor"], action["verb"], parts(action["target"]),
             count(action["packages"], "package") if action["packages"] else "",
             reason]
            for action, reason in reversed(list(zip(document["actions"], reasons, strict=True)))
        ])  # fmt: skip
    if document["ends"]:
        page.head("ends of the job")
        page.table([
            [_when(end["at"], now),
             *how_it_ended(end["status"], end["left"], end["failed"], end["dropped"])]
            for end in reversed(document["ends"])
        ])  # fmt: skip
    show(page)


def _failures(page: Sheet, document: documents.History, now: float) -> None:
    if not document["reasons"]:
        if page.lines:
            page.add()
        page.say(NOTHING_FAILED)
        return
    page.head("failures")
    page.table([
        [reason["reason"] or "unknown", count(reason["count"], "time"),
         f"on {count(reason['nodes'], 'node')}", f"last {_when(reason['last'], now)}"]
        for reason in document["reasons"]
    ])  # fmt: skip
    page.add()
    for failed in document["failures"]:
        head = f"  {_ended(failed, now)}  "
        where = f" attempt {failed['attempt']} on {failed['node']}:"
        why = cause(failed["reason"], failed["message"])
        if page.columns < len(head + failed["path"] + where + why):
            page.add(head, (failed["path"], "strong"), where)
            page.say(why, "bad", indent=" " * 4)
        else:
            page.add(head, (failed["path"], "strong"), f"{where} ", (why, "bad"))
        if failed["stderr"]:
            page.quote(failed["stderr"], STDERR_LINES)
    total = sum(reason["count"] for reason in document["reasons"])
    if total > len(document["failures"]):
        more = count(total - len(document["failures"]))
        page.add((f"  and {more} more: --json prints them", "faint"))


def _ended(failed: documents.FailedAttempt, now: float) -> str:
    """Say when an attempt ended, and when that was recorded if its node was down then."""
    ended, recorded = failed["ended"], failed["recorded"]
    if ended and recorded and _seconds(recorded) - _seconds(ended) > LATE_S:
        return f"{_when(ended, now)} (recorded {_when(recorded, now)})"
    return _when(ended, now)


def _events(page: Sheet, events: Sequence[documents.Event], now: float) -> None:
    page.head(*EVERY_CHANGE)
    page.table([
        [
            _when(event["at"], now), _change(event, page),
            f"attempt {event['attempt']}" if event["attempt"] else "", event["node"],
            by_whom(event["actor"], event["note"]),
        ]
        for event in events
    ])  # fmt: skip


def _change(event: documents.Event, page: Sheet) -> str:
    return f"{phase_word(event['from'])} {page.glyphs.arrow} {phase_word(event['to'])}"


def _goes_on(page: Sheet, state: documents.Current, until: str, now: float) -> None:
    """Say until when a package cools off, or is held by the policy."""
    at = _seconds(until)
    state_now = (recovery.cooling(at, state["note"], now) if state["phase"] == "cooloff"
            else recovery.held(state["actor"], at, now))  # fmt: skip
    if state_now:
        page.add()
        page.say(f"now: {state_now}")


def _seconds(text: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(text).timestamp()


def _when(text: str | None, now: float) -> str:
    """Return a time of the document in the reader's time zone."""
    return moment(_seconds(text), now) if text else "-"
