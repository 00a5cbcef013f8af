"""Restored packages that do not run by this, as they had ended before the drop."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from d0ctl.actions import undo
from d0ctl.select import Selector
from d0ctl.store.connection import Selection
from d0ctl.store.jobs import restore_line, retry
from d0ctl.store.views import outline
from d0ctl.units import count


class EndedBefore(NamedTuple):
    """How many packages failed or were canceled before the drop.

    Some of them would run out of memory or time again if they were retried as they are; `first` is
    the path of one.
    """

    number: int
    at_a_limit: int = 0
    first: str = ""

    def lines(self, target: Selector) -> Iterator[str]:
        """Say that these end as they had before, and how they are retried."""
        if not self.number:
            return
        had = count(
            self.number, "package that had failed or was", "packages that had failed or were"
        )
        is_so, runs = ("is so", "it") if self.number == 1 else ("are so", "them")
        said = f"{had} canceled before the drop {is_so} again"
        if self.number == self.at_a_limit:
            yield said
        else:
            retried = undo.command("retry", [f"{part}/*:failed,canceled" for part in target.parts])
            others = f"{self.number - self.at_a_limit:,} of them"
            yield f"{said}: `{retried}` runs {others if self.at_a_limit else runs}"
        if self.at_a_limit:
            which = "it" if self.number == 1 else f"{self.at_a_limit:,} of them"
            why = undo.command("why", [self.first])
            yield f"{which} would run out of memory or time again: `{why}` says what helps"


def ended_before(selected: Selection, jobs: Iterable[int]) -> EndedBefore:
    """Count the dropped packages that had failed, or were canceled, before the drop."""
    number = restore_line.count_ended(selected)
    limits = retry.at_a_limit(selected, None, None, jobs) if number else {}
    if not (ended := restore_line.that_ended(selected, sorted(limits))):
        return EndedBefore(number)
    return EndedBefore(number, len(ended), *outline.paths(selected.store, ended[:1]))
