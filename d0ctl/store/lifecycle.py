"""Changes of phases: a set-based function for each, over the selected packages.

The selection is the temporary table `chosen` of the connection.
"""

from collections.abc import Iterable

from d0ctl.store import input_stream
from d0ctl.store.connection import Row, Store


def choose(store: Store, packages: Iterable[int]) -> None:
    """Select these packages."""
    store.change("clear_chosen")
    store.change_many("choose_package", ((package,) for package in packages))


def choose_launched(store: Store, jobs: Iterable[int]) -> None:
    """Select the launched packages of jobs."""
    store.change("clear_chosen")
    for job in jobs:
        store.change("choose_launched", job=job)


def count(store: Store) -> int:
    """Count the selected packages."""
    return int(store.value("count_chosen"))


def paths(store: Store, limit: int) -> list[tuple[str, str]]:
    """Return path and phase of the first selected packages."""
    return [(row["path"], row["phase"]) for row in store.rows("chosen_paths", limit=limit)]


def phases(store: Store) -> dict[str, int]:
    """Count the selected packages by phase."""
    return {row["phase"]: row["n"] for row in store.rows("chosen_by_phase")}


def lines(store: Store) -> Row:
    """Return whether a line of the selected packages is dropped, and whether one is not."""
    row = store.row("chosen_lines")
    assert row is not None
    return row


def hold_job(store: Store, job: int, *, actor: str, note: str | None, now: float) -> bool:
    """Keep a whole job from being scheduled: one flag, whatever its size."""
    store.change("unassign_job", job=job, actor=actor, note=note, now=now)
    return bool(store.change("hold_job", job=job, actor=actor, note=note, now=now))


def release_job(store: Store, job: int) -> bool:
    """Remove the flag of `hold_job`; its failures are counted from zero again."""
    store.change("forget_alike_of_job", job=job)
    store.change("excuse_failures_of_job", job=job)
    return bool(store.change("release_job", job=job))


def hold(store: Store, *, actor: str, note: str | None, now: float) -> int:
    """not launched -> held; return how many."""
    return store.change("hold_packages", actor=actor, note=note, now=now)


def release(store: Store, *, actor: str, note: str | None, now: float) -> int:
    """held -> ready or waiting, or back to its cool-off; return how many."""
    released = store.change("release_held_packages", actor=actor, note=note, now=now)
    store.change("reopen_jobs")
    return released


def set_priority(store: Store, job: int, priority: int) -> None:
    """Set the priority of a job; the scheduler follows it."""
    store.change("set_priority", job=job, priority=priority)


def priorities(store: Store) -> list[int]:
    """Return the different priorities of the selected packages."""
    return [row[0] for row in store.rows("priorities_of_chosen")]


def give_priority(store: Store, priority: int) -> None:
    """Give the selected packages a priority of their own."""
    for row in store.rows("chosen_requirements"):
        same = {name: row[name] for name in ("memory", "avoid", "boost", "failed_on", "stay")}
        wanted = {"requirement": row["id"], "priority": priority, **same}
        new = store.value("requirement_like", **wanted)
        new = new or store.value("make_requirement_like", **wanted)
        store.change("change_requirement", old=row["id"], new=new)


def kill(store: Store, *, actor: str, note: str | None, now: float, partial: bool = False) -> int:
    """not launched -> canceled, launched -> killing; return how many. Ended ones stay as they are.

    With `partial` usable outputs are kept. Without it, packages that are being killed end sooner.
    """
    # First, or packages that this call kills would lose their grace.
    hastened = 0 if partial else store.change("hasten_killing")
    idle = store.change("kill_idle_packages", actor=actor, note=note, now=now)
    launched = store.change("kill_launched_packages", actor=actor, note=note, now=now,
                            request="kill partial" if partial else "kill")  # fmt: skip
    store.change("end_canceled_attempts", now=now)
    store.change("cancel_transfers")
    if idle + launched:
        store.change("reopen_jobs")
    return idle + launched + hastened


def cancel_failed(store: Store, *, actor: str, now: float) -> None:
    """failed -> canceled."""
    store.change("cancel_failed_packages", actor=actor, now=now)


def hastenable(store: Store) -> int:
    """Count the selected packages that are being killed and could end sooner."""
    return int(store.value("count_hastenable"))


def cancel_idle(store: Store, *, actor: str, note: str | None, now: float) -> int:
    """not launched -> canceled; return how many. Launched packages continue."""
    store.change("keep_idle")
    canceled = store.change("kill_idle_packages", actor=actor, note=note, now=now)
    if canceled:
        store.change("reopen_jobs")
    return canceled


def ask_lines(store: Store) -> None:
    """Remember the lines of the selection as the requested ones, before others are added."""
    store.change("clear_asked")
    store.change("ask_lines")


def choose_without_inputs(store: Store) -> None:
    """Add to the selection, repeatedly, the packages that a drop leaves without inputs."""
    while store.change("choose_without_inputs") > 0:
        pass


def losing(store: Store) -> list[Row]:
    """Return the packages that lose an input by a drop and continue without it."""
    return store.rows("choose_losing")


def dropped_files(store: Store, limit: int) -> list[str]:
    """Return the first files that a drop of the selected packages removes from all inputs."""
    return [row[0] for row in store.rows("chosen_files", limit=limit)]


def count_dropped_files(store: Store) -> int:
    """Count the files that a drop of the selected packages removes from all inputs."""
    return int(store.value("count_chosen_files"))


def drop(store: Store, *, actor: str | None, note: str | None, now: float) -> None:
    """Drop the chosen packages with their outputs (D0 Job Definition, section 5).

    Successful packages stay successful; only their outputs are removed from the lists. The lines of
    `ask_lines` are dropped by request, others because an input of theirs is missing.
    """
    # Assigned packages become ready first: a list of inputs is cut only before it is launched.
    store.change("unassign_readers_of_chosen", actor=actor, note=note, now=now)
    store.change("drop_inputs")
    if store.change("drop_open_inputs"):
        input_stream.close_input_lists(store)
    # The lists are cut by now, so `missing` says which packages have lost all existing ones.
    store.change("wait_for_first", actor=actor, note=note, now=now)
    store.change("drop_files")
    store.change("drop_lines", now=now)
    store.change("drop_idle_packages", actor=actor, note=note, now=now)
    store.change("drop_launched_packages", actor=actor, note=note, now=now)
    store.change("drop_killing_packages")
    # Of packages that are dropped by now, attempts out of contact no longer count.
    store.change("end_canceled_attempts", now=now)
    # Packages that waited only for dropped files can start.
    store.change("release_packages", now=now)
    store.change("reopen_jobs")


def keep_action(
    store: Store,
    *,
    verb: str,
    target: str,
    actor: str,
    note: str | None,
    packages: int,
    now: float,
    undo: str | None = None,
) -> None:
    """Record who did what, when, to what, why, and the command that undoes it."""
    store.change("keep_action", now=now, actor=actor, verb=verb, target=target, note=note,
                 packages=packages, undo=undo)  # fmt: skip
