"""`why` in every state a package, line, stage, job or node can be in."""

import re

from msgspec.structs import replace

from d0ctl.jobfile.spec import StageSpec
from d0ctl.nodes.transports.transport import Address
from d0ctl.show.why.node import node
from d0ctl.store.nodes import contact, leases, registry
from tests.show.asking import NOW, why
from tests.support.building import job, line, production
from tests.support.building import package as make
from tests.support.rows import change, insert
from tests.support.site import Site

MB = 1_000_000


def test_a_waiting_package_names_the_file_its_maker_and_how_that_stands(site: Site) -> None:
    site.submit(production())

    answer = why(site, "prod/3/1/1")

    assert answer.answer == (
        "package `prod/3/1/1` waits for file `all` of `prod/2/1/1`, which is waiting"
    )
    assert answer.facts == ["the cause is `prod/1/1/1`, which is ready"]
    assert answer.commands == ["d0ctl why prod/1/1/1"]


def test_the_least_likely_file_comes_first(site: Site) -> None:
    site.submit(production())
    site.fail("prod/1/3/1")

    answer = why(site, "prod/1/3/2")

    assert answer.answer.startswith("package `prod/1/3/2` is blocked: it waits for")
    assert "`prod/1/3/1`" in answer.answer
    assert "which is failed" in answer.answer
    assert "d0ctl kill-line prod/1/3 --drop-outputs" in answer.commands


def test_the_cause_behind_a_chain_of_waiting_makers_is_found(site: Site) -> None:
    site.submit(production())
    site.fail("prod/1/3/1")

    answer = why(site, "prod/3/1/1")

    assert "the cause is `prod/1/3/1`, which is failed" in answer.facts
    assert "d0ctl kill-line prod/1/3 --drop-outputs" in answer.commands


def test_the_cause_is_explored_also_if_the_first_maker_is_ready(site: Site) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    site.fail("prod/1/3/1")

    answer = why(site, "prod/2/1/1")

    assert "prod/1/1/2`, which is ready" in answer.answer
    assert "the cause is `prod/1/3/1`, which is failed" in answer.facts
    assert answer.commands == ["d0ctl why prod/1/3/1", "d0ctl kill-line prod/1/3 --drop-outputs"]


def test_the_maker_of_a_missing_file_is_blocked_if_its_job_is(site: Site) -> None:
    site.submit(production(lines=1))
    site.fail("prod/1/1/1")

    assert "of `prod/2/1/1`, which is blocked" in why(site, "prod/3/1/1").answer


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
        contact.down(store, registry.named(store, "away").id, "no answer within 20 s", now=NOW)
        store.change(
            "drain_node", node=registry.named(store, "resting").id, note="new disk", now=NOW
        )
    site.submit(job(("a", [line(make("x", cpus=2, exclude_nodes=("other", "localhost")))])))

    answer = why(site, "prod/1/1/1")

    facts = "\n".join(answer.facts)
    assert answer.answer == "package `prod/1/1/1` is ready, and no node can take it"
    assert "node `away` has been down since" in facts
    assert "no answer within 20 s" in facts
    assert "node `resting` is drained: new disk" in facts
    assert "node `other` is ruled out: excluded by the package" in facts
    assert "node `small` is ruled out: 1 CPUs, needs 2" in facts


def test_a_package_waits_for_the_busy_node_with_the_disk_that_it_is_expected_to_take(
    site: Site,
) -> None:
    site.up(cpus=2, disk_total=126 * MB, disk_free=43 * MB)
    registry.add(site.store, Address("far", "ssh", "far"), cpus=1)
    site.up("far", cpus=1, disk_total=900 * MB, disk_free=800 * MB)
    site.submit(production())
    site.launch("prod/1/1/1", "far")
    change(site.store, "requirement", space_expected=40 * MB)

    answer = why(site, "prod/1/2/1")

    assert answer.answer.endswith("no slot is free on `far` and it waits for disk on `localhost`")
    assert "node `localhost` has 37 MB of disk left, it takes about 40 MB" in answer.facts
    with site.store.writing():
        contact.down(site.store, registry.named(site.store, "far").id, "no answer", now=NOW)
    assert "it starts on `localhost` when its turn comes" in why(site, "prod/1/2/1").answer


def test_why_names_the_packages_on_a_full_node(site: Site) -> None:
    site.up(cpus=1)
    site.submit(production())
    site.launch("prod/1/1/1")

    answer = why(site, "prod/1/2/1")

    assert answer.answer == "package `prod/1/2/1` is ready, and no slot is free on `localhost`"
    assert answer.facts == ["node `localhost` has 1/1 slots in use: 1 package of `prod`"]


def test_packages_in_stage_in_take_no_slots(site: Site) -> None:
    site.up(cpus=1)
    site.submit(production())
    site.launch("prod/1/1/1")
    with site.store.writing():
        change(site.store, "package", {"phase": "running"}, staging=1)

    assert "starts on `localhost`" in why(site, "prod/1/2/1").answer


def test_nodes_that_are_ruled_out_alike_are_named_together(site: Site) -> None:
    site.up(platform="linux-x86_64")
    with site.store.writing():
        for number in range(200):
            insert(
                site.store, "node", name=f"n{number}", cluster_id=1, kind="ssh", cpus=4,
                state="down" if number < 30 else "up", since=NOW, last_error="no answer",
                platform="linux-x86_64",
            )  # fmt: skip
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


def test_the_effect_of_one_changed_request_is_reported(site: Site) -> None:
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
    resume = "d0ctl node resume localhost   # once its reason no longer holds"
    assert answer.commands == [resume, "d0ctl node list"]


def test_a_node_whose_cache_is_in_doubt_is_to_be_looked_at_as_it_can_not_be_resumed(
    site: Site,
) -> None:
    site.up()
    with site.store.writing():
        site.store.change("doubt_cache", node=1, note="most of its files are gone", since=0.0)
    site.submit(production())

    assert why(site, "prod/1/1/1").commands == ["d0ctl why localhost", "d0ctl node list"]


def test_without_a_driver_the_missing_daemon_is_the_reason(site: Site) -> None:
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

    site.up(cpus=1)
    site.launch("urgent/1/1/1")

    answer = why(site, "prod/1/1/1")

    assert "no slot is free" in answer.answer
    first = "packages of job `urgent` are ready, too, and come first: its priority is 90"
    assert first in answer.facts


def test_a_package_of_a_full_node_names_the_older_job_that_comes_first(site: Site) -> None:
    site.up(cpus=1)
    site.submit(production("older"))
    site.submit(production())
    site.launch("older/1/1/1")

    fact = "are ready, too, and come first: it is older, and of the same priority, 50"
    assert f"packages of job `older` {fact}" in why(site, "prod/1/1/1").facts
    assert not any("come first: it is" in text for text in why(site, "older/1/2/1").facts)


def test_a_package_waits_while_its_stage_or_job_runs_as_many_as_it_may(site: Site) -> None:
    site.up()
    two = [line(make("a")), line(make("b"))]
    site.submit(job(("one", two), name="one", max_running=1))
    site.submit(replace(job(name="two"), stages=(StageSpec("one", tuple(two), max_running=1),)))
    site.launch("one/1/1/1")
    site.launch("two/1/1/1")

    said = "is ready, and its {} runs 1 package at once, its `max-running`"

    assert why(site, "one/1/2/1").answer.endswith(said.format("job"))
    assert why(site, "two/1/2/1").answer.endswith(said.format("stage"))
    site.up(cpus=1)  # full now, which is not what the job waits for
    assert why(site, "one/1/2/1").answer.endswith(said.format("job"))


def test_packages_of_a_higher_priority_come_first_in_their_job(site: Site) -> None:
    site.up()
    site.submit(job(("one", [line(make("a"))]), ("fast", [line(make("b", priority=70))])))

    answer = why(site, "prod/1/1/1")

    assert "packages of stage `fast` of a higher priority come first" in answer.answer
    assert answer.commands == ["d0ctl priority prod/1/1/1 71"]


def test_a_package_with_a_free_slot_starts_when_its_turn_comes(site: Site) -> None:
    site.up()
    site.submit(production())

    assert "starts on `localhost` when its turn comes" in why(site, "prod/1/1/1").answer


def test_a_node_with_a_wrong_clock_says_by_how_much_it_is_wrong(site: Site) -> None:
    site.up(time=NOW - 86400)

    (fact,) = [fact for fact in node(site.store, "localhost", NOW).facts if "clock" in fact]

    assert re.fullmatch(
        r"its clock is (24 h|1 d).* behind the clock of this machine; "
        "times of its packages are corrected",
        fact,
    )
