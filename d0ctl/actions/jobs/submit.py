"""submit: from a job file to a job's rows, as a plan to look at and as one act."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from d0ctl.actions.action import Author
from d0ctl.errors import BadUsage, Refused
from d0ctl.jobfile.site_names import KnownNames
from d0ctl.jobfile.spec import JobSpec
from d0ctl.store.connection import Store
from d0ctl.store.nodes import fitting
from d0ctl.store.nodes.fitting import Misfit
from d0ctl.store.views import browse
from d0ctl.store.views.known_names import known_names
from d0ctl.units import count

MANY = 20_000
"""From this number of packages on, lines are not counted and a submission shows its progress."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Submission:
    """A job file that was read, and how it is to be submitted."""

    spec: JobSpec
    name: str | None = None
    hold: bool = False
    force: bool = False
    """Accept packages that no node can take yet."""


@dataclass(frozen=True, slots=True)
class Submitted:
    """A job that was submitted."""

    job: str
    packages: int
    is_held: bool
    misfits: tuple[Misfit, ...]
    """What no node can take yet."""


def read(store: Store | None, file: str, text: str | None, values: Mapping[str, str]) -> JobSpec:
    """Read and check a job file, or its text; without a store, only `localhost` is known.

    Raises BadJobFile with every fault.
    """
    from d0ctl.jobfile import reader  # imports yaml, which most actions do not need

    known = KnownNames(("localhost",), {}, {}, lambda *_: None)
    if store is not None:
        known = known_names(store)
    if text is not None:
        return reader.read_text(text, file, Path.cwd(), values, known)
    return reader.read(Path(file), values, known)


def warnings(store: Store | None, spec: JobSpec, file: str, now: float) -> list[str]:
    """Return the warnings of a job file, with those for packages that no node can ever take."""
    misfits = fitting.misfits_of_spec(store, spec, now=now) if store is not None else []
    unfit = [f"{file}: warning: no node can ever take packages of {line}"
             for line in fitting.lines(misfits)]  # fmt: skip
    return [*spec.warnings, *unfit]


def preview(store: Store | None, submission: Submission, now: float) -> list[str]:
    """Return what would be submitted. Raises BadUsage or Refused as `submit` would."""
    spec = submission.spec
    if store is not None:
        check_name(store, submission)
        if not submission.force:
            fitting.refuse(fitting.misfits_of_spec(store, spec, now=now))
    return [f"would submit `{submission.name or spec.name}`: {summary(spec)}"]


def submit(
    store: Store,
    submission: Submission,
    by: Author,
    *,
    progress: Callable[[int], None],
    moved: Callable[[Path], None],
) -> Submitted:
    """Make the rows of a job. Raises BadUsage and Refused.

    `progress` is called with the number of packages so far, `moved` with the folder to which
    older results under the name of the job were moved.
    """
    from d0ctl.store.jobs.submit import submit as insert

    check_name(store, submission)
    spec = submission.spec
    job = insert(
        store, spec, now=by.now, actor=by.actor, name=submission.name, hold=submission.hold,
        force=submission.force, note=by.note, progress=progress, moved=moved,
    )  # fmt: skip
    misfits: list[Misfit] = []
    if submission.force:
        misfits = fitting.misfits_of_job(store, browse.job(store, job).id, now=by.now)
    return Submitted(job, spec.packages, submission.hold or spec.hold, tuple(misfits))


def check_name(store: Store, submission: Submission) -> None:
    """Raise BadUsage or Refused for a name that the job can't have."""
    name, spec = submission.name, submission.spec
    if name is not None and not is_name(name):
        raise BadUsage(
            f"`{name}` can't be a job's name", hint="a letter, then letters, digits, `_` and `-`"
        )
    wanted = name or (spec.name if spec.named else None)
    if wanted and (found := browse.jobs(store, wanted)):
        raise Refused(
            f"there is a job `{wanted}` already, and it is {found[0].status}",
            hint=f"`--as NAME` submits another, `d0ctl run {wanted}` continues that one, "
            f"`d0ctl remove {wanted}` makes room",
        )


def is_name(text: str) -> bool:
    """Whether a text can be the name of a job; a job file has a suffix or is in a folder."""
    return _NAME.fullmatch(text) is not None


def summary(spec: JobSpec) -> str:
    """Return the size of a job in words."""
    stages = count(len(spec.stages), "stage")
    packages = count(spec.packages, "package")
    if spec.packages > MANY:
        return f"{stages}, {packages}"
    lines = sum(1 for stage in spec.stages for _ in stage.lines)
    return f"{stages}, {count(lines, 'line')}, {packages}"


def report(submitted: Submitted) -> str:
    """Say what was submitted."""
    return f"submitted `{submitted.job}`: {count(submitted.packages, 'package')}"
