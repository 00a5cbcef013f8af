"""Files of datasets follow their packages, by the history of changes and in batches."""

from d0ctl.policy.remarks import Remark
from d0ctl.store.connection import Selection, Store
from d0ctl.store.jobs import retry
from d0ctl.store.tasks import event_ranges

BATCH = 5_000
"""How many changes of packages are read in one transaction."""


def follow(store: Store, *, now: float, limit: int = BATCH) -> bool:
    """Read the next changes of packages; return whether there were any.

    What counts is the phase that a package has now, so it does not matter if a change is read
    twice.
    """
    after = store.value("task_cursor")
    upto = store.value("end_of_events", after=after, limit=limit)
    if upto is None:
        return False
    with store.writing():
        if store.value("task_cursor") != after:
            return True  # another process has read them
        selected = store.select()
        if selected.change("choose_moved", after=after, upto=upto):
            if (merges := _merge_again(selected, now)) is not None:
                merges.change("choose_moved", after=after, upto=upto)
            _follow_selected(merges or selected, now)
        store.change("keep_task_cursor", event=upto)
    return True


def _merge_again(selected: Selection, now: float) -> Selection | None:
    """Make packages again that have merged an old version of a file, and return them, if any.

    They were killed when the file was replaced, but had ended before that.
    """
    selected.change("choose_mergers")
    selected.empty("needed")
    if not selected.change("choose_outdated_merges"):
        return None
    merges = selected.store.select()
    merges.change("choose_needed")
    retry.make_again(merges, actor="d0ctl", note=Remark.OUTDATED_MERGE, now=now)
    return merges


def _follow_selected(selected: Selection, now: float) -> None:
    """Give the files of the selected packages the status that follows from their phase."""
    selected.change("choose_mergers")
    for query in ("unfinish_contents", "unfinish_merges", "start_contents", "finish_contents",
                  "prepare_outputs", "merge_outputs_again", "finish_merges", "merge_ranges",
                  "share_made_files"):  # fmt: skip
        selected.change(query)
    selected.change("end_content_attempts", now=now)
    selected.change("end_merge_attempts", now=now)
    for query in ("fail_contents", "fail_outputs", "fail_merges"):
        selected.change(query)
    is_split = event_ranges.follow(selected)
    selected.empty("needed")
    choices = ("choose_repackaged", "choose_repackaged_ranges", "choose_ended_merges",
               "choose_vain_merges")  # fmt: skip
    if sum([selected.change(query) for query in choices]):
        selected.change("return_contents")
        selected.change("return_ranges")
        drop_repackaged(selected.store, now=now)
    if is_split:
        event_ranges.follow_files(selected.store)
    selected.change("wake_moved_tasks")


def drop_repackaged(store: Store, *, now: float) -> None:
    """Drop the selected packages, whose files go into others, with their outputs."""
    store.change("end_vain_attempts", now=now)
    store.change("return_merges")
    store.change("leave_merges")
    store.change("forget_outputs_of_repackaged")
    store.change("drop_repackaged", now=now)
    store.change("drop_files_of_repackaged")
    store.empty("needed")


def pass_over(store: Store) -> None:
    """Let the first task of a home not read what happened before it; in a transaction."""
    store.change("keep_task_cursor", event=store.value("last_event"))


def finish_outputs(store: Store, task: int, limit: int = BATCH) -> bool:
    """prepared -> finished, for some outputs that are not merged; return whether there were any."""
    with store.writing():
        return bool(store.change("finish_outputs", task=task, limit=limit))


def any_open(store: Store) -> bool:
    """Return whether a task has not ended."""
    return bool(store.value("has_open_tasks"))


def has_task(store: Store, job: int) -> bool:
    """Return whether the packages of a job are made by a task."""
    return store.value("task_of_job", job=job) is not None
