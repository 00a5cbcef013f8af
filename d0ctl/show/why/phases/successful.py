"""How a package succeeded, or who set it to successful, and whether it is out of date."""

import shlex
from collections import Counter
from collections.abc import Sequence
from shlex import quote

from d0ctl.model import Phase, Status
from d0ctl.show.drawing.remark_texts import remark
from d0ctl.show.why.advice import is_redefined
from d0ctl.show.why.causes.failed_since import failed_since
from d0ctl.show.why.causes.no_results import not_kept
from d0ctl.show.why.common import MOST, Explanation, count_lacking, shortfalls
from d0ctl.show.why.subject import Subject
from d0ctl.store.connection import Store
from d0ctl.store.files import doubtful_makers, earlier_readers, edited_files, mixed_inputs
from d0ctl.store.views import browse, left_out, one_package
from d0ctl.store.views.left_out import (
    DoubtfulRead,
    NeedingLines,
    Outdated,
    RetryParameters,
    Shortfall,
)
from d0ctl.store.views.shapes import JobSummary
from d0ctl.store.views.shapes.of_package import AttemptView, PackageView
from d0ctl.units import count, duration, moment

MOST_ACTIONS = 1000
"""How many of the latest actions on its job are searched."""

BY_RECIPE = "run with another recipe or other inputs than the job has now"
BY_FILES = (
    "run before files were changed, dropped or restored, or with files that outdated packages made"
)


def done(subject: Subject) -> None:
    """Explain a successful package."""
    tries = one_package.attempts(subject.store, subject.package.id)
    took = _took(tries[-1]) if tries else ""
    ended = moment(tries[-1].ended, subject.now) if took else subject.since()
    subject.explanation.answer = f"{subject.name} is successful: it ended {ended}{took}"
    if len(tries) > 1:
        reasons = Counter(attempt.reason for attempt in tries[:-1] if attempt.reason)
        failures = ", ".join(f"{times} {reason}" for reason, times in reasons.most_common())
        subject.fact(
            f"it took {count(len(tries), 'attempt')}" + (f" ({failures})" if failures else "")
        )
    _dropped(subject)
    _left_out(subject)
    add_outdated(subject.store, subject.explanation, subject.package, "it")
    _made_again(subject, tries)
    _overruled(subject, tries)
    _accepted(subject, tries)
    subject.command(f"d0ctl status {subject.package.path}")


def _dropped(subject: Subject) -> None:
    """Say that its line was dropped, and how that comes back."""
    package = subject.package
    if package.line_dropped is not None:
        subject.fact(f"its line was dropped {moment(package.line_dropped, subject.now)}: "
                     "its files are removed from all input lists")  # fmt: skip
        from d0ctl.show.why.phases import dropped_line  # late: few lines are dropped

        dropped_line.add_restoring(subject.store, subject.explanation, package.line_id, subject.now)


def _left_out(subject: Subject) -> None:
    """Say that the job file no longer has its line."""
    package = subject.package
    if package.line_named == left_out.REMOVED and package.line_dropped is None:
        subject.fact(*_unlisted([package.path.rpartition("/")[0]]))


def _took(attempt: AttemptView) -> str:
    """Say how long an attempt took and where, if that is known."""
    if attempt.ended is None or attempt.started is None:
        return ""
    suspended = f", {duration(attempt.suspended)} of it suspended" if attempt.suspended else ""
    return f" in {duration(attempt.ended - attempt.started)} on `{attempt.node_name}`{suspended}"


def _made_again(subject: Subject, tries: Sequence[AttemptView]) -> None:
    """Say why it ran again after it had succeeded."""
    if not any(attempt.outcome == Status.SUCCESSFUL for attempt in tries[:-1]):
        return
    events = one_package.events(subject.store, subject.package.id)
    note = next((event.note for event in reversed(events) if event.old == Phase.DONE), None)
    if note:
        subject.fact(f"it ran again after it had succeeded: {remark(note)}")


def _accepted(subject: Subject, tries: Sequence[AttemptView]) -> None:
    """Say when a person accepted its results although they were out of date."""
    last = tries[-1] if tries else None
    if last and last.outcome == Status.SUCCESSFUL and is_redefined(subject.package, last):
        when = moment(subject.package.redefined, subject.now)
        subject.fact(f"its results were accepted {when}, as they are: its recipe, or a file that "
                     "it has read, had changed since it ran")  # fmt: skip


def _overruled(subject: Subject, tries: Sequence[AttemptView]) -> None:
    """Say who set it to successful, and how it had failed."""
    deed = subject.last_action()
    if deed is None or deed.old != Phase.FAILED:
        return
    actions = browse.actions(subject.store, subject.job.name, MOST_ACTIONS)
    if not any(action.verb == "set-status" and action.at == deed.at for action in actions):
        return
    reason = next(
        (attempt.message or attempt.reason for attempt in reversed(tries) if attempt.reason), None
    )
    subject.fact(
        f"set successful by {deed.actor}; it had failed: {reason or 'for no known reason'}"
    )


def add_lacking(explanation: Explanation, job: str, short: Sequence[Shortfall]) -> None:
    """Add which packages of a successful job ran without some inputs, of `short` ones."""
    explanation.answer += count_lacking(job, short)
    explanation.facts += shortfalls(job, short)


def outdated(store: Store, job: JobSummary, path: str = "") -> list[str]:
    """Say how many packages of a job, or of a part, are out of date, and how to run them again."""
    path = path or job.name
    numbers = [*map(int, path.split("/")[1:])]
    found = left_out.outdated_packages(store, job.id, *numbers)
    if not found.packages:
        return []
    are = "is" if found.packages == 1 else "are"
    text = f"{count(found.packages, 'package')} of `{path}` {are} {_out_of_date(found)}"
    if left_out.ahead_of(store, job.id):
        them = "it" if found.packages == 1 else "them"
        return [f"{text}: `d0ctl update {quote(job.name)}` says how to run {them} again"]
    if found.by_makers and numbers:  # the part alone would run again with the same files
        return [text, *outdated(store, job)]
    some = "results whose files have the same names" if found.unacceptable else "the results"
    keeps = f"; --accept instead of --again keeps {some}" if found.acceptable else ""
    accept = f"`d0ctl update {quote(path)} --accept` keeps {some}"
    if needing := left_out.lines_needing_dropped(store, job.id):
        return [f"{text}: {_first_drop(needing)}" + f"; {accept}" * bool(found.acceptable)]
    too = "packages whose outputs were removed (--dry-run counts them)"
    retried = left_out.retry_parameters(store, job.id, *numbers) if found.by_recipe else None
    if retried is None:
        return [f"{text}: `{_again(store, path)}`, which also reruns {too}{keeps}"]
    which = f"{retried.packages:,} of them" if retried.packages < found.packages else "all"
    accept = f"{accept}, " if found.acceptable else ""
    gives = (
        f"`{_with(job.name, retried)}` changes the job (--dry-run says what is out of date then)"
    )
    return [f"{text}, {which} retried with {_sets(retried)}: {accept}{gives}, and "
            f"`{_again(store, path)}` runs them again without, and {too}"]  # fmt: skip


def _first_drop(needing: NeedingLines) -> str:
    """Say which lines can't run again, so that an update has to wait until they are dropped."""
    drop = shlex.join(["d0ctl", "kill-line", *needing.lines, "--drop-outputs"])
    return (f"`{drop}` has to come before an update with --again, as `{needing.file}` is dropped, "
            "which they need")  # fmt: skip


def _out_of_date(found: Outdated) -> str:
    """Say that packages are out of date, and why."""
    if not (others := found.packages - found.by_recipe):
        return f"out of date, {BY_RECIPE}"
    if not found.by_recipe:
        return f"out of date, {BY_FILES}"
    return f"out of date ({count(found.by_recipe)} {BY_RECIPE}; {count(others)} {BY_FILES})"


def read_from_outside(store: Store, job: JobSummary) -> list[str]:
    """Name a package that read a file from outside, not the one that an earlier package made."""
    return _first_of(
        left_out.read_from_outside(store, job.id), "packages",
        "not the file of that name that `{}` made, which was not kept, as that package has no "
        "`outputs`",
    )  # fmt: skip


def partial_read(store: Store, job: JobSummary) -> list[str]:
    """Name a package that has succeeded with a partial file."""
    return _first_of(
        left_out.partial_read(store, job.id), "inputs",
        "which counts as partial, because `{}` was killed",
    )  # fmt: skip


def behind(store: Store, job: JobSummary) -> list[str]:
    """Name the jobs whose lines have changed since this one took all files of a stage of them."""
    if not (makers := left_out.ahead_of(store, job.id)):
        return []
    from d0ctl.show.why.causes import followed_jobs  # late: few jobs have to follow

    return followed_jobs.behind(store, job, makers)


def _first_of(found: Sequence[DoubtfulRead], others: str, about: str) -> list[str]:
    """Name the first package that read a doubtful file; `about` says what its maker did."""
    if not found:
        return []
    first = found[0]
    more = f"; the same is true of other {others}" if len(found) > 1 else ""
    return [f"`{first.reader}` read `{first.name}`, {about.format(first.maker)}{more}"]


def remarks(store: Store, job: JobSummary, path: str = "") -> list[str]:
    """Return what a person should know of the files of a job; of a part, if they are outdated."""
    numbers = [*map(int, path.split("/")[1:])]
    lines = left_out.unlisted_lines(store, job.id, *numbers)
    unlisted = _unlisted([f"{job.name}/{stage}/{line}" for stage, line in lines])
    stale = outdated(store, job, path)
    changed = earlier_readers.sentences(
        edited_files.done_before_replaced(store, job.id, *numbers),
        is_said=bool(stale), archived=is_barred(store, job, stale),
    )  # fmt: skip
    if numbers:
        return [*stale, *changed, *unlisted]
    reads = [*read_from_outside(store, job), *partial_read(store, job)]
    return [*behind(store, job), *not_kept(store, job), *reads, *stale, *changed, *unlisted]


def is_barred(store: Store, job: JobSummary, stale: Sequence[str]) -> bool:
    """Return whether no update runs its packages again as it is; `stale` says which should."""
    is_needed = stale and left_out.lines_needing_dropped(store, job.id)
    return bool(store.home.archive or is_needed)


def _unlisted(lines: Sequence[str]) -> list[str]:
    """Say which successful lines the job file no longer has."""
    if len(lines) < 2:
        return [f"line `{line}` is no longer in the job file: no `from` takes its files"
                for line in lines]  # fmt: skip
    from d0ctl.select.condense import condense  # late: few jobs have such lines

    ranges = [str(part) for part in condense(lines)]
    at_least = "at least " if len(lines) >= left_out.MOST_COUNTED else ""
    named = ", ".join(ranges[:MOST]) + ", ..." * (len(ranges) > MOST)
    return [f"{at_least}{count(len(lines), 'line')} are no longer in the job file: {named}; "
            "no `from` takes their files"]  # fmt: skip


def add_outdated(
    store: Store, explanation: Explanation, package: PackageView, subject: str
) -> None:
    """Add that a successful package is out of date, or that files have changed since it ran."""
    found = left_out.outdated(store.select([package.id]))
    explanation.facts += failed_since(store, package.job_id, package.id, subject)
    if found.packages:
        job = browse.job(store, package.path.partition("/")[0])
        if found.by_makers or left_out.lines_needing_dropped(store, job.id):
            # It alone would run again with the same files, or not at all.
            explanation.facts += [f"{subject} is {_out_of_date(found)}", *outdated(store, job)]
            explanation.commands.append(f"d0ctl why {quote(job.name)}")
            return
        earlier = [] if found.by_recipe else edited_files.earlier_read_by(store, package.id)
        because = f"out of date: {earlier_readers.changed(earlier, subject)}"
        explanation.facts.append(f"{subject} is {because if earlier else _out_of_date(found)}")
    elif earlier := edited_files.earlier_read_by(store, package.id):
        explanation.facts.append(earlier_readers.changed(earlier, subject))
    elif stale := doubtful_makers.stale_makers(store, package.id):
        others = f" and {count(stale.number - 1, 'more package')}" if stale.number > 1 else ""
        are = "are" if others else "is"
        explanation.facts.append(f"`{stale.first}`{others}, on whose files {subject} depends, "
                                 f"{are} out of date: `d0ctl why {stale.first}`")  # fmt: skip
        return
    else:
        return
    retried = left_out.retry_parameters_of(store.select([package.id])) if found.by_recipe else None
    if edited_files.may_read_others(store, package.id):
        job = browse.job(store, package.path.partition("/")[0])
        explanation.facts += behind(store, job)
        explanation.commands.append(f"d0ctl update {quote(job.name)}")
        return
    accept = f"d0ctl update {quote(package.path)} --accept"
    is_alike = found.acceptable or not found.packages
    commands = [_again(store, package.path), *[accept] * bool(is_alike)]
    if retried is not None:
        explanation.facts.append(
            f"it was retried with {_sets(retried)}: --again runs it without, as its job says"
        )
        commands = [*commands[1:], _with(package.path.partition("/")[0], retried), commands[0]]
    explanation.commands += commands


def _sets(retried: RetryParameters) -> str:
    """Return the options of a retry, to be read."""
    return "`" + " ".join(f"--set {text}" for text in retried.parameters) + "`"


def _with(job: str, retried: RetryParameters) -> str:
    sets = [word for text in retried.parameters for word in ("--set", text)]
    return shlex.join(["d0ctl", "update", job, *sets])


def _again(store: Store, path: str) -> str:
    return f"d0ctl update {quote(mixed_inputs.part_to_rerun(store, path))} --again"
