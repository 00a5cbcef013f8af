"""What a site is, as it is checked, applied and shown on the command line."""

from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.model import Address
from d0ctl.store import open_store
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.site import default, setting
from tests.cli.catalogue import write
from tests.cli.conftest import Type
from tests.support.building import document, production
from tests.support.rows import change, read
from tests.support.site import Site


def test_a_site_file_is_checked_without_a_home(d0ctl: Type, site_file: Path, home: Home) -> None:
    result = d0ctl("site", "check", str(site_file))

    assert (result.exit_code, result.stdout) == (
        0, "ok: 1 node, 1 software, `code-server`, `defaults`\n"
    )  # fmt: skip
    assert not home.exists()
    assert "no node is in cluster `farm`" in result.stderr
    counts = document(d0ctl("site", "check", str(site_file), "--json").stdout)
    assert counts.pop("warnings") == result.stderr.splitlines()
    assert counts == {"nodes": 1, "clusters": 1, "software": 1,
                      "settings": ["code-server", "defaults"]}  # fmt: skip


def test_a_faulty_site_file_changes_nothing(d0ctl: Type, site: Site, tmp_path: Path) -> None:
    faulty = write(tmp_path, "nodes: {n1: {destination: x, cpu: 3}}\nlog-rule: x")
    for verb in ("check", "apply"):
        result = d0ctl("site", verb, faulty)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.splitlines() == [
            f"{faulty}:1:30: a node has no key `cpu` (did you mean `cpus`?)",
            f"{faulty}:2:1: a site has no key `log-rule` (did you mean `log-rules`?)",
        ]
    assert d0ctl("site", "apply", faulty + "x").exit_code == 2


def test_the_warnings_of_a_faulty_site_file_follow_its_faults(d0ctl: Type, tmp_path: Path) -> None:
    faulty = write(tmp_path, "throttles: {node n2: {max-running: 3}}\nnodes: {n1: {cpu: 3}}")

    result = d0ctl("site", "check", faulty)

    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        f"{faulty}:2:14: a node has no key `cpu` (did you mean `cpus`?)",
        f"{faulty}:1:13: warning: no node of this file is `n2`, so nothing is limited",
    ]


def test_no_settings_of_a_missing_home_are_to_be_shown(d0ctl: Type, tmp_path: Path) -> None:
    result = d0ctl("--home", str(tmp_path / "none"), "site", "check")

    assert (result.exit_code, "site show" in result.stderr) == (3, False)
    assert "`d0ctl --home " in result.stderr and " site check FILE`" in result.stderr


def test_the_site_file_of_the_home_is_the_default(d0ctl: Type, site: Site, home: Home) -> None:
    missing = d0ctl("site", "check")
    assert missing.exit_code == 3
    assert missing.stderr.splitlines() == [
        f"d0ctl: the home has no site file `{home.site_file}`",
        f"d0ctl site show > {home.site_file} writes the current settings",
    ]
    home.site_file.write_text("defaults: {nice: 1}")

    assert d0ctl("site", "diff").stdout == "+ setting defaults: nice 1\n"
    assert d0ctl("site", "apply").stdout == "+ setting defaults: nice 1\n1 added\n"


@pytest.mark.parametrize(
    "text", ["defaults: {nice: 4}", "nodes: {far: {destination: far, cluster: lab}}"]
)
def test_a_node_that_leaves_its_cluster_is_applied_with_a_remark_about_its_files(
    d0ctl: Type, site: Site, tmp_path: Path, text: str
) -> None:
    registry.add(site.store, Address("far", "ssh", "far"), cpus=1)
    entry = "nodes: {far: {destination: far}}"
    assert d0ctl("site", "apply", write(tmp_path, entry)).exit_code == 0
    site.submit(production())
    site.launch("prod/1/1/1", "far")
    site.end("prod/1/1/1")

    planned = d0ctl("site", "apply", write(tmp_path, text), "--dry-run")

    remarks = (
        "node `far`: only it has 1 file, 10 B: that one would be made again if needed\n"
        "node `far`: 1 package would run again for those that are needed now\n"
    )
    assert (planned.exit_code, planned.stderr) == (0, remarks)


def test_a_drained_node_that_changes_its_cluster_stays_drained(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    site.up()
    d0ctl("node", "drain", "localhost", "--reason", "broken disk")
    moved = write(tmp_path, "nodes: {localhost: {cluster: lab}}\nclusters: {lab: {}}\n")

    applied = d0ctl("site", "apply", moved, "--yes")

    row = registry.named(site.store, "localhost")
    assert (applied.exit_code, row.cluster) == (0, "lab")
    assert (row.drained, row.drain_note) == (1, "broken disk")


def test_values_that_differ_are_printed_as_people_write_them(
    d0ctl: Type, home: Home, tmp_path: Path
) -> None:
    home.root.mkdir(exist_ok=True)
    text = "nodes: {localhost: {cluster: lab%s}}\nclusters: {lab: {services: SAM, private: %s}}\n"
    home.site_file.write_text(text % ("", "yes"))
    d0ctl("site", "apply")
    rule = "log-rules: [{match: quota, reason: 'site:quota', passive: yes}]\n"
    home.site_file.write_text(text % (", services: [tape, disk]", "no") + rule)

    assert d0ctl("site", "diff").stdout.splitlines() == [
        "~ cluster lab: private yes -> no",
        "~ node localhost: services none -> tape,disk",
        "+ setting log-rules: [{match: quota, reason: 'site:quota', passive: true}]",
    ]


def test_more_than_a_machine_has_is_applied_with_a_remark(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    site.up(cpus=4)
    file = write(tmp_path, "nodes: {localhost: {cpus: 6, memory: 1GB}}")
    remark = "node `localhost`: cpus=6 is more than the machine has: 4 CPUs\n"

    planned = d0ctl("site", "apply", file, "--dry-run")
    done = d0ctl("site", "apply", file)

    assert (planned.exit_code, planned.stderr) == (0, remark)
    assert (done.exit_code, done.stderr) == (0, remark)
    assert d0ctl("site", "apply", file).stderr == ""


def test_a_site_is_applied_shown_and_undone(
    d0ctl: Type, site_file: Path, home: Home, tmp_path: Path
) -> None:
    answer = (
        "+ cluster farm\n~ node localhost: cpus none -> 3, services none -> SAM\n"
        f"+ software reco/v1\n+ setting code-server: {site_file.parent}\n"
        "+ setting defaults: nice 3, grace 1s\n"
    )
    dry = d0ctl("site", "apply", str(site_file), "--dry-run")
    assert dry.stdout == answer + "would be: 4 added, 1 changed\n"
    assert not home.exists()

    assert d0ctl("site", "apply", str(site_file)).stdout == answer + "4 added, 1 changed\n"
    same = "no changes: the site matches the file\n"
    assert d0ctl("site", "apply", str(site_file)).stdout == same
    shown = d0ctl("site", "show").stdout
    assert d0ctl("site", "apply", write(tmp_path, shown)).stdout == same
    assert "runtime: 20m" in shown and "capacity: 2TB" in shown

    with open_store(home, read_only=True) as store:
        assert (default(store, "nice"), default(store, "lease")) == (3, 3000)
        assert setting(store, "code-server") == str(tmp_path)
        verbs = [row[0] for row in read(store, "action", "verb")]
        assert verbs == ["node set", *["site apply"] * 3]


def test_removed_entries_go_and_entries_added_by_commands_stay(
    d0ctl: Type, site_file: Path, tmp_path: Path
) -> None:
    d0ctl("site", "apply", str(site_file))
    d0ctl("software", "add", "sim/v2", "--script", "sim > {outputs}")
    d0ctl("node", "add", "other", "--local", "--same-machine")

    result = d0ctl("site", "apply", write(tmp_path, "defaults: {nice: 4}"))

    assert result.stdout.splitlines() == [
        "- cluster farm",
        "- node localhost",
        "- software reco/v1",
        "~ setting defaults: nice 3 -> 4, grace 1s -> none",
        f"- setting code-server: {site_file.parent} -> none",
        "1 changed, 4 removed",
    ]
    left = document(d0ctl("site", "show", "--json").stdout)
    assert list(left["nodes"]) == ["other"]
    assert [row["name"] for row in left["software"]] == ["sim"]


def test_a_node_with_launched_packages_is_not_taken_away(
    d0ctl: Type, site: Site, site_file: Path, tmp_path: Path
) -> None:
    d0ctl("site", "apply", str(site_file))
    site.submit(production())
    site.launch("prod/1/1/1")

    for text in ("defaults: {nice: 4}", "nodes: {localhost: {dir: /elsewhere}}"):
        result = d0ctl("site", "apply", write(tmp_path, text))
        assert (result.exit_code, "has 1 launched package\n" in result.stderr) == (4, True)
        dry = d0ctl("site", "apply", write(tmp_path, text), "--dry-run")
        assert (dry.exit_code, dry.stdout, dry.stderr) == (4, "", result.stderr)
        seen = d0ctl("site", "diff", write(tmp_path, text))
        assert (seen.exit_code, seen.stderr) == (
            1, "`site apply` would be refused: node `localhost` has 1 launched package\n"
        )  # fmt: skip
    assert d0ctl("site", "apply", str(site_file)).stdout.startswith("no changes")


def test_all_nodes_that_an_apply_waits_for_are_named(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    registry.add(site.store, Address("far", "ssh", "far"), cpus=1)
    site.submit(production(lines=2))
    for line, name in ((1, "localhost"), (2, "far")):
        site.up(name, machine_id=name)
        site.launch(f"prod/1/{line}/1", name)
    d0ctl("site", "apply", write(tmp_path, "nodes: {localhost: {}, far: {destination: far}}"))

    refused = d0ctl("site", "apply", write(tmp_path, "defaults: {nice: 4}")).stderr

    assert "2 nodes have 2 launched packages\n" in refused
    assert "the file does not have `localhost` and `far`, so it would remove them\n" in refused
    assert "d0ctl node drain localhost far --wait   # and then the same again" in refused


def test_an_unreachable_node_stops_the_whole_apply(d0ctl: Type, site: Site, tmp_path: Path) -> None:
    text = "nodes: {n1: {destination: 'x@127.0.0.1:9', via: fabric}}\ndefaults: {nice: 4}"
    result = d0ctl("site", "apply", write(tmp_path, text))

    assert result.exit_code == 6
    assert result.stderr.splitlines()[-2:] == [
        "  it would be node `n1`; nothing was changed",
        "ssh -l x -p 9 -- 127.0.0.1   # to see whether host and port are right",
    ]
    assert document(d0ctl("site", "show", "--json").stdout) == {"nodes": {"localhost": {}}}


def test_a_key_removed_from_the_site_file_falls_back_to_the_report_of_the_node(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    with site.store.writing():
        facts = '{"cpus": 6, "memory": 9, "system": "Linux", "machine": "arm"}'
        change(site.store, "node", facts=facts)
    asked = "nodes: {localhost: {cpus: 2, memory: 4GB, platform: sl7}}"
    for text, cpus, memory, platform in (
        (asked, 2, 4 * 10**9, "sl7"),
        ("nodes: {localhost: {}}", 6, 9, "linux-arm"),
        ("nodes: {localhost: {cluster: lab}}\nclusters: {lab: {platform: sl6}}", 6, 9, "sl6"),
    ):
        d0ctl("site", "apply", write(tmp_path, text))
        (node,) = document(d0ctl("node", "list", "--json").stdout)["nodes"]
        if "lab" not in text:
            assert (node["cpus"], node["memory"]) == (cpus, memory)
        assert node["platform"] == platform


def test_factors_of_a_policy_are_no_sizes_and_times(d0ctl: Type, tmp_path: Path) -> None:
    file = tmp_path / "site.yaml"
    file.write_text("policy: {out-of-memory: {tries: 2, escalate: {memory: 1.5}}, "
                    "wall-time: {escalate: {wall-time: 3}}}\n")  # fmt: skip

    shown = d0ctl("site", "diff", str(file)).stdout

    assert "out-of-memory.escalate.memory 1.5" in shown and "escalate.wall-time 3\n" in f"{shown}\n"


def test_the_files_in_a_cache_are_counted_once_a_site_file_gives_it_a_capacity(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    site.submit(production(lines=1))
    site.up()
    site.finish("prod/1/1/1")
    change(site.store, "file", size=3_000_000)
    file = write(tmp_path, "nodes: {localhost: {}}\nclusters: {control: {capacity: 1MB}}")

    assert d0ctl("site", "apply", file).exit_code == 0

    assert "cache of 1.0 MB: 3.0 MB in use" in d0ctl("cluster", "list").stdout
    assert "3.0 MB of 1.0 MB" in d0ctl("report", "disk").stdout


def test_what_commands_have_made_is_named_if_the_file_does_not(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    file = write(tmp_path, "nodes: {localhost: {}}")
    d0ctl("site", "apply", file)
    d0ctl("cluster", "set", "control", "capacity=1MB")
    d0ctl("node", "add", "other", "--local", "--same-machine")

    for command in ("diff", "apply"):
        result = d0ctl("site", command, file)
        assert (result.exit_code, result.stdout) == (0, "no changes\n")
        assert result.stderr == (
            "the file does not name cluster `control` and node `other`: they stay as they are\n"
        )
