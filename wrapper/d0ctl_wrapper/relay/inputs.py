"""The only place where a relay hands inputs to attempts that run already."""

from typing import Any, Dict, List, Set

from d0ctl_wrapper.host import input_stream
from d0ctl_wrapper.protocol.paths import NodePaths

Entry = Dict[str, Any]


class Feeding:
    """What was handed to which attempt: the same thing twice is no news."""

    def __init__(self, paths: NodePaths) -> None:
        self._paths = paths
        self._known: "Dict[int, Set[str]]" = {}
        self._closed: "Set[int]" = set()

    def hand(self, attempt: int, entries: "List[Entry]", is_last: bool) -> bool:
        """Note inputs for an attempt, and tell whether any of it is new; raise OSError on a
        full disk, where nothing is noted."""
        self._learn(attempt)
        known = self._known[attempt]
        new = [entry for entry in entries if entry["name"] not in known]
        closes = is_last and attempt not in self._closed
        if not new and not closes:
            return False
        input_stream.append(
            self._paths.attempt(attempt), [*new, *([input_stream.CLOSED] if closes else [])]
        )
        known.update(entry["name"] for entry in new)
        if closes:
            self._closed.add(attempt)
        return True

    def is_closed(self, attempt: int) -> bool:
        """Tell whether nothing comes any more."""
        self._learn(attempt)
        return attempt in self._closed

    def forget(self, attempt: int) -> None:
        """Let go of an attempt that has ended."""
        self._known.pop(attempt, None)
        self._closed.discard(attempt)

    def _learn(self, attempt: int) -> None:
        if attempt not in self._known:
            found = input_stream.look(self._paths.attempt(attempt))
            self._known[attempt] = found.names
            if found.is_closed:
                self._closed.add(attempt)
