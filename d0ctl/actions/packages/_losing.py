"""Packages that lose inputs by a drop: those that continue, and those that stay blocked."""

from collections.abc import Iterator
from typing import NamedTuple

from d0ctl.actions import wording
from d0ctl.actions.action import MOST_SHOWN
from d0ctl.model import phase_word
from d0ctl.store import lifecycle
from d0ctl.store.connection import Row, Selection
from d0ctl.store.views import outline
from d0ctl.store.views.dependencies import blocked_by
from d0ctl.units import count

STAY = {False: "unchanged", True: "unchanged, but their files are dropped"}
"""What is said of packages of dropped lines that have ended, by whether files are dropped."""


class LosingPackage(NamedTuple):
    """A package that loses inputs; it `starts` if no other input is missing."""

    path: str
    lost: int
    left: int
    starts: bool
    obstacle: str
    """What keeps it from starting: another package or its own phase."""

    @property
    def text(self) -> str:
        """How many inputs it loses and keeps, and what becomes of it then."""
        then = ", and will be ready" if self.starts else ""
        if self.obstacle:
            then = f"; {self.obstacle}"
        return f"{self.path} loses {count(self.lost, 'input')}, keeps {count(self.left)}{then}"


class LosingPackages(NamedTuple):
    """How many packages lose inputs and continue or stay blocked, and the first ones of each."""

    number: int = 0
    starting: int = 0
    first: tuple[LosingPackage, ...] = ()
    blocked: int = 0
    first_blocked: tuple[LosingPackage, ...] = ()

    def __bool__(self) -> bool:
        """Return whether there is any."""
        return bool(self.number or self.blocked)

    def plan(self) -> Iterator[str]:
        """Say what would become of them."""
        yield from wording.counted("continuing without these files", self.number, "package",
                                   [package.text for package in self.first])  # fmt: skip
        yield from wording.counted("staying blocked", self.blocked, "package",
                                   [package.text for package in self.first_blocked])  # fmt: skip

    def report(self) -> Iterator[str]:
        """Say what has become of them."""
        if self.number:
            are = count(self.starting, "is ready now", "are ready now")
            starting = f"; {are}" if self.starting else ""
            goes = count(self.number, "package continues", "packages continue")
            yield f"{goes} without these files{starting}"
        for package in self.first_blocked[:1]:
            others = count(self.blocked - 1, "other package stays", "other packages stay")
            more = f"; {others} blocked, too" if self.blocked > 1 else ""
            yield f"`{package.path}` stays blocked: {package.obstacle}{more}"


NONE_LOSING = LosingPackages()


def losing_packages(selected: Selection, *, enough: bool) -> LosingPackages:
    """Return the packages that lose inputs if the selected ones are dropped.

    Stages that `require` less have `enough` then, or not.
    """
    rows = lifecycle.losing(selected)
    causes = blocked_by(selected, [row["id"] for row in rows if not row["starts"]],
                        enough=enough)  # fmt: skip
    going = [row for row in rows if row["id"] not in causes]
    blocked = [row for row in rows if row["id"] in causes]
    shown = [*going[:MOST_SHOWN], *blocked[:MOST_SHOWN]]
    ids = [row["id"] for row in shown]
    packages = outline.packages_by_id(
        selected.store, {*ids, *(causes.get(reader, reader) for reader in ids)}
    )

    def losing(row: Row) -> LosingPackage:
        cause = packages.get(causes.get(row["id"], 0))
        path = packages[row["id"]].path
        obstacle = ""
        if cause is not None and cause.path == path:
            obstacle = f"it is {phase_word(cause.phase)} itself: `d0ctl retry {path}`"
        elif cause is not None:
            obstacle = f"it waits for `{cause.path}`, which is {phase_word(cause.phase)}"
        return LosingPackage(path, row["lost"], row["left"], bool(row["starts"]), obstacle)

    return LosingPackages(
        len(going), sum(row["starts"] for row in going), tuple(map(losing, going[:MOST_SHOWN])),
        len(blocked), tuple(map(losing, blocked[:MOST_SHOWN])),
    )  # fmt: skip
