"""A node that attacks costs the control host little, and the packages of other nodes nothing."""

from collections.abc import Iterator

import pytest

from tests.hostile.relay import ENDLESS
from tests.hostile.trial import ATTACKS, HONEST, Field, battlefield

MOST_DISK = 20_000_000
"""How many bytes of files an attack may leave in the home."""

MOST_PASSING = 100_000_000
"""How many more there may be until they are read."""

MOST_MEMORY = 400_000_000
"""How many bytes of memory the daemon may take at its peak."""

MOST_DATABASE = 1_000_000
"""By how many bytes an attack may make the database grow."""

MOST_PRINTED = 200_000
"""How many characters a command may print about the job of an attack."""

OVERALL = (("report", "failures"), ("node", "list"), ("status",), ("status", "--json"))
"""What people ask about all jobs."""


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Field]:
    """One hostile node, an honest one, and one daemon that goes through all attacks."""
    with battlefield(tmp_path_factory.mktemp("hostile") / "site") as field:
        yield field


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_bounded_and_harms_no_other_node(field: Field, attack: str) -> None:
    found = field.trial(attack)

    assert found.disk - found.disk_before < MOST_DISK
    assert found.disk_most - found.disk < MOST_PASSING
    assert found.peak < MOST_MEMORY
    assert found.database - found.database_before < MOST_DATABASE
    assert field.honest_attempts(attack) == [("successful",)] * HONEST
    assert found.phase != "done"
    for words, done in field.verbs(attack):
        assert (done.code, done.err) == (0, ""), words
        assert len(done.out) < MOST_PRINTED, words


def test_no_attack_makes_a_command_about_all_jobs_fail(field: Field) -> None:
    for words in OVERALL:
        done = field.site.d0ctl(*words)

        assert (done.code, done.err) == (0, ""), words
        assert len(done.out) < MOST_PRINTED, words


def test_a_relay_that_never_ends_its_hello_is_bounded_and_delays_no_other(field: Field) -> None:
    found = field.endless()

    assert found.peak < MOST_MEMORY
    assert found.database - found.database_before < MOST_DATABASE
    assert field.honest_attempts(ENDLESS) == [("successful",)] * HONEST
