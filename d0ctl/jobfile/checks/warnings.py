"""Warnings about a job that can run, but may not do what its author intends."""

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from d0ctl.jobfile import local_files
from d0ctl.jobfile.checks import shell_names, undeclared
from d0ctl.jobfile.checks.command_text import CommandText, called_by, program_of
from d0ctl.jobfile.checks.pattern_of import pattern_of
from d0ctl.jobfile.input_files import BinaryFiles, InputFile, InputFiles, Origin
from d0ctl.jobfile.language.file_names import base_name, is_pattern
from d0ctl.jobfile.language.placeholders import LoopValues
from d0ctl.jobfile.language.script import Arguments, Script
from d0ctl.jobfile.recipe import BinaryRecipe, JobRecipe, PackageRecipe, StageRecipe
from d0ctl.jobfile.spec import GROUP, INPUTS
from d0ctl.jobfile.yaml.document import Scalar
from d0ctl.jobfile.yaml.faults import Notes, Position, did_you_mean, shown
from d0ctl.units import without_unit

_LISTS = ("D0CTL_INPUTS", INPUTS)


def advise(job: JobRecipe, files: InputFiles, warnings: Notes, *, is_seen: bool = True) -> None:
    """Warn of likely mistakes in the first line of each loop.

    For a generated job file, the outputs that the command declares are passed separately.
    """
    undeclared.old_files(job, files, warnings)
    made = undeclared.outputs_by_name(job)
    for stage in job.stages:
        _requirement(stage, files, warnings)
        for line in stage.lines:
            values = next(iter(line.loop), None)
            if values is not None:
                others = undeclared.Others(made, stage, line)
                for package in line.packages:
                    shell_names.advise(job, line, package, values, warnings)
                    _package(package, values, files, warnings, is_seen, others)


def _requirement(stage: StageRecipe, files: InputFiles, warnings: Notes) -> None:
    """Warn of `require` in a stage that reads no other stage."""
    if stage.require_position is not None and not any(
        _reads_others(package, files) for line in stage.lines for package in line.packages
    ):
        message = "`require` has no effect: no line of this stage reads a file of another stage"
        warnings.add(stage.require_position, message)


def _reads_others(package: PackageRecipe, files: InputFiles) -> bool:
    """Return whether an input of a package comes from another package."""
    return any(files.comes_from_packages(entry) for b in package.binaries for entry in b.inputs)


def _without_unit(package: PackageRecipe, warnings: Notes) -> None:
    """Warn of sizes in which no program fits."""
    for key in ("memory", "disk"):
        size = package.fields.fixed.get(key)
        if size is not None and (bytes_meant := without_unit(size)):
            warnings.add(package.position, f"`{key}` is {bytes_meant}")


def _package(
    package: PackageRecipe,
    values: LoopValues,
    files: InputFiles,
    warnings: Notes,
    is_seen: bool,
    others: undeclared.Others,
) -> None:
    _without_unit(package, warnings)
    inputs = [files.of_binary(binary, values, 0) for binary in package.binaries]
    made = {output.file.render(values) for b in package.binaries for output in b.outputs}
    known = {file.local_name for each in inputs for file in each} | made
    known |= {file.written or "" for each in inputs for file in each}
    known |= {name.removeprefix("./") for name in known}
    for binary, own in zip(package.binaries, inputs, strict=True):
        text = _text(binary, own, inputs, values)
        if text is not None:
            command = CommandText(text, "\n".join(part.text for part in _scalars(binary)))
            run_words, known_now = command.possible_names, known.union(command.written)
            _beside(binary, own, run_words, known_now, files, warnings)
            unread = [*others.unread(command, known_now, has_inputs=bool(own))]
            names = [file.local_name for file in own]
            wrong = undeclared.misspelt(command, names, known_now, files)
            bare = undeclared.without_folder(command, names, known_now)
            written = undeclared.kept_by_none(package, command)
            for word, message in (*unread, *wrong, *bare, *written):
                warnings.add(_position(binary, word), message)
            _not_executable(binary, own, text, files, warnings)
            _named_and_listed(binary, own, run_words, files, warnings)
            _flattened(binary, run_words, own, text, warnings)
            if is_seen:
                _unnamed_outputs(binary, run_words, text, values, warnings)


def _text(
    binary: BinaryRecipe, own: list[InputFile], inputs: list[list[InputFile]], values: LoopValues
) -> str | None:
    """Return the text that a binary runs; None if it comes from the catalogue."""
    made = [output.file.render(values) for output in binary.outputs]
    binary_files = BinaryFiles(own, made, inputs)
    if isinstance(binary.run, Script):
        return binary.run.text(values, binary_files)
    if isinstance(binary.run, Arguments):
        return "\n".join(binary.run.text(values, binary_files))
    return None


def _beside(
    binary: BinaryRecipe,
    own: list[InputFile],
    run_words: Iterable[str],
    known: set[str],
    files: InputFiles,
    warnings: Notes,
) -> None:
    """Warn of a file beside the job file that is named, but is not an input."""
    whole = tuple(name for name in known if name.endswith("/"))
    for word in run_words:
        name = word.removeprefix("./")
        if not ("/" in word or "." in word) or name in known or not _is_relative(word):
            continue
        if name.startswith(whole):
            continue
        if local_files.is_file(files.absolute(name)):
            remedy = f"`{name}` to its `inputs`" if binary.inputs else f"`inputs: {name}`"
            message = (
                f"{shown(word)} is beside the job file, but not an input: it will not be on the "
                f"node; add {remedy}"
            )
            if own and (instead := _instead(binary, [file.local_name for file in own], {name})):
                message += f", and {instead}, which would contain it"
            warnings.add(_position(binary, word), message)


def _not_executable(
    binary: BinaryRecipe, own: list[InputFile], text: str, files: InputFiles, warnings: Notes
) -> None:
    """Warn of a called script that is not executable or found, or does not say what reads it."""
    is_shell = isinstance(binary.run, Script)
    called, searched = called_by(text) if is_shell else program_of(text.split("\n", 1)[0])
    for file in own:
        path, name = files.absolute(file.file), file.local_name
        if name not in called.keys() | searched or not local_files.is_file(path):
            continue
        is_program = local_files.is_program(path)
        if name in called and not is_program:
            remedy = f"chmod +x {local_files.as_typed(path)}"
            message = f"{shown(called[name])} is not executable: {remedy}"
            warnings.add(_position(binary, called[name]), message)
        elif name in searched and (is_program or not is_shell):
            instead = shown(f"./{name}")
            message = f"{shown(name)} is searched on the PATH of the node: write {instead}"
            warnings.add(_position(binary, name), message)
        elif name in called and (program := local_files.interpreter_of(path, by_shell=is_shell)):
            message = (
                f"{shown(called[name])} has no `#!` line: begin it with `#!/usr/bin/env {program}` "
                f"or call it as `{program} {name}`"
            )
            warnings.add(_position(binary, called[name]), message)


def _named_and_listed(
    binary: BinaryRecipe,
    own: list[InputFile],
    run_words: Iterable[str],
    files: InputFiles,
    warnings: Notes,
) -> None:
    """Warn of a script or other file that `run` names beside a list of inputs with it."""
    if len(own) < 2 or (of_the_list := _list_in(binary)) is None:
        return
    names = {file.local_name: file for file in own if file.entry is not binary.stdin}
    named = {word: name for word in run_words if (name := word.removeprefix("./")) in names}
    instead = _instead(binary, names.keys(), set(named.values()))
    for word, name in named.items():
        is_written = any(word in scalar.text for scalar in _scalars(binary))
        if is_written and local_files.is_file(files.absolute(names[name].file)):
            message = f"{shown(word)} is an input, so `{of_the_list}` contains it, too: "
            advice = f"{instead}, or let" if instead else "let"
            message += f"{advice} the program leave it out"
            warnings.add(_position(binary, word), message)


def _list_in(binary: BinaryRecipe) -> str | None:
    """Return what stands for the list of all inputs in `run`."""
    texts = [scalar.text for scalar in _scalars(binary)]
    signs = ("{inputs}", "{inputs.list}", "$D0CTL_INPUTS")
    return next((sign for sign in signs if any(sign in text for text in texts)), None)


def _instead(binary: BinaryRecipe, inputs: Iterable[str], named: set[str]) -> str:
    """Return what to write for a list of inputs without those that are named; empty if unknown."""
    others = [name for name in inputs if name not in named]
    if not others or not isinstance(binary.run, Script) or _list_in(binary) != "{inputs}":
        return ""
    pattern = pattern_of(others, named)
    return f"write `{pattern}` for `{{inputs}}`" if pattern else ""


def _is_relative(word: str) -> bool:
    return not word.startswith(("/", "-", "~")) and not re.search(r"[$*?\[\]{}\\]", word)


def _has_locator(file: InputFile) -> bool:
    fields = file.entry.fields
    return "locator" in fields.fixed or "locator" in fields.varying


def _flattened(
    binary: BinaryRecipe, run_words: list[str], own: list[InputFile], text: str, warnings: Notes
) -> None:
    """Warn of an input that the text does not name as it is named in the working directory."""
    plain = {word.removeprefix("./") for word in run_words}
    for file in own:
        written = file.written if file.written is not None else file.file
        name, base = written.removeprefix("./"), file.local_name
        if "/" not in name or file.origin == Origin.OWN:
            continue
        if file.origin == Origin.PRESENT and name.startswith("/") and not _has_locator(file):
            continue  # it can be read by this path, too
        if base == name:
            last = base_name(name)
            if last in plain and name not in text and last not in {f.local_name for f in own}:
                message = (
                    f"{shown(last)} is {shown(name)} in the working directory: write that, or "
                    "`layout: flat`"
                )
                warnings.add_similar(_position(binary, last), "folder", message)
            continue
        if name in plain:
            message = (
                f"{shown(name)} is an input, which the working directory has without its folder: "
                f"write `{base}`"
            )
            warnings.add_similar(_position(binary, name), "folder", message)
        elif (
            not name.startswith("/")
            and file.entry.file is not None
            and file.entry is not binary.stdin
            and base not in text
            and not any(sign in text for sign in (*_LISTS, GROUP))
        ):
            message = (
                f"input {shown(name)} is `{base}` in the working directory, without its folder"
            )
            warnings.add_similar(file.entry.position, "folder", message)


def _unnamed_outputs(
    binary: BinaryRecipe, run_words: list[str], text: str, values: LoopValues, warnings: Notes
) -> None:
    """Warn of outputs that the text of a binary does not name, not even partly."""
    for output in binary.outputs:
        name = output.file.render(values)
        last = base_name(name)
        if output.fields.get(values).get("min_count") == 0:
            continue
        if _is_in(text, last) or any(_may_name(word, last) for word in run_words):
            continue
        message = f"output {shown(name)} is not named in `run`{did_you_mean(last, run_words, 0.8)}"
        warnings.add(output.position, f"{message}; the package fails if it is not made")


def _is_in(text: str, name: str) -> bool:
    """Return whether a text has a name; `r.tx` is not in `r.txt`."""
    at = text.find(name)
    while at >= 0 and (end := at + len(name)) < len(text) and text[end].isalnum():
        at = text.find(name, end)
    return at >= 0


def _may_name(word: str, name: str) -> bool:
    """Return whether a word may name a file, as a pattern or as the beginning of its name.

    The name of a late output is a pattern itself.
    """
    word = word[word.rfind("/") + 1 :]
    return len(word) > 2 and (
        name.startswith(word)
        or ("*" in word and fnmatchcase(name, word))
        # Patterns are compiled: for 10,000 names without one, matching would take 2 s of CPU.
        or (is_pattern(name) and fnmatchcase(word, name.rstrip("/")))
    )


def _position(binary: BinaryRecipe, word: str) -> Position:
    """Return the position of a word in `run`, or else of `run` or the binary."""
    for scalar in _scalars(binary):
        if word in scalar.text:
            return scalar.position_at(word, scalar.text.index(word))
    return next((scalar.position for scalar in _scalars(binary)), binary.position)


def _scalars(binary: BinaryRecipe) -> Iterator[Scalar]:
    if binary.run is not None:
        yield from binary.run.scalars
