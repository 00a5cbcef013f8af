"""The outputs that the faults of a file may hide."""

from collections.abc import Iterable

MAX_PATTERNS = 100
"""How many names with placeholders a missing file is compared with."""

MOST_KEPT = 4
"""How many missing files are kept that were not reported: a few to name, and whether more are."""


class HiddenOutputs:
    """The outputs that faults may hide, such as those of a misspelt key.

    Their names are among the texts of the faulty entries. While there are any, a file with such a
    name is not reported as missing.
    """

    def __init__(self) -> None:
        self.has_all = False
        """Whether any file may be one of them."""
        self._names: set[str] = set()
        self._patterns: set[tuple[str, str]] = set()
        self._seen: set[tuple[int, int]] = set()
        self.not_reported: dict[str, None] = {}
        """The first missing files that may be among them."""

    def __bool__(self) -> bool:
        return self.has_all or bool(self._names or self._patterns)

    def add(self, position: tuple[int, int], texts: Iterable[str]) -> None:
        """Add the texts of a faulty entry, once for its position."""
        if position in self._seen:
            return
        self._seen.add(position)
        for text in texts:
            name = text.removeprefix("./")
            if "{" in name:
                self._patterns.add((name[: name.index("{")], name[name.rfind("}") + 1 :]))
            else:
                self._names.add(name)
        self.has_all = self.has_all or len(self._patterns) > MAX_PATTERNS

    def may_have(self, name: str) -> bool:
        """Return whether a missing file may be one of them; it is then not reported."""
        name = name.removeprefix("./")
        is_hidden = self.has_all or name in self._names or any(
            name.startswith(begin) and name.endswith(end) for begin, end in self._patterns
        )  # fmt: skip
        if is_hidden and len(self.not_reported) < MOST_KEPT:
            self.not_reported[name] = None
        return is_hidden
