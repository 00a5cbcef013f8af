"""Paths of the home, and the checks of who owns it, where it is and what is missing."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from d0ctl import access
from d0ctl.errors import DatabaseUnavailable, Refused
from d0ctl_wrapper.protocol.paths import inside

ASIDE = ".aside"
"""The folder within another in which files are completed before they are moved to their places."""


HALF_MADE_S = 3600.0
"""The age in seconds at which an unfinished file counts as abandoned."""

KEY_BYTES = 32
"""The length of the key that signs attempts; a shorter one is refused."""


class Home:
    """The folder that holds all of a site; only its owner may enter it.

    It `is_chosen` if `--home` or $D0CTL_HOME names it. An `archive` is read in place of the
    database. Not a record of msgspec, whose import takes a third of the time of a TAB.
    """

    __slots__ = ("archive", "is_chosen", "root")

    def __init__(self, root: Path, is_chosen: bool = False, archive: str = "") -> None:
        self.root = root
        self.is_chosen = is_chosen
        self.archive = archive

    @property
    def database(self) -> Path:
        """The SQLite file that is read, and unless it is an archive, written."""
        return self.archive_file(self.archive) if self.archive else self.root / "d0ctl.db"

    @property
    def archives(self) -> Path:
        """The folder of archives: jobs that have left the database, one SQLite file per archive."""
        return self.root / "archive"

    def archive_file(self, name: str) -> Path:
        """Return the path of an archive."""
        return within(self.archives, f"{name}.db")

    @property
    def writer_lock(self) -> Path:
        """Locked with flock by a writer before it begins, so that writers take turns."""
        return self.root / "d0ctl.turn"

    @property
    def driver(self) -> Path:
        """Kept open by every process that drives nodes; it holds the name of the site."""
        return self.root / "d0ctl.driver"

    @property
    def dropbox(self) -> Path:
        """The Maildir for messages of nodes."""
        return self.root / "dropbox"

    @property
    def known_hosts(self) -> Path:
        """The host keys that were accepted; no other file counts."""
        return self.root / "known_hosts"

    @property
    def logins(self) -> Path:
        """The logins that a person made for the daemon, one folder each."""
        return self.root / "logins"

    def login_to(self, destination: str) -> Path:
        """Return the folder of the login to a destination."""
        return self.logins / quote(destination, safe="@:[]")

    @property
    def key(self) -> Path:
        """The key that signs attempts."""
        return self.root / "site.key"

    @property
    def previous_keys(self) -> Path:
        """The keys before the present one, each with the last attempt that it signs."""
        return self.root / "site.key.previous"

    @property
    def event_key(self) -> Path:
        """The key that signs events of other systems."""
        return self.root / "event.key"

    @property
    def site_file(self) -> Path:
        """The site file of the admin, read only by `site check` and `site apply`."""
        return self.root / "site.yaml"

    @property
    def templates(self) -> Path:
        """Templates of job files that the people of this site share."""
        return self.root / "templates"

    @property
    def logs(self) -> Path:
        """Logs of the daemon."""
        return self.root / "logs"

    @property
    def results(self) -> Path:
        """One folder per job, with a record of the job."""
        return self.root / "results"

    @property
    def cache(self) -> Path:
        """Files in transit from one node to another."""
        return self.root / "cache"

    def result(self, job: str, name: str) -> Path:
        """Return the path for an output of a job. Raises Refused for one outside of the folder."""
        return within(self.results / job, name)

    def in_transit(self, job: int, file: int, name: str) -> Path:
        """Return the path for a copy in transit, whatever the name of the file."""
        return within(self.cache / str(job) / str(file), name.rstrip("/").rpartition("/")[2])

    def is_in_cache(self, path: str) -> bool:
        """Return whether a path here is that of a copy of d0ctl."""
        return path.startswith(f"{self.cache}/")

    def half_made(self, before: float) -> list[Path]:
        """Return the unfinished files of a restore, an archive or a first use that was killed."""
        patterns = (".restore.*", ".site.key.*", ".d0ctl.db.*", "archive/.*")
        found = []
        for path in (path for pattern in patterns for path in self.root.glob(pattern)):
            with suppress(FileNotFoundError):  # it was finished meanwhile
                if path.stat().st_mtime < before:
                    found.append(path)
        return found

    def forget_copies(self, paths: Iterable[str]) -> None:
        """Remove copies in the cache here, and folders that become empty."""
        for path in map(Path, paths):
            with suppress(OSError):
                path.unlink()
                for folder in path.parents:
                    if folder == self.cache:
                        break
                    folder.rmdir()

    @property
    def asides(self) -> tuple[Path, ...]:
        """The folders in which files are completed, each on the disk of its target."""
        return tuple(folder / ASIDE for folder in (self.results, self.cache))

    @property
    def nodes(self) -> Path:
        """The folder of the node `localhost`, instead of ~/.d0ctl."""
        return self.root / "nodes"

    def site_key(self) -> bytes:
        """Return the key that signs attempts.

        Raises DatabaseUnavailable if it is missing, unreadable or too short.
        """
        try:
            key = self.key.read_bytes()
        except OSError as error:
            raise access.unusable(self.root, error) from error
        if len(key) < KEY_BYTES:
            raise DatabaseUnavailable(
                f"the key `{self.key}` has {len(key)} of {KEY_BYTES} bytes", hint=access.KEY_ADVICE
            )
        return key

    def exists(self) -> bool:
        """Return whether the home has a database.

        Raises DatabaseUnavailable if the home belongs to another user, cannot be entered, or
        has lost its database: writers leave `d0ctl.turn`, results and nodes are of a site.
        """
        try:
            self.check_owner()
            size = access.size(self.database)
            is_gone = size is None and (
                access.size(self.writer_lock) is not None
                or any(any(folder.glob("*")) for folder in (self.results, self.nodes))
            )
        except OSError as error:
            raise access.unusable(self.root, error) from error
        if is_gone or size == 0:
            fault = "is gone" if is_gone else "is empty: 0 bytes"
            raise DatabaseUnavailable(
                f"the database `{self.database}` {fault}",
                hint="put it back, or type d0ctl restore FILE, with the last `d0ctl backup`",
            )
        return size is not None

    def check_owner(self) -> None:
        """Raise DatabaseUnavailable if the home or a part of it belongs to another user.

        Large files may be on another disk, behind a symbolic link of the same user.
        """
        wal = Path(f"{self.database}-wal")
        if access.owned(self.root):
            keys = (self.key, self.previous_keys, self.event_key, self.known_hosts)
            locks = (self.writer_lock, self.driver)
            for path in (self.database, wal, *locks, self.dropbox, self.logins, *keys):
                access.refuse_link(path)
            for path in (self.logs, self.results, self.cache, self.nodes, self.archives):
                access.owned(path)

    def check_place(self) -> None:
        """Raise DatabaseUnavailable if no home can be at this place, there or to be made."""
        access.refuse_network_disk(self.root)
        if self.is_chosen and not self.root.parent.exists():
            raise DatabaseUnavailable(f"there is no folder `{self.root.parent}` for the home",
                                      hint=f"mkdir -p {self.root.parent}")  # fmt: skip

    def create(self, *, with_key: bool = True) -> None:
        """Create what is missing, only for the owner; no key if attempts need that of a backup."""
        self.check_place()
        try:
            self.check_owner()
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.dropbox.mkdir(mode=0o700, exist_ok=True)
            for box in ("tmp", "new", "cur", "rejected"):
                (self.dropbox / box).mkdir(mode=0o700, exist_ok=True)
            for folder in (self.logs, self.results, self.cache, self.nodes):
                folder.mkdir(mode=0o700, exist_ok=True)
            if with_key and not self.key.exists():
                self._make_key()
        except OSError as error:
            raise DatabaseUnavailable(
                f"can't make the home `{self.root}`: {error.strerror}",
                hint="export D0CTL_HOME=/path/to/a/local/folder",
            ) from error

    def _make_key(self) -> None:
        aside = self.root / f".site.key.{os.getpid()}"
        aside.touch(mode=0o600)
        with aside.open("wb") as file:
            file.write(os.urandom(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())  # a power cut leaves no short key under this name
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


def find_home(option: str | os.PathLike[str] | None = None) -> Home:
    """Return the home by `--home`, else $D0CTL_HOME, else in the user's XDG data directory."""
    asked = (os.environ.get("D0CTL_HOME") or None) if option is None else option
    data = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    root = Path(Path(data) / "d0ctl" if asked is None else asked).expanduser()
    return Home(access.absolute(root), is_chosen=asked is not None)
