"""A batch system as the loop sees it: questions go to a thread, answers come back later."""

import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from d0ctl.errors import D0Error
from d0ctl.nodes.batch.call import CALL_S, ToolFailed, call
from d0ctl.nodes.transports.transport import Address, Transport


class Question(Struct, frozen=True):
    """A command for a tool, which ends after `limit_s`; `about` is what the loop needs to process
    the answer.
    """

    kind: str
    command: str
    stdin: bytes = b""
    about: Any = None
    limit_s: float = CALL_S


class Answer(Struct, frozen=True):
    """The output of a tool, or its error; `is_certain` is false if it may have done its work."""

    question: Question
    asked: float
    output: str | None
    error: str = ""
    is_certain: bool = True


class Engine:
    """The connection to a login node, which one thread uses for one question at a time."""

    def __init__(self, login: Address, known_hosts: Path, wake: Callable[[], object]) -> None:
        self.login = login
        self._known_hosts, self._wake = known_hosts, wake
        self._questions: queue.SimpleQueue[Question | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
        self._open = 0
        self._transport: Transport | None = None
        self._thread = threading.Thread(target=self._run, name=f"engine {login.name}", daemon=True)
        self._thread.start()

    @property
    def is_busy(self) -> bool:
        """Whether a question has no answer yet, or its answer was not collected."""
        return self._open > 0

    def ask(self, question: Question) -> None:
        """Ask without waiting."""
        self._open += 1
        self._questions.put(question)

    def answers(self) -> list[Answer]:
        """Collect the answers that have arrived."""
        found = []
        with suppress(queue.Empty):
            while True:
                found.append(self._answers.get_nowait())
                self._open -= 1
        return found

    def end(self) -> None:
        """End the thread; a running tool is left alone."""
        self._questions.put(None)
        if transport := self._transport:
            transport.close()

    def _run(self) -> None:
        while (question := self._questions.get()) is not None:
            asked = time.time()
            try:
                output = call(self._connected(), question.command, question.stdin, question.limit_s)
                answer = Answer(question, asked, output)
            except ToolFailed as error:
                answer = Answer(question, asked, None, str(error))
            except (D0Error, OSError) as error:
                answer = Answer(question, asked, None, str(error), is_certain=False)
                self._hang_up()
            self._answers.put(answer)
            self._wake()
        self._hang_up()

    def _connected(self) -> Transport:
        if self._transport is None:
            from d0ctl.nodes.transports.connect import connect  # paramiko is slow to import

            self._transport = connect(self.login, self._known_hosts)
        return self._transport

    def _hang_up(self) -> None:
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.close()
