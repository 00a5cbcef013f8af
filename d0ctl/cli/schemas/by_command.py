"""Each JSON document by the command that prints it."""

from collections.abc import Mapping
from typing import Any

from msgspec import json

from d0ctl.cli.schemas import (
    estimates,
    history,
    jobs,
    nodes,
    packages,
    reports,
    results,
    site,
    software,
    tasks,
)

DOCUMENTS: Mapping[str, Any] = {
    "validate": site.Valid,
    "rehearse": estimates.Rehearsal,
    "submit": site.Submitted,
    "template list": site.Templates,
    "template show": site.Template,
    "status": jobs.Jobs,
    "status JOB": jobs.JobCard,
    "status STAGE": jobs.StageCard,
    "status LINE": jobs.LineCard,
    "status PACKAGE": packages.Package,
    "status PACKAGE --now": packages.PackageNow,
    "status BINARY": packages.BinaryCard,
    "status PATTERN": jobs.Packages,
    "status --check": reports.Check,
    "archives": jobs.Archives,
    "eta": estimates.Ends,
    "eta JOB": estimates.Eta,
    "eta --audit": estimates.Audit,
    "why": reports.Explanation,
    "history": history.History,
    "history --since": history.Logbook,
    "logs --failed": history.FailedLogs,
    "peek": packages.Peek,
    "top": nodes.Top,
    "results": results.Results,
    "results --copy": results.Copied,
    "report failures": reports.Failures,
    "report timeline": history.Timeline,
    "report usage": reports.UsageReport,
    "report disk": reports.DiskReport,
    "policy try": reports.PolicyTrials,
    "policy show": reports.Policies,
    "file list": site.Files,
    "node list": nodes.Nodes,
    "node check": nodes.NodeChecks,
    "cluster list": nodes.Clusters,
    "cluster check": nodes.ClusterCheck,
    "researcher list": site.Researchers,
    "token list": site.Tokens,
    "throttle list": nodes.Throttles,
    "store list": site.Stores,
    "store locate": site.Located,
    "site check": site.SiteCheck,
    "site diff": site.SiteDifferences,
    "site show": dict[str, Any],
    "software list": software.Catalogue,
    "software where": software.SoftwarePlaces,
    "software push": software.SoftwareOrders,
    "software purge": software.SoftwareOrders,
    "software verify": software.SoftwareOrders,
    "task submit": tasks.TaskSubmitted,
    "task list": tasks.Tasks,
    "task status": tasks.TaskCard,
    "task why": reports.Explanation,
    "task history": tasks.TaskHistory,
    "daemon status": site.Daemon,
    "notify list": site.MailQueue,
    "plugins": site.Plugins,
    "doctor": reports.Doctor,
}


def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a document."""
    draft = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": draft, "title": f"d0ctl {name} --json", **json.schema(DOCUMENTS[name])}
