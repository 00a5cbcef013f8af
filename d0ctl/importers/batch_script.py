"""The command that submits a script of Slurm with the requests in its `#SBATCH` lines."""

import itertools
import os
import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec import Struct

from d0ctl.units import format_time

_LINE = re.compile(r"^#SBATCH[ \t]+(.*)$", re.MULTILINE)
_NUMBER, _FOLDER = "SLURM_ARRAY_TASK_ID", "SLURM_SUBMIT_DIR"
_OF_SLURM = re.compile(r"\bSLURM_\w+")
_STEP = re.compile(r"(?:^|[;&|(`])[ \t]*(?:(?:time|exec)[ \t]+)?srun\s", re.MULTILINE)

_LONG = {"a": "array", "c": "cpus-per-task", "t": "time", "J": "job-name", "o": "output",
         "e": "error", "N": "nodes", "n": "ntasks"}  # fmt: skip
"""The long names of the short options that are known."""

_OPTIONS = {"array": "--array", "cpus-per-task": "--cpus", "time": "--wall-time",
            "mem": "--memory", "job-name": "--as", "gres": "--gpus", "gpus": "--gpus"}  # fmt: skip
_NEEDLESS = {"output", "error"}
"""d0ctl keeps the logs of all packages."""

MOST_WORDS = 5_000
"""How many words of a script are compared with the files beside it."""

_VARIABLE = re.compile(r"\$\{[^}\s]*\}|\$\w+")
_WRITTEN = re.compile(rf"(?<![2>])>>?[ \t]*[\"']?((?:[\w./-]|{_VARIABLE.pattern})+)")
_COMPARISON = re.compile(r"\[\[.*?\]\]|\(\(.*?\)\)|\$\d+ *>+ *\$\d+")
"""Texts in which `>` does not write, in the shell and in awk."""

_OWN_FOLDER = "out-{n}"
"""The folder for files of a package whose names do not have its number."""


class Submission(Struct, frozen=True):
    """The command that submits a script, and what the command lacks."""

    command: str
    left_out: tuple[str, ...]
    """Options of `#SBATCH` lines, variables of Slurm that the script reads, and its `srun`."""
    unnamed: tuple[str, ...]
    """Names of files that the script writes, as written there, of which no output can be made."""


class _Outputs(Struct, frozen=True):
    """The files to which the output of commands goes, if their names have variables."""

    names: list[str]
    """Names and patterns for `--output`."""
    moved: list[str]
    """Patterns of files that go to a folder of each package: several may write the same name."""
    unnamed: list[str]


def submission(text: str, path: Path) -> Submission:
    """Return the command that submits a script."""
    arguments, left_out = ["d0ctl", "submit"], []
    for line in _LINE.findall(text):
        for name, value, as_written in _options(line):
            translated = _value(name, value)
            if translated:
                arguments += [_OPTIONS[name], translated]
            elif name not in _NEEDLESS and (name, value) not in {("nodes", "1"), ("ntasks", "1")}:
                left_out.append(as_written)
    is_array = "--array" in arguments
    requests = dict(itertools.pairwise(arguments))
    commands = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
    beside = _files(commands, path)
    made = _outputs(_COMPARISON.sub("", commands), is_array, [*beside, path.name, _OWN_FOLDER])
    for name in beside:
        arguments += ["--input", name]
    for name in made.names:
        arguments += ["--output", name]
    used = dict.fromkeys(_OF_SLURM.findall(commands))
    values = ({_NUMBER: "{n}"} if is_array else {}) | _values(requests, path)
    variables = [f"{name}={value}" for name, value in values.items() if name in used]
    left_out += [f"${name}" for name in used if name not in values]
    left_out += ["srun (delete it and its options in the script)"] * bool(_STEP.search(commands))
    call = [f"./{path.name}"] if os.access(path, os.X_OK) else ["bash", path.name]
    arguments += ["--", *_call(variables, call, made.moved)]
    return Submission(" ".join(map(_quoted, arguments)), tuple(left_out), tuple(made.unnamed))


def _values(requests: Mapping[str, str], path: Path) -> dict[str, str]:
    """Return what Slurm would set of a task on one node, by the options of the command."""
    cpus = requests.get("--cpus", "1")
    return {
        _FOLDER: ".", "SLURM_TMPDIR": ".", "SLURM_CPUS_PER_TASK": cpus, "SLURM_CPUS_ON_NODE": cpus,
        "SLURM_NTASKS": "1", "SLURM_NPROCS": "1", "SLURM_PROCID": "0", "SLURM_NNODES": "1",
        "SLURM_JOB_NAME": requests.get("--as", path.name),
    }  # fmt: skip


def _call(variables: list[str], call: list[str], moved: list[str]) -> list[str]:
    """Return the words that run a script, or a text for the shell that moves its files then."""
    run = [*["env"] * bool(variables), *variables, *call]
    if not moved:
        return run
    return [" ".join([*map(_quoted, run), "&&", "mv", *moved, f"{_OWN_FOLDER}/"])]


def _quoted(word: str) -> str:
    """Return a word for the shell; the number of a package stays as it is."""
    return word if word.endswith("={n}") else shlex.quote(word)


def _options(line: str) -> Iterator[tuple[str, str, str]]:
    """Yield the options of a line with their values, and as they are written."""
    options = iter(line.partition(" #")[0].split())
    for word in options:
        name, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("--") and len(name) > 1 and not equals:
            name, value = name[0], name[1:]
        elif not equals:
            value = next(options, "")
            word = f"{word} {value}".rstrip()
        yield _LONG.get(name, name), value.strip("\"'"), word


def _value(name: str, value: str) -> str | None:
    """Return a value as d0ctl writes it; None if it is not known."""
    if name == "time":
        return _time(value)
    if name == "mem":
        found = re.fullmatch(r"(\d+)([KMGT]?)B?", value, re.IGNORECASE)
        return f"{found[1]}{found[2].upper() or 'M'}iB" if found else None
    if name in ("gres", "gpus"):
        gpus = re.fullmatch(r"(?:gpu:)?(?:[a-z]\w*:)?(\d+)", value)
        return gpus[1] if gpus else None
    return value if name in _OPTIONS else None


def _time(value: str) -> str | None:
    """Return a time that is `90`, `HOURS:10:00` or `DAYS-HOURS` in Slurm as d0ctl writes it."""
    if not re.fullmatch(r"(\d{1,4}-)?\d{1,6}(:\d{1,2}){0,2}", value):
        return None
    days, dash, rest = value.rpartition("-")
    parts = [int(part) for part in rest.split(":")]
    if dash:
        hours, minutes, seconds = (*parts, 0, 0)[:3]
    elif len(parts) == 3:
        hours, minutes, seconds = parts
    else:
        hours, (minutes, seconds) = 0, (*parts, 0)[:2]
    return format_time(int(days or 0) * 86400 + hours * 3600 + minutes * 60 + seconds)


def _outputs(commands: str, is_array: bool, beside: Iterable[str]) -> _Outputs:
    """Return the outputs whose names have variables; others may be left by every package."""
    found = _Outputs([], [], [])
    for written in dict.fromkeys(_WRITTEN.findall(commands)):
        pattern = posixpath.normpath(_pattern(written, is_array))
        folder, _, name = pattern.rpartition("/")
        if "$" not in written or written.startswith("/"):
            continue
        is_own = not is_array or "{n}" in pattern
        if (
            "*" in folder
            or pattern.startswith("..")
            or not re.search(r"\w", name)
            or (not is_own and any(fnmatchcase(file, pattern) for file in beside))
        ):
            found.unnamed.append(written)
        elif is_own:
            found.names.append(pattern)
        else:
            found.names.append(f"{_OWN_FOLDER}/{name}")
            found.moved.append(pattern)
    return _Outputs(*(list(dict.fromkeys(names))
                      for names in (found.names, found.moved, found.unnamed)))  # fmt: skip


def _pattern(written: str, is_array: bool) -> str:
    """Return the name of a file with `{n}` for the number of the package, `*` for the unknown."""

    def value(variable: re.Match[str]) -> str:
        name = variable[0].strip("${}")
        if name == _FOLDER:
            return "."
        return "{n}" if is_array and name == _NUMBER else "*"

    return _VARIABLE.sub(value, written)


def _files(commands: str, path: Path) -> list[str]:
    """Return the files beside a script that its commands name."""
    named = dict.fromkeys(re.split(r"[\s;|&()<>\"'`=]+", commands)[:MOST_WORDS])
    names = (word.removeprefix("./") for word in named)
    return [name for name in names
            if re.fullmatch(r"[\w.-]{1,200}", name) and name != path.name
            and name.strip(".") and not name.startswith("-")
            and (path.parent / name).is_file()]  # fmt: skip
