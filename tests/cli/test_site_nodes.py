"""What site files did to single nodes, as the command line names it later."""

from pathlib import Path

from d0ctl.config import Home
from d0ctl.store.nodes import draining, registry
from tests.cli.catalogue import write
from tests.cli.conftest import Type
from tests.support.building import document
from tests.support.rows import change, read
from tests.support.site import Site


def test_the_history_of_a_node_has_what_site_files_did_to_it(
    d0ctl: Type, home: Home, tmp_path: Path
) -> None:
    spare = "nodes: {spare: {same-machine: yes}, twin: {same-machine: yes}}"
    d0ctl("site", "apply", write(tmp_path, spare))
    d0ctl("node", "drain", "spare", "--reason", "fan noise")
    d0ctl("site", "apply", write(tmp_path, "nodes: {}"), "--reason", "moving house")
    file = write(tmp_path, spare)
    d0ctl("site", "apply", file)
    d0ctl("site", "apply", write(tmp_path, spare.replace("{spare: {", "{spare: {cpus: 1, ")))

    history = document(d0ctl("history", "--node", "spare", "--json").stdout)["actions"]

    by = f"by site apply {file}"
    assert [(row["verb"], row["target"], row["reason"]) for row in history] == [
        ("node set", "spare", f"cpus {by}"),
        ("node add", "spare twin", by),
        ("node remove", "spare twin", f"moving house; {by}"),
        ("node drain", "spare", "fan noise"),
        ("node add", "spare twin", by),
    ]
    assert "fan noise" not in d0ctl("why", "spare").stdout


def test_the_site_file_that_adds_a_removed_node_again_is_named(d0ctl: Type, tmp_path: Path) -> None:
    file = write(tmp_path, "nodes: {spare: {same-machine: yes}}")
    d0ctl("site", "apply", file)
    d0ctl("node", "add", "twin", "--local", "--same-machine")

    removed = d0ctl("node", "remove", "spare", "twin").stdout

    assert removed.splitlines() == [
        "removed `spare`",
        f"site file `{file}` had `spare` when it was last applied: delete it there, or the next "
        "`site apply` adds it again",
        "removed `twin`",
    ]


def test_a_node_that_d0ctl_drained_is_resumed_by_a_move(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    d0ctl("node", "add", "spare", "--local", "--same-machine")
    node = registry.named(site.store, "spare").id
    with site.store.writing():
        draining.drain(site.store, node, note="bad disk", now=1.0)
        change(site.store, "node", {"name": "spare"}, doubted=1.0)

    d0ctl("site", "apply", write(tmp_path, "nodes: {spare: {dir: /tmp, same-machine: yes}}"))

    verbs = [row[0] for row in read(site.store, "action", "verb")]
    assert verbs == ["node add", "node set", "node resume", "site apply"]
