"""What a check may find: what is wrong, where, and how to fix it."""

from msgspec import Struct

RESTART = "d0ctl daemon start"
"""The command that repairs everything that a crash leaves behind."""

ANEW = f"d0ctl daemon stop; {RESTART}"
"""The same while a daemon runs."""

MOST = 5
"""How many findings of a kind are listed for a node."""


class Finding(Struct, frozen=True):
    """One problem, by the name of the rule that is broken; without advice nobody need act."""

    check: str
    subject: str
    detail: str
    advice: str = ""
    heals: bool = False
    """Whether the next start of the daemon repairs it."""

    @property
    def key(self) -> tuple[str, str]:
        """What distinguishes it from other findings when it is checked again."""
        return self.check, self.subject


def repaired_at_start(check: str, subject: str, detail: str) -> Finding:
    """Return a finding that the next start of the daemon repairs."""
    return Finding(check, subject, detail, RESTART, heals=True)
