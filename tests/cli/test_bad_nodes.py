"""Bad nodes as people see them: list, why, status, and how they are cleared."""

import json
import time

import pytest

from d0ctl.doctor import admin_work
from d0ctl.model import Address
from d0ctl.show.why.common import MOST
from d0ctl.store.attempts import node_record
from d0ctl.store.nodes import contact, draining, leases, registry
from tests.cli.conftest import Type
from tests.support.acting import act
from tests.support.building import document, production
from tests.support.rows import change, insert, value
from tests.support.site import Site


@pytest.fixture
def burning(site: Site) -> Site:
    """A job that runs well here, and of which three packages failed on another node."""
    site.submit(production(lines=30))
    registry.add(site.store, Address("hole", "ssh", "hole"), cpus=1)
    for name in ("localhost", "hole"):
        site.up(name, machine_id=name)
    for number in range(1, 8):
        site.finish(f"prod/1/{number}/1")
    for number in range(8, 11):
        fail_on_hole(site, f"prod/1/{number}/1")
    return site


def fail_on_hole(site: Site, path: str) -> None:
    """Let a package fail on the bad node."""
    site.launch(path, "hole")
    site.end(path, "failed", reason="exit-code", detail="binary 1 ended with exit code 3")


def test_the_list_shows_who_drained_a_node_and_why(burning: Site, d0ctl: Type) -> None:
    rows = document(d0ctl("node", "list", "--json").stdout)["nodes"]
    answer = {row["node"]: row["burnt"] for row in rows}

    assert answer["localhost"] is None
    assert answer["hole"]["packages"] == ["prod/1/8/1", "prod/1/9/1", "prod/1/10/1"]
    assert answer["hole"]["others"] == {"successful": 7, "failed": 0}
    assert answer["hole"]["rests"] == 1
    screen = d0ctl("node", "list").stdout
    assert "drained by d0ctl: 3 attempts of `prod/1` failed here in a row" in screen
    assert "; one package tries it at " in screen


def test_why_names_the_failed_packages_and_when_the_node_is_tried(
    burning: Site, d0ctl: Type
) -> None:
    screen = d0ctl("why", "hole").stdout

    assert "node `hole` was drained by d0ctl at " in screen
    assert "`prod/1/8/1`, `prod/1/9/1` and `prod/1/10/1` failed there and went elsewhere" in screen
    assert "these attempts do not count as tries" in screen
    assert "3 of 3 attempts of `prod/1` failed here" in screen
    assert "also by failures that do not count as tries; those on removed nodes" in screen
    assert "while 7 of 7 succeeded on other nodes" in screen
    assert "d0ctl: node drain: 3 attempts of `prod/1`" in screen
    assert "d0ctl node resume hole" in screen
    assert burning.phase("prod/1/8/1") == "ready"
    assert "`hole` may be the cause, so it runs elsewhere" in d0ctl("history", "prod/1/8/1").stdout
    assert "node `hole` is drained: by d0ctl: 3 attempts" in d0ctl("why", "prod/1/8/1").stdout


def test_the_evidence_names_a_package_once_that_failed_there_several_times(
    site: Site, d0ctl: Type
) -> None:
    with site.store.writing():
        rules = json.dumps({"exit-code": {"tries": 9, "delay": [0.0]}})
        site.store.change("keep_setting", name="policy", value=rules)
    site.submit(production(lines=30))
    registry.add(site.store, Address("hole", "ssh", "hole"), cpus=1)
    for name in ("localhost", "hole"):
        site.up(name, machine_id=name)
    fail_on_hole(site, "prod/1/1/1")
    for number in range(3, 8):
        site.finish(f"prod/1/{number}/1")
    fail_on_hole(site, "prod/1/1/1")
    fail_on_hole(site, "prod/1/2/1")

    screen = d0ctl("why", "hole").stdout

    assert "3 attempts of `prod/1` failed here in a row" in screen
    assert "`prod/1/1/1` and `prod/1/2/1` failed there and went elsewhere" in screen


def test_a_drained_node_whose_disk_has_room_again_says_so(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=30))
    registry.add(site.store, Address("hole", "ssh", "hole"), cpus=1)
    site.up("localhost", machine_id="a")
    site.up("hole", machine_id="b", disk_free=2_000_000, disk_total=64_000_000)
    for number in range(1, 8):
        site.finish(f"prod/1/{number}/1")
    took = {"binary": 1, "started": 1.0, "ended": 2.0, "exit_code": 1, "signal": None, "cpu": 1.0,
            "rss": 1, "gap": 1.0, "disk": 10_000_000}  # fmt: skip
    for number in range(8, 11):
        site.launch(f"prod/1/{number}/1", "hole")
        site.end(f"prod/1/{number}/1", "failed", reason="disk-full", binaries=[took])
    hole = registry.named(site.store, "hole").id
    contact.note_free_disk(
        site.store, hole, 53_200_000, now=time.time()
    )  # before the disk was full
    full = d0ctl("node", "list").stdout + d0ctl("why", "hole").stdout
    change(site.store, "bad_node", since=time.time() - 100)
    contact.note_free_disk(
        site.store, hole, 12_000_000, now=time.time()
    )  # what they had taken themselves
    full += d0ctl("node", "list").stdout + d0ctl("why", "hole").stdout

    contact.note_free_disk(site.store, hole, 53_200_000, now=time.time())

    text = "its disk has room for 50 MB again: d0ctl node resume hole"
    assert "drained by d0ctl: 3 attempts" in full and "room" not in full
    assert text in d0ctl("node", "list").stdout
    assert text in d0ctl("why", "hole").stdout


def test_a_job_explains_the_drain_of_a_node_once(burning: Site, d0ctl: Type) -> None:
    leases.take_lease(burning.store, "daemon", now=time.time())

    whole, package = d0ctl("why", "prod").stdout, d0ctl("why", "prod/1/8/1").stdout

    assert whole.count("3 attempts of `prod/1` failed here in a row") == 1
    assert "1 of 2 nodes takes packages: `hole` drained (by d0ctl: 3 attempts" in whole
    assert "node `hole` is drained: by d0ctl: 3 attempts" in package


def test_a_drain_asks_for_nothing_until_its_packages_were_tried_elsewhere(
    burning: Site, d0ctl: Type
) -> None:
    leases.take_lease(burning.store, "daemon", now=time.time())
    advice = "d0ctl why hole"

    tried = d0ctl("status").stdout
    (obstacle,) = document(d0ctl("status", "--json").stdout)["obstacles"]
    (finding,) = admin_work.faulty_nodes(burning.store)

    assert "`hole` drained (by d0ctl: 3 attempts" in " ".join(tried.split())
    assert "packages that failed on `hole` are tried elsewhere now" in " ".join(tried.split())
    assert (advice in tried, obstacle["commands"], finding.advice) == (False, [], "")
    assert "and are tried elsewhere now" in finding.detail

    for number in range(8, 11):
        burning.finish(f"prod/1/{number}/1")

    (finding,) = admin_work.faulty_nodes(burning.store)
    assert advice in d0ctl("status").stdout
    assert finding.advice == "d0ctl why --node hole"


def test_doctor_finds_no_problem_in_a_drain_whose_packages_are_tried_elsewhere(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    hole = registry.add(site.store, Address("hole", "ssh", "hole"), cpus=1)
    site.up("localhost")
    fail_on_hole(site, "prod/1/1/1")
    d0ctl("retry", "prod/1/1/1")
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())
        draining.drain(site.store, hole, note=None, now=time.time())
        insert(site.store, "bad_node", node_id=hole, job_id=1, stage_id=1, since=time.time(),
               began=1.0, evidence="{}", next_try=9e9)  # fmt: skip

    result = d0ctl("doctor")

    assert result.exit_code == 0
    assert result.stdout.startswith("◒ node: hole: was drained by d0ctl")
    assert "no problems found" in result.stdout
    assert document(d0ctl("doctor", "--json").stdout)["ok"]


def test_a_drain_asks_if_its_packages_can_not_be_tried_elsewhere(
    burning: Site, d0ctl: Type
) -> None:
    leases.take_lease(burning.store, "daemon", now=time.time())
    assert d0ctl("hold", "prod").exit_code == 0

    assert "d0ctl why hole" in d0ctl("status").stdout


def test_a_job_that_stands_still_names_the_reason_of_each_drain(burning: Site, d0ctl: Type) -> None:
    leases.take_lease(burning.store, "daemon", now=time.time())
    act(burning.store, "node drain", "localhost", actor="eve", note="new disk", now=time.time())

    for command in ("why", "prod"), ("status", "prod"), ("status",):
        screen = " ".join(d0ctl(*command).stdout.split())
        assert "`localhost` drained (new disk)" in screen
        assert "`hole` drained (by d0ctl: 3 attempts of `prod/1` failed here in a row" in screen
        assert "(exit-code 3 times)" in screen


def test_a_person_can_resume_a_drained_node_or_keep_it_drained(burning: Site, d0ctl: Type) -> None:
    assert d0ctl("node", "resume", "hole", "--reason", "mended").exit_code == 0
    assert draining.bad_node(burning.store, registry.named(burning.store, "hole").id) is None
    assert "node resume: mended" in d0ctl("why", "hole").stdout

    assert d0ctl("node", "drain", "hole", "--reason", "to the shop").exit_code == 0

    assert "is drained and takes no new packages: to the shop" in d0ctl("why", "hole").stdout


def test_a_retry_resumes_nodes_that_were_drained_for_the_job(burning: Site, d0ctl: Type) -> None:
    burning.fail("prod/1/11/1")

    for words, verb in ((["--dry-run"], "resume"), ([], "resumed")):
        assert f", and {verb} node `hole`, which" in d0ctl("retry", "prod/1/11/1", *words).stdout

    (hole,) = (row for row in document(d0ctl("node", "list", "--json").stdout)["nodes"]
               if row["node"] == "hole")  # fmt: skip
    assert (hole["drained"], hole["burnt"]) == (False, None)
    assert node_record.exclusions(burning.store, 1) == []


def test_a_job_names_the_nodes_that_it_keeps_away_from(burning: Site, d0ctl: Type) -> None:
    rules = {"software-missing": {"tries": 9}}
    with burning.store.writing():
        burning.store.change("keep_setting", name="policy", value=json.dumps(rules))
    act(burning.store, "node resume", "hole", actor="eve", note=None, now=time.time())
    for number in range(11, 16):
        burning.finish(f"prod/1/{number}/1")
    for number in range(16, 21):
        burning.launch(f"prod/1/{number}/1", "hole")
        burning.end(f"prod/1/{number}/1", "failed", reason="software-missing")

    answer = document(d0ctl("status", "prod", "--json").stdout)["excluded"]

    assert answer == [{"node": "hole", "successful": 0, "failed": 5}]
    sentence = "packages that failed on node `hole` run elsewhere: 5 of 5 attempts of this job"
    assert sentence in d0ctl("status", "prod").stdout
    act(burning.store, "node drain", "localhost", actor="eve", note=None, now=time.time())
    assert "run elsewhere" not in d0ctl("status", "prod").stdout
    act(burning.store, "node resume", "hole", actor="eve", note=None, now=time.time())
    assert document(d0ctl("status", "prod", "--json").stdout)["excluded"] == []


def test_a_job_says_that_attempts_got_lost_on_a_node_that_was_down(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=30))
    registry.add(site.store, Address("far", "ssh", "far"), cpus=1)
    for name in ("localhost", "far"):
        site.up(name, machine_id=name)
    for number in range(1, 8):
        site.finish(f"prod/1/{number}/1")
    for number in range(8, 14):
        site.launch(f"prod/1/{number}/1", "far")
        site.end(f"prod/1/{number}/1", "lost", reason="lost")

    sentence = "6 packages that got lost on node `far` run elsewhere: 6 of 6 attempts of this job"
    assert sentence in d0ctl("status", "prod").stdout
    assert "it got lost there, as did 6 of 6 attempts" in d0ctl("why", "prod/1/8/1").stdout
    with site.store.writing():
        local = registry.named(site.store, "localhost").id
        contact.down(site.store, local, "no answer", now=time.time())
    assert "run elsewhere" not in d0ctl("status", "prod").stdout


def test_a_job_that_has_ended_keeps_away_from_no_node(burning: Site, d0ctl: Type) -> None:
    change(burning.store, "job_node_record", {"node_id": 2}, failed=5)
    assert "packages that failed or got lost on node `hole`" in d0ctl("status", "prod").stdout

    change(burning.store, "job", ended=time.time())

    assert "run elsewhere" not in d0ctl("status", "prod").stdout


def test_why_of_a_package_and_of_the_node_say_that_the_node_pauses(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=9))
    registry.add(site.store, Address("hole", "ssh", "hole"), cpus=1)
    for name in ("localhost", "hole"):
        site.up(name, machine_id=name)
    fail_on_hole(site, "prod/1/1/1")
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=0.0)

    screen = d0ctl("why", "prod/1/2/1").stdout

    assert "node `hole` pauses until " in screen
    assert "1 attempt of its stage failed there in a row" in screen
    pause = screen.partition("node `hole` pauses until ")[2][: len("12:34:56")]
    assert f"it takes no package of `prod/1` until {pause}" in d0ctl("why", "hole").stdout
    assert "takes no package of" not in d0ctl("why", "localhost").stdout


@pytest.mark.parametrize(("number", "more"), [(MOST, ""), (MOST + 1, " and 1 more")])
def test_why_counts_the_packages_beyond_the_named_ones(
    burning: Site, d0ctl: Type, number: int, more: str
) -> None:
    evidence = json.loads(value(burning.store, "bad_node", "evidence"))
    evidence["packages"] = [f"prod/1/{one}/1" for one in range(1, number + 1)]
    change(burning.store, "bad_node", evidence=json.dumps(evidence))

    screen = d0ctl("why", "hole").stdout

    assert f"`prod/1/{MOST}/1`{more} failed there and went elsewhere" in screen
