"""A Kerberos realm of our own: a key distribution centre on loopback, its files in one folder."""

import os
import socket
import subprocess
from pathlib import Path
from typing import Self

from tests.support import CACHE, beside, debian_program
from tests.support.openssh import free_port
from tests.support.waiting import wait_until

REALM = "D0CTL.TEST"
PASSWORD = "a secret"


def find_client() -> Path:
    """The folder of `kinit`, `klist` and `kdestroy`."""
    admin = debian_program("kadmin.local", "krb5-admin-server")
    for name in ("klist", "kdestroy"):
        beside(admin, name)
    return beside(admin, "kinit").parent


class Kdc:
    """A realm; use it as a context manager."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port("127.0.0.1")
        folder.mkdir(mode=0o700)
        self._admin = debian_program("kadmin.local", "krb5-admin-server")
        self._process: subprocess.Popen[bytes] | None = None
        (folder / "krb5.conf").write_text(self._client_settings())
        (folder / "kdc.conf").write_text(
            f"[realms]\n{REALM} = {{\n"
            f"  database_name = {folder}/principal\n"
            f"  key_stash_file = {folder}/stash\n"
            f"  acl_file = {folder}/acl\n"
            f"  kdc_listen = 127.0.0.1:{self.port}\n"
            f"  kdc_tcp_listen = 127.0.0.1:{self.port}\n}}\n"
        )

    @property
    def variables(self) -> dict[str, str]:
        """What clients and servers of the realm have in their environment."""
        return {"KRB5_CONFIG": f"{self.folder}/krb5.conf", "KRB5_KTNAME": str(self.keytab)}

    @property
    def keytab(self) -> Path:
        """The keys of the hosts."""
        return self.folder / "keytab"

    def add_person(self, name: str) -> None:
        """Let a person have tickets, by PASSWORD."""
        self._run("kadmin.local", "-q", f'addprinc -pw "{PASSWORD}" {name}')

    def add_host(self, name: str) -> None:
        """Let an sshd on this host take tickets."""
        self._run("kadmin.local", "-q", f"addprinc -randkey host/{name}")
        self._run("kadmin.local", "-q", f"ktadd -k {self.keytab} host/{name}")

    def kinit(self, person: str, cache: str) -> None:
        """Get a ticket by password."""
        self._run("kinit", "-c", cache, person, words=f"{PASSWORD}\n")

    def kdestroy(self, cache: str) -> None:
        """Throw the tickets away."""
        self._run("kdestroy", "-c", cache)

    def __enter__(self) -> Self:
        self._run("kdb5_util", "create", "-s", "-P", "master", "-r", REALM)
        self._process = subprocess.Popen(
            [str(beside(self._admin, "krb5kdc")), "-n"],
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_until(self._answers, what="the KDC listens")
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process
        self._process.kill()
        self._process.wait()

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1):
                return True
        except OSError:
            return False

    def _client_settings(self) -> str:
        """The realm as clients know it; plug-ins of unpacked packages are with them."""
        plugins = [path.parent for path in CACHE.glob("kadmin.local/**/plugins/kdb/db2.so")]
        unpacked = [f"[dbmodules]\ndb_module_dir = {plugins[0]}"] if plugins else []
        return "\n".join(
            ["[libdefaults]", f"default_realm = {REALM}", "dns_lookup_kdc = false",
             "dns_canonicalize_hostname = false", "rdns = false",
             "[realms]", f"{REALM} = {{", f"kdc = 127.0.0.1:{self.port}", "}", *unpacked, ""]
        )  # fmt: skip

    def _environment(self) -> dict[str, str]:
        ours = {"KRB5_KDC_PROFILE": f"{self.folder}/kdc.conf", "LC_ALL": "C"}
        return os.environ | self.variables | ours

    def _run(self, program: str, *more: str, words: str = "") -> None:
        """Run a program of the realm's, with words for its questions."""
        subprocess.run(
            [str(beside(self._admin, program)), *more], env=self._environment(), input=words,
            text=True, check=True, capture_output=True,
        )  # fmt: skip
