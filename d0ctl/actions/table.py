"""The table of verbs: what each does and takes, how it is planned, carried out and taken back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from d0ctl.actions.finish import finish, finish_now, plan_finish
from d0ctl.actions.hold import hold, plan_hold, plan_release, release
from d0ctl.actions.kill import kill, plan_kill
from d0ctl.actions.kill_line import kill_line, plan_kill_line
from d0ctl.actions.pause import pause, plan_pause, plan_resume, resume
from d0ctl.actions.plan import Plan, Request
from d0ctl.actions.priority import give_priority, plan_priority
from d0ctl.actions.remove import plan_remove, remove, remove_now
from d0ctl.actions.restore_line import plan_restore_line, restore_line
from d0ctl.actions.retry import plan_retry, prepare_retry, retry_failed
from d0ctl.actions.set_status import plan_set_status, set_status
from d0ctl.store.connection import Store


def _as_it_is(store: Store, request: Request) -> Request:
    return request


def _nothing_more(store: Store, plan: Plan, now: float) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Verb:
    """What a verb does to what, which fields of a `Request` it takes, and whether it destroys.

    `level` is `job`, `line` or `any`. `prepare` runs before the transaction in which it is
    planned and carried out (`act`), `follow` after it.
    """

    does: str
    plan: Callable[[Store, Request], Plan]
    act: Callable[[Store, Plan, str, str | None, float], None]
    level: str = "any"
    takes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    destroys: bool = False
    prepare: Callable[[Store, Request], Request] = _as_it_is
    follow: Callable[[Store, Plan, float], None] = _nothing_more


VERBS: Mapping[str, Verb] = {
    "hold": Verb("keep from being scheduled", plan_hold, hold),
    "release": Verb("allow to be scheduled again", plan_release, release),
    "pause": Verb("park what is not launched; with `running`, suspend the rest",
                  plan_pause, pause, takes=("running",)),
    "resume": Verb("let go on what was paused", plan_resume, resume),
    "retry": Verb("let run again what failed", plan_retry, retry_failed, takes=("changes",),
                  prepare=prepare_retry),
    "kill": Verb("end packages for good", plan_kill, kill, takes=("partial",), destroys=True),
    "kill-line": Verb("end lines; with `drop_outputs`, the rest goes on without their files",
                      plan_kill_line, kill_line, level="line", takes=("drop_outputs",),
                      destroys=True),
    "restore-line": Verb("bring back dropped lines", plan_restore_line, restore_line,
                         level="line"),
    "finish": Verb("start nothing more; with `hard`, end what runs", plan_finish, finish,
                   takes=("hard", "partial"), destroys=True, follow=finish_now),
    "priority": Verb("change what comes first", plan_priority, give_priority, level="job",
                     takes=("priority",), needs=("priority",)),
    "set-status": Verb("give a status by hand", plan_set_status, set_status, takes=("status",),
                       needs=("status",), destroys=True),
    "remove": Verb("forget jobs with their history and results", plan_remove, remove, level="job",
                   takes=("keep_results",), destroys=True, follow=remove_now),
}  # fmt: skip
"""Every verb by its name."""
