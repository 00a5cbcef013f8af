"""Events that are over before they are reported, or that end what was reported."""

from typing import Any

from d0ctl.model import Address
from d0ctl.policy.remarks import NodeFailing, noted
from d0ctl.show.drawing.remark_texts import remark
from d0ctl.store import Store
from d0ctl.store.attempts import messages
from d0ctl.store.attempts.launching import launches
from d0ctl.store.nodes import placement, registry
from tests.notify.conftest import Notified, Say
from tests.notify.events import NOW, down, end, fail, held_by_policy, many, moves_again, release
from tests.support.rows import delete, insert
from tests.support.site import Site


def test_people_notified_of_a_standstill_hear_that_the_job_moves_again(
    site: Site, say: Say, notified: Notified, carry: Any
) -> None:
    say()
    site.submit(many(1))
    end(site)
    carry(NOW)
    moves_again(site)
    notified.collect()
    notified.collect()

    (notice,) = notified.waiting()
    assert (notice.kind, notice.reason) == ("cleared", "still")
    end(site, NOW + 1)
    notified.collect()
    assert sorted(notified.kinds()) == ["ended", "failures"]


def test_a_job_that_stood_still_and_succeeds_is_reported_as_successful_only(
    site: Site, say: Say, notified: Notified, carry: Any
) -> None:
    say()
    site.submit(many(1))
    end(site)
    carry(NOW)
    moves_again(site)
    notified.collect()
    site.finish("prod/1/1/1")
    with site.store.writing():
        placement.end_jobs(site.store, now=NOW + 1)
    notified.collect()

    assert sorted(notified.kinds()) == ["ended"]


def test_a_node_that_comes_back_with_another_host_key_needs_a_person(
    site: Site, say: Say, notified: Notified
) -> None:
    say()
    down(site, "connection broke")
    notified.collect()
    assert notified.kinds("admin@lab.example") == ["node-down"]

    down(site, "the host key of `localhost` has changed: it is SHA256:x")
    notified.collect()

    assert notified.kinds("admin@lab.example") == ["node-down", "node-mistrusted"]
    (notice,) = [n for n in notified.waiting("admin@lab.example") if n.kind == "node-mistrusted"]
    assert notice.needs_a_person and "has changed" in notice.samples[0]["message"]
    site.up()
    notified.collect()
    assert notified.kinds("admin@lab.example") == []


def test_a_problem_that_is_over_before_it_is_sent_is_not_sent(
    site: Site, say: Say, notified: Notified
) -> None:
    say()
    site.submit(many(1))
    end(site)
    down(site)
    notified.collect()
    assert sorted(notified.kinds()) == ["ended", "failures"]
    assert notified.kinds("admin@lab.example") == ["node-down"]

    moves_again(site)
    site.up()
    notified.collect()

    assert notified.kinds() == ["failures"]
    assert notified.kinds("admin@lab.example") == []


def test_a_node_that_is_back_is_reported_once(
    site: Site, say: Say, notified: Notified, carry: Any, store: Store
) -> None:
    say()
    down(site)
    notified.collect(NOW)
    carry(NOW + 400)
    notified.collect()
    assert notified.kinds("admin@lab.example") == []
    site.up()
    for _ in range(3):
        notified.collect()

    assert notified.kinds("admin@lab.example") == ["cleared"]
    assert store.rows("notified_of", kind="node-down", subject_id=1) == []


def test_a_node_that_is_down_again_is_not_reported_as_back(
    site: Site, say: Say, notified: Notified, carry: Any
) -> None:
    say()
    down(site)
    notified.collect(NOW)
    carry(NOW + 400)
    site.up()
    notified.collect()
    down(site)
    notified.collect()

    assert notified.kinds("admin@lab.example") == ["node-down"]


def test_a_node_that_was_removed_is_not_reported_as_back(
    site: Site, say: Say, notified: Notified, carry: Any, store: Store
) -> None:
    say()
    down(site)
    notified.collect(NOW)
    carry(NOW + 400)
    registry.forget(store, "localhost", now=NOW)
    notified.collect()

    assert notified.kinds("admin@lab.example") == []


def test_a_node_given_up_is_sent_even_to_people_who_want_only_urgent_mail(
    site: Site, say: Say, notified: Notified, carry: Any
) -> None:
    say(mode="when-needed")
    registry.add(site.store, Address("other", "ssh", "other"), cpus=2)
    site.up("other", machine_id="m2")
    site.submit(many(2))
    for number in (1, 2):
        site.launch(f"prod/1/{number}/1")
    down(site)
    notified.collect()
    assert notified.kinds("admin@lab.example") == []
    with site.store.writing():
        lost = launches.unreachable(site.store, 1)
        messages.fail(site.store, 1, lost, reason="platform-failure", message="gone", now=NOW)
    notified.collect()

    (notice,) = notified.waiting("admin@lab.example")
    assert (notice.kind, notice.count) == ("node-given-up", 2)
    carry(NOW + 400)
    site.up()
    notified.collect()
    assert notified.kinds("admin@lab.example") == ["cleared"]


FAILING = NodeFailing("sim/1", 3, 2.0, {"exit-code": 3}, {"successful": 9, "failed": 0})


def test_a_drained_node_is_reported_with_evidence_and_when_it_is_well_again(
    site: Site, say: Say, notified: Notified, carry: Any, store: Store
) -> None:
    say(mode="when-needed")
    insert(store, "bad_node", node_id=1, job_id=1, stage_id=1, since=5.0, began=1.0,
           evidence=noted(FAILING), next_try=600.0)  # fmt: skip
    notified.collect()

    (notice,) = notified.waiting("admin@lab.example")
    assert (notice.kind, notice.samples[0]["message"]) == ("node-drained", remark(noted(FAILING)))
    carry()
    delete(store, "bad_node")
    notified.collect()
    assert notified.kinds("admin@lab.example") == ["cleared"]


def test_a_release_is_sent_to_people_who_were_notified_of_the_hold(
    site: Site, say: Say, notified: Notified, carry: Any
) -> None:
    say()
    held_by_policy(site)
    site.submit(many(2))
    for number in (1, 2):
        fail(site, f"prod/1/{number}/1")
    notified.collect()
    carry(NOW + 400)
    release(site, "prod/1/1/1")
    notified.collect()
    assert notified.kinds() == []
    release(site, "prod/1/2/1")
    notified.collect()

    assert [(notice.kind, notice.reason) for notice in notified.waiting()] == [("cleared", "held")]
