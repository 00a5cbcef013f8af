"""Files that a package makes or reads, but that its job file does not declare."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from d0ctl.jobfile import local_files
from d0ctl.jobfile.checks.command_text import CommandText
from d0ctl.jobfile.input_files import InputFile, InputFiles, Origin
from d0ctl.jobfile.language.placeholders import PLACEHOLDER, LoopValues, Template
from d0ctl.jobfile.recipe import JobRecipe, LineRecipe, PackageRecipe, StageRecipe
from d0ctl.jobfile.spec import GROUP, INPUTS
from d0ctl.jobfile.yaml.faults import Notes, near, shown

NEAR = 0.75
"""How much a name must be like that of an input to be taken for it."""

MOST_COMPARED = 100
"""How many outputs of a job are compared with each pattern in a command."""


class Made(NamedTuple):
    """An output: the stage and the line that make it, and its name as the job file has it."""

    stage: str
    line: LineRecipe
    written: str


def outputs_by_name(job: JobRecipe) -> dict[str, Made]:
    """Return the outputs of the first line of each loop by their names."""
    return {
        output.file.render(values): Made(stage.name, line, output.file.scalar.text)
        for stage in job.stages
        for line in stage.lines
        if (values := next(iter(line.loop), None)) is not None
        for package in line.packages
        for binary in package.binaries
        for output in binary.outputs
    }


class Others(NamedTuple):
    """What the packages of a job make, for a line of a stage."""

    made: Mapping[str, Made]
    stage: StageRecipe
    line: LineRecipe

    def unread(
        self, command: CommandText, known: Collection[str], *, has_inputs: bool
    ) -> Iterator[tuple[str, str]]:
        """Yield the words that name outputs of other packages, but no inputs, with a warning."""
        for word in command.possible_names:
            name = word.removeprefix("./")
            found = name if name in self.made else _matched(name, self.made)
            if found is None or word not in command.text or _is_known(name, known):
                continue
            what = "is" if found == name else f"matches {shown(found)},"
            remedy = self._remedy(command, word, self.made[found], has_inputs=has_inputs)
            yield (
                word,
                (
                    f"{shown(word)} {what} an output of stage `{self.made[found].stage}`, but not "
                    f"an input: it will not be on the node; {remedy}"
                ),
            )

    def _remedy(self, command: CommandText, word: str, made: Made, *, has_inputs: bool) -> str:
        """Say what to add to the inputs.

        A stage can't take its own outputs by `from`; a name that varies by line is one of them, not
        all outputs of the other stage.
        """
        entry = f"{{from: {made.stage}}}"
        if "*" not in word and "{" in (name := command.as_in_file(word)):
            entry = name
        if made.stage == self.stage.name:
            if "*" in word and made.line is not self.line:
                return f"move this line to a later stage, with `inputs: {entry}`"
            entry = made.written if "*" in word else command.as_in_file(word)
        return f"add `{entry}` to its `inputs`" if has_inputs else f"add `inputs: {entry}`"


def misspelt(
    command: CommandText, inputs: Collection[str], known: Collection[str], files: InputFiles
) -> Iterator[tuple[str, str]]:
    """Yield programs of the package's folder that are nowhere, with a warning that names an input.

    A program may come from an archive or a compiler, so only a name that is nearly that of an
    input, with its ending, and occurs once is taken for a mistake.
    """
    for word in command.possible_names:
        name = word.removeprefix("./")
        if name == word or "/" in name or "*" in name or name in known:
            continue
        if command.text.count(name) > 1 or local_files.is_file(files.absolute(name)):
            continue
        ending = Path(name).suffix
        meant = near(name, [own for own in inputs if Path(own).suffix == ending], NEAR)
        if meant is not None:
            yield (
                word,
                f"{shown(word)} is not among its inputs: did you mean {shown('./' + meant)}?",
            )


def without_folder(
    command: CommandText, inputs: Collection[str], known: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yield the patterns that match inputs only without their folder, with a warning.

    Words with a folder may bring the files, or the command, to it; so may a list of all inputs.
    """
    names = command.possible_names
    if any(sign in command.text for sign in (INPUTS, GROUP, "D0CTL_INPUTS")):
        return
    for word in names:
        name = word.removeprefix("./")
        if "*" not in name or "/" in name or not name.strip("*") or _is_known(name, known):
            continue
        meant = next((own for own in inputs if fnmatchcase(Path(own).name, name)), None)
        folder, _, _ = (meant or "").rpartition("/")
        if not folder or f" {word}" not in command.text or any(
            folder.startswith(other.rstrip("/")) or fnmatchcase(meant or "", other)
            for other in names
        ):  # fmt: skip
            continue
        written = shown(f"{folder}/{name}")
        yield (
            word,
            f"{shown(word)} is {written} in the working directory: write that, or `layout: flat`",
        )


def kept_by_none(package: PackageRecipe, command: CommandText) -> Iterator[tuple[str, str]]:
    """Yield the file that a package without outputs writes, with a warning.

    A package that only stores or checks files writes none, or reads again what it writes.
    """
    if any(binary.outputs for binary in package.binaries):
        return
    for name, word in command.written.items():
        if name[:1].isalpha() and command.text.count(name) == 1:
            yield (
                word,
                (
                    f"{shown(word)} is written, but the package has no `outputs`, so only its log "
                    f"is kept; add `outputs: {command.as_in_file(word)}`"
                ),
            )
            return


def _is_known(name: str, known: Collection[str]) -> bool:
    return any(own == name or fnmatchcase(own, name) for own in known)


def _matched(pattern: str, made: Mapping[str, Made]) -> str | None:
    """Return the first output that a pattern matches; one of few letters says too little."""
    if "*" not in pattern or len(pattern.strip("*.")) < 2:
        return None
    return next((name for name in islice(made, MOST_COMPARED) if fnmatchcase(name, pattern)), None)


class _Read(NamedTuple):
    """A file whose name varies with the loop, and the package of a line that reads it."""

    name: str
    template: Template
    line: LineRecipe
    package: int


def old_files(job: JobRecipe, files: InputFiles, warnings: Notes) -> None:
    """Warn of files beside the job file that an earlier package without outputs may make anew.

    It warns once per stage, by the first line of each loop.
    """
    for number, stage in enumerate(job.stages):
        for read in _read_from_outside(stage, files):
            maker = _maker(job.stages[:number], read, files)
            if maker is not None:
                message = (
                    f"the {shown(read.name)} beside the job file is read; if {maker} makes it, "
                    f"add `outputs: {read.template.scalar.text}` there"
                )
                warnings.add(read.template.scalar.position, message)
                break


def _read_from_outside(stage: StageRecipe, files: InputFiles) -> Iterator[_Read]:
    for line in stage.lines:
        for values in islice(line.loop, 1):
            for at, package in enumerate(line.packages):
                for file in _inputs(package, values, files):
                    if (template := file.entry.file) is not None and _may_be_made(file, files):
                        yield _Read(file.written or file.file, template, line, at)


def _may_be_made(file: InputFile, files: InputFiles) -> bool:
    """Return whether a file may be one of many that the job makes; a loop may also list files."""
    text = "" if file.entry.file is None else file.entry.file.scalar.text
    return (
        file.origin == Origin.FETCHED
        and not file.entry.is_constant
        and "/" not in text
        and not PLACEHOLDER.fullmatch(text)
        and local_files.is_file(file.file)
        and not local_files.is_program(file.file)
    )


def _maker(stages: Sequence[StageRecipe], read: _Read, files: InputFiles) -> str | None:
    """Name the last package before that may make a file, as it keeps none and has not this one."""
    for at in reversed(range(read.package)):
        if _may_make(read.line, read.line.packages[at], read.name, files):
            return f"package {at + 1} of its line"
    for stage in reversed(stages):
        for line in stage.lines:
            if _loop_of(line) == _loop_of(read.line) and any(
                _may_make(line, package, read.name, files) for package in line.packages
            ):
                return f"stage {shown(stage.name)}"
    return None


def _may_make(line: LineRecipe, package: PackageRecipe, name: str, files: InputFiles) -> bool:
    """Return whether a package without outputs runs something else in each line of its loop."""
    signs = [f"{{{loop}" for loop in line.loop.names]
    texts = [part.text for b in package.binaries if b.run is not None for part in b.run.scalars]
    return (
        not any(binary.outputs for binary in package.binaries)
        and any(sign in text for sign in signs for text in texts)
        and not any(
            name == file.written
            for values in islice(line.loop, 1)
            for file in _inputs(package, values, files)
        )
    )


def _inputs(package: PackageRecipe, values: LoopValues, files: InputFiles) -> Iterator[InputFile]:
    for binary in package.binaries:
        yield from files.of_binary(binary, values, 0)


def _loop_of(line: LineRecipe) -> list[tuple[list[str], list[object]]]:
    return [([*group.names], [*group.values]) for group in line.loop.groups]
