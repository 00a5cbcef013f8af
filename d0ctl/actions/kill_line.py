"""kill-line: end lines, and where asked for let the rest go on without their outputs."""

import time

from d0ctl.actions.conflict import last_on_chosen
from d0ctl.actions.kill import kill
from d0ctl.actions.plan import MOST_SHOWN, Loser, Plan, Request
from d0ctl.actions.selection import KILLABLE, of_chosen, rows
from d0ctl.errors import BadUsage, Refused
from d0ctl.model import Phase
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.views import browse


def plan_kill_line(store: Store, request: Request) -> Plan:
    """Whole lines, and with `drop_outputs` all that can't do without them."""
    for part in request.target.parts:
        if not browse.jobs(store, part.job):
            raise browse.no_such_job(store, part.job)
    if request.target.level != "line":
        raise BadUsage(
            f"`{request.target.brief}` names no line",
            hint=f"a line reads JOB/STAGE/LINE: d0ctl status {request.target.job}",
        )
    browse.choose(store, request.target, now=time.time())
    if not lifecycle.lines(store)["undropped"]:
        what = "line" if request.target.is_one else "every line of"
        deed = last_on_chosen(store)
        raise Refused(f"{what} `{request.target.brief}` is dropped already{deed}",
                      hint=f"d0ctl status {request.target.parts[0]}")  # fmt: skip
    if request.drop_outputs:
        return _plan_drop(store, request)
    return of_chosen(store, request, KILLABLE | {Phase.FAILED}, hastens=True)


def _plan_drop(store: Store, request: Request) -> Plan:
    own = int(store.value("count_chosen"))
    own_paths = {row.path for row in rows(store)}
    lifecycle.ask_lines(store)
    lifecycle.choose_bereft(store)
    phases = lifecycle.phases(store)
    stay = {p: n for p, n in phases.items() if p in (Phase.DONE, Phase.TRANSFERRING, Phase.DROPPED)}
    leaving = [row for row in rows(store) if row.phase not in stay]
    losers = [Loser(row["path"], row["lost"], row["left"], bool(row["starts"]))
              for row in lifecycle.losing(store)]  # fmt: skip
    everything = sum(phases.values())
    return Plan(
        request,
        phases={p: n for p, n in phases.items() if p not in stay},
        packages=everything - sum(stay.values()),
        changes=tuple(row for row in leaving if row.path in own_paths)[:MOST_SHOWN],
        kept=stay,
        also=everything - own,
        also_dropped=tuple(row for row in leaving if row.path not in own_paths)[:MOST_SHOWN],
        files=int(store.value("count_chosen_files")),
        files_lost=tuple(lifecycle.dropped_files(store, MOST_SHOWN)),
        losers=tuple(losers[:MOST_SHOWN]),
        losing=len(losers),
        starting=sum(loser.starts for loser in losers),
    )


def kill_line(store: Store, plan: Plan, actor: str, note: str | None, now: float) -> None:
    """End the lines, and take their files out of every list if that was asked for."""
    if plan.request.drop_outputs:
        lifecycle.drop(store, actor=actor, note=note or f"dropped by {actor}", now=now)
    else:
        kill(store, plan, actor, note, now)
        store.change("cancel_failed_packages", actor=actor, now=now)
