"""Findings of `node check` and `cluster check`, printed one by one."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from d0ctl.cli.terminal import output
from d0ctl.cli.terminal.output import emit_json
from d0ctl.errors import ExitCode
from d0ctl.show.cards import node as node_line

if TYPE_CHECKING:
    from d0ctl.nodes.node_check import Finding

WAYS = frozenset({"reach", "login node"})
"""Checks that come first: without them, nothing else can be checked."""


def report(found: Iterable["Finding"], json: bool, **subject: str) -> ExitCode:
    """Print findings about a node or a cluster; return the exit code."""
    findings = []
    for finding in found:
        findings.append(finding)
        if not json:
            output.draw(node_line.finding, finding.ok, finding.what, finding.detail, finding.advice)
    bad = [finding for finding in findings if finding.ok is False]
    if json:
        emit_json({**subject, "ok": not bad, "findings": [
            {"ok": finding.ok, "what": finding.what, "detail": finding.detail,
             "advice": finding.advice or None}
            for finding in findings
        ]})  # fmt: skip
    if any(finding.what in WAYS for finding in bad):
        return ExitCode.NODE
    return ExitCode.FAILED if bad else ExitCode.DONE
