"""Restore dropped lines, and lines that were dropped because they lacked their files."""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from d0ctl.store import lifecycle
from d0ctl.store.connection import Row, Selection, Store
from d0ctl.store.files import edited_files
from d0ctl.store.files.copies import remake
from d0ctl.store.jobs import retry
from d0ctl.store.jobs.retry import NONE, Listed, Makers
from d0ctl.store.views import left_out


def choose_restored(selected: Selection) -> None:
    """Extend the selection to everything that comes back: remove lines that still lack something,
    and add, repeatedly, dropped ones that now lack nothing.
    """
    while selected.change("leave_without_inputs") > 0:
        pass
    while selected.change("choose_restored") > 0:
        pass


def dropped_ids(selected: Selection) -> frozenset[int]:
    """Return the ids of the selected packages that are dropped."""
    return frozenset(row[0] for row in selected.rows("selected_dropped_ids"))


def keep_named(selected: Selection) -> bool:
    """Keep in the selection the lines that were dropped by name; return whether there is one."""
    selected.change("keep_named")
    return bool(selected.count())


class RestorableLine(NamedTuple):
    """A line that can be restored; `named` says whether a person or an update dropped it."""

    id: int
    named: int
    path: str

    @property
    def is_removed(self) -> bool:
        """Whether its job file no longer has it."""
        return self.named == left_out.REMOVED


def lines_to_restore(store: Store, line: int) -> list[RestorableLine]:
    """Return the lines to restore for a dropped line: itself, or those because of which it was
    dropped.
    """
    return [RestorableLine(row["id"], row["named"], f"{row['job']}/{row['stage']}/{row['line']}")
            for row in store.rows("lines_to_restore", line=line)]  # fmt: skip


def removed(selected: Selection) -> tuple[str, ...]:
    """Return the paths of the selected dropped lines that are no longer in their job file."""
    rows = selected.rows("removed_of_selected")
    return tuple(f"{row['job']}/{row['stage']}/{row['line']}" for row in rows)


def regaining_inputs(selected: Selection) -> list[Row]:
    """Return the packages that get inputs back."""
    return selected.rows("gaining")


def launched_without(selected: Selection) -> Row | None:
    """Return a package that was launched, or has succeeded, without files of the selection."""
    return selected.row("launched_without")


def line_launched_without(store: Store, line_id: int) -> Row | None:
    """Return a package that was launched, or has succeeded, without files of a dropped line."""
    return store.row("line_launched_without", line=line_id)


def done_without(selected: Selection) -> list[Row]:
    """Return the packages that have succeeded without files of the selection, and those that have
    read their files, recursively.
    """
    return selected.rows("done_without")


def lacking_elsewhere(selected: Selection) -> Listed:
    """Return the packages of other jobs that have succeeded without files of the selection, which
    stay as they are.
    """
    return retry.with_needs(selected.store, retry.listed(selected.rows("lacking_elsewhere")))


class Rerun(NamedTuple):
    """Packages that run again because lines come back, and files from outside that have changed."""

    makers: Makers
    """Packages that run again because their outputs were removed, those of the lines first."""
    anew: list[str]
    """Changed files that packages of the lines read again."""
    earlier: dict[str, int]
    """How many packages of the lines keep results of earlier contents of each changed file."""
    readers: Listed
    """Packages of other jobs that have read files of those that run again, and stay as they are."""


def reruns_for(
    selected: Selection, again: Sequence[int], jobs: Iterable[int]
) -> tuple[Selection, Rerun]:
    """Return which packages run besides packages `again` if lines of these jobs come back, and the
    same selection, as the one before can't be used any more.
    """
    store, own = selected.store, selected.rows("made_again_by_restore")
    made = [row["id"] for row in own]
    packages, makers, readers = _ids(selected), Makers(), NONE
    back = [row[0] for row in selected.rows("needing_inputs_again")]
    if again or made or back:
        others = retry.makers_of_removed(store.select([*again, *made, *back]), packages)
        first = [*(row["path"] for row in own), *others.own.first]
        own_again = store.select([*again, *made])
        readers = retry.readers_done(own_again)
        outdated = left_out.outdated(own_again, restored=True).by_recipe
        accepted = others.accepted + retry.count_accepted(own_again)
        listed = Listed(len(own) + others.own.number, tuple(first))
        makers = Makers(listed, outdated + others.outdated, accepted, others.elsewhere)
    anew, earlier = list[str](), dict[str, int]()
    edited = dict[int, str | None]()
    for job in jobs:
        edited |= edited_files.edited_sources(store, job)
    if edited:
        anew = [*edited_files.selected_with_earlier(store.select(made), edited)]
        unmade = store.select({*packages} - {*made})
        earlier = edited_files.selected_with_earlier(unmade, edited)
    return store.select(packages), Rerun(makers, anew, earlier, readers)


def repackaged(selected: Selection) -> str | None:
    """Return the path of a selected package of a task whose files are in other packages."""
    found: str | None = selected.value("repackaged_elsewhere")
    return found


def count_ended(selected: Selection) -> int:
    """Count the dropped packages that had failed, or were canceled, before the drop."""
    return int(selected.value("count_ended_before_drop"))


def that_ended(selected: Selection, packages: Sequence[int]) -> list[int]:
    """Return those of some dropped packages that had failed, or were canceled, before the drop."""
    rows = selected.rows("ended_before_drop", packages=json.dumps(packages)) if packages else []
    return [row["id"] for row in rows]


def count_lacking(selected: Selection) -> int:
    """Count the packages that have succeeded before files of the selection became their inputs."""
    return int(selected.value("count_lacking"))


def restore_and_run(selected: Selection, again: Sequence[int], requested: Sequence[int], *,
                    actor: str, note: str | None, now: float) -> None:  # fmt: skip
    """Undo the drop of the selected packages, and run packages `again` that have succeeded without
    them: these wait for the files that come back.
    """
    store, packages = selected.store, _ids(selected)
    retry.make_again(store.select(again), actor=actor, note=note, now=now)
    restore(store.select(packages), requested, actor=actor, note=note, now=now)


def _ids(selected: Selection) -> list[int]:
    return [row[0] for row in selected.rows("selected_ids")]


def restore(selected: Selection, requested: Sequence[int], *, actor: str, note: str | None,
            now: float) -> None:  # fmt: skip
    """Undo the drop of the selected packages: they are as before, and their files are read again.

    The `requested` lines are no longer dropped by name, even if they stay dropped. Outputs that
    were removed meanwhile are made again.
    """
    selected.change("restore_files")
    selected.change("restore_inputs")
    selected.change("leave_out_dropped")
    selected.change("forget_names", requested=json.dumps(requested))
    selected.change("restore_lines")
    selected.change("wait_for_restored", actor=actor, note=note, now=now)
    selected.change("unassign_readers_of_selected", actor=actor, note=note, now=now)
    selected.change("restore_acknowledgements")
    selected.change("restore_packages", actor=actor, note=note, now=now)
    selected.change("restore_times")
    selected.empty("lost_copy")
    selected.change("lose_restored")
    selected.change("lose_absent_inputs")
    remake(selected.store, now=now)
    if selected.change("leave_out_dropped"):
        selected.change("release_packages", now=now)
    if selected.change("outdate_lacking"):
        while selected.change("outdate_by_makers"):
            pass
    selected.change("outdate_lacking_elsewhere")
    while selected.change("forget_outdated_readers"):  # then their readers
        pass
    lifecycle.weigh_again(selected)
    selected.change("reopen_jobs")
