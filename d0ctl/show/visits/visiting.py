"""Which attempt is visited, and where its files are: shared by logs, peek and status."""

import time
from shlex import quote

from d0ctl import select
from d0ctl.errors import BadUsage, NotFound, Refused
from d0ctl.nodes.visits.peek import AttemptLocation
from d0ctl.select import Selector
from d0ctl.show.following import attempts_at
from d0ctl.store.connection import Store
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.registry import address_of
from d0ctl.store.nodes.site import site_name
from d0ctl.store.views import browse, selection
from d0ctl.store.views.selection import located
from d0ctl.store.views.shapes.of_package import AttemptView, PackageView
from d0ctl.units import count

MOST = 20
"""How many packages are visited at once."""


def packages(
    store: Store, text: str, verb: str, *, alone: str = "", with_binary: bool = False
) -> list[Selector]:
    """Return the packages that a selector names, or its one binary.

    Raises BadUsage if there are too many, or several for a command that needs one (`alone`).
    """
    return packages_of(store, select.parse_all([text], with_binary=with_binary), verb, alone=alone)


def packages_of(store: Store, wanted: Selector, verb: str, *, alone: str = "") -> list[Selector]:
    """Return the packages of a selection, or its one binary, as `packages` does."""
    wanted = located(store, wanted)
    if wanted.is_one and wanted.level in ("package", "binary"):
        return [wanted]
    selected = selection.choose(store, wanted, now=time.time())
    paths = [row.path for row in selection.packages(selected, MOST)]
    if (number := selected.count()) > (1 if alone else MOST):
        takes = f"{verb} {alone}".strip()
        most = "one package" if alone else f"at most {MOST} packages"
        failed = f", or d0ctl logs {quote(wanted.brief)} --failed" if takes == "logs" else ""
        raise BadUsage(f"`{takes}` takes {most}, and `{wanted.brief}` has {number:,}",
                       hint=f"d0ctl {verb} {paths[0]}{failed}")  # fmt: skip
    return [select.parse(path) for path in paths]


def refuse_archive(store: Store, wanted: Selector) -> None:
    """Raise Refused for a package in an archive: its folders on nodes were removed.

    Raises NotFound if it is not in the archive.
    """
    if store.home.archive:
        browse.package(store, wanted)
        raise Refused(f"the files of `{wanted}` on its node were removed when it was archived",
                      hint=f"d0ctl history {quote(str(wanted))}")  # fmt: skip


def attempt_of(store: Store, package: PackageView, number: int | None) -> AttemptView:
    """Return an attempt at a package by its number, else the last one. Raises NotFound."""
    tries = attempts_at(store, package)
    for tried in tries:
        if tried.number == (number or tries[-1].number):
            return tried
    had = count(tries[-1].number, "attempt")
    raise NotFound(
        f"package `{package.path}` has had {had}, so there is no attempt {number}",
        hint=f"d0ctl history {package.path}",
    )


def where(store: Store, tried: AttemptView, path: str = "") -> AttemptLocation:
    """Return where the files of an attempt are. Raises NotFound if its node was removed; with the
    path of its package it names what the database still has.
    """
    row = registry.find(store, tried.node_name)
    if row is None:
        hint = f"d0ctl status {path}" if path else None
        raise NotFound(f"its node `{tried.node_name}` was removed", hint=hint)
    base = tried.base or row.base
    return AttemptLocation(store.home, site_name(store), address_of(row), base, tried.id)
