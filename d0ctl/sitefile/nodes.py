"""The sections `nodes:` and `clusters:` of a site file."""

import re
from pathlib import Path

from d0ctl.errors import BadUsage
from d0ctl.jobfile.language.field_types import (
    COUNT,
    FLAG,
    FRACTION,
    ONE_LINE,
    POSITIVE_TIME,
    REQUEST_TYPES,
    SIZE,
    TIME,
    BadValueError,
    FieldType,
    matching,
    one_of,
    split_names,
    whole,
)
from d0ctl.jobfile.sections.level import Level, Reading, kind_of
from d0ctl.jobfile.yaml.document import Mapping, Node, Scalar
from d0ctl.jobfile.yaml.faults import did_you_mean, shown
from d0ctl.sitefile.addresses.destination import parse
from d0ctl.sitefile.fields import AMOUNT, PART, SERVICE, SPEED, converted, list_value, named, values
from d0ctl.sitefile.spec import ClusterEntry, NodeEntry, Pilots

NODE_KEYS = split_names(
    "destination cpus identity dir python via cluster platform speed memory gpus services"
    " accept-key same-machine"
)
PILOT_KEYS = split_names(
    "mode login accept-key identity via partition account qos constraint options requirements"
    " rank concurrency-limits event-log cpus memory gpus disk wall-time dir"
    " python max-queued max-running max-jobs submit-rate idle poll"
)
"""The keys that only a cluster with a `kind` has."""

CLUSTER_KEYS = (*split_names("kind platform services private capacity software-share"), *PILOT_KEYS)

CONTROL = "control"
"""The cluster of this machine."""

KINDS = ("slurm", "htcondor")

KEYS_OF_KIND = {
    "slurm": split_names("partition qos constraint options"),
    "htcondor": split_names("requirements rank concurrency-limits event-log disk"),
}
"""The keys that only one kind of batch system has."""

MODES = ("pilot", "direct", "auto")

WAYS = ("auto", "fabric", "openssh")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", re.ASCII)
_ENGINE_WORD = matching(r"[A-Za-z0-9][A-Za-z0-9._,-]*")
_LIMITS = matching(r"[A-Za-z0-9][A-Za-z0-9._,:-]*")
_CONSTRAINT = matching(r"[A-Za-z0-9(\[][A-Za-z0-9._,&|*()\[\]:-]*")
OPTION_FORM = r"--([a-z][a-z-]*)(=[A-Za-z0-9_.,:;/@%+*=&|()\[\]~^-]+)?"
"""How an option of `sbatch` is written; it is passed on between double quotes."""

_OPTION = re.compile(OPTION_FORM, re.ASCII)

HAVE_KEYS = {
    "partition": "partition", "account": "account", "qos": "qos", "constraint": "constraint",
    "cpus-per-task": "cpus", "mem": "memory", "gres": "gpus", "time": "wall-time",
}  # fmt: skip
"""Options of `sbatch` with a key of their own."""

ALWAYS_SET = split_names(
    "array clusters comment error hold input job-name nice no-requeue nodes ntasks output parsable"
    " quiet requeue test-only time-min wait wrap"
)
"""Options of `sbatch` that d0ctl sets, or that would break how it follows its jobs."""

OWN_OPTIONS = (*HAVE_KEYS, *ALWAYS_SET)

_FINGERPRINT = matching(r"SHA256:[A-Za-z0-9+/]{43}=?")


def _absolute(value: str) -> str:
    if not value.startswith("/"):
        raise ValueError
    return str(PATH.convert(value))


def _identity(value: str) -> str:
    path = Path(value).expanduser()
    if not value or not path.is_file():
        raise ValueError
    if private := private_beside(path):
        raise BadValueError(f"`{value}` is a public key; the private one is `{private}`")
    return str(path.absolute())


def private_beside(identity: Path) -> Path | None:
    """Return the private key beside a public one; None if there is none, or it is private."""
    private = identity.with_suffix("")
    return private if identity.suffix == ".pub" and private.is_file() else None


def _cluster_name(value: str) -> str:
    if value == CONTROL:
        raise BadValueError("the cluster `control` belongs to this machine")
    return str(PART.convert(value))


def _option(value: str) -> str:
    """Return an option of `sbatch`, if it is written in full and is not d0ctl's own."""
    option = _OPTION.fullmatch(value)
    if option is None:
        raise ValueError
    own = next((name for name in OWN_OPTIONS if name.startswith(option[1])), "")
    if own in HAVE_KEYS:
        raise BadValueError(f"`--{own}` has a key of its own: `{HAVE_KEYS[own]}`")
    if own:
        raise BadValueError(f"d0ctl sets `--{own}` itself, or can't follow jobs that have it")
    return value


def _destination(value: str) -> str:
    try:
        parse(value)
    except BadUsage as error:
        raise BadValueError(f"{error}: {error.hint}" if error.hint else str(error)) from error
    return value


def _login(value: str) -> str:
    return "" if value in ("", "localhost") else _destination(value)


KIND = FieldType(one_of(*KINDS), "`slurm` or `htcondor`")
MODE = FieldType(one_of(*MODES), "`pilot`, `direct` or `auto`")
ENGINE_WORD = FieldType(_ENGINE_WORD, "names of letters, digits and `._,-`")
LIMITS = FieldType(_LIMITS, "names with letters, digits and `._,:-`")
CONSTRAINT = FieldType(_CONSTRAINT, "features with letters, digits and `._,&|*()[]:-`")
OPTION = FieldType(_option, "options such as `--exclude=n1` or `--exclusive`")
DESTINATION = FieldType(_destination, "`[user@]host[:port]`")
LOGIN = FieldType(_login, "`[user@]host[:port]`, or `localhost`")
RATE = FieldType(whole(1, 100_000), "a whole number, 1 or more")
WAY = FieldType(one_of(*WAYS), "`auto`, `fabric` or `openssh`")
PATH = FieldType(matching(r"[A-Za-z0-9._/-]+"), "a path of letters, digits and `._/-` only")
ABSOLUTE = FieldType(_absolute, "an absolute path of letters, digits and `._/-` only")
CLUSTER = FieldType(_cluster_name, "a name of letters, digits and `._+-`, but not `control`")
IDENTITY = FieldType(_identity, "the path of an existing private key")
FINGERPRINT = FieldType(_FINGERPRINT, "fingerprints of host keys, `SHA256:` and 43 characters")

_REQUEST_TYPES = {name: AMOUNT if kind is SIZE else kind for name, kind in REQUEST_TYPES.items()}

_NODE_TYPES = {
    "destination": DESTINATION, "identity": IDENTITY, "dir": ABSOLUTE, "python": PATH, "via": WAY,
    "cluster": CLUSTER, "platform": PART, "speed": SPEED, "same-machine": FLAG,
    **{name: kind for name, kind in _REQUEST_TYPES.items() if name in NODE_KEYS},
}  # fmt: skip

_PILOT_TYPES = {
    "mode": MODE, "login": LOGIN, "identity": IDENTITY, "via": WAY, "partition": ENGINE_WORD,
    "account": ENGINE_WORD, "qos": ENGINE_WORD, "constraint": CONSTRAINT,
    "requirements": ONE_LINE, "rank": ONE_LINE, "concurrency-limits": LIMITS,
    "event-log": ABSOLUTE, **_REQUEST_TYPES, "wall-time": POSITIVE_TIME, "dir": ABSOLUTE,
    "python": PATH, "max-queued": COUNT, "max-running": COUNT, "max-jobs": RATE,
    "submit-rate": RATE, "idle": TIME,
    "poll": POSITIVE_TIME,
}  # fmt: skip

_CLUSTER_TYPES = {"platform": PART, "private": FLAG, "capacity": AMOUNT, "software-share": FRACTION}


def read_nodes(node: Node, reading: Reading) -> tuple[NodeEntry, ...]:
    """Read all nodes, by their names."""
    found, here = list[NodeEntry](), ""
    for key, value in named(node, "nodes", reading):
        entry = _node(key, value, reading)
        if entry is None:
            continue
        found.append(entry)
        if entry.address.kind == "ssh" or entry.same_machine:
            continue
        if here:
            reading.faults.add(key.position, f"`{key.text}` is this machine, like `{here}`, so it"
                               " would be used twice; if that is intended, give it the key"
                               " `same-machine: yes`")  # fmt: skip
        here = entry.name
    return tuple(found)


def _node(key: Scalar, node: Node, reading: Reading) -> NodeEntry | None:
    if not _is_name(key, "a node", reading):
        return None
    if isinstance(node, Scalar):
        is_here = node.is_nothing or not node.text
        destination = "" if is_here else converted(node, key.text, DESTINATION, reading)
        return None if destination is None else NodeEntry(key.text, destination)
    level = _level(key, node, "a node", NODE_KEYS, reading)
    if level is None:
        return None
    keys = list_value(level, "accept-key", FINGERPRINT)
    services = list_value(level, "services", SERVICE)
    found = values(level, _NODE_TYPES)
    if "destination" not in found and ("destination" in level or level.has_unknown):
        return None  # it may have another name there, and would count as this machine
    return NodeEntry(key.text, services=services, accept_key=keys, **found)


def read_clusters(node: Node, reading: Reading) -> tuple[ClusterEntry, ...]:
    """Read all clusters, by their names."""
    found = [_cluster(key, value, reading) for key, value in named(node, "clusters", reading)]
    return tuple(entry for entry in found if entry is not None)


def _cluster(key: Scalar, node: Node, reading: Reading) -> ClusterEntry | None:
    if not _is_name(key, "a cluster", reading):
        return None
    if isinstance(node, Scalar) and node.is_nothing:
        return ClusterEntry(key.text)
    level = _level(key, node, "a cluster", CLUSTER_KEYS, reading)
    if level is None:
        return None
    services = list_value(level, "services", SERVICE)
    return ClusterEntry(
        key.text,
        services=services,
        pilots=_pilots(level),
        accept_key=list_value(level, "accept-key", FINGERPRINT),
        **values(level, _CLUSTER_TYPES),
    )


def _pilots(level: Level) -> Pilots | None:
    """Read how pilots are requested, if the cluster is a batch system."""
    pilots = values(level, _PILOT_TYPES)
    options = list_value(level, "options", OPTION)
    if "kind" in level:
        kind = values(level, {"kind": KIND}).get("kind", KINDS[0])
        for key in (key for other in KINDS if other != kind for key in KEYS_OF_KIND[other]):
            if key in level:
                level.reading.fault(level.position(key), f"`{key}` is not for `kind: {kind}`")
        return Pilots(kind, options=options, **pilots)
    for key in PILOT_KEYS:
        if key in level:
            level.reading.fault(level.position(key), f"`{key}` needs `kind`")
    return None


def check_clusters(nodes: Node, clusters: Node, reading: Reading) -> None:
    """Record clusters of nodes that are not under `clusters` and have no node of that name."""
    if not isinstance(nodes, Mapping) or not isinstance(clusters, Mapping):
        return
    known = [*clusters.items, *nodes.items, CONTROL]
    for _, node in nodes.items.values():
        value = node.items.get("cluster") if isinstance(node, Mapping) else None
        if value is not None and isinstance(value[1], Scalar) and value[1].text not in known:
            name = value[1]
            hint = did_you_mean(name.text, clusters.items)
            message = f"`cluster`: there is no {shown(name.text)} under `clusters`{hint}"
            reading.fault(name.position, message)


def _is_name(key: Scalar, what: str, reading: Reading) -> bool:
    if _NAME.fullmatch(key.text):
        return True
    message = (
        f"{shown(key.text)} is not a valid name for {what}: use letters, digits, `.`, `_` and `-`"
    )
    reading.fault(key.position, message)
    return False


def _level(
    key: Scalar, node: Node, what: str, known: tuple[str, ...], reading: Reading
) -> Level | None:
    if isinstance(node, Mapping):
        return Level(node, what, known, reading)
    reading.fault(node.position, f"{shown(key.text)} takes keys of {what}, not {kind_of(node)}")
    return None
