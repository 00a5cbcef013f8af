"""The plan of one turn for files that packages or results/ need: which are transferred, and how."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from d0ctl.config import ASIDE
from d0ctl.daemon.desk import Desk
from d0ctl.daemon.in_progress import CopyJob, Transfer
from d0ctl.daemon.node_disk import NodeDiskFull, check_space, size_of
from d0ctl.daemon.streams import DIRECT, THIS_MACHINE, Limits, Pair, Streams, cut
from d0ctl.daemon.turn import Turn
from d0ctl.errors import Refused
from d0ctl.nodes import carry
from d0ctl.nodes.carry import Copy
from d0ctl.nodes.courier import Courier, TransferWork
from d0ctl.store.attempts import crowded
from d0ctl.store.connection import Row
from d0ctl.store.files import copies, direct_logins
from d0ctl.store.files.copies import CopySource, WantedTransfer
from d0ctl.store.jobs import unneeded_files
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.site import default
from d0ctl_wrapper.host import packing
from d0ctl_wrapper.protocol import locator as locators
from d0ctl_wrapper.protocol.locator import OnNode

MOST_TRANSFERS = 200
"""Most transfers in progress at a node."""

COLLECTED = 4
"""This many small files to or from this machine share a stream; fewer are copied singly."""

MOST_STREAMED = 2
"""After this many failures in a stream, a file goes through the control host, on its own."""

BUSY_S = 2.0
"""How long a transfer is postponed that is in progress, or that no node can do now."""


class SingleCopy(NamedTuple):
    """How a file is copied without a stream: by the courier of a node."""

    job: CopyJob
    courier: Courier
    work: TransferWork


class TransferPlan(Struct, frozen=True):
    """Begins the transfers of one turn; `loads` counts those in progress at each node."""

    desk: Desk
    turn: Turn
    loads: Counter[int]
    streams: defaultdict[Pair, list[CopyJob]]
    """The copies that are made by streams."""
    small: defaultdict[Pair, list[SingleCopy]]
    """Small files to or from this machine, which share streams if there are several."""

    def postpone(self, transfer: Transfer) -> None:
        """Postpone a transfer for a while."""
        copies.postpone(self.desk.store, *transfer, until=self.turn.now + BUSY_S)

    def begin_or_delay(self, transfer: Transfer, row: WantedTransfer) -> None:
        """Begin a transfer, or record why it is impossible, e.g. a target outside of results/."""
        try:
            self._begin(transfer, row)
        except NodeDiskFull as error:
            delay(self.desk, transfer, str(error), self.turn.now)
            crowded.unassign(
                self.desk.store, transfer.file, transfer.cluster, error.size,
                why=str(error), now=self.turn.now,
            )  # fmt: skip
        except Refused as error:
            delay(self.desk, transfer, str(error), self.turn.now)

    def _begin(self, transfer: Transfer, row: WantedTransfer) -> None:
        is_made = row.package_id is not None
        source_node = None if is_made else locators.on_node(row.locator or "")
        is_users = not is_made and source_node is None
        here = _original(row) if is_users else row.here
        if not transfer.is_here:
            if here is not None:
                self._bring(transfer, row, here)
            elif not self._stream(transfer, row):
                copies.want_here(self.desk.store, *transfer, now=self.turn.now)
        elif here is None and source_node is not None:
            self._fetch_from(transfer, row, source_node)
        elif here is None:
            self._fetch(transfer, row)
        elif self._is_begun(transfer, THIS_MACHINE):
            copy = self._copy(row, here, self._target(row))
            self.turn.after(self.desk.copy_here, CopyJob(transfer, copy))

    def _is_begun(self, transfer: Transfer, node: int) -> bool:
        """Return whether a node can take one more transfer; if so, this one is in progress."""
        self.postpone(transfer)
        if self.loads[node] >= MOST_TRANSFERS:
            return False
        self.loads[node] += 1
        self.turn.after(self.desk.begin_transfer, transfer, node)
        return True

    def _bring(self, transfer: Transfer, row: WantedTransfer, here: str) -> None:
        """Begin a transfer to a node of the cluster, or to the node that the locator names.

        Raises NodeDiskFull for a file that is larger than the free space there: copying it would
        fill the disk, again with each try.
        """
        target_node = locators.on_node(row.locator or "") if transfer.result else None
        for node in registry.in_cluster(self.desk.store, transfer.cluster):
            if target_node is not None and node["name"] != target_node.node:
                continue
            courier = self.desk.courier(node["id"])
            target = _cached(node, transfer, row) if target_node is None else target_node.path
            if target_node is None:
                check_space(node, size_of(row, here))
            # an order to remove a file of this path could remove the new one
            if courier is None or unneeded_files.is_being_removed(self.desk.store, target):
                continue
            job = CopyJob(transfer, self._copy(row, here, target))
            alone = SingleCopy(job, courier, partial(carry.bring, job.copy))
            if self._begin_alone(alone, row, Pair(THIS_MACHINE, courier.node)):
                return
        self.postpone(transfer)

    def _stream(self, transfer: Transfer, row: WantedTransfer) -> bool:
        """Have a file of a package sent from node to node; return False if that is impossible."""
        is_known = (row.checksum or "").startswith("sha256:") and row.size is not None
        if transfer.result or row.package_id is None or not is_known:
            return False
        if row.tries >= MOST_STREAMED:
            return False
        source = self._source(transfer)
        if source is None:
            return False
        self.postpone(transfer)
        for node in registry.in_cluster(self.desk.store, transfer.cluster):
            target = _cached(node, transfer, row)
            check_space(node, row.size)
            if self.desk.courier(node["id"]) is not None and not (
                unneeded_files.is_being_removed(self.desk.store, target)
            ):
                copy = Copy(source.path, target, row.size, row.checksum)
                pair = Pair(source.node_id or 0, node["id"])
                self.streams[pair].append(CopyJob(transfer, copy))
                break
        return True

    def _source(self, transfer: Transfer) -> CopySource | None:
        """Return a copy on a node that is up, with the fewest streams in progress."""
        locations = copies.copies(self.desk.store, transfer.file)
        able = [row for row in locations if self.desk.courier(row.node_id or 0)]
        return min(able, key=self._load, default=None)

    def _load(self, copy: CopySource) -> tuple[bool, int]:
        """Return how busy a node with a copy is; a cache in doubt comes last."""
        planned = sum(copy.node_id in pair for pair in self.streams)
        return copy.doubted is not None, self.desk.streams.load(copy.node_id or 0) + planned

    def _begin_alone(self, alone: SingleCopy, row: WantedTransfer, pair: Pair) -> bool:
        """Have a file copied by a courier, or in a stream if it is small; False if it is busy."""
        copy, transfer = alone.job.copy, alone.job.transfer
        is_known = pair.source == THIS_MACHINE or (copy.checksum or "").startswith("sha256:")
        is_small = (copy.size or 0) < DIRECT and not (transfer.result and not transfer.is_here)
        is_folder = copy.is_unpacked or packing.is_folder(copy.source)
        if is_known and is_small and not is_folder and row.tries < MOST_STREAMED:
            self.postpone(transfer)
            self.small[pair].append(alone)
            return True
        if self._is_begun(transfer, alone.courier.node):
            self.turn.after(alone.courier.transfer, alone.job, alone.work)
            return True
        return False

    def collect(self) -> None:
        """Have small files share streams: if there are several, or if a stream costs no start.

        A busy courier would make them wait, too.
        """
        for pair, files in self.small.items():
            node = pair.target or pair.source
            is_ready = files[0].courier.has_standing_end
            if is_ready or len(files) >= COLLECTED or self.loads[node] >= COLLECTED:
                self.streams[pair] += [file.job for file in files]
                continue
            for file in files:
                if self._is_begun(file.job.transfer, node):
                    self.turn.after(file.courier.transfer, file.job, file.work)

    def begin_streams(self) -> None:
        """Begin the streams that there is room for; the others are postponed already."""
        if not self.streams:
            return
        names = ("link-streams", "node-streams")
        limits = Limits(*(default(self.desk.store, name) for name in names))
        begun = Streams(Counter(self.desk.streams.busy))
        for pair, jobs in self.streams.items():
            for batch in cut(jobs):
                if begun.has_room(pair, limits):
                    begun.begin(pair)
                    callers = self._callers(pair, batch)
                    self.turn.after(self.desk.begin_stream, pair, batch, callers)

    def _callers(self, pair: Pair, batch: Sequence[CopyJob]) -> list[int]:
        """Return which of two nodes may log in to the other for a stream."""
        store, nodes = self.desk.store, [self.desk.couriers.get(node) for node in pair]
        is_large = sum(job.copy.size or 0 for job in batch) >= DIRECT
        is_remote = all(node is not None and node.address.kind == "ssh" for node in nodes)
        if not (is_large and is_remote and default(store, "direct-streams")):
            return []
        return direct_logins.to_try(store, *pair, now=self.turn.now)

    def _fetch(self, transfer: Transfer, row: WantedTransfer) -> None:
        """Begin a transfer from a node that has the file; without any copy, remake the file."""
        locations = copies.copies(self.desk.store, transfer.file)
        for location in locations:
            courier = self.desk.courier(location.node_id or 0)
            if courier is None:
                continue
            job = CopyJob(transfer, self._copy(row, location.path, self._target(row)))
            alone = SingleCopy(job, courier, partial(carry.fetch, job.copy))
            if self._begin_alone(alone, row, Pair(courier.node, THIS_MACHINE)):
                return
        if locations:
            self.postpone(transfer)
        else:
            copies.lose(self.desk.store, [(transfer.file, 0)], now=self.turn.now)
            copies.postpone(self.desk.store, *transfer, until=copies.PARKED)

    def _fetch_from(self, transfer: Transfer, row: WantedTransfer, source: OnNode) -> None:
        """Begin a transfer from the node that the locator names."""
        node = registry.find(self.desk.store, source.node)
        if node is None:
            delay(self.desk, transfer, f"there is no node `{source.node}`", self.turn.now)
        elif self.desk.courier(node.id) is None or not self._is_begun(transfer, node.id):
            self.postpone(transfer)
        else:
            target, declared = self._target(row), (row.size_asked, row.checksum_asked)
            copy = Copy(source.path, target, *declared, self._aside(target), is_kept=True)
            courier, job = self.desk.couriers[node.id], CopyJob(transfer, copy)
            self.turn.after(courier.transfer, job, partial(carry.fetch, copy))

    def _copy(self, row: WantedTransfer, source: str, target: str) -> Copy:
        """Return the description of a copy.

        A user's own file may have changed since it was last read; a copy of it may not.
        """
        aside, is_kept = self._aside(target), self.desk.home.is_in_cache(target)
        if row.package_id is None and source != row.here:
            if packing.is_folder(source):
                aside = str(self.desk.home.cache / ASIDE)
            return Copy(source, target, None, None, aside, is_kept)
        is_unpacked = packing.is_folder(row.name) and bool(row.result and row.is_result)
        return Copy(source, target, row.size, row.checksum, aside, is_kept, is_unpacked)

    def _aside(self, target: str) -> str:
        """Return the folder in which a copy is completed; empty for that of its target."""
        asides = self.desk.home.asides
        return next(
            (str(aside) for aside in asides if Path(target).is_relative_to(aside.parent)), ""
        )

    def _target(self, row: WantedTransfer) -> str:
        """Return the path of a copy on the control host: in results/, or in transit to a node."""
        home = self.desk.home
        if not row.result:
            return str(home.in_transit(row.job_id, row.file_id, row.name))
        if row.is_result:
            return str(home.result(row.job, row.name))
        stored = locators.on_node(row.locator or "")
        assert stored is not None
        return stored.path


def _original(row: WantedTransfer) -> str:
    """Return the path of a file from outside: that of the user's own, which may have changed since
    a wrapper on this machine copied it; of that copy only if the user's is gone.
    """
    is_gone = row.locator is None and not Path(row.name).exists()
    return row.here if row.here is not None and (row.locator or is_gone) else row.name


def _cached(node: Row, transfer: Transfer, row: WantedTransfer) -> str:
    """Return the path of a copy in the cache of a node."""
    return f"{node['base'] or ''}/cache/in/{transfer.file}/{Path(row.name).name}"


def delay(desk: Desk, transfer: Transfer, why: str, now: float) -> None:
    """Record why a transfer failed; it is tried again, with growing delays."""
    copies.delay(desk.store, **transfer._asdict(), error=why, now=now)
