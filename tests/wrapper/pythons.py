"""Finding the interpreters on this machine that a node might have."""

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.examples import first
from tests.support.homes import wrapper

_COMPILE = """\
import importlib.util, marshal, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as sources, zipfile.ZipFile(sys.argv[2], "w") as bundle:
    for name in sources.namelist():
        if name.endswith(".py"):
            code = compile(sources.read(name), name, "exec", dont_inherit=True)
            head = importlib.util.MAGIC_NUMBER + bytes(8 if sys.version_info < (3, 7) else 12)
            bundle.writestr(zipfile.ZipInfo(name + "c"), head + marshal.dumps(code))
"""

_ASK = "import os, sys; print(os.path.realpath(sys.executable)); print(*sys.version_info[:2])"


@cache
def found() -> dict[str, str]:
    """The pythons from 3.6 on, one a version, by version."""
    pythons: dict[str, str] = {}
    for candidate in _candidates():
        answer = _ask(candidate)
        if answer is not None:
            pythons.setdefault(*answer)
    return dict(sorted(pythons.items(), key=lambda item: [int(x) for x in item[0].split(".")]))


def versions() -> list[Any]:
    """Parameters: each version, of which `make test` tries the oldest and the newest."""
    oldest, *others = found()
    return first(2, [oldest, *reversed(others)])


@cache
def archive_for(python: str) -> Path:
    """The wrapper as one file, compiled by this python once; it would do so at each start."""
    if Path(python).resolve() == Path(sys.executable).resolve() or python not in found().values():
        return wrapper()
    version = next(version for version, path in found().items() if path == python)
    kept = wrapper().with_suffix(f".{version}.pyz")
    if not kept.exists():
        aside = kept.with_suffix(f".{os.getpid()}")
        words = [python, "-I", "-S", "-c", _COMPILE, str(wrapper()), str(aside)]
        subprocess.run(words, check=True)
        aside.rename(kept)
    return kept


def _candidates() -> list[Path]:
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(":") if folder]
    folders = [folder for folder in folders if folder.name != "shims"]  # slow, and found below
    on_path = [folder / f"python3.{minor}" for folder in folders for minor in range(6, 20)]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    others = [Path(sys.executable), Path("/usr/bin/python3"), Path("/usr/libexec/platform-python")]
    return [*others, *sorted(pyenv.glob("versions/*/bin/python")), *on_path]


def _ask(candidate: Path) -> tuple[str, str] | None:
    """Give version and path of an interpreter; a shim that leads nowhere counts as none."""
    if not os.access(candidate, os.X_OK):
        return None
    command = [str(candidate), "-I", "-S", "-c", _ASK]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = re.fullmatch(r"(.+)\n3 (\d+)\n", answer.stdout)
    if answer.returncode or lines is None or int(lines[2]) < 6:
        return None
    return f"3.{lines[2]}", lines[1]
