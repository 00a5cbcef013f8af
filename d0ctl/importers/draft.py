"""A job file that is made from a workflow of another program."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from d0ctl.jobfile.language.compiled_text import literal
from d0ctl.jobfile.language.placeholders import RUN_WORDS

Entry = dict[str, Any]
"""A record of the job file, as dicts and lists."""

_PLAIN = re.compile(r"[A-Za-z_./][A-Za-z0-9_./=+@%,-]*|[0-9]{1,15}")
"""A text that needs no quotes in YAML."""

_RECORDS = ("", "stages", "lines")
"""The keys whose records have keys of the job file."""

_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")


class Unreadable(Exception):
    """A file of the wrong form; the message says where and why."""


class Draft(Struct):
    """The stages of a job, and a sentence for each thing that could not be converted."""

    name: str
    stages: dict[str, Entry] = field(default_factory=dict)
    keys: Entry = field(default_factory=dict)
    left_out: dict[str, None] = field(default_factory=dict)
    """What is not converted, in its order; each is named once."""

    def stage(self, name: str) -> Entry:
        """Return the stage of that name; make it if needed."""
        return self.stages.setdefault(name, {"name": name, "lines": []})

    def add(self, stage: str, line: Entry) -> str:
        """Add a line to a stage; return how `after` names it."""
        lines = self.stage(stage)["lines"]
        lines.append(line)
        return f"{stage}/{len(lines)}"

    def leave_out(self, where: str, what: str) -> None:
        """Record something that is not converted."""
        self.left_out[f"{where}: {what}"] = None

    def text(self) -> str:
        """Return the job file."""
        stages = [stage for stage in self.stages.values() if stage["lines"]]
        job = {"job": job_name(self.name), **self.keys, "stages": stages}
        return as_text(_literal(job))


def as_text(document: Entry) -> str:
    """Return a document as YAML."""
    return "\n".join(_mapping(document, 0)) + "\n"


def job_name(text: str) -> str:
    """Make the name of a job from a text."""
    name = _UNFIT.sub("-", text).strip("-_")[:100]
    return name if name[:1].isalpha() else f"job-{name}".rstrip("-")


def label(text: str) -> str:
    """Make the name of a stage or line from a text."""
    name = "".join(sign if sign.isprintable() and sign != "/" else "-" for sign in text)
    return name.strip()[:200] or "-"


def _literal(value: Any, key: str = "") -> Any:
    """Return a record in which no text has a placeholder; `key` is that of the job file."""
    if isinstance(value, str):
        texts = (*RUN_WORDS, "parameters") if key == "run" else ("parameters",)
        return literal(value, texts, strict=key in ("inputs", "outputs"))
    if isinstance(value, Mapping):
        return {
            name: _literal(item, name if key in _RECORDS else key) for name, item in value.items()
        }
    return [_literal(item, key) for item in value] if isinstance(value, Sequence) else value


def _mapping(entry: Mapping[str, Any], depth: int) -> Iterator[str]:
    pad = "  " * depth
    for key, value in entry.items():
        if isinstance(value, Mapping) and value:
            yield f"{pad}{_scalar(key)}:"
            yield from _mapping(value, depth + 1)
        elif isinstance(value, Sequence) and not isinstance(value, str):
            if all(isinstance(item, str) for item in value):
                yield f"{pad}{key}: [{', '.join(map(_in_list, value))}]"
            else:
                yield f"{pad}{key}:"
                yield from _list(value, depth)
        elif isinstance(value, str) and _is_block(value):
            yield f"{pad}{key}: |{'' if value.endswith(chr(10)) else '-'}"
            yield from (f"{pad}  {line}".rstrip() for line in value.removesuffix("\n").split("\n"))
        else:
            yield f"{pad}{_scalar(key)}: {_scalar(value)}"


def _list(items: Sequence[Any], depth: int) -> Iterator[str]:
    pad = "  " * depth
    for item in items:
        if not isinstance(item, Mapping):
            yield f"{pad}- {_scalar(item)}"
            continue
        lines = list(_mapping(item, depth + 1))
        yield f"{pad}- {lines[0].lstrip()}"
        yield from lines[1:]


def _is_block(text: str) -> bool:
    """Return whether a text can be written with its lines as they are."""
    lines = text.removesuffix("\n").split("\n")
    return (
        len(lines) > 1
        and bool(lines[0].strip())
        and lines[0][0] not in " \t"
        and bool(lines[-1].strip())
        and all(line == line.rstrip() and (line.isprintable() or not line) for line in lines)
    )


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return '""'
    text = str(value)
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=True)


def _in_list(text: str) -> str:
    return text if _PLAIN.fullmatch(text) and "," not in text else json.dumps(text)
