"""A podman of a test: a store of images and containers of its own, and an image made of files here.

It needs no registry and no network. What keeps podman from working in a virtual machine or in
another container is set: limits that only a privileged process may raise, file systems.
"""

import shutil
import subprocess
import tarfile
from pathlib import Path

from tests.support import run

PROGRAMS = ("podman", "runc", "catatonit")
"""What a container needs."""

INIT = Path("/usr/libexec/podman/catatonit")
"""Where podman looks for it."""

CONFIG = """\
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
runtime = "runc"
"""

CALL = """\
#!/bin/sh
export CONTAINERS_CONF={folder}/containers.conf
exec {podman} --root {folder}/images --runroot {folder}/state --storage-driver vfs "$@"
"""


def lacking() -> str:
    """What is not installed, with the command that installs it; empty if nothing is lacking."""
    found = [
        name for name in PROGRAMS if shutil.which(name) or (name in INIT.name and INIT.exists())
    ]
    return "" if len(found) == len(PROGRAMS) else f"apt-get install {' '.join(PROGRAMS)}"


class Podman:
    """The engine; `program` stands for it on the PATH."""

    def __init__(self, folder: Path) -> None:
        (folder / "containers.conf").write_text(CONFIG)
        self.program = folder / "podman"
        self.program.write_text(CALL.format(folder=folder, podman=shutil.which("podman")))
        self.program.chmod(0o755)
        self._folder = folder

    def make_image(self, name: str, **files: str) -> None:
        """Make an image with bash, some tools, and these files in its root."""
        archive = self._folder / "image.tar"
        with tarfile.open(archive, "w", dereference=True) as image:
            for path in _needed("bash", "cat", "sleep", "sort"):
                image.add(path, str(path).lstrip("/"))
            for file, text in files.items():
                (self._folder / file).write_text(text)
                image.add(self._folder / file, file)
        self("import", archive, name)

    def containers(self) -> list[str]:
        """The containers that are there, by their ids."""
        return self("ps", "--all", "--quiet").split()

    def __call__(self, *words: object) -> str:
        """Type a command, and return what it prints."""
        return run(str(self.program), *map(str, words))


def _needed(*programs: str) -> list[Path]:
    """Programs, and the libraries that they load."""
    paths = [
        Path(found) for name in programs if (found := shutil.which(name, path="/bin:/usr/bin"))
    ]
    found = subprocess.run(["ldd", *paths], capture_output=True, text=True, check=True).stdout
    words = [word for word in found.split() if word.startswith("/") and not word.endswith(":")]
    return [*paths, *map(Path, sorted(set(words)))]
