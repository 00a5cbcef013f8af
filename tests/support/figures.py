"""Figures of a screen, and whether the documents of `--json` have them, too."""

import json
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from d0ctl.show.forecast.estimates import per_minute
from d0ctl.units import duration, moment, size

MOMENT = re.compile(r"\b(?:\d\d:\d\d:\d\d|\d\d [A-Z][a-z]{2} (?:\d{4} )?\d\d:\d\d)")
LENGTH = re.compile(r"(?<![\w.])(?:\d+ d \d+ h|\d+ h \d\d min|\d+ min \d\d s|\d+(?:\.\d)? s)\b")
ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
FIGURE = re.compile(r"[✘?]?\d[\d,.]*(?:/\d+)?%?")
SECONDS = {"d": 86400.0, "h": 3600.0, "min": 60.0, "s": 1.0}

PUNCTUATION = ",;:.()[]│·-"

CLOSE_S = 1.5
"""What a length of time that still grows may be off by: it is written in whole seconds."""

Figure = tuple[str, str, str]
"""The word before, the number, and the word behind."""


def figures(text: str) -> Iterator[Figure]:
    """Yield the numbers of a text between their neighbours; moments and lengths are left out."""
    words = [word.strip(PUNCTUATION) for word in LENGTH.sub("-", MOMENT.sub("-", text)).split()]
    words = [word for word in words if word == "%" or any(map(str.isalnum, word))]
    for before, word, behind in zip(["", *words], words, [*words[1:], ""], strict=False):
        if FIGURE.fullmatch(word):
            yield before, word, behind


def names(text: str) -> Iterator[str]:
    """Yield the words of a text that contain both letters and digits, such as paths."""
    for word in LENGTH.sub("-", MOMENT.sub("-", text)).split():
        word = word.strip(PUNCTUATION + "`'")
        if any(map(str.isdigit, word)) and not FIGURE.fullmatch(word):
            yield word


class Documents:
    """What `--json` says of something: its figures, moments and names."""

    def __init__(self, *documents: Any) -> None:
        self.text = json.dumps(documents, ensure_ascii=False).replace('\\"', '"')
        self.moments = {
            datetime.fromisoformat(found).timestamp() for found in ISO.findall(self.text)
        }
        self.known: set[tuple[str, str]] = set()
        self.ratios: set[str] = set()
        """Figures that explain themselves: `2/3`, `86%`, `✘1`."""
        self._read(documents)

    def know(self, number: object, *behind: str, before: str = "") -> None:
        """Add a figure: with the words that may be behind it, or the one before it."""
        text = f"{number:,}" if isinstance(number, int) else str(number)
        self.known.update((text, word) for word in behind)
        if before:
            self.known.add((before, text))

    def know_rate(self, rate: Any, opened: float, now: float) -> None:
        """Add the rate of a stage, as it was at any moment since the screen was opened."""
        for tick in range(int(20 * (now - opened)) + 2):
            seconds = max(1.0, rate["seconds"] - tick / 20)
            for part in ("ended", "failed"):
                self.know(per_minute(rate[part], seconds), "a", "of")
            self.known.add((duration(seconds), ""))

    def unexplained(self, text: str, opened: float, now: float) -> list[str]:
        """Return the figures, moments, lengths and names of a screen that are not in here."""
        found = [" ".join(figure).strip() for figure in figures(text) if not self._explains(figure)]
        clocks = {moment(at, then) for at in self.moments for then in (opened, now)}
        found += [one for one in MOMENT.findall(text) if one not in clocks and one not in self.text]
        found += [one for one in LENGTH.findall(text) if not self._lasted(one, opened, now)]
        return found + [name for name in names(text) if name not in self.text]

    def _explains(self, figure: Figure) -> bool:
        number = figure[1]
        if not number.replace(",", "").replace(".", "").isdigit():
            return number in self.ratios
        return figure[:2] in self.known or figure[1:] in self.known

    def _lasted(self, text: str, opened: float, now: float) -> bool:
        """Return whether this time is between two moments, or between one and the screen."""
        if any(duration(b - a) == text for a in self.moments for b in self.moments if b >= a):
            return True
        words = text.split()
        length = sum(float(words[at]) * SECONDS[words[at + 1]] for at in range(0, len(words), 2))
        return (text, "") in self.known or any(
            opened - at - CLOSE_S <= length <= now - at + CLOSE_S for at in self.moments
        )

    def _read(self, value: Any, key: str = "") -> None:
        match value:
            case dict():
                self._counts(value)
                if isinstance(priority := value.get("priority"), int):
                    self.know(priority, before=str(value.get("originator")).partition("@")[0])
                if isinstance(attempts := value.get("attempts"), list):
                    self.know(len(attempts), "attempt", "attempts", before="try")
                for name, inner in value.items():
                    self._read(inner, name)
            case list() | tuple():
                for inner in value:
                    self._read(inner, key)
            case bool() | None:
                pass
            case int() | float():
                self._number(key, value)
            case str():
                for before, number, behind in figures(value):
                    self.know(number, behind, before=before)

    def _number(self, key: str, value: float) -> None:
        match key:
            case "cpu":
                self.known.add((duration(value), ""))
            case "rss" | "memory" | "size":
                self.know(*size(value).split())
            case "cpus":
                self.know(value, "CPU", "CPUs")
            case "exit_code":
                self.know(value, before="exit")
            case "count":
                self.know(value, "times")
            case "lines":
                self.know(value, "line", "lines")
            case "used":
                self.know(value, "of")
            case _:
                self.know(value, before=key)

    def _counts(self, value: dict[str, Any]) -> None:
        """Know the numbers of packages by status, and what identifies a part."""
        if isinstance(statuses := value.get("packages"), dict):
            done, total = statuses["successful"], sum(statuses.values())
            self.know(done, "of")
            self.know(total, "package", "packages")
            self.know(total - done, "package", "packages")  # that did not succeed, when a job ended
            share = f"{100 * done / total:.0f}"
            self.ratios.update((f"{done}/{total}", f"{share}%"))
            self.know(share, "%")
        if isinstance(phases := value.get("phases"), dict):
            blocked = bool(value.get("blocked"))
            for phase, number in phases.items():
                word = "blocked" if blocked and phase == "waiting" else phase
                self.know(number, word)
                if phase in ("failed", "unreachable"):
                    self.ratios.add(f"{'✘' if phase == 'failed' else '?'}{number}")
        if late := value.get("stragglers"):
            self.ratios.add(f"◷{len(late)}")
            self.know(len(late), "straggler", "stragglers")
        for part in ("stage", "line", "attempt", "binary"):
            if isinstance(number := value.get(part), int):
                words = [str(value.get(key)) for key in ("name", "line_name", "outcome", "status")]
                self.know(number, *words, "held", "blocked")
