"""What TAB offers, for arguments and options of Typer."""

from collections.abc import Callable
from typing import TypeAlias

import typer

from d0ctl.cli import session
from d0ctl.cli.terminal import offers

Completer: TypeAlias = Callable[[typer.Context, str], list[str]]


def _completer(offer: offers.Offer) -> Completer:
    def complete(context: typer.Context, incomplete: str) -> list[str]:
        asked = context.find_root().params.get("home")
        if asked is not None:
            session.settings.home = asked
        return offer(incomplete)

    return complete


selectors = _completer(offers.selectors)
job_names = _completer(offers.job_names)
node_names = _completer(offers.node_names)
states = _completer(offers.states)
reasons = _completer(offers.reasons)
ends = _completer(offers.ends)
