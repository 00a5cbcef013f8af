"""The site's broker, called in a thread of its own: no turn waits for it."""

import logging
import math
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.plugin_process import PluginProcess
from d0ctl.plugins import Plugin, PluginFailed, named
from d0ctl.schedule.resources import NodeRoom, Requirement
from d0ctl.store import Store, brokers
from d0ctl.store.brokers import BrokerAnswer
from d0ctl.units import clean

log = logging.getLogger("d0ctl")

LONGEST_S = 1.0
"""How long a broker may take for one question."""

HOLDS_S = 10.0
"""How long an answer is valid; then the question is repeated, with the old answer meanwhile."""

RESTS_S = 60.0
"""How long a broker that has failed is not asked."""

FORGET_S = 600.0
"""How long an answer is kept while none of its packages is ready."""

MOST_ASKED = 20
"""How many questions a turn may ask."""

MOST_SAID = 200
"""How many characters of a reason are kept."""


class _Answered(Struct):
    """An answer, its nodes, and when it was given, by the monotonic clock."""

    answer: BrokerAnswer
    nodes: frozenset[str]
    at: float


class _Question(NamedTuple):
    requirement: int
    nodes: frozenset[str]
    asked: Mapping[str, Any]


class Broker:
    """A broker with its process and its answers."""

    def __init__(self, name: str, wake: Callable[[], None]) -> None:
        self.name = name
        self._wake = wake
        self._process: PluginProcess | None = None
        self._questions: queue.SimpleQueue[_Question | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[tuple[_Question, BrokerAnswer]] = queue.SimpleQueue()
        self._asked: set[int] = set()
        self._known: dict[int, _Answered] = {}
        self._failure = ""
        self._is_ended = False
        self._rests_until = 0.0
        self._thread = threading.Thread(target=self._work, name=f"broker {name}", daemon=True)
        self._thread.start()

    def weigh(
        self, store: Store, requirements: Sequence[Requirement], nodes: Sequence[NodeRoom],
        *, now: float,
    ) -> list[Requirement]:  # fmt: skip
        """Return the requirements with its opinion of nodes; new ones wait for an answer."""
        self._take_answers(store, now)
        names, moment = frozenset(node.name for node in nodes), time.monotonic()
        left = MOST_ASKED
        found = []
        for requirement in requirements:
            known = self._known.get(requirement.id)
            is_old = known is None or known.nodes != names or moment - known.at > HOLDS_S
            if is_old and left and requirement.id not in self._asked and not requirement.stay:
                left -= self._ask(store, requirement, nodes, names)
            if requirement.stay:
                found.append(requirement)
            elif known is not None:
                answer = known.answer
                found.append(
                    replace(requirement, refused=answer.refused, preferred=answer.preferred)
                )
        return found

    def end(self) -> None:
        """End the process and the thread."""
        self._is_ended = True
        self._questions.put(None)
        self._thread.join(LONGEST_S)
        if self._process is not None:
            self._process.end()

    def _ask(
        self,
        store: Store,
        requirement: Requirement,
        nodes: Sequence[NodeRoom],
        names: frozenset[str],
    ) -> int:
        asked = brokers.question(store, requirement, nodes)
        if asked is None:
            return 0
        self._asked.add(requirement.id)
        self._questions.put(_Question(requirement.id, names, asked))
        return 1

    def _take_answers(self, store: Store, now: float) -> None:
        moment = time.monotonic()
        while not self._answers.empty():
            question, answer = self._answers.get()
            self._asked.discard(question.requirement)
            known = self._known.get(question.requirement)
            if known is None or known.answer != answer:
                brokers.keep(store, self.name, question.requirement, answer, now=now)
            self._known[question.requirement] = _Answered(answer, question.nodes, moment)
        for requirement in [
            key for key, known in self._known.items() if moment - known.at > FORGET_S
        ]:
            del self._known[requirement]

    # in the thread --------------------------------------------------------------------------

    def _work(self) -> None:
        while (question := self._questions.get()) is not None and not self._is_ended:
            self._answers.put((question, self._answer(question)))
            self._wake()

    def _answer(self, question: _Question) -> BrokerAnswer:
        if time.monotonic() < self._rests_until:
            return BrokerAnswer(error=self._failure)
        try:
            plugin = named("broker", self.name)
            if plugin is None:
                raise PluginFailed(f"no installed package has the broker `{self.name}`")
            if self._process is None:
                self._process = PluginProcess(plugin)
            found = self._process.call(question.asked, longest=LONGEST_S)
            return read(plugin, found)
        except PluginFailed as error:
            self._failure = str(error)
            self._rests_until = time.monotonic() + RESTS_S
            if not self._is_ended:
                log.error("%s; nodes are chosen without it for a minute", error)
            return BrokerAnswer(error=self._failure)


def read(plugin: Plugin, found: Any) -> BrokerAnswer:
    """Read the answer of a broker. Raises PluginFailed."""
    if found is None:
        return BrokerAnswer()
    if not isinstance(found, dict):
        raise plugin.failed(f"must return a mapping of nodes, not {str(found)[:MOST_SAID]!r}")
    refused, preferred = {}, {}
    for node, said in found.items():
        if isinstance(said, str):
            refused[node] = clean(" ".join(said.split()))[:MOST_SAID] or "no reason given"
        elif isinstance(said, int | float) and not isinstance(said, bool) and math.isfinite(said):
            preferred[node] = float(said)
        elif said is not None:
            raise plugin.failed(
                f"must return a number, a reason or None for node `{node}`, not {said!r}"
            )
    return BrokerAnswer(refused, preferred)
