"""A node as far as it decides whether work moves; pure."""

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.schedule.resources import NodeRoom, Requirement, misfit
from d0ctl.units import size


class NodeState(Struct, frozen=True):
    """A node, and whether it takes packages now or later.

    With `retries` d0ctl drained it and will try it again by itself; `gone` is why it takes nothing
    until a person helps; `full`: its disk has less free than its reserve; `suspended`: the CPUs of
    packages that a person suspended; `cache_left`: the bytes left in its cache, if that has a
    capacity and no package is on its nodes, `cache_spare`: those that d0ctl can free there. A node
    that was never `reached` is ruled out only by known facts: its name, its services, its CPUs if
    it is `sized`, and the site file.
    """

    room: NodeRoom
    state: str
    drained: bool = False
    retries: bool = False
    reached: bool = True
    sized: bool = False
    gone: str | None = None
    full: bool = False
    suspended: float = 0.0
    cache_left: int | None = None
    cache_spare: int = 0

    @property
    def takes(self) -> bool:
        """Whether it takes packages now."""
        return self.state == "up" and not self.drained and not self.full

    @property
    def is_away(self) -> bool:
        """Whether it takes nothing because it is down, drained or full."""
        return self.state == "down" or self.drained or self.full

    @property
    def returns(self) -> bool:
        """Whether it may take packages again without a person."""
        return not self.takes and self.gone is None and (self.retries or not self.drained)

    @property
    def is_coming(self) -> bool:
        """Whether it is about to be contacted, and may then take packages."""
        return self.state == "unknown" and self.returns

    def leaves(self, requirement: Requirement) -> bool:
        """Return whether suspended packages leave CPUs for packages with a requirement."""
        return not self.suspended or self.room.cpus - self.suspended >= requirement.load

    def lack(self, requirement: Requirement) -> str | None:
        """Return what its cache lacks for packages with a requirement; None if it has room, or may
        have it once packages there have ended, or once copies that none needs are removed.
        """
        left = self.cache_left
        if left is None or requirement.stay or requirement.early:
            return None
        most, needs, what = left + self.cache_spare, requirement.space or 0, "needs"
        if needs <= most:
            needs, what = requirement.brought.get(self.room.cluster, 0), "its inputs need"
        return f"{size(left)} of its cache left, {what} {size(needs)}" if needs > most else None

    def misfit(self, requirement: Requirement) -> str | None:
        """Return why packages with a requirement can never run on it; None if they can."""
        if not self.reached and not self.sized:
            requirement = replace(requirement, cpus=1)
        if not self.reached and self.room.platform is None:
            requirement = replace(requirement, platform=None, software={})
        return misfit(requirement, self.room)


def serves(node: NodeState, requirement: Requirement) -> bool:
    """Return whether a node takes, or is about to take, packages with a requirement."""
    return (node.takes or node.is_coming) and fits(node, requirement)


def fits(node: NodeState, requirement: Requirement) -> bool:
    """Return whether a node could take packages with a requirement, and its cache has room."""
    return node.misfit(requirement) is None and node.lack(requirement) is None
