"""The batch systems that d0ctl knows."""

from d0ctl.nodes.batch import htcondor, slurm
from d0ctl.nodes.batch.tools import Tools

_SYSTEMS: dict[str, Tools] = {"slurm": slurm, "htcondor": htcondor}


def tools_of(kind: str) -> Tools:
    """Return the tools of a kind of batch system."""
    return _SYSTEMS[kind]
