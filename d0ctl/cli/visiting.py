"""Which attempt is looked at, and where it lies: shared by logs, peek and status."""

from d0ctl import select
from d0ctl.errors import BadUsage, NotFound
from d0ctl.format import count
from d0ctl.nodes.peek import Where
from d0ctl.select import Selector
from d0ctl.store.connection import Store
from d0ctl.store.look import browse
from d0ctl.store.look.views import AttemptView, PackageView
from d0ctl.store.nodes import address_of


def one_package(text: str, *, with_binary: bool = False) -> Selector:
    """A selector that names a single package, or one binary of it. Raises BadUsage otherwise."""
    wanted = select.parse(text, with_binary=with_binary)
    if not (wanted.is_one and wanted.level in ("package", "binary")):
        raise BadUsage(f"`{wanted}` is no single package", hint=f"d0ctl status {wanted.job}")
    return wanted


def attempt_of(store: Store, one: PackageView, number: int | None) -> AttemptView:
    """An attempt at a package by its number, else the last one. Raises NotFound."""
    tries = browse.attempts(store, one.id)
    if not tries:
        raise NotFound(f"package `{one.path}` has not run yet: it is {one.phase}",
                       hint=f"d0ctl why {one.path}")  # fmt: skip
    for tried in tries:
        if tried.number == (number or tries[-1].number):
            return tried
    had = count(tries[-1].number, "attempt")
    raise NotFound(
        f"package `{one.path}` has had {had}, so there is no attempt {number}",
        hint=f"d0ctl history {one.path}",
    )


def where(store: Store, tried: AttemptView) -> Where:
    """Where an attempt lies. Raises NotFound when its node was removed."""
    row = store.row("node_by_name", name=tried.node_name)
    if row is None:
        raise NotFound(f"node `{tried.node_name}`, where it lay, was removed")
    base = tried.base or row["base"]
    return Where(store.home, str(store.value("site")), address_of(row), base, tried.id)
