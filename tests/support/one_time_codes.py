"""One-time codes as a second factor: PAM and its module for OATH, for one private sshd.

The sshd sees a `/etc/pam.d` of its own, in a mount namespace; the one of the system is not touched.
"""

from pathlib import Path
from typing import Any

from tests.support import CACHE, Missing, debian_program, run

SECRET = "3132333435363738393031323334353637383930"
"""The key that the sshd shares with whoever may log in, as hexadecimal digits."""

SERVICE = """\
auth required {module} usersfile={users} window=5 digits=6
account required pam_permit.so
session required pam_permit.so
"""

NAMESPACE = ("unshare", "--mount", "--", "sh", "-c", 'mount --bind "$0" /etc/pam.d && exec "$@"')


class OneTimeCodes:
    """The PAM service of an sshd, and the codes of the account that runs this; for root only."""

    def __init__(self, folder: Path) -> None:
        self._program = debian_program("oathtool", "oathtool", "libpam-oath")
        self._services = folder / "pam.d"
        self._services.mkdir(parents=True)
        users = folder / "users.oath"
        users.write_text(f"HOTP {run('id', '-un').strip()} - {SECRET}\n")
        users.chmod(0o600)
        service = SERVICE.format(module=_library("security/pam_oath.so"), users=users)
        (self._services / "sshd").write_text(service)

    @property
    def options(self) -> dict[str, Any]:
        """What `Sshd` takes so that a login needs a key, then a code."""
        return {
            "settings": (
                "UsePAM yes",
                "KbdInteractiveAuthentication yes",
                "PermitRootLogin yes",
                "AuthenticationMethods publickey,keyboard-interactive",
            ),
            "prefix": (*NAMESPACE, str(self._services)),
            "variables": {"LD_PRELOAD": str(_library("liboath.so.0"))},
        }

    def code(self, number: int) -> str:
        """The code of this number, from 0."""
        return run(str(self._program), "--hotp", "--counter", str(number), SECRET).strip()


def _library(name: str) -> Path:
    """A library of the packages, unpacked or of the system."""
    places = [*(CACHE / "oathtool").glob(f"**/lib/*/{name}"), *Path("/usr/lib").glob(f"*/{name}")]
    if not places:
        raise Missing(f"`{name}` is missing: apt-get install libpam-oath")
    return places[0]
