"""Notices about jobs, and the sequences by which a terminal rings, notifies, and names its window.

OSC 9 and OSC 777 are two ways to ask for a desktop notification; a terminal ignores the one that it
does not know. tmux passes them on only in an envelope (`set -g allow-passthrough on`); the bell and
the title it handles itself.
"""

from d0ctl.store.history.notable import JobState
from d0ctl.units import clean, count

BELL = "\a"

SAVE_TITLE, OLD_TITLE = "\x1b[22;2t", "\x1b[23;2t"
"""Keep the title of the window, and give it back."""


def about(before: JobState, now: JobState) -> str:
    """Say what matters in a job since it was chosen: its first failure, its end; else nothing."""
    if now.ended is not None and before.ended is None:
        done = f"{count(now.done)} of {count(now.packages, 'package')} done"
        failed = f", {count(now.failed)} failed" if now.failed else ""
        return f"{now.name} has ended: {done}{failed}"
    if now.new_failure and not before.is_reported:
        kind = "another" if before.failed else "its first"
        return f"{now.name} has {kind} failure: {now.new_failure}"
    return ""


def notice(text: str, *, in_tmux: bool) -> str:
    """Return the bell and the requests for a desktop notification."""
    text = clean(text).replace(";", ",")
    desktop = f"\x1b]9;{text}\a\x1b]777;notify;d0ctl;{text}\a"
    if in_tmux:
        doubled = desktop.replace("\x1b", "\x1b\x1b")
        desktop = f"\x1bPtmux;{doubled}\x1b\\"
    return BELL + desktop


def title(text: str) -> str:
    """Return the sequence that names the window."""
    return f"\x1b]2;{clean(text)}\a"
