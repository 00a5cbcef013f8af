"""`why` of packages that run, ended or cool off, and of whole jobs, lines and nodes."""

import time

import pytest

from d0ctl.nodes.transports.transport import Address
from d0ctl.show.why import file, group, node, slots
from d0ctl.store import lifecycle
from d0ctl.store.attempts.launching import launches
from d0ctl.store.nodes import contact, leases, registry
from d0ctl.store.views import browse, file_locations, one_package
from d0ctl.units import moment
from tests.show.asking import NOW, why
from tests.support.building import job, line, production
from tests.support.building import package as make
from tests.support.site import Site


def hold(site: Site, path: str, note: str) -> None:
    """Hold a package."""
    with site.store.writing():
        selected = site.store.select([site.id_of(path)])
        lifecycle.hold(selected, actor="ada", note=note, now=NOW)


def test_a_held_package_says_by_whom_and_why(site: Site) -> None:
    site.submit(production())
    hold(site, "prod/1/1/1", "bad seed")

    answer = why(site, "prod/1/1/1")

    assert answer.answer.startswith("package `prod/1/1/1` has been held by ada since ")
    assert answer.answer.endswith(": bad seed")
    assert answer.commands == ["d0ctl release prod/1/1/1"]


def test_a_job_whose_last_package_is_held_does_not_blame_the_missing_daemon(site: Site) -> None:
    with site.store.writing():
        leases.give_lease(site.store, "daemon")
    site.submit(job(("make", [line(make("a"))]), name="held"))
    site.submit(job(("make", [line(make("b"))]), name="other"))
    hold(site, "held/1/1/1", "bad seed")

    answer = group.job(site.store, browse.job(site.store, "held"), NOW)

    assert "package `held/1/1/1` has been held by ada" in answer.answer
    assert answer.commands == ["d0ctl release held/1/1/1"]


def test_a_held_job_holds_what_is_ready_and_what_waits(site: Site) -> None:
    site.submit(production(), hold=True)

    assert "but job `prod` has been held by me" in why(site, "prod/1/1/1").answer
    assert any("has been held by me" in fact for fact in why(site, "prod/2/1/1").facts)
    assert "d0ctl release prod" in why(site, "prod/2/1/1").commands


def test_a_package_that_waits_for_a_file_of_a_held_job_names_the_hold(site: Site) -> None:
    site.submit(production(name="maker"), hold=True)
    read = ("read", [line(make("b", needs=["maker:all"]))])
    site.submit(job(read, name="reader"))

    answer = why(site, "reader/1/1/1")

    assert any("job `maker` has been held by me" in fact for fact in answer.facts)
    assert "d0ctl release maker" in answer.commands


def test_an_assigned_package_waits_for_its_inputs_on_the_way(site: Site) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    registry.add(site.store, Address("far", destination="far"), cpus=4)
    site.up("far", machine_id="m2")
    site.assign("prod/1/1/2", "far")

    answer = why(site, "prod/1/1/2")

    assert (
        answer.answer == "package `prod/1/1/2` will run on `far`, where 1 input is not yet present"
    )
    assert answer.facts[0] == "file `gen-1` is being copied"
    assert answer.facts[1:] == [
        "`prod/1/1/2` takes less than a second once it begins",
        "it is expected to take 1.0 MB of memory (524 kB to 2.1 MB) and"
        " 10 B of outputs (5 B to 20 B)",
    ]


def test_a_copy_from_a_node_that_is_down_is_not_said_to_be_under_way(site: Site) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    registry.add(site.store, Address("far", destination="far"), cpus=4)
    site.up("far", machine_id="m2")
    site.assign("prod/1/1/2", "far")
    with site.store.writing():
        row = registry.named(site.store, "localhost")
        contact.down(site.store, row.id, "connection refused", now=NOW)

    view = file_locations.in_job(site.store, "prod", "gen-1")
    assert view is not None

    facts = file.file(site.store, view, NOW).facts

    assert "it is copied to `far`, once a node that has it answers" in facts
    assert "file `gen-1` is to be copied to it" in node.node(site.store, "far", NOW).facts


def test_a_running_package_says_where_and_for_how_long(site: Site) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")

    answer = why(site, "prod/1/1/1")

    assert answer.answer.startswith("package `prod/1/1/1` has been running on `localhost` for ")
    assert answer.commands == ["d0ctl logs prod/1/1/1", "d0ctl kill prod/1/1/1"]


def test_a_suspended_package_says_why_it_is_suspended(site: Site) -> None:
    site.submit(production())
    attempt = site.launch("prod/1/1/1")
    state = {"attempt": attempt, "kind": "state", "seq": 2, "time": NOW, "phase": "suspended"}
    site.tell({**state, "why": "the disk has 7 MB left"})

    answer = why(site, "prod/1/1/1")

    assert answer.answer.startswith("package `prod/1/1/1` is suspended on `localhost`; it began ")
    assert answer.facts == ["because: the disk has 7 MB left"]
    job_facts = group.job(site.store, browse.job(site.store, "prod"), NOW).facts
    assert [fact for fact in job_facts if fact.endswith(" ago: the disk has 7 MB left")]


def test_an_unreachable_package_says_that_it_goes_on(site: Site) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    with site.store.writing():
        row = registry.named(site.store, "localhost")
        contact.down(site.store, row.id, "it closed the connection", now=NOW)

    answer = why(site, "prod/1/1/1", NOW)

    assert answer.answer.endswith(f" on `localhost`, which has been down since {moment(NOW, NOW)}")
    assert "because: it closed the connection" in answer.facts
    unsure = f"it may continue there; if the node does not answer before {moment(NOW + 3600, NOW)}"
    goes_on = f"{unsure}, it runs elsewhere, if another node can take it"
    assert goes_on in answer.facts
    assert goes_on in group.job(site.store, browse.job(site.store, "prod"), NOW).facts


def test_a_refused_package_cools_off_and_says_until_when(site: Site) -> None:
    site.submit(production())
    attempt = _only_started(site, "prod/1/1/1")
    here = registry.named(site.store, "localhost").id
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
        launches.launch(site.store, [row.id], limit=1, now=NOW)
    return one_package.attempts(site.store, site.id_of(path))[-1].id


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
        selected = site.store.select([site.id_of("prod/1/1/1")])
        lifecycle.kill(selected, actor="ada", note="too slow", now=NOW)

    answer = why(site, "prod/1/1/1")

    assert "is being killed on `localhost`, requested by ada at" in answer.answer
    assert answer.facts[0] == "because: too slow"


def test_done_and_canceled_packages_say_so(site: Site) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    with site.store.writing():
        selected = site.store.select([site.id_of("prod/1/2/1")])
        lifecycle.kill(selected, actor="ada", note="not wanted", now=NOW)

    assert "is successful: it ended" in why(site, "prod/1/1/1").answer
    assert "was canceled by ada" in why(site, "prod/1/2/1").answer
    assert why(site, "prod/1/2/1").answer.endswith(": not wanted")


def test_a_job_explains_itself_by_its_most_important_fact(site: Site) -> None:
    site.up()
    site.submit(production(lines=1))

    def answer() -> str:
        return group.job(site.store, browse.job(site.store, "prod"), time.time()).answer

    assert answer().startswith(
        "no package of job `prod` is running yet: package `prod/1/1/1` is ready"
    )
    site.launch("prod/1/1/1")
    assert answer() == "job `prod` is running: 1 package is launched"
    site.end("prod/1/1/1", "failed", reason="looping", detail="no output for 2 h")
    assert answer() == (
        "job `prod` failed: 1 package failed, the last `prod/1/1/1`: looping: no output for 2 h"
    )


def test_a_job_that_is_held_or_done_says_so(site: Site) -> None:
    site.submit(job(("a", [line(make("x"))])), hold=True)
    one = browse.job(site.store, "prod")
    assert "starts: job `prod` has been held by me" in group.job(site.store, one, NOW).answer

    with site.store.writing():
        lifecycle.release_job(site.store, one.id, now=NOW)
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
    [("unknown", "was not contacted yet"), ("up", "is up, with 4 of 4 slots free"),
     ("down", "has been down since"),
     ("drained", "is drained and takes no new packages: new disk")],
)  # fmt: skip
def test_a_node_explains_itself(site: Site, state: str, expected: str) -> None:
    row = registry.named(site.store, "localhost")
    if state in ("up", "down", "drained"):
        site.up()
    with site.store.writing():
        if state == "down":
            contact.down(site.store, row.id, "gone", now=NOW)
        if state == "drained":
            site.store.change("drain_node", node=row.id, note="new disk", now=0.0)

    assert expected in node.node(site.store, "localhost", NOW).answer


def test_a_job_that_has_slots_itself_waits_for_no_others(site: Site) -> None:
    site.up(cpus=1)
    site.submit(production())
    site.submit(production("other"))
    site.launch("prod/1/1/1")

    assert slots.taken(site.store, "prod", NOW) is None
    assert "1 package of `prod`" in (slots.taken(site.store, "other", NOW) or "")


def test_a_package_without_its_input_says_so_beside_the_reason_of_a_person(site: Site) -> None:
    raw, reco = make("raw"), make("reco", needs=["raw"])
    site.submit(job(("make", [line(raw)]), ("reco", [line(reco)]), name="prod"))

    with site.store.writing():
        selected = site.store.select([site.id_of("prod/1/1/1")])
        requested = lifecycle.line_ids(selected)
        lifecycle.choose_without_inputs(selected)
        lifecycle.drop(selected, requested, actor="ada", note="bad run", now=NOW)

    answer = why(site, "prod/2/1/1")
    assert answer.answer.endswith(": bad run")
    assert answer.facts[0].startswith("an input that it needs was dropped; it is restored with ")
    assert answer.commands[0] == "d0ctl restore-line prod/1/1"
