"""Stores of the site, as the control host uses them: to locate, to delete, to check."""

import os
import re
import shlex
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from d0ctl.errors import D0Error, NotFound, Refused
from d0ctl.sitefile.transfer import stores
from d0ctl.units import clean
from d0ctl_wrapper import program
from d0ctl_wrapper.stores import EXIT_MISSING

TIMEOUT_S = 60.0
"""How long a command of a store may take here."""


def run(
    store: str, entry: Mapping[str, Any], verb: str, name: str = "", file: Path | None = None,
    *, timeout_s: float = TIMEOUT_S,
) -> str:  # fmt: skip
    """Run a command of a store, with a file to fetch or to store; return its output.

    Raises NotFound if there is no such file, Refused without such a command, else D0Error.
    """
    template = stores.commands(entry).get(verb)
    if template is None:
        raise Refused(f"store `{store}` has no command to {verb} files",
                      hint=f"add `{verb}` to it under `stores` in the site file")  # fmt: skip
    text = _filled(template.replace("{d0ctl}", program.shell()), name, str(file or ""))
    process = subprocess.Popen(["sh", "-c", text], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               start_new_session=True)  # fmt: skip
    try:
        out, errors = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired as error:
        message = f"store `{store}` did not answer within {timeout_s:.2g} s"
        raise D0Error(message) from error
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)  # the processes that the command started, too
            process.communicate()
    if process.returncode == EXIT_MISSING:
        raise NotFound(f"store `{store}` has no file `{name}`")
    if process.returncode:
        said = clean(errors.decode("utf-8", "replace"), lines=True).strip().splitlines()
        raise D0Error(f"store `{store}`: {said[-1] if said else f'exit code {process.returncode}'}")
    return clean(out.decode("utf-8", "replace"), lines=True).strip()


def _filled(template: str, name: str, file: str) -> str:
    """Insert the quoted names into a command; braces within a name stay."""
    values = {"{name}": name, "{source}": file, "{dest}": file}
    pieces = re.split(r"(\{name\}|\{source\}|\{dest\})", template)
    return "".join(shlex.quote(values[piece]) if piece in values else piece for piece in pieces)
