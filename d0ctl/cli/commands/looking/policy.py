"""`d0ctl policy`: what follows which failure, and who said so."""

import time
from typing import TYPE_CHECKING

from d0ctl import select
from d0ctl.cli import options, session
from d0ctl.cli.terminal import output
from d0ctl.cli.terminal.fast_typer import group

if TYPE_CHECKING:
    from d0ctl.cli.schemas import reports
    from d0ctl.store.views.policies import InForce

app = group("What d0ctl does after each kind of failure: show.")


@app.command()
def show(selector: options.MaybeTarget = None, json: options.Json = False) -> None:
    """Show what d0ctl does after each kind of failure, and who said so."""
    wanted = None if selector is None else select.parse(selector)
    found = _read(wanted)
    if json:
        output.emit_json({"selector": selector, "policies": [_document(one) for one in found]})
        return
    from d0ctl.show.cards import policy

    page = output.sheet()
    policy.draw(page, found)
    output.show(page)


def _read(wanted: select.Selector | None) -> "list[InForce]":
    from d0ctl.policy.rules import combine
    from d0ctl.store.views.policies import InForce, in_force

    if wanted is None and not session.has_home():
        return [InForce(combine([]))]
    with session.reader() as store, store.reading():
        return in_force(store, wanted, now=time.time())


def _document(one: "InForce") -> "reports.Policy":
    said: dict[str, dict[str, reports.Value]] = {
        reason: {key: {"value": value, "from": origin} for key, (value, origin) in keys.items()}
        for reason, keys in one.policy.said.items()
    }
    return {"packages": one.packages, "sample": one.sample, "software": list(one.software),
            "never": said.pop("never"), "rules": said}  # fmt: skip
