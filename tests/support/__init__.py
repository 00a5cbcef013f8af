"""What tests, demos and benchmarks need beside d0ctl itself; here, programs of the system."""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

CACHE = Path(__file__).resolve().parents[2] / ".cache"
SYSTEM_PATH = ":".join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
SERVERS = ("-oAcquire::Retries=1", "-oAcquire::http::Timeout=20", "-oAcquire::https::Timeout=20")
"""How often and for how many seconds `apt-get` waits for each server, by default far longer."""

APT_LIMIT_S = 600
"""After this many seconds `apt-get` is given up, as where each of many packages has to be."""

NO_SERVICES = Path("/usr/sbin/policy-rc.d")


class Missing(Exception):
    """A program that is not here and can't be had; the text is what to install."""


def debian_program(name: str, *packages: str) -> Path:
    """The program `name` of the system, else unpacked from `packages`, else installed in CI.

    Raises Missing, at once if it could not be had before.
    """
    program = _found(name, packages)
    if program is None:
        raise Missing(f"`{name}` is missing: apt-get install {' '.join(packages)}")
    return program


@cache
def _found(name: str, packages: tuple[str, ...]) -> Path | None:
    found = shutil.which(name, path=SYSTEM_PATH)
    if found:
        return Path(found)
    launcher = CACHE / name / "launch" / name
    if launcher.exists() or unpack(name, packages):
        return launcher
    try:
        install(packages, "")
    except Missing:
        return None
    return Path(shutil.which(name, path=SYSTEM_PATH) or launcher)


def unpack(name: str, packages: tuple[str, ...]) -> bool:
    """Unpack `packages` and what they lack here into the cache; false where apt can't."""
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        return False
    CACHE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        try:
            apt("download", *needed(packages), folder=folder)
            root = Path(folder, "tree")
            for package in Path(folder).glob("*.deb"):
                run("dpkg-deb", "-x", str(package), str(root))
            write_launcher(name, root, CACHE / name)
        except (subprocess.CalledProcessError, StopIteration):
            return False
        with suppress(OSError):  # another test process was quicker
            root.rename(CACHE / name)
    return True


def needed(packages: tuple[str, ...]) -> list[str]:
    """`packages` and their dependencies that are not installed."""
    words = ("--simulate", "--no-install-recommends", "-qq", "install", *packages)
    try:
        plan = apt(*words)
    except subprocess.CalledProcessError:
        apt("update")
        plan = apt(*words)
    return re.findall(r"^Inst (\S+)", plan, re.MULTILINE)


def beside(program: Path, name: str) -> Path:
    """Another program of the packages that `debian_program` has found this one in."""
    if not program.is_relative_to(CACHE):
        return Path(shutil.which(name, path=SYSTEM_PATH) or program.with_name(name))
    launcher = program.with_name(name)
    if not launcher.exists():
        write_launcher(name, program.parents[1], program.parents[1])
    return launcher


def write_launcher(name: str, root: Path, home: Path) -> None:
    """Write a script that starts the unpacked program with the unpacked libraries.

    The packages lie in `root` now, and in `home` when it is called.
    """
    program = next(path for path in root.glob(f"**/*bin/{name}") if path.is_file())
    libraries = sorted({str(home / p.parent.relative_to(root)) for p in root.rglob("lib*.so*")})
    launcher = root / "launch" / name
    launcher.parent.mkdir(exist_ok=True)
    aside = launcher.with_name(f".{name}.{os.getpid()}")  # others may be about to start it
    aside.write_text(
        "#!/bin/sh\n"
        f"export LD_LIBRARY_PATH={shlex.quote(':'.join(libraries))}\n"
        f'exec {shlex.quote(str(home / program.relative_to(root)))} "$@"\n'
    )
    aside.chmod(0o755)
    aside.rename(launcher)


def install(packages: tuple[str, ...], hint: str) -> None:
    """Install `packages` in a CI machine, with their services kept from starting."""
    if not os.environ.get("CI") or os.geteuid() != 0 or not shutil.which("apt-get"):
        raise Missing(hint)
    guarded = NO_SERVICES.exists()
    if not guarded:
        NO_SERVICES.write_text("#!/bin/sh\nexit 101\n")
        NO_SERVICES.chmod(0o755)
    try:
        apt("install", "--yes", "--no-install-recommends", *packages)
    except subprocess.CalledProcessError as error:
        raise Missing(hint) from error
    finally:
        if not guarded:
            NO_SERVICES.unlink()


def apt(*words: str, folder: str = "/") -> str:
    """What `apt-get` with these words prints; it soon gives up a server that hangs."""
    try:
        return run("apt-get", *SERVERS, *words, folder=folder, limit_s=APT_LIMIT_S)
    except subprocess.TimeoutExpired as error:
        raise subprocess.CalledProcessError(1, "apt-get", stderr=str(error)) from error


def run(*command: str, folder: str = "/", limit_s: float | None = None) -> str:
    """What a program prints; CalledProcessError when it fails."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    done = subprocess.run(
        command, cwd=folder, env=environment, check=True, text=True, capture_output=True,
        timeout=limit_s,
    )  # fmt: skip
    return done.stdout
