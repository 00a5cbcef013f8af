"""A plug-in in a process of its own, for callers that must not wait for it.

The process stays for further calls. Each call is a line of JSON, and so is its answer.
"""

import json
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import Any

from d0ctl.plugins import Plugin, PluginFailed, named

START_S = 10.0
"""How long the import of a plug-in may take."""

MOST_ANSWERED = 100_000
"""How many bytes an answer may have."""


class PluginTimeout(PluginFailed):
    """A plug-in that did not answer in time."""


class PluginProcess:
    """A plug-in that answers in a process of its own."""

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin
        self._process: subprocess.Popen[bytes] | None = None

    def call(self, argument: Any, *, longest: float) -> Any:
        """Return its answer. Raises PluginFailed, and PluginTimeout after `longest` seconds.

        A process that does not answer is ended; the next call starts another.
        """
        try:
            if self._process is None:
                self._process = self._begin()
                self._answer(self._process, START_S)
            return self._ask(self._process, argument, longest)
        except PluginTimeout:
            self.end()
            raise
        except OSError as error:
            self.end()
            raise self._plugin.failed(f"ended without an answer: {error.strerror}") from error

    def end(self) -> None:
        """End the process and everything it has started."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with suppress(OSError):
                        stream.close()

    def _begin(self) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-P", "-m", __name__, self._plugin.kind, self._plugin.name]
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            start_new_session=True, cwd="/",
        )  # fmt: skip

    def _ask(self, process: "subprocess.Popen[bytes]", argument: Any, longest: float) -> Any:
        assert process.stdin is not None
        process.stdin.write(json.dumps(argument).encode() + b"\n")
        process.stdin.flush()
        return self._answer(process, longest)

    def _answer(self, process: "subprocess.Popen[bytes]", longest: float) -> Any:
        try:
            answer = json.loads(self._line(process, longest))
        except ValueError as error:
            self.end()
            raise self._plugin.failed("gave an answer that can't be read") from error
        if "failed" in answer:
            raise PluginFailed(answer["failed"])
        return answer["found"]

    def _line(self, process: "subprocess.Popen[bytes]", longest: float) -> bytes:
        assert process.stdout is not None
        descriptor, deadline, line = process.stdout.fileno(), time.monotonic() + longest, b""
        while not line.endswith(b"\n"):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                raise PluginTimeout(str(self._plugin.failed(f"took longer than {longest:g} s")))
            piece = os.read(descriptor, 65536)
            if not piece or len(line) > MOST_ANSWERED:
                self.end()
                raise self._plugin.failed("ended without an answer")
            line += piece
        return line


def main() -> None:
    """Answer each line of stdin with a plug-in; its own output is discarded."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    kind, name = sys.argv[1:3]

    def answer(said: dict[str, Any]) -> None:
        print(json.dumps(said), file=answers, flush=True)

    try:
        plugin = named(kind, name)
        if plugin is None:
            raise PluginFailed(f"no installed package has a {kind} `{name}`")
        plugin.function()
    except PluginFailed as error:
        answer({"failed": str(error)})
        return
    answer({"found": None})
    for line in sys.stdin:
        try:
            answered = plugin.call(json.loads(line))
            answer({"found": _plain(answered)})
        except PluginFailed as error:
            answer({"failed": str(error)})


def _plain(found: Any) -> Any:
    """Return the result of a plug-in as JSON has it; for any other value, its repr."""
    try:
        return json.loads(json.dumps(found))
    except (TypeError, ValueError, RecursionError):
        return repr(found)[:200]


if __name__ == "__main__":
    main()
