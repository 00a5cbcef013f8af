"""The page of `daemon status`: whether a daemon runs, and mail that can't be delivered."""

from collections.abc import Mapping
from typing import Any

from d0ctl.show.drawing import signs
from d0ctl.show.drawing.sheet import Sheet
from d0ctl.units import count, duration, moment

NOT_RUNNING = "no daemon is running"
STOPPED = "the daemon has stopped; running packages continue"


ENDS_AT_LOGOUT = "it ends when you log out, until you type: loginctl enable-linger"


def installed(name: str, unit: str) -> str:
    """Say that systemd runs the daemon."""
    return f"installed the service `{name}`: {unit}"


def after_reboot(service: str | None) -> str:
    """Say whether the daemon starts again by itself."""
    if service is None:
        return "  the daemon does not start after a reboot or a crash: d0ctl daemon install"
    return f"  service `{service}` starts the daemon after a reboot or a crash"


def uninstalled(name: str) -> str:
    """Say that systemd does not run the daemon any more."""
    return f"removed the service `{name}`; the daemon has stopped, running packages continue"


def started(pid: int, *, was_running: bool) -> str:
    """Say that a daemon runs."""
    return f"the daemon {'was running already' if was_running else 'is running'}: pid {pid}"


def draw(sheet: Sheet, status: Mapping[str, Any], now: float) -> None:
    """Draw the page."""
    if status["running"]:
        ago = duration(now - status["since"])
        service = f", service `{status['service']}`" if status["service"] else ""
        sheet.add(signs.mark("running", sheet.glyphs), f" for {ago}, pid {status['pid']}{service}")
    else:
        sheet.add("not running: d0ctl daemon start")
    if unsent := status["unsent"]:
        number, since = count(unsent["messages"], "message"), moment(unsent["since"], now)
        text = f" {number} undelivered since {since}: {unsent['trouble']}"
        sheet.add(signs.glyph("failed", sheet.glyphs), text)
        sheet.add("  d0ctl notify list")
