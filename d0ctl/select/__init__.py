"""Read selectors, such as `reco001/2/1-10` or `reco001/2/*:failed`."""

import re
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.errors import BadUsage
from d0ctl.model import STATUS_OF, Phase, Reason, Status
from d0ctl.select.span import ALL, Span, numbers, one_number, span_of
from d0ctl.units import parse_period

MOST_NAMED = 3
"""How many parts of a selection a sentence names."""

_LEVELS = ("job", "stage", "line", "package", "binary")
# Strings, because each command imports this and few use all: re compiles them on first use.
_JOB = r"(?a)[A-Za-z*?\[][A-Za-z0-9_*?\[\]!-]*"
_SPLIT = r"(?s)((?:\[[^][/]*:[^][/]*\]|[^:])*)(:?)(.*)"
"""A path, and the states after the first colon that is not in a slice."""
_DOTTED = r"(?a)[A-Za-z][A-Za-z0-9_-]*(?:\.(?:last|[\d,-]*\d[\d,-]*))+"
WILD = frozenset("*?[")
"""The characters that make the name of a job a pattern."""


class Selector(Struct, frozen=True):
    """A selection: by levels, then by phases, reason of failure, node and age.

    `depth` counts the levels that were named. A stage is named by `stage_name` or by number.
    A selection with several parts has the others in `also`.
    """

    job: str = "*"
    stage: Span = ALL
    line: Span = ALL
    package: Span = ALL
    binary: Span = ALL
    depth: int = 1
    stage_name: str | None = None
    states: tuple[str, ...] = ()
    reason: str | None = None
    node: str | None = None
    older_than: float | None = None
    also: tuple["Selector", ...] = ()

    @property
    def parts(self) -> tuple["Selector", ...]:
        """The selectors that make up the selection."""
        return (replace(self, also=()), *self.also) if self.also else (self,)

    @property
    def counts_back(self) -> bool:
        """Whether it depends on how many of something there are."""
        return any(
            span.counts_back
            for part in self.parts
            for span in (part.stage, part.line, part.package)
        )

    @property
    def names_jobs(self) -> bool:
        """Whether it names whole jobs only."""
        return all(part.depth == 1 and not part.is_filtered for part in self.parts)

    @property
    def phases(self) -> tuple[Phase, ...] | None:
        """The selected phases, None for all."""
        if not self.states:
            return None
        return tuple(phase for phase in Phase if any(_is(phase, state) for state in self.states))

    @property
    def is_filtered(self) -> bool:
        """Whether packages are selected by more than their position."""
        if self.states or self.reason or self.node or self.older_than is not None:
            return True
        return bool(self.also) and any(part.is_filtered for part in self.also)

    @property
    def is_plain(self) -> bool:
        """Whether it is a job by its name and numbers of the other levels, without filters."""
        return not (self.is_filtered or self.stage_name or WILD.intersection(self.job))

    @property
    def is_one(self) -> bool:
        """Whether it is one job, stage, line, package or binary, and all of it."""
        return not self.is_filtered and not self.wildcard_level

    @property
    def wildcard_level(self) -> str:
        """The first level that may have several matches; empty if none does."""
        if self.also:
            jobs = {part.job for part in self.parts}
            return "job" if len(jobs) > 1 or WILD & set(self.job) else "stage"
        stage_is_one = self.stage_name is not None or self.stage.is_one
        single = (not WILD & set(self.job), stage_is_one, self.line.is_one,
                  self.package.is_one, self.binary.is_one)  # fmt: skip
        for level, is_single in zip(_LEVELS[: self.depth], single, strict=False):
            if not is_single:
                return level
        return ""

    @property
    def level(self) -> str:
        """The deepest level that was named; empty if the parts differ."""
        if any(part.depth != self.depth for part in self.also):
            return ""
        return _LEVELS[self.depth - 1]

    @property
    def brief(self) -> str:
        """The selection for a sentence: its first parts, and how many more there are."""
        return _brief(list(map(str, self.parts[:MOST_NAMED])), len(self.also) + 1)

    @property
    def arguments(self) -> list[str]:
        """The words that name it in an action on the command line."""
        parts = [str(part) for part in self.parts]
        parts += ["--failed-for", self.reason] if self.reason else []
        parts += ["--node", self.node] if self.node else []
        return [*parts, "--older-than", f"{self.older_than:g}s"] if self.older_than else parts

    @property
    def path(self) -> str:
        """The levels of its first part, without states."""
        levels = (self.stage_name or self.stage, self.line, self.package, self.binary)
        return "/".join((self.job, *map(str, levels[: self.depth - 1])))

    def __str__(self) -> str:
        states = f":{','.join(self.states)}" if self.states else ""
        return " ".join((self.path + states, *map(str, self.also)))


def _is(phase: Phase, state: str) -> bool:
    """Return whether a word is the name of a phase or of its status; a status comes first."""
    if state in set(Status):
        return STATUS_OF[phase] == state
    return phase == state


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
    if len(parts) > len(_LEVELS):
        raise BadUsage(f"`{text}` has more levels than JOB/STAGE/LINE/PACKAGE/BINARY")
    if len(parts) == len(_LEVELS) and not with_binary:
        package = "/".join(parts[:-1])
        raise BadUsage(f"`{text}` names a binary", hint=f"name its package: {package}")
    if not re.fullmatch(_JOB, parts[0]):
        from d0ctl.select.unknown_words import no_job_name  # late, as below

        raise no_job_name(parts[0], text)
    spans = [span_of(part, text) for part in parts[2:]]
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
    return _brief(parts[:most], len(parts))


def _brief(first: list[str], number: int) -> str:
    more = f" and {number - len(first):,} more" if number > len(first) else ""
    return " ".join(first) + more


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
