"""`d0ctl results`: the final outputs of a job, where they are, and copies of them."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from d0ctl.cli import options, session
from d0ctl.cli.schemas import results as documents
from d0ctl.cli.schemas.fill import fill
from d0ctl.cli.terminal import completion
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import emit, emit_json, refuse_both, say, table
from d0ctl.config import Home
from d0ctl.errors import BadUsage, D0Error, ExitCode, NotFound
from d0ctl.show import lists, outcome
from d0ctl.show.drawing.archived import in_archive
from d0ctl.show.drawing.sheet import Cell
from d0ctl.store.connection import Store
from d0ctl.store.files.selected_files import (
    REPLACED,
    FileRow,
    FileTotals,
    difference,
    is_present,
    local_path,
    result_folder,
)
from d0ctl.store.views.shapes import JobSummary
from d0ctl.units import listed

app = single()

MOST = 1000
"""How many files are listed on the screen."""

MOST_OTHERS = 5
"""How many final outputs are named if one was misspelt."""

FETCH_S = 3600.0
"""How long a store may take for a file."""


@app.command()
def results(
    selector: Annotated[
        str,
        typer.Argument(
            metavar="JOB[:NAME]",
            autocompletion=completion.results,
            help="A job, or its files by name, with wildcards: 'reco001:*.root'.",
        ),
    ],
    copy: Annotated[
        Path | None,
        typer.Option(
            "--copy",
            metavar="DIR",
            help="Copy them there, each checked; repeat it to continue a copy that broke off.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="With --copy: replace other files of the same names.")
    ] = False,
    open: Annotated[
        bool, typer.Option("--open", help="Open the file or folder on this desktop.")
    ] = False,
    json: options.Json = False,
) -> None:
    """List, copy or open the final outputs of a job."""
    refuse_both(open, json or copy is not None, "--open and other choices")
    if force and copy is None:
        raise BadUsage(
            "`--force` is only for `--copy`", hint=f"d0ctl results {selector} --copy DIR"
        )
    if copy is not None and copy.exists() and not copy.is_dir():
        raise BadUsage(f"`{copy}` is not a folder", hint=f"d0ctl results {selector} --copy DIR")
    job, home, totals, rows = _read(selector, 0 if json or copy is not None else MOST)
    if open:
        _open(_location(job, home, rows))
    elif copy is not None:
        status, is_taken = _copy(home, job, rows, copy, json=json, force=force)
        if is_taken and not json:
            again = f"d0ctl results {quote(selector)} --copy {quote(str(copy))} --force"
            say(in_archive(again, session.settings.archive))
        raise typer.Exit(status)
    elif json:
        emit_json(_document(job.name, home, totals, rows))
    else:
        table([_cells(row, job, home) for row in rows], right=[1])
        say(outcome.results_in_all(totals.files, totals.present, totals.bytes, len(rows)))
        for text in _said_of(rows, job):
            say(text)


def _cells(row: FileRow, job: JobSummary, home: Home) -> list[Cell]:
    """Return the line of a result, which may have been changed by hand."""
    return outcome.result_cells(row, job, local_path(home, row), difference(home, row))


def _said_of(rows: Sequence[FileRow], job: JobSummary) -> list[str]:
    """Say which results are of lines that were removed, and what is said of the job."""
    return [*lists.results_unlisted(rows, session.settings.archive or ""), *remarks(job)]


def remarks(job: JobSummary) -> list[str]:
    """Say what its results lack, what is out of date, and which files from outside have changed."""
    from d0ctl.show.job_end import remarks_on

    with session.reader() as store:
        return remarks_on(store, job)


def _read(selector: str, limit: int) -> tuple[JobSummary, Home, FileTotals, list[FileRow]]:
    """Read the final outputs of a job. Raises NotFound if it has none."""
    from d0ctl.actions import file_choice
    from d0ctl.store.files.selected_files import has_files, pages, select_results, weight
    from d0ctl.store.views import browse

    choice = file_choice.parse(selector)
    if set("*?[") & set(choice.job):
        raise BadUsage("`results` takes one job", hint="d0ctl status")
    with session.reader() as store, store.reading():
        job = browse.job(store, choice.job)
        selected = select_results(store, job.name, choice.name)
        totals = weight(selected)
        if not totals.files:
            what = "outputs" if choice.name == "*" else f"output `{choice.name}`"
            others = _others(store, job.name)
            all_files = f"d0ctl file list {job.name}" if has_files(store, job.name) else None
            from d0ctl.show.why.causes.no_results import not_copied, not_kept

            details = not_kept(store, job)
            details += not_copied(store, job) if not others else []
            raise NotFound(f"job `{job.name}` has no final {what}", hint=others or all_files,
                           details=details)  # fmt: skip
        return job, store.home, totals, list(pages(selected, limit))


def _others(store: Store, job: str) -> str | None:
    """Name the first final outputs of a job, for one that was misspelt."""
    from d0ctl.store.files.selected_files import pages, select_results

    names = [f"`{row.name}`" for row in pages(select_results(store, job, "*"), MOST_OTHERS)]
    return f"it has {listed(names)}" if names else None


def _copy(
    home: Home, job: JobSummary, rows: Sequence[FileRow], folder: Path, *, json: bool, force: bool
) -> tuple[ExitCode, bool]:
    """Copy files to a folder, without dropped ones; return whether all are there.

    Return also whether some are not because other files are, which may be replaced.
    """
    from d0ctl.cli.commands.looking.pages.result_copies import TakenName

    is_taken = False
    copied = unchanged = size = 0
    failed: list[tuple[str, str]] = []
    stale_names: list[str] = []
    lacking = set()
    for row in (row for row in rows if not row.dropped):
        try:
            is_new = _bring(home, job, row, folder, force=force)
            stale_names += [] if row.present else [row.name]
            if is_new:
                copied, size = copied + 1, size + (row.size or 0)
            else:
                unchanged += 1
        except D0Error as error:
            failed.append((row.name, str(error)))
            is_taken |= isinstance(error, TakenName)
            # `why` knows no more of these
            if not isinstance(error, TakenName) and difference(home, row) != REPLACED:
                lacking.add(row.name)
        except OSError as error:
            failed.append((row.name, f"{error.filename or folder}: {error.strerror}"))
    if json:
        failures = [{"name": name, "why": why} for name, why in failed]
        emit_json({"folder": str(folder.absolute()), "copied": copied, "kept": unchanged,
                   "bytes": size, "failed": failures})  # fmt: skip
    else:
        emit(outcome.copied(str(folder), copied, unchanged, size, len(failed)))
        if stale_names:
            say(lists.not_made_again(stale_names))
        if dropped_names := [row.name for row in rows if row.dropped]:
            say(lists.left_out_dropped(dropped_names))
        for text in _said_of(rows, job):
            say(text)
        for why, names in _alike(failed).items():
            say(outcome.not_copied(names, why))
            if names[0] in lacking:
                why_command = outcome.ask_why(f"{job.name}:{names[0]}")
                say(in_archive(why_command, session.settings.archive))
    return ExitCode.FAILED if failed else ExitCode.DONE, is_taken


def _alike(failed: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the names of files by the reason why they were not copied."""
    names: dict[str, list[str]] = {}
    for name, why in failed:
        names.setdefault(why, []).append(name)
    return names


def _bring(home: Home, job: JobSummary, row: FileRow, folder: Path, *, force: bool) -> bool:
    """Copy a file from results/, or fetch it from a store; return false if it is there already."""
    from d0ctl.cli.commands.looking.pages import result_copies
    from d0ctl.config import within

    target = within(folder.absolute(), row.name)
    location = local_path(home, row)
    if location is not None:
        return result_copies.copy(Path(location), target, row.checksum, force=force)
    for locator in row.stored:
        if locator.startswith("store:"):
            return _fetch(locator, target, row.checksum, force=force)
    raise NotFound(outcome.why_absent(row, job, difference(home, row)))


def _fetch(locator: str, target: Path, checksum: str | None, *, force: bool) -> bool:
    """Fetch a file from a store, and check it."""
    from d0ctl.cli.commands.looking.pages import result_copies
    from d0ctl.nodes.storage import stores
    from d0ctl.store.nodes.site import setting
    from d0ctl_wrapper.protocol.locator import in_store

    part = result_copies.part_of(target)
    if os.path.lexists(target) and not result_copies.is_other(target, target, checksum, force):
        return False
    file = in_store(locator)
    with session.reader() as store, store.reading():
        entries = setting(store, "stores") or {}
    if file is None or file.store not in entries:
        raise NotFound(f"the site has no such store: {locator}", hint="d0ctl store list")
    target.parent.mkdir(parents=True, exist_ok=True)
    part.unlink(missing_ok=True)
    stores.run(
        file.store,
        entries[file.store],
        "fetch",
        file.name,
        part,
        timeout_s=FETCH_S,
    )
    result_copies.check(part, locator, checksum)
    result_copies.publish(part, target, force=force)
    return True


def _location(job: JobSummary, home: Home, rows: Sequence[FileRow]) -> str:
    """Return where the one result is, or the folder of several. Raises NotFound."""
    if len(rows) > 1:
        return str(result_folder(home, job.name, rows))
    path = local_path(home, rows[0])
    if path is None:
        hint = in_archive(outcome.ask_why(f"{job.name}:{rows[0].name}"), session.settings.archive)
        why = outcome.why_absent(rows[0], job, difference(home, rows[0]))
        raise NotFound(f"`{rows[0].name}` can't be opened: {why}", hint=hint)
    return path


def _open(path: str) -> None:
    """Open a file or folder with the program of the desktop. Raises NotFound, D0Error."""
    if not Path(path).exists():
        raise NotFound(f"`{path}` is not on this machine")
    program = shutil.which("xdg-open") or shutil.which("open")
    if program is None:
        raise NotFound(f"there is no `xdg-open` to open `{path}`")
    done = subprocess.run([program, path], stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise D0Error(f"`{program}` can't open `{path}`: exit code {done.returncode}")


def _document(
    job: str, home: Home, totals: FileTotals, rows: Sequence[FileRow]
) -> documents.Results:
    return {
        "job": job,
        "folder": str(result_folder(home, job, rows)),
        "files": [
            fill(
                documents.Result, row, path=local_path(home, row), present=is_present(home, row)
            )
            for row in rows
        ],
        "total": totals.files,
        "bytes": totals.bytes,
    }  # fmt: skip
