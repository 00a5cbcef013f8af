"""The cluster of this machine by the name of its node, and clusters without nodes."""

from pathlib import Path

import pytest

from tests.cli.catalogue import write
from tests.cli.conftest import Type
from tests.support.building import document

SITE = """\
nodes: {localhost: }
clusters: {localhost: {capacity: 5GB, private: yes}}
researchers: {emmy: {clusters: localhost}}
"""

OF_ANA = SITE.replace("localhost", "ana").replace("ana: }", "ana: {same-machine: yes}}")


@pytest.mark.parametrize("text", [SITE, SITE.partition("\n")[2], OF_ANA])
def test_the_name_of_the_node_means_the_cluster_of_this_machine(
    d0ctl: Type, tmp_path: Path, text: str
) -> None:
    file = write(tmp_path, text)

    checked = d0ctl("site", "check", file)
    applied = d0ctl("site", "apply", file)

    (cluster,) = document(d0ctl("cluster", "list", "--json").stdout)["clusters"]
    assert (cluster["cluster"], cluster["capacity"]) == ("control", 5e9)
    assert cluster["researchers"] == ["emmy"]
    assert checked.stderr == applied.stderr == ""
    assert d0ctl("site", "diff", file).exit_code == 0
    shown = write(tmp_path, d0ctl("site", "show").stdout)
    assert d0ctl("site", "diff", shown).exit_code == 0


def test_a_command_takes_that_name_for_the_cluster(d0ctl: Type) -> None:
    d0ctl("node", "add", "ana", "--local", "--same-machine")

    for name, size in (("ana", 5e9), ("control", 6e9)):
        changed = d0ctl("cluster", "set", name, f"capacity={size / 1e9:.0f}GB")
        assert changed.exit_code == 0, changed.stderr
        (cluster,) = document(d0ctl("cluster", "list", "--json").stdout)["clusters"]
        assert (cluster["cluster"], cluster["capacity"]) == ("control", size)


def test_the_name_of_a_moved_node_does_not_mean_it(d0ctl: Type, tmp_path: Path) -> None:
    d0ctl("site", "apply", write(tmp_path, "nodes: {localhost: }"))
    d0ctl("node", "set", "localhost", "cluster=farm", "--new")

    refused = d0ctl("cluster", "set", "localhost", "capacity=5GB")
    warned = d0ctl("site", "check", write(tmp_path, "clusters: {localhost: {capacity: 5GB}}"))

    why = "node `localhost` is in cluster `farm`"
    assert refused.stderr.splitlines() == ["d0ctl: there is no cluster `localhost`", why]
    assert warned.stderr == (
        f"no node is in cluster `control`, so its settings have no effect: {why}\n"
    )


@pytest.mark.parametrize(("node", "cluster"), [
    ("localhost: {destination: b}", "localhost"), ("localhost: {cluster: localhost}", "localhost"),
    ("n1: {cluster: localhost}", "localhost"), ("n1: {destination: b}", "n1"),
])  # fmt: skip
def test_a_cluster_of_the_name_of_another_node_is_its_own(
    d0ctl: Type, tmp_path: Path, node: str, cluster: str
) -> None:
    text = f"nodes: {{{node}}}\nclusters: {{{cluster}: {{capacity: 5GB}}}}"

    planned = d0ctl("site", "diff", write(tmp_path, text))

    assert f"+ cluster {cluster}" in planned.stdout.splitlines()
    assert planned.stderr == ""


def test_the_cluster_of_this_machine_takes_no_other_node_and_one_entry(
    d0ctl: Type, tmp_path: Path
) -> None:
    text = ("nodes: {localhost: , n1: {destination: b, cluster: localhost}}\n"
            "clusters: {localhost: {capacity: 5GB}, control: {private: yes}}")  # fmt: skip
    file = write(tmp_path, text)

    refused = d0ctl("site", "check", file).stderr.splitlines()

    assert refused == [
        f"{file}:1:52: `cluster`: the cluster `control` belongs to this machine",
        f"{file}:2:40: the cluster of this machine, `control`, is given twice",
    ]


@pytest.mark.parametrize("command", ["check", "diff", "apply"])
def test_settings_of_a_cluster_without_nodes_are_reported(
    d0ctl: Type, tmp_path: Path, command: str
) -> None:
    d0ctl(
        "site",
        "apply",
        write(tmp_path, "nodes: {localhost: , n1: {cluster: farm, same-machine: yes}}"),
    )
    d0ctl("node", "add", "n2", "--local", "--same-machine", "--cluster", "lab", "--new")
    clusters = "clusters: {fram: {private: yes}, lab: {private: yes}, n2: {capacity: 5GB}, empty: }"

    warned = d0ctl("site", command, write(tmp_path, clusters)).stderr.splitlines()

    no_effect = "so its settings have no effect"
    assert [line for line in warned if line.startswith("no node is in")] == [
        f"no node is in cluster `fram`, {no_effect}: write `cluster: fram` at its nodes",
        f"no node is in cluster `n2`, {no_effect}: node `n2` is in cluster `lab`",
    ]
