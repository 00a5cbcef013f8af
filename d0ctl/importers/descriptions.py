"""The submit descriptions of nodes, and what they say that has no counterpart in a job file."""

import re
import shlex
from collections.abc import Mapping

from d0ctl.importers import submit_file
from d0ctl.importers.dag import Node
from d0ctl.importers.dag_file import MOST_BYTES, text_of
from d0ctl.importers.draft import Draft, Unreadable
from d0ctl.importers.submit_file import SubmitFile

_CARRIED = {
    "executable", "arguments", "environment", "env", "input", "transfer_input_files",
    "transfer_output_files", "request_cpus", "request_memory", "request_disk", "priority",
    "container_image", "docker_image",
}  # fmt: skip
_NEEDLESS = re.compile(
    "log|output|error|notification|notify_user|universe|should_transfer_files|transfer_executable"
    "|when_to_transfer_output|getenv|initialdir|stream_.*|batch_name|jobbatchname|log_xml"
    "|submit_event_.*|dagman.*|my\\..*|job_machine_attrs.*|copy_to_spool|nice_user|x509.*"
    "|accounting_group.*|leave_in_queue|_.*"
)
"""Commands that d0ctl does not need."""
_UNIVERSES = {"vanilla", "local", "scheduler", "container", "docker", "5", "7", "12"}

LATE = {
    "retry": "$((D0CTL_ATTEMPT - 1))",
    "dag_status": '$([ "$D0CTL_JOB_STATE" = successful ] && echo 0 || echo 2)',
    "failed_count": "$D0CTL_JOB_FAILED",
}
"""Macros whose values are known only when a node runs, for its shell."""
_SIGNS = {name: f"@d0ctl-{name}@" for name in LATE}


class Descriptions:
    """The descriptions of a workflow, each read once."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.files: dict[str | int, list[SubmitFile]] = {}
        self.characters = 0

    def of(self, node: Node) -> list[SubmitFile]:
        """Return the description of a node, once for each `queue`. Raises Unreadable."""
        if node.inline is not None:
            key: str | int = id(node.inline)  # the nodes of one SUBMIT-DESCRIPTION share its text
            if key not in self.files:
                self.files[key] = self._read(node, node.inline, node.where)
            return self.files[key]
        path = node.directory / node.submit
        key = str(path)
        if key not in self.files:
            self.files[key] = self._read(node, text_of(path, node.where), node.submit)
        return self.files[key]

    def _read(self, node: Node, text: str, name: str) -> list[SubmitFile]:
        files = submit_file.read(text)
        if len(files) > submit_file.MOST_STATEMENTS:
            most = submit_file.MOST_STATEMENTS
            raise Unreadable(f"{node.where}: `{name}` has more than {most} `queue` statements")
        self._check(files[-1], name)
        return files

    def _check(self, file: SubmitFile, name: str) -> None:
        """Report the commands that have no counterpart."""
        universe = file.commands.get("universe", "vanilla").lower()
        if universe not in _UNIVERSES:
            text = f"`universe = {universe[:40]}`: it runs as a plain program"
            self.draft.leave_out(name, text)
        needless = file.used()
        for command in file.commands:
            if command not in _CARRIED | needless and not _NEEDLESS.fullmatch(command):
                self.draft.leave_out(name, f"`{command[:40]}`")
            elif command in _CARRIED:
                for function in sorted(file.functions(command)):
                    text = f"`${function[:40]}()` of `{command}`: it stays as it is"
                    self.draft.leave_out(name, text)

    def count(self, node: Node, file: SubmitFile, macros: dict[str, str]) -> int:
        """Return how many processes a node queues. Raises Unreadable."""
        count = file.expand(file.count, macros)
        if not re.fullmatch("0*[1-9][0-9]{0,5}", count):
            raise Unreadable(
                f"{node.where}: `queue {count[:40]}` of `{node.submit}` is not a number"
            )
        if file.rest:
            self.draft.leave_out(node.submit, f"`queue ... {file.rest[:40]}`: queued once")
        return int(count)

    def value(
        self,
        node: Node,
        file: SubmitFile,
        macros: Mapping[str, str],
        name: str,
        *,
        fills: bool = False,
    ) -> str | None:
        """Return the value of a command; a sign is in it for each late macro if a node `fills` it.

        Raises Unreadable if the commands of all nodes are too long.
        """
        late = {name: sign for name, sign in _SIGNS.items() if name == "retry" or node.is_final}
        text = file.command(name, {**macros, **late})
        self.characters += len(text or "")
        if self.characters > MOST_BYTES:
            most = f"{MOST_BYTES:,}"
            raise Unreadable(f"{node.where}: the commands of all nodes have over {most} characters")
        for macro, sign in late.items():
            if text and not fills and sign in text:
                what = f"`$({macro.upper()})` of `{name}`: it is 0 in each attempt"
                self.draft.leave_out(node.submit, what)
                text = text.replace(sign, "0")
        return text


def quoted(word: str) -> str:
    """Quote a word for the shell, which replaces the signs of late macros in it."""
    quoted = shlex.quote(word)
    for name, sign in _SIGNS.items():
        value = f'"{LATE[name]}"'
        quoted = quoted.replace(sign, f"'{value}'" if quoted[0] == "'" else value)
    return quoted
