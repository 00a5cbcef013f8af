"""Where everything of a site lies: the home, and which disks may carry it."""

import os
from dataclasses import dataclass
from pathlib import Path

from d0ctl.errors import DatabaseUnavailable, Refused
from d0ctl_wrapper.paths import inside

NETWORK_DISKS = frozenset(
    [
        "9p",
        "acfs",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "fuse.ceph",
        "fuse.glusterfs",
        "fuse.sshfs",
        "glusterfs",
        "gpfs",
        "lustre",
        "nfs",
        "nfs4",
        "ocfs2",
        "orangefs",
        "smb2",
        "smb3",
        "smbfs",
    ]
)
"""File systems on which SQLite's locks and shared memory can't be trusted."""


ASIDE = ".aside"
"""The folder in another in which files are made whole before they are moved to their places."""


@dataclass(frozen=True, slots=True)
class Home:
    """The folder that holds all of a site; only its owner may enter it."""

    root: Path

    @property
    def database(self) -> Path:
        """The one SQLite file."""
        return self.root / "d0ctl.db"

    @property
    def turn(self) -> Path:
        """Flocked by a writer before it begins, so that writers take turns."""
        return self.root / "d0ctl.turn"

    @property
    def dropbox(self) -> Path:
        """The Maildir that messages arrive in."""
        return self.root / "dropbox"

    @property
    def known_hosts(self) -> Path:
        """The host keys that were accepted; no other file counts."""
        return self.root / "known_hosts"

    @property
    def key(self) -> Path:
        """The key that signs attempts."""
        return self.root / "site.key"

    @property
    def site_file(self) -> Path:
        """What the admin says of the site, read by `site check` and `site apply` alone."""
        return self.root / "site.yaml"

    @property
    def logs(self) -> Path:
        """Logs of the daemon."""
        return self.root / "logs"

    @property
    def results(self) -> Path:
        """One folder a job, with what it was made for."""
        return self.root / "results"

    @property
    def cache(self) -> Path:
        """Files on their way from one node to another."""
        return self.root / "cache"

    def result(self, job: str, name: str) -> Path:
        """Where an output of a job is delivered. Raises Refused for a name that leads out."""
        return within(self.results / job, name)

    def in_transit(self, job: int, file: int, name: str) -> Path:
        """Where the copy of a file is kept on its way, whatever path its name has."""
        return within(self.cache / str(job) / str(file), name.rpartition("/")[2])

    @property
    def asides(self) -> tuple[Path, ...]:
        """Where files are made whole that go to these folders, each on the disk of its folder."""
        return tuple(folder / ASIDE for folder in (self.results, self.cache))

    @property
    def nodes(self) -> Path:
        """What the node `localhost` keeps, instead of ~/.d0ctl."""
        return self.root / "nodes"

    def site_key(self) -> bytes:
        """The key that signs attempts."""
        return self.key.read_bytes()

    def exists(self) -> bool:
        """Whether a database has been made here."""
        return self.database.exists()

    def create(self) -> None:
        """Make what is missing, all of it for the owner alone; changes nothing that is there."""
        refuse_network_disk(self.root)
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.dropbox.mkdir(mode=0o700, exist_ok=True)
            for box in ("tmp", "new", "cur", "rejected"):
                (self.dropbox / box).mkdir(mode=0o700, exist_ok=True)
            for folder in (self.logs, self.results, self.cache, self.nodes):
                folder.mkdir(mode=0o700, exist_ok=True)
            self._make_key()
        except OSError as error:
            raise DatabaseUnavailable(
                f"can't make the home `{self.root}`: {error.strerror}",
                hint="export D0CTL_HOME=/path/to/a/local/folder",
            ) from error

    def _make_key(self) -> None:
        aside = self.root / f".site.key.{os.getpid()}"
        if self.key.exists():
            return
        aside.touch(mode=0o600)
        aside.write_bytes(os.urandom(32))
        try:
            os.link(aside, self.key)
        except FileExistsError:
            pass
        finally:
            aside.unlink()


def within(folder: Path, name: str) -> Path:
    """Join a name from outside to a folder. Raises Refused for a name that leads out of it."""
    try:
        return Path(os.fsdecode(inside(os.fsencode(folder), name)))
    except ValueError as error:
        raise Refused(str(error)) from error


def find_home(option: Path | None = None) -> Home:
    """The home by `--home`, else $D0CTL_HOME, else in the user's XDG data directory."""
    if option is not None:
        return Home(option.expanduser().absolute())
    if chosen := os.environ.get("D0CTL_HOME"):
        return Home(Path(chosen).expanduser().absolute())
    data = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Home((Path(data) / "d0ctl").expanduser().absolute())


def file_system(path: Path, mounts: Path = Path("/proc/self/mounts")) -> str:
    """The type of the file system that holds `path` or would; empty where it can't be told."""
    target = path.resolve()
    best, kind = -1, ""
    try:
        table = mounts.read_text()
    except OSError:
        return ""
    for row in table.splitlines():
        _, point, name, *_ = row.split(" ")
        mount = Path(point.encode().decode("unicode_escape"))
        if target.is_relative_to(mount) and len(mount.parts) >= best:
            best, kind = len(mount.parts), name
    return kind


def refuse_network_disk(root: Path) -> None:
    """Raise DatabaseUnavailable where the home would lie on a network file system."""
    kind = file_system(root)
    if kind in NETWORK_DISKS:
        raise DatabaseUnavailable(
            f"the home `{root}` is on a network disk ({kind}), where a database can break",
            hint=f"export D0CTL_HOME=/var/tmp/d0ctl-{os.getuid()}",
        )
