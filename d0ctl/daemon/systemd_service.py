"""The daemon as a service of systemd, which starts it at boot and after a crash.

A service of the user runs as a part of systemd's manager for that user, one of the system as the
owner of the home.
"""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from d0ctl.access import account
from d0ctl.config import Home
from d0ctl.doctor.logins import login_manager
from d0ctl.errors import Refused

SYSTEM_UNITS = Path("/etc/systemd/system")

ANSWER_S = 60.0
"""How long `systemctl` may take, which waits for the start or stop of a service."""

UNIT = """\
[Unit]
Description=d0ctl: productions in {home}
{after}
[Service]
Type=exec
ExecStart={command}
WorkingDirectory=/
{account}Environment={path}
# Packages that run on this machine outlive the daemon, and the next one finds them.
KillMode=process
Restart=on-failure
RestartSec=30s

[Install]
WantedBy={target}
"""

AFTER_NETWORK = """\
Wants=network-online.target
After=network-online.target
"""


class NoSystemd(Refused):
    """This machine was not booted by systemd, or has none."""

    def __init__(self) -> None:
        super().__init__("this machine has no systemd", hint="d0ctl daemon start")


@dataclass(frozen=True)
class Service:
    """An installed service, by the file of its unit."""

    unit: Path
    is_system: bool

    @property
    def name(self) -> str:
        """Its name for `systemctl`."""
        return self.unit.stem

    def call(self, *arguments: str) -> None:
        """Call `systemctl` for this service's manager. Raises Refused with what it says."""
        command = ["systemctl", *([] if self.is_system else ["--user"]), *arguments]
        try:
            subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           errors="replace", timeout=ANSWER_S, check=True)  # fmt: skip
        except FileNotFoundError:
            raise NoSystemd from None
        except subprocess.TimeoutExpired:
            raise Refused(f"`{' '.join(command)}` has not ended in {ANSWER_S:g} s") from None
        except subprocess.CalledProcessError as error:
            if not runs_here():
                raise NoSystemd from None
            lines = error.stderr.strip().splitlines() or [f"exit code {error.returncode}"]
            raise Refused(f"`{' '.join(command)}` failed: {lines[0]}",
                          hint="d0ctl daemon start") from None  # fmt: skip


def runs_here() -> bool:
    """Return whether systemd has booted this machine (sd_booted)."""
    return Path("/run/systemd/system").is_dir()


def user_units() -> Path:
    """Return the folder of the user's own units."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "systemd/user"


def installed(home: Home) -> Service | None:
    """Return the service that runs the daemon of a home; None if there is none."""
    command = _command(home)
    for folder, is_system in ((user_units(), False), (SYSTEM_UNITS, True)):
        for path in sorted(folder.glob("d0ctl*.service")):
            if command in _text(path):
                return Service(path, is_system)
    return None


def unit(home: Home, *, is_system: bool, journal: bool) -> str:
    """Return the text of a unit; the daemon logs to the journal, or to its file in the home."""
    return UNIT.format(
        home=str(home.root).replace("%", "%%"),
        after=AFTER_NETWORK if is_system else "",
        command=f"{_argument(sys.executable)} {_command(home)}{' --journal' * journal}",
        account=f"User={account(_owner(home))}\n" * is_system,
        path=_quoted(f"PATH={os.environ.get('PATH', os.defpath)}"),
        target="multi-user.target" if is_system else "default.target",
    )


def other_owner(home: Home) -> str | None:
    """Return the user to whom a home belongs, if that is not this one."""
    owner = _owner(home)
    return None if owner == os.geteuid() else account(owner)


def _owner(home: Home) -> int:
    """Return the id of the user to whom a home belongs, or will."""
    return home.root.stat().st_uid if home.root.exists() else os.geteuid()


def planned(home: Home, name: str, *, is_system: bool) -> Service:
    """Return the service that `write` makes.

    Raises Refused if another home has a service of this name, or this home one of another name,
    and for a home of another user unless it is a service of the system.
    """
    if not is_system and (owner := other_owner(home)) is not None:
        raise Refused(f"`{home.root}` belongs to user `{owner}`",
                      hint="d0ctl daemon install --system")  # fmt: skip
    service = Service((SYSTEM_UNITS if is_system else user_units()) / f"{name}.service", is_system)
    before = installed(home)
    if before is not None and before != service:
        raise Refused(f"the daemon of `{home.root}` has the service `{before.name}` already",
                      hint="d0ctl daemon uninstall")  # fmt: skip
    if service.unit.exists() and before is None:
        raise Refused(f"`{service.unit}` is for another home",
                      hint=f"d0ctl daemon install --name {name}-2")  # fmt: skip
    return service


def write(home: Home, service: Service, *, journal: bool) -> None:
    """Write the unit of a service, and have systemd read it.

    Raises Refused if systemd does not answer; then nothing stays.
    """
    is_new, folder = not service.unit.exists(), service.unit.parent
    absent = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        service.unit.write_text(unit(home, is_system=service.is_system, journal=journal))
    except PermissionError:
        raise Refused(f"can't write `{service.unit}`: permission denied",
                      hint=_as_root(service, journal)) from None  # fmt: skip
    try:
        service.call("daemon-reload")
    except Refused:
        if is_new:
            service.unit.unlink()
        for path in absent:
            path.rmdir()
        raise


def _as_root(service: Service, journal: bool) -> str | None:
    """Return the commands that do the same by sudo; None for a service of the user."""
    if not service.is_system:
        return None
    unit = f"d0ctl daemon install --system --print{' --journal' * journal}"
    return (f"d0ctl daemon stop; {unit} | sudo tee {service.unit} && sudo systemctl daemon-reload "
            f"&& sudo systemctl enable --now {service.name}")  # fmt: skip


def remove(service: Service) -> None:
    """Stop a service and delete its unit. Raises Refused if systemd does not answer."""
    service.call("disable", "--now", service.name)
    service.unit.unlink(missing_ok=True)
    service.call("daemon-reload")


def ends_at_logout(service: Service) -> bool:
    """Return whether systemd ends a service when its user logs out, and starts it at a login."""
    return not service.is_system and login_manager("Linger") == "no"


def _command(home: Home) -> str:
    """Return the words after python, which no other home has."""
    return f"-m d0ctl --home {_argument(str(home.root))} daemon run"


def _argument(text: str) -> str:
    """Quote a word of a command in a unit; systemd replaces `$NAME` there."""
    return _quoted(text).replace("$", "$$")


def _quoted(text: str) -> str:
    """Quote a word of a unit; systemd replaces `%` and a letter there."""
    for sign, written in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%")):
        text = text.replace(sign, written)
    return f'"{text}"'


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
