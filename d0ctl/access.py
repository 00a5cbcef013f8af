"""Access to the files of a home: owners, disks, and what a failed operation means."""

import errno
import os
import pwd
import stat
from pathlib import Path

from d0ctl.errors import DatabaseUnavailable

KEY_ADVICE = (
    "copy `site.key` and `known_hosts` from your backup or the old home, with mode 600; "
    "if the key is lost: d0ctl site rotate-key --lost"
)
"""What to do if the key that signs attempts is missing or too short."""

MAKES_HOME = (
    "d0ctl run FILE makes one, and so does d0ctl node add NAME [user@]host; "
    "if there was one, is its disk mounted?"
)
"""What to do if there is no home."""

NETWORK_DISKS = frozenset({
    "9p", "acfs", "afs", "beegfs", "ceph", "cifs", "fuse.ceph", "fuse.glusterfs", "fuse.sshfs",
    "glusterfs", "gpfs", "lustre", "nfs", "nfs4", "ocfs2", "orangefs", "smb2", "smb3", "smbfs",
})  # fmt: skip
"""File systems on which SQLite's locks and shared memory can't be trusted."""

LEAST_SPACE = 64_000
"""How many bytes the shared memory and the log of a database need at least."""


def unusable(root: Path, error: OSError) -> DatabaseUnavailable:
    """Return what the failure of an operation on the home means, and what to type."""
    path = Path(os.fsdecode(error.filename)) if isinstance(error.filename, str | bytes) else root
    denied = error.errno in (errno.EACCES, errno.EPERM)
    if error.errno == errno.EROFS or (denied and is_read_only(root)):
        return DatabaseUnavailable(
            f"the home `{root}` is on a read-only file system",
            hint=f"mount -o remount,rw {mount_point(root)}",
        )
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return full(root)
    if denied:
        return _forbidden(path)
    if error.errno == errno.ENOENT and not root.exists():
        return DatabaseUnavailable(f"there is no home at `{root}`", hint=MAKES_HOME)
    if error.errno == errno.ENOENT:
        advice = KEY_ADVICE if path.name == "site.key" else f"mkdir -m 700 {path}"
        return DatabaseUnavailable(f"`{path}` is missing", hint=advice)
    return DatabaseUnavailable(f"can't use `{path}`: {error.strerror}", hint="d0ctl doctor")


def full(root: Path) -> DatabaseUnavailable:
    """Return the error that there is no space on the disk of a home."""
    return DatabaseUnavailable(f"the disk of the home `{root}` is full", hint=f"df -h {root}")


def is_full(path: Path) -> bool:
    """Return whether the disk of a path has less space than SQLite needs beside a database."""
    try:
        disk = os.statvfs(path)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < LEAST_SPACE


def is_read_only(path: Path) -> bool:
    """Return whether the file system of a path is mounted read-only."""
    try:
        return bool(os.statvfs(path).f_flag & os.ST_RDONLY)
    except OSError:
        return False


def mount_point(path: Path) -> Path:
    """Return the mount point of the file system that holds `path`."""
    return next(folder for folder in (path, *path.parents) if os.path.ismount(folder))


def _forbidden(path: Path) -> DatabaseUnavailable:
    """Name the outermost folder, or the file, that this user may not use."""
    for culprit in (*reversed(path.parents), path):
        try:
            status = culprit.lstat()
        except FileNotFoundError:
            break
        is_folder = stat.S_ISDIR(status.st_mode)
        if culprit in (path, path.parent):
            mode = os.R_OK | os.W_OK | (os.X_OK if is_folder else 0)
        else:
            mode = os.X_OK
        if os.access(culprit, mode):
            continue
        if status.st_uid != os.geteuid():
            return _foreign(culprit, status.st_uid)
        rights = "700" if is_folder else "600"
        return DatabaseUnavailable(f"you may not use `{culprit}`", hint=f"chmod {rights} {culprit}")
    return DatabaseUnavailable(f"you may not change `{path}`", hint=f"ls -ld {path.parent} {path}")


def _foreign(path: Path, owner: int) -> DatabaseUnavailable:
    name = account(owner)
    user = f"'#{name}'" if name.isdigit() else name
    advice = f"sudo -u {user} d0ctl ..." if os.geteuid() == 0 else "export D0CTL_HOME=~/d0ctl"
    return DatabaseUnavailable(
        f"`{path}` belongs to user `{name}`, not to `{account(os.geteuid())}`", hint=advice
    )


def account(uid: int) -> str:
    """Return the name of a user; the id if there is no name, as in many containers."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def owned(path: Path) -> os.stat_result | None:
    """Return the status of a path, and of its target if it is a link; None if it is missing.

    Raises DatabaseUnavailable if either belongs to another user; root may own both.
    """
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    target = path.stat() if stat.S_ISLNK(status.st_mode) else status
    for info in (status, target):
        if info.st_uid not in (os.geteuid(), 0):
            raise _foreign(path, info.st_uid)
    return status


def refuse_link(path: Path) -> None:
    """Like `owned`, but also raise DatabaseUnavailable if the path is a symbolic link."""
    status = owned(path)
    if status and stat.S_ISLNK(status.st_mode):
        raise DatabaseUnavailable(
            f"`{path}` is a symbolic link", hint=f"look where it leads: ls -l {path}"
        )


def size(path: Path) -> int | None:
    """Return the size of a file; None if it is missing."""
    try:
        return path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return None


def absolute(path: Path) -> Path:
    """Return the absolute path of a typed one, without `..` unless that follows a symbolic link."""
    path = path.absolute()
    if ".." in path.parts and (plain := Path(os.path.normpath(path))).resolve() == path.resolve():
        return plain
    return path


def file_system(path: Path, mounts: Path = Path("/proc/self/mounts")) -> str:
    """Return the type of the file system that holds or would hold `path`; empty if unknown."""
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
    """Raise DatabaseUnavailable if the home would be on a network file system."""
    kind = file_system(root)
    if kind in NETWORK_DISKS:
        raise DatabaseUnavailable(
            f"the home `{root}` is on a network disk ({kind}), where a database can break",
            hint=f"export D0CTL_HOME=/var/tmp/d0ctl-{os.getuid()}",
        )
