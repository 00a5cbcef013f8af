"""What people do to jobs: each verb as a plan that can be shown, and as one transaction.

Command line, dashboard and Python API all come through here.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from d0ctl.errors import BadUsage, Refused
from d0ctl.model import STATUS_OF, Phase, Status, by_status
from d0ctl.select import Selector
from d0ctl.store import browse, lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.views import JobSummary

MOST_SHOWN = 50
"""How many packages or files of each kind a plan names; it counts the rest."""

LIVE = frozenset(phase for phase, status in STATUS_OF.items() if status is Status.LAUNCHED)

HOLDABLE = frozenset({Phase.WAITING, Phase.READY, Phase.COOLOFF, Phase.ASSIGNED})
KILLABLE = HOLDABLE | {Phase.HELD} | LIVE - {Phase.KILLING}


@dataclass(frozen=True, slots=True)
class Request:
    """A verb and what it is meant for."""

    verb: str
    target: Selector
    drop_outputs: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """A package that a plan changes, and the phase it is in now."""

    path: str
    phase: str


@dataclass(frozen=True, slots=True)
class Loser:
    """A package that loses inputs and goes on without them; `starts` if nothing else is missing."""

    path: str
    lost: int
    left: int
    starts: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """What a verb would do: changes, what it would unblock, and what would be lost.

    Lists name the first few; the numbers beside them count all.
    """

    request: Request
    jobs: tuple[str, ...] = ()
    phases: Mapping[str, int] | None = None
    packages: int = 0
    changes: tuple[Change, ...] = ()
    kept: Mapping[str, int] | None = None
    also: int = 0
    also_dropped: tuple[Change, ...] = ()
    files: int = 0
    files_lost: tuple[str, ...] = ()
    losers: tuple[Loser, ...] = ()
    losing: int = 0
    starting: int = 0

    @property
    def by_flag(self) -> bool:
        """Whether it changes the flag of whole jobs and no package."""
        return bool(self.jobs) and self.request.verb in ("hold", "release")


def preview(store: Store, request: Request) -> Plan:
    """Build a plan and change nothing. Raises NotFound, Refused or BadUsage as `apply` would."""
    with store.reading():
        return _VERBS[request.verb].plan(store, request)


def apply(
    store: Store, request: Request, *, actor: str, note: str | None, now: float | None = None
) -> Plan:
    """Plan again and do it, in one transaction, keeping who did it and why."""
    at = time.time() if now is None else now
    with store.writing():
        plan = _VERBS[request.verb].plan(store, request)
        _VERBS[request.verb].act(store, plan, actor, note, at)
        lifecycle.keep_action(
            store, verb=request.verb, target=str(request.target), actor=actor, note=note,
            packages=plan.packages, now=at,
        )  # fmt: skip
    if request.verb == "remove":
        _remove_rows(store, plan)
    return plan


def _by_flag(target: Selector) -> bool:
    """Whether whole jobs are meant, so that their flag does it."""
    return target.depth == 1 and not target.is_filtered


def _jobs(store: Store, target: Selector) -> list[JobSummary]:
    found = browse.jobs(store, target.job)
    if not found:
        raise browse.no_such_job(store, target.job)
    return found


# hold and release ---------------------------------------------------------------


def _plan_hold(store: Store, request: Request) -> Plan:
    if not _by_flag(request.target):
        return _plan_packages(store, request, HOLDABLE, "held")
    jobs = _jobs(store, request.target)
    free = [job for job in jobs if not job.hold and not _has_ended(job)]
    if not free and len(jobs) == 1:
        job = jobs[0]
        if job.hold:
            by = f" by {job.hold_actor}" + (f" ({job.hold_note})" if job.hold_note else "")
            raise Refused(f"job `{job.name}` is held{by}, so it can't be held again",
                          hint=f"d0ctl release {job.name}")  # fmt: skip
        raise Refused(f"job `{job.name}` is {job.status}, so it can't be held",
                      hint=f"d0ctl status {job.name}")  # fmt: skip
    return _flag_plan(request, free)


def _has_ended(job: JobSummary) -> bool:
    """Whether nothing is left that a hold could keep back."""
    totals = by_status(job.counts)
    return not (totals["unscheduled"] or totals["scheduled"] or totals["launched"])


def _plan_release(store: Store, request: Request) -> Plan:
    if not _by_flag(request.target):
        return _plan_packages(store, request, frozenset({Phase.HELD}), "released")
    jobs = _jobs(store, request.target)
    held = [job for job in jobs if job.hold]
    if not held and len(jobs) == 1:
        job = jobs[0]
        parts = job.counts.get("held", 0)
        hint = f"d0ctl release '{job.name}:held' releases {parts} of its packages" if parts else (
            f"d0ctl why {job.name}")  # fmt: skip
        raise Refused(f"job `{job.name}` is not held as a whole, so it can't be released",
                      hint=hint)  # fmt: skip
    return _flag_plan(request, held)


def _flag_plan(request: Request, jobs: list[JobSummary]) -> Plan:
    if not jobs:
        raise Refused(f"no job of `{request.target}` can be {_PAST[request.verb]}")
    idle = sum(by_status(job.counts)["unscheduled"] for job in jobs)
    return Plan(request, jobs=tuple(job.name for job in jobs), packages=idle)


def _act_hold(store: Store, plan: Plan, actor: str, note: str | None, now: float) -> None:
    for name in plan.jobs:
        lifecycle.hold_job(store, browse.job(store, name).id, actor=actor, note=note, now=now)
    if not plan.jobs:
        lifecycle.hold(store, actor=actor, note=note, now=now)


def _act_release(store: Store, plan: Plan, actor: str, note: str | None, now: float) -> None:
    for name in plan.jobs:
        lifecycle.release_job(store, browse.job(store, name).id)
    if not plan.jobs:
        lifecycle.release(store, actor=actor, note=note, now=now)
        store.change("reopen_jobs")


# kill --------------------------------------------------------------------------------


def _plan_packages(store: Store, request: Request, able: frozenset[Phase], past: str) -> Plan:
    """The packages of a choice that are in a phase the verb is for. Raises Refused if none is."""
    browse.choose(store, request.target, now=time.time())
    plan = _plan_chosen(store, request, able)
    if not plan.packages:
        raise _none_able(request.target, plan.kept or {}, past)
    return plan


def _plan_chosen(store: Store, request: Request, able: frozenset[Phase]) -> Plan:
    phases = lifecycle.phases(store)
    changed = {phase: n for phase, n in phases.items() if phase in able}
    kept = {phase: n for phase, n in phases.items() if phase not in able}
    changes = [row for row in _rows(store) if row.phase in able]
    return Plan(request, phases=changed, packages=sum(changed.values()), kept=kept,
                changes=tuple(changes[:MOST_SHOWN]))  # fmt: skip


def _rows(store: Store, limit: int = 20 * MOST_SHOWN) -> list[Change]:
    return [Change(row["path"], row["phase"]) for row in store.rows("chosen_paths", limit=limit)]


def _none_able(target: Selector, kept: Mapping[str, int], past: str) -> Refused:
    hint = f"d0ctl why {target}"
    if target.is_one and target.level == "package":
        (phase,) = kept
        return Refused(f"package `{target}` is {_state_of(phase)}, so it can't be {past}",
                       hint=hint)  # fmt: skip
    states = ", ".join(f"{n} {_state_of(phase)}" for phase, n in kept.items())
    return Refused(f"nothing of `{target}` can be {past}: {states}",
                   hint=f"d0ctl status {target}")  # fmt: skip


def _state_of(phase: str) -> str:
    """The word that says best why a verb does not apply."""
    if phase == Phase.KILLING:
        return "being killed"
    if phase in (Phase.DONE, Phase.CANCELED, Phase.FAILED):
        return STATUS_OF[Phase(phase)]
    return phase


def _plan_kill(store: Store, request: Request) -> Plan:
    return _plan_packages(store, request, KILLABLE, "killed")


def _act_kill(store: Store, plan: Plan, actor: str, note: str | None, now: float) -> None:
    lifecycle.kill(store, actor=actor, note=note or f"killed by {actor}", now=now)


# kill-line ---------------------------------------------------------------------------


def _plan_kill_line(store: Store, request: Request) -> Plan:
    if request.target.level != "line":
        raise BadUsage(
            f"`{request.target}` names no line",
            hint=f"a line reads JOB/STAGE/LINE: d0ctl status {request.target.job}",
        )
    browse.choose(store, request.target, now=time.time())
    if all(row["dropped"] is not None for row in store.rows("chosen_lines")):
        what = "line" if request.target.is_one else "every line of"
        raise Refused(f"{what} `{request.target}` is dropped already",
                      hint=f"d0ctl status {request.target}")  # fmt: skip
    if request.drop_outputs:
        return _plan_drop(store, request)
    return _plan_chosen(store, request, KILLABLE | {Phase.FAILED})


def _plan_drop(store: Store, request: Request) -> Plan:
    own = int(store.value("count_chosen"))
    own_paths = {row.path for row in _rows(store)}
    lifecycle.choose_bereft(store)
    phases = lifecycle.phases(store)
    stay = {p: n for p, n in phases.items() if p in (Phase.DONE, Phase.TRANSFERRING, Phase.DROPPED)}
    rows = [row for row in _rows(store) if row.phase not in stay]
    losers = [Loser(row["path"], row["lost"], row["left"], bool(row["starts"]))
              for row in lifecycle.losing(store)]  # fmt: skip
    everything = sum(phases.values())
    return Plan(
        request,
        phases={p: n for p, n in phases.items() if p not in stay},
        packages=everything - sum(stay.values()),
        changes=tuple(row for row in rows if row.path in own_paths)[:MOST_SHOWN],
        kept=stay,
        also=everything - own,
        also_dropped=tuple(row for row in rows if row.path not in own_paths)[:MOST_SHOWN],
        files=int(store.value("count_chosen_files")),
        files_lost=tuple(lifecycle.dropped_files(store, MOST_SHOWN)),
        losers=tuple(losers[:MOST_SHOWN]),
        losing=len(losers),
        starting=sum(loser.starts for loser in losers),
    )


def _act_kill_line(store: Store, plan: Plan, actor: str, note: str | None, now: float) -> None:
    if plan.request.drop_outputs:
        lifecycle.drop(store, actor=actor, note=note or f"dropped by {actor}", now=now)
    else:
        _act_kill(store, plan, actor, note, now)
        store.change("cancel_failed_packages", actor=actor, now=now)


# remove ------------------------------------------------------------------------------


def _plan_remove(store: Store, request: Request) -> Plan:
    if not _by_flag(request.target):
        raise BadUsage(f"`{request.target}` is no whole job, and a part of one can't be removed",
                       hint=f"d0ctl kill '{request.target}'")  # fmt: skip
    from d0ctl.store.removal import check_removal

    jobs = _jobs(store, request.target)
    for job in jobs:
        live = by_status(job.counts)["launched"]
        if live:
            raise Refused(
                f"job `{job.name}` has {live} launched package{'s' if live > 1 else ''}, "
                "so it can't be removed",
                hint=f"d0ctl kill {job.name}",
            )
        check_removal(store, job.id, job.name)
    return Plan(request, jobs=tuple(job.name for job in jobs),
                packages=sum(job.packages for job in jobs))  # fmt: skip


def _act_remove(store: Store, plan: Plan, actor: str, note: str | None, now: float) -> None:
    """Take the jobs out of sight; from here on a crash ends in their removal."""
    from d0ctl.store.holder import holder

    for name in plan.jobs:
        job = browse.job(store, name)
        store.change("hide_job", job=job.id, holder=holder())


def _remove_rows(store: Store, plan: Plan) -> None:
    from d0ctl.store.removal import remove_rows

    for name in plan.jobs:
        for row in store.rows("hidden_jobs"):
            if row["name"] == name:
                remove_rows(store, row["id"])


@dataclass(frozen=True, slots=True)
class _Verb:
    plan: Callable[[Store, Request], Plan]
    act: Callable[[Store, Plan, str, str | None, float], None]


_VERBS: Mapping[str, _Verb] = {
    "hold": _Verb(_plan_hold, _act_hold),
    "release": _Verb(_plan_release, _act_release),
    "kill": _Verb(_plan_kill, _act_kill),
    "kill-line": _Verb(_plan_kill_line, _act_kill_line),
    "remove": _Verb(_plan_remove, _act_remove),
}

_PAST = {"hold": "held", "release": "released"}
