"""Whether an unknown word is a misspelt name.

This decides which job files are accepted, so every name counts, however many there are.
"""

from collections import Counter
from difflib import SequenceMatcher
from functools import lru_cache

SLIP = 0.66
"""The similarity at which an unknown word counts as a misspelt name, e.g. `rwa` for `raw`."""

_LONGEST = 200
"""The length of the longest word that is compared; similar names are at most twice as long."""

_MOST_COMPARED = 100
"""With how many names of nearly the same letters a word is compared; with more it is misspelt.

So a file is rather refused than accepted without a look, and takes at most 2 ms per word.
"""

_CODES = 128


def is_misspelt(word: str, names: tuple[str, ...]) -> bool:
    """Return whether a word is similar to any of the names, or the same without case."""
    return _near_names(names).has_one_near(word)


class _NearNames:
    """Names by their letters: most words share too few letters with most names."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._folded = {name.casefold() for name in names}
        self._by_letters: dict[int, list[str]] = {}
        for name in names:
            if len(name) <= 3 * _LONGEST:
                self._by_letters.setdefault(_letters(name), []).append(name)
        self._answers: dict[str, bool] = {}

    def has_one_near(self, word: str) -> bool:
        if word not in self._answers:
            self._answers[word] = len(word) <= _LONGEST and (
                word.casefold() in self._folded or self._has_similar(word)
            )
        return self._answers[word]

    def _has_similar(self, word: str) -> bool:
        matcher, letters, size = SequenceMatcher[str](b=word), _letters(word), len(word)
        compared = 0
        for others, names in self._by_letters.items():
            common, both = (letters & others).bit_count(), size + others.bit_count()
            if 2 * common < SLIP * both:
                continue
            for name in names:
                matcher.set_seq1(name)
                compared += 1
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
    for letter in word:
        code = ord(letter) % _CODES
        bits |= 1 << (counts[code] * _CODES + code)
        counts[code] += 1
    return bits
