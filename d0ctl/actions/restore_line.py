"""restore-line: dropped lines come back, until a consumer was launched without them."""

import time

from d0ctl.actions.conflict import last_on_chosen
from d0ctl.actions.plan import MOST_SHOWN, Gainer, Plan, Request
from d0ctl.actions.selection import rows
from d0ctl.errors import BadUsage, Refused
from d0ctl.model import Phase
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.jobs import restore
from d0ctl.store.views import browse
from d0ctl.units import moment


def plan_restore_line(store: Store, request: Request) -> Plan:
    """The dropped lines of the choice, and all that was dropped for want of their files."""
    target = request.target
    if target.level != "line":
        raise BadUsage(f"`{target.brief}` names no line",
                       hint=f"a line reads JOB/STAGE/LINE: d0ctl status {target.job}")  # fmt: skip
    browse.choose(store, target, now=time.time())
    is_dropped = bool(lifecycle.lines(store)["dropped"])
    store.change("keep_named")
    if not int(store.value("count_chosen")):
        raise _not_restorable(request, is_dropped)
    _check_not_ending(store, request)
    own = int(store.value("count_chosen"))
    own_paths = {row.path for row in rows(store)}
    restore.choose_restored(store)
    _check_not_launched(store, request)
    return _plan(store, request, own, own_paths)


def _plan(store: Store, request: Request, own: int, own_paths: set[str]) -> Plan:
    phases = lifecycle.phases(store)
    back = [row for row in rows(store) if row.phase == Phase.DROPPED]
    gainers = [Gainer(row["path"], row["gained"], row["had"], bool(row["waits"]))
               for row in store.rows("gaining")]  # fmt: skip
    return Plan(
        request,
        phases={p: n for p, n in phases.items() if p == Phase.DROPPED},
        packages=phases.get(Phase.DROPPED, 0),
        changes=tuple(row for row in back if row.path in own_paths)[:MOST_SHOWN],
        kept={p: n for p, n in phases.items() if p != Phase.DROPPED},
        also=sum(phases.values()) - own,
        also_dropped=tuple(row for row in back if row.path not in own_paths)[:MOST_SHOWN],
        files=int(store.value("count_restorable_files")),
        files_lost=tuple(row[0] for row in store.rows("restorable_files", limit=MOST_SHOWN)),
        gainers=tuple(gainers[:MOST_SHOWN]),
        gaining=len(gainers),
    )


def _not_restorable(request: Request, is_dropped: bool) -> Refused:
    target = request.target
    what = f"line `{target.brief}`" if target.is_one else f"none of the lines `{target.brief}`"
    if not is_dropped:
        return Refused(f"{what} is {'not ' if target.is_one else ''}dropped, "
                       "so it can't be restored",
                       hint=f"d0ctl status '{target.parts[0]}'")  # fmt: skip
    return Refused(
        f"{what} was dropped for want of what it needs, so it comes back with that line alone"
        if target.is_one else f"{what} was dropped for its own sake",
        hint=f"d0ctl history {target.job} says which lines were dropped",
    )  # fmt: skip


def _check_not_ending(store: Store, request: Request) -> None:
    ending = lifecycle.phases(store).get(Phase.KILLING, 0)
    if ending:
        raise Refused(
            f"{ending} package{'s' if ending > 1 else ''} of `{request.target.brief}` "
            "still being ended on the nodes, so it can't be restored yet",
            hint=f"d0ctl status '{request.target.parts[0]}'",
        )


def _check_not_launched(store: Store, request: Request) -> None:
    row = restore.launched_without(store)
    if row is None:
        return
    at = f" at {moment(row['launched'], time.time())}" if row["launched"] is not None else ""
    deed = last_on_chosen(store)
    raise Refused(
        f"package `{row['path']}` was launched{at} without files of `{request.target.brief}`, "
        f"so it can't be restored{deed}",
        hint=f"d0ctl status {row['path']} says what it goes without",
    )


def restore_line(store: Store, plan: Plan, actor: str, note: str | None, now: float) -> None:
    """Bring the lines back, and all that was dropped for want of them."""
    restore.restore(store, actor=actor, note=note or f"restored by {actor}", now=now)
