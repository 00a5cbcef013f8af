"""The person at the terminal, whom actions ask and inform."""

import sys

from d0ctl.actions.action import Person
from d0ctl.cli.terminal.output import can_ask, confirmed, is_terminal, say
from d0ctl.units import clean, count


class AtTerminal(Person):
    """The person at the terminal, if there is one."""

    shown = 0

    def confirms(self, notice: str, question: str) -> bool | None:
        """Return the answer to a question; None without a terminal."""
        if not can_ask():
            return None
        say(clean(notice))
        return confirmed(question)

    def inform(self, line: str) -> None:
        """Print what has happened meanwhile."""
        say(clean(line))

    def follow(self, done: int, total: int) -> None:
        """Show how many packages of a large action are done."""
        if total >= MANY and is_terminal(sys.stderr):
            self.shown = done
            line = f"submitting: {count(done)} of {count(total)}"
            print(f"\r{line}\x1b[K", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Clear the progress."""
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


MANY = 20_000
"""From this number of packages on, an action shows its progress."""
