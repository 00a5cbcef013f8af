"""The page of `daemon status`: whether a daemon runs, and mail that can't be delivered."""

import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from d0ctl.show.drawing import signs
from d0ctl.show.drawing.remark_texts import OUTDATED
from d0ctl.show.drawing.sheet import Sheet
from d0ctl.store.connection import Store
from d0ctl.store.nodes.site import CopiedHome
from d0ctl.units import count, duration, moment

NOT_RUNNING = "no daemon is running"
STOPPED = "the daemon has stopped; running packages continue"

RESTART = "d0ctl daemon restart"

_AS_ROOT = "`d0ctl daemon uninstall`, then `d0ctl daemon install --system`"


def without_systemd(home: Path) -> str:
    """Say which line has cron start the daemon, which knows neither PATH nor $D0CTL_HOME."""
    return ("  the daemon does not start after a reboot: this machine has no systemd; "
            f"{_by_cron(home)}")  # fmt: skip


def start_without_systemd(home: Path) -> str:
    """Say how to start the daemon now and after a reboot."""
    return f"d0ctl daemon start; after a reboot {_by_cron(home)}"


def _by_cron(home: Path) -> str:
    command = [sys.executable, "-m", "d0ctl", "--home", str(home), "daemon", "start"]
    return f"cron starts it if your crontab has the line `@reboot {shlex.join(command)}`"


def ends_at_logout(*, is_root: bool) -> list[str]:
    """Say that a service of a user ends at the logout, and what keeps it."""
    lines = ["it ends when you log out, until you type: loginctl enable-linger"]
    return [*lines, f"for root, a service of the system is usual: {_AS_ROOT}"] if is_root else lines


def installed(name: str, unit: str) -> str:
    """Say that systemd runs the daemon."""
    return f"installed the service `{name}`: {unit}"


def would_install(name: str, unit: str) -> str:
    """Say which service would be made, and how to read its unit."""
    return f"would install and start the service `{name}`: {unit}; `--print` shows its text"


def runs_as(account: str) -> str:
    """Say who runs the daemon of another user's home."""
    return f"systemd runs the daemon as `{account}`, once no other daemon runs in this home"


def after_reboot(service: str | None, *, at_login: bool, is_root: bool) -> str:
    """Say whether the daemon starts again by itself; `at_login` if only when its user logs in."""
    if service is None:
        system = " --system" if is_root else ""
        return (
            f"  the daemon does not start after a reboot or a crash: d0ctl daemon install{system}"
        )
    starts = f"  service `{service}` starts the daemon after a reboot or a crash"
    if not at_login:
        return starts
    at_boot = _AS_ROOT if is_root else "`loginctl enable-linger`"
    return f"{starts}, when its user logs in; to start it at boot: {at_boot}"


def uninstalled(name: str) -> str:
    """Say that systemd does not run the daemon any more."""
    return f"removed the service `{name}`; the daemon has stopped, running packages continue"


def would_uninstall(name: str, unit: str) -> str:
    """Say what would be removed."""
    return f"would stop the daemon and remove the service `{name}`: {unit}"


def started(pid: int, *, was_running: bool) -> str:
    """Say that a daemon runs."""
    return f"the daemon {'was running already' if was_running else 'is running'}: pid {pid}"


def log_file(path: Path) -> str:
    """Name the log of the daemon."""
    return f"  its log: {path}"


def no_daemon(store: Store, jobs: Sequence[str]) -> str:
    """Say that no daemon runs, and what drives these jobs; of a copied home, which one to use."""
    from d0ctl.show import outcome  # late: little of this page needs it
    from d0ctl.store.nodes.site import other_home

    copied = other_home(store)
    if copied is None:
        return outcome.no_daemon(jobs)
    from d0ctl.show.why.production import undriven

    return undriven(copied, time.time())


def undelivered(store: Store) -> str:
    """Say that packages run on which an action should end; of a copied home, which one to use."""
    from d0ctl.store.nodes.site import other_home

    if other_home(store) is not None:
        return no_daemon(store, [])
    return "no daemon is running, so these run on until it is started: `d0ctl daemon start`"


def draw(sheet: Sheet, status: Mapping[str, Any], other: CopiedHome | None, now: float) -> None:
    """Draw the page; `other` is the home that has taken over from this one, or of which it is a
    copy.
    """
    if status["running"]:
        ago = duration(now - status["since"])
        service = f", service `{status['service']}`" if status["service"] else ""
        sheet.add(signs.mark("running", sheet.glyphs), f" for {ago}, pid {status['pid']}{service}")
        if status["outdated"]:
            sign, role = signs.glyph("failed", sheet.glyphs)
            sheet.say(f"{sign} {OUTDATED}", role)
            sheet.commands((RESTART,))
    elif other is not None:
        from d0ctl.show.why.production import undriven  # late: few homes are copies

        sheet.say(f"not running: {undriven(other, now)}")
    else:
        sheet.add("not running: d0ctl daemon start")
    if unsent := status["unsent"]:
        number, since = count(unsent["messages"], "message"), moment(unsent["since"], now)
        text = f" {number} undelivered since {since}: {unsent['trouble']}"
        sheet.add(signs.glyph("failed", sheet.glyphs), text)
        sheet.add("  d0ctl notify list")
