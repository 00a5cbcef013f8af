"""Reasons of failures from the site's classifier, a plug-in."""

import logging
import re
from typing import TYPE_CHECKING

from msgspec import Struct

from d0ctl.model import Reason
from d0ctl.plugin_process import PluginProcess, PluginTimeout
from d0ctl.plugins import Plugin, PluginFailed, named
from d0ctl.policy.rules import RESTARTED
from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes.site import setting

if TYPE_CHECKING:
    from d0ctl.store.attempts.endings import End
    from d0ctl_wrapper.protocol.message_types import Ending

log = logging.getLogger(__name__)

LONGEST_S = 1.0
"""A classifier that takes longer than this for one failure is not asked again by this process."""

MOST_FAILURES = 3
"""After this many failures in a row it is not asked again, either."""

NOT_ASKED = frozenset({Reason.SOFTWARE_MISSING, *RESTARTED})
"""Reasons that a classifier may not change: the package is not the cause, and d0ctl acts on them.
"""

_REASON = re.compile(r"site:[a-z0-9][a-z0-9-]{0,58}", re.ASCII)


class RunningClassifier(Struct):
    """A classifier in a process of its own."""

    process: PluginProcess
    failures: int = 0
    """How often in a row it has failed."""
    is_given_up: bool = False

    def fail(self, error: PluginFailed) -> None:
        """Count a failure, and give it up if there are too many."""
        self.failures += 1
        if isinstance(error, PluginTimeout) or self.failures >= MOST_FAILURES:
            self.is_given_up = True
            self.process.end()
        more = "; it is not asked again until the daemon restarts" * self.is_given_up
        log.error("%s%s", error, more)


_asked: dict[Plugin, RunningClassifier] = {}


def classified(store: Store, ends: "list[End]") -> "list[End]":
    """Return the ends with the reasons that the classifier gives to failures.

    If a classifier fails, the log gets a line.
    """
    if setting(store, "classifier") is None:
        return ends
    return [(_classified(store, end, context), context) for end, context in ends]


def _classified(store: Store, end: "Ending", context: Row) -> "Ending":
    is_asked = (
        end["outcome"] == "failed" and context["phase"] != "killing"
        and end["reason"] not in NOT_ASKED and not end["missing"]
    )  # fmt: skip
    reason = _reason(store, end, context) if is_asked else None
    return end if reason is None else {**end, "reason": reason}


def _reason(store: Store, end: "Ending", context: Row) -> str | None:
    name = setting(store, "classifier")
    try:
        plugin = named("classifier", name)
    except PluginFailed as error:
        log.error("%s", error)
        return None
    if plugin is None:
        log.error(
            "no installed package has the classifier `%s` of the site file: d0ctl plugins", name
        )
        return None
    if plugin not in _asked:
        _asked[plugin] = RunningClassifier(PluginProcess(plugin))
    asked = _asked[plugin]
    if asked.is_given_up:
        return None
    try:
        reason = _ask(asked.process, plugin, end, context)
    except PluginFailed as error:
        asked.fail(error)
        return None
    asked.failures = 0
    return reason


def _ask(process: PluginProcess, plugin: Plugin, end: "Ending", context: Row) -> str | None:
    failure = {
        "reason": end["reason"], "message": end["detail"], "exit_code": end["exit_code"],
        "signal": end["signal"], "stderr": end["stderr"], "binary": end["binary"],
        "node": context["node"],
    }  # fmt: skip
    answer = process.call(failure, longest=LONGEST_S)
    if answer is None:
        return None
    if not (isinstance(answer, str) and _REASON.fullmatch(answer)):
        raise plugin.failed(f"must return `site:NAME` or None, not {answer!r}")
    return str(answer)
