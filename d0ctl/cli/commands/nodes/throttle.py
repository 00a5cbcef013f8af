"""`d0ctl throttle`: how much of a node, researcher or job runs and starts at once."""

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from d0ctl.cli import changing, options, session
from d0ctl.cli.changing import Changing
from d0ctl.cli.terminal.fast_typer import group
from d0ctl.cli.terminal.output import emit, emit_json, table
from d0ctl.errors import BadUsage
from d0ctl.show import groups as lines

if TYPE_CHECKING:
    from d0ctl.cli.schemas import site

app = group("Limits of nodes, researchers and jobs: list, set.")

NONE = "none"


@app.command("list")
def list_throttles(json: options.Json = False) -> None:
    """Show every throttle, and how much of it is in use."""
    from d0ctl.store.clusters import throttles
    from d0ctl.store.nodes import registry

    rules, used = [], []
    if session.has_home():
        with session.reader() as store, store.reading():
            rules = throttles.rules(store)
            nodes = {row["id"]: row["name"] for row in registry.nodes(store)}
            used = throttles.in_use(store, nodes, now=time.time())
    if json:
        emit_json({"throttles": [_document(one, used) for one in rules]})
    elif rules:
        table([lines.throttle(one, used) for one in rules])
    else:
        emit(lines.NO_THROTTLES)


def _document(one: Any, used: list[Any]) -> "site.Throttle":
    return {
        "throttle": one.name, "max_running": one.max_running, "max_launches": one.launches,
        "per": one.per_s or None,
        "in_use": [{"name": each.name, "running": each.running, "launched": each.launched}
                   for each in used if each.throttle == one],
    }  # fmt: skip


@app.command("set", cls=Changing)
def set_throttle(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="node, researcher or job.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name or a pattern.")],
    max_running: Annotated[
        str | None,
        typer.Option("--max-running", metavar="N", help="Most packages on nodes, or `none`."),
    ] = None,
    max_launches: Annotated[
        str | None,
        typer.Option("--max-launches", metavar="N/TIME",
                     help="Most packages sent to nodes in a time, or `none`."),
    ] = None,
) -> None:  # fmt: skip
    """Set or lift limits of nodes, researchers or jobs.

    Packages that run go on. The next `site apply` puts back what the site file says.
    """
    from d0ctl.store.clusters import throttles
    from d0ctl.store.lifecycle import keep_action
    from d0ctl.store.nodes.site import setting

    rule = _rule(kind, name)
    given = {"max-running": max_running, "max-launches": max_launches}
    changes = {key: _value(key, text) for key, text in given.items() if text is not None}
    if not changes:
        raise BadUsage("say what to limit", hint=f"d0ctl throttle set {rule} --max-running 4")
    if changing.is_rehearsal():
        with changing.rehearsal() as store:
            before = (setting(store, "throttles") or {}).get(rule, {})
        emit(lines.changed(rule, before, _after(before, changes), would=True))
        return
    with session.founder() as store, store.writing():
        before = (setting(store, "throttles") or {}).get(rule, {})
        after = _after(before, changes)
        throttles.change(store, rule, after)
        keep_action(store, verb="throttle set", target=rule, actor=session.actor(),
                    note=changing.reason(), packages=0, now=time.time())  # fmt: skip
    emit(lines.changed(rule, before, after, would=False))


def _rule(kind: str, name: str) -> str:
    from d0ctl.sitefile.shares import KINDS
    from d0ctl.units import listed

    if kind not in KINDS or len(name.split()) != 1:
        raise BadUsage(f"a throttle is for a {listed(KINDS, 'or')}, not for `{kind} {name}`",
                       hint="d0ctl throttle set researcher emmy --max-running 50")  # fmt: skip
    return f"{kind} {name}"


def _value(key: str, text: str) -> Any:
    from d0ctl.sitefile.shares import THROTTLE_TYPES

    if text == NONE:
        return None
    try:
        return THROTTLE_TYPES[key].convert(text)
    except ValueError as error:
        raise BadUsage(f"--{key} takes {THROTTLE_TYPES[key].expected}, not `{text}`") from error


def _after(before: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in {**before, **changes}.items() if value is not None}
