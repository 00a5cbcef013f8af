"""Stores in a directory, behind rsync or in S3: `store KIND VERB ROOT [NAME [FILE]]`.

VERB is `locate`, `fetch`, `store`, `delete` or `check`. It runs as a process of its own, on nodes
and on the control host. A file that is stored appears whole or not at all.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from typing import Callable, Dict, List

from d0ctl_wrapper.s3 import Bucket, ObjectMissing, S3Error

EXIT_MISSING = 66
"""The exit code if there is no such file."""

RSYNC_MISSING = 23
"""The exit code of rsync if there is no such file, among others."""


class NoStore(Exception):
    """The store can't do it, with the reason."""


class Directory:
    """A directory that this host can reach."""

    def __init__(self, root: str) -> None:
        self._root = root

    def check(self) -> None:
        """Check that it exists."""
        os.listdir(self._root)

    def locate(self, name: str) -> str:
        """Return where the file is."""
        path = self._path(name)
        os.stat(path)
        return path

    def fetch(self, name: str, path: str) -> None:
        """Copy a file from here."""
        shutil.copyfile(self._path(name), path)

    def store(self, name: str, path: str) -> None:
        """Copy a file to here: aside, then renamed."""
        self.check()
        target = self._path(name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        descriptor, aside = tempfile.mkstemp(prefix=".d0ctl-", dir=os.path.dirname(target))
        try:
            with os.fdopen(descriptor, "wb") as file, open(path, "rb") as source:
                shutil.copyfileobj(source, file, 1 << 20)
                file.flush()
                os.fsync(file.fileno())
                os.chmod(aside, 0o644)
            os.rename(aside, target)
        except BaseException:
            os.unlink(aside)
            raise

    def delete(self, name: str) -> None:
        """Remove a file."""
        os.unlink(self._path(name))

    def _path(self, name: str) -> str:
        return os.path.join(self._root, name)


class Rsync:
    """A directory that rsync reaches: `HOST:/path`, `rsync://host/module` or a path."""

    def __init__(self, root: str) -> None:
        self._root = root.rstrip("/")

    def check(self) -> None:
        """Check that it can be listed."""
        self._run(["--list-only", self._root + "/"])

    def locate(self, name: str) -> str:
        """Return where the file is."""
        self._run(["--list-only", self._at(name)])
        return self._at(name)

    def fetch(self, name: str, path: str) -> None:
        """Copy a file from there."""
        self._run(["--inplace", self._at(name), path])

    def store(self, name: str, path: str) -> None:
        """Copy a file to there; rsync renames it when it is whole."""
        with tempfile.TemporaryDirectory() as folder:
            target = os.path.join(folder, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.symlink(os.path.abspath(path), target)
            self._run(["--relative", "--copy-links", "--chmod=u=rw,go=r",
                       os.path.join(folder, ".", name), self._root + "/"])  # fmt: skip

    def delete(self, name: str) -> None:
        """Remove a file: make it as in an empty directory."""
        self.locate(name)
        folder, base = os.path.split(name)
        with tempfile.TemporaryDirectory() as empty:
            self._run(["--recursive", "--delete", "--include=/" + base, "--exclude=*",
                       empty + "/", self._at(folder) + "/"])  # fmt: skip

    def _at(self, name: str) -> str:
        return "%s/%s" % (self._root, name) if name else self._root

    def _run(self, arguments: "List[str]") -> None:
        command = ["rsync", "--protect-args", *arguments]
        try:
            done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        except FileNotFoundError:
            raise NoStore("there is no program `rsync` here")
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        if done.returncode == RSYNC_MISSING and any("No such file" in line for line in said):
            raise FileNotFoundError(said[0])
        if done.returncode:
            raise NoStore(said[0] if said else "rsync ended with %d" % done.returncode)


KINDS: "Dict[str, Callable[[str], Directory | Rsync | Bucket]]" = {
    "directory": Directory, "rsync": Rsync, "s3": Bucket,
}  # fmt: skip


def main() -> int:
    """Run the command line; return the exit code."""
    kind, verb, root = sys.argv[2:5]
    store = KINDS[kind](root)
    try:
        answer = getattr(store, verb)(*sys.argv[5:])
    except (FileNotFoundError, ObjectMissing) as error:
        if verb != "check" and not _is_here(verb):
            print("there is no file `%s` in %s" % (sys.argv[5], root), file=sys.stderr)
            return EXIT_MISSING
        print(_said(error), file=sys.stderr)
        return 1
    except (OSError, NoStore, S3Error) as error:
        print(_said(error), file=sys.stderr)
        return 1
    if answer is not None:
        print(answer)
    return 0


def _said(error: Exception) -> str:
    """Return what is wrong, and with which file or directory."""
    if isinstance(error, OSError) and error.strerror:
        where = ": `%s`" % error.filename if isinstance(error.filename, str) else ""
        return error.strerror + where
    return str(error)


def _is_here(verb: str) -> bool:
    """Return whether a missing file is one of this host."""
    return verb == "store"
