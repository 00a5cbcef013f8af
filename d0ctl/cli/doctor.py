"""`d0ctl doctor`: whether database, home and nodes are as they must be."""

from typing import TYPE_CHECKING, Annotated

import typer

from d0ctl.cli import options, session
from d0ctl.cli.output import emit, emit_json, glyph, paint, say
from d0ctl.config import Home
from d0ctl.errors import ExitCode
from d0ctl.format import clean, count, listed

if TYPE_CHECKING:
    from d0ctl.doctor.look import Look

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def doctor(
    nodes: Annotated[
        bool, typer.Option("--nodes", help="Look at what lies on all nodes, not on this one alone.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Check database, home and nodes: 5 if something is wrong."""
    from d0ctl.doctor.look import examine

    with session.reader() as store:
        look = examine(store, far=nodes)
    if json:
        emit_json(_document(look))
    else:
        _draw(look, session.home())
    raise typer.Exit(ExitCode.DATABASE if look.findings else ExitCode.DONE)


def _document(look: "Look") -> dict[str, object]:
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
    }


def _draw(look: "Look", home: Home) -> None:
    for one in look.findings:
        advice = f"heals at the next `{one.advice}`" if one.heals else one.advice
        told = f"{glyph('failed')} {one.check}: {clean(one.subject)}: {clean(one.detail)}"
        emit(told + paint(f": {clean(advice)}" if advice else "", "dim"))
    for name, why in sorted(look.unseen.items()):
        say(f"d0ctl: node `{clean(name)}` was not looked at: {clean(why)}")
    if not look.findings:
        where = [f"`{clean(str(home.database))}`", "the home around it", *_nodes(look)]
        emit(f"{glyph('successful')} all is well: {listed(where)}")


def _nodes(look: "Look") -> list[str]:
    if len(look.nodes) == 1:
        return [f"node `{clean(look.nodes[0])}`"]
    return [count(len(look.nodes), "node")] if look.nodes else []
