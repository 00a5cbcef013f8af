"""node add: add a node, once its host key is trusted and it answers."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import Any

from d0ctl.actions import site_keys
from d0ctl.actions.action import Action, Author, NodeRequest, Plan
from d0ctl.actions.option import COUNT, NAMES, NUMBER, Options, flag, maybe_argument, value, values
from d0ctl.errors import BadUsage, Refused
from d0ctl.model import Address
from d0ctl.store.connection import Store
from d0ctl.store.nodes import contact, registry
from d0ctl.units import count, size

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", re.ASCII)
_PLAIN = re.compile(r"[A-Za-z0-9._/-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class AddOptions(Options):
    """How a node is reached, and its settings."""

    destination: str | None = maybe_argument(
        "[user@]host[:port]", "Address of the node, as for ssh.", log=lambda text: [text]
    )
    cpus: int | None = value(
        "--cpus",
        "N",
        "CPUs that packages may use (default: all).",
        type=NUMBER,
        example="8",
        log=NUMBER.write,
    )
    gpus: int | None = value(
        "--gpus",
        "N",
        "Number of GPUs (default: the node's).",
        type=COUNT,
        example="4",
        log=COUNT.write,
    )
    identity: str | None = value(
        "--identity", "FILE", "Private key to log in with (default: ssh's)."
    )
    accept_keys: tuple[str, ...] = values(
        "--accept-key", "SHA256:...", "Fingerprint of a host key to trust; may be repeated.",
        none=tuple, type=NAMES, example="SHA256:...",
    )  # fmt: skip
    directory: str | None = value(
        "--dir", "DIR", "Folder for d0ctl's files on the node (default: ~/.d0ctl)."
    )
    python: str | None = value(
        "--python", "PATH", "Path of Python 3.6 or newer on the node (default: detected)."
    )
    via: str | None = value("--via", "WAY", "Program for the connection: auto, fabric or openssh.")
    local: bool = flag("--local", "The node is this machine.")
    cluster: str | None = value(
        "--cluster", "NAME", "Cluster whose cache it shares (default: its own)."
    )
    new: bool = flag("--new", "Make the cluster if there is none of that name.")
    same_machine: bool = flag("--same-machine", "Allow a machine that is a node already.")
    facts: Mapping[str, Any] = field(default_factory=dict)
    """The facts of the node; `meet` reads them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddPlan(Plan):
    """The node that would be added."""

    address: Address
    is_new_cluster: bool = False
    """Whether its cluster is made, too."""


def address(request: NodeRequest[AddOptions]) -> Address:
    """Return the address given by the options. Raises BadUsage."""
    name, options = request.target.brief, request.options
    destination, local, via = options.destination, options.local, options.via or "auto"
    identity, directory, python = options.identity, options.directory, options.python
    if not _NAME.fullmatch(name):
        raise BadUsage(f"`{name}` can't be a node's name", hint="letters, digits, `.`, `_` and `-`")
    if destination and local:
        raise BadUsage(f"`{name}` is either this machine or `{destination}`",
                       hint="leave out --local, or the destination")  # fmt: skip
    if not destination and not local:
        raise BadUsage(f"no destination for `{name}`", hint=f"d0ctl node add {name} [user@]host   "
                       f"# or --local for this machine")  # fmt: skip
    if via not in ("auto", "fabric", "openssh"):
        raise BadUsage(f"--via is auto, fabric or openssh, not `{via}`")
    for option, path in (("--dir", directory), ("--python", python)):
        if path and not _PLAIN.fullmatch(path):
            raise BadUsage(f"{option} `{path}` may only contain letters, digits and `._/-`")
    if directory and not directory.startswith("/"):
        raise BadUsage(f"--dir `{directory}` is not absolute")
    if identity:
        _check_identity(identity)
    return Address(
        name=name,
        kind="ssh" if destination else "local",
        destination=destination or "",
        identity=str(Path(identity).expanduser().absolute()) if identity else "",
        directory=directory or "",
        python=python or "",
        via=via,
    )


def _check_identity(identity: str) -> None:
    """Raise BadUsage if there is no such file, or if it is the public part of a key."""
    from d0ctl.sitefile.nodes import private_beside  # late: it reads whole site files

    path = Path(identity).expanduser()
    if not path.is_file():
        raise BadUsage(f"`--identity`: there is no file `{identity}`")
    if private := private_beside(path):
        raise BadUsage(f"`--identity`: `{identity}` is a public key",
                       hint=f"--identity {quote(str(private))}")  # fmt: skip


def meet(store: Store, request: NodeRequest[AddOptions], now: float) -> NodeRequest[AddOptions]:
    """Reach the node and read its facts. Raises NodeUnreachable, and what `plan` raises."""
    from d0ctl.actions import meeting

    options = request.options
    where = plan(store, request, now).address
    unnamed = replace(request, options=replace(options, accept_keys=()))
    advice = meeting.by_command(unnamed.arguments())
    facts = meeting.meet(store, where, options.accept_keys, advice, request.person)
    meeting.check_accepted(store.home, where, options.accept_keys, advice)
    return replace(request, options=replace(options, facts=facts))


def plan(store: Store, request: NodeRequest[AddOptions], now: float) -> AddPlan:
    """Plan to add it. Raises Refused if its name or machine is in use, NotFound for a cluster."""
    where, options = address(request), request.options
    registry.check_new(store, where.name)
    is_new_cluster = site_keys.check_cluster(store, options.cluster, new=options.new)
    if not options.same_machine:
        meant = replace(request, options=replace(options, same_machine=True, accept_keys=()))
        registry.check_machine(store, where.name, is_local=where.kind == "local",
                               facts=options.facts,
                               allow=f"{meant.command()}   # if that is intended")  # fmt: skip
    return AddPlan(request=request, address=where, is_new_cluster=is_new_cluster)


def add(store: Store, plan: AddPlan, by: Author) -> None:
    """Add the node with its facts; couriers connect to it next."""
    options = plan.request.options
    node = registry.add(store, plan.address, cpus=options.cpus, gpus=options.gpus,
                        cluster=options.cluster)  # fmt: skip
    if why := contact.up(store, node, options.facts, now=by.now):
        raise Refused(why)
    contact.unknown(store, node, now=by.now)


def describe(plan: AddPlan) -> Iterator[str]:
    """Say which node would be added."""
    where, accepted = "this machine", ""
    if plan.address.destination:
        where, accepted = f"`{plan.address.destination}`", "its host key is accepted and "
    yield f"would add `{plan.address.name}`: {where}, if {accepted}it answers"
    if plan.is_new_cluster:
        yield f"would make the cluster `{plan.request.options.cluster}`"


def report(plan: AddPlan) -> Iterator[str]:
    """Say what the node is."""
    facts = plan.request.options.facts
    cpus = plan.request.options.cpus or int(facts.get("cpus") or 1)
    gpus = facts.get("gpus") if plan.request.options.gpus is None else plan.request.options.gpus
    parts = (f"{facts.get('hostname')}", f"{facts.get('os') or facts.get('system')}",
             count(cpus, "cpu"), size(facts.get("memory")),
             *([count(gpus, "GPU")] if gpus else []), f"python {facts.get('python')}")  # fmt: skip
    yield f"added `{plan.address.name}`: {', '.join(parts)}"
    if plan.is_new_cluster:
        yield f"made the cluster `{plan.request.options.cluster}`"


ACTION = Action(
    name="node add",
    help="Add a node, once its host key is trusted and it answers.",
    example="farm02 emmy@farm02.example.org --cpus 8",
    exit_status="0 done, 2 bad usage, 3 no such cluster, 4 refused, 6 the node can't be reached",
    past="added",
    options=AddOptions,
    plan=plan,
    meet=meet,
    act=add,
    undo=lambda plan: f"d0ctl node remove {plan.address.name}",
    describe=describe,
    report=report,
    level="new node",
    may_be_first=True,
    key="A",
    title="add: a node",
)
