"""Commands for failed packages: only those that are accepted and may not fail again."""

import math
from collections.abc import Sequence
from operator import attrgetter
from shlex import quote
from signal import Signals
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.model import Reason
from d0ctl.show.why.causes import other_inputs
from d0ctl.show.why.causes.correction import correction_of
from d0ctl.show.why.causes.missing_command import missing
from d0ctl.show.why.causes.untried_nodes import untried
from d0ctl.show.why.common import Explanation
from d0ctl.store.attempts.late_outputs import REGROUPED
from d0ctl.store.connection import Store
from d0ctl.store.jobs.correction.texts import is_changed_on_disk
from d0ctl.store.nodes.catalogue import requirement_of_package
from d0ctl.store.nodes.standstill import NodeView, node_views
from d0ctl.store.views import browse, one_package
from d0ctl.store.views.shapes.of_package import AttemptView, PackageView
from d0ctl.units import duration, format_size, format_time, listed, size

DETERMINISTIC = frozenset({
    Reason.EXIT_CODE, Reason.MISSING_OUTPUT, Reason.VERIFICATION, Reason.LOOPING,
    Reason.SEG_FAULT, Reason.LOG_MESSAGE, Reason.NO_INPUTS,
})  # fmt: skip
"""Reasons for which the same program with the same inputs would fail again."""

OWN_SIGNALS = frozenset({Signals.SIGABRT, Signals.SIGFPE, Signals.SIGPIPE})
"""Signals that programs get for what they do, so that another try may end in the same way."""

BROKEN_PIPE = (
    "a program wrote to a pipe whose reader had ended, such as `head`; in bash this fails the "
    "package (`pipefail`), with `shell: sh` it does not"
)

TEMPORARY = 75
"""The exit code of a failure that is temporary: EX_TEMPFAIL of sysexits.h."""

ALIKE = ("reason", "binary", "exit_code", "signal")
"""The columns in which attempts that failed the same way are equal."""

BY_JOB_FILE = frozenset({Reason.MISSING_OUTPUT, Reason.NO_INPUTS})
"""Reasons whose cause may be in the job file."""

OLD_FILE = "a retry runs the job as it was submitted: "

CHANGED_FILE = "the job file was changed since, and a retry runs the job as it was submitted: "

GROUPS_STAY = "the lines of groups stay, so that their files have to be made under the same names"

CERTAIN = "would most likely fail again"
"""What is said of a retry if there is evidence for it."""

RAISED = "it requests {} now, which is more"
"""What is said if a limit was raised after an attempt had reached it."""

GROWTH = 1.5
"""Suggested increase of a resource that ran out, as a factor of its use or limit."""

STEP = 100_000_000
"""Suggested sizes above this many bytes are multiples of it."""


class Raise(NamedTuple):
    """An option of `retry` that gives a package more of a resource, in bytes or seconds."""

    option: str
    amount: int

    def __str__(self) -> str:
        write = format_time if self.option == "--wall-time" else format_size
        return f"{self.option} {write(self.amount)}"


USUAL_MEMORY = Raise("--memory", 2_000_000_000)
"""Suggested if neither a use nor a limit of memory is known."""


class Advice(Struct, frozen=True):
    """Facts about a failure, how to fix it, whether a retry makes sense now, and its option."""

    facts: tuple[str, ...] = ()
    fixes: tuple[str, ...] = ()
    may_retry: bool = True
    more: Raise | None = None
    first: str = ""
    """The command to type before a retry, once the job file is corrected."""

    def add_to(self, explanation: Explanation, target: str, prefix: str = "") -> None:
        """Add the facts, and the command that retries the target."""
        option = f" {self.more}" if self.more else ""
        commands = [f"{self.first}   # once the job file is corrected"] if self.first else []
        if self.may_retry or self.first:
            commands.append(f"d0ctl retry {target}{option}")
        fixes = [prefix + fix for fix in self.fixes]
        explanation.facts += [*(prefix + fact for fact in self.facts), *fixes]
        explanation.commands += commands
        explanation.retries += [*fixes, *commands]


def _against(*facts: str, fixes: tuple[str, ...] = ()) -> Advice:
    return Advice(facts, fixes, may_retry=False)


def advice(
    store: Store, package: PackageView, last: AttemptView | None, target: str = ""
) -> Advice:
    """Advise on retrying a failed or canceled package, with others if there is a target."""
    renewed = other_inputs.renewed(store, package, last)
    advised = _advice(store, package, last, target, is_renewed=bool(renewed))
    if renewed:
        advised = replace(advised, facts=(*advised.facts, renewed))
    is_over = last is not None and package.phase == "failed" and not is_redefined(package, last)
    if is_over and is_changed_on_disk(store, package.job_id):
        fixes = [fix for fix in advised.fixes if not fix.startswith(OLD_FILE)]
        correction = correction_of(store, package)
        # Without more of what ran out, a retry may be refused after the update as well.
        again = f"`{correction.update}`" if advised.more and correction.update else correction.again
        changed = CHANGED_FILE + again
        return replace(advised, fixes=(*fixes, changed))
    return advised


def _advice(
    store: Store, package: PackageView, last: AttemptView | None, target: str, *, is_renewed: bool
) -> Advice:
    nodes, target = node_views(store), target or package.path
    if dropped := other_inputs.dropped(store, package):
        return _against(f"it can't be retried: it needs `{dropped}` of a dropped line")
    is_at_end = package.phase == "failed" or (package.phase, package.actor) == ("held", "policy")
    is_over = last is not None and is_at_end and not is_redefined(package, last)
    if is_over and last is not None and last.reason == Reason.OUT_OF_MEMORY:
        return _more_memory(store, package, last, nodes)
    if unfit := _unfit(store, package, nodes, package.memory):
        return _against(f"it can't be retried: no node can take it: {unfit}")
    if last is None or not is_over:
        return Advice(_peak(last))
    if last.reason == Reason.WALL_TIME:
        return _more_time(package, last)
    if last.reason == Reason.DISK_FULL and package.disk:
        peak = one_package.peak_disk(store, last.id)
        return Advice(more=Raise("--disk", _grown(max(package.disk, peak))))
    problem = missing(store, package, last)
    others = untried(store, package, last) if problem is None or problem.is_of_node else None
    said = tuple(found.fact for found in (problem, others) if found)
    if (problem and problem.is_fixed) or (others and others.takes):
        return Advice(said)
    if problem:
        fixes = (_fix(target),) if problem.may_retry else ()
        return replace(_against(*said, fixes=fixes), first=problem.first)
    if REGROUPED in (last.message or ""):
        return _against(GROUPS_STAY, fixes=(_new_groups(package),))
    if is_renewed:
        return Advice()
    if last.reason in BY_JOB_FILE:
        fix = _fix(target, is_certain=_fails_again(store, package, last))
        correction = correction_of(store, package)
        is_wrong = f"if the {correction.source} is wrong, correct it, then {correction.again}"
        return _against(fixes=(fix, OLD_FILE + is_wrong))
    if is_deterministic(last.reason, last.exit_code) or last.signal in OWN_SIGNALS:
        facts = [BROKEN_PIPE] if last.signal == Signals.SIGPIPE else []
        fix = _fix(target, is_certain=_fails_again(store, package, last))
        return _against(*facts, fixes=(fix,))
    return Advice()


def is_redefined(package: PackageView, last: AttemptView) -> bool:
    """Return whether the job was corrected since, so that a retry runs something else."""
    return package.redefined is not None and package.redefined >= (last.ended or 0.0)


def is_deterministic(reason: str | None, exit_code: int | None = None) -> bool:
    """Return whether a plain retry most likely fails the same way."""
    if reason == Reason.SOFTWARE_MISSING:
        return exit_code in (126, 127)
    if reason == Reason.EXIT_CODE and exit_code == TEMPORARY:
        return False
    return reason in DETERMINISTIC or (reason or "").startswith("site:")


def _fails_again(store: Store, package: PackageView, last: AttemptView) -> bool:
    """Return whether there is evidence that a failure is no accident.

    The package failed so twice, or others of its stage did as well and none has succeeded.
    """
    own = [attempt for attempt in one_package.attempts(store, package.id)
           if _failed_as(last, attempt) and not is_redefined(package, attempt)]  # fmt: skip
    return len(own) > 1 or one_package.is_failure_of_stage(store, package.stage_id, last)


def _failed_as(last: AttemptView, attempt: AttemptView) -> bool:
    return all(getattr(attempt, name) == getattr(last, name) for name in ALIKE)


def _is_certain(advised: Advice) -> bool:
    return any(CERTAIN in fix for fix in advised.fixes)


def _fix(target: str, *, is_certain: bool = True) -> str:
    again = CERTAIN if is_certain else "may fail again"
    return f"a plain retry {again}: fix the cause, then `d0ctl retry {target}`"


def _more_memory(
    store: Store, package: PackageView, last: AttemptView, nodes: list[NodeView]
) -> Advice:
    used = max(last.rss or 0, package.memory or 0)
    if package.memory is None and (last.memory or not used):  # it has no limit any more
        return Advice(_peak(last), more=None if last.memory else USUAL_MEMORY)
    if not used:
        return Advice(may_retry=False)
    largest = max((node.node.room.memory or 0 for node in nodes), default=0)
    others = one_package.peak_memory_of_alike(store, package.stage_id)
    is_raised = last.memory is not None and used > max(last.memory, last.rss or 0, others)
    wanted = used if is_raised else _grown(max(used, others))
    wanted = largest if largest and wanted > largest > used else wanted
    if why := _unfit(store, package, nodes, wanted):
        return _against(f"it used {size(used)} of memory, and no node can take it with more: {why}")
    facts = (*(RAISED.format(f"{size(used)} of memory"),) * is_raised, *_peak(last))
    if others > used:
        facts += (f"packages of its stage that ran out of memory took up to {size(others)}",)
    return Advice(facts, more=Raise("--memory", wanted))


def _peak(last: AttemptView | None) -> tuple[str, ...]:
    """Say how much memory an attempt took that ran out of it, if that is known."""
    if last is None or last.reason != Reason.OUT_OF_MEMORY or not last.rss:
        return ()
    return (f"its peak was {size(last.rss)} of memory",)


def _more_time(package: PackageView, last: AttemptView) -> Advice:
    ran = (last.ended or 0.0) - (last.started or 0.0) - last.suspended if last.started else 0.0
    limit = max(package.wall_time or 0.0, math.floor(ran))
    if limit <= 0 or (package.wall_time is None and "wall time" in (last.message or "")):
        return Advice()
    if limit > ran + 1:  # as in `hopeless_reasons`
        raised = RAISED.format(f"a wall time of {duration(limit)}")
        return Advice((raised,), more=Raise("--wall-time", math.ceil(limit)))
    return Advice(more=Raise("--wall-time", math.ceil(limit * 2)))


def _new_groups(package: PackageView) -> str:
    """Say which commands help if the files of groups have changed."""
    job = quote(package.job)
    back = f"if an `update` is the cause, `d0ctl update {job} --previous` goes back"
    return f"{back}; `d0ctl clone {job} --as NAME` makes new groups"


def _grown(used: int) -> int:
    """Return an increased size, rounded."""
    more = int(used * GROWTH)
    step = STEP if more > STEP else STEP // 100
    return -(-more // step) * step


def _unfit(
    store: Store, package: PackageView, nodes: list[NodeView], memory: int | None
) -> str | None:
    """Return why no node can ever take a package with this much memory; None if one can."""
    requirement = replace(requirement_of_package(store, package.id), memory=memory)
    reasons = {view.name: view.node.misfit(requirement) for view in nodes}
    if not reasons or None in reasons.values():
        return None
    return listed(f"`{name}`: {why}" for name, why in list(reasons.items())[:3])


def for_alike(store: Store, target: str, paths: Sequence[str]) -> Advice:
    """Advise one retry of the target: packages that failed for a reason; `paths` are some of them.

    It has the largest of the resources that are advised for them, and is no surer of another
    failure than the advice for each.
    """
    from d0ctl.select import parse

    packages = [browse.package(store, parse(path)) for path in paths]
    each = [advice(store, package, one_package.attempts(store, package.id)[-1], target)
            for package in packages]  # fmt: skip
    if not any(single.may_retry for single in each):
        return each[0] if each[0].facts else min(each, key=_is_certain)
    return Advice(facts=tuple(fact for fact in each[0].facts
                              if all(fact in single.facts for single in each)),
                  more=max((single.more for single in each if single.may_retry and single.more),
                           key=attrgetter("amount"), default=None))  # fmt: skip


def alike(selector: str, reason: str, node: str = "") -> str:
    """Return the words that select packages that failed for a reason, with a node only there."""
    return f"{quoted_parts(selector)}{f' --node {node}' * bool(node)} --failed-for {reason}"


def quoted_parts(selector: str) -> str:
    """Return the words to type for a selector of one part or several; states are quoted."""
    return " ".join(f"'{part}'" if ":" in part else quote(part) for part in selector.split(" "))
