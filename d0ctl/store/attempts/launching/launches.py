"""From a decision to a launched attempt, and the answers of nodes about launches."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from d0ctl import site_key
from d0ctl.jobfile.language.file_names import local_name
from d0ctl.jobfile.language.quoting import arguments_with_inputs, with_inputs
from d0ctl.site_key import SiteKey
from d0ctl.store import input_stream
from d0ctl.store.attempts import black_holes, chains, failures
from d0ctl.store.attempts.history import run_time_history
from d0ctl.store.attempts.launching import container, input_sources, job_state
from d0ctl.store.attempts.launching.software_env import equipped
from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes.catalogue import Catalogue
from d0ctl.store.nodes.site import default

Launch = dict[str, Any]
"""Everything that a wrapper must know of its attempt (docs/protocol.md)."""


def launch(
    store: Store, nodes: Iterable[int], *, limit: int, now: float
) -> dict[int, list[Launch]]:
    """assigned -> starting for the packages of these nodes whose inputs are there.

    The result, by node, may be sent once the transaction around it has committed.
    """
    assigned = {row[0] for row in store.rows("nodes_with_assigned")}
    decided = [(row[0], node) for node in nodes if node in assigned
               for row in store.rows("launchable_packages", node=node, limit=limit)]  # fmt: skip
    if not decided:
        return {}
    store.empty("decision")
    store.change_many("decide", decided)
    store.change("begin_attempts", now=now)
    store.change("purge_left")
    store.change("forget_left")
    store.change("launch_packages", now=now)
    input_stream.begin(store)
    store.change("keep_left_out")
    return details(store)


def launch_again(store: Store, node: int, attempts: Iterable[int]) -> list[Launch]:
    """Return the launches of these attempts again, for a node that may never have received them."""
    store.empty("decision")
    for attempt in attempts:
        store.change("choose_starting", node=node, attempt=attempt)
    return details(store).get(node, [])


def details(store: Store) -> dict[int, list[Launch]]:
    """Return the launches of the assigned packages, by node."""
    key = site_key.read(store.home)
    binaries = _by_package(store.rows("launch_binaries"))
    inputs = _by_package(store.rows("launch_inputs"))
    outputs = _by_package(store.rows("launch_outputs"))
    previous_attempts, rules = (
        {**chains.twins(store), **chains.previous_attempts(store)},
        chains.site_rules(store),
    )
    catalogue, site, nice = Catalogue(store), run_time_history.site(store), default(store, "nice")
    leave = default(store, "keep-failed") > 0
    carried = input_sources.Rules(store)
    launches: dict[int, list[Launch]] = {}
    for row in store.rows("launch_details"):
        package = row["package_id"]
        launch = _launch(
            row,
            key,
            catalogue,
            nice,
            binaries[package],
            inputs[package],
            outputs[package],
            previous_attempts.get(package),
        )
        if row["final"]:
            launch["environment"].update(job_state.variables(store, row["job_id"]))
        if leave:
            launch["leave"] = True
        carried.add(launch)
        launch = chains.with_site_rules(launch, *rules)
        if any(binary["image"] for binary in binaries[package]):
            engine = default(store, "container")
            launch["binaries"] = [
                container.in_container(made, binary["image"], engine) if binary["image"] else made
                for made, binary in zip(launch["binaries"], binaries[package], strict=True)
            ]
        guarded_launch = run_time_history.guarded(launch, row, binaries[package], site)
        launches.setdefault(row["node_id"], []).append(guarded_launch)
    return launches


def _by_package(rows: Iterable[Row]) -> defaultdict[int, list[Row]]:
    grouped: defaultdict[int, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[row["package_id"]].append(row)
    return grouped


def _launch(
    package: Row,
    key: SiteKey,
    catalogue: Catalogue,
    nice: int,
    binaries: Sequence[Row],
    inputs: Sequence[Row],
    outputs: Sequence[Row],
    previous_attempts: list[dict[str, Any]] | None,
) -> Launch:
    attempt = package["attempt_id"]
    launch: Launch = {
        "attempt": attempt,
        "number": package["number"],
        "token": key.token(attempt),
        "path": package["path"],
        "cpus": package["cpus"],
        "cpu": package["cpu"],
        "environment": json.loads(package["environment"] or "{}"),
        "inputs": input_sources.links(inputs),
        "binaries": [
            equipped(_binary(row, inputs, outputs), row, package, inputs, catalogue)
            for row in binaries
        ],
        "keep": [row["name"] for row in outputs],
        "nice": nice,
    }
    if deliver := input_sources.deliveries(outputs, package):
        launch["deliver"] = deliver
    if package["gpus"] and not package["delivers"]:
        launch["gpus"] = package["gpus"]
    if package["wrapper"] is not None:
        launch["startup"] = {
            "path": package["wrapper"],
            "parameters": json.loads(package["wrapper_parameters"] or "{}"),
        }
    if previous_attempts:
        launch["previous"] = previous_attempts
    if package["delivers"]:
        launch["delivers"] = True
    if package["early"] == 1:
        launch["early"] = True
    if package["accept"] is not None:
        launch.update(accept=package["accept"], inputs=[], early=False)
    return launch


def _binary(binary: Row, inputs: Sequence[Row], outputs: Sequence[Row]) -> dict[str, Any]:
    names = [
        row["name"] if row["own"] else local_name(row["name"], row["local"])
        for row in inputs
        if row["binary"] == binary["seq"]
    ]
    stdin = binary["stdin"]
    names = [name for name in names if name != stdin]
    script, argv = binary["script"], binary["argv"]
    made = [row for row in outputs if row["binary"] == binary["seq"]]
    launch = {
        "name": binary["name"],
        "script": None if script is None else with_inputs(script, names),
        "shell": binary["shell"],
        "argv": None if argv is None else arguments_with_inputs(json.loads(argv), names),
        "inputs": names,
        "outputs": chains.outputs(made),
        **chains.verification(binary),
    }
    if stdin is not None:
        launch["stdin"] = stdin
    if binary["check"] is not None:
        launch["check"] = with_inputs(binary["check"], names)
    if binary["progress"] is not None:
        launch["progress"] = _progress(json.loads(binary["progress"]), made)
    if binary["runtime"] is not None:
        launch["runtime"] = binary["runtime"]
    if binary["work_size"] is not None:
        launch["work_size"] = binary["work_size"]
    return launch


def _progress(rule: dict[str, Any], made: Sequence[Row]) -> dict[str, Any]:
    """Return a rule for progress; an output without a size is compared with its smallest one."""
    sizes = {row["name"]: row["size_asked"] for row in made}
    return {"of": sizes.get(rule.get("output", "")), **rule}


MOST_UNKNOWN = 1_000
"""How many unknown attempts a node is asked to remove after one list."""


class Reconciled(Struct, frozen=True):
    """The requests to a node after it has listed its attempts.

    It has `lost` those that it had and has no longer; `dead` are those whose wrappers ended without
    a report, and `ask` those that may have begun before a restore, or are suspended.
    """

    launch: list[Launch]
    resend: list[int]
    kill: list[int]
    lost: list[int]
    dead: list[int]
    ask: list[int]


def reconcile(store: Store, node: int, listed: dict[int, str], *, now: float) -> Reconciled:
    """Compare a node's list of attempts with those that should be alive there.

    Attempts that were never accepted are launched again there; those that it runs without need end.
    """
    store.change("regain_contact", node=node, now=now)
    input_stream.again(store, node)
    expected = {row["attempt_id"]: row for row in store.rows("live_attempts", node=node)}
    absent = [attempt for attempt in expected if attempt not in listed]
    never_there = [a for a in absent if expected[a]["wrapper_started"] is None]
    again = [a for a in never_there if expected[a]["phase"] != "killing"]
    for attempt in set(never_there) - set(again):
        end_unstarted(store, node, [attempt], now=now)
    purge_unknown(store, node, (a for a in listed if listed[a] != "running" and a not in expected))
    return Reconciled(
        launch=launch_again(store, node, again),
        resend=[a for a, state in listed.items() if state == "ended" and a in expected],
        kill=[a for a, state in listed.items() if state == "running" and a not in expected],
        lost=[a for a in absent if a not in never_there],
        dead=[a for a, state in listed.items() if state == "dead" and a in expected],
        ask=[a for a in expected if expected[a]["is_uncertain"] and listed.get(a) == "running"],
    )


def purge_unknown(store: Store, node: int, attempts: Iterable[int]) -> None:
    """Have a node remove unknown attempts; if there are many, the others after its next list."""
    unknown = 0
    for attempt in attempts:
        unknown += store.change("purge_unknown", node=node, attempt=attempt)
        if unknown >= MOST_UNKNOWN:
            return


def refuse(store: Store, node: int, attempt: int, reason: str, message: str, *, now: float) -> None:
    """starting -> cooloff or held: no wrapper was started, so this is no failure of the package."""
    if failures.refused(store, node, attempt, reason, message, now=now):
        store.change("refuse_attempt", attempt=attempt, reason=reason, message=message, now=now)
        black_holes.refused(store, attempt, now=now)
    else:
        end_unstarted(store, node, [attempt], now=now)


def end_unstarted(store: Store, node: int, attempts: Iterable[int], *, now: float) -> None:
    """killing -> canceled, or starting -> as before if paused, as a node does not have these."""
    for attempt in attempts:
        if store.change("cancel_absent", node=node, attempt=attempt, now=now):
            store.change("end_absent", attempt=attempt, now=now)
        elif store.change("give_back_absent", node=node, attempt=attempt, now=now):
            store.change("end_given_back", attempt=attempt, now=now)


def killing(store: Store, node: int) -> dict[int, str]:
    """Return attempts to end on a node, and the request that says how."""
    return {row[0]: str(row[1]) for row in store.rows("killing_attempts", node=node)}


def unreachable(store: Store, node: int) -> list[int]:
    """Return attempts that may continue on a node out of contact."""
    return [row[0] for row in store.rows("unreachable_attempts", node=node)]


def requested(store: Store, node: int) -> dict[int, str]:
    """Return attempts of a node that should `pause` or `resume`, and have not yet."""
    return {row[0]: row[1] for row in store.rows("requested_attempts", node=node)}


def settle_resumed(store: Store, attempts: Iterable[int]) -> None:
    """Settle attempts that should resume and were never suspended: they have nothing to report."""
    for attempt in attempts:
        store.change("settle_resumed", attempt=attempt)


def node_of(store: Store, attempt: int) -> int | None:
    """Return the node of an attempt that has not ended."""
    node: int | None = store.value("live_node", attempt=attempt)
    return node


def node_name(store: Store, attempt: int) -> str | None:
    """Return the name of the node of an attempt."""
    name: str | None = store.value("node_of_attempt", attempt=attempt)
    return name


def live(store: Store, node: int) -> list[Row]:
    """Return the attempts that should be alive on a node, and when their wrappers started."""
    return store.rows("live_attempts", node=node)
