"""Run the site's notifier, a plug-in, with the event on stdin.

It is a process of its own, so that it can be ended if it hangs or crashes.
"""

import json
import sys
from collections.abc import Mapping
from typing import Any

from d0ctl.plugins import PluginFailed, named


def command(said: Mapping[str, Any]) -> list[str] | None:
    """Return the command of the site's `mail`, its notifier or its webhook; None without any."""
    if "webhook" in said:
        return [sys.executable, "-P", "-m", "d0ctl.notify.webhook", said["webhook"]]
    if "notifier" in said:
        return [sys.executable, "-P", "-m", __name__, said["notifier"]]
    return said.get("command")


def way(said: Mapping[str, Any]) -> str | None:
    """Return what gets each event, as messages call it."""
    if "webhook" in said:
        return "the webhook"
    if "notifier" in said:
        return f"the plug-in `{said['notifier']}`"
    return f"`{said['command'][0]}`" if "command" in said else None


def main() -> None:
    """Pass the event on stdin to a plug-in."""
    name = sys.argv[1]
    try:
        plugin = named("notifier", name)
        if plugin is None:
            sys.exit(f"no installed package has a notifier `{name}`")
        plugin.call(json.load(sys.stdin))
    except PluginFailed as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
