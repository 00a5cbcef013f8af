"""What `run` and `wait` print about a job: how it ended, why it stands still, its results."""

import shlex
from collections.abc import Sequence

from d0ctl.model import STATUS_OF, Counts, Group, Phase, Status, by_status
from d0ctl.show.drawing import signs
from d0ctl.show.drawing.archived import replaced
from d0ctl.show.drawing.remark_texts import remark
from d0ctl.show.drawing.sheet import Cell
from d0ctl.show.drawing.spans import cut
from d0ctl.store.connection import Store
from d0ctl.store.files.selected_files import CONTROL, REPLACED, RESIZED, WRITTEN_AGAIN, FileRow
from d0ctl.store.nodes.standstill import JobStanding, node_views
from d0ctl.store.views.shapes import JobSummary
from d0ctl.units import clean, count, duration, listed, size

MOST_RESULTS = 8
"""How many results are named; the rest are counted."""

MOST_DOWN = 3
"""How many nodes that are down are named; the rest are counted."""

CHECKSUM = 20
"""How many columns of a checksum are shown."""


def no_daemon(jobs: Sequence[str]) -> str:
    """Say that no daemon is running, and what drives these jobs instead."""
    run = f", or `d0ctl run {shlex.quote(jobs[0])}`" if len(jobs) == 1 else ""
    return f"no daemon is running, so nothing new starts: `d0ctl daemon start`{run}"


def to_release(job: str) -> str:
    """Say how a job starts that was submitted with a hold."""
    return f"it is held: d0ctl release {shlex.quote(job)}"


def follow(job: str) -> str:
    """Say what shows how a submitted job goes on."""
    return f"to follow it: d0ctl status {shlex.quote(job)} --watch"


def ended(name: str, state: str, counts: Counts, acknowledged: int = 0) -> str:
    """Say in which state a job or a part of it ended, and how many failures are acknowledged."""
    packages = count(sum(counts.values()), "package")
    if state == Group.CANCELED:
        return f"`{name}` is {state}: {count(by_status(counts)['successful'])} of {packages} done"
    if state == Group.FAILED:
        return (
            f"`{name}` {stays(state, counts)}: {_unsuccessful(counts, acknowledged)} of {packages}"
        )
    return f"`{name}` is {state}"


def held_or_paused(name: str, state: str, job: JobSummary) -> str:
    """Say that a job or a part of it is held or paused, and why if d0ctl holds it."""
    why = f" by {job.hold_actor}: {remark(job.hold_note)}" if job.is_held_by_d0ctl else ""
    return f"`{name}` is {state}{why}"


def stays(state: str, counts: Counts) -> str:
    """Return the verb for a state; a part in which nothing has failed is blocked."""
    word = signs.group_name(state, counts)
    return word if word == Group.FAILED else f"is {word}"


def failures(number: int, acknowledged: int) -> str:
    """Say how many packages have failed, and whether people have acknowledged that."""
    return f"{count(number)} failed{signs.acknowledged(number, acknowledged)}"


def _unsuccessful(counts: Counts, acknowledged: int) -> str:
    """Count the packages that keep a part that can't continue from success, by state.

    Its waiting packages are blocked: if one could still run, the part would not have failed.
    """
    texts = [failures(counts[Phase.FAILED], acknowledged)] if counts.get(Phase.FAILED) else []
    states = {"canceled": Phase.CANCELED, "blocked": Phase.WAITING}
    texts += [f"{count(counts[phase])} {word}" for word, phase in states.items()
              if counts.get(phase)]  # fmt: skip
    return listed(texts)


def standstill_reason(store: Store, standing: JobStanding, now: float) -> str | None:
    """Return why a driven job stands still, unless its state says so."""
    from d0ctl.show.why.stopped_job import in_the_way  # only at the end

    return in_the_way(standing, [view.node for view in node_views(store, now=now)])


def stands_still(name: str, why: str, *, for_now: bool = False) -> str:
    """Say that a job stands still, and why; with `for_now` also that it is waited for."""
    return f"`{name}` stands still{', and this waits until it goes on' * for_now}: {clean(why)}"


def so_far(name: str, counts: Counts) -> str:
    """Say how many packages have ended, and how many of these have failed."""
    totals = by_status(counts)
    over = totals["successful"] + totals["failed"] + totals["canceled"]
    ends = f"{count(over)} of {count(sum(counts.values()), 'package')} ended"
    return f"`{name}`: {ends}, {count(totals['failed'])} failed"


def failed_logs(name: str) -> str:
    """Return the command that prints how the logs of failed packages end."""
    return f"d0ctl logs {shlex.quote(name)} --failed"


def after_time_limit(
    name: str, job: str, state: str, seconds: float, down: Sequence[str] = ()
) -> str:
    """Say how a job stands after the time limit, and which nodes with packages are down."""
    nodes = [f"`{node}`" for node in down[:MOST_DOWN]]
    nodes += [f"{len(down) - MOST_DOWN:,} more"] if len(down) > MOST_DOWN else []
    why = f", and down with packages: {listed(nodes)}" if down else ""
    return f"`{name}` has not ended after {duration(seconds)} ({state}){why}: {ask_why(job)}"


def ask_why(name: str) -> str:
    """Return the command that explains a job."""
    return f"d0ctl why {shlex.quote(name)}"


def succeeded(name: str, packages: int, took: float | None, submitted: str, dropped: int) -> str:
    """Say that a job is successful, and how many lines its results lack.

    If a job was submitted by an earlier command, `took` is None: it may have stood still since.
    """
    lack = f", without {count(dropped, 'dropped line')}" if dropped else ""
    time = f", submitted {submitted}" if took is None else f" in {duration(took)}"
    return f"`{name}` is successful: {count(packages, 'package')}{time}{lack}"


def nothing_starts(name: str, counts: Counts) -> str:
    """Say that a job has ended, and what would continue it."""
    states = [state for state in ("failed", "canceled") if counts.get(state)]
    packages = listed(f"{count(counts[state])} {state}" for state in states)
    return (
        f"`{name}` has ended: {packages}; to continue it: d0ctl retry '{name}:{','.join(states)}'"
    )


def results(folder: str, files: Sequence[str]) -> list[str]:
    """Say where the results of a job are."""
    if not files:
        return []
    more = [f"  and {count(len(files) - MOST_RESULTS)} more"] if len(files) > MOST_RESULTS else []
    named = [f"  {clean(path)}" for path in files[:MOST_RESULTS]]
    return [f"results in {clean(folder)}", *named, *more]


CHANGED = {
    "": "",
    RESIZED: " (it has another size now: it was changed after its delivery)",
    WRITTEN_AGAIN: " (it was written again after its delivery; `doctor --checksums` compares)",
    REPLACED: "",
}
"""What is said of a result that may not be the one that was delivered."""


def result_cells(
    file: FileRow, job: JobSummary, location: str | None, difference: str = ""
) -> list[Cell]:
    """Return the line of a final output of a job, in columns; `location` is its path here.

    `difference` says how the file there differs from the one that was delivered.
    """
    checksum = cut(file.checksum, CHECKSUM) if file.checksum else ""
    where = ", ".join([*([location] if location else []), *file.stored])
    about = " (dropped)" * file.dropped or CHANGED[difference] or " (partial)" * file.partial
    if not file.present:
        about = f" (the former one: {file.maker} is {_maker_state(file.maker_phase, job)})"
    return [
        (file.name, "strong"),
        size(file.size) if file.present else "",
        (checksum, "faint"),
        f"{where}{about}" if where else (why_absent(file, job, difference), "faint"),
    ]


def why_absent(file: FileRow, job: JobSummary, difference: str = "") -> str:
    """Say why a final output of a job is not on this machine, or not in its folder."""
    if file.dropped:
        return "dropped"
    if file.stored:
        return f"stored at {', '.join(file.stored)}"
    if not file.present and file.maker_phase == Phase.DONE:
        return f"removed since {file.maker} made it"
    if not file.present:
        return f"not made yet: {file.maker} is {_maker_state(file.maker_phase, job)}"
    nodes = [str(copy["node"] or copy["cluster"]) for copy in file.copies
             if copy["node"] or copy["cluster"] != CONTROL]  # fmt: skip
    if nodes:
        return f"only on {', '.join(nodes)}"
    return replaced(job.name) if difference == REPLACED else "missing from results/"


def _maker_state(phase: str | None, job: JobSummary) -> str:
    """Return the word for the phase of a maker, and what keeps its job from starting it."""
    word = signs.phase_name(phase or "", blocked=bool(job.blocked))
    kept_back = "held" if job.hold else "paused" if job.pause else ""
    is_waiting = phase is not None and STATUS_OF[Phase(phase)] is Status.UNSCHEDULED
    if not kept_back or not is_waiting or word == kept_back:
        return word
    return f"{word}, its job is {kept_back}"


def results_in_all(files: int, present: int, size_: int, listed: int) -> str:
    """Say how many final outputs there are, and how many of them are listed."""
    more = f", {count(listed)} of them listed: --json has all" if listed < files else ""
    made = f"; {count(present)} made" if present < files else ""
    return f"{count(files, 'file')}{more}{made}, {size(size_)}"


def imperfect(job: str, *, short: bool, outdated: bool) -> str:
    """Say that results of a job lack inputs or are out of date, and which command says more."""
    faults = [*["lack inputs"] * short, *["are out of date"] * outdated]
    return f"; some {listed(faults, 'or')}, see `d0ctl results {job}`" if faults else ""


def copied(folder: str, number: int, existing: int, size_: int, failed: int = 0) -> str:
    """Say how many files were copied to a folder, and how many were there already."""
    if existing and not number and not failed:
        return (
            f"nothing to copy: {count(existing, 'file is', 'files are')} in {clean(folder)} already"
        )
    already = f", {count(existing)} already there" if existing else ""
    return f"copied {count(number, 'file')}, {size(size_)}, to {clean(folder)}{already}"


def not_copied(names: Sequence[str], why: str) -> str:
    """Say why files were not copied."""
    first = f"`{clean(names[0])}`"
    if len(names) == 1:
        return f"{first} was not copied: {clean(why)}"
    return f"{len(names):,} files were not copied, such as {first}: {clean(why)}"


def held(names: Sequence[str], *, by_d0ctl: bool = False) -> str:
    """Say that jobs are held, and what releases them: after a hold by d0ctl, a retry does, too."""
    if by_d0ctl:
        jobs = listed(f"`{name}`" for name in names)
        verb = "is" if len(names) == 1 else "are"
        return f"{jobs} {verb} held by d0ctl: a retry of the failed packages releases the job, too"
    jobs, release = listed(f"`{name}`" for name in names), shlex.join(["d0ctl", "release", *names])
    verb, whose = ("is", "its") if len(names) == 1 else ("are", "their")
    return f"{jobs} {verb} held, so none of {whose} packages start: {release}"


def kept_back(job: JobSummary) -> str:
    """Say that a job that is waited for starts nothing more before a person lets it."""
    state = held_or_paused(job.name, "held" if job.hold else "paused", job)
    return f"{state}, so nothing more of it starts: {way_back(job)}"


def way_back(job: JobSummary, verb_of_held: str = "release") -> str:
    """Return the command that lets a job go on that is held or paused, or its held packages.

    If d0ctl holds it, `why` comes first: a release alone would start more packages that fail.
    """
    if job.is_held_by_d0ctl:
        return ask_why(job.name)
    if not job.hold and not job.pause:
        return f"d0ctl {verb_of_held} {shlex.quote(f'{job.name}:held')}"
    return f"d0ctl release {shlex.quote(job.name)}" if job.hold else job.resume


def would_continue(name: str) -> str:
    """Say what `run` would do with a job that was submitted before."""
    return f"would continue job `{name}`"


def interrupted(name: str, *, has_daemon: bool) -> str:
    """Say what drives a job after an interrupted `run`, and what ends it."""
    by = f"the daemon continues `{name}`"
    if not has_daemon:
        by = f"`{name}` continues with `d0ctl run {name}` or `d0ctl daemon start`"
    return f"{by}; `d0ctl kill {name}` ends it"


def stop_here(name: str, *, has_daemon: bool) -> str:
    """Ask whether `run` should end after Ctrl-C, with what happens then."""
    then = f"the daemon continues `{name}`" if has_daemon else (
        "running packages continue, and the job can be resumed"
    )  # fmt: skip
    return f"stop here? {then} [Y/n] "


YES_OR_NO = "answer y or n"
