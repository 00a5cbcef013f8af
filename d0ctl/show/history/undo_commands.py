"""Why people did something, and the commands that undo it, unless a later action has done that."""

import shlex
from collections.abc import Iterable, Sequence
from datetime import datetime
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from d0ctl.errors import BadUsage
from d0ctl.model import Phase
from d0ctl.select import WILD, Selector, parse
from d0ctl.select.selector import Span
from d0ctl.store.views.shapes import ActionView
from d0ctl.units import format_time, parse_time

STOPS = frozenset({"finish", "hold", "kill", "kill-line", "node drain", "pause"})
"""Actions that stop something: the command that undoes them is listed with them."""

LONGEST_UNDO = 300
"""A command that undoes an action is listed with it up to this many characters."""

ENDS = {"acknowledge": frozenset({"acknowledge", "kill-line", "retry", "set-status"})}
"""What ends an acknowledgement, unless it was undone; the verb of its undo ends anything else."""

UPDATE = "update"
"""Its undo goes back by one change of the job file, so that only the last one can be undone."""

CANCELS = frozenset({"finish", "kill", "kill-line", "set-status"})
"""Actions after which packages are not held any more; of whole jobs only `finish` ends a stop."""

REMOVES = frozenset({"archive", "node remove", "remove"})
"""Actions that no undo of an earlier action on the same thing can follow."""

SETTINGS = frozenset({"cluster set", "researcher set", "throttle set"})
"""Actions whose values a later `site apply` may have replaced: those of nodes are listed."""

REQUESTS = frozenset({"edit", "limit"})
"""Actions whose values a later update may have replaced by those of the job file."""

FLAGS = frozenset({"release", "resume"})
"""Actions that change a flag of a whole job, and not its packages, if they name just the job."""

DAY_S = 86_340.0
"""Up to how many seconds from now a time of day, in full minutes, is clear."""


class PastAction(NamedTuple):
    """What was done to what, and the command that undoes it."""

    verb: str
    target: str
    reason: str | None
    undo: str | None
    packages: int


def undo_at(action: ActionView, now: float) -> str | None:
    """Return what undoes an action now: of a resume before its time, a pause until that time."""
    arguments = shlex.split(action.undo or "")
    if action.verb != "resume" or "--for" not in arguments:
        return action.undo
    *command, _, length = arguments
    left = action.at + parse_time(length) - now
    if left > DAY_S:
        command += ["--for", format_time(round(left))]
    elif left > 0:
        next_minute = datetime.fromtimestamp(now + left + 59)
        command += ["--until", f"{next_minute:%H:%M}"]
    return shlex.join(command)


def action_reasons(actions: Iterable[PastAction]) -> list[str]:
    """Return the reasons of actions, the latest first, and the commands that undo those that stop
    something, or whose command has the values from before.

    A long command is left out, and one that was typed, or that a later action has overtaken.
    """
    typed, later, texts = set[str](), list[PastAction](), list[str]()
    for action in actions:
        verb, target, undo = action.verb, action.target, action.undo or ""
        command = shlex.join(["d0ctl", *f"{verb} {target}".split(" ")])
        named = undo and (verb in STOPS or f"{undo} ".startswith(f"d0ctl {verb} "))
        if verb == UPDATE:
            command = undo.partition(" && ")[0]  # without the release of a job that it held
            known = {command}
        else:
            known = {undo} if verb in ENDS else {command, undo, _without_values(undo)}
        shown = (named and len(undo) <= LONGEST_UNDO and typed.isdisjoint(known)
                 and not is_overtaken(action, later))  # fmt: skip
        texts.append("; ".join(filter(None, (action.reason, f"to undo: {undo}" * bool(shown)))))
        typed.add(command)
        later.append(action)
    return texts


def _without_values(undo: str) -> str:
    """Return the first words of a command that the history has of it: the verb and its targets."""
    names = takewhile(lambda word: word[0].isalpha() or word[0] in WILD, shlex.split(undo))
    return shlex.join(names)


def is_overtaken(action: PastAction, later: Sequence[PastAction]) -> bool:
    """Return whether later actions (latest first) undid an action, or removed its jobs or nodes.

    Those of its kind together must have changed as many packages, too: the history has no filters,
    such as `--node`.
    """
    ending = [other for at, other in enumerate(later)
              if _ends(other, action) and not _is_restored(other, later[:at])]  # fmt: skip
    if action.verb in SETTINGS and any(other.verb == "site apply" for other in later):
        return True
    if action.verb in REQUESTS:
        ending += [other for other in later if other.verb == UPDATE]
    if any(other.verb in REMOVES and _covers(other, action.target) for other in ending):
        return True
    changed = sum(other.packages for other in ending)
    if stops_jobs(action) and ending:
        changed = action.packages  # the stop ends, whatever is left by then
    named = [undo_targets(action)]
    if action.verb in ENDS:
        named.append(action.target.split(" "))
    return changed >= action.packages and any(
        all(any(_covers(other, target) for other in ending) for target in targets)
        for targets in named
    )


def _ends(other: PastAction, action: PastAction) -> bool:
    """Return whether an action is of a kind that undoes another one."""
    if action.verb in ENDS:
        is_same = other.verb == action.verb and withdraws(other) == withdraws(action)
        return other.verb in REMOVES | ENDS[action.verb] and not is_same
    is_undo = other.verb != action.verb and f"{action.undo} ".startswith(f"d0ctl {other.verb} ")
    if action.verb == "kill" and (other.undo or "").startswith("d0ctl restore-line "):
        return True  # dropped since, which no retry takes back
    return is_undo or other.verb in REMOVES or other.verb in _canceling(action)


def _canceling(action: PastAction) -> frozenset[str]:
    """Return the actions other than their undo that end a hold or a pause."""
    if action.verb not in ("hold", "pause"):
        return frozenset()
    if stops_jobs(action):
        return frozenset({"finish"})
    return CANCELS if action.verb == "hold" else CANCELS - {"finish"} | {"release"}


def is_priority_of_jobs(action: PastAction | ActionView) -> bool:
    """Return whether an action gave whole jobs a priority."""
    return action.verb == "priority" and _names_jobs(action)


def stops_jobs(action: PastAction | ActionView) -> bool:
    """Return whether an action holds or pauses whole jobs, and not some of their packages."""
    return action.verb in ("hold", "pause") and _names_jobs(action)


def _names_jobs(action: PastAction | ActionView) -> bool:
    named = [_selector(target) for target in undo_targets(action)]
    return all(name and name.names_jobs for name in named)


def _is_restored(action: PastAction, later: Sequence[PastAction]) -> bool:
    """Return whether an action dropped lines that are back, with their acknowledgements."""
    return (action.undo or "").startswith("d0ctl restore-line ") and is_overtaken(action, later)


def withdraws(action: PastAction | ActionView) -> bool:
    """Return whether an acknowledgement was withdrawn: its undo acknowledges again."""
    return "--withdraw" not in (action.undo or "")


def undo_targets(action: PastAction | ActionView) -> list[str]:
    """Return the selectors or names of the undo; of one with former values, those of the action.

    Those of an acknowledgement are of failed packages.
    """
    arguments = shlex.split(action.undo or "")[1 + len(action.verb.split()) :]
    if action.verb not in ENDS and f"{action.undo} ".startswith(f"d0ctl {action.verb} "):
        return action.target.split(" ")
    targets = list(takewhile(lambda word: not word.startswith("-"), arguments))
    if action.verb in ENDS:
        targets = [f"{target.partition(':')[0]}:{Phase.FAILED}" for target in targets]
    return targets


def _covers(other: PastAction, target: str) -> bool:
    """Return whether an action was on all of a target."""
    for part in other.target.split(" "):
        if part == target or (other.verb.startswith("node ") and fnmatchcase(target, part)):
            return True
        outer = _selector(part)
        inner = _selector(target) or _selector(target.partition(":")[0])  # of a file, its job
        if outer and inner and _contains(outer, inner, is_flag=other.verb in FLAGS):
            return True
    return False


@lru_cache(maxsize=4096)
def _selector(text: str) -> Selector | None:
    try:
        return parse(text)
    except BadUsage:
        return None


def _contains(outer: Selector, inner: Selector, *, is_flag: bool) -> bool:
    """Return whether a selector has all that another one has, as far as can be known now."""
    if is_flag and outer.names_jobs != inner.names_jobs:
        return False
    if outer.job != inner.job or outer.stage_name not in (None, inner.stage_name):
        return False
    if outer.phases is not None and not set(inner.phases or Phase) <= set(outer.phases):
        return False
    spans = ((outer.stage, inner.stage), (outer.line, inner.line), (outer.package, inner.package))
    return all(_spans(wide, narrow) for wide, narrow in spans)


def _spans(wide: Span, narrow: Span) -> bool:
    if wide.counts_back or narrow.counts_back:
        return wide == narrow
    return wide.first <= narrow.first and narrow.last <= wide.last
