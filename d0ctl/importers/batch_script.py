"""The command that submits a script of Slurm with the requests in its `#SBATCH` lines."""

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from d0ctl.units import format_time

_LINE = re.compile(r"^#SBATCH[ \t]+(.*)$", re.MULTILINE)
_NUMBER, _FOLDER = "SLURM_ARRAY_TASK_ID", "SLURM_SUBMIT_DIR"
_LONG = {"a": "array", "c": "cpus-per-task", "t": "time", "J": "job-name", "o": "output",
         "e": "error", "N": "nodes", "n": "ntasks"}  # fmt: skip
"""The long names of the short options that are known."""

_OPTIONS = {"array": "--array", "cpus-per-task": "--cpus", "time": "--wall-time",
            "mem": "--memory", "job-name": "--as", "gres": "--gpus", "gpus": "--gpus"}  # fmt: skip
_NEEDLESS = {"output", "error"}
"""d0ctl keeps the logs of all packages."""

MOST_WORDS = 5_000
"""How many words of a script are compared with the files beside it."""


def submission(text: str, path: Path) -> tuple[str, list[str]]:
    """Return the command that submits a script, and its lines that the command lacks."""
    arguments, left_out = ["d0ctl", "submit"], []
    for line in _LINE.findall(text):
        for name, value, as_written in _options(line):
            translated = _value(name, value)
            if translated:
                arguments += [_OPTIONS[name], translated]
            elif name not in _NEEDLESS and (name, value) not in {("nodes", "1"), ("ntasks", "1")}:
                left_out.append(as_written)
    for beside in _files(text, path):
        arguments += ["--input", beside]
    variables = [f"{_NUMBER}={{n}}"] if "--array" in arguments and _NUMBER in text else []
    for made in _outputs(text) if variables else ():
        arguments += ["--output", made]
    variables += [f"{_FOLDER}=."] if _FOLDER in text else []
    arguments += ["--", *["env"] * bool(variables), *variables]
    call = [f"./{path.name}"] if os.access(path, os.X_OK) else ["bash", path.name]
    quoted = (word if word.endswith("={n}") else shlex.quote(word) for word in (*arguments, *call))
    return " ".join(quoted), left_out


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


def _outputs(text: str) -> list[str]:
    """Return the files with the number of the package to which the output of commands goes."""
    written = re.findall(rf">>?[ \t]*[\"']?([\w.$\{{\}}-]*\$\{{?{_NUMBER}\b[\w.$\{{\}}-]*)", text)
    names = (re.sub(rf"\$(?:{_NUMBER}\b|\{{{_NUMBER}\}})", "{n}", name) for name in written)
    return [name for name in dict.fromkeys(names) if "$" not in name]


def _files(text: str, path: Path) -> list[str]:
    """Return the files beside a script that its commands name."""
    commands = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
    named = dict.fromkeys(re.split(r"[\s;|&()<>\"'`=]+", commands)[:MOST_WORDS])
    names = (word.removeprefix("./") for word in named)
    return [name for name in names
            if re.fullmatch(r"[\w.-]{1,200}", name) and name != path.name
            and name.strip(".") and not name.startswith("-")
            and (path.parent / name).is_file()]  # fmt: skip
