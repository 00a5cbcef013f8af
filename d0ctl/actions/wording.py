"""Sentences that the plans and reports of several actions share."""

import shlex
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

from d0ctl.actions import undo
from d0ctl.actions.action import Change, Plan
from d0ctl.model import Phase, phase_word
from d0ctl.select import quoted
from d0ctl.store.attempts.alike_failures import StoppedJob
from d0ctl.store.files.remakes import Remade, Remakes
from d0ctl.store.jobs.retry import Listed, Makers
from d0ctl.store.lifecycle import UnreadFiles
from d0ctl.store.views.job_files.forecast import Unmade
from d0ctl.units import count, listed, size

MOST_NAMED = 10
"""How many packages, files or jobs are named; the rest are counted."""

MOST_WARNINGS = 5
"""How many warnings of a job file are shown: it was submitted with most of them before."""


def describe_packages(
    plan: Plan, verb: str, more: str = "", named: int | None = None, stay: str = "unchanged"
) -> Iterator[str]:
    """Say which packages would be changed; `named` is how many of them `changes` applies to."""
    if plan.packages:
        number = count(plan.packages, "package")
        yield f"would {verb} {number}{more}: {by_phase(plan.phases)}"
        yield from few(phases(plan.changes), plan.packages if named is None else named)
        yield from unchanged(plan, stay)
    else:
        yield nothing_to(plan, verb)


def report_packages(plan: Plan, verb: str, past: str, more: str = "") -> Iterator[str]:
    """Say which packages were changed."""
    if plan.packages:
        yield f"{past} {packages(plan)}{more}"
    else:
        yield nothing_to(plan, verb)


def nothing_to(plan: Plan, verb: str) -> str:
    """Say that an action changes no package, and in which phases they are."""
    phases = f": {by_phase(plan.unchanged)}" if plan.unchanged else ""
    return f"nothing to {verb} in {quoted(plan.request.target.brief)}{phases}"


def report_both(plan: Plan, verb: str, past: str, *more: str) -> Iterator[str]:
    """Say which whole jobs, or which packages, were changed; `more` is appended."""
    if plan.jobs:
        yield f"{past} {jobs(plan)}"
    else:
        yield from report_packages(plan, verb, past)
    yield from more
    yield from unchanged(plan)


def unchanged(plan: Plan, stay: str = "unchanged") -> Iterator[str]:
    """Say what the action leaves alone; if it changes nothing, `nothing_to` has said so already."""
    if plan.unchanged and (plan.packages or plan.jobs):
        yield f"{stay}: {by_phase(plan.unchanged)}"


def changed_job_file(job: str, runs: str) -> str:
    """Say that a job file was changed since; `runs` is the action that takes the former one."""
    return (f"the job file of `{job}` was changed since, and {runs} as it was submitted: "
            f"`d0ctl update {job}` corrects it")  # fmt: skip


def warnings(texts: Sequence[str]) -> Iterator[str]:
    """Say the first warnings of a job file that was submitted before."""
    yield from texts[:MOST_WARNINGS]


def run_again(found: Remakes) -> str:
    """Say how many packages run again because files that a job reads are gone or were changed."""
    causes = [
        *_cause(found.resized, "has another size now", "have other sizes now"),
        *_cause(found.rewritten, "has other contents now", "have other contents now"),
        *_cause(found.missing, "was removed", "were removed"),
        *_cause(found.unrecorded, "is not kept any more", "are not kept any more"),
    ]
    again = listed(map(_remade, found.packages))
    return f"{again} will run again, as {listed(causes)}{_put_back(found)}"


def unmade(found: Unmade) -> str:
    """Say that inputs will not be made, as the job that makes them has ended."""
    file = f"{found.job}:{found.first}"
    are = (
        f"`{file}` is" if found.files == 1 else f"{count(found.files, 'file')} such as `{file}` are"
    )
    return f"{are} not made, and job `{found.job}` has ended: d0ctl why {shlex.quote(file)}"


def _put_back(found: Remakes) -> str:
    """Say what avoids the work, or a part of it."""
    by_hand = len(found.resized) + len(found.rewritten) + len(found.missing)
    if not by_hand:
        return ""
    purpose = "to run fewer" if found.unrecorded else "to prevent it"
    return f"; {purpose}, put {'it' if by_hand == 1 else 'them'} back first"


def _remade(remade: Remade) -> str:
    ended = ", which has ended," if remade.has_ended else ""
    return f"{count(remade.packages, 'package')} of job `{remade.job}`{ended}"


def _cause(files: Sequence[str], is_lost: str, are_lost: str) -> list[str]:
    """Name the only file that is lost in this way, or count several."""
    if len(files) < 2:
        return [f"`{file}` {is_lost}" for file in files]
    return [f"{count(len(files), 'file')} such as `{files[0]}` {are_lost}"]


def jobs(plan: Plan) -> str:
    """Name the jobs of a plan."""
    names = [f"`{name}`" for name in plan.jobs[:MOST_NAMED]]
    more = f" and {len(plan.jobs) - MOST_NAMED} more" if len(plan.jobs) > MOST_NAMED else ""
    return f"{'job' if len(plan.jobs) == 1 else 'jobs'} {', '.join(names)}{more}"


def packages(plan: Plan) -> str:
    """Name the only package of a plan, or count its packages."""
    if plan.packages == 1 and len(plan.changes) == 1:
        return f"package `{plan.changes[0].path}`"
    return f"{count(plan.packages, 'package')} of {quoted(plan.request.target.brief)}"


def by_phase(phases: Mapping[str, int]) -> str:
    """Count packages by their phase."""
    return ", ".join(f"{count(number)} {phase_word(phase)}" for phase, number in phases.items())


def makers(found: Makers, will_run: str, job: str) -> Iterator[str]:
    """Say which packages run again, too, to make removed files that others read."""
    number = found.own.number
    if number:
        own = "its" if number == 1 else "their"
        yield (f"{count(number, 'package')} {will_run} again, too, because {own} outputs "
               "were removed")  # fmt: skip
        yield from few(found.own.first, number)
    if found.outdated:
        own = "its" if found.outdated == 1 else "their"
        again = f"d0ctl update {shlex.quote(job)} --again"
        yield (f"{count(found.outdated, 'package')} {will_run} with {own} former recipe or "
               f"inputs; with those that the job has now: {again}")  # fmt: skip
    yield from accepted_before(found.accepted)
    if found.elsewhere is not None:
        yield run_again(found.elsewhere)


def accepted_before(number: int) -> Iterator[str]:
    """Say of how many packages that run again the results had been accepted as they were."""
    if number:
        as_ran, run = ("was accepted as it", "it runs") if number == 1 else (
            "were accepted as they", "they run"
        )  # fmt: skip
        yield f"of these, {count(number, 'package')} {as_ran} ran: now {run} as the job file says"


def few(lines: Sequence[str], number: int) -> Iterator[str]:
    """List the first of these lines, and count the others."""
    for line in lines[:MOST_NAMED]:
        yield f"  {line}"
    if number > MOST_NAMED:
        yield f"  and {count(number - min(len(lines), MOST_NAMED))} more"


def files(sizes: Iterable[tuple[str, int | None]], number: int) -> Iterator[str]:
    """List the first of these files with their sizes, and count the others."""
    yield from few(
        [name if bytes is None else f"{name}  {size(bytes)}" for name, bytes in sizes], number
    )


def only_copies(
    largest: Iterable[tuple[str, int | None]], number: int, bytes_lost: int
) -> Iterator[str]:
    """Say which files would be lost, if any: those without another copy."""
    if number:
        yield (f"would lose {count(number, 'file')}, {size(bytes_lost)}, "
               "without another copy:")  # fmt: skip
        yield from files(largest, number)


ONLY_THERE = "files that only it has would be made again if needed"
"""What a node that is removed, or moved to another cache, means for files."""


def new_values(
    lead: str, changes: Mapping[str, tuple[object, object]], name: str, kind: str
) -> str:
    """Say which values a name would get; without any, that it has them already."""
    pairs = [f"{key} {before} -> {after}" for key, (before, after) in changes.items()]
    return f"{lead} `{name}`: {', '.join(pairs)}" if pairs else f"`{name}` has these {kind} already"


def counted(title: str, number: int, kind: str, lines: Sequence[str]) -> Iterator[str]:
    """Say how many there are, and list the first of them; nothing if there is none."""
    if number:
        yield f"{title}: {count(number, kind)}"
        yield from few(lines, number)


def phases(changes: Iterable[Change]) -> list[str]:
    """Name packages with their phases, one per line."""
    return [f"{change.path}  {phase_word(change.phase)}" for change in changes]


def packages_are(number: int) -> str:
    """Count packages, with their verb."""
    return count(number, "package is", "packages are")


def changed_sources(names: Sequence[str]) -> Iterator[str]:
    """Say that packages will read other contents of files than earlier ones did."""
    if names:
        yield "changed since earlier attempts; packages that start now read the new contents:"
        yield from few(names, len(names))


def start_nothing(held: Sequence[str], paused: Sequence[str]) -> Iterator[str]:
    """Say which jobs start nothing until a person releases or resumes them."""
    for verb, state, names in (("release", "held", held), ("resume", "paused", paused)):
        if names:
            are = f"job `{names[0]}` is" if len(names) == 1 else f"{len(names):,} jobs are"
            yield f"{are} {state}: nothing starts until `{undo.command(verb, names)}`"


def start_later(cooling: Mapping[str, int]) -> Iterator[str]:
    """Say how many packages of whole jobs are cooling off, by job, and how to start them."""
    if cooling:
        are = count(number := sum(cooling.values()), "package is", "packages are")
        starts = undo.command("retry", [f"{job}:{Phase.COOLOFF}" for job in cooling])
        them = "it" if number == 1 else "them"
        yield f"{are} cooling off, to start later: to start {them} now, `{starts}`"


def still_stopped(jobs: Sequence[StoppedJob], killing: Sequence[tuple[str, int]]) -> Iterator[str]:
    """Say which jobs of retried packages start nothing, and of which more packages will be
    canceled.
    """
    yield from start_nothing([job.name for job in jobs if job.is_held and not job.is_held_by_d0ctl],
                             [job.name for job in jobs if job.is_paused])  # fmt: skip
    for job, number in killing:
        are = count(number, f"package of `{job}` is", f"packages of `{job}` are")
        ended = "it has ended" if number == 1 else "they have ended"
        yield f"{are} still being killed: when {ended}, `d0ctl retry '{job}:canceled'`"


def readers(found: Listed, how: str, whose: str = "", besides: Container[str] = (),
            did: str = "read these files or what was made of them",
            then: str = "will not run again by this") -> Iterator[str]:  # fmt: skip
    """Name packages that have read files, and how to run them again, but for jobs that refuse."""
    if found.number:
        has = count(found.number, f"package{whose} has", f"packages{whose} have")
        yield f"{has} {did}, and {then}"
        yield from few(found.first, found.number)
        every = dict.fromkeys(path.partition("/")[0] for path in found.first)
        jobs = list(takewhile(lambda job: job not in besides, every))  # later ones read of these
        if not jobs:
            return
        waves = [[found.part]] if found.part else found.waves(jobs)
        again = ", and once that has ended: ".join(
            " && ".join(f"d0ctl update {shlex.quote(part)} --again" for part in wave)
            for wave in waves
        )
        yield f"{how.format(them='it' if found.number == 1 else 'them')}: {again}"


def left_unread(found: UnreadFiles) -> Iterator[str]:
    """Say which files go with a drop, as no other package reads them, so that an undo of it does
    not bring them back as they are.
    """
    if found.number:
        loses = count(found.number, "input loses its last reader and is",
                      "inputs lose their last readers and are")  # fmt: skip
        yield f"{loses} removed; a restore makes {'it' if found.number == 1 else 'them'} anew"
        yield from few(found.first, found.number)


def and_removed(number: int) -> str:
    """Say how many more packages run again, if any."""
    own = "its" if number == 1 else "their"
    return f", and {number:,} more because {own} outputs were removed" if number else ""


def still_reading(number: int, job: str) -> Iterator[str]:
    """Say that launched packages may have read earlier contents of files, and when that shows."""
    if number:
        launched, them = count(number, "launched package"), "it" if number == 1 else "them"
        names = f"`d0ctl update {shlex.quote(job)} --dry-run` names {them} after the end"
        yield f"{launched} may have read files as they were before a change: {names}"
