"""What wrappers wrote, applied."""

import logging

from d0ctl.agents.control import Control
from d0ctl.store.runs import messages

log = logging.getLogger(__name__)


def sync(control: Control, now: float) -> None:
    """Apply the messages in the drop-box, and take them out once that has committed."""
    letters = control.letters
    if letters.messages:
        applied = messages.apply(control.store, letters.messages, now=now)
        for demand, took in applied.durations.items():
            pace = sum(took) / len(took)
            control.store.change("demand_pace", demand=demand, pace=pace)
        for node, size in applied.needs.items():
            control.wishes[node] = size
        for verdict in applied.verdicts:
            log.warning("%s", verdict)
        if applied.unknown:
            log.warning("messages of unknown attempts %s", sorted(applied.unknown)[:10])
    control.after(control.dropbox.clear, letters.files)
