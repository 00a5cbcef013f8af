"""The site: its file, checked, compared and applied, and the settings in force."""

import time
from os import PathLike
from pathlib import Path

from d0ctl.access import absolute
from d0ctl.actions import site_file
from d0ctl.actions.action import Person
from d0ctl.api.carry_out import actor
from d0ctl.api.done import Done
from d0ctl.config import find_home
from d0ctl.show.cards.site import outcome
from d0ctl.sitefile import spec, writer
from d0ctl.store import opening
from d0ctl.store.clusters import site_changes, site_comparison
from d0ctl.store.clusters.site_comparison import Difference


class Site:
    """The site of a home, with a site file; by default it is `site.yaml` in the home."""

    def __init__(
        self, file: str | PathLike[str] | None = None, *, home: str | PathLike[str] | None = None
    ) -> None:
        self.file = None if file is None else Path(file)
        self.home = find_home(home)

    def check(self) -> spec.Site:
        """Check the site file, and return what it says, with `warnings`.

        Raises BadJobFile with every fault, each with its line and column.
        """
        return site_file.read(self.file, self.home)

    def diff(self) -> tuple[Difference, ...]:
        """Return what `apply` would add, change and remove."""
        wanted = self.check()
        with opening.rehearsal(self.home) as store:
            return tuple(site_comparison.compare(store, wanted))

    def apply(self, *, reason: str | None = None, dry_run: bool = False) -> Done:
        """Apply a site file, whole or not at all.

        The host keys of new nodes have to be in the file, as `accept-key`, or trusted before.
        """
        wanted = self.check()
        if dry_run:
            with opening.rehearsal(self.home) as store:
                differences = site_comparison.compare(store, wanted)
                site_changes.check(store, wanted, differences)
            return Done(0, "\n".join(outcome(differences, would=True)))
        path = site_file.path_of(self.file, self.home)
        with opening.open_or_create(self.home) as store:
            differences = site_comparison.compare(store, wanted)
            site_changes.check(store, wanted, differences)
            facts = site_file.meet(store, path, wanted, differences, Person())
            changes = site_changes.apply(
                store, wanted, facts, actor=actor(), note=reason, now=time.time(),
                source=str(absolute(path)),
            )  # fmt: skip
        return Done(0, "\n".join(outcome(changes, would=False)))

    @property
    def text(self) -> str:
        """The settings in force, as a site file."""
        with opening.reader(self.home) as store, store.reading():
            return writer.text(site_comparison.current(store))
