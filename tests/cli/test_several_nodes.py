"""Commands on nodes take several of them and patterns.

`node drain`, `resume` and `remove` act on all of them or on none.
"""

import re
import time
from json import loads

import pytest

from d0ctl.config import Home
from d0ctl.model import Address
from d0ctl.store.nodes import contact, registry
from tests.cli.conftest import Type
from tests.support.building import production
from tests.support.site import Site


@pytest.fixture
def farm(site: Site) -> Site:
    """A site with localhost and three other nodes."""
    for name in ("farm01", "farm02", "lab01"):
        with site.store.writing():
            registry.add(site.store, Address(name, "ssh", name), cpus=2)
    return site


def drained(farm: Site) -> list[str]:
    """Return the names of the drained nodes."""
    return [row.name for row in registry.nodes(farm.store) if row.drained]


def test_several_nodes_are_drained_and_resumed_by_names_and_patterns(
    farm: Site, d0ctl: Type
) -> None:
    done = d0ctl("node", "drain", "farm*", "lab01", "farm02", "--reason", "power cut")

    assert done.stdout == "drained `farm01`\ndrained `farm02`\ndrained `lab01`\n"
    assert done.stderr == "to undo: d0ctl node resume farm01 farm02 lab01\n"
    assert drained(farm) == ["farm01", "farm02", "lab01"]
    assert d0ctl("node", "resume", "lab01").stdout == "resumed `lab01`\n"
    assert d0ctl("node", "resume", "*").stdout == "resumed `farm01`\nresumed `farm02`\n"
    assert drained(farm) == []


def test_one_action_of_several_nodes_is_in_the_history_of_each(farm: Site, d0ctl: Type) -> None:
    d0ctl("node", "drain", "farm0?", "--reason", "power cut")

    for name in ("farm01", "farm02"):
        assert "node drain: power cut" in d0ctl("why", name).stdout
    assert "power cut" not in d0ctl("why", "lab01").stdout


def test_a_node_that_can_not_be_changed_keeps_the_others_as_they_are(
    farm: Site, d0ctl: Type
) -> None:
    unknown = d0ctl("node", "drain", "farm01", "farm03")
    refused = d0ctl("node", "resume", "farm01", "lab01")

    assert (unknown.exit_code, unknown.stderr) == (
        3, "d0ctl: there is no node `farm03`\ndid you mean `farm02`?\n")  # fmt: skip
    assert (refused.exit_code, drained(farm)) == (4, [])
    d0ctl("node", "drain", "farm01")
    assert d0ctl("node", "resume", "farm01", "lab01").exit_code == 4
    assert drained(farm) == ["farm01"]


def test_a_pattern_that_selects_nothing_is_refused(farm: Site, d0ctl: Type) -> None:
    nothing = d0ctl("node", "drain", "hall*")
    none_drained = d0ctl("node", "resume", "farm*")

    assert (nothing.exit_code, nothing.stderr) == (
        3, "d0ctl: no node matches `hall*`\nd0ctl node list\n")  # fmt: skip
    assert (none_drained.exit_code, none_drained.stderr) == (
        4, "d0ctl: no node of `farm*` can be resumed\nd0ctl node list\n")  # fmt: skip


def test_the_plan_names_each_node_and_changes_nothing(farm: Site, d0ctl: Type) -> None:
    plan = d0ctl("node", "remove", "farm*", "--dry-run").stdout

    assert plan.count("would remove") == 2
    assert len(registry.nodes(farm.store)) == 4


def test_nodes_are_removed_in_one_transaction(farm: Site, d0ctl: Type) -> None:
    farm.submit(production())
    farm.launch("prod/1/1/1")

    assert d0ctl("node", "remove", "farm01", "localhost").exit_code == 4
    assert len(registry.nodes(farm.store)) == 4
    assert d0ctl("node", "remove", "farm*", "lab01").exit_code == 0
    (left,) = loads(d0ctl("node", "list", "--json").stdout)["nodes"]
    assert left["node"] == "localhost"


def test_a_drain_of_several_nodes_is_described_with_each_fact_once(farm: Site, d0ctl: Type) -> None:
    drains = [f"would drain `{name}`: it would take no new packages"
              for name in ("farm01", "farm02", "lab01")]  # fmt: skip
    some = d0ctl("node", "drain", "farm*", "--dry-run").stdout
    farm.submit(production())
    farm.launch("prod/1/1/1", "farm02")
    d0ctl("node", "drain", "localhost")

    every = d0ctl("node", "drain", "*01", "farm02", "--dry-run").stdout
    farm.launch("prod/1/2/1", "lab01")
    d0ctl("node", "drain", "farm*")
    last = d0ctl("node", "drain", "lab01", "--dry-run").stdout

    assert some.splitlines() == [*drains[:2], "no packages are running on these nodes"]
    assert sorted(every.splitlines()) == sorted(
        [drains[0], f"{drains[1]}; 1 package there would continue", drains[2],
         "no node would be left that takes packages"]
    )  # fmt: skip
    assert last.splitlines() == [drains[2], "1 package there would continue",
                                 "no node would be left that takes packages"]  # fmt: skip


def test_without_a_home_there_is_no_node_to_remove(usual_home: Home, d0ctl: Type) -> None:
    refused = d0ctl("node", "remove", "farm*", "lab")

    assert (refused.exit_code, usual_home.root.exists()) == (3, False)
    assert "there is no node `farm*`" in refused.stderr


def test_several_nodes_are_checked_each_under_its_name(site: Site, d0ctl: Type) -> None:
    for name in ("farm01", "farm02"):
        with site.store.writing():
            registry.add(site.store, Address(name, "ssh", "127.0.0.1:1"), cpus=2)

    all_nodes = d0ctl("node", "check")
    farm = d0ctl("node", "check", "farm*", "farm02")
    one = d0ctl("node", "check", "farm02")

    assert (all_nodes.exit_code, farm.exit_code, one.exit_code) == (6, 6, 6)
    lines = all_nodes.stdout.splitlines()
    assert (lines[0], lines[1].split()[:2]) == ("localhost", ["✔", "reach"])
    assert lines[lines.index("farm01") + 1].split()[:2] == ["✘", "reach"]
    assert any(line.startswith("✔ detached processes") for line in lines)
    assert "localhost" not in farm.stdout and farm.stdout.count("farm02\n") == 1
    assert one.stdout.startswith("✘ reach ")


def test_the_document_of_a_check_says_which_nodes_have_a_problem(site: Site, d0ctl: Type) -> None:
    with site.store.writing():
        registry.add(site.store, Address("farm01", "ssh", "127.0.0.1:1"), cpus=2)

    checked = loads(d0ctl("node", "check", "--json").stdout)
    missing = d0ctl("node", "check", "localhost", "farm02")

    assert checked["ok"] is False
    assert [(node["node"], node["ok"]) for node in checked["nodes"]] == [
        ("localhost", True), ("farm01", False)]  # fmt: skip
    assert (missing.exit_code, missing.stdout) == (3, "")


def test_a_node_that_a_person_has_drained_keeps_that_drain(site: Site, d0ctl: Type) -> None:
    d0ctl("node", "drain", "localhost", "--reason", "new disk")

    again = d0ctl("node", "drain", "localhost", "--reason", "me, too")

    assert again.exit_code == 4
    assert re.search(r"`localhost` is drained by \S+ \(new disk\), so it can't be", again.stderr)
    assert registry.named(site.store, "localhost").drain_note == "new disk"


def test_the_plan_of_a_resume_says_of_a_node_that_is_down_when_it_takes_packages(
    farm: Site, d0ctl: Type
) -> None:
    with farm.store.writing():
        node = registry.named(farm.store, "farm01").id
        contact.down(farm.store, node, "no route to host", now=time.time())
    d0ctl("node", "drain", "farm01", "farm02")

    plan = d0ctl("node", "resume", "farm*", "--dry-run").stdout

    assert "`farm01`: it would take packages again once it answers: it is down\n" in plan
    assert "`farm02`: it would take packages again\n" in plan
