"""Restore dropped lines, and lines that were dropped because they lacked their files."""

from d0ctl.store import lifecycle
from d0ctl.store.connection import Row, Store
from d0ctl.store.files.copies import remake


def choose_restored(store: Store) -> None:
    """Extend the selection to everything that comes back: remove lines that still lack something,
    and add, repeatedly, dropped ones that now lack nothing.
    """
    lifecycle.ask_lines(store)
    while store.change("leave_without_inputs") > 0:
        pass
    while store.change("choose_restored") > 0:
        pass


def keep_named(store: Store) -> int:
    """Keep in the selection the lines that were dropped by name; return how many packages."""
    store.change("keep_named")
    return lifecycle.count(store)


def regaining_inputs(store: Store) -> list[Row]:
    """Return the packages that get inputs back."""
    return store.rows("gaining")


def files(store: Store, limit: int) -> tuple[str, ...]:
    """Return the first files that come back."""
    return tuple(row[0] for row in store.rows("restorable_files", limit=limit))


def count_files(store: Store) -> int:
    """Count the files that come back."""
    return int(store.value("count_restorable_files"))


def launched_without(store: Store) -> Row | None:
    """Return a package that was launched, or has succeeded, without files of the choice."""
    return store.row("launched_without")


def repackaged(store: Store) -> str | None:
    """Return the path of a chosen package of a task whose files are in other packages."""
    found: str | None = store.value("repackaged_elsewhere")
    return found


def restore(store: Store, *, actor: str, note: str | None, now: float) -> None:
    """Undo the drop of the chosen packages: they are as before, and their files are read again.

    Outputs that were removed meanwhile are made again.
    """
    store.change("restore_files")
    store.change("restore_inputs")
    store.change("leave_out_dropped")
    store.change("restore_lines")
    store.change("forget_names")
    store.change("wait_for_restored", actor=actor, note=note, now=now)
    store.change("unassign_readers_of_chosen", actor=actor, note=note, now=now)
    store.change("restore_packages", actor=actor, note=note, now=now)
    store.change("clear_lost")
    store.change("lose_restored")
    store.change("lose_absent_inputs")
    remake(store, now=now)
    store.change("reopen_jobs")
