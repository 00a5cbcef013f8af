"""A search of all names and messages, in steps: by a word, a regular expression, or letters."""

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct, field

from d0ctl.errors import BadUsage
from d0ctl.store.connection import Row, Store

STEP = 20_000
"""How many rows of a kind a step looks at: 10 ms, by a regular expression 200 ms."""

MOST = 20
"""How many of each kind are found."""

MOST_JOBS = 2_000
MOST_PACKAGES = 2_000
"""How many packages of a message are found."""

RAN = 200_000
"""In so many of the latest attempts it is looked where they ran."""

LEAST_LETTERS = 3

LONGEST = 2_000
"""A regular expression looks at so many characters of a text."""

LONGEST_S = 0.1
"""How long a regular expression may take for a text: `(a|aa)+$` may take for ever, and the `re` of
Python would stop the whole dashboard with it.
"""

EXPRESSION = "~"
"""A regular expression begins with this."""


class Pattern(Struct, frozen=True):
    """What is looked for: `like` for the database if that can tell, and a test of each text."""

    like: str | None
    fits: Callable[[str], bool]


class Match(Struct):
    """A match: its kind, its text, its job, stage or path; packages with a message."""

    kind: str
    text: str
    location: str = ""
    packages: list[int] = field(default_factory=list)


class Progress(Struct, frozen=True):
    """All that was found so far, and how much was looked at, from 0 to 1."""

    found: list[Match]
    share: float


def patterns(text: str) -> list[Pattern]:
    """Return what to look for, the next if nothing is found. Raises BadUsage."""
    if text.startswith(EXPRESSION):
        return [Pattern(None, _expression(text[1:]))]
    found = [_parts([text])]
    if len(text) >= LEAST_LETTERS:
        found.append(_parts([letter for letter in text if letter != " "]))
    return found


def _expression(pattern: str) -> Callable[[str], bool]:
    import regex  # when it is asked for: it takes 20 ms

    try:
        expression = regex.compile(pattern, regex.IGNORECASE)
    except regex.error as error:
        raise BadUsage(f"`{pattern}` is not a regular expression: {error}") from error

    def fits(text: str) -> bool:
        try:
            return expression.search(text[:LONGEST], timeout=LONGEST_S) is not None
        except TimeoutError as error:
            raise BadUsage(f"`{pattern}` takes too long: use fewer `*` and `+`") from error

    return fits


def _parts(parts: Sequence[str]) -> Pattern:
    """Return a pattern of texts that contain these parts in this order."""
    wanted = [part.casefold() for part in parts]

    def fits(text: str) -> bool:
        low, at = text.casefold(), 0
        for part in wanted:
            at = low.find(part, at) + len(part)
            if at < len(part):
                return False
        return True

    escaped = (re.sub(r"([%_\\])", r"\\\1", part) for part in parts)
    return Pattern(f"%{'%'.join(escaped)}%", fits)


def search(store: Store, pattern: Pattern) -> Iterator[Progress]:
    """Yield what is found after each step; the caller may stop at any."""
    matches = _small(store, pattern)
    ends = store.row("finding_last_ids")
    assert ends is not None
    kinds = (
        ("line", "finding_line_names", ends["lines"]),
        ("package", "finding_package_names", ends["packages"]),
        ("message", "finding_messages", ends["attempts"]),
        ("file", "finding_file_names", ends["files"]),
    )
    whole, done = sum(end for _, _, end in kinds) or 1, 0
    known: dict[tuple[str, str, str], Match] = {}
    for kind, query, end in kinds:
        first = 0
        while (first := store.value("finding_next_id", kind=kind, after=first)) is not None:
            page = {"first": first, "last": first + STEP - 1, "pattern": pattern.like}
            for row in store.rows(query, **page):
                _take(known, kind, row, pattern)
            yield Progress([*matches, *known.values()], (done + min(first + STEP, end)) / whole)
            if kind != "message" and sum(match.kind == kind for match in known.values()) >= MOST:
                break
            first += STEP - 1
        done += end
    yield Progress([*matches, *known.values()], 1.0)


def _take(known: dict[tuple[str, str, str], Match], kind: str, row: Row, pattern: Pattern) -> None:
    """Add a row if it fits and there are not enough matches of its kind."""
    text, location = str(row["message" if kind == "message" else "name"] or ""), ""
    if kind == "message":
        if not pattern.fits(text) and not pattern.fits(str(row["reason"] or "")):
            return
        text = text or str(row["reason"])
    else:
        location = _location(kind, row)
        if not pattern.fits(text):
            return
    key = kind, text, location
    if key not in known and sum(match.kind == kind for match in known.values()) >= MOST:
        return
    match = known.setdefault(key, Match(kind, text, location))
    if kind == "message" and len(match.packages) < MOST_PACKAGES:
        match.packages.append(row["package"])


def _location(kind: str, row: Row) -> str:
    """Return the path of a line, the stage of a package, the job of a file."""
    if kind == "line":
        return f"{row['job']}/{row['stage']}/{row['seq']}"
    return str(row["stage" if kind == "package" else "job"])


def _small(store: Store, pattern: Pattern) -> list[Match]:
    """Return the nodes, jobs and stages that fit."""
    nodes = [row["name"] for row in store.rows("nodes")]
    matches = [Match("node", name) for name in nodes if pattern.fits(name)][:MOST]
    jobs = store.rows("finding_job_names", limit=MOST_JOBS)
    matches += [
        Match("job", row["name"], row["title"])
        for row in jobs
        if pattern.fits(row["name"]) or pattern.fits(row["title"])
    ][:MOST]
    stages = store.rows("finding_stage_names", limit=MOST_JOBS)
    return (
        matches
        + [
            Match("stage", row["stage"], row["name"]) for row in stages if pattern.fits(row["name"])
        ][:MOST]
    )


def ran_on(store: Store, node: str) -> list[int]:
    """Return the ids of packages that ran on a node, of the latest attempts."""
    first = store.value("first_of_last_attempts", limit=RAN)
    return [row["id"] for row in store.rows("finding_ran_on", node=node, first=first)]
