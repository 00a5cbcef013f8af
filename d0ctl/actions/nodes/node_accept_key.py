"""node accept-key: trust the new host key of a node."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from d0ctl.actions.action import Action, Author, NodeRequest, Plan
from d0ctl.actions.option import Options, arguments, flag
from d0ctl.errors import BadUsage, Refused
from d0ctl.store.connection import Store
from d0ctl.store.nodes import contact, registry


@dataclass(frozen=True, slots=True)
class Meeting:
    """The result of reaching the node."""

    accepted: tuple[str, ...] = ()
    is_other_machine: bool = False


@dataclass(frozen=True, slots=True)
class AcceptOptions(Options):
    """Options of node accept-key."""

    fingerprints: tuple[str, ...] = arguments(
        "SHA256:...", "The host key's fingerprint (default: ask at the terminal)."
    )
    reinstalled: bool = flag(
        "--reinstalled", "The host was reinstalled: its files and attempts are gone."
    )
    met: Meeting = field(default_factory=Meeting)
    """The result; `meet` sets it."""


def meet(
    store: Store, request: NodeRequest[AcceptOptions], now: float
) -> NodeRequest[AcceptOptions]:
    """Reach the node, trusting the keys that a person trusts.

    Raises NodeUnreachable, also if it has a key other than those named, and BadUsage if
    it has none.
    """
    from d0ctl.actions import meeting

    row = registry.named(store, request.target.brief)
    _check(request)
    address = registry.address_of(row)
    if not address.destination:
        raise BadUsage(f"`{address.name}` is reached without ssh, so it has no host key")
    unnamed = replace(request, options=replace(request.options, fingerprints=()))
    advice = meeting.by_command(unnamed.arguments(), option=())
    accepted: list[str] = []
    facts = meeting.meet(
        store, address, request.options.fingerprints, advice, request.person,
        on_accepted=lambda host, key: accepted.append(f"accepted the host key of `{host}`: {key}"),
    )  # fmt: skip
    meeting.check_named(store, address, request.options.fingerprints)
    met = Meeting(tuple(accepted), contact.is_other_machine(row, facts))
    return replace(request, options=replace(request.options, met=met))


def plan(store: Store, request: NodeRequest[AcceptOptions], now: float) -> Plan:
    """Plan to record that the key is trusted. Raises NotFound and BadUsage."""
    registry.named(store, request.target.brief)
    _check(request)
    met = request.options.met
    is_new = met.is_other_machine and request.options.reinstalled
    return Plan(request=request, is_empty=not met.accepted and not is_new)


def _check(request: NodeRequest[AcceptOptions]) -> None:
    """Raise BadUsage for a text that is no fingerprint."""
    from d0ctl.sitefile.nodes import FINGERPRINT  # reads job files, too

    for text in request.options.fingerprints:
        try:
            FINGERPRINT.convert(text)
        except ValueError:
            hint = f"d0ctl node check {request.target.brief} prints it"
            message = f"`{text}` is no fingerprint: write `SHA256:` and 43 characters"
            raise BadUsage(message, hint=hint) from None


def accept(store: Store, plan: Plan, by: Author) -> None:
    """Have the node tried at once; count the files of a reinstalled machine as lost."""
    contact.try_now(store, registry.named(store, plan.request.target.brief).id)
    if plan.request.options.met.is_other_machine and plan.request.options.reinstalled:
        contact.forget_machine(store, plan.request.target.brief, now=by.now)


def refuse_other(store: Store, plan: Plan, now: float) -> None:
    """Raise Refused if the node is another machine than before, unless that is intended."""
    name, options = plan.request.target.brief, plan.request.options
    if options.met.is_other_machine and not options.reinstalled:
        raise Refused(
            f"`{name}` is a different machine: its machine-id has changed",
            hint=f"d0ctl node accept-key {name} --reinstalled   "
            "# if it was reinstalled: its files and attempts count as lost",
            details=options.met.accepted,
        )


def describe(plan: Plan) -> Iterator[str]:
    """Say what would be asked of the node."""
    yield (f"would ask `{plan.request.target.brief}` for its host key, "
           "and trust it if it has the given fingerprint")  # fmt: skip


def report(plan: Plan) -> Iterator[str]:
    """Say what is trusted now."""
    name = plan.request.target.brief
    yield from plan.request.options.met.accepted
    if plan.request.options.met.is_other_machine:
        yield f"`{name}` is a new machine now: files that only the old one had are made again"
    elif plan.is_empty:
        yield f"nothing to do: the host key of `{name}` is trusted already"
    if plan.request.options.reinstalled and not plan.request.options.met.is_other_machine:
        yield (f"`{name}` has the same machine-id as before, so its files and attempts count as "
               "there until they are found missing")  # fmt: skip


ACTION = Action(
    name="node accept-key",
    help="Trust a node's new host key; its packages stay as they are.",
    example="farm02 SHA256:Jx1... --reason 'new disk'",
    exit_status="0 done, 3 no such node, 4 another machine, 6 not reached or not trusted",
    past="accepted the host key of",
    options=AcceptOptions,
    plan=plan,
    meet=meet,
    act=accept,
    follow=refuse_other,
    describe=describe,
    report=report,
    level="node",
    key="K",
    title="accept-key: trust its new host key",
)
