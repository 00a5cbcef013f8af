"""What a process that drives packages has in progress: transfers, orders, inventories, pilots."""

import dataclasses
import subprocess
import time
from typing import NamedTuple

from msgspec import Struct, field

from d0ctl.nodes.batch.engine import Engine
from d0ctl.nodes.batch.kinds import tools_of
from d0ctl.nodes.batch.tools import Tools
from d0ctl.nodes.carry import Copy
from d0ctl.nodes.inventory import Survey
from d0ctl.policy.pilots import delay_s
from d0ctl.sitefile.spec import Pilots
from d0ctl.store.files.inventory import CacheFinding

CONTROL_HOST = 1
"""The cluster of the control host."""


class Transfer(NamedTuple):
    """A copy of a file that a cluster needs; `result` is 1 for a copy in results/."""

    file: int
    cluster: int
    result: int

    @property
    def is_here(self) -> bool:
        """Whether the target is the control host."""
        return self.cluster == CONTROL_HOST


class CopyJob(NamedTuple):
    """A transfer with the paths of its copy: the name under which its end is reported."""

    transfer: Transfer
    copy: Copy


@dataclasses.dataclass(frozen=True, slots=True)
class ArchiveTransfer:
    """An archive of software that a node needs: the name under which its end is reported."""

    node: int
    checksum: str
    archive: str = dataclasses.field(compare=False)


class AttemptOrder(NamedTuple):
    """An attempt and the request for it: `kill`, `pause`, `resume` ..."""

    attempt: int
    request: str


class Purge(NamedTuple):
    """The row of a purge, and the attempt or the path that the node has to remove."""

    id: int
    attempt: int | None
    path: str | None


class PurgeOrder(NamedTuple):
    """Files that a node was asked to remove and has not confirmed, and when it was asked."""

    sent: float
    purges: list[Purge]


NO_PURGE_ORDER = PurgeOrder(0.0, [])


class RefusedEnd(Struct):
    """An end message that can't be read or applied: why, since when, and how often it came."""

    why: str
    since: float
    times: int = 0
    asked: int = 0
    """How often the node was asked to send it again."""


class Archiver(Struct):
    """The process that archives ended jobs, if it runs; when it last began, and for which age."""

    process: "subprocess.Popen[str] | None" = None
    begun: float = 0.0
    age: float | None = None


class Inventory(Struct):
    """The list of the files of a node, and its comparison with the recorded copies."""

    id: str
    began: float
    """When it was requested, by the wall clock."""
    asked: float
    """The same by the monotonic clock."""
    survey: Survey = field(default_factory=Survey)
    is_whole: bool = False
    after: int = 0
    """The last file whose copy was compared."""
    known: set[str] = field(default_factory=set)
    copies: int = 0
    """How many copies were compared."""
    missing: list[CacheFinding] = field(default_factory=list)
    """Missing or changed copies, until they are recorded."""
    changed: dict[str, CacheFinding] = field(default_factory=dict)
    """Copies that may only have been copied there again, by path, until the node has read them."""
    is_compared: bool = False
    is_judged: bool = False
    """Whether it is decided that missing copies count as lost, or that the cache is in doubt."""
    is_doubtful: bool = False
    """Whether so many are missing that none counts as lost."""


class BatchDesk(Struct):
    """What a process knows of a batch system in addition to the database; times are monotonic."""

    engine: Engine
    settings: Pilots
    """As the site file had them; a change lets it submit again at once."""
    accounts_due: float = 0.0
    """When to ask how jobs have ended that its queue does not list: later if it did not tell."""
    failures: int = 0
    submit_due: float = 0.0
    queue_due: float = 0.0
    idle: dict[tuple[int, bool], float] = field(default_factory=dict)
    """Since when pilots have no packages, by their number and whether they answer."""
    direct_due: float = 0.0
    most: int = 1000
    """How many jobs are submitted at once: fewer after a refusal."""
    over: dict[int, float] = field(default_factory=dict)
    """When the relay is asked for the ends of packages whose jobs are over."""

    def delay(self) -> None:
        """Wait with the next submission, the longer the more have failed."""
        self.failures += 1
        self.submit_due = time.monotonic() + delay_s(self.failures)

    @property
    def tools(self) -> Tools:
        """The commands of this kind of batch system."""
        return tools_of(self.settings.kind)
