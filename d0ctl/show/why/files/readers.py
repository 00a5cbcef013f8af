"""What is said of the packages that read a file."""

from collections import Counter
from collections.abc import Sequence

from d0ctl.model import STATUS_OF, Phase, Status
from d0ctl.select import parse
from d0ctl.show.drawing.signs import in_state, phase_name
from d0ctl.show.why.common import MOST
from d0ctl.store.connection import Store
from d0ctl.store.views import browse, file_locations
from d0ctl.store.views.file_locations import FileView, ReaderView
from d0ctl.units import count, listed

ENDED = frozenset({Status.SUCCESSFUL, Status.CANCELED})
"""Packages in these statuses no longer read files; nor do those that are transferring."""


def reader_facts(store: Store, file: FileView, readers: Sequence[ReaderView]) -> list[str]:
    """Name the readers of a file, and say for how many other files they wait."""
    waiting_readers = [reader for reader in readers if is_open(reader)]
    facts = [_reader(store, file, reader) for reader in waiting_readers[:MOST]]
    if len(waiting_readers) > MOST:
        others = waiting_readers[MOST:]
        more = _by_state(store, others)
        facts.append(f"and it is read by {count(len(others), 'more package')}: {more}")
    if not readers:
        of_archive = " of this archive" if store.home.archive else ""
        facts.append(f"no package{of_archive} reads it")
    ended = Counter(bool(reader.has_read) for reader in readers if not is_open(reader))
    least = "at least " if len(readers) >= file_locations.MOST_READERS else ""
    for has_read, number in sorted(ended.items(), reverse=True):
        facts.append(f"{least}{count(number, 'package')} that "
                     f"{'read' if has_read else 'would have read'} it "
                     f"{'has' if number == 1 else 'have'} ended")  # fmt: skip
    return facts


def _by_state(store: Store, readers: Sequence[ReaderView]) -> str:
    """Count readers by their states; those of a blocked job that wait are blocked."""
    of_job = {reader.path.partition("/")[0] for reader in readers if reader.phase == Phase.WAITING}
    blocked = {name for name in of_job if browse.job(store, name).blocked}
    states = Counter(
        phase_name(reader.phase, blocked=reader.path.partition("/")[0] in blocked)
        for reader in readers
    )
    return listed(f"{n:,} {state}" for state, n in states.most_common())


def is_open(reader: ReaderView) -> bool:
    """Return whether a reader has still to read its inputs, or reads them now."""
    return STATUS_OF[Phase(reader.phase)] not in ENDED and reader.phase != Phase.TRANSFERRING


def _reader(store: Store, file: FileView, reader: ReaderView) -> str:
    if reader.dropped:
        return f"`{reader.path}`, which is {in_state(reader.phase)}, runs without it"
    is_blocked = _is_blocked(store, reader)
    if file.present or reader.phase != Phase.WAITING:
        return f"`{reader.path}` needs it and is {in_state(reader.phase, blocked=is_blocked)}"
    more = reader.missing - reader.uses
    others = f" and for {count(more, 'more file')}" if more > 0 else ""
    return f"`{reader.path}` {'is blocked: it waits' if is_blocked else 'waits'} for it{others}"


def _is_blocked(store: Store, reader: ReaderView) -> bool:
    """Return whether a reader waits for files that will never be made."""
    if reader.phase != Phase.WAITING:
        return False
    package = browse.package(store, parse(reader.path))
    return browse.is_package_blocked(store, browse.job(store, package.job), package)
