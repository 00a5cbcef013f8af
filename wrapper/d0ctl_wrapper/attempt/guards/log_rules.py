"""Log rules: failures found in the logs of a binary (D0 Job Definition, section 5, case 4).

A rule is a regular expression. A match ends the binary at once; a passive rule only
counts matches; a required one fails a binary without a match.
"""

import re
import time
from typing import Any, Callable, Dict, Iterator, List

from d0ctl_wrapper.attempt.intervals import Backoff
from d0ctl_wrapper.attempt.regex_timeout import RegexTimedOut, RegexTimeout
from d0ctl_wrapper.attempt.run.logs import LogFollower
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.protocol.text import clean, one_line

READ_FOR_S = 0.2
"""The most seconds of reading lines at a time."""

GLANCE = 500
"""The number of lines between two reads of the clock."""

SHOWN = 200
"""The most characters of a matching line that are kept."""

ENDLESS = "the log rule `%s` backtracks endlessly on a line, and is ignored from now on"
"""The sentence about an expression that backtracks without end."""


class Rule:
    """One rule, and its matches so far."""

    def __init__(self, described: "Dict[str, Any]") -> None:
        self.text: str = described["match"]
        self.search = re.compile(self.text).search
        self.reason: str = described["reason"]
        self.is_passive: bool = described["passive"]
        self.is_required: bool = described["required"]
        self.count = 0
        self.first = ""
        self.is_given_up = False

    @property
    def is_fatal(self) -> bool:
        """Return whether a match fails the binary."""
        return not (self.is_passive or self.is_required)

    def note(self, line: str) -> None:
        """Count a matching line, and keep the first."""
        if not self.count:
            self.first = one_line(line)[:SHOWN]
        self.count += 1

    @property
    def shown(self) -> str:
        """The expression as people see it."""
        return one_line(self.text)[:SHOWN]

    def remarks(self) -> "Iterator[str]":
        """Yield sentences on the matches."""
        if self.count:
            often = "once" if self.count == 1 else "%d times" % self.count
            yield "its log matched `%s` %s, first: %s" % (self.shown, often, self.first)
        if self.is_given_up:
            yield ENDLESS % self.shown


class Rules:
    """The rules for one binary, and the state of reading its logs."""

    def __init__(self, who: str, rules: "List[Dict[str, Any]]", logs: "List[bytes]") -> None:
        self._who = who
        self._rules = [Rule(described) for described in rules]
        self._logs = [LogFollower(path) for path in logs]
        self._lines: "Iterator[bytes]" = iter(())
        self._backoff = Backoff()
        self._timeout = RegexTimeout()

    def poll(self) -> float:
        """Read new lines, for a moment at most; raise Failed for a match."""
        until = time.monotonic() + READ_FOR_S
        seen = 0
        with self._timeout.watching():
            for line in self._next(False):
                self._judge(line)
                seen += 1
                if seen % GLANCE == 0 and time.monotonic() >= until:
                    return 0.0
        self._lines = iter(())
        return self._backoff.next(seen > 0)

    def finish(self, between: "Callable[[], None]") -> None:
        """Read the rest of the logs; `between` is called from time to time."""
        with self._timeout.watching():
            for is_over in (False, True):
                for number, line in enumerate(self._next(is_over)):
                    self._judge(line)
                    if number % GLANCE == 0:
                        between()
                self._lines = iter(())

    def require(self) -> None:
        """Raise Failed if a required rule has never matched."""
        for rule in self._rules:
            if rule.is_required and not rule.count:
                raise Failed(
                    "verification", "%s never wrote `%s` to its log" % (self._who, rule.shown)
                )

    def remarks(self) -> "List[str]":
        """Return sentences on the matches of passive rules."""
        return [remark for rule in self._rules if rule.is_passive for remark in rule.remarks()]

    def _next(self, is_over: bool) -> "Iterator[bytes]":
        """Yield the lines left by the last check, then new ones."""
        for line in self._lines:
            yield line
        self._lines = self._new(is_over)
        for line in self._lines:
            yield line

    def _new(self, is_over: bool) -> "Iterator[bytes]":
        for log in self._logs:
            for line in log.lines(is_over):
                yield line

    def _judge(self, data: bytes) -> None:
        line = data.decode("utf-8", "replace")
        if "\x1b" in line or "\r" in line:
            line = clean(line)
        for rule in self._rules:
            if not rule.is_given_up and self._matches(rule, line):
                rule.note(line)
                if rule.is_fatal:
                    raise Failed(rule.reason, "%s wrote to its log: %s" % (self._who, rule.first))

    def _matches(self, rule: Rule, line: str) -> bool:
        """Return whether a rule matches; raise Failed for an endless search of an active rule."""
        try:
            return self._timeout.search(rule.search, line) is not None
        except RegexTimedOut:
            rule.is_given_up = True
            if rule.is_passive:
                return False
            raise Failed("verification", "%s: %s" % (self._who, ENDLESS % rule.shown)) from None
