"""Whatever is accepted from a node can be applied, and every verb can show it afterwards."""

import io
import json
import math
import os
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from d0ctl.cli import package_documents
from d0ctl.cli.commands.looking.pages import peek_folder
from d0ctl.cli.terminal import output
from d0ctl.errors import NodeUnreachable
from d0ctl.nodes import frame_checks
from d0ctl.nodes.link import Link
from d0ctl.nodes.node_check import _facts as check_facts
from d0ctl.nodes.transports.local import LocalTransport
from d0ctl.nodes.transports.transport import Address
from d0ctl.show import live_status
from d0ctl.store import Store
from d0ctl.store.attempts import messages
from d0ctl.store.attempts.launching import launches
from d0ctl.store.nodes import contact
from d0ctl.units import duration, iso, moment, size
from d0ctl_wrapper.protocol import message
from tests.cli.conftest import type_in
from tests.nodes.test_frames import GOOD, json_values
from tests.store.telling import launched
from tests.support.examples import examples
from tests.support.homes import faults
from tests.support.jobs import NOW
from tests.support.rows import count, pages
from tests.wrapper import generated

Message = Any

LARGEST_TEXT = 400_000
"""How many characters a verb prints at most about one package, whatever its node says.

A hundred notes of 1,000 control characters are the most; JSON takes six for each.
"""

PACKAGE = "all/1/1/1"

VERBS = (
    ("status",),
    ("status", "all"),
    ("status", PACKAGE),
    ("why", PACKAGE),
    ("history", PACKAGE),
    ("report", "failures"),
    ("node", "list"),
)

EVIL = "\x1b[2J\x9b31m\x07\r\u202e[bold]\x7f" * 40

foreign = (
    json_values
    | st.sampled_from([EVIL, -9.2e18, 9.2e18, 2**63 - 1, 1e308, "x" * 5000, [[]] * 500])
    | st.floats(allow_nan=False)
)


def show_all(store: Store) -> None:
    """Have every verb show a package, and look at what it prints."""
    assert not faults(store)
    for words in VERBS:
        for more in ((), ("--json",)):
            with patch.dict(os.environ, {"D0CTL_HOME": str(store.home.root), "COLUMNS": "100"}):
                shown = type_in(*words, *more)
            assert shown.exit_code == 0, (words, shown.output)
            check_output(shown.output)
            if more:
                json.loads(shown.stdout)


def check_output(text: str) -> None:
    """Look whether a terminal may have a text, and whether it is short enough for people."""
    assert all(c.isprintable() or c == "\n" for c in text), repr(text)
    assert len(text) < LARGEST_TEXT


def printed(work: Callable[[], object]) -> str:
    """What some work prints."""
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(out):
        work()
    return out.getvalue()


def accepted(made: list[Message]) -> list[Message]:
    """What a control host takes of messages; nothing when they are refused."""
    try:
        return message.parse("".join(json.dumps(one) + "\n" for one in made))
    except ValueError:
        return []


def apply(store: Store, made: list[Message], attempt: int) -> bool:
    """Apply what is accepted of messages, as of one of the attempts; whether anything was."""
    found: list[Any] = [{**one, "attempt": attempt} for one in accepted(made)]
    with store.writing():
        messages.apply(store, found, now=NOW + 10)
    return bool(found)


def with_foreign_fields(data: st.DataObject, made: list[Message]) -> list[Message]:
    """Put other values in the place of some fields."""
    for one in made:
        if data.draw(st.booleans()):
            name = data.draw(st.sampled_from(sorted(one)))
            one[name] = data.draw(foreign)
    return made


slow = settings(
    max_examples=examples(6),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@slow
@given(generated.files(), st.data())
def test_messages_that_are_accepted_can_be_applied_and_shown(
    made: list[Message], data: st.DataObject
) -> None:
    with launched() as (store, _):
        if apply(store, with_foreign_fields(data, made), 1):
            show_all(store)


@pytest.mark.parametrize(
    "change",
    [
        {"started": 0.0, "ended": message.LATEST},
        {"started": message.LATEST, "ended": 0.0, "utc_offset": -86399},
        {"detail": EVIL * 100, "stderr": EVIL, "began_why": "x" * 1000},
        {"missing": [f"/in/{n}{EVIL}" for n in range(200)]},
        {"binaries": [{**generated.END, "binary": n} for n in range(1, 500)]},
        {"events": [{"binary": n, "done": [(1, 2)]} for n in range(1, 2000)]},
        {"stored": [{"name": "f1", "locator": f"root://x//{n}"} for n in range(2000)]},
        {"staged": [{"locator": f"root://x//{n}", "path": f"/x/{n}", "size": 1,
                     "checksum": "sha256:" + "0" * 64} for n in range(2000)]},
        {"exit_code": 2**63 - 1, "signal": 2**63 - 1, "rss": 2**63 - 1, "cpu": 2.0**40},
    ],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_the_longest_end_message_can_be_shown(change: Message) -> None:
    with launched() as (store, _):
        before = pages(store)

        assert apply(store, [{**generated.END, **change}], 1)

        show_all(store)
        grown = pages(store) - before
        assert grown <= 8


def test_an_attempt_keeps_a_bounded_number_of_notes() -> None:
    common = {"attempt": 1, "token": "0" * 64, "time": 5.0, "kind": "note", "binary": 1}
    with launched() as (store, _):
        apply(store, [{**common, "seq": n, "text": EVIL} for n in range(1, 5001)], 1)

        notes = count(store, "note")
        assert notes == message.MOST_NOTES
        show_all(store)


@given(st.floats() | st.integers(-(10**30), 10**30))
def test_any_number_can_be_formatted_as_a_time_or_a_size(number: float) -> None:
    for text in (duration(number), size(number), moment(number, NOW), iso(number)):
        assert text is None or len(text) < 40


def mutated(data: st.DataObject, frame: dict[str, Any]) -> frame_checks.Frame | None:
    """A frame that is accepted although some of it was changed; None if it is refused."""
    frame = json.loads(json.dumps(frame))
    holders = [frame, *(value for value in frame.values() if isinstance(value, dict))]
    holders += [one for value in frame.values() if isinstance(value, list) for one in value
                if isinstance(one, dict)]  # fmt: skip
    holder = data.draw(st.sampled_from(holders))
    holder[data.draw(st.sampled_from(sorted(holder)))] = data.draw(foreign)
    try:
        return frame_checks.read(json.dumps(frame).encode())
    except NodeUnreachable:
        return None


def of_kind(kind: str) -> dict[str, Any]:
    """A frame of the protocol."""
    return next(frame for frame in GOOD if frame["kind"] == kind)


@slow
@given(st.data())
def test_an_accepted_status_answer_can_be_shown(data: st.DataObject) -> None:
    frame = mutated(data, of_kind("status"))
    if frame is None or frame["kind"] != "status":
        return
    answer = live_status.read(frame, NOW)
    sheet = output.sheet()

    live_status.draw(sheet, answer)

    check_output(printed(lambda: output.show(sheet)))
    json.dumps(package_documents.live_status(answer), allow_nan=False)


@slow
@given(st.data())
def test_a_list_of_files_can_be_shown(data: st.DataObject) -> None:
    frame = mutated(data, of_kind("listing"))
    if frame is None or frame["kind"] != "listing":
        return

    sheet = output.sheet()

    peek_folder._table(sheet, frame)

    check_output(printed(lambda: output.show(sheet)))
    json.dumps([peek_folder._file(entry) for entry in frame["entries"]], allow_nan=False)


@slow
@given(st.data())
def test_a_node_that_is_accepted_can_be_reconciled_and_shown(data: st.DataObject) -> None:
    frame = mutated(data, of_kind("hello"))
    if frame is None or frame["kind"] != "hello":
        return
    listed = {entry["attempt"]: entry["state"] for entry in frame["attempts"]}
    link = Link(LocalTransport("n1"), None, "/x")  # type: ignore[arg-type]
    link.facts = frame["facts"]
    assert len(list(check_facts(link, Address("n1")))) > 5
    with launched() as (store, _):
        with store.writing():
            contact.up(store, 1, frame["facts"], now=NOW)
            found = launches.reconcile(store, 1, listed, now=NOW)
            messages.fail(store, 1, found.lost, reason="lost", message="it is gone", now=NOW)
        show_all(store)


@slow
@given(st.sampled_from(["refused", "dead", "absent"]), st.data())
def test_reports_of_a_relay_about_attempts_can_be_applied_and_shown(
    kind: str, data: st.DataObject
) -> None:
    frame = mutated(data, of_kind(kind))
    if frame is None or frame["kind"] != kind:
        return
    with launched() as (store, _):
        with store.writing():
            match kind:
                case "refused":
                    launches.refuse(
                        store, 1, frame["attempt"], frame["reason"], frame["message"], now=NOW
                    )
                case "dead":
                    for entry in frame["attempts"]:
                        messages.fail(
                            store,
                            1,
                            [entry["attempt"]],
                            reason="lost",
                            message=entry["message"],
                            now=NOW,
                        )
                case "absent":
                    launches.end_unstarted(store, 1, frame["attempts"], now=NOW)
        show_all(store)


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_nan_and_infinity_are_never_accepted(number: float) -> None:
    made = [{**generated.END, "ended": number}]
    assert math.isfinite(number) or accepted(made) == []
