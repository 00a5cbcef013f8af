"""`d0ctl run`: submit a job, drive it to its end, and say where its results are."""

import signal
import sys
import threading
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from d0ctl import actions
from d0ctl.actions.jobs.submit import SubmitPlan, is_name
from d0ctl.cli import action_command, changing, options, session
from d0ctl.cli.changing import Submitting
from d0ctl.cli.commands.running import forecast, intake
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import ask, emit, say, sheet, show
from d0ctl.cli.terminal.progress_bar import Progress
from d0ctl.errors import BadUsage, ExitCode, NotFound
from d0ctl.model import by_status
from d0ctl.select import parse
from d0ctl.show import outcome
from d0ctl.show.status import draw_part
from d0ctl.show.why.slots import taken
from d0ctl.store.connection import Store
from d0ctl.store.nodes import leases
from d0ctl.store.nodes.standstill import job_standing
from d0ctl.store.views import browse, file_locations, names
from d0ctl.store.views.left_out import dropped_lines
from d0ctl.store.views.shapes import JobSummary
from d0ctl.units import clean, moment

app = single()

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A job file, or the name of a job to continue. In its place, `-- COMMAND` makes a "
        "job of a command: --array 1-200 -- ./sim.sh {n}",
    ),
]


@app.command(cls=Submitting)
def run(
    file: File,
    parameter: options.Parameters = None,
    name: options.As = None,
    force: options.Force = False,
) -> None:
    """Run a job from its file to its end, with no daemon needed."""
    job = None if changing.has_command() else intake.job_named(file)
    if changing.is_rehearsal():
        _rehearse(file, job, parameter, name, force)
        return
    if job is not None and (parameter or name):
        raise BadUsage(f"`{file}` is an existing job, so it can't take --set or --as")
    is_new = job is None
    with _Interrupts() as interrupts:
        if job is None:
            _check_file(file)
            job = _submit(file, parameter, name, force, interrupts)
        _drive(job, interrupts)
    raise typer.Exit(_end(job, is_new=is_new))


def _rehearse(
    file: str, job: str | None, parameter: list[str] | None, name: str | None, force: bool
) -> None:
    if job is None:
        request, spec = intake.read(intake.request_of(file, parameter, name=name, force=force))
        intake.warn(spec, file)
        forecast.show_submission(request, spec)
    else:
        emit(outcome.would_continue(job))


def _check_file(file: str) -> None:
    """Raise NotFound for a bare word that is neither a file nor a job."""
    if changing.has_command() or file == "-" or Path(file).exists() or not is_name(file):
        return
    hint = "d0ctl run FILE"
    if session.home().exists():
        with session.reader() as store:
            if archived := names.archived(store, file):
                raise archived
            hint = browse.nearest(file, names.jobs(store)) or hint
    raise NotFound(f"there is no file and no job `{file}`", hint=hint)


class _Terminated(KeyboardInterrupt):
    """This process was asked to end, by SIGTERM or because its terminal is gone."""


class _Interrupts:
    """Ctrl-C, SIGTERM and SIGHUP, which are deferred from a job's submission until it is watched.

    A daemon may start the job at once, so a person may press Ctrl-C before this process watches it.
    """

    def __init__(self) -> None:
        self.interrupt: type[KeyboardInterrupt] | None = None
        self.is_watching = False
        self.previous: dict[int, Any] = {}

    def __enter__(self) -> "_Interrupts":
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self.previous.items():
            signal.signal(number, handler)

    def keep(self) -> None:
        """Remember signals from now on, and raise them in `watch`."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            handler = signal.getsignal(number)
            if handler != signal.SIG_IGN:  # as under nohup
                self.previous.setdefault(number, handler)
                signal.signal(number, self._take)

    def watch(self) -> None:
        """Raise what was remembered, and from now on each signal at once."""
        self.is_watching = True
        interrupt, self.interrupt = self.interrupt, None
        if interrupt:
            raise interrupt

    def _take(self, number: int, _: object) -> None:
        kind = KeyboardInterrupt if number == signal.SIGINT else _Terminated
        if self.is_watching:
            raise kind
        self.interrupt = kind


def _submit(
    file: str,
    parameter: list[str] | None,
    name: str | None,
    force: bool,
    interrupts: _Interrupts,
) -> str:
    request, spec = intake.read(intake.request_of(file, parameter, name=name, force=force))
    intake.warn(spec, file)
    with session.open_or_create() as store:
        store.home.site_key()  # without it no package can be launched
        plan: SubmitPlan = action_command.act(store, request)
        interrupts.keep()
    for line in actions.report(plan):
        say(line)
    return plan.job


def _drive(name: str, interrupts: _Interrupts) -> None:
    """Drive the job in a thread of its own, so that Ctrl-C interrupts only this one."""
    from d0ctl.daemon.drive import drive

    with session.reader() as store:
        job = browse.job(store, name)
    if job.hold:
        say(outcome.kept_back(job))
    if job.ended is not None and (job.counts.get("failed") or job.counts.get("canceled")):
        say(outcome.nothing_starts(name, job.counts))
    progress = Progress(sys.stderr, name)
    stop, ended = threading.Event(), threading.Event()
    failures: list[BaseException] = []

    def work() -> None:
        try:
            drive(session.home(), job.id, progress.show, stop)
        except BaseException as error:
            failures.append(error)
        finally:
            ended.set()

    thread = threading.Thread(target=work, name=f"drive {name}")
    interrupts.keep()
    thread.start()
    try:
        _watch(name, ended, progress, interrupts)
    except KeyboardInterrupt:
        _stop(ended, stop, progress)
        say(outcome.interrupted(name, has_daemon=_has_daemon()))
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    finally:
        progress.close()
    if failures:
        raise failures[0]


def _has_daemon() -> bool:
    with session.reader() as store:
        return leases.living_holder(store, leases.LEASE) is not None


def _watch(name: str, ended: threading.Event, progress: Progress, interrupts: _Interrupts) -> None:
    """Wait for the end, and say once who uses the slots that the job needs; Ctrl-C asks once.

    Not with `join`: up to Python 3.12, after an interrupted one the thread counts as ended.
    """
    has_printed = False
    while not ended.is_set():
        try:
            interrupts.watch()
            ended.wait(1.0)
            has_printed = has_printed or _print_slot_users(name, progress)
        except _Terminated:
            raise
        except KeyboardInterrupt:
            if not _really_stop(name, progress):
                continue
            raise


def _print_slot_users(name: str, progress: Progress) -> bool:
    """Say who uses the slots that the job needs; return whether others do."""
    if not progress.is_waiting:
        return False
    with session.reader() as store, store.reading():
        text = taken(store, name, time.time())
    if text is not None:
        progress.pause()
        say(clean(text))
        progress.resume()
    return text is not None


def _really_stop(name: str, progress: Progress) -> bool:
    if changing.is_confirmed():
        return True
    progress.pause()
    question = outcome.stop_here(name, has_daemon=_has_daemon())
    while (typed := ask(question)).strip().lower() not in ("", "y", "yes", "n", "no"):
        say(outcome.YES_OR_NO)
    progress.resume()
    return typed.strip().lower() not in ("n", "no")


def _stop(ended: threading.Event, stop: threading.Event, progress: Progress) -> None:
    progress.pause()
    stop.set()
    ended.wait()


def _end(name: str, *, is_new: bool) -> ExitCode:
    """Say how it ended and where its results are."""
    with session.reader() as store:
        with store.reading():
            job = browse.job(store, name)
            page, now = sheet(), time.time()
            draw_part(page, store, parse(name), now, driven=True, at_end=True)
            why = outcome.standstill_reason(store, job_standing(store, job.id, now=now), now)
        if job.status == "successful":
            _print_standing(store, job, is_new=is_new)
            return ExitCode.DONE
    show(page)
    if why:
        say(outcome.stands_still(name, why))
    return ExitCode.FAILED


def _print_standing(store: Store, job: JobSummary, *, is_new: bool) -> None:
    done = by_status(job.counts)["successful"]
    now = time.time()
    took = (job.ended or now) - job.submitted if is_new else None
    since = moment(job.submitted, now)
    emit(outcome.succeeded(job.name, done, took, since, dropped_lines(store, job.id).lacking))
    folder = store.home.results / job.name
    made = file_locations.results(store, job.id)
    files = sorted(name for name in made if (folder / name).exists())
    for line in outcome.results(str(folder), files):
        emit(line)
    from d0ctl.cli.commands.looking.results import remarks  # only at the end

    for line in remarks(job):
        say(line)
