"""Advice about the outputs of stages."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import chain, islice

from d0ctl.jobfile.input_files import InputFiles
from d0ctl.jobfile.recipe import JobRecipe, OutputRecipe, PackageRecipe, StageRecipe
from d0ctl.jobfile.site_names import KnownNames
from d0ctl.jobfile.spec import Disposition
from d0ctl.jobfile.yaml.faults import Notes, Position, shown

STORED, REMOVED, KEPT = "store", "deletable", "disposition"
"""The kinds of outputs that are not copied to results/, each of which has one warning."""


def instead_of_glob(pattern: str, stages: Iterable[StageRecipe]) -> str:
    """Advise `from` if a stage makes files that match, by the first line of each loop."""
    for stage in stages:
        for line in stage.lines:
            for values in islice(line.loop, 1):
                if any(fnmatchcase(name, pattern) for name in line.made(values)):
                    return (
                        f", but stage {shown(stage.name)} makes such files: write "
                        f"`from: {stage.name}, match: {pattern!r}` instead of `glob`"
                    )
    return ""


def nothing_to_read(stages: Iterable[StageRecipe], name: str) -> str:
    """Say that other stages can read no output of a stage, and why."""
    lines = [line for stage in stages if stage.name == name for line in stage.lines]
    made = [[output.file.scalar.text for binary in package.binaries for output in binary.outputs]
            for line in lines for package in line.packages]  # fmt: skip
    message = f"stage {shown(name)} has no output that other stages can read"
    names = list(chain.from_iterable(made))
    if not names:
        return f"{message}: its packages have no `outputs`"
    are = "is" if len(names) == 1 else "and others are"
    others = "" if all(made) else ", and its other packages have no `outputs`"
    return f"{message}: {shown(names[0])} {are} read in the stage itself{others}"


def not_copied(
    job: JobRecipe,
    files: InputFiles,
    made: Mapping[str, Sequence[str]],
    known: KnownNames,
    warnings: Notes,
) -> None:
    """Warn once per kind of outputs that are not copied because they have a disposition.

    `made` are the outputs of each stage; `result: no` says that this is intended.
    """
    lines = [line for stage in job.stages for line in stage.lines]
    if not any(map(_kind, chain.from_iterable(_outputs(line.packages) for line in lines))):
        return  # the inputs are listed only if needed: a job has up to 10^7
    read = frozenset(_read(job, files, known))
    first: dict[str, Position] = {}
    for stage in job.stages:
        names = iter(made[stage.name])
        for line in stage.lines:
            outputs = [*_outputs(line.packages)]
            kinds = [(output.position, _kind(output)) for output in outputs]
            for _ in line.loop:
                for position, kind in kinds:
                    name = next(names)
                    if kind and (kind == STORED or name not in read):
                        at = first.setdefault(kind, position)
                        warnings.add_similar(at, kind, _message(kind, name))


def _outputs(packages: Iterable[PackageRecipe]) -> Iterator[OutputRecipe]:
    binaries = (binary for package in packages for binary in package.binaries)
    return chain.from_iterable(binary.outputs for binary in binaries)


def _kind(output: OutputRecipe) -> str | None:
    """Return how an output is not copied if no package reads it; None if it is, or is stored."""
    fields = output.fields
    said = fields.fixed.get("dispositions") or frozenset()
    if not said or any("locator" in each for each in (fields.fixed, fields.varying)):
        return None
    if Disposition.STORE in said:
        return STORED
    if any("result" in each for each in (fields.fixed, fields.varying)):
        return None
    retained = {Disposition.RETAIN_INDEF, Disposition.RETAIN_TEMP} & said
    return REMOVED if Disposition.DELETABLE in said and not retained else KEPT


def _message(kind: str, name: str) -> str:
    copied = "copied to results/ only with `result: yes`"
    if kind == STORED:
        return f"`disposition: store` needs a `locator`: {shown(name)} is not stored, and {copied}"
    if kind == REMOVED:
        return f"no package reads {shown(name)}, which is deletable: it is removed, and {copied}"
    return f"no package reads {shown(name)}, but as it has a disposition, it is {copied}"


def _read(job: JobRecipe, files: InputFiles, known: KnownNames) -> Iterator[str]:
    """Yield the files that packages read, with the late outputs to which they belong."""
    patterns = {file.name: pattern for pattern, late in known.late.items() for file in late}
    for stage in job.stages:
        for line in stage.lines:
            for at, values in enumerate(line.loop):
                for package in line.packages:
                    entries = [files.of_binary(binary, values, at) for binary in package.binaries]
                    if package.wrapper is not None:
                        entries.append(files.of_entry(package.wrapper, values, at))
                    for file in chain.from_iterable(entries):
                        yield patterns.get(file.file, file.file)
