"""`d0ctl report`: what happened in a production, in figures."""

import shlex
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec.structs import asdict
from typer.core import TyperGroup

from d0ctl import select
from d0ctl.cli import options, session
from d0ctl.cli.commands.looking.pages.metrics import metrics
from d0ctl.cli.commands.looking.pages.timeline_report import timeline
from d0ctl.cli.commands.looking.usage_report import Since, mention_archives, usage
from d0ctl.cli.terminal.fast_typer import group
from d0ctl.cli.terminal.output import emit_json, sheet, show
from d0ctl.cli.terminal.periods import length
from d0ctl.errors import BadUsage, D0Error, NotFound
from d0ctl.jobfile.yaml.faults import near
from d0ctl.show.usage import failures_page
from d0ctl.show.usage.failures_page import MOST_SHOWN, hours
from d0ctl.store.views import browse, names
from d0ctl.units import iso

if TYPE_CHECKING:
    from d0ctl.policy.blame import Blame
    from d0ctl.schedule.disk_profile import Profile
    from d0ctl.store.views.failure_counts import Alike, Report


class Reports(TyperGroup):
    """The reports; a job in their place is answered with a report on it."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the report. Raises BadUsage for what is neither a report nor nearly one."""
        word = args[0]
        is_near = word.startswith("-") or near(word, self.list_commands(ctx))
        if not is_near and not ctx.resilient_parsing:  # TAB asks, too
            raise _no_report(word)
        return super().resolve_command(ctx, args)


def _no_report(word: str) -> BadUsage:
    job = select.split(select.with_slashes(word))[0].partition("/")[0]
    of_word = shlex.join(["d0ctl", "report", "failures", word])
    with suppress(D0Error), session.reader() as store:
        archived = None if browse.has_job(store, job) else names.archived(store, job)
        if archived or browse.has_job(store, job):
            in_archive = f" --archive {shlex.quote(archived.archive)}" if archived else ""
            return BadUsage(f"which report on `{word}`?", hint=f"{of_word}{in_archive}")
    return BadUsage(f"there is no report and no job `{word}`", hint="d0ctl report --help")


app = group("Report failures, usage, disk, metrics and timelines.", Reports)

Cluster = Annotated[
    str | None,
    typer.Argument(
        metavar="CLUSTER",
        help="A cluster, or a node of it: its cache by the hour.",
        show_default=False,
    ),
]

MOST_IN_DOCUMENT = 1_000


@app.command()
def failures(
    selector: options.MaybeTarget = None,
    status: options.Status = None,
    reason: options.Reason = None,
    node: options.Node = None,
    older_than: options.OlderThan = None,
    since: Since = None,
    json: options.Json = False,
) -> None:
    """Count failures by reason, node, software and input."""
    from d0ctl.store.views import names
    from d0ctl.store.views.failure_counts import failures as read

    filters = (status, reason, node, older_than)
    wanted = None
    if selector is not None or any(filters):
        wanted = select.parse_all([selector or "*"], status=status or (), reason=reason, node=node,
                              older_than=older_than)  # fmt: skip
    now, period = time.time(), length(since)
    began = 0.0 if period is None else now - period
    with session.reader() as store, store.reading():
        limit = MOST_IN_DOCUMENT if json else MOST_SHOWN + 1
        report = read(store, wanted, now=now, limit=limit, apart=not json, since=began)
        known = {"node": names.nodes(store), "software": names.software(store)}
    if json:
        emit_json({"selector": None if wanted is None else str(wanted), **_document(report)})
    else:
        page = sheet()
        is_filtered = any(filters) or period is not None
        failures_page.draw(page, report, selector, now, known, is_filtered=is_filtered)
        show(page)
        if selector is None:
            mention_archives(began)


app.command("usage")(usage)
app.command("metrics")(metrics)
app.command("timeline")(timeline)


@app.command()
def disk(cluster: Cluster = None, json: options.Json = False) -> None:
    """Show how full caches become in the next 24 hours."""
    from d0ctl.show.usage import cache_levels as card
    from d0ctl.store.clusters import disk_forecast
    from d0ctl.store.nodes import registry

    now = time.time()
    with session.reader() as store, store.reading():
        profiles = disk_forecast.forecast(store, now=now)
        of_nodes = {row.name: row.cluster for row in registry.nodes(store)} if cluster else {}
    if cluster is not None:
        if cluster not in [profile.cache.name for profile in profiles]:
            cluster = of_nodes.get(cluster, cluster)
        profiles = [profile for profile in profiles if profile.cache.name == cluster]
        if not profiles:
            raise NotFound(
                f"there is no node `{cluster}`, nor a cluster of that name with nodes",
                hint="d0ctl cluster list",
            )
    if json:
        emit_json({"caches": [_profile(profile, now) for profile in profiles]})
        return
    page = sheet()
    card.draw(page, profiles, now, is_whole=cluster is not None)
    show(page)


def _profile(profile: "Profile", now: float) -> Any:
    at_s, peak = profile.peak
    cache = profile.cache
    return {"cluster": cache.name, "space": cache.space, "holds": cache.holds, "used": cache.used,
            "peak": peak, "peak_at": iso(now + at_s),
            "full_at": None if profile.full_s is None else iso(now + profile.full_s),
            "profile": [{"at": iso(now + at), "bytes": has}
                        for at, has in profile.points]}  # fmt: skip


def _document(report: "Report") -> dict[str, Any]:
    return {
        "failures": report.count,
        "packages": report.packages,
        "failed": report.failed,
        "cooling_off": report.cooling, "tried_again": report.again,
        "acknowledged": report.acknowledged,
        "cpu_hours": hours(report.wasted),
        "blamed": [_blame(blame) for blame in report.blamed],
        **{f"by_{name}": [_entry(name, alike) for alike in rows]
           for name, rows in report.groups.items()},
    }  # fmt: skip


def _blame(blame: "Blame") -> Any:
    return {blame.kind: blame.share.name, "failed": blame.share.failed, "of": blame.share.number,
            "others_failed": blame.others.failed, "others": blame.others.number,
            "sentence": blame.sentence()}  # fmt: skip


def _entry(group: str, alike: "Alike") -> dict[str, Any]:
    from d0ctl.cli.documents import acknowledgement

    seen = alike.sample.acknowledged
    known = None if seen is None else acknowledgement(seen.actor, seen.at, seen.note)
    return {group: alike.name, "count": alike.count, "packages": alike.packages,
            "acknowledged": alike.acknowledged, "cpu_hours": hours(alike.wasted),
            "last": iso(alike.last),
            "sample": {**asdict(alike.sample), "acknowledged": known}}  # fmt: skip
