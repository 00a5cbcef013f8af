"""What an unknown key of a file may mean, and where it belongs."""

import re
from collections.abc import Collection

from d0ctl.jobfile.yaml.faults import near
from d0ctl.units import REQUESTS, listed

_MEANT = {
    word: key
    for key, others in {
        "job": "name",
        "originator": "researcher user owner submitter",
        "nodes": "on host hosts machine machines",
        "policy": "attempts max-retries retries retry tries",
        "run": "command cmd script exec execute executable",
        "environment": "env envs vars variables",
        "memory": "mem ram request_memory",
        "cpus": "cores ncpus ncores threads cpu-count request_cpus",
        "gpus": "ngpus request_gpus",
        "disk": "scratch request_disk",
        "wall-time": "time walltime wall_time time-limit timelimit timeout max-time",
        "image": "container docker singularity apptainer",
        "inputs": "in reads uses",
        "outputs": "out makes writes products",
    }.items()
    for word in others.split()
}
"""Other words for a key, such as those of other programs."""

_MEANT_OF_NODES = {
    **dict.fromkeys(["address", "host", "hostname", "ssh", "url"], "destination"),
    **dict.fromkeys(["key", "key-file", "identity-file"], "identity"),
    **dict.fromkeys(["folder", "directory", "base"], "dir"),
}
"""Other words for a key of a node in a site file."""

_ORDER = re.compile(
    "(depends?|after|before|needs?|requires?|parents?|children|wait)([-_]?(on|for|stages?|jobs?))?"
    "|dependenc(y|ies)|upstream|downstream"
)
"""Words of other programs for the order of work."""


_OF_PACKAGES = frozenset(
    {
        *REQUESTS,
        "wall-time",
        "environment",
        "platform",
        "nodes",
        "run",
        "inputs",
        "outputs",
        "image",
    }
)
"""Keys of packages that people write beside `lines`."""

_OF_JOBS = frozenset({"hold", "mail", "originator", "max-failures", "max-alike-failures"})
"""Keys of jobs that people write in a stage, line or package."""

_OF_STAGES = frozenset({"require", "final", "max-running"})
"""Keys of stages that people write in a line or package."""

_OF_OUTPUTS = {
    "result": "yes", "disposition": "retain-indef", "locator": "...", "late": "yes",
    "min-size": "1kB", "min-count": "1",
}  # fmt: skip
"""Keys of outputs that people write beside `outputs`, each with a value."""

_OF_QUEUES = frozenset({"queue", "partition", "account", "qos"})
"""Keys of batch systems."""

_LISTS = frozenset({"lines", "packages", "binaries"})
"""The keys for lower levels, one or more of which a stage, line or package has."""

FEW_KEYS = 10
"""How many keys a fault lists when an unknown one is near none of them."""


def key_hint(name: str, known: list[str], beside: Collection[str] = ()) -> str:
    """Suggest the intended key for an unknown one, and where it belongs."""
    meanings = _MEANT_OF_NODES if "destination" in known else _MEANT
    other = meanings.get(name) or _MEANT.get(name, name)
    if name in ("run", "inputs", "outputs") and "stages" in known:
        return ": it belongs in a line, as in `stages: [{lines: [{run: ./sim.sh}]}]`"
    if name == "for" and "lines" in known:
        return ": it belongs in a line, under `lines`"
    if other in _OF_PACKAGES and "lines" in known:
        key = "it" if other == name else f"`{other}`"
        return f": {key} belongs in a line or a package, under `lines`"
    if name in _OF_JOBS and "job" not in known and not _LISTS.isdisjoint(known):
        return ": it belongs in the job, beside `stages`"
    if name in _OF_STAGES and not {"packages", "binaries"}.isdisjoint(known):
        return ": it belongs in the stage, beside `lines`"
    if name in _OF_OUTPUTS and not {"outputs", "lines"}.isdisjoint(known):
        entry = f"{name}: {_OF_OUTPUTS[name]}"
        return f": it belongs in an output, as in `outputs: [{{file: x, {entry}}}]`"
    if name in _OF_QUEUES:
        return ": queues of a batch system are set for the site, see docs/slurm.md"
    is_work = not {"inputs", "lines", "packages", "binaries"}.isdisjoint(known)
    if is_work and _ORDER.fullmatch(name) and near(name, known, 0.8) is None:
        files = "order comes from files, so list the files that it reads under `inputs`"
        return f": {files}; where there is none, use `after`" if "after" in known else f": {files}"
    meant = other if other in known else near(name, known)
    if meant:
        return f" (did you mean `{meant}`{_below(meant, known, beside)}?)"
    return f"; it has {listed(f'`{key}`' for key in known)}" if len(known) <= FEW_KEYS else ""


def _below(key: str, known: list[str], beside: Collection[str]) -> str:
    """Say that a key belongs in an entry of the list beside it.

    `known` has the keys of these entries, too, since they may be left out; they come after it.
    """
    lists = [name for name in ("packages", "binaries") if name in known and name in beside]
    is_below = bool(lists) and known.index(key) > known.index(lists[0])
    return f", in an entry of `{lists[0]}`" if is_below else ""
