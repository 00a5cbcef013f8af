"""What a look may find: what is wrong, where, and what helps."""

from msgspec import Struct

RESTART = "d0ctl daemon start"
"""What sets right all that a crash leaves."""

ANEW = f"d0ctl daemon stop; {RESTART}"
"""The same while a daemon runs."""


class Finding(Struct, frozen=True):
    """One thing that is wrong, by the name of the rule it breaks."""

    check: str
    subject: str
    detail: str
    advice: str = ""
    heals: bool = False
    """Whether the next start of the daemon sets it right."""

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from others when it is looked at again."""
        return self.check, self.subject


def healing(check: str, subject: str, detail: str) -> Finding:
    """What the next start of the daemon sets right."""
    return Finding(check, subject, detail, RESTART, heals=True)
