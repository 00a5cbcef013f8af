"""A private sshd for tests, demos and benchmarks: no service, no root account, nothing left."""

import argparse
import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from tests.support import Missing, debian_program, run
from tests.support.openssh import (
    UNPACKED,
    find_client,
    find_sshd,
    free_port,
    make_key,
    newer_options,
    privilege_separation_account,
    sftp_server,
)
from tests.support.waiting import Pid, descendants, freeze_all, kill_all, wait_until

PRELOAD = "LD_PRELOAD"

PRIVILEGE_SEPARATION = Path("/run/sshd")


@dataclass
class Sshd:
    """One sshd on a loopback port, whose files lie in `folder`.

    `shell` is a program's name; each command goes through it as if it were the login shell.
    `home` is the HOME of all who log in, by default a folder of its own in `folder`. With
    `is_plain` they get the account's own shell, and only commands that their key may run.
    `settings` come before the usual ones, which they replace, `more_settings` after them.
    `variables` are added to its environment, and `prefix` to its command, as its first words.
    Use it as a context manager, or `start()` and `close()`.
    """

    folder: Path
    shell: str = "bash"
    home: Path = Path()
    address: str = "127.0.0.1"
    bashrc: str = ""
    forwarding: bool = True
    sftp: bool = True
    is_plain: bool = False
    port: int = 0
    settings: tuple[str, ...] = ()
    more_settings: tuple[str, ...] = ()
    prefix: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    commands: set[Pid] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.home == Path():
            self.home = self.folder / "home"
        self.home.mkdir(parents=True, exist_ok=True)
        if self.bashrc:
            (self.home / ".bashrc").write_text(self.bashrc)
        find_client()
        for name in ("host_key", "identity"):
            if not (self.folder / name).exists():
                make_key(self.folder / name)
        self.authorize(self.folder / "identity.pub")

    @property
    def identity(self) -> Path:
        """A private key that may log in."""
        return self.folder / "identity"

    @property
    def user(self) -> str:
        """The account that may log in: the one that runs this."""
        return run("id", "-un").strip()

    @property
    def destination(self) -> str:
        """`user@address:port`."""
        return f"{self.user}@{self.address}:{self.port}"

    @property
    def known_hosts_line(self) -> str:
        """The line by which this sshd is known."""
        algorithm, key = (self.folder / "host_key.pub").read_text().split()[:2]
        return f"[{self.address}]:{self.port} {algorithm} {key}\n"

    @property
    def pid(self) -> int:
        """The listener's process id."""
        assert self.process is not None, "not started"
        return self.process.pid

    def authorize(self, public_key: Path) -> None:
        """Let the owner of this key in, too."""
        with (self.folder / "authorized_keys").open("a") as keys:
            keys.write(public_key.read_text())

    def log(self) -> str:
        """What this sshd said about its connections."""
        return (self.folder / "log").read_text()

    def start(self) -> Self:
        """Start, and return once it accepts connections."""
        self.folder.joinpath("session").write_text(self.session_script())
        self.folder.joinpath("session").chmod(0o755)
        wanted = self.port
        for attempt in range(5):
            self.port = wanted or free_port(self.address)
            self.launch()
            wait_until(lambda: self.is_ended() or self.greets(), what="sshd accepts connections")
            if not self.is_ended():
                return self
            assert self.process is not None
            self.process.wait()
            assert attempt < 4 and "in use" in self.log(), self.log()
        return self

    def launch(self) -> None:
        """Start the process, in a session of its own: ctrl-C is not for it."""
        (self.folder / "sshd_config").write_text(self.configuration())
        sshd = [str(find_sshd()), "-D", "-e", "-f", str(self.folder / "sshd_config")]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*self.prefix, *sshd],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **joined(self.account_environment(), self.variables)},
                start_new_session=True,
            )

    def is_ended(self) -> bool:
        """True when the listener does not run."""
        return self.process is None or self.process.poll() is not None

    def greets(self) -> bool:
        """True when a connection is answered with sshd's first line."""
        try:
            with socket.create_connection((self.address, self.port), 1) as connection:
                return connection.recv(4) == b"SSH-"
        except OSError:
            return False

    def freeze(self) -> None:
        """Stop the listener and all connections where they are; nothing answers any more."""
        listener = Pid.of(self.pid)
        assert listener is not None
        freeze_all(lambda: [listener, *self.connections()])

    def thaw(self) -> None:
        """Let a frozen sshd go on."""
        os.kill(self.pid, signal.SIGCONT)
        for pid in self.connections():
            pid.kill(signal.SIGCONT)

    def connections(self) -> list[Pid]:
        """The processes that serve connections."""
        return [pid for pid in descendants(self.pid) if pid.name().startswith("sshd")]

    def cut(self) -> None:
        """Drop all connections; new ones are welcome, and what they ran sees its stdin close."""
        self.commands.update(descendants(self.pid))
        kill_all(self.connections())

    def stop(self) -> None:
        """End the listener and its connections; the processes they started see stdin close."""
        if self.process is None:
            return
        if not self.is_ended():
            os.kill(self.pid, signal.SIGSTOP)
            self.cut()
        self.process.kill()
        self.process.wait()
        self.process = None

    def close(self) -> None:
        """Stop, and end also what its connections had started."""
        self.stop()
        kill_all(self.commands)

    def replace_host_key(self) -> None:
        """Come back on the same port with another host key."""
        self.stop()
        make_key(self.folder / "host_key")
        self.start()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def configuration(self) -> str:
        """The sshd_config: all in our folder, keys only, limits at their defaults.

        The account's own shell, which starts our session script, gets an empty HOME, so that it
        does not run what its owner has in `.bashrc`, nor leave that half done when it is killed.
        """
        lines = [
            *self.settings,
            f"ListenAddress {self.address}",
            f"Port {self.port}",
            f"HostKey {self.folder}/host_key",
            f"AuthorizedKeysFile {self.folder}/authorized_keys {self.home}/.ssh/authorized_keys",
            *self.session_settings(),
            f"AllowTcpForwarding {'yes' if self.forwarding else 'no'}",
            "AllowUsers *",
            "PermitRootLogin prohibit-password",
            "PasswordAuthentication no",
            "KbdInteractiveAuthentication no",
            "StrictModes no",
            "UsePAM no",
            "UseDNS no",
            "PidFile none",
            "PrintMotd no",
            "PrintLastLog no",
        ]
        if self.sftp:
            lines.append(f"Subsystem sftp {sftp_server()}")
        return "\n".join([*lines, *newer_options(), *self.more_settings]) + "\n"

    def session_settings(self) -> list[str]:
        """Which program serves a login, and its HOME."""
        if self.is_plain:
            return [f"SetEnv HOME={self.home}"]
        return [f"ForceCommand {self.folder}/session", f"SetEnv HOME={self.folder}/nowhere"]

    def session_script(self) -> str:
        """What stands between sshd and the shell, so that account and home can be others.

        `SHLVL` is forgotten because bash reads `.bashrc` only in the first shell under sshd.
        """
        shell = shlex.quote(str(debian_program(self.shell, self.shell)))
        return (
            "#!/bin/sh\n"
            f"unset SHLVL; export HOME={shlex.quote(str(self.home))} SHELL={shell}\n"
            'cd "$HOME" || exit 1\n'
            'case "$SSH_ORIGINAL_COMMAND" in\n'
            f'  "") exec {shell} -l ;;\n'
            f"  {shlex.quote(str(sftp_server()))}) exec $SSH_ORIGINAL_COMMAND ;;\n"
            f'  *) exec {shell} -c "$SSH_ORIGINAL_COMMAND" ;;\n'
            "esac\n"
        )

    def account_environment(self) -> dict[str, str]:
        """Give an unpacked sshd that root runs the account and the folder that it insists on."""
        if os.geteuid() != 0:
            return {}
        PRIVILEGE_SEPARATION.mkdir(mode=0o755, exist_ok=True)
        if privilege_separation_account():
            return {}
        accounts = self.folder / "passwd"
        accounts.write_text(
            Path("/etc/passwd").read_text() + "sshd:x:65534:65534::/run/sshd:/usr/sbin/nologin\n"
        )
        wrapper = next(UNPACKED.rglob("libnss_wrapper.so"))
        return {
            PRELOAD: str(wrapper),
            "NSS_WRAPPER_PASSWD": str(accounts),
            "NSS_WRAPPER_GROUP": "/etc/group",
        }


def joined(ours: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
    """Return both environments as one, with the libraries that either loads first."""
    both = {**ours, **more}
    libraries = [each[PRELOAD] for each in (ours, more) if PRELOAD in each]
    return {**both, PRELOAD: ":".join(libraries)} if libraries else both


def main() -> None:
    """Print where sshd is, or the line that says what to install."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.support.sshd",
        epilog="`python -m tests.support.node FOLDER` starts one, as a node to try.",
    )
    parser.add_argument("--find", action="store_true", required=True,
                        help="print the path of sshd; it is unpacked if it is missing")  # fmt: skip
    parser.parse_args()
    try:
        find_client()
        print(find_sshd())
    except Missing as missing:
        sys.exit(f"d0ctl: {missing}")


if __name__ == "__main__":
    main()
