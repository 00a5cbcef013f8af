"""Nodes by their names, which may be patterns: `farm02`, `farm*`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from d0ctl.errors import NotFound

WILD = frozenset("*?[")
"""A name with one of these is a pattern."""


@dataclass(frozen=True, slots=True)
class NodeNames:
    """Several nodes, by their names or by patterns."""

    names: tuple[str, ...]

    @property
    def brief(self) -> str:
        """The names, for use in a sentence."""
        return " ".join(self.names)

    @property
    def arguments(self) -> list[str]:
        """The words that name them."""
        return list(self.names)

    def __str__(self) -> str:
        return self.brief


def is_pattern(name: str) -> bool:
    """Return whether it may be the names of several nodes."""
    return not WILD.isdisjoint(name)


def matching(names: Iterable[str], known: Sequence[str]) -> list[str]:
    """Return the selected names, each once, including those that no node has.

    Raises NotFound for a pattern that no node matches; `*` may match none.
    """
    selected: list[str] = []
    for name in names:
        nodes = [node for node in known if fnmatchcase(node, name)] if is_pattern(name) else [name]
        if not nodes and name != "*":
            raise NotFound(f"no node matches `{name}`", hint="d0ctl node list")
        selected += nodes
    return list(dict.fromkeys(selected))
