"""Good documents with planted changes, most of them faults."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st


def positions(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each container of a document, with each key or index of it."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from positions(value[key])


@st.composite
def changed(
    draw: st.DrawFn, good: dict[str, Any], keys: list[str], values: list[Any]
) -> dict[str, Any]:
    """A good document with one or two changes: a value replaced, a key removed or added."""
    document = deepcopy(good)
    for _ in range(draw(st.integers(1, 2))):
        container, key = draw(st.sampled_from(list(positions(document))))
        change = draw(st.sampled_from(("replace", "remove", "add")))
        if change == "replace":
            container[key] = deepcopy(draw(st.sampled_from(values)))
        elif change == "remove":
            del container[key]
        elif isinstance(container, dict):
            container[draw(st.sampled_from(keys))] = deepcopy(draw(st.sampled_from(values)))
    return document
