"""submit: make the rows of a job from a job file."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from msgspec.structs import replace as changed

from d0ctl.actions.action import Action, AnyRequest, Author, Plan
from d0ctl.actions.jobs import _other_readers
from d0ctl.actions.jobs._command_warnings import of_a_command
from d0ctl.actions.jobs._home_warnings import of_home
from d0ctl.actions.option import Options, ValueType, flag, logged, pairs, value, values, write_pairs
from d0ctl.errors import BadJobFile, BadUsage, Refused
from d0ctl.jobfile.site_names import KnownNames
from d0ctl.jobfile.spec import JobSpec, without_file
from d0ctl.model import Group
from d0ctl.store.connection import Store
from d0ctl.store.jobs import removal, results
from d0ctl.store.jobs.submission.insertion import dropped
from d0ctl.store.nodes import fitting
from d0ctl.store.nodes.fitting import Misfit
from d0ctl.store.nodes.registry import LOCAL
from d0ctl.store.nodes.site import setting
from d0ctl.store.views import browse
from d0ctl.store.views.job_files.forecast import needed_by_job
from d0ctl.store.views.job_files.known_names import known_names
from d0ctl.units import count

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class JobFile:
    """A job file by its name; `text` is its content if it is not a file, e.g. stdin.

    For a command it is generated, and no person has seen it.
    """

    brief: str
    text: str | None = None
    is_command: bool = False

    @property
    def arguments(self) -> list[str]:
        """Its name."""
        return [self.brief]

    def __str__(self) -> str:
        return self.brief


@dataclass(frozen=True, slots=True)
class SubmitOptions(Options):
    """How a job file is submitted."""

    parameters: Mapping[str, str] = values(
        "--set", "KEY=VALUE", "Parameter of the job; may be repeated.", none=dict,
        type=ValueType(pairs, write_pairs), example="KEY=VALUE",
    )  # fmt: skip
    name: str | None = value(
        "--as", "NAME", "Name of the job (default: by its file).", example="NAME"
    )
    hold: bool = flag("--hold", "Keep it from being scheduled.")
    force: bool = flag("--force", "Accept packages that no node can take yet.")
    spec: JobSpec | None = None
    """What the job file says; `prepare` reads it."""


SubmitRequest: TypeAlias = AnyRequest[JobFile, SubmitOptions]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitPlan(Plan):
    """The job to submit, and what no node can take yet."""

    spec: JobSpec
    job: str
    misfits: tuple[Misfit, ...] = ()
    aside: Path | None = None
    """The folder for older results of the name; None if there are none."""
    readers: tuple[str, ...] = ()
    """Other jobs that read some of these by their paths."""

    @property
    def warnings(self) -> Sequence[str]:
        """The warnings of the job file."""
        return self.spec.warnings

    @property
    def is_held(self) -> bool:
        """Whether none of its packages starts."""
        return bool(self.request.options.hold or self.spec.hold)


NO_HOME = KnownNames((LOCAL,), {}, {}, {}, {}, lambda *_: None, lambda *_: None, lambda *_: (),
                     lambda _: None)  # fmt: skip
"""The names that job files can use before there is a home."""


def read(
    store: Store | None,
    file: JobFile,
    values: Mapping[str, str],
    submitter: str | None = None,
    name: str | None = None,
) -> JobSpec:
    """Read and check a job file, or its text; without a store, only `localhost` is known.

    Faults of a command name the job `name`, by default after the program.

    The stores of the site that it names are asked whether they can serve the job.
    Raises BadJobFile with every fault, or BadUsage with those of a command.
    """
    spec = _checked(store, file, values, submitter, name)
    if store is None:
        return spec
    warnings = [*spec.warnings, *of_home(store, spec, file.brief)]
    if entries := setting(store, "stores"):
        from d0ctl.nodes.storage import asking  # only sites with stores pay for it

        warnings += [f"{file.brief}: warning: {fault}" for fault in asking.faults(spec, entries)]
    return changed(spec, warnings=tuple(warnings))


def _checked(
    store: Store | None,
    file: JobFile,
    values: Mapping[str, str],
    submitter: str | None,
    name: str | None,
) -> JobSpec:
    from d0ctl.jobfile import reader  # imports yaml, which most actions do not need

    known = known_names(store) if store is not None else NO_HOME
    if file.text is None:
        return reader.read(Path(file.brief), values, known)
    if not file.is_command:
        return without_file(reader.read_text(file.text, file.brief, Path.cwd(), values, known,
                                             submitter=submitter))  # fmt: skip
    try:
        spec = reader.read_text(file.text, file.brief, Path.cwd(), values, known, is_seen=False,
                                name=name)  # fmt: skip
    except BadJobFile as error:  # a generated file
        first, *more = error.faults
        raise BadUsage(first, details=more) from error
    return without_file(changed(spec, warnings=(*spec.warnings, *of_a_command(spec))))


def warnings(store: Store | None, spec: JobSpec, file: str, now: float) -> list[str]:
    """Return the warnings of a job file, with those for what `submit` refuses."""
    if store is None:
        return [*spec.warnings]
    refused = [
        *(f"no node can ever take some of its packages: {line}"
          for line in fitting.lines(fitting.misfits_of_spec(store, spec, now=now))),
        *(str(dropped(name)) for name in needed_by_job(store, spec)),
    ]  # fmt: skip
    return [*spec.warnings, *(f"{file}: warning: {text}" for text in refused)]


Preparing: TypeAlias = Callable[[Store, Any, float], Any]


def preparing(read: Callable[[Store, Any], JobSpec]) -> Preparing:
    """Return what prepares a submission: if the spec is not known, `read` finds it."""

    def prepare(store: Store, request: Any, now: float) -> Any:
        if request.options.spec is not None:
            return request
        return replace(request, options=replace(request.options, spec=read(store, request)))

    return prepare


def _read(store: Store, request: SubmitRequest) -> JobSpec:
    options = request.options
    return read(store, request.target, options.parameters, request.originator, options.name)


def plan(store: Store, request: SubmitRequest, now: float) -> SubmitPlan:
    """Plan the job. Raises BadUsage or Refused."""
    from d0ctl.store.jobs.submission.submit import free_name

    options = request.options
    spec = options.spec
    assert spec is not None
    check_name(store, options.name, spec)
    misfits = tuple(fitting.misfits_of_spec(store, spec, now=now))
    if not options.force:
        fitting.refuse(misfits)
    if gone := needed_by_job(store, spec):
        raise dropped(gone[0])
    name = options.name or (spec.name if spec.named else free_name(store, spec.name))
    aside = results.place_aside(store.home, name)
    readers = results.readers_by_path(store, [name])
    return SubmitPlan(request=request, packages=spec.packages, spec=spec, job=name, misfits=misfits,
                      aside=aside, readers=readers)  # fmt: skip


def submit(store: Store, plan: SubmitPlan, by: Author) -> SubmitPlan:
    """Make the rows of the job."""
    from d0ctl.store.jobs.submission.submit import submit as insert

    options, person, spec = plan.request.options, plan.request.person, plan.spec
    moved: list[Path] = []
    job = insert(
        store, spec, now=by.now, actor=by.actor, name=options.name, hold=options.hold,
        force=options.force, note=by.note, options=logged(options),
        progress=lambda done: person.follow(done, spec.packages),
        moved=moved.append,
    )  # fmt: skip
    for folder in moved:
        person.inform(f"older results of this name are now in {folder}")
        for line in _other_readers.of_moved(plan.readers, job, folder, is_done=True):
            person.inform(line)
    misfits: list[Misfit] = []
    if options.force:
        misfits = fitting.misfits_of_job(store, browse.job(store, job).id, now=by.now)
    return replace(plan, job=job, misfits=tuple(misfits))


ENDED = frozenset({Group.SUCCESSFUL, Group.FAILED, Group.CANCELED})
"""The states of a job that may be removed for a new one of its name."""


def check_name(store: Store, name: str | None, spec: JobSpec) -> None:
    """Raise BadUsage or Refused for a name that the job can't have."""
    if name is not None and not is_name(name):
        raise BadUsage(
            f"`{name}` can't be a job's name", hint="a letter, then letters, digits, `_` and `-`"
        )
    wanted = name or (spec.name if spec.named else None)
    if wanted and (found := browse.jobs(store, wanted)):
        is_removable = found[0].status in ENDED and not removal.in_need(store, found[0].id)
        makes_room = f", `d0ctl remove {wanted}` makes room" if is_removable else ""
        raise Refused(
            f"job `{wanted}` already exists and is {found[0].status}",
            hint=f"`d0ctl update {wanted}` corrects it by its job file, `d0ctl run {wanted}` "
            f"continues it, `--as NAME` submits another{makes_room}",
        )


def is_name(text: str) -> bool:
    """Return whether a text can be the name of a job; a job file has a suffix or is in a folder."""
    return _NAME.fullmatch(text) is not None


def summary(spec: JobSpec) -> str:
    """Return the size of a job in words."""
    stages = count(len(spec.stages), "stage")
    packages = count(spec.packages, "package")
    lines = sum(len(stage.lines) for stage in spec.stages)
    return f"{stages}, {count(lines, 'line')}, {packages}"


def describe(plan: SubmitPlan) -> Iterator[str]:
    """Say what would be submitted, and what no node can take yet."""
    yield f"would submit `{plan.job}`: {summary(plan.spec)}"
    yield from fitting.not_taken(plan.misfits)
    if plan.aside is not None:
        yield f"older results of this name would be moved to {plan.aside}"
        yield from _other_readers.of_moved(plan.readers, plan.job, plan.aside, is_done=False)


def report(plan: SubmitPlan) -> Iterator[str]:
    """Say what was submitted."""
    stages = len(plan.spec.stages)
    parts = f" in {count(stages, 'stage')}" if stages > 1 else ""
    yield f"submitted `{plan.job}`: {count(plan.packages, 'package')}{parts}"


ACTION = Action(
    name="submit",
    help="Submit a job and leave it to the daemon.",
    example="reco.yaml --set run=4711",
    exit_status="0 done, 2 bad job file, 4 refused; with --wait, 1 if the job was not successful",
    past="submitted",
    options=SubmitOptions,
    prepare=preparing(_read),
    plan=plan,
    act=submit,
    describe=describe,
    report=report,
    level="job file",
    may_be_first=True,
    in_pieces=True,
    title="submit: a job file",
)
