"""Whether an unknown word is a misspelt name.

This decides which job files are accepted, so every name counts, however many there are. A file
with more words and names than can be compared is rather refused than accepted without a look.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from itertools import chain

from d0ctl.jobfile.yaml.faults import COMPARING, COMPARISON, VISIT, Comparing

SLIP = 0.66
"""The similarity at which an unknown word counts as a misspelt name, e.g. `rwa` for `raw`."""

_LONGEST = 200
"""The length of the longest word that is compared; similar names are at most twice as long."""

_MOST_COMPARED = 100
"""With how many names of nearly the same letters a word is compared; with more it is misspelt."""

_CODES = 128


class Names:
    """Names that a text may use: its own, and those that it shares with the rest of the file."""

    def __init__(self, own: Iterable[str], shared: "Names | None" = None) -> None:
        self._own, self._shared = dict.fromkeys(own), shared

    def __contains__(self, name: str) -> bool:
        return name in self._own or (self._shared is not None and name in self._shared)

    def __iter__(self) -> Iterator[str]:
        return chain(self._own, self._shared or ())

    def has_similar(self, word: str) -> bool:
        """Return whether a word is similar to any of the names, or the same without case."""
        if self._near.has_similar_name(word):
            return True
        return self._shared is not None and self._shared.has_similar(word)

    @cached_property
    def _near(self) -> "_NearNames":
        return _near_names(tuple(self._own))


class _NearNames:
    """Names by their letters: most words share too few letters with most names."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._folded = {name.casefold() for name in names}
        self._by_letters: dict[int, list[str]] = {}
        for name in names:
            if len(name) <= 3 * _LONGEST:
                self._by_letters.setdefault(_letters(name), []).append(name)
        self._answers: dict[str, bool] = {}

    def has_similar_name(self, word: str) -> bool:
        if word in self._answers:
            return self._answers[word]
        comparing = COMPARING.get() or Comparing()
        answer = len(word) <= _LONGEST and (
            word.casefold() in self._folded or self._has_similar(word, comparing)
        )
        if comparing.for_slips >= 0:
            self._answers[word] = answer
        return answer

    def _has_similar(self, word: str, comparing: Comparing) -> bool:
        comparing.for_slips -= VISIT * len(self._by_letters)
        if comparing.for_slips < 0:
            return True
        matcher, letters, size = SequenceMatcher[str](b=word), _letters(word), len(word)
        compared = 0
        for others, names in self._by_letters.items():
            common, both = (letters & others).bit_count(), size + others.bit_count()
            if 2 * common < SLIP * both:
                continue
            for name in names:
                matcher.set_seq1(name)
                compared += 1
                comparing.for_slips -= COMPARISON + size * len(name)
                if comparing.for_slips < 0:
                    return True
                if matcher.ratio() >= SLIP or compared > _MOST_COMPARED:
                    return True
        return False


_near_names = lru_cache(maxsize=4)(_NearNames)


@lru_cache(maxsize=10_000)
def _letters(word: str) -> int:
    """Return a set of bits: one for the first `e` of a word, another for its second, and so on.

    Two words have at least as many of them in common as a comparison finds equal letters.
    """
    bits, counts = 0, Counter[int]()
    for character in word:
        code = ord(character) % _CODES
        bits |= 1 << (counts[code] * _CODES + code)
        counts[code] += 1
    return bits
