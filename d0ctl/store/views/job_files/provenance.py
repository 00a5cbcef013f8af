"""The origin of files: the runs that made them, with software, parameters, inputs and node."""

import json
import shlex
from collections import defaultdict
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.errors import NotFound
from d0ctl.jobfile.language.file_names import local_name
from d0ctl.jobfile.language.quoting import arguments_with_inputs, with_inputs
from d0ctl.select import Selector, parse
from d0ctl.store.connection import Row, Store
from d0ctl.store.files import archived_results
from d0ctl.store.rows import make
from d0ctl.store.views import selection


class FileFacts(Struct, frozen=True):
    """A file by its job, with known facts about its contents."""

    id: int
    job: str
    name: str
    size: int | None
    checksum: str | None
    locators: tuple[str, ...] = ()
    local: str | None = None
    replaced: float | None = None
    """When other contents of it came, or were made, if these are earlier ones."""
    earlier_of: str | None = None
    """The run that read it when it had other contents than now."""

    @property
    def path(self) -> str:
        """Return a name for it that is valid anywhere."""
        return f"{self.job}:{self.name}"

    @property
    def version(self) -> str:
        """Return a name for these contents: earlier ones are named by the run that read them."""
        return self.path if self.earlier_of is None else f"{self.path}@{self.earlier_of}"

    @property
    def title(self) -> str:
        """Return its name for people."""
        return self.name if self.earlier_of is None else f"{self.name} (an earlier version)"


class Run(Struct):
    """The run of a binary that made its outputs; `command` is as it was typed in a shell.

    Software without a script in the job file runs that of the catalogue: no command is known.
    """

    package_id: int
    path: str
    seq: int
    name: str
    attempt_id: int
    attempt: int
    node: str
    platform: str | None
    started: float | None
    ended: float | None
    exit_code: int | None
    taken: str | None
    """Why it did not run, if its outputs are those of another job."""
    accepted: float | None
    """When a person accepted its outputs, although the job file has another recipe for them."""
    image: str | None
    software: str | None
    software_checksum: str | None
    parameters: dict[str, Any]
    command: str | None
    read: list[FileFacts]
    made: list[FileFacts]


def runs_of_job(store: Store, job: str, *, now: float) -> list[Run]:
    """Return the runs of the packages of a job that have succeeded."""
    return _runs(store, parse(job), now)


def leading_to(runs: list[Run], *wanted: int) -> list[Run]:
    """Return the runs without which these files would not be as they are, in their order."""
    makers = {file.id: run for run in runs for file in run.made}
    found: dict[int, Run] = {}
    files = [*wanted]
    while files:
        run = makers.get(files.pop())
        if run is not None and id(run) not in found:
            found[id(run)] = run
            files += [file.id for file in run.read if file.earlier_of is None]
    return [run for run in runs if id(run) in found]


def of_other_jobs(store: Store, runs: list[Run], job: str, *, now: float) -> list[Run]:
    """Return the runs of other jobs that led to the files which these runs of a job have read.

    Those of jobs that were removed or archived are missing.
    """
    found: dict[str, list[Run]] = {job: []}
    ahead = runs
    while ahead:
        names = dict.fromkeys(file.job for run in ahead for file in run.read)
        others = {name: _if_known(store, name, now) for name in names if name not in found}
        found |= others
        ahead = [run for of_job in others.values() for run in of_job]
    read = [file.id for run in runs for file in run.read
            if file.job != job and file.earlier_of is None]  # fmt: skip
    # a job is submitted after those that it reads, so that its packages have greater ids
    in_order = sorted(filter(None, found.values()), key=lambda of_job: of_job[0].package_id)
    return leading_to([run for of_job in in_order for run in of_job], *read)


def _if_known(store: Store, job: str, now: float) -> list[Run]:
    try:
        return runs_of_job(store, job, now=now)
    except NotFound:
        return []


def run_of_file(store: Store, file: int, maker: str, *, now: float) -> Run | None:
    """Return the run that made a file; None if unknown."""
    runs = _runs(store, parse(maker), now)
    return next((run for run in runs if any(made.id == file for made in run.made)), None)


def _runs(store: Store, target: Selector, now: float) -> list[Run]:
    selected = selection.choose(store, target, now=now)
    results, submitted = f"{store.home.results}/", cache(partial(archived_results.submitted, store))
    read, made = defaultdict(list), defaultdict(list)
    for row in selected.rows("files_read_by_selected"):
        locators = (row["locator"],) if row["locator"] else ()
        file = make(FileFacts, row, locators=locators)
        read[row["package_id"], row["binary"]].append(file)
    for row in selected.rows("files_made_by_selected"):
        stored = tuple(json.loads(row["stored"] or "[]"))
        made[row["package_id"], row["binary"]].append(
            make(FileFacts, row, locators=stored, local=None)
        )
    earlier = {
        (row["package_id"], row["attempt_id"], row["file_id"]): row
        for row in selected.rows("earlier_read_by_selected")
    }
    runs = []
    for row in selected.rows("runs_of_selected"):
        package, seq, attempt = row["package_id"], row["seq"], row["attempt_id"]
        files = [
            _as_read(_of_archived(file, results, row["started"], submitted),
                     earlier.get((package, attempt, file.id)), f"{row['path']}/{seq}")
            for file in read[package, seq]
        ]  # fmt: skip
        runs.append(_run(row, files, made[package, seq]))
    return runs


def _of_archived(
    file: FileFacts, results: str, started: float | None, submitted: Callable[[str], float]
) -> FileFacts:
    """Return a file that was read in results/ as one of its job, which was archived or removed;
    but as it is if a job that was submitted later has this name.
    """
    if not file.name.startswith(results):
        return file
    job, _, name = file.name.removeprefix(results).partition("/")
    is_later = started is not None and submitted(job) > started
    return file if is_later else replace(file, job=job, name=name)


def _run(row: Row, read: list[FileFacts], made: list[FileFacts]) -> Run:
    parameters = json.loads(row["parameters"] or "{}")
    return make(Run, row, parameters=parameters, command=_command(row, read),
                read=read, made=made)  # fmt: skip


def _as_read(file: FileFacts, earlier: Row | None, run: str) -> FileFacts:
    """Return a file as a run has read it: with the facts of `earlier` contents if it had these."""
    if earlier is None or earlier["checksum"] == (file.checksum or ""):
        return file
    return replace(file, size=earlier["size"], checksum=earlier["checksum"],
                   replaced=earlier["until"], earlier_of=run)  # fmt: skip


def _command(row: Row, read: list[FileFacts]) -> str | None:
    names = [local_name(file.name, file.local) for file in read]
    if row["argv"]:
        return shlex.join(arguments_with_inputs(json.loads(row["argv"]), names))
    return with_inputs(row["script"], names) if row["script"] else None
