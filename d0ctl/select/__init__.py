"""Read selectors, such as `reco001/2/1-10` or `reco001/2/*:failed`."""

import re
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

from msgspec.structs import replace

from d0ctl.errors import BadUsage
from d0ctl.model import Phase, Reason, Status
from d0ctl.select.selector import (
    ALL,
    LEVELS,
    MOST_NAMED,
    WILD,
    Selector,
    in_brief,
    numbers,
    one_number,
    span_of,
)
from d0ctl.units import parse_period

__all__ = [
    "MOST_NAMED", "WILD", "Selector", "brief", "file_of_job", "has_states", "is_selector", "parse",
    "parse_all", "quoted", "split", "states", "union", "with_slashes",
]  # fmt: skip

# Strings, because each command imports this and few use all: re compiles them on first use.
_JOB = r"(?a)[A-Za-z*?\[][A-Za-z0-9_*?\[\]!-]*"
_SPLIT = r"(?s)((?:\[[^][/]*:[^][/]*\]|[^:])*)(:?)(.*)"
"""A path, and the states after the first colon that is not in a slice."""
_DOTTED = r"(?a)[A-Za-z][A-Za-z0-9_-]*(?:\.(?:last|[\d,-]*\d[\d,-]*))+"


def parse(
    text: str,
    *,
    status: Iterable[str] = (),
    reason: str | None = None,
    node: str | None = None,
    older_than: str | None = None,
    with_binary: bool = False,
) -> Selector:
    """Read a selector and the filters beside it. Raises BadUsage, with a near miss.

    The path of one binary is accepted only `with_binary`: verbs that change something act on
    whole packages.
    """
    path, colon, named = split(with_slashes(text))
    states = [*(named.split(",") if colon else ()), *status]
    parts = path.removesuffix("/").split("/")
    if len(parts) > len(LEVELS):
        raise BadUsage(f"`{text}` has more levels than JOB/STAGE/LINE/PACKAGE/BINARY")
    if len(parts) == len(LEVELS) and not with_binary:
        package = "/".join(parts[:-1])
        raise BadUsage(f"`{text}` names a binary", hint=f"name its package: {package}")
    if not re.fullmatch(_JOB, parts[0]):
        from d0ctl.select.unknown_words import no_job_name  # late, as below

        raise no_job_name(parts[0], text)
    values = parts[2] if len(parts) > 2 and "=" in parts[2] else None
    spans = [span_of("*" if part is values else part, text) for part in parts[2:]]
    stage = parts[1] if len(parts) > 1 else "*"
    is_number = numbers(stage) is not None
    return Selector(
        job=parts[0],
        stage=span_of(stage, text) if is_number else ALL,
        line=spans[0] if spans else ALL,
        package=spans[1] if len(spans) > 1 else ALL,
        binary=one_number(spans[2], text) if len(spans) > 2 else ALL,
        depth=len(parts),
        stage_name=None if is_number else _stage_name(stage, text),
        values=values,
        states=tuple(_state(word, text) for word in states),
        reason=None if reason is None else _reason(reason),
        node=node,
        older_than=None if older_than is None else _age(older_than),
    )


def parse_all(texts: Iterable[str], **filters: Any) -> Selector:
    """Read several selectors as one selection, with the same filters for each.

    A level may have a list of numbers and ranges, e.g. `reco001/2/1,3,7-9`. Raises BadUsage.
    """
    if not (texts := list(texts)):
        raise BadUsage("nothing is selected", hint="a selector reads JOB/STAGE/LINE/PACKAGE")
    return union(
        [parse(alternative, **filters) for text in texts for alternative in _alternatives(text)]
    )


def _alternatives(text: str) -> Iterator[str]:
    """Expand the lists of numbers in a selector."""
    path, colon, states = split(with_slashes(text))
    job, *parts = path.split("/")
    lists = [part.split(",") if "," in part else [part] for part in parts]
    choices = [
        items if all(numbers(item) for item in items) else [part]
        for part, items in zip(parts, lists, strict=True)
    ]
    for choice in product(*choices):
        yield "/".join((job, *choice)) + colon + states


def split(text: str) -> tuple[str, str, str]:
    """Split a selector at the colon before its states."""
    found = re.fullmatch(_SPLIT, text)
    assert found is not None
    return found[1], found[2], found[3]


def with_slashes(text: str) -> str:
    """Return a selector with dots, e.g. `reco001.2.3`, with slashes; any other text unchanged."""
    path, colon, states = text.partition(":")
    return path.replace(".", "/") + colon + states if re.fullmatch(_DOTTED, path) else text


def union(selectors: Iterable[Selector]) -> Selector:
    """Return one selection of several."""
    parts = dict.fromkeys(part for selector in selectors for part in selector.parts)
    first, *others = parts
    return replace(first, also=tuple(others))


def brief(target: str, most: int = MOST_NAMED) -> str:
    """The text of a selection for a sentence: its first parts, and how many more there are."""
    parts = target.split(" ")
    return in_brief(parts[:most], len(parts))


def quoted(brief: str) -> str:
    """Quote a brief selection in a sentence, but not how many more parts there are."""
    return re.sub(r"^(.*?)( and [\d,]+ more)?$", r"`\1`\2", brief)


def is_selector(text: str) -> bool:
    """Return whether a text begins like a selector, valid or not."""
    return re.fullmatch(_JOB, with_slashes(text).partition(":")[0].partition("/")[0]) is not None


def file_of_job(text: str) -> tuple[str, str] | None:
    """Job and name of a text `JOB:NAME`; None for other texts."""
    job, _, name = text.partition(":")
    return (job, name) if name and "/" not in job else None


def has_states(text: str) -> bool:
    """Return whether the words after the colon of a text are states, e.g. `reco001:failed`."""
    return all(word in states() for word in text.partition(":")[2].split(","))


def states() -> list[str]:
    """Return the names of statuses and phases."""
    return list(dict.fromkeys([*map(str, Status), *map(str, Phase)]))


def _stage_name(part: str, text: str) -> str:
    if not part or not part.isprintable() or WILD & set(part):
        raise BadUsage(f"`{part}` in `{text}` is not a stage: give a name, a number, "
                       "a range such as `1-3`, or `*`")  # fmt: skip
    return part


def _state(word: str, text: str) -> str:
    if word in states():
        return word
    from d0ctl.select.unknown_words import no_state

    raise no_state(word, text, states())


def _reason(word: str) -> str:
    """Return a reason of a failure; a site's own begin with `site:`."""
    known = [*map(str, Reason), "unknown"]
    if word.startswith("site:") or word in known:
        return word
    from d0ctl.select.unknown_words import no_reason

    raise no_reason(word, [*known, "site:NAME"])


def _age(text: str) -> float:
    try:
        return parse_period(text)
    except ValueError as error:
        raise BadUsage(f"`--older-than`: {error}") from error
