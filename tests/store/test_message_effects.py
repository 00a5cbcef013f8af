"""What single messages do: refusals, kills, clocks and partial outputs."""

import json

from d0ctl.store import Store, lifecycle
from d0ctl.store.attempts.launching import launches
from tests.store.telling import apply, launched, progress, state
from tests.support.homes import faults
from tests.support.jobs import NOW, job, phases, simple, stage, submitted
from tests.support.messages import end_message, output, start_message
from tests.support.site import Site


def test_a_kill_that_comes_too_late_says_so() -> None:
    with launched() as (store, _):
        apply(store, [end_message(5, outputs=[output("/c/5", "f5")])])

        row = store.connection.execute("select phase, request from package where id = 5").fetchone()
        assert tuple(row) == ("done", "kill failed: it had already ended")


def test_a_refused_launch_cools_off_and_comes_back_by_itself() -> None:
    with launched() as (store, site):
        with store.writing():
            launches.refuse(store, 1, 1, "disk-full", "no space", now=NOW)
        assert phases(store)["all/1/1/1"] == "cooloff"

        site.schedule()  # the site's clock is beyond its time by now

        assert phases(store)["all/1/1/1"] == "assigned"
        assert faults(store) == {}


def test_a_refused_launch_that_is_to_be_killed_is_canceled() -> None:
    with launched() as (store, _):
        with store.writing():
            launches.refuse(store, 1, 5, "disk-full", "no space", now=NOW)

        assert phases(store)["all/1/5/1"] == "canceled"
        assert faults(store) == {}


def test_a_merge_of_many_inputs_starts_with_the_last_of_them(store: Store) -> None:
    names = [f"f{n}" for n in range(300)]
    makers = [simple(outputs=[name]) for name in names]
    submitted(store, job("many", stage(*makers), stage(simple(inputs=names))))
    site = Site.of(store, cpus=300)
    node = site.node("localhost")
    site.schedule()
    for _ in range(30):
        site.hand_out(node)
    site.order(node)
    for attempt in list(node.attempts):
        node.end(attempt, "successful")

    site.deliver(node, node.spool[:-1])
    assert phases(store)["many/2/1/1"] == "waiting"
    site.deliver(node, node.spool)

    assert phases(store)["many/2/1/1"] == "ready"
    assert faults(store) == {}


def test_a_suspended_package_says_why_and_a_request_for_it_is_done() -> None:
    with launched() as (store, _):
        apply(store, [start_message(1)])
        store.connection.execute("update package set request = 'pause' where id = 1")
        assert launches.requested(store, 1) == {1: "pause"}

        apply(store, [state(1, 2, "suspended")])

        row = store.connection.execute("select phase, note, request from package where id = 1")
        assert tuple(row.fetchone()) == ("suspended", "it is suspended", None)
        assert launches.requested(store, 1) == {}


def test_a_package_that_stays_suspended_says_for_which_cause() -> None:
    with launched() as (store, _):
        full = "the disk has 0 B left; stopped by SIGSTOP"
        apply(store, [start_message(1), {**state(1, 2, "suspended"), "why": "paused on request"}])
        store.connection.execute("update package set request = 'resume' where id = 1")

        apply(store, [{**state(1, 4, "suspended"), "why": full}])
        apply(store, [{**state(1, 3, "suspended"), "why": "paused on request; late"}])

        row = store.connection.execute("select phase, note, request from package where id = 1")
        assert tuple(row.fetchone()) == ("suspended", full, None)


def test_a_node_that_comes_back_has_its_packages_in_the_phase_reported_last() -> None:
    with launched() as (store, site):
        apply(store, [start_message(1), state(1, 2, "suspended"), start_message(2)])
        node = site.node("localhost")
        node.attempts = dict.fromkeys(node.attempts, "running")
        site.unlink(node)
        assert phases(store)["all/1/1/1"] == "unreachable"

        node.attempts = dict.fromkeys(range(1, 7), "running")
        site.link(node)

        assert [phases(store)[f"all/1/{line}/1"] for line in (1, 2)] == ["suspended", "running"]


def test_progress_counts_in_the_order_of_the_attempt_and_goes_with_its_end() -> None:
    with launched() as (store, _):
        apply(store, [start_message(1), progress(1, 5, 50.0, eta=NOW + 65.0)])
        apply(store, [progress(1, 3, 30.0)])

        row = store.connection.execute("select percent, eta from progress").fetchone()
        assert tuple(row) == (50.0, NOW + 5 + 60)

        apply(store, [end_message(1, "failed", "exit-code")])
        assert store.connection.execute("select count(*) from progress").fetchone()[0] == 0
        assert faults(store) == {}


def test_progress_goes_when_an_unreachable_package_is_given_up() -> None:
    with launched() as (store, site):
        apply(store, [start_message(1), progress(1, 2, 50.0)])
        site.unlink(site.node("localhost"))
        with store.writing():
            lifecycle.kill(store.select([1]), actor="tester", note=None, now=NOW + 6)

        assert phases(store)["all/1/1/1"] == "canceled"
        assert store.connection.execute("select count(*) from progress").fetchone()[0] == 0
        assert faults(store) == {}


def test_times_of_a_node_whose_clock_is_a_day_ahead_are_corrected() -> None:
    day = 86400.0
    with launched() as (store, _):
        store.connection.execute("update node set clock = ?", [day])
        ahead = {"started": NOW + day, "ended": NOW + day + 1}
        end = end_message(1, outputs=[output("/c/1", "f1")])
        binaries = [{**end["binaries"][0], **ahead}]

        apply(store, [{**start_message(1), "time": NOW + day}])
        apply(store, [{**end, **ahead, "binaries": binaries}])

        times = "select started, ended from"
        assert tuple(store.connection.execute(f"{times} attempt where id = 1").fetchone()) == (
            NOW,
            NOW + 1,
        )
        assert tuple(store.connection.execute(f"{times} binary_attempt").fetchone()) == (
            NOW,
            NOW + 1,
        )


def test_partial_output_of_an_early_end_is_there_and_marked() -> None:
    with launched() as (store, _):
        store.connection.execute("update package set request = 'kill partial' where id = 5")
        assert launches.killing(store, 1) == {5: "kill partial"}
        end = end_message(5, "killed", "killed", outputs=[output("/c/5", "f5")])

        apply(store, [{**end, "partial": True}])

        assert phases(store)["all/1/5/1"] == "canceled"
        row = store.connection.execute("select present, partial from file where name = 'f5'")
        assert tuple(row.fetchone()) == (1, 1)
        assert faults(store) == {}


def test_of_a_dropped_package_no_partial_output_is_kept() -> None:
    with launched() as (store, _):
        store.connection.execute("update package set request = 'drop' where id = 5")
        end = end_message(5, "killed", "killed", outputs=[output("/c/5", "f5")])

        apply(store, [{**end, "partial": True}])

        row = store.connection.execute("select present from file where name = 'f5'")
        assert row.fetchone()[0] == 0


def test_states_count_in_the_order_of_the_attempt_when_its_clock_jumps_back() -> None:
    with launched() as (store, _):
        apply(store, [start_message(1)])

        suspended, running = state(1, 4, "suspended"), {**state(1, 5, "running"), "time": NOW - 900}
        apply(store, [suspended, running])

        assert phases(store)["all/1/1/1"] == "running"
        apply(store, [{**state(1, 3, "suspended"), "time": NOW + 900}])
        assert phases(store)["all/1/1/1"] == "running"


def test_a_clock_that_is_days_ahead_makes_no_attempt_long() -> None:
    with launched() as (store, _):
        days = 3 * 86400.0
        rules = {"exit-code": {"tries": 2, "delay": [0.0]}}
        store.connection.execute("update node set clock = ?", [days])
        with store.writing():
            store.change("keep_setting", name="policy", value=json.dumps(rules))
        end = end_message(4, "failed", "exit-code")

        apply(store, [{**start_message(4), "time": NOW + days}])
        apply(store, [{**end, "started": NOW + days, "ended": NOW + days + 1}])

        assert phases(store)["all/1/4/1"] in ("ready", "cooloff", "assigned")


def history(store: Store, package: int) -> list[tuple[object, ...]]:
    """What the history has of a package since its launch."""
    return [tuple(row) for row in store.connection.execute(
        "select old, new, attempt_id, node_id, actor, note, at from event"
        " where package_id = ? order by id", [package]
    )][-2:]  # fmt: skip


def test_the_history_is_the_same_whether_start_and_end_come_together_or_not() -> None:
    with launched() as (store, _):
        apply(store, [start_message(1), end_message(1, outputs=[output("/c/1", "f1")])])
        apply(store, [start_message(2)])
        apply(store, [end_message(2, outputs=[output("/c/2", "f2")])])

        expected = [("starting", "running"), ("running", "done")]
        for package in (1, 2):
            found = history(store, package)
            assert [row[:2] for row in found] == expected
            assert {row[2:] for row in found} == {(package, 1, None, None, NOW + 5)}
        assert faults(store) == {}


def test_the_history_of_a_result_that_is_brought_has_that_its_package_ran() -> None:
    with launched() as (store, _):
        apply(store, [start_message(6), end_message(6, outputs=[output("/c/6", "result")])])

        found = [row[:2] for row in history(store, 6)]
        assert found == [("starting", "running"), ("running", "transferring")]


def test_a_start_and_an_end_that_fails_have_both_in_the_history() -> None:
    with launched() as (store, _):
        apply(store, [start_message(1), end_message(1, "failed", "exit-code")])

        assert history(store, 1)[0][:2] == ("starting", "running")


def test_a_package_that_is_killed_is_not_said_to_run() -> None:
    with launched() as (store, _):
        apply(store, [start_message(5), end_message(5, outputs=[output("/c/5", "f5")])])

        assert [row[:2] for row in history(store, 5)][-1] == ("killing", "done")
