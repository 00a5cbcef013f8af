"""Templates of job files: found by name, and filled with values of their parameters."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from d0ctl.errors import BadJobFile, BadUsage, NotFound
from d0ctl.jobfile.language.placeholders import Scope
from d0ctl.jobfile.sections.declared_parameters import (
    Declaration,
    Declared,
    check_values,
    read_declaration,
)
from d0ctl.jobfile.sections.level import Level, Reading
from d0ctl.jobfile.sections.stages import JOB_KEYS
from d0ctl.jobfile.source import mapping_of, text_of
from d0ctl.jobfile.yaml.document import Node, Scalar
from d0ctl.jobfile.yaml.faults import Faults, did_you_mean

BUILT_IN = Path(__file__).with_name("templates")
"""The folder of the built-in templates."""

SUFFIX = ".yaml"

_PLAIN = re.compile(r"[A-Za-z0-9./][A-Za-z0-9_./%*+-]*", re.ASCII)
_QUOTED = re.compile(r"""\"(?:[^"\\\n]|\\.)*\"|'(?:[^'\n]|'')*'""")

_NOTHING = frozenset({"null", "Null", "NULL"})


class JobTemplate(NamedTuple):
    """A template: its file and its description."""

    name: str
    path: Path
    text: str
    declared: Declaration
    level: Level
    """The keys of the job file."""

    @property
    def is_built_in(self) -> bool:
        """Whether it is built in."""
        return self.path.parent == BUILT_IN

    def default(self, parameter: str) -> str | None:
        """Return the default of a parameter; None if it needs a value."""
        node = self._value(parameter)
        return None if node is None or node.is_nothing else node.text

    def _value(self, parameter: str) -> Scalar | None:
        node = self.level.mapping("parameters")
        value: Node | None = node.items.get(parameter, (None, None))[1] if node else None
        return value if isinstance(value, Scalar) else None

    def filled(self, values: Mapping[str, str]) -> str:
        """Return a job file with these values, and without the section `template:`.

        Comments stay. Raises BadJobFile with every missing or invalid value, and
        BadUsage for an unknown parameter, or one with more than one line.
        """
        faults = self.level.reading.faults
        check_values(self.declared, self.level, values)
        if faults:
            raise BadJobFile([_PLACE.sub("", line) for line in faults.lines()])
        known = [parameter.name for parameter in self.declared.parameters]
        lines = self.text.splitlines(keepends=True)
        for name, value in values.items():
            node = self._value(name)
            if node is None:
                hint = did_you_mean(name, known)
                raise BadUsage(f"template `{self.name}` has no parameter `{name}`{hint}",
                               hint=f"d0ctl template show {self.name}")  # fmt: skip
            line, column = node.position.line - 1, node.position.column - 1
            before, after = lines[line][:column], lines[line][column:]
            length = _length(node, after)
            if length is None:
                raise BadUsage(f"parameter `{name}` has several lines, so it can't be set")
            space = " " if before.endswith(":") else ""
            lines[line] = before + space + _written(value) + after[length:]
        return "".join(_without_template(lines))


_PLACE = re.compile(r"^.*?:\d+:\d+: ")


def _length(node: Scalar, text: str) -> int | None:
    """Return the length of the value at the beginning of a text; None if it is cut there."""
    if node.plain:
        return len(node.text) if text.startswith(node.text) else None
    quoted = _QUOTED.match(text)
    return quoted.end() if quoted else None


def _written(value: str) -> str:
    """Return a value as YAML."""
    if _PLAIN.fullmatch(value) and value not in _NOTHING:
        return value
    return json.dumps(value, ensure_ascii=False)


def _without_template(lines: Sequence[str]) -> Iterator[str]:
    """Yield all lines except those of the section `template:` and the blank lines after it."""
    is_inside = False
    for line in lines:
        if line.startswith("template:"):
            is_inside = True
        elif is_inside and line.strip() and line[0] not in " \t":
            is_inside = False
        if not is_inside:
            yield line


def found(own: Path | None) -> dict[str, Path]:
    """Return the file of each template by its name; those in `own` come before built-in ones."""
    folders = [BUILT_IN, *([own] if own is not None else [])]
    paths = (path for folder in folders for path in sorted(folder.glob(f"*{SUFFIX}")))
    return {path.stem: path for path in paths}


def read(name: str, own: Path | None) -> JobTemplate:
    """Return a template by its name, or by its file. Raises NotFound, or BadJobFile."""
    paths = found(own)
    path = paths.get(name) or (Path(name) if name.endswith((SUFFIX, ".yml")) else None)
    if path is None:
        raise NotFound(f"there is no template `{name}`{did_you_mean(name, paths)}",
                       hint="d0ctl template list")  # fmt: skip
    return read_file(path)


def read_file(path: Path) -> JobTemplate:
    """Return the template in a file. Raises BadJobFile."""
    text = text_of(path)
    faults = Faults(str(path))
    root = mapping_of(text, faults, "`template` and `stages`")
    level = Level(root, "a job", JOB_KEYS, Reading(faults, str(path.parent), Scope()))
    declared = read_declaration(level)
    if faults:
        raise BadJobFile(faults.lines())
    others = [name for name in _names(level) if name not in {p.name for p in declared.parameters}]
    rest = tuple(Declared(name, level.position("parameters")) for name in others)
    whole = Declaration(declared.about, declared.parameters + rest)
    return JobTemplate(path.stem, path, text, whole, level)


def _names(level: Level) -> list[str]:
    node = level.mapping("parameters")
    items = node.items if node is not None else {}
    return [name for name, (_, value) in items.items() if isinstance(value, Scalar)]
