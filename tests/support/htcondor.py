"""A pool of stand-ins for HTCondor's tools (`condor_tools`), to be put into a PATH."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support import condor_tools

TOOLS = ("condor_submit", "condor_q", "condor_rm", "condor_history", "condor_prio",
         "condor_ssh_to_job", "condor_version")  # fmt: skip

CALL = "import sys; sys.path.append(sys.argv.pop(1)); import condor_tools; condor_tools.main()"
COMMAND = (sys.executable, "-I", "-S", "-c", CALL, str(Path(condor_tools.__file__).parent))
"""Starts a tool without what it does not need: a site starts dozens in each test."""


class Pool:
    """A queue in a folder, and its tools in another."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.tools = folder / "pool", folder / "condor-bin"
        self.folder.mkdir()
        self.tools.mkdir()
        for tool in TOOLS:
            words = shlex.join([*COMMAND, str(self.folder), tool])
            (self.tools / tool).write_text(f'#!/bin/sh\nexec {words} "$@"\n')
            (self.tools / tool).chmod(0o755)

    @property
    def variables(self) -> dict[str, str]:
        """What a login shell of this site has in its environment."""
        return {"PATH": f"{self.tools}:{os.environ.get('PATH', os.defpath)}"}

    def call(self, tool: str, *arguments: str) -> str:
        """What a tool prints."""
        command = [*COMMAND, str(self.folder), tool, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def jobs(self) -> list[dict[str, Any]]:
        """The jobs in the queue, each with its `id`."""
        found: list[dict[str, Any]] = json.loads(self.call("jobs"))
        return found

    def change(self, job: str, **attributes: Any) -> None:
        """End the processes of a job and change its attributes, as HTCondor would."""
        self.call("set", job, json.dumps(attributes))

    def limit(self, slots: int) -> None:
        """Let only so many jobs run at once."""
        self.call("set", "slots", json.dumps({"slots": slots}))

    def clear(self) -> None:
        """Remove all jobs."""
        self.call("clear")
