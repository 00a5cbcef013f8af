"""The record of why packages were sent to a node."""

from msgspec import Struct


class NodeChoiceView(Struct, frozen=True):
    """Why packages were sent to a node, by a rule of the scheduler, and not to its best rival."""

    node: str
    at: float
    compared: float
    """When the numbers were compared: packages with the same requests share them for a while."""
    rule: str
    able: int
    """How many nodes had room."""
    fits: int
    """How many nodes meet the request."""
    rival: str | None
    mine: float | None
    """What the rule compared, of the node; `theirs` of its rival."""
    theirs: float | None
    avoided: str | None
    """Nodes that were left out as attempts failed there, or waited too long for inputs."""
