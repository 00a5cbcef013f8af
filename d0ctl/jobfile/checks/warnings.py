"""Warnings about a job that can run, but may not do what its author means."""

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import partial

from d0ctl.jobfile import local_files
from d0ctl.jobfile.input_files import BinaryFiles, InputFile, InputFiles, Origin
from d0ctl.jobfile.language.file_names import base_name
from d0ctl.jobfile.language.script import Arguments, Script
from d0ctl.jobfile.language.template import Env
from d0ctl.jobfile.recipe import (
    BinaryRecipe,
    JobRecipe,
    PackageRecipe,
    StageRecipe,
)
from d0ctl.jobfile.spec import INPUTS
from d0ctl.jobfile.yaml.document import Scalar
from d0ctl.jobfile.yaml.faults import Notes, Place, shown

MOST_WORDS = 2000
"""How many words of one text are looked at."""

_SIGNS = re.compile(r"[\s;|&()<>\"'`=,:]+")
_WRITTEN = re.compile(r">\s*[\"']?([^\s;|&()<>\"'`]+)")
_CALLED = re.compile(r"(?:^|[;&|(])[ \t]*\./([^\s;|&()<>\"'`/]+)", re.MULTILINE)
"""A file of the folder that a text calls as `./NAME`."""

_EXPANDED = re.compile(r"\$\{[^}]*\}|\$\([^)]*\)|\$\w+|\{[^}]*\}")
_LISTS = ("D0CTL_INPUTS", INPUTS)


def advise(job: JobRecipe, files: InputFiles, warnings: Notes) -> None:
    """Warn of what can be seen in the first line of each loop, and of keys without effect."""
    for stage in job.stages:
        _requirement(stage, files, warnings)
        for line in stage.lines:
            env = next(iter(line.loop), None)
            if env is not None:
                for package in line.packages:
                    _package(package, env, files, warnings)
    _without_effect(job, warnings)


def _requirement(stage: StageRecipe, files: InputFiles, warnings: Notes) -> None:
    """Warn of a fraction of other stages in a stage that reads from none."""
    if stage.require_place is not None and not any(
        files.comes_from_packages(recipe)
        for line in stage.lines
        for package in line.packages
        for binary in package.binaries
        for recipe in binary.inputs
    ):
        told = "has no effect: no line of this stage reads a file of another stage"
        warnings.add(stage.require_place, f"`require` {told}")


def _package(package: PackageRecipe, env: Env, files: InputFiles, warnings: Notes) -> None:
    inputs = [files.of_binary(binary, env, 0) for binary in package.binaries]
    made = {output.file.render(env) for b in package.binaries for output in b.outputs}
    for binary, own in zip(package.binaries, inputs, strict=True):
        text = _text(binary, own, inputs, env)
        if text is not None:
            words = _words(text)
            _beside(binary, words, inputs, made, text, files, warnings)
            _not_executable(binary, own, text, files, warnings)
            _script_among_inputs(binary, own, text, files, warnings)
            _flattened(binary, words, own, text, warnings)
            _unnamed_outputs(binary, words, text, env, warnings)


def _text(
    binary: BinaryRecipe, own: list[InputFile], inputs: list[list[InputFile]], env: Env
) -> str | None:
    """Return what a binary runs; None where the catalogue says it."""
    made = [output.file.render(env) for output in binary.outputs]
    around = BinaryFiles(own, made, inputs)
    if isinstance(binary.run, Script):
        return binary.run.text(env, around)
    if isinstance(binary.run, Arguments):
        return "\n".join(binary.run.render(env, around)["argv"])
    return None


def _words(text: str) -> list[str]:
    """Return the words of a text that may name files, each once."""
    texts = text[:1_000_000], _EXPANDED.sub("*", text[:1_000_000])
    found = dict.fromkeys(word for one in texts for word in _SIGNS.split(one) if word)
    return list(found)[:MOST_WORDS]


def _beside(
    binary: BinaryRecipe,
    words: Iterable[str],
    inputs: list[list[InputFile]],
    made: set[str],
    text: str,
    files: InputFiles,
    warnings: Notes,
) -> None:
    """Warn of a file beside the job file that is called, but does not go to the node."""
    known = {file.local_name for each in inputs for file in each} | made
    known |= {file.written or "" for each in inputs for file in each}
    known |= {name.removeprefix("./") for name in known | set(_WRITTEN.findall(text))}
    for word in words:
        name = word.removeprefix("./")
        if not ("/" in word or "." in word) or name in known or not _is_relative(word):
            continue
        if local_files.is_file(files.absolute(name)):
            told = f"{shown(word)} is beside the job file, but no input"
            warnings.add(_place(binary, word), f"{told}: it will not be on the node; "
                         f"add `inputs: {name}`")  # fmt: skip


def _not_executable(
    binary: BinaryRecipe, own: list[InputFile], text: str, files: InputFiles, warnings: Notes
) -> None:
    """Warn of a script beside the job file that is called by its name but can't be executed."""
    called = set(_CALLED.findall(text[:1_000_000]))
    for file in own:
        path = files.absolute(file.file)
        if (
            file.local_name in called
            and local_files.is_file(path)
            and not local_files.is_program(path)
        ):
            word = f"./{file.local_name}"
            warnings.add(_place(binary, word), f"{shown(word)} is not executable: chmod +x "
                         f"{file.written or file.file}")  # fmt: skip


def _script_among_inputs(
    binary: BinaryRecipe, own: list[InputFile], text: str, files: InputFiles, warnings: Notes
) -> None:
    """Warn of a script that is called and stands among the inputs that it is given as a list."""
    if len(own) < 2 or not any(sign in text for sign in _LISTS):
        return
    called = set(_CALLED.findall(text[:1_000_000]))
    for file in own:
        if file.local_name in called and local_files.is_file(files.absolute(file.file)):
            word = f"./{file.local_name}"
            message = (
                f"the list of inputs that {shown(word)} gets has `{file.local_name}` in it, too: "
                "name the others by a pattern such as `sim-*.txt`, or pass over it"
            )
            warnings.add(_place(binary, word), message)


def _is_relative(word: str) -> bool:
    return not word.startswith(("/", "-", "~")) and not re.search(r"[$*?\[\]{}\\]", word)


def _flattened(
    binary: BinaryRecipe, words: list[str], own: list[InputFile], text: str, warnings: Notes
) -> None:
    """Warn of an input that is read by its folder, which it has not where the binary runs."""
    plain = {word.removeprefix("./") for word in words}
    for file in own:
        written = file.written if file.written is not None else file.file
        name, base = written.removeprefix("./"), file.local_name
        if "/" not in name or base == name or file.origin == Origin.OWN:
            continue
        if name in plain:
            told = f"is an input and has its base name where the binary runs: write `{base}`"
            warnings.alike(_place(binary, name), "folder", partial(str, f"{shown(name)} {told}"))
        elif (
            not name.startswith("/")
            and file.entry.file is not None
            and base not in text
            and not any(sign in text for sign in _LISTS)
        ):
            told = f"input {shown(name)} is `{base}` where the binary runs, without its folder"
            warnings.alike(file.entry.place, "folder", partial(str, told))


def _unnamed_outputs(
    binary: BinaryRecipe, words: list[str], text: str, env: Env, warnings: Notes
) -> None:
    """Warn of outputs that the text of a binary does not name, not even in part."""
    for output in binary.outputs:
        name = output.file.render(env)
        last = base_name(name)
        if last in text or any(_may_name(word, last) for word in words):
            continue
        told = "is not named in `run`"
        warnings.add(output.place, f"output {shown(name)} {told}; the package fails if it is "
                     "not made")  # fmt: skip


def _may_name(word: str, name: str) -> bool:
    """Tell whether a word of a text may stand for a file, by a pattern or as how it begins."""
    word = word[word.rfind("/") + 1 :]
    return len(word) > 2 and (name.startswith(word) or ("*" in word and fnmatchcase(name, word)))


def _place(binary: BinaryRecipe, word: str) -> Place:
    """Return where a word stands in `run`, as well as can be told."""
    for scalar in _scalars(binary):
        if word in scalar.text:
            return scalar.place_of(word, 0)
    return next((scalar.place for scalar in _scalars(binary)), binary.place)


def _scalars(binary: BinaryRecipe) -> Iterator[Scalar]:
    if isinstance(binary.run, Script | Arguments):
        yield from binary.run.scalars


def _without_effect(job: JobRecipe, warnings: Notes) -> None:
    """Warn of keys by which nothing goes yet, each once."""
    packages = [p for stage in job.stages for line in stage.lines for p in line.packages]
    for package in packages:
        if any("cpu" in _keys(binary) for binary in package.binaries):
            warnings.add(package.place, "`cpu` has no effect yet")
            break
    for package in packages:
        if len(package.binaries) == 1 and "runtime" in _keys(package.binaries[0]):
            told = "has no effect yet but on the progress of a chain of binaries"
            warnings.add(package.place, f"`runtime` {told}")
            break


def _keys(binary: BinaryRecipe) -> set[str]:
    return {*binary.fields.fixed, *binary.fields.varying}
