"""When an attempt began to run, and when its wrapper started, which may stage in before that."""

from d0ctl.jobfile.spec import InputSpec
from d0ctl.store import Store
from d0ctl.store.attempts import messages
from d0ctl.store.attempts.launching import launches
from d0ctl.store.views import one_package
from tests.store.failing import launch
from tests.store.telling import apply, launched, state
from tests.support.jobs import NOW, job, simple, submitted
from tests.support.messages import Message, end_message, start_message
from tests.support.rows import change, read, value
from tests.support.site import Site


def times(store: Store, attempt: int = 1) -> tuple[float | None, float | None]:
    """When the wrapper of an attempt started, and when the attempt began to run."""
    return (value(store, "attempt", "wrapper_started", id=attempt),
            value(store, "attempt", "started", id=attempt))  # fmt: skip


def staging(attempt: int = 1) -> Message:
    """The start message of a wrapper that stages in."""
    return {**start_message(attempt), "phase": "staging-in"}


def running(attempt: int = 1) -> Message:
    """Its message that it runs, 20 s later."""
    return {**state(attempt, 3, "running"), "started": NOW + 20}


def test_a_package_that_stages_in_has_not_begun_to_run() -> None:
    with launched() as (store, _):
        apply(store, [staging(), {**state(1, 2, "staging-in"), "started": None}])
        assert times(store) == (NOW, None)

        apply(store, [running()])
        assert times(store) == (NOW, NOW + 20)


def test_a_message_after_the_first_one_says_when_the_run_began() -> None:
    with launched() as (store, _):
        apply(store, [{**state(1, 5, "running"), "time": NOW + 70, "started": NOW + 20}])
        assert times(store) == (None, NOW + 20)

        apply(store, [staging(), running()])
        assert times(store) == (NOW, NOW + 20)


def test_an_attempt_that_has_its_cpus_from_the_start_runs_from_then() -> None:
    with launched() as (store, _):
        apply(store, [start_message(1)])
        assert times(store) == (NOW, NOW)


def test_one_that_is_resumed_while_it_stages_in_has_not_begun_to_run() -> None:
    resumed = {**state(1, 3, "running"), "started": None}
    status = {
        "wrapper_started": NOW,
        "started": None,
        "seq": 3,
        "phase": "running",
        "why": "resumed",
    }
    with launched() as (store, site):
        apply(store, [staging(), {**state(1, 2, "suspended"), "started": None}, resumed])
        with store.writing():
            messages.take_status(store, site.node("localhost").id, 1, status, now=NOW + 9)
        assert times(store) == (NOW, None)


def test_a_package_that_is_resumed_while_it_stages_in_goes_on_with_that() -> None:
    with launched() as (store, _):
        apply(store, [staging(), {**state(1, 2, "suspended"), "started": None}])
        change(store, "package", {"id": 1}, request="resume")

        apply(store, [{**state(1, 3, "staging-in"), "started": None}])
        assert value(store, "package", "phase", id=1) == "staging-in"
        assert value(store, "package", "request", id=1) is None

        apply(store, [{**running(), "seq": 4}])
        assert value(store, "package", "phase", id=1) == "running"


def test_a_delivery_that_has_to_run_binaries_waits_for_its_cpus() -> None:
    with launched() as (store, _):
        apply(store, [start_message(1)])
        apply(store, [{**state(1, 2, "staging-in"), "started": NOW}])

        assert value(store, "package", "phase", id=1) == "staging-in"


def test_the_end_alone_says_when_wrapper_and_run_began() -> None:
    with launched() as (store, _):
        apply(store, [{**end_message(1), "wrapper_started": NOW - 60, "started": NOW}])
        apply(store, [{**end_message(2, "failed", "stage-in"), "wrapper_started": NOW,
                       "started": None}])  # fmt: skip

        assert times(store) == (NOW - 60, NOW)
        assert times(store, 2) == (NOW, None), "it failed before it ran"


def test_an_attempt_that_was_staging_in_on_its_node_is_not_launched_again() -> None:
    with launched() as (store, site):
        apply(store, [staging()])
        with store.writing():
            found = launches.reconcile(store, site.node("localhost").id, {}, now=NOW + 9)

    assert found.lost == [1]
    assert 1 not in [launch["attempt"] for launch in found.launch]


def test_a_file_that_was_replaced_while_its_reader_waited_for_cpus_was_read_before(
    store: Store,
) -> None:
    submitted(store, job("one", [simple(inputs=[InputSpec("/jobs/raw", made=False)])]))
    launch(Site.of(store, cpus=2))
    change(store, "attempt", launched=NOW)
    apply(store, [{**end_message(1), "wrapper_started": NOW + 1, "started": NOW + 60,
                   "ended": NOW + 90}])  # fmt: skip
    change(store, "file", {"name": "/jobs/raw"}, checksum="sha256:" + "7" * 64)
    replaced = {"checksum": "sha256:" + "8" * 64, "replaced": NOW + 30}
    change(store, "file", {"name": "/jobs/raw"}, **replaced)

    (raw,) = one_package.inputs(store, 1)
    assert read(store, "earlier_reader", "package_id", by="1") == [(1,)]
    assert raw.has_changed_since(one_package.attempts(store, 1)[0])


def test_a_failure_lasts_from_the_start_of_its_wrapper_if_it_did_not_run(store: Store) -> None:
    submitted(store, job("one", [simple()]))
    launch(Site.of(store, cpus=2))
    failed = {**end_message(1, "failed", "stage-in"), "started": None}
    apply(store, [{**failed, "wrapper_started": NOW, "ended": NOW + 40}])

    assert value(store, "node_record", "lasted") == 40.0
