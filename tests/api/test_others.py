"""Nodes, files and the site as Python lists, checks and changes them."""

from pathlib import Path
from typing import Any

import pytest

from d0ctl import (
    BadJobFile,
    Cluster,
    Files,
    Job,
    Nodes,
    Researcher,
    Selection,
    Site,
    Task,
    Throttle,
    Token,
)
from d0ctl.actions.table import ACTIONS
from d0ctl.api.methods import BY_HAND
from d0ctl.config import find_home
from d0ctl.errors import BadUsage, NodeUnreachable, NotFound, Refused
from d0ctl.model import Address
from d0ctl.store import opening
from d0ctl.store.nodes import registry
from tests.cli.conftest import type_in
from tests.support.rows import read


def last_action() -> tuple[Any, ...]:
    """The last action of all: its verb, target and reason."""
    with opening.reader(find_home(None)) as store:
        return read(store, "action", "verb", "target", "note")[-1]


CLASSES: dict[str, type] = {
    **dict.fromkeys(("any", "line", "job"), Selection),
    **dict.fromkeys(("node", "new node"), Nodes),
    "cluster": Cluster,
    "researcher": Researcher,
    "file": Files,
    "throttle": Throttle,
    "task": Task,
    "token": Token,
}
"""The class whose methods the actions of a level are."""


@pytest.mark.parametrize("name", sorted(set(ACTIONS) - BY_HAND))
def test_each_action_is_a_method(name: str) -> None:
    method = name.rpartition(" ")[2].replace("-", "_")

    assert callable(getattr(CLASSES[ACTIONS[name].level], method))


def test_a_drained_node_is_resumed_by_the_undo() -> None:
    done = Nodes("localhost").drain(reason="new disk")

    assert (str(done), done.undo) == ("drained `localhost`", "d0ctl node resume localhost")
    assert [(node.name, node.drained, node.drain_note) for node in Nodes()] == [
        ("localhost", True, "new disk")
    ]
    assert last_action() == ("node drain", "localhost", "new disk")
    Nodes("l*").resume()
    assert not next(iter(Nodes())).drained


def test_unknown_nodes_raise_the_error_of_the_command() -> None:
    for name in ("farm7", "farm*"):
        with pytest.raises(NotFound, match=r"there is no node `farm7`|no node matches `farm\*`"):
            Nodes(name).drain()
        with pytest.raises(NotFound):
            list(Nodes(name))

    done = Nodes("farm7", "localhost").drain(keep_going=True)

    assert done.text == "drained `localhost`"
    assert done.failures == ("there is no node `farm7`",)


def test_a_node_is_added_with_the_checks_of_the_command() -> None:
    with pytest.raises(Refused, match="is the same machine as node `localhost`"):
        Nodes("twin").add(local=True)
    with pytest.raises(BadUsage, match="no destination for `twin`"):
        Nodes("twin").add()
    with pytest.raises(NodeUnreachable):
        Nodes("far").add("emmy@127.0.0.1:1", accept_keys="SHA256:x")

    Nodes("twin").add(local=True, same_machine=True, cpus=3)

    assert {node.name: node.cpus for node in Nodes("t*")} == {"twin": 3}
    assert Nodes("twin").remove().text.startswith("removed `twin`\nits folder ")


def test_a_node_check_yields_its_findings() -> None:
    found = list(Nodes("localhost").check())

    assert {name for name, _ in found} == {"localhost"}
    assert ("reach", True) in {(finding.what, finding.ok) for _, finding in found}


@pytest.fixture
def made() -> Selection:
    """A job with two files in a cache."""
    job = Job("reco")
    output = {"file": "{n}.root", "disposition": "retain-temp", "result": False}
    job.stage().line(for_={"n": ["a", "b"]}, run="echo {n} > {n}.root", outputs=output)
    selection = job.submit()
    selection.run()
    return selection


def test_files_are_listed_given_a_disposition_and_purged(made: Selection) -> None:
    files = Files("reco:*.root")
    assert [(file.name, file.size, file.present) for file in files] == [
        ("a.root", 2, 1), ("b.root", 2, 1)
    ]  # fmt: skip

    done = files.set_disposition("retain-indef")

    assert [file.disposition for file in files] == ["retain-indef"] * 2
    assert done.undo is not None
    assert "purge" in Files("reco:a.root").purge(dry_run=True).text
    Files("reco:a.root", "reco:b.root").purge()
    assert [file.copies for file in files] == [[], []]
    with pytest.raises(Refused, match="no copy is kept"):
        Files("reco:a.root").purge()
    with pytest.raises(NotFound, match="no file matches `reco:c"):
        Files("reco:c").purge()
    with pytest.raises(BadUsage, match="is not a disposition"):
        files.set_disposition("for-ever")


def test_a_throttle_is_set_and_undone_from_python() -> None:
    limit = Throttle("researcher", "emmy")

    done = limit.set(max_running=5, max_launches="10/1m", reason="a busy week")

    assert done.text == (
        "limits of `researcher emmy`: max-running none -> 5, max-launches none -> 10/1m\n"
        "there is no researcher `emmy` yet"
    )
    assert done.undo == (
        "d0ctl throttle set researcher emmy --max-running none --max-launches none"
    )
    assert last_action() == ("throttle set", "researcher emmy",
                             "a busy week; --max-running 5 --max-launches 10/1m")  # fmt: skip
    with pytest.raises(BadUsage, match="`share emmy` is not a throttle"):
        Throttle("share", "emmy")


def test_clusters_and_researchers_are_set_and_undone_by_python() -> None:
    with opening.writer(find_home(None)) as store:
        registry.add(store, Address("f1", destination="f1"), cpus=1, cluster="farm")

    done = Cluster("farm").set(["capacity=2TB", "private=yes"], reason="a new disk")

    assert done.text == "changed `farm`: capacity none -> 2TB, private no -> yes"
    assert done.undo == "d0ctl cluster set farm capacity=none private=no"
    assert last_action() == ("cluster set", "farm", "a new disk; capacity=2TB private=yes")
    assert Researcher("emmy").set("clusters=farm", dry_run=True).text == (
        "would add `emmy`: clusters none -> farm\n"
        "`site apply` of a site file without `emmy` removes this researcher"
    )
    assert Researcher("emmy").set("mail=emmy@lab").undo is None
    assert Researcher("emmy").set("mail=emmy@home").undo == (
        "d0ctl researcher set emmy mail=emmy@lab"
    )
    with pytest.raises(NotFound, match="there is no cluster `moon`"):
        Cluster("moon").set("private=no")


def test_a_site_file_is_checked_compared_and_applied(tmp_path: Path) -> None:
    file = tmp_path / "site.yaml"
    file.write_text("defaults: {nice: 5}\nnodes: {localhost: {cpus: 2}}\n")
    site = Site(file)

    assert {(one.verb, one.kind, one.name) for one in site.diff()} == {
        ("add", "setting", "defaults"), ("change", "node", "localhost")
    }  # fmt: skip
    said = type_in("site", "apply", str(file), "--dry-run").stdout
    assert site.apply(dry_run=True).text == said.rstrip("\n")
    assert "nice" not in site.text
    site.apply(reason="quieter")

    assert site.diff() == ()
    assert "nice: 5" in site.text
    assert last_action() == ("site apply", str(file), "quieter")


def test_the_faults_of_a_site_file_are_one_exception(tmp_path: Path) -> None:
    file = tmp_path / "site.yaml"
    file.write_text("defaults: {nise: 5}\n")

    with pytest.raises(BadJobFile) as found:
        Site(file).apply()
    with pytest.raises(NotFound, match="the home has no site file"):
        Site().check()

    assert found.value.faults[0].startswith(f"{file}:1:12: `defaults` has no key `nise`")


def test_a_dry_run_neither_needs_nor_creates_a_home(tmp_path: Path) -> None:
    home, file = tmp_path / "none", tmp_path / "site.yaml"
    file.write_text("defaults: {nice: 5}\n")

    assert Site(file, home=home).diff()
    assert "would drain" in Nodes("localhost", home=home).drain(dry_run=True).text
    assert not home.exists()
