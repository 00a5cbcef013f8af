"""`d0ctl policy`: what d0ctl does after each failure, and which file says so."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from d0ctl import select
from d0ctl.cli import options, session
from d0ctl.cli.commands.looking.usage_report import mention_archives
from d0ctl.cli.terminal import output
from d0ctl.cli.terminal.fast_typer import group
from d0ctl.cli.terminal.periods import period

if TYPE_CHECKING:
    from d0ctl.cli.schemas import reports
    from d0ctl.store.views.policies import InForce

app = group("Show what d0ctl does after failures, or try other rules.")

TrialFile = Annotated[Path, typer.Argument(metavar="FILE", show_default=False,
                                           help="A site file with another `policy`.")]  # fmt: skip
Since = Annotated[str, typer.Option("--since", metavar="TIME",
                                    help="Age of the oldest failures to judge.")]  # fmt: skip


@app.command()
def show(selector: options.MaybeTarget = None, json: options.Json = False) -> None:
    """Show what d0ctl does after a failure, and which file says so."""
    wanted = None if selector is None else select.parse(selector)
    in_force = _read(wanted)
    if json:
        output.emit_json(
            {"selector": selector, "policies": [_document(policy) for policy in in_force]}
        )
        return
    from d0ctl.show.cards import policy

    page = output.sheet()
    policy.draw(page, in_force)
    output.show(page)


@app.command("try")
def try_policy(file: TrialFile, since: Since = "30d", json: options.Json = False) -> None:
    """Judge recorded failures by the policy of another site file."""
    from d0ctl.show.cards import policy
    from d0ctl.sitefile import reader
    from d0ctl.store.nodes.site import setting
    from d0ctl.store.views.policies import try_out

    length = period(since)
    began = time.time() - length
    settings = reader.read(file).settings
    with session.reader() as store, store.reading():
        found = try_out(store, settings.get("policy") or {}, since=began)
        has_new_rules = (settings.get("log-rules") or []) != (setting(store, "log-rules") or [])
    if json:
        output.emit_json({"since": length, "reasons": [
            {"reason": trial.reason, "count": trial.count, "happened": dict(trial.happened),
             "would": dict(trial.would)} for trial in found]})  # fmt: skip
        return
    page = output.sheet()
    policy.draw_trial(page, found, has_new_rules=has_new_rules)
    output.show(page)
    mention_archives(began)


def _read(wanted: select.Selector | None) -> "list[InForce]":
    from d0ctl.policy.rules import combine
    from d0ctl.store.views.policies import InForce, in_force

    if wanted is None and not session.has_home():
        return [InForce(combine([]))]
    with session.reader() as store, store.reading():
        return in_force(store, wanted, now=time.time())


def _document(entry: "InForce") -> "reports.Policy":
    rules: dict[str, dict[str, reports.Value]] = {
        reason: {key: {"value": value, "from": origin} for key, (value, origin) in keys.items()}
        for reason, keys in entry.policy.said.items()
    }
    return {"packages": entry.packages, "sample": entry.sample, "software": list(entry.software),
            "never": rules.pop("never"), "rules": rules}  # fmt: skip
