"""The files on the nodes, compared with the database."""

import shlex
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from msgspec import Struct

from d0ctl.doctor.finding import ANEW, MOST, RESTART, Finding, repaired_at_start
from d0ctl.doctor.orphans import orphans
from d0ctl.errors import D0Error
from d0ctl.model import Node
from d0ctl.nodes.inventory import Survey, is_another, survey
from d0ctl.store import Store
from d0ctl.store.attempts.launching import launches
from d0ctl.store.checks.belongings import KnownAttempt, KnownCopy, attempts, copies, to_remove
from d0ctl.store.clusters import doubt
from d0ctl.store.files.moved_home import previous_home
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.holder import any_driver
from d0ctl.store.nodes.registry import address_of
from d0ctl.store.nodes.site import CopiedHome, other_home, site_name
from d0ctl.units import count, size

AT_ONCE = 16
"""How many nodes are asked at a time."""

UNFETCHED_S = 60.0
"""A message that waits on a node for longer is reported."""

ASIDE_S = 86400.0
"""A file that has been in transit for longer is abandoned."""


class NodeAnswer(Struct, frozen=True):
    """The answer of a node: the files on it, or why it could not list them."""

    node: Node
    survey: Survey | None
    error: str = ""


class Nodes:
    """The nodes to check: those of this machine, and with `far` all; none twice in vain."""

    def __init__(self, store: Store, *, far: bool, checksums: bool = False) -> None:
        self._store = store
        self._checksums = checksums
        self._rows, self.seen = [], list[str]()
        self.unseen: dict[str, str] = {}
        before, self._other = previous_home(store), other_home(store)
        for row in registry.nodes(store):
            if before and row.base and Path(row.base).is_relative_to(before):
                # asking would make it again
                self.unseen[row.name] = _in_other_home(before, self._other)
            elif row.base and (far or row.kind == "local"):
                self._rows.append(row)
            elif row.base or row.state == "down" or (far and row.kind != "local"):
                self.unseen[row.name] = _unasked(row)

    def find_problems(self) -> Iterator[Finding]:
        """Find problems on the nodes; nodes without any are not asked again."""
        suspicious = []
        for answer in list(self._ask()):
            name = answer.node.name
            if answer.survey is None:
                self.unseen[name] = answer.error
                continue
            if name not in self.seen:
                self.seen.append(name)
            problems = list(belongings(self._store, answer.node, answer.survey))
            if problems:
                suspicious.append(answer.node)
                yield from [_of_other(name, self._other)] if self._other else problems
        self._rows = suspicious

    def _ask(self) -> Iterator[NodeAnswer]:
        """Return the files on the nodes, by their answers; each has limited time."""
        if not self._rows:
            return
        site = site_name(self._store)
        with ThreadPoolExecutor(min(AT_ONCE, len(self._rows))) as pool:
            asked = {
                pool.submit(
                    survey,
                    self._store.home,
                    address_of(row),
                    site,
                    row.base or "",
                    checksums=self._checksums,
                ): row
                for row in self._rows
            }
            for answer in as_completed(asked):
                try:
                    yield NodeAnswer(asked[answer], answer.result())
                except D0Error as error:
                    yield NodeAnswer(asked[answer], None, str(error))


def _of_other(node: str, other: CopiedHome) -> Finding:
    """Return that a node has what another home has put there, and lacks what it has removed."""
    detail = f"has other attempts or files than this home records: those of `{other.root}`"
    return Finding("node", node, detail)


def _in_other_home(home: Path, other: CopiedHome | None) -> str:
    """Return why a node whose folder is recorded in another home is not asked."""
    if other is None or not other.is_there:
        return f"its folder was in {home}; after `{RESTART}` it is in this home"
    return f"`d0ctl --home {shlex.quote(str(other.root))} doctor` does that"


def full_disks(store: Store) -> Iterator[Finding]:
    """Nodes in contact whose disks are nearly full, so that packages fail there."""
    for row in registry.nodes(store) if any_driver(store) else ():
        if space := registry.full_disk(row):
            free = f"{size(space.free)} of {size(space.total)} free"
            yield Finding("disk", row.name, f"is nearly full: {free} when it last reported",
                          f"d0ctl node check {row.name}")  # fmt: skip


def caches_in_doubt(store: Store) -> Iterator[Finding]:
    """Caches most of whose files are missing."""
    for row in doubt.nodes(store):
        yield Finding("cache", row["name"], f"is in doubt: {row['drain_note']}",
                      f"d0ctl node accept-loss {row['name']}   # or mount its disk")  # fmt: skip


def _unasked(row: Node) -> str:
    """Return why a node is not asked for its files."""
    if row.state == "down":
        return row.last_error or "it does not answer"
    if not row.base:
        return "it has never been in contact"
    return "`d0ctl doctor --nodes` does that"


def belongings(store: Store, node: Node, found: Survey) -> Iterator[Finding]:
    """Problems with the files on a node."""
    find_problems = _NodeContents(store, node, found)
    for kind in (
        find_problems.attempts(),
        find_problems.live(),
        orphans(store, node, found),
        find_problems.lacking(),
        find_problems.changed(),
        find_problems.waiting(),
    ):
        yield from kind


class _NodeContents:
    """One node's attempts, files and messages."""

    def __init__(self, store: Store, node: Node, found: Survey) -> None:
        self._store = store
        self._node = node
        self._found = found
        self._base = node.base or ""
        self._name = node.name
        self._is_driven = any_driver(store)
        self._known = attempts(store, sorted(found.attempts))
        start = f"{self._base}/"
        self._copies = [
            (row, row.path.removeprefix(start))
            for row in copies(store, node.id)
            if row.path.startswith(start)
        ]

    def attempts(self) -> Iterator[Finding]:
        """Yield attempts that the database does not know, or that continue although they ended."""
        unknown: list[str] = []
        going = to_remove(self._store, self._node.id)
        for attempt, state in self._found.attempts.items():
            known = self._known.get(attempt)
            if known is None and state == "running":
                yield self._until_start(
                    "attempt", attempt, "is running, but is not in the database"
                )
            elif known is None:
                if attempt not in going:
                    unknown.append(f"{self._base}/attempts/{attempt}")
            elif known.outcome is not None and state == "running":
                yield self._until_start(
                    "attempt", attempt, f"is still running, but is recorded as {known.outcome}"
                )
            elif attempt in self._found.works and self._is_left(known, state):
                yield self._swept(
                    "attempt", f"attempts/{attempt}/work", "was left by an attempt that has ended"
                )

        yield from self._unknown(unknown)

    def _unknown(self, paths: list[str]) -> Iterator[Finding]:
        """Yield folders that belong to no attempt: the next contact removes them."""
        detail = "belongs to no attempt of this site"
        advice = ANEW if self._is_driven else RESTART
        reported = [self._at(path.removeprefix(f"{self._base}/")) for path in paths[:MOST]]
        for folder_path in reported:
            yield Finding("attempt", folder_path, detail, advice, heals=True)
        if len(paths) > MOST:
            more = f"{count(len(paths) - MOST)} more, each of which {detail}"
            yield Finding("attempt", self._at("attempts"), more, advice, heals=True)

    def _is_left(self, known: KnownAttempt, state: str) -> bool:
        is_over = known.outcome in ("successful", "failed", "killed")
        return is_over and state == "ended" and not known.goes

    def live(self) -> Iterator[Finding]:
        """Yield attempts that should be running here, but without a folder or a wrapper."""
        for row in launches.live(self._store, self._node.id):
            state = self._found.attempts.get(row["attempt_id"], "absent")
            if row["wrapper_started"] is not None and state == "absent":
                yield self._until_start(
                    "attempt", row["attempt_id"], "should be running, but is not on the node"
                )
            elif state == "dead":
                yield self._until_start(
                    "attempt", row["attempt_id"], "should be running, but has no wrapper"
                )

    def lacking(self) -> Iterator[Finding]:
        """Yield copies that the database knows but are missing; a cache in doubt is one finding."""
        if self._node.doubted is not None:
            return
        found = [row for row, name in self._copies if name not in self._found.files]
        yield from self._listed("copy", found, "is recorded as a copy, but does not exist")

    def changed(self) -> Iterator[Finding]:
        """Yield copies whose size or time changed, or with other contents."""
        seen = [(row, name, self._found.copies[name]) for row, name in self._copies
                if name in self._found.copies]  # fmt: skip
        others = [row for row, _, found in seen
                  if is_another(row, found) and self._node.doubted is None]  # fmt: skip
        yield from self._listed("copy", others, "was changed since it was copied there")
        spoilt = [(name, row.maker) for row, name, found in seen
                  if not is_another(row, found) and row.checksum is not None
                  and found["checksum"] not in (None, row.checksum)]  # fmt: skip
        for name, maker in spoilt[:MOST]:
            advice = f"d0ctl set-status {maker} unscheduled" if maker else "it came from outside"
            yield self._finding("contents", name, "has changed: its checksum differs", advice)
        if len(spoilt) > MOST:
            more = count(len(spoilt) - MOST, "more copy has changed: its checksum differs",
                         "more copies have changed: their checksums differ")  # fmt: skip
            yield self._finding("contents", f"{self._base}", more, f"d0ctl node check {self._name}")

    def waiting(self) -> Iterator[Finding]:
        """Messages that nobody fetches, and files in transit that nobody completes."""
        late = [age for age in self._found.spooled().values() if age > UNFETCHED_S]
        if late:
            detail = f"{count(len(late), 'message')} not fetched, one for {max(late):.0f} s"
            yield self._until_start("spool", "spool", detail)
        for path, age in self._found.files.items():
            if path.startswith(("cache/aside/", "spool/tmp/")) and age > ASIDE_S:
                yield repaired_at_start(
                    "spool", self._at(path), "was left by an interrupted process"
                )

    def _listed(self, check: str, found: list[KnownCopy], detail: str) -> Iterator[Finding]:
        for row in found[:MOST]:
            again = "its maker runs" if row.maker else "it is copied there"
            short = row.path.removeprefix(f"{self._base}/")
            yield self._finding(check, short, detail, f"{again} again when a package needs it")
        if len(found) > MOST:
            more = f"{count(len(found) - MOST)} more, each of which {detail}"
            yield self._finding(check, f"{self._base}", more, f"d0ctl node check {self._name}")

    def _swept(self, check: str, subject: str, detail: str) -> Finding:
        """Return files that d0ctl removes by itself at the next contact."""
        advice = ANEW if self._is_driven else RESTART
        return Finding(check, self._at(subject), detail, advice, heals=True)

    def _until_start(self, check: str, subject: object, detail: str) -> Finding:
        """Return a finding that a driver repairs; if one is running and has not, it says so."""
        if self._is_driven:
            return self._finding(check, str(subject), detail, f"d0ctl why --node {self._name}")
        return Finding(check, self._at(str(subject)), detail, RESTART, heals=True)

    def _finding(self, check: str, subject: str, detail: str, advice: str) -> Finding:
        return Finding(check, self._at(subject), detail, advice)

    def _at(self, subject: str) -> str:
        return f"{self._name}:{subject}"
