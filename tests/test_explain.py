"""`why` in every state a package, line, stage, job or node can be in."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from d0ctl.nodes.transports.transport import Address
from d0ctl.select import parse
from d0ctl.show.why import group, node, package
from d0ctl.show.why.common import Explanation
from d0ctl.store import lifecycle, open_store
from d0ctl.store.attempts.launching import launches
from d0ctl.store.nodes import contact, leases, registry
from d0ctl.store.views import browse
from d0ctl.units import iso, moment
from tests.cli.building import Site, job, line, production
from tests.cli.building import package as make
from tests.support.homes import make_home

NOW = time.time()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A home with its node, and somebody who drives."""
    with open_store(make_home(tmp_path / "home")) as store:
        with store.writing():
            leases.take_lease(store, "daemon", now=NOW)
        yield Site(store)


def why(site: Site, path: str) -> Explanation:
    """The explanation of a package."""
    return package.package(site.store, browse.package(site.store, parse(path)), time.time())


def hold(site: Site, path: str, note: str) -> None:
    """Hold a package."""
    with site.store.writing():
        lifecycle.choose(site.store, [site.id_of(path)])
        lifecycle.hold(site.store, actor="ada", note=note, now=NOW)


def test_a_waiting_package_names_the_file_its_maker_and_how_that_stands(site: Site) -> None:
    site.submit(production())

    answer = why(site, "prod/3/1/1")

    assert answer.answer == (
        "package `prod/3/1/1` waits for file `all` of `prod/2/1/1`, which is waiting"
    )
    assert answer.facts == ["the cause is `prod/1/1/1`, which is ready"]
    assert answer.commands == ["d0ctl why prod/1/1/1"]


def test_the_least_hopeful_file_comes_first(site: Site) -> None:
    site.submit(production())
    site.fail("prod/1/3/1")

    answer = why(site, "prod/1/3/2")

    assert answer.answer.startswith("package `prod/1/3/2` is blocked: it waits for")
    assert "`prod/1/3/1`" in answer.answer
    assert "which is failed" in answer.answer
    assert "d0ctl kill-line prod/1/3 --drop-outputs" in answer.commands


def test_what_is_behind_a_chain_of_waiting_makers_is_found(site: Site) -> None:
    site.submit(production())
    site.fail("prod/1/3/1")

    answer = why(site, "prod/3/1/1")

    assert "the cause is `prod/1/3/1`, which is failed" in answer.facts
    assert "d0ctl kill-line prod/1/3 --drop-outputs" in answer.commands


def test_a_blocked_package_says_so(site: Site) -> None:
    site.submit(production(lines=1))
    site.fail("prod/1/1/1")

    assert why(site, "prod/2/1/1").answer.startswith("package `prod/2/1/1` is blocked: it waits")


def test_a_file_of_a_removed_job_is_made_by_nothing(site: Site) -> None:
    site.submit(job(("a", [line(make("x"), make("y", needs=["x"]))])))

    answer = why(site, "prod/1/1/2")

    assert any("file `x` of `prod/1/1/1`" in text for text in (answer.answer, *answer.facts))


def test_a_ready_package_says_which_nodes_are_ruled_out_by_what(site: Site) -> None:
    store = site.store
    site.up()
    for name in ("away", "resting", "other", "small"):
        registry.add(store, Address(name, destination=name), cpus=1 if name == "small" else 8)
    for name in ("resting", "other", "small"):
        site.up(name, machine_id=name)
    with store.writing():
        contact.down(store, registry.named(store, "away")["id"], "no answer within 20 s", now=NOW)
        store.change(
            "drain_node", node=registry.named(store, "resting")["id"], note="new disk", now=NOW
        )
    site.submit(job(("a", [line(make("x", cpus=2, exclude_nodes=("other", "localhost")))])))

    answer = why(site, "prod/1/1/1")

    facts = "\n".join(answer.facts)
    assert answer.answer == "package `prod/1/1/1` is ready, and no node can take it"
    assert "node `away` is down since" in facts
    assert "no answer within 20 s" in facts
    assert "node `resting` is drained: new disk" in facts
    assert "node `other` is ruled out: excluded by the package" in facts
    assert "node `small` is ruled out: 1 CPUs, needs 2" in facts


def test_a_full_node_says_what_takes_it(site: Site) -> None:
    site.up(cpus=1)
    site.submit(production())
    site.launch("prod/1/1/1")

    answer = why(site, "prod/1/2/1")

    assert re.fullmatch(
        "package `prod/1/2/1` is ready, and no slot is free on `localhost` since [0-9:]{8}",
        answer.answer,
    )
    (fact,) = answer.facts
    assert re.fullmatch(
        "node `localhost` has 1 of 1 cpu in use since [0-9:]{8}: 1 package of `prod`", fact
    )


def test_no_slot_is_free_since_the_last_one_was_taken(site: Site) -> None:
    site.up(cpus=2)
    site.submit(production())
    site.launch("prod/1/1/1")
    site.launch("prod/1/2/1")
    (taken,) = site.store.connection.execute("select max(started) from attempt").fetchone()

    answer = why(site, "prod/1/3/1")

    assert answer.answer.endswith(f"no slot is free on `localhost` since {moment(taken, taken)}")
    assert answer.details["full_since"] == iso(taken)


def test_what_waits_for_its_inputs_on_a_node_takes_none_of_its_slots(site: Site) -> None:
    site.up(cpus=1)
    site.submit(production())
    site.launch("prod/1/1/1")
    with site.store.writing():
        site.store.connection.execute("update package set staging = 1 where phase = 'running'")

    assert "starts on `localhost`" in why(site, "prod/1/2/1").answer


def test_of_very_many_nodes_those_that_are_ruled_out_alike_are_told_together(site: Site) -> None:
    site.up(platform="linux-x86_64")
    with site.store.writing():
        for number in range(200):
            site.store.connection.execute(
                "insert into node (name, cluster_id, kind, cpus, state, since, trouble, platform)"
                " values (?, 1, 'ssh', 4, ?, ?, 'no answer', 'linux-x86_64')",
                [f"n{number}", "down" if number < 30 else "up", NOW],
            )
    site.submit(job(("a", [line(make("x", platform="linux-aarch64"))])))

    answer = why(site, "prod/1/1/1")

    assert answer.answer == "package `prod/1/1/1` is ready, and no node can take it"
    assert answer.facts == [
        "171 nodes are ruled out: platform linux-x86_64, not linux-aarch64: "
        "`localhost`, `n30`, `n31`, `n32`, `n33` and 166 more",
        "30 nodes are down: `n0`, `n1`, `n2`, `n3`, `n4` and 25 more",
        "without its platform, 171 nodes could take it",
    ]
    assert len(answer.details["nodes"]) == 201


def test_what_would_change_if_one_wish_were_another_is_told(site: Site) -> None:
    site.up(memory=4 << 30)
    site.submit(job(("a", [line(make("x", memory=8 << 30))])))

    answer = why(site, "prod/1/1/1")

    assert answer.facts == [
        "node `localhost` is ruled out: 4.3 GB of memory, needs 8.6 GB",
        "without its memory, `localhost` could take it",
    ]


def test_a_drained_node_that_would_do_comes_with_the_command_that_opens_it(site: Site) -> None:
    site.up()
    with site.store.writing():
        site.store.change("drain_node", node=1, note="new disk", now=0.0)
    site.submit(production())

    answer = why(site, "prod/1/1/1")

    assert answer.facts == ["node `localhost` is drained: new disk"]
    assert answer.commands == ["d0ctl node resume localhost", "d0ctl node list"]


def test_where_nobody_drives_that_is_why(site: Site) -> None:
    with site.store.writing():
        leases.give_lease(site.store, "daemon")
    site.up()
    site.submit(production())

    answer = why(site, "prod/1/1/1")

    assert "no daemon is running" in answer.answer
    assert answer.commands[0] == "d0ctl daemon start"


def test_a_job_of_higher_priority_comes_first(site: Site) -> None:
    site.up()
    site.submit(production("urgent", priority=90))
    site.submit(production())

    answer = why(site, "prod/1/1/1")

    assert "job `urgent` of a higher priority comes first" in answer.answer
    assert answer.commands == ["d0ctl priority prod 91", "d0ctl why urgent"]


def test_where_there_is_room_it_starts_next(site: Site) -> None:
    site.up()
    site.submit(production())

    assert "starts on `localhost` as soon as its turn comes" in why(site, "prod/1/1/1").answer


def test_a_held_package_says_by_whom_and_why(site: Site) -> None:
    site.submit(production())
    hold(site, "prod/1/1/1", "bad seed")

    answer = why(site, "prod/1/1/1")

    assert answer.answer.startswith("package `prod/1/1/1` is held by ada since ")
    assert answer.answer.endswith(": bad seed")
    assert answer.commands == ["d0ctl release prod/1/1/1"]


def test_a_held_job_holds_what_is_ready_and_what_waits(site: Site) -> None:
    site.submit(production(), hold=True)

    assert "but job `prod` is held by me" in why(site, "prod/1/1/1").answer
    assert any("is held by me" in fact for fact in why(site, "prod/2/1/1").facts)
    assert "d0ctl release prod" in why(site, "prod/2/1/1").commands


def test_an_assigned_package_waits_for_its_inputs_on_the_way(site: Site) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    registry.add(site.store, Address("far", destination="far"), cpus=4)
    site.up("far", machine_id="m2")
    site.assign("prod/1/1/2", "far")

    answer = why(site, "prod/1/1/2")

    assert (
        answer.answer == "package `prod/1/1/2` is to run on `far`, where 1 input is not yet present"
    )
    assert answer.facts == ["file `gen-1` is being copied"]


def test_a_running_package_says_where_and_for_how_long(site: Site) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")

    answer = why(site, "prod/1/1/1")

    assert answer.answer.startswith("package `prod/1/1/1` is running on `localhost` for ")
    assert answer.commands == ["d0ctl logs prod/1/1/1", "d0ctl kill prod/1/1/1"]


def test_a_suspended_package_says_what_it_stands_still_for(site: Site) -> None:
    site.submit(production())
    attempt = site.launch("prod/1/1/1")
    state = {"attempt": attempt, "kind": "state", "seq": 2, "time": NOW, "phase": "suspended"}
    site.tell({**state, "why": "the disk has 7 MB left"})

    answer = why(site, "prod/1/1/1")

    assert answer.answer.startswith("package `prod/1/1/1` is suspended on `localhost` for ")
    assert answer.facts == ["because: the disk has 7 MB left"]


def test_an_unreachable_package_says_that_it_goes_on(site: Site) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    with site.store.writing():
        row = registry.named(site.store, "localhost")
        contact.down(site.store, row["id"], "it hung up", now=NOW)

    answer = why(site, "prod/1/1/1")

    assert "does not answer since" in answer.answer
    assert "because: it hung up" in answer.facts


def test_a_refused_package_cools_off_and_says_until_when(site: Site) -> None:
    site.submit(production())
    attempt = _only_started(site, "prod/1/1/1")
    here = registry.named(site.store, "localhost")["id"]
    with site.store.writing():
        launches.refuse(site.store, here, attempt, "disk-full", "no space", now=time.time())

    answer = why(site, "prod/1/1/1")

    assert "is cooling off until" in answer.answer
    assert answer.answer.endswith("(try 1 of 3), after disk-full: no space")
    assert answer.facts[0].startswith("it will be retried in")
    assert "d0ctl policy show prod/1/1/1" in answer.commands


def _only_started(site: Site, path: str) -> int:
    site.up()
    site.assign(path)
    row = registry.named(site.store, "localhost")
    with site.store.writing():
        launches.launch(site.store, row["id"], limit=1, now=NOW)
    return browse.attempts(site.store, site.id_of(path))[-1].id


def test_a_failed_package_says_why_where_and_what_it_said_last(site: Site) -> None:
    site.submit(production(lines=1))
    site.fail("prod/1/1/1", stderr="no such field\n")

    answer = why(site, "prod/1/1/1")

    assert answer.answer == (
        "package `prod/1/1/1` failed: exit-code: binary 1 (tool) ended with exit code 3"
    )
    assert answer.facts[0].startswith("on node `localhost`, ")
    assert answer.facts[0].endswith("in binary 1, attempt 1")
    assert answer.facts[1] == "`prod/1/1/2` waits for its files"
    assert answer.stderr == "no such field\n"
    assert answer.commands[0] == "d0ctl logs prod/1/1/1"


def test_a_package_being_killed_says_who_asked(site: Site) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    with site.store.writing():
        lifecycle.choose(site.store, [site.id_of("prod/1/1/1")])
        lifecycle.kill(site.store, actor="ada", note="too slow", now=NOW)

    answer = why(site, "prod/1/1/1")

    assert "is being killed on `localhost`, requested by ada at" in answer.answer
    assert answer.facts[0] == "because: too slow"


def test_what_is_done_or_canceled_says_so(site: Site) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    with site.store.writing():
        lifecycle.choose(site.store, [site.id_of("prod/1/2/1")])
        lifecycle.kill(site.store, actor="ada", note="not wanted", now=NOW)

    assert "is successful: it ended" in why(site, "prod/1/1/1").answer
    assert "was canceled by ada" in why(site, "prod/1/2/1").answer
    assert why(site, "prod/1/2/1").answer.endswith(": not wanted")


def test_a_job_explains_itself_by_what_tells_most(site: Site) -> None:
    site.up()
    site.submit(production(lines=1))

    def answer() -> str:
        return group.job(site.store, browse.job(site.store, "prod"), time.time()).answer

    assert answer().startswith("nothing of job `prod` runs yet: package `prod/1/1/1` is ready")
    site.launch("prod/1/1/1")
    assert answer() == "job `prod` is running: 1 package is launched"
    site.end("prod/1/1/1", "failed", reason="looping", detail="no output for 2 h")
    assert answer() == (
        "job `prod` failed: 1 package failed, the last `prod/1/1/1`: looping: no output for 2 h"
    )


def test_a_job_that_is_held_or_done_says_so(site: Site) -> None:
    site.submit(job(("a", [line(make("x"))])), hold=True)
    one = browse.job(site.store, "prod")
    assert "starts: job `prod` is held by me" in group.job(site.store, one, NOW).answer

    with site.store.writing():
        lifecycle.release_job(site.store, one.id)
    site.finish("prod/1/1/1")

    answer = group.job(site.store, browse.job(site.store, "prod"), NOW).answer
    assert answer.startswith("job `prod` is successful")


def test_stages_and_lines_explain_themselves(site: Site) -> None:
    site.up()
    site.submit(production())
    one = browse.job(site.store, "prod")
    stages = browse.stages(site.store, one)
    lines = browse.lines(site.store, one, stages[0], 1, 3)

    assert "stage `prod/2`" in group.stage(site.store, one, stages[1], NOW).answer
    assert "line `prod/1/2`" in group.line(site.store, one, stages[0], lines[1], NOW).answer


@pytest.mark.parametrize(
    ("state", "expected"),
    [("unknown", "was not contacted yet"), ("up", "is up, with 4 of 4 cpus free"),
     ("down", "is down since"), ("drained", "is drained and takes no new packages: new disk")],
)  # fmt: skip
def test_a_node_explains_itself(site: Site, state: str, expected: str) -> None:
    row = registry.named(site.store, "localhost")
    if state in ("up", "down", "drained"):
        site.up()
    with site.store.writing():
        if state == "down":
            contact.down(site.store, row["id"], "gone", now=NOW)
        if state == "drained":
            site.store.change("drain_node", node=row["id"], note="new disk", now=0.0)

    assert expected in node.node(site.store, "localhost", NOW).answer
