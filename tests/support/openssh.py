"""The OpenSSH of the system: its options, its file server, keys and ports for it."""

import base64
import hashlib
import os
import re
import socket
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support import CACHE, debian_program, run

if TYPE_CHECKING:
    from tests.support.sshd import Sshd

UNPACKED = CACHE / "sshd"

SFTP_SERVER_PLACES = (("lib", "openssh"), ("libexec", "openssh"), ("lib", "ssh"), ("libexec",))


def find_sshd() -> Path:
    """The system's sshd, or one unpacked from Debian's packages."""
    extra = () if privilege_separation_account() else ("libnss-wrapper",)
    return debian_program("sshd", "openssh-server", *extra)


def find_client() -> Path:
    """The system's ssh, with the ssh-keygen that has to be beside it."""
    debian_program("ssh-keygen", "openssh-client")
    return debian_program("ssh", "openssh-client")


@cache
def privilege_separation_account() -> bool:
    """True where sshd finds the account it wants when root starts it, or is not root's."""
    accounts = Path("/etc/passwd").read_text()
    return os.geteuid() != 0 or re.search("^sshd:", accounts, re.MULTILINE) is not None


def newer_options() -> tuple[str, ...]:
    """Settings for an sshd of 9.8 and later: no penalties, and where its helpers are."""
    usage = subprocess.run([find_sshd(), "-V"], capture_output=True, text=True).stderr
    version = re.search(r"OpenSSH_(\d+)\.(\d+)", usage)
    if not version or tuple(map(int, version.groups())) < (9, 8):
        return ()
    helpers = {"SshdSessionPath": "sshd-session", "SshdAuthPath": "sshd-auth"}
    found = {option: list(UNPACKED.rglob(name)) for option, name in helpers.items()}
    places = [f"{option} {paths[0]}" for option, paths in found.items() if paths]
    return ("PerSourcePenalties no", *places)


@cache
def sftp_server() -> Path:
    """The program behind the sftp subsystem, of the system or unpacked with sshd."""
    find_sshd()
    places = (Path("/usr", *place, "sftp-server") for place in SFTP_SERVER_PLACES)
    return next(path for path in [*UNPACKED.rglob("sftp-server"), *places] if path.is_file())


def make_key(path: Path, kind: str = "ed25519", passphrase: str = "") -> Path:
    """Make a key pair, in place of one that may be there."""
    path.unlink(missing_ok=True)
    run("ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-C", "d0ctl-test", "-f", str(path))
    return path


def free_port(address: str) -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((address, 0))
        port: int = probe.getsockname()[1]
        return port


def fingerprint(sshd: "Sshd") -> str:
    """The fingerprint of an sshd's host key, as OpenSSH prints it."""
    digest = hashlib.sha256(base64.b64decode(sshd.known_hosts_line.split()[2])).digest()
    return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")
