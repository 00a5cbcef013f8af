"""The reason of a failure by the site's classifier, which is a plug-in."""

import logging
import re
import time
from typing import TYPE_CHECKING

from d0ctl.model import Reason
from d0ctl.plugins import Plugin, PluginFailed, named
from d0ctl.policy.rules import RESTARTED
from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes.site import setting

if TYPE_CHECKING:
    from d0ctl.store.attempts.endings import End
    from d0ctl_wrapper.protocol.message_types import Ending

log = logging.getLogger(__name__)

LONGEST_S = 1.0
"""A classifier that takes longer for one failure is not asked again by this process."""

NOT_ASKED = frozenset({Reason.SOFTWARE_MISSING, *RESTARTED})
"""Reasons that the package did not cause, on which more depends than its policy."""

_REASON = re.compile(r"site:[a-z0-9][a-z0-9-]{0,58}", re.ASCII)

_too_slow: set[str] = set()


def classified(store: Store, ends: "list[End]") -> "list[End]":
    """Return the ends with the reasons that the classifier gives to failures.

    A classifier that fails is a line of the log.
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
    if name in _too_slow:
        return None
    try:
        plugin = named("classifier", name)
        if plugin is None:
            log.error("no package has the classifier `%s` of the site file: d0ctl plugins", name)
            return None
        return _ask(plugin, end, context)
    except PluginFailed as error:
        log.error("%s", error)
        return None


def _ask(plugin: Plugin, end: "Ending", context: Row) -> str | None:
    failure = {
        "reason": end["reason"], "message": end["detail"], "exit_code": end["exit_code"],
        "signal": end["signal"], "stderr": end["stderr"], "binary": end["binary"],
        "node": context["node"],
    }  # fmt: skip
    begin = time.monotonic()
    found = plugin.call(failure)
    if (took := time.monotonic() - begin) > LONGEST_S:
        _too_slow.add(plugin.name)
        log.error("%s", plugin.failed(f"took {took:.1f} s and is not asked again"))
    if found is None:
        return None
    if not isinstance(found, str) or not _REASON.fullmatch(found):
        raise plugin.failed(f"must return `site:NAME` or None, not {found!r}")
    return found
