"""Pauses and links driven at random: each attempt does what a person asked of it last."""

from hypothesis import settings
from hypothesis.stateful import initialize, invariant, rule

from tests.store.life import PICK
from tests.store.test_life import MACHINES, Life
from tests.support.examples import examples

LAUNCHED = """\
select id from package where phase in
 ('starting', 'staging-in', 'running', 'suspended', 'unreachable') order by id
"""


class Pauses(Life):
    """Launched packages that people pause and resume, while links come and go."""

    # what pauses do not depend on takes no steps from the search
    update = drop = restore = retry = kill = hold = release = pause = resume = None  # type: ignore[assignment]
    lose_a_file = get_on = get_on_further = end_jobs = reboot = None  # type: ignore[assignment]

    @initialize(of=PICK)
    def launch_first(self, of: int) -> None:
        """Begin with packages on both nodes."""
        self.begin(of)

    @rule(of=PICK)
    def begin(self, of: int) -> None:
        """Launch packages on both nodes, whose start the driver may not have heard of yet."""
        self.site.schedule()
        self.site.carry()
        for node in self.site.nodes.values():
            self.site.hand_out(node)
            if of % 3:
                self.site.order(node)
            if of % 2:
                self.site.deliver(node, node.spool)

    @rule(pick=PICK)
    def pause_a_launched_package(self, pick: int) -> None:
        self.ask_a_launched_package("ask_to_pause", pick)

    @rule(pick=PICK)
    def resume_a_launched_package(self, pick: int) -> None:
        self.ask_a_launched_package("ask_to_resume", pick)

    def ask_a_launched_package(self, query: str, pick: int) -> None:
        launched = [row[0] for row in self.store.connection.execute(LAUNCHED)]
        if launched:
            package = launched[pick % min(2, len(launched))]
            self.by_a_person(query, self.packages.index(package))

    @invariant()
    def a_request_to_resume_is_never_lost(self) -> None:
        """A package that was suspended when it was last heard of is paused, or asked to resume."""
        rows = self.store.connection.execute(
            "select package.attempt_id from package join attempt on attempt.id = attempt_id"
            " where package.phase in ('suspended', 'unreachable')"
            "   and attempt.phase = 'suspended' and package.request is not 'resume'"
        )
        assert [row[0] for row in rows if not self.paused.get(row[0])] == []


TestPauses = Pauses.TestCase
TestPauses.settings = settings(MACHINES, max_examples=examples(25))


BOTH = (0, 1)
"""Both nodes."""


def on_both(*moves: str) -> list[tuple[object, ...]]:
    """Each of these moves on one node and on the other."""
    return [(move, node) for move in moves for node in BOTH]


SUSPENDED = [
    ("begin", 1),
    ("pause_a_launched_package", 0),
    *on_both("launch", "obey", "deliver_all"),
]


def test_a_package_that_is_resumed_while_its_node_is_away_goes_on_once_it_is_back() -> None:
    Pauses.replay(*SUSPENDED, *on_both("unlink"), ("resume_a_launched_package", 0))


def test_a_package_that_is_paused_while_its_node_is_away_is_suspended_once_it_is_back() -> None:
    Pauses.replay(("begin", 1), *on_both("unlink"), ("pause_a_launched_package", 0))


def test_a_suspended_package_is_still_paused_after_its_node_was_away() -> None:
    Pauses.replay(*SUSPENDED, *on_both("unlink"))


def test_a_resume_holds_for_a_pause_that_the_node_has_not_confirmed() -> None:
    Pauses.replay(
        ("begin", 1), ("pause_a_launched_package", 0),
        *on_both("launch", "obey", "unlink"), ("resume_a_launched_package", 0),
    )  # fmt: skip


def test_a_start_that_was_not_heard_of_is_no_answer_to_a_resume() -> None:
    Pauses.replay(
        ("begin", 4), ("pause_a_launched_package", 0), *on_both("launch", "obey"),
        ("resume_a_launched_package", 0), *[("deliver", node, [0]) for node in BOTH],
    )  # fmt: skip
