"""`d0ctl doctor`: whether database, home and nodes are as they must be."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from d0ctl.cli import options, session
from d0ctl.cli.terminal.output import emit, emit_json, glyph, paint
from d0ctl.config import Home
from d0ctl.errors import ExitCode
from d0ctl.schedule.standstill import DELIBERATE
from d0ctl.store.connection import Store
from d0ctl.store.nodes.standstill import production
from d0ctl.units import clean, count, listed

if TYPE_CHECKING:
    from d0ctl.doctor.look import Look
    from d0ctl.show.why.production import Obstacle

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def doctor(
    nodes: Annotated[bool, typer.Option("--nodes", help="Check remote nodes, too.")] = False,
    checksums: Annotated[
        bool, typer.Option("--checksums", help="Read all copies, which may take hours.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Check database, home and nodes; exit 5 if there is a problem."""
    from d0ctl.doctor.look import examine

    with session.reader() as store:
        look = examine(store, far=nodes, checksums=checksums)
        stop = _standstill(store)
    if json:
        emit_json(_document(look, stop))
    else:
        _draw(look, stop, session.home())
    raise typer.Exit(ExitCode.DATABASE if look.findings else ExitCode.DONE)


def _document(look: "Look", stop: "Obstacle | None") -> dict[str, object]:
    return {
        "ok": not look.findings,
        "findings": [
            {
                "check": one.check,
                "subject": one.subject,
                "detail": one.detail,
                "advice": one.advice or None,
                "heals": one.heals,
            }
            for one in look.findings
        ],
        "nodes": look.nodes,
        "unseen": look.unseen,
        "standstill": stop.text if stop else None,
    }


def _draw(look: "Look", stop: "Obstacle | None", home: Home) -> None:
    if stop is not None:
        emit(f"{glyph('stands still')} production stands still: {clean(stop.text)}: "
             f"{'; '.join(stop.commands)}")  # fmt: skip
    for one in look.findings:
        advice = f"heals at the next `{one.advice}`" if one.heals else one.advice
        told = f"{glyph('failed')} {one.check}: {clean(one.subject)}: {clean(one.detail)}"
        emit(told + paint(f": {clean(advice)}" if advice else "", "faint"))
    unseen = [f"`{clean(name)}` was not checked: {clean(why)}"
              for name, why in sorted(look.unseen.items())]  # fmt: skip
    if look.findings:
        for text in unseen:
            emit(f"{glyph('unknown')} node {text}")
        return
    where = [f"`{clean(str(home.database))}`", "the home around it", *_nodes(look)]
    emit("; ".join([f"{glyph('successful')} no problems found: {listed(where)}", *unseen]))


def _standstill(store: Store) -> "Obstacle | None":
    """What keeps production from moving, unless a person wants it so."""
    from d0ctl.show.why.production import standstill

    found = production(store, now=time.time())
    if found.cause is None or found.cause in DELIBERATE:
        return None
    return standstill(found, time.time())


def _nodes(look: "Look") -> list[str]:
    if len(look.nodes) == 1:
        return [f"node `{clean(look.nodes[0])}`"]
    return [count(len(look.nodes), "node")] if look.nodes else []
