"""What site files did to single nodes, as the command line names it later."""

import shutil
from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.model import Address
from d0ctl.store.nodes import draining, registry
from tests.cli.catalogue import write
from tests.cli.conftest import Type
from tests.support.building import document
from tests.support.rows import change, insert, read
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

    removed = d0ctl("node", "remove", "spare", "twin").stdout.splitlines()

    assert [line for line in removed if not line.startswith("its folder ")] == [
        "removed `spare`",
        f"site file `{file}` had `spare` when it was last applied: delete it there, or the next "
        "`site apply` adds it again",
        "removed `twin`",
    ]


def test_the_site_file_of_a_home_that_was_moved_is_named_where_it_is_now(
    d0ctl: Type, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.root.mkdir(exist_ok=True)
    home.site_file.write_text("nodes: {spare: {same-machine: yes}}\n")
    d0ctl("site", "apply")
    shutil.copytree(home.root, tmp_path / "new")
    monkeypatch.setenv("D0CTL_HOME", str(tmp_path / "new"))

    removed = d0ctl("node", "remove", "spare").stdout

    assert f"site file `{tmp_path}/new/site.yaml` had `spare`" in removed


@pytest.mark.parametrize(("typed", "named"), [
    ("../some.yaml", "some.yaml"), ("link/../some.yaml", "sub/link/../some.yaml"),
])  # fmt: skip
def test_a_site_file_is_named_by_its_absolute_path_wherever_it_was_typed(
    d0ctl: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str, named: str
) -> None:
    folder, elsewhere = tmp_path / "sub", tmp_path / "a" / "b"
    folder.mkdir()
    elsewhere.mkdir(parents=True)
    (folder / "link").symlink_to(elsewhere)
    for parent in (tmp_path, elsewhere.parent):
        write(parent, "nodes: {spare: {same-machine: yes}}")
    monkeypatch.chdir(folder)
    d0ctl("site", "apply", typed)
    monkeypatch.chdir(tmp_path)

    history = document(d0ctl("history", "--json").stdout)["actions"]
    removed = d0ctl("node", "remove", "spare").stdout

    file = f"{tmp_path}/{named}"
    assert {row["target"] for row in history if row["verb"] == "site apply"} == {file}
    assert f"site file `{file}` had `spare` when it was last applied" in removed
    assert Path(file).exists()


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


def test_a_site_file_ends_the_undo_of_settings_made_by_commands(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    file = write(tmp_path, "nodes: {localhost: {}}\nclusters: {control: {capacity: 2GB}}\n"
                 "researchers: {emmy: {mail: emmy@home.example}}")  # fmt: skip
    d0ctl("site", "apply", file)
    d0ctl("cluster", "set", "control", "capacity=1GB")
    d0ctl("researcher", "set", "emmy", "mail=emmy@lab.example")
    d0ctl("throttle", "set", "node", "localhost", "--max-running", "1")
    before = d0ctl("history").stdout

    d0ctl("site", "apply", file)

    assert before.count("to undo: ") == 3
    assert "to undo: " not in d0ctl("history").stdout


def test_a_drain_of_a_node_that_d0ctl_drained_has_no_undo(d0ctl: Type, site: Site) -> None:
    d0ctl("node", "add", "spare", "--local", "--same-machine")
    node = registry.named(site.store, "spare").id
    with site.store.writing():
        draining.drain(site.store, node, note=None, now=1.0)
        insert(site.store, "bad_node", node_id=node, job_id=1, stage_id=1, since=5.0, began=1.0,
               evidence="{}", next_try=9e9)  # fmt: skip

    planned = d0ctl("node", "drain", "spare", "--dry-run")
    drained = d0ctl("node", "drain", "spare")

    assert planned.stdout.splitlines()[1] == (
        "d0ctl had drained it, and would no longer try it by itself: it would stay drained until "
        "`d0ctl node resume spare`"
    )
    assert drained.stdout.splitlines() == [
        "drained `spare`",
        "d0ctl had drained it, and no longer tries it by itself: it stays drained until "
        "`d0ctl node resume spare`",
    ]
    assert "to undo" not in drained.stderr + d0ctl("history").stdout.splitlines()[-1]


def test_a_dry_run_names_new_hosts_whose_keys_are_not_accepted(
    d0ctl: Type, home: Home, tmp_path: Path
) -> None:
    key = "SHA256:1fCd4nd8iBUmUkeJ3BPmNDvZYCnGOUlFPl4Es1yGCJs"
    text = (
        f"nodes: {{n1: 'n1:22', n2: 'n2:22', n3: {{destination: n3, accept-key: '{key}'}}, n4: }}"
    )
    file = write(tmp_path, text)
    asked = (
        "`site apply` asks for it on a terminal, and elsewhere it needs `accept-key` in the file"
    )

    several = d0ctl("site", "apply", file, "--dry-run").stderr
    known = write(tmp_path, "nodes: {n1: 'n1:22'}")
    single = d0ctl("site", "apply", known, "--dry-run").stderr

    assert f"d0ctl has accepted no host keys of `n1` and `n2`: {asked}\n" in several
    assert f"d0ctl has accepted no host key of `n1`: {asked}\n" in single


def test_a_node_whose_cluster_has_its_own_name_is_as_the_site_file_says(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    registry.add(site.store, Address("far", "ssh", "far"), cpus=4)

    text = "nodes: {far: {destination: far, cluster: NAME}}"
    own = d0ctl("site", "diff", write(tmp_path, text.replace("NAME", "far")))
    other = d0ctl("site", "diff", write(tmp_path, text.replace("NAME", "farm")))

    assert "cluster none -> farm" in other.stdout
    assert "cluster" not in own.stdout
