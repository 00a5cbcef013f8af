"""The daemon as a service: its unit is one that systemd accepts, and that starts it."""

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import debian_program
from tests.support.site import Site
from tests.support.users import NAMELESS, STRANGER, d0ctl_as, needs_root, open_folder
from tests.support.waiting import wait_until

SYSTEMCTL = """\
#!/bin/sh
unit=$HOME/.config/systemd/user/d0ctl.service
echo "$*" >> $HOME/calls
case "$2" in
start) eval "$(sed -n 's/^ExecStart=//p' $unit) </dev/null >/dev/null 2>>$HOME/journal &"
       echo $! > $HOME/pid ;;
disable) kill $(cat $HOME/pid) ;;
esac
"""
"""A stand-in for systemd, which the machines of tests do not run: it starts what the unit says."""

LOGINCTL = "#!/bin/sh\necho Linger=no\n"


@pytest.fixture
def account(site: Site) -> Path:
    """The folder of a user whose services systemd runs until the logout."""
    folder = site.folder / "user"
    for name, text in (("systemctl", SYSTEMCTL), ("loginctl", LOGINCTL)):
        program = folder / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(text)
        program.chmod(0o755)
    site.variables["PATH"] = f"{folder}/bin:{site.environment['PATH']}"
    return folder


def test_an_installed_daemon_runs_as_a_service_until_it_is_removed(
    site: Site, account: Path
) -> None:
    said = site.ok("daemon", "install", "--journal")

    assert said.startswith(f"installed the service `d0ctl`: {account}/.config/systemd/user/")
    assert "it ends when you log out, until you type: loginctl enable-linger" in said
    assert ("d0ctl daemon install --system" in said) is (os.geteuid() == 0)
    assert site.json("daemon", "status")["service"] == "d0ctl"
    assert "service `d0ctl`" in site.ok("daemon", "status")
    assert site.json("daemon", "status")["pid"] == int((account / "pid").read_text())
    journal = account / "journal"
    wait_until(lambda: "<6>daemon " in journal.read_text())
    doctor = site.d0ctl("doctor").out
    assert "service `d0ctl` starts the daemon after a reboot" in doctor
    at_boot = "d0ctl daemon install --system" if os.geteuid() == 0 else "loginctl enable-linger"
    assert "when its user logs in" in doctor and at_boot in doctor

    site.ok("daemon", "stop")
    site.ok("daemon", "start")
    assert (account / "calls").read_text().splitlines() == [
        "--user daemon-reload", "--user enable d0ctl", "--user start d0ctl", "--user start d0ctl",
    ]  # fmt: skip

    assert site.ok("daemon", "uninstall").startswith("removed the service `d0ctl`")
    assert not list((account / ".config/systemd/user").glob("*"))
    wait_until(lambda: site.d0ctl("daemon", "status").code == 3)
    assert site.d0ctl("daemon", "uninstall").code == 3


def test_a_preview_names_the_service_and_changes_nothing(site: Site, account: Path) -> None:
    unit = account / ".config/systemd/user/d0ctl.service"

    said = site.ok("daemon", "install", "--dry-run")

    assert said == (
        f"would install and start the service `d0ctl`: {unit}; `--print` shows its text\n"
    )
    site.ok("--home", str(site.folder / "new"), "daemon", "install", "--print")
    assert not unit.exists()
    assert (account / "calls").read_text() == "--user show --property=Version\n"
    assert not (site.folder / "new").exists()

    site.ok("daemon", "install")
    said = site.ok("daemon", "uninstall", "--dry-run")

    assert said == f"would stop the daemon and remove the service `d0ctl`: {unit}\n"
    assert unit.exists() and site.json("daemon", "status")["running"]
    site.ok("daemon", "uninstall")
    wait_until(lambda: site.d0ctl("daemon", "status").code == 3)


def test_without_an_answer_of_systemd_nothing_is_installed(site: Site, account: Path) -> None:
    (account / "bin" / "systemctl").write_text("#!/bin/sh\necho 'No medium found' >&2\nexit 1\n")

    done = site.d0ctl("daemon", "install")

    assert done.code == 4
    said, hint = done.err.splitlines()
    if Path("/run/systemd/system").is_dir():
        assert said == "d0ctl: `systemctl --user daemon-reload` failed: No medium found"
        assert hint == "d0ctl daemon start"
    else:
        assert said == "d0ctl: this machine has no systemd"
        assert "after a reboot cron starts it if your crontab has the line `@reboot " in hint
    assert not (account / ".config").exists()
    preview = site.d0ctl("daemon", "install", "--dry-run")
    assert (preview.code, preview.out) == (4, "")
    assert preview.err.splitlines()[-1] == hint


def test_a_service_of_another_home_is_not_replaced(site: Site, account: Path) -> None:
    site.ok("daemon", "install")
    site.ok("daemon", "stop")

    done = site.d0ctl("--home", site.folder / "second", "daemon", "install")

    assert done.code == 4
    install = f"d0ctl --home {site.folder / 'second'} daemon install --name d0ctl-2"
    assert done.err.endswith(f"is for another home\n{install}\n")


def test_doctor_says_what_starts_the_daemon_after_a_reboot_on_this_machine(site: Site) -> None:
    site.ok("daemon", "start")

    said = " ".join(site.d0ctl("doctor").out.split())

    site.ok("daemon", "stop")
    has_systemd = Path("/run/systemd/system").is_dir()
    assert ("d0ctl daemon install" in said) is has_systemd
    line = f"`@reboot {sys.executable} -m d0ctl --home {site.home.root} daemon start`"
    assert (line in said) is not has_systemd


@needs_root
def test_root_makes_a_service_of_the_system_that_runs_as_the_owner_of_the_home(
    site: Site, account: Path
) -> None:
    os.chown(site.home.root, STRANGER, -1)
    owner = pwd.getpwuid(STRANGER).pw_name
    try:
        assert f"User={owner}\n" in site.ok("daemon", "install", "--system", "--print")
        said = site.ok("daemon", "install", "--system", "--name", "d0ctl-test", "--dry-run")
        refused = site.d0ctl("daemon", "install")
    finally:
        os.chown(site.home.root, os.geteuid(), -1)

    assert "install and start the service `d0ctl-test`: /etc/systemd/system/" in said
    assert refused.code == 4
    assert refused.err.splitlines() == [
        f"d0ctl: `{site.home.root}` belongs to user `{owner}`",
        "d0ctl daemon install --system",
    ]


@needs_root
def test_a_service_of_a_user_without_a_name_runs_under_the_number() -> None:
    with open_folder() as folder:
        os.chown(folder, NAMELESS, NAMELESS)
        done = d0ctl_as(NAMELESS, folder / "home", "daemon", "install", "--system", "--print")

    assert done.returncode == 0, done.stderr
    assert f"User={NAMELESS}\n" in done.stdout


@needs_root
def test_who_may_not_write_the_unit_learns_all_commands_that_root_types() -> None:
    with open_folder() as folder:
        os.chown(folder, STRANGER, STRANGER)
        home = folder / "home"
        done = d0ctl_as(STRANGER, home, "daemon", "install", "--system", "--journal")

    unit = "/etc/systemd/system/d0ctl.service"
    assert done.returncode == 4
    assert done.stderr.splitlines() == [
        f"d0ctl: can't write `{unit}`: permission denied",
        f"d0ctl daemon stop; d0ctl daemon install --system --print --journal | sudo tee {unit}"
        " && sudo systemctl daemon-reload && sudo systemctl enable --now d0ctl",
    ]


@pytest.mark.parametrize("more", [[], ["--system"]])
def test_systemd_finds_no_fault_in_the_unit(site: Site, tmp_path: Path, more: list[str]) -> None:
    analyze = debian_program("systemd-analyze", "systemd")
    home = tmp_path / 'a home of $USER, 100%u "quoted"'
    unit = tmp_path / "d0ctl.service"

    unit.write_text(site.ok("--home", home, "daemon", "install", "--print", "--journal", *more))

    kind = "--system" if more else "--user"
    verified = subprocess.run(
        [str(analyze), "verify", kind, str(unit)],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}, capture_output=True, text=True,
    )  # fmt: skip
    assert (verified.returncode, verified.stdout + verified.stderr) == (0, "")
    assert ("User=" in unit.read_text()) == bool(more)
