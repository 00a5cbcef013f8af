"""A job file made of one command: `d0ctl submit --array 1-200 -- ./sim.sh {n}`."""

import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct

from d0ctl.errors import BadUsage
from d0ctl.jobfile import local_files
from d0ctl.jobfile.sections.loop_sources import MAX_VALUES
from d0ctl.jobfile.yaml.faults import did_you_mean, shown

_PART = re.compile(r"([0-9]{1,15})(?:-([0-9]{1,15})(?::([0-9]{1,9}))?)?", re.ASCII)
"""A number, a range, or a range with a step, as Slurm writes them: `7`, `1-200`, `0-100:5`."""


class Command(Struct, frozen=True):
    """A command that is run once, or once for each number or line."""

    arguments: tuple[str, ...]
    """The program and its arguments; one word with spaces is a text for the shell."""
    array: str | None = None
    """Numbers for `{n}`, e.g. `1-200` or `1,5,9`; with `%4`, at most 4 run at a time."""
    each_line: str | None = None
    """A file with the lines for `{line}`."""
    lines: tuple[str, ...] | None = None
    """The lines for `{line}`, instead of a file."""
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    """Keys of the package with their values, e.g. `memory`."""

    @property
    def name(self) -> str:
        """Return the program, from which the job gets its name."""
        return Path(self.program).stem

    @property
    def program(self) -> str:
        """Return the first word of the command."""
        return self._texts[0]

    @property
    def _texts(self) -> list[str]:
        if not self._is_script:
            return list(self.arguments)
        try:
            return shlex.split(self.arguments[0]) or [""]
        except ValueError:
            return self.arguments[0].split()

    def text(self, folder: Path) -> str:
        """Return the job file; files in `folder` that the command names become inputs.

        Raises BadUsage.
        """
        document = self._document(folder)
        return str(yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=1000))

    def _document(self, folder: Path) -> dict[str, Any]:
        loop = self._loop()
        line: dict[str, Any] = {"for": loop} if loop else {}
        line["run"] = self.arguments[0] if self._is_script else list(self.arguments)
        if inputs := list(dict.fromkeys((*self._files(folder), *self.inputs))):
            line["inputs"] = inputs
        if self.outputs:
            line["outputs"] = [_output(name) for name in self.outputs]
        line |= dict(self.settings)
        stage: dict[str, Any] = {"name": re.sub(r"[/\s]+", "-", self.name) or "run"}
        if most := (self.array or "").partition("%")[2]:
            stage["max-running"] = most
        return {"title": self._title, "stages": [{**stage, "lines": [line]}]}

    @property
    def _is_script(self) -> bool:
        return len(self.arguments) == 1 and bool(re.search(r"\s", self.arguments[0]))

    @property
    def _title(self) -> str:
        text = self.arguments[0] if self._is_script else shlex.join(self.arguments)
        text = " ".join(text.split())
        return text if len(text) <= 100 else text[:99] + "…"

    def _loop(self) -> dict[str, Any]:
        ways = [way for way in (self.array, self.each_line, self.lines) if way is not None]
        if len(ways) > 1:
            raise BadUsage("--array, --each-line and --stdin exclude each other")
        if self.array is not None:
            return {"n": _numbers(self.array)}
        if self.each_line is not None:
            return {"line": {"lines": self.each_line}}
        if self.lines is not None:
            if not self.lines:
                raise BadUsage("there are no lines on stdin")
            return {"line": {"list": list(self.lines)}}
        if found := re.search(r"\{(n|line)\b[^{}]*\}", " ".join((*self.arguments, *self.outputs))):
            option = "--array NUMBERS" if found[1] == "n" else "--each-line FILE or --stdin"
            raise BadUsage(f"`{found[0]}` needs {option} before `--`")
        return {}

    def _files(self, folder: Path) -> Iterator[str]:
        """Yield the files beside it that the words name, if those of the first line exist."""
        name, value = self._first(folder)
        for at, word in enumerate(self._texts):
            written = posixpath.normpath(word) if word else "."
            path = written.replace(f"{{{name}}}", value) if name else written
            if posixpath.isabs(path) or path.startswith("-") or len(path) > 1000:
                continue
            if _is_file(folder / path):
                yield written
            elif at == 0 and "/" in word:
                raise BadUsage(f"there is no program `{word}` here")

    def _first(self, folder: Path) -> tuple[str, str]:
        """Return the name of the loop and its first value."""
        if self.array is not None:
            return "n", re.split("[-,%]", self.array, maxsplit=1)[0]
        lines: Sequence[str] = self.lines or ()
        if self.each_line is not None:
            if not _is_file(folder / self.each_line):
                meant = did_you_mean(
                    self.each_line, local_files.beside(str(folder), self.each_line)
                )
                raise BadUsage(f"`--each-line`: there is no file {shown(self.each_line)}{meant}")
            with (folder / self.each_line).open(errors="replace") as file:
                lines = [line for line in (file.readline(10_000).rstrip("\r\n"),) if line]
        return ("line", lines[0]) if lines else ("", "")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _output(name: str) -> Any:
    return {"file": name, "late": "yes"} if re.search(r"[*?\[]", name) else name


def _numbers(text: str) -> dict[str, Any]:
    """Return the values of `{n}`. Raises BadUsage."""
    numbers, percent, most = text.partition("%")
    parts = [_PART.fullmatch(part.strip()) for part in numbers.split(",")]
    if not all(parts) or (percent and not most.isdecimal()):
        raise BadUsage(f"--array takes numbers such as `1-200`, `0-100:5` or `1,5,9`, each with "
                       f"`%4` for at most 4 at a time, not `{text}`")  # fmt: skip
    ranges = [part.groups() for part in parts if part]
    if len(ranges) == 1 and ranges[0][1] is not None:
        first, last, step = ranges[0]
        return {"range": [first, last] if step is None else [first, last, step]}
    values: list[str] = []
    for first, last, step in ranges:
        width = len(first) if len(first) > 1 and first.startswith("0") else 0
        these = range(int(first), int(last or first) + 1, int(step or 1) or 1)
        if not these or len(values) + len(these) > MAX_VALUES:
            problem = "is empty" if not these else f"has more than {MAX_VALUES:,} numbers"
            raise BadUsage(f"`--array`: `{text}` {problem}")
        values += [format(number, f"0{width}d") for number in these]
    return {"list": values}
