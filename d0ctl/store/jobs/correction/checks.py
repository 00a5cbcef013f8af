"""Whether a job can be corrected in its present state."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence, Set
from shlex import quote

from d0ctl.errors import Refused
from d0ctl.jobfile.language.file_names import foreign
from d0ctl.jobfile.spec import InputSpec, JobSpec, LineSpec, PackageSpec
from d0ctl.model import Phase
from d0ctl.store.connection import Store
from d0ctl.store.files.remakes import would_lack
from d0ctl.store.jobs.correction.comparison import Comparison
from d0ctl.store.jobs.correction.pairing.new_lines import NewLine
from d0ctl.store.jobs.correction.revision import Known
from d0ctl.store.jobs.correction.standing import LAUNCHED
from d0ctl.store.jobs.submission.insertion import dropped
from d0ctl.store.views.job_files.forecast import dropped_inputs, needed

MOST_NAMED = 20
"""How many lines a command names."""

_BEGUN = LAUNCHED | {Phase.DONE}


def check(
    store: Store, job: int, spec: JobSpec, comparison: Comparison, written: Set[int], known: Known
) -> None:
    """Raise Refused if a package would read a file that none makes.

    `written` are the packages that get another definition, `known` the files of the job.
    """
    made: set[str] = set()

    def is_made(name: str) -> bool:
        there = [files[name] for files in (known.ids, known.late) if name in files]
        return name in made or any(known.makers[file] not in written for file in there)

    for line, _ in pairs(spec, comparison):
        for number, definition in enumerate(line.definitions):
            package = line.package(number)
            if package is None or package in written:
                made.update(definition.makes)
                _check_makers(comparison, known, package, definition.makes)
    for line, of in pairs(spec, comparison):
        for number, wanted in enumerate(of.packages):
            if (package := line.package(number)) is None or package in written:
                _check_inputs(wanted, is_made)
    check_foreign(store, spec, comparison, written)
    _check_elsewhere(store, job, comparison, known, written)


def check_dropped(
    store: Store, spec: JobSpec, found: Comparison, again: Set[int], dropped: Set[int], known: Known
) -> None:
    """Raise Refused if a package to run again would lack an input that it needs."""
    for package, file in _without_inputs(store, spec, found, again, dropped, known):
        raise _without(store, package, file)


def needing(
    store: Store, spec: JobSpec, found: Comparison, again: Set[int], dropped: Set[int], known: Known
) -> tuple[str, ...]:
    """Return the lines with packages that would lack an input if they ran again."""
    lacking = _without_inputs(store, spec, found, again, dropped, known) if again else ()
    paths = [str(store.value("path_of", package=package)) for package, _ in lacking if package]
    return tuple(dict.fromkeys(path.rpartition("/")[0] for path in paths))


def _without_inputs(
    store: Store, spec: JobSpec, found: Comparison, again: Set[int], dropped: Set[int], known: Known
) -> Iterator[tuple[int | None, str]]:
    """Iterate over the packages to run again, or added ones, that would lack an input, and over it.

    They need what they require, and one at least of the files of other packages; those of `dropped`
    packages are left out.
    """
    yield from _without_foreign(store, spec, found, again)
    for line, of in pairs(spec, found) if dropped else ():
        for number, wanted in enumerate(of.packages):
            package = line.package(number)
            if package not in again or package in dropped:
                continue
            read = [(entry.required, known.makers.get(known.ids.get(entry.file, 0)), entry.file)
                    for each in wanted.binaries for entry in each.inputs if entry.made]  # fmt: skip
            others = [entry for entry in read if entry[1] != package]
            absent = [entry for entry in others if entry[1] in dropped]
            if any(required for required, _, _ in absent) or (absent and absent == others):
                yield package, absent[0][2]


def check_mixed(
    store: Store, job: int, found: Comparison, left: Set[int], running: Set[int]
) -> None:
    """Raise Refused if a package would read files of former groups beside others of their stage.

    As groups shift, inputs would count twice or not at all. Files are of former groups if a package
    in `left`, which stays as it ran, now has other inputs, and if they are made from such files;
    `running` are the packages that run again.
    """
    lines = [(stage, line) for stage in (found.stages if left else ()) for line in stage.lines
             if not line.stays_dropped]  # fmt: skip
    stages = {name: stage.seq for stage, line in lines for of in line.definitions
              for name in of.makes}  # fmt: skip
    old_files = {name for _, line in lines for name in _regrouped(line, left, stages)}
    running_old = [position.path for key, position in found.busy.items() if key in left]
    further, name = old_files, store.value("name_of_job", job=job) if old_files else ""
    hint = f"d0ctl update {quote(name)} --again   # makes such files again first"
    if running_old:
        hint = f"wait until `{name}/{running_old[0]}` ends, or kill it"
    while further:
        readers = [
            (f"{name}/{stage.seq}/{line.seq}/{number}", line.standing(number - 1), of)
            for stage, line in lines
            for number, of in enumerate(line.definitions, 1)
            if not further.isdisjoint(of.reads)
        ]
        further = set()
        for path, package, of in readers:
            if package is not None and package.phase in (Phase.CANCELED, Phase.DROPPED):
                continue
            if package is None or package.phase not in _BEGUN or package.id in running:
                read = stages.keys() & set(of.reads) - set(of.makes)
                numbers = Counter(stages[name] for name in read)
                if mixed := [name for name in old_files & read if numbers[stages[name]] > 1]:
                    raise Refused(
                        f"`{path}` would read `{min(mixed)}`, which was made from other inputs "
                        "than it has now, beside others: inputs would count twice or be missing",
                        hint=hint,
                    )
            further.update(of.makes)
        further -= old_files
        old_files |= further


def _regrouped(line: NewLine, left: Set[int], made: Container[str]) -> Iterator[str]:
    """Iterate over the files of packages in `left` that now have other inputs of the job."""
    for number, definition in enumerate(line.definitions):
        package = line.standing(number)
        if package is None or package.id not in left or package.phase not in _BEGUN:
            continue
        if any(name in made for name in {*definition.reads} ^ {*package.definition.reads}):
            yield from definition.makes


def check_foreign(store: Store, spec: JobSpec, found: Comparison, running: Set[int]) -> None:
    """Raise Refused if an added package, or one of these, would read a dropped file of another job.

    Packages of lines that stay dropped may.
    """
    for package, file in _without_foreign(store, spec, found, running):
        raise _without(store, package, file)


def _without_foreign(
    store: Store, spec: JobSpec, found: Comparison, running: Set[int]
) -> Iterator[tuple[int | None, str]]:
    names = dropped_inputs(store, spec.others)
    for line, of in pairs(spec, found) if names else ():
        if line.stays_dropped:
            continue
        for number, wanted in enumerate(of.packages):
            package = line.package(number)
            if line.is_lost(number):
                break
            is_run = package is None or package in running
            if is_run and (file := needed(wanted, names)) is not None:
                yield package, file


def _without(store: Store, package: int | None, file: str) -> Refused:
    """Refuse that a package, or an added one, reads a dropped file."""
    if package is None:
        return dropped(file)
    return would_lack(str(store.value("path_of", package=package)), file)


def pairs(spec: JobSpec, found: Comparison) -> Iterator[tuple[NewLine, LineSpec]]:
    for stage, of in zip(found.stages, spec.stages, strict=True):
        yield from ((line, package) for _, line, package in stage.pairs(of))


def _check_makers(
    found: Comparison, known: Known, package: int | None, makes: Iterable[str]
) -> None:
    for name in makes:
        maker = known.makers.get(known.ids.get(name, 0))
        if maker is not None and maker != package and maker in found.busy:
            if found.busy[maker].phase not in LAUNCHED:
                raise Refused(
                    f"`{name}` is a file of `{found.busy[maker].path}`, whose line is running",
                    hint="wait until no package of that line is running, or kill the running ones",
                )
            raise Refused(
                f"`{name}` is being made by `{found.busy[maker].path}`, which runs in its old form",
                hint="wait until it ends, or kill it",
            )


def _check_inputs(package: PackageSpec, is_made: Callable[[str], bool]) -> None:
    for entry in _inputs(package):
        if entry.made and not (is_made(entry.file) or foreign(entry.file)):
            raise Refused(
                f"`{entry.file}` is to be made by a package that has already made other files",
                hint="--again reruns it, unless it is running",
            )


def _inputs(package: PackageSpec) -> Iterator[InputSpec]:
    for each in package.binaries:
        yield from each.inputs
    if package.wrapper:
        yield package.wrapper


def _check_elsewhere(
    store: Store, job: int, found: Comparison, known: Known, written: Set[int]
) -> None:
    ending = {*written, *(package.id for line in found.lost for package in line.packages)}
    gone = {name for name, file in known.ids.items()
            if name not in found.makes and known.makers[file] in ending}  # fmt: skip
    read = (
        [row for row in store.rows("read_elsewhere", job=job) if row["name"] in gone]
        if gone
        else []
    )
    if read:
        row = read[0]
        makers = {known.makers[known.ids[other["name"]]] for other in read}
        raise Refused(f"job `{row['job']}` reads `{row['name']}`, which nothing would make",
                      hint=_way_on(store, found, row["name"], sorted(makers)))  # fmt: skip


def _way_on(store: Store, found: Comparison, file: str, makers: Sequence[int]) -> str:
    """Return the command after which the lines of these packages may leave the job, or that shows
    the readers of a file.
    """
    paths = [str(store.value("path_of", package=package)) for package in makers]
    if not {package.id for line in found.lost for package in line.packages}.issuperset(makers):
        job, _, _ = paths[0].partition("/")
        return f"d0ctl why {quote(f'{job}:{file}')}"
    lines = list(dict.fromkeys(path.rpartition("/")[0] for path in paths))
    more = " ..." if len(lines) > MOST_NAMED else ""
    return ("to drop these lines first, and continue without their files: "
            f"d0ctl kill-line {' '.join(lines[:MOST_NAMED])}{more} --drop-outputs")  # fmt: skip
