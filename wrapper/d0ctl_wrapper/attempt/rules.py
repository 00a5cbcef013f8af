"""The only place that judges a binary by what it writes into its logs (`000` section 5, case 4).

A rule is a regular expression. One that matches ends the binary as soon as it is seen; a
passive one only counts; a required one fails the binary when it has never matched.
"""

import re
import time
from typing import Any, Callable, Dict, Iterator, List

from d0ctl_wrapper.attempt.logs import Follower
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.attempt.watch import Ease
from d0ctl_wrapper.words import clean, one_line

AT_ONCE = 0.2
"""For so many seconds lines are read before anything else gets its turn."""

GLANCE = 500
"""After so many lines the clock is looked at."""

SHOWN = 200
"""How many characters of a line that matched are kept."""


class Rule:
    """One rule, with what it has found so far."""

    def __init__(self, described: "Dict[str, Any]") -> None:
        self.text: str = described["match"]
        self.search = re.compile(self.text).search
        self.reason: str = described["reason"]
        self.is_passive: bool = described["passive"]
        self.is_required: bool = described["required"]
        self.count = 0
        self.first = ""

    @property
    def is_fatal(self) -> bool:
        """Tell whether a match fails the binary."""
        return not (self.is_passive or self.is_required)

    def note(self, line: str) -> None:
        """Count a line that matches, and keep the first."""
        if not self.count:
            self.first = one_line(line)[:SHOWN]
        self.count += 1

    def remark(self) -> str:
        """Say what has been found."""
        often = "once" if self.count == 1 else "%d times" % self.count
        shown = one_line(self.text)[:SHOWN]
        return "its log matched `%s` %s, first: %s" % (shown, often, self.first)


class Rules:
    """The rules for one binary, and how far both of its logs are read."""

    def __init__(self, who: str, rules: "List[Dict[str, Any]]", logs: "List[bytes]") -> None:
        self._who = who
        self._rules = [Rule(described) for described in rules]
        self._logs = [Follower(path) for path in logs]
        self._lines: "Iterator[bytes]" = iter(())
        self._ease = Ease()

    def look(self) -> float:
        """Read what is new, for a moment at most; Failed ends the binary."""
        until = time.monotonic() + AT_ONCE
        seen = 0
        for line in self._next(False):
            self._judge(line)
            seen += 1
            if seen % GLANCE == 0 and time.monotonic() >= until:
                return 0.0
        self._lines = iter(())
        return self._ease.next(seen > 0)

    def finish(self, between: "Callable[[], None]") -> None:
        """Read all that is left of the logs; `between` is called now and then."""
        for is_over in (False, True):
            for place, line in enumerate(self._next(is_over)):
                self._judge(line)
                if place % GLANCE == 0:
                    between()
            self._lines = iter(())

    def require(self) -> None:
        """Raise Failed when a line that has to come never came."""
        for rule in self._rules:
            if rule.is_required and not rule.count:
                shown = one_line(rule.text)
                raise Failed("verification", "%s never said `%s`" % (self._who, shown))

    def remarks(self) -> "List[str]":
        """Say what passive rules have found."""
        return [rule.remark() for rule in self._rules if rule.is_passive and rule.count]

    def _next(self, is_over: bool) -> "Iterator[bytes]":
        """Go on where a former look broke off, then read what has come since."""
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
            if rule.search(line):
                rule.note(line)
                if rule.is_fatal:
                    raise Failed(rule.reason, "%s said in its log: %s" % (self._who, rule.first))
