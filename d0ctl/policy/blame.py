"""Which node, software or input stands out among the failures; pure."""

from collections.abc import Iterable

from msgspec import Struct

from d0ctl.units import count

FEWEST = 3
"""Evidence needs at least this many failures with it, and this many attempts without it."""

LEAST_SHARE = 0.5
"""The smallest fraction of failing attempts of anything that stands out."""

TIMES_OTHERS = 3.0
"""Something stands out if it fails this many times as often as the others."""


class Share(Struct, frozen=True):
    """Attempts that have something in common, and how many of them failed."""

    name: str
    failed: int
    number: int

    @property
    def rate(self) -> float:
        """The fraction of them that failed."""
        return self.failed / self.number


class Blame(Struct, frozen=True):
    """A cause that stands out among its kind (`node`, `software`, `input`), and the others."""

    kind: str
    one: Share
    others: Share

    def sentence(self) -> str:
        """Return it with the evidence."""
        one, others = self.one, self.others
        scope = {"node": "there", "software": "of it", "input": "of packages that read it"}
        part = "all" if one.failed == one.number else f"{one.failed:,} of"
        elsewhere = f"{others.failed:,} of {others.number:,} {_ELSE[self.kind]}"
        return (f"{self.kind} `{one.name}` stands out: {part} {count(one.number, 'attempt')} "
                f"{scope[self.kind]} failed, {elsewhere}")  # fmt: skip


_ELSE = {"node": "elsewhere", "software": "of other software", "input": "of others"}


def blame(kind: str, shares: Iterable[Share], failed: int, number: int) -> Blame | None:
    """Return the most conspicuous cause of a kind; `failed` of `number` attempts failed in all."""
    found = [
        Blame(kind, share, Share("", failed - share.failed, number - share.number))
        for share in shares
    ]
    guilty = [one for one in found if _stands_out(one)]
    return max(guilty, key=lambda one: (one.one.rate - one.others.rate) * one.one.failed,
               default=None)  # fmt: skip


def _stands_out(found: Blame) -> bool:
    one, others = found.one, found.others
    return (
        one.failed >= FEWEST
        and others.number >= FEWEST
        and one.rate >= max(LEAST_SHARE, TIMES_OTHERS * others.rate)
    )
