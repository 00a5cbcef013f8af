"""Log rules: failures found in the logs of a binary (D0 Job Definition, section 5, case 4).

A rule is a regular expression. One that matches ends the binary as soon as it is seen; a
passive one only counts; a required one fails the binary when it has never matched.
"""

import re
import time
from typing import Any, Callable, Dict, Iterator, List

from d0ctl_wrapper.attempt.intervals import Ease
from d0ctl_wrapper.attempt.regex_timeout import Patience, TooLong
from d0ctl_wrapper.attempt.run.logs import Follower
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.protocol.text import clean, one_line

AT_ONCE = 0.2
"""For so many seconds lines are read before anything else gets its turn."""

GLANCE = 500
"""After so many lines the clock is looked at."""

SHOWN = 200
"""How many characters of a line that matched are kept."""

HOPELESS = "the log rule `%s` backtracks without end on a line, so it is not looked for any more"
"""What is said of an expression that takes for ever."""


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
        self.is_given_up = False

    @property
    def is_fatal(self) -> bool:
        """Tell whether a match fails the binary."""
        return not (self.is_passive or self.is_required)

    def note(self, line: str) -> None:
        """Count a line that matches, and keep the first."""
        if not self.count:
            self.first = one_line(line)[:SHOWN]
        self.count += 1

    @property
    def shown(self) -> str:
        """The expression, as it is told to people."""
        return one_line(self.text)[:SHOWN]

    def remarks(self) -> "Iterator[str]":
        """Say what has been found."""
        if self.count:
            often = "once" if self.count == 1 else "%d times" % self.count
            yield "its log matched `%s` %s, first: %s" % (self.shown, often, self.first)
        if self.is_given_up:
            yield HOPELESS % self.shown


class Rules:
    """The rules for one binary, and how far both of its logs are read."""

    def __init__(self, who: str, rules: "List[Dict[str, Any]]", logs: "List[bytes]") -> None:
        self._who = who
        self._rules = [Rule(described) for described in rules]
        self._logs = [Follower(path) for path in logs]
        self._lines: "Iterator[bytes]" = iter(())
        self._ease = Ease()
        self._patience = Patience()

    def look(self) -> float:
        """Read what is new, for a moment at most; Failed ends the binary."""
        until = time.monotonic() + AT_ONCE
        seen = 0
        with self._patience.watching():
            for line in self._next(False):
                self._judge(line)
                seen += 1
                if seen % GLANCE == 0 and time.monotonic() >= until:
                    return 0.0
        self._lines = iter(())
        return self._ease.next(seen > 0)

    def finish(self, between: "Callable[[], None]") -> None:
        """Read all that is left of the logs; `between` is called now and then."""
        with self._patience.watching():
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
                raise Failed("verification", "%s never said `%s`" % (self._who, rule.shown))

    def remarks(self) -> "List[str]":
        """Say what passive rules have found."""
        return [said for rule in self._rules if rule.is_passive for said in rule.remarks()]

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
            if not rule.is_given_up and self._matches(rule, line):
                rule.note(line)
                if rule.is_fatal:
                    raise Failed(rule.reason, "%s said in its log: %s" % (self._who, rule.first))

    def _matches(self, rule: Rule, line: str) -> bool:
        """Tell whether a rule matches; without one that can't be known nothing is verified."""
        try:
            return self._patience.search(rule.search, line) is not None
        except TooLong:
            rule.is_given_up = True
            if rule.is_passive:
                return False
            raise Failed("verification", "%s: %s" % (self._who, HOPELESS % rule.shown)) from None
