"""Which line of a job file is which line of the submitted job."""

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple

from d0ctl.store.jobs.correction.definitions import Definition

Number = int


class LineFeatures(NamedTuple):
    """The features by which a line is recognised: its name, its recipes, and its outputs.

    A line that `is_fixed` has made its files already, and only matches a line with the same files.
    """

    name: str
    recipe: tuple[bytes, ...]
    makes: tuple[str, ...]
    is_fixed: bool = False


def features(
    name: str, definitions: Sequence[Definition], *, is_fixed: bool = False
) -> LineFeatures:
    """Return the features of a line by the definitions of its packages."""
    return LineFeatures(
        name,
        tuple(definition.recipe for definition in definitions),
        tuple(file for definition in definitions for file in definition.makes),
        is_fixed,
    )


def matches(
    new: Sequence[LineFeatures], old: Sequence[LineFeatures], fits: Callable[[Number, Number], bool]
) -> list[Number | None]:
    """Return for each new line the matching old one, by its number; None if it is new.

    These are tried in turn: the same name and recipe, the same recipe, an output in common, the
    same name. Matching lines must also be compatible.
    """
    matched: list[Number | None] = [None] * len(new)
    left = set(range(len(old)))
    for keys in (_name_and_recipe, _recipe, _makes, _name):
        known: defaultdict[Hashable, deque[Number]] = defaultdict(deque)
        for number in sorted(left):
            for key in keys(old[number]):
                known[key].append(number)
        for number, line in enumerate(new):
            if matched[number] is None:
                matched[number] = _first(number, keys(line), known, left, fits)
    return matched


def _first(
    new: Number,
    keys: Iterable[Hashable],
    known: defaultdict[Hashable, deque[Number]],
    left: set[Number],
    fits: Callable[[Number, Number], bool],
) -> Number | None:
    for key in keys:
        candidates = known.get(key)
        while candidates:
            number = candidates.popleft()
            if number in left and fits(new, number):
                left.discard(number)
                return number
    return None


def _name_and_recipe(line: LineFeatures) -> list[Hashable]:
    return [(line.name, line.recipe)]


def _recipe(line: LineFeatures) -> list[Hashable]:
    return [line.recipe]


def _makes(line: LineFeatures) -> list[Hashable]:
    return [*line.makes]


def _name(line: LineFeatures) -> list[Hashable]:
    return [] if line.is_fixed and line.makes else [line.name]


def stages(new: Sequence[str], old: Sequence[str]) -> list[Number | None]:
    """Return for each new stage the old one of its name, else the removed one at its position."""
    places = {name: number for number, name in enumerate(old)}
    return [
        places[name] if name in places
        else number if number < len(old) and old[number] not in new
        else None
        for number, name in enumerate(new)
    ]  # fmt: skip
