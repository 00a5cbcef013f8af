"""Space that a person asks for on a node: which copies go, and what they cost."""

import pytest

from d0ctl import actions
from d0ctl.actions.action import NodeName
from d0ctl.actions.nodes.node_free import FreePlan
from d0ctl.errors import Refused
from d0ctl.jobfile.spec import Disposition
from d0ctl.store import Store
from tests.store.copying import copies, made, purged, work
from tests.support.homes import faults
from tests.support.jobs import NOW, job, phases, simple, stage, submitted
from tests.support.rows import change
from tests.support.site import Site

TEMP, INDEF = Disposition.RETAIN_TEMP, Disposition.RETAIN_INDEF


def free(store: Store, wanted: int) -> FreePlan:
    """Make so much space on this machine."""
    request = actions.request("node free", NodeName("localhost"), wanted=wanted)
    plan = actions.apply(store, request, actor="ada", note=None, now=NOW)
    assert isinstance(plan, FreePlan)
    return plan


def done(store: Store, *outputs: str, **dispositions: Disposition) -> None:
    """A job whose files have been read and stay, each with a size of its own."""
    kept = [made(name, dispositions.get(name, TEMP)) for name in outputs]
    makers = [simple(outputs=[output]) for output in kept]
    submitted(store, job("two", stage(*makers), stage(simple(inputs=list(outputs)))))
    work(store, Site.of(store, cpus=2))
    with store.writing():
        for number, name in enumerate(outputs, 1):
            change(store, "file", {"name": name}, size=100 * number)
            store.connection.execute(
                "update attempt set ended = started + ? where package_id ="
                " (select package_id from file where name = ?)",
                [1000 / number, name],
            )


def test_copies_with_the_least_run_time_per_byte_go_first_and_no_more_than_asked(
    store: Store,
) -> None:
    done(store, "slow", "quick")

    plan = free(store, 150)

    assert [copy.name for copy in plan.copies] == ["two:quick"]
    assert actions.report(plan) == [
        "freed 200 B on `localhost`: 1 copy",
        "1 file would be made again if read: 8 min 20 s of run time",
    ]
    assert (copies(store, "quick"), len(copies(store, "slow"))) == ([], 1)
    assert len(purged(store)) == 1
    assert faults(store) == {}


def test_files_kept_by_a_disposition_stay(store: Store) -> None:
    done(store, "a", "b", b=INDEF)

    plan = free(store, 1000)

    assert [copy.name for copy in plan.copies] == ["two:a"]
    assert actions.report(plan)[0] == (
        "freed 100 B on `localhost`, less than the 1.0 kB requested: 1 copy"
    )


def test_a_file_that_a_package_still_needs_stays_and_the_request_is_refused(store: Store) -> None:
    submitted(
        store,
        job("one", stage(simple(outputs=[made("a", TEMP)])),
            stage(simple(inputs=["a"], nodes=("nowhere",)))),
    )  # fmt: skip
    work(store, Site.of(store, cpus=2))

    with pytest.raises(Refused, match="nothing in the cache of `localhost` can be removed") as told:
        free(store, 1)

    assert (told.value.hint or "").startswith("d0ctl file list '*:*' --node localhost ")
    assert len(copies(store, "a")) == 1


def test_files_are_not_advised_where_there_are_none(store: Store) -> None:
    with pytest.raises(Refused) as told:
        free(store, 1)

    assert told.value.hint is None


def test_unread_files_are_left_to_a_person(store: Store) -> None:
    submitted(store, job("one", [simple(outputs=["a"])]))
    work(store, Site.of(store, cpus=2))

    with pytest.raises(Refused):
        free(store, 1)


def test_a_file_that_was_given_up_is_made_again_for_a_reader_in_another_job(store: Store) -> None:
    done(store, "a")
    free(store, 1)
    submitted(store, job("late", [simple(inputs=["two:a"])]))

    work(store, Site.of(store, cpus=2))

    assert set(phases(store).values()) == {"done"}
    assert faults(store) == {}
