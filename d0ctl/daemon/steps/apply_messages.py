"""Messages of wrappers: applied, or refused and settled."""

import logging
from typing import TYPE_CHECKING, Any

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.turn import Turn
from d0ctl.model import Reason
from d0ctl.show.drawing import remark_texts
from d0ctl.sitefile.defaults import GRACE_S
from d0ctl.store.attempts import messages
from d0ctl.store.attempts.launching import launches
from d0ctl.store.clusters import pilots
from d0ctl.store.nodes.site import setting, site_name
from d0ctl.units import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from d0ctl.event_queue.listener import Listener
    from d0ctl_wrapper.protocol.message_types import Message

log = logging.getLogger(__name__)

MOST_REFUSED = 3
"""After so many refused end messages, an attempt counts as failed."""

RESEND_S = 60.0
"""How long a node in contact has to send a refused end message again."""


def apply_messages(desk: Desk, turn: Turn) -> None:
    """Apply the messages of the drop-box; their files are removed after the commit."""
    received = turn.received
    if received.messages:
        applied = messages.apply(desk.store, received.messages, received.senders, now=turn.now)
        messages.keep_pace(desk.store, applied)
        desk.space_requests.update(applied.needs)
        for ending in applied.ending:
            pilots.close(desk.store, ending, "its allocation ends", now=turn.now)
        for verdict in applied.verdicts:
            log.warning("%s", remark_texts.verdict(verdict))
        if applied.unknown:
            _purge_ended(desk, received.messages)
            log.warning("messages of unknown attempts %s", sorted(applied.unknown)[:10])
        for sender, attempts in applied.foreign.items():
            log.warning(
                "node %s sent messages for attempts of other nodes: %s", sender, attempts[:10]
            )
    for attempt, (why, node) in received.refused.items():
        if node is None or node == launches.node_name(desk.store, attempt):
            turn.after(desk.refuse_end, attempt, why, turn.now)
    turn.after(desk.dropbox.clear, received.files)
    if received.events:
        turn.after(_take_events, desk, turn)


def _purge_ended(desk: Desk, arrived: "Sequence[Message]") -> None:
    """Have nodes remove the folders of unknown attempts that they have ended."""
    for message in arrived:
        if message["kind"] == "end" and message["attempt"] in desk.unknown:
            attempt = message["attempt"]
            launches.purge_unknown(desk.store, desk.unknown[attempt], [attempt])


def _take_events(desk: Desk, turn: Turn) -> None:
    from d0ctl.events.taking import take  # most homes get none

    take(desk.home, desk.store, desk.dropbox, turn.received.events, turn.now)


def listen_for_events(desk: Desk, turn: Turn) -> None:
    """Start, replace or end the thread that takes events from the queue of the site.

    Only a daemon has one: the broker ends the connection of the first of two.
    """
    said = setting(desk.store, "event-queue") if desk.job is None else None
    if desk.listener is not None and desk.listener.said != said:
        desk.listener.leave()
    if desk.listener is not None and not desk.listener.is_alive():
        desk.listener = None
    if said and desk.listener is None:
        desk.listener = _listener(desk, said)
        desk.listener.start()


def _listener(desk: Desk, said: dict[str, Any]) -> "Listener":
    from d0ctl.event_queue.listener import Listener  # most homes have none
    from d0ctl.events import event_file

    name, folder = f"d0ctl-{site_name(desk.store)}", desk.dropbox.folder
    return Listener(said, name, desk.dropbox.new, lambda text: event_file.write(folder, text))


def settle_refused_ends(desk: Desk, turn: Turn) -> None:
    """Request refused end messages again; fail attempts whose nodes send no better one.

    A message that was torn in transit is whole in the folder of its attempt.
    """
    for attempt, end in list(desk.refused_ends.items()):
        node = launches.node_of(desk.store, attempt)
        if node is None:
            turn.after(desk.refused_ends.pop, attempt)
            continue
        courier = desk.courier(node)
        if courier is None:
            end.since = turn.now
        elif end.times >= MOST_REFUSED or turn.now - end.since > RESEND_S:
            # removed before the database is asked: if it refuses, this is not tried in every turn
            desk.refused_ends.pop(attempt)
            message = f"the end message of its node was refused: {clean(end.why)}"
            log.warning("attempt %d failed: %s", attempt, message)
            reason = Reason.VERIFICATION
            messages.refuse(desk.store, node, attempt, reason=reason, message=message, now=turn.now)
            turn.after(courier.order, {"kind": "kill", "attempts": [attempt], "grace": GRACE_S})
        elif end.asked < end.times:
            turn.after(setattr, end, "asked", end.times)
            turn.after(courier.order, {"kind": "resend", "attempts": [attempt]})
