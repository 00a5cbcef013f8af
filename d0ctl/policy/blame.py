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
    """Attempts that have something in common, and how many failed; of an input, a job of these."""

    name: str
    failed: int
    number: int
    job: str | None = None

    @property
    def rate(self) -> float:
        """The fraction of them that failed."""
        return self.failed / self.number


class Blame(Struct, frozen=True):
    """A cause that stands out among its kind (`node`, `software`, `input`), and the others."""

    kind: str
    share: Share
    others: Share

    def sentence(self) -> str:
        """Return it with the evidence."""
        share, others = self.share, self.others
        scope = {"node": "there", "software": "of it", "input": "of packages that read it"}
        part = "all" if share.failed == share.number else f"{share.failed:,} of"
        elsewhere = f"{others.failed:,} of {others.number:,} {_ELSE[self.kind]}"
        return (f"{self.kind} `{share.name}` stands out: {part} {count(share.number, 'attempt')} "
                f"{scope[self.kind]} failed, {elsewhere}")  # fmt: skip


_ELSE = {"node": "elsewhere", "software": "of other software", "input": "of others"}


def blame(kind: str, shares: Iterable[Share], failed: int, number: int) -> Blame | None:
    """Return the most conspicuous cause of a kind; `failed` of `number` attempts failed in all."""
    found = [
        Blame(kind, share, Share("", failed - share.failed, number - share.number))
        for share in shares
    ]
    guilty = [candidate for candidate in found if _stands_out(candidate)]
    return max(
        guilty,
        key=lambda candidate: (
            (candidate.share.rate - candidate.others.rate) * candidate.share.failed
        ),
        default=None,
    )


def _stands_out(found: Blame) -> bool:
    share, others = found.share, found.others
    return (
        share.failed >= FEWEST
        and others.number >= FEWEST
        and share.rate >= max(LEAST_SHARE, TIMES_OTHERS * others.rate)
    )
