"""`d0ctl report`: what happened in a production, in figures."""

import shlex
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec.structs import asdict

from d0ctl import select
from d0ctl.cli import options, session
from d0ctl.cli.commands.looking.pages.metrics import metrics
from d0ctl.cli.commands.looking.pages.timeline_report import timeline
from d0ctl.cli.commands.looking.usage_report import usage
from d0ctl.cli.terminal.fast_typer import group
from d0ctl.cli.terminal.output import emit_json, sheet, show
from d0ctl.errors import NotFound
from d0ctl.show.drawing.sheet import Cell
from d0ctl.show.lists import cause
from d0ctl.units import count, iso, moment

if TYPE_CHECKING:
    from d0ctl.policy.blame import Blame
    from d0ctl.schedule.disk_profile import Profile
    from d0ctl.store.views.failure_counts import Alike, Report

app = group("Report failures, usage, disk, metrics and timelines.")

_COMMANDS = {"node": "d0ctl why --node {0}", "software": "d0ctl software verify {0}",
             "input": "d0ctl why {0}"}  # fmt: skip
"""The command to type for each finding."""

Cluster = Annotated[
    str | None,
    typer.Argument(metavar="CLUSTER", help="A cluster: its cache by the hour.", show_default=False),
]

MOST_SHOWN = 8
MOST_IN_DOCUMENT = 1_000
WIDEST = 90


@app.command()
def failures(
    selector: options.MaybeTarget = None,
    status: options.Status = None,
    reason: options.Reason = None,
    node: options.Node = None,
    older_than: options.OlderThan = None,
    json: options.Json = False,
) -> None:
    """Count failures by reason, node, software and input."""
    from d0ctl.store.views.failure_counts import failures as read

    filters = (status, reason, node, older_than)
    wanted = None
    if selector is not None or any(filters):
        wanted = select.parse_all([selector or "*"], status=status or (), reason=reason, node=node,
                              older_than=older_than)  # fmt: skip
    now = time.time()
    with session.reader() as store, store.reading():
        found = read(store, wanted, now=now, limit=MOST_IN_DOCUMENT if json else MOST_SHOWN)
    if json:
        emit_json({"selector": None if wanted is None else str(wanted), **_document(found)})
    else:
        _draw(found, now)


app.command("usage")(usage)
app.command("metrics")(metrics)
app.command("timeline")(timeline)


@app.command()
def disk(cluster: Cluster = None, json: options.Json = False) -> None:
    """Show how full caches become in the next 24 hours."""
    from d0ctl.show.usage import cache_levels as card
    from d0ctl.store.clusters import disk_forecast

    now = time.time()
    with session.reader() as store, store.reading():
        found = disk_forecast.forecast(store, now=now)
    if cluster is not None:
        found = [one for one in found if one.cache.name == cluster]
        if not found:
            raise NotFound(f"there is no cluster `{cluster}` with nodes", hint="d0ctl cluster list")
    if json:
        emit_json({"caches": [_profile(one, now) for one in found]})
        return
    page = sheet()
    card.draw(page, found, now, is_whole=cluster is not None)
    show(page)


def _profile(one: "Profile", now: float) -> Any:
    at_s, peak = one.peak
    return {"cluster": one.cache.name, "space": one.cache.space, "used": one.cache.used,
            "peak": peak, "peak_at": iso(now + at_s),
            "full_at": None if one.full_s is None else iso(now + one.full_s),
            "profile": [{"at": iso(now + at), "bytes": has} for at, has in one.points]}  # fmt: skip


def _document(found: "Report") -> dict[str, Any]:
    return {
        "failures": found.count,
        "packages": found.packages,
        "failed": found.failed,
        "tried_again": found.again,
        "acknowledged": found.acknowledged,
        "cpu_hours": _hours(found.wasted),
        "blamed": [_blame(one) for one in found.blamed],
        **{f"by_{name}": [_entry(name, one) for one in rows]
           for name, rows in found.groups.items()},
    }  # fmt: skip


def _blame(one: "Blame") -> Any:
    return {one.kind: one.one.name, "failed": one.one.failed, "of": one.one.number,
            "others_failed": one.others.failed, "others": one.others.number,
            "sentence": one.sentence()}  # fmt: skip


def _entry(group: str, one: "Alike") -> dict[str, Any]:
    from d0ctl.cli.documents import acknowledgement

    seen = one.sample.acknowledged
    known = None if seen is None else acknowledgement(seen.actor, seen.at, seen.note)
    return {group: one.name, "count": one.count, "packages": one.packages,
            "acknowledged": one.acknowledged, "cpu_hours": _hours(one.wasted),
            "last": iso(one.last),
            "sample": {**asdict(one.sample), "acknowledged": known}}  # fmt: skip


def _command(one: "Blame", found: "Report") -> str:
    """Return the command for a finding; a file is named with a job in which it failed."""
    name = one.one.name
    if one.kind == "input":
        samples = (alike.sample.path for alike in found.groups["input"] if alike.name == name)
        name = f"{next(samples, '*').partition('/')[0]}:{name}"
    return _COMMANDS[one.kind].format(shlex.quote(name))


def _hours(seconds: float) -> float:
    return round(seconds / 3600, 4)


def _draw(found: "Report", now: float) -> None:
    page = sheet()
    if not found.count:
        page.say("nothing has failed")
        show(page)
        return
    page.say(f"{count(found.count, 'failure')} of {count(found.packages, 'package')}, "
             f"{count(found.again)} tried again by the policy, "
             f"{_hours(found.wasted):,.2f} CPU hours wasted")  # fmt: skip
    for one in found.blamed:
        page.say(one.sentence())
        page.add((f"  {_command(one, found)}", "faint"))
    for key, rows in found.groups.items():
        if rows:
            page.head(f"by {key}")
            page.table([_row(one, now) for one in rows])
            if len(rows) == MOST_SHOWN:
                page.add(("  and more: --json prints all", "faint"))
    show(page)


def _cut(text: str | None) -> str | None:
    """As much of a message as fits into a table."""
    return text if text is None or len(text) <= WIDEST else f"{text[:WIDEST]}..."


def _row(one: "Alike", now: float) -> list[Cell]:
    sample = one.sample
    return [
        one.name, count(one.count, "failure"), count(one.packages, "package"),
        f"{one.acknowledged:,} acknowledged" if one.acknowledged else "",
        f"{_hours(one.wasted):,.2f} CPU h", f"last {moment(one.last, now)}",
        f"{sample.path}: {cause(sample.reason, _cut(sample.message))}",
    ]  # fmt: skip
