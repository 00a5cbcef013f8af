"""What wrappers wrote, applied."""

import logging

from d0ctl.daemon.control import Control
from d0ctl.model import Reason
from d0ctl.sitefile.defaults import GRACE_S
from d0ctl.store.attempts import launches, messages
from d0ctl.units import clean

log = logging.getLogger(__name__)

MOST_REFUSED = 3
"""After so many end messages that are refused an attempt has failed."""

RESEND_S = 60.0
"""How long a node in contact has to send an end message again that was refused."""


def sync(control: Control, now: float) -> None:
    """Apply the messages in the drop-box, and take them out once that has committed."""
    letters = control.letters
    if letters.messages:
        applied = messages.apply(control.store, letters.messages, now=now)
        messages.keep_pace(control.store, applied)
        for node, size in applied.needs.items():
            control.wishes[node] = size
        for verdict in applied.verdicts:
            log.warning("%s", verdict)
        if applied.unknown:
            log.warning("messages of unknown attempts %s", sorted(applied.unknown)[:10])
    for attempt, why in letters.refused.items():
        control.after(control.refuse_end, attempt, why, now)
    control.after(control.dropbox.clear, letters.files)


def settle_refused(control: Control, now: float) -> None:
    """Ask again for end messages that were refused; fail attempts whose nodes send no better ones.

    A message that was torn is whole in the folder of its attempt, and comes from there.
    """
    for attempt, end in list(control.refused.items()):
        node = launches.node_of(control.store, attempt)
        if node is None:
            control.after(control.refused.pop, attempt)
            continue
        courier = control.courier(node)
        if courier is None:
            end.since = now
        elif end.times >= MOST_REFUSED or now - end.since > RESEND_S:
            control.refused.pop(attempt)  # before: what the database refuses is not tried again
            said = f"the end message of its node was refused: {clean(end.why)}"
            log.warning("attempt %d failed: %s", attempt, said)
            messages.refuse(
                control.store, node, attempt, reason=Reason.VERIFICATION, message=said, now=now
            )
            control.after(courier.order, {"kind": "kill", "attempts": [attempt], "grace": GRACE_S})
        elif end.asked < end.times:
            control.after(setattr, end, "asked", end.times)
            control.after(courier.order, {"kind": "resend", "attempts": [attempt]})
