"""What the site says of a node, by verb, by benchmark and by the site file."""

import json
import time
from pathlib import Path

import pytest
import yaml

from d0ctl.model import Address
from d0ctl.sitefile.reader import read_text
from d0ctl.store.clusters import site_changes
from d0ctl.store.nodes import registry
from tests.cli.conftest import Type
from tests.support.building import document, production
from tests.support.rows import read
from tests.support.site import Site


def node(d0ctl: Type) -> dict[str, object]:
    (found,) = document(d0ctl("node", "list", "--json").stdout)["nodes"]
    return dict(found)


def test_a_benchmark_measures_the_speed_that_counts_from_then_on(site: Site, d0ctl: Type) -> None:
    site.up(cpus=1)

    done = d0ctl("node", "benchmark", "localhost", "--reason", "new CPUs")

    speed = node(d0ctl)["speed"]
    assert done.exit_code == 0, done.output
    assert f"speed of `localhost`: 1 -> {speed:g}" in done.stdout
    assert isinstance(speed, float) and 0.02 < speed < 50
    assert f"speed {speed:g}" in d0ctl("node", "list").stdout
    assert node(d0ctl)["speed_measured"] == speed
    assert read(site.store, "action", "verb", "note")[-1] == ("node benchmark", "new CPUs")


def test_a_configured_speed_overrides_the_measured_one(site: Site, d0ctl: Type) -> None:
    registry.keep_speed(site.store, "localhost", 3.0, now=time.time())
    d0ctl("node", "set", "localhost", "speed=1.5")
    assert node(d0ctl)["speed"] == 1.5

    d0ctl("node", "set", "localhost", "speed=none")

    assert node(d0ctl)["speed"] == 3.0


def test_a_node_that_can_not_be_reached_has_no_benchmark(site: Site, d0ctl: Type) -> None:
    d0ctl("node", "set", "localhost", "speed=2")

    assert d0ctl("node", "benchmark", "nowhere").exit_code == 3


def test_a_setting_beyond_the_machine_is_accepted_with_what_the_machine_has(
    site: Site, d0ctl: Type
) -> None:
    site.up(cpus=4)

    planned = d0ctl("node", "set", "localhost", "cpus=999", "--dry-run").stdout
    done = d0ctl("node", "set", "localhost", "cpus=999").stdout
    usual = d0ctl("node", "set", "localhost", "cpus=4", "speed=9").stdout

    remark = "cpus=999 is more than the machine has: 4 CPUs\n"
    assert planned.endswith(remark) and done.endswith(remark)
    assert node(d0ctl)["cpus"] == 4
    assert "machine" not in usual


def test_a_setting_takes_effect_and_can_be_undone(site: Site, d0ctl: Type) -> None:
    site.up(cpus=4)

    done = d0ctl("node", "set", "localhost", "cpus=2", "memory=3GB", "services=SAM,DB",
                 "--reason", "for the others")  # fmt: skip

    assert "cpus none -> 2, memory none -> 3GB, services none -> SAM,DB" in done.stdout
    assert (node(d0ctl)["cpus"], node(d0ctl)["memory"]) == (2, 3_000_000_000)
    undo = "d0ctl node set localhost cpus=none memory=none services=none"
    assert f"to undo: {undo}" in done.stdout + done.stderr
    assert d0ctl(*undo.split()[1:]).exit_code == 0
    assert node(d0ctl)["cpus"] == 4


@pytest.mark.parametrize(
    ("word", "said"),
    [("speed=0", "`speed` takes the speed relative to a standard node, such as `1.5`, not `0`"),
     ("colour=red", "`colour=red` is not KEY=VALUE with one of"),
     ("destination=host2", "d0ctl site show > FILE   # edit it, then: d0ctl site apply FILE"),
     ("cluster=control", "the cluster `control` belongs to this machine")],
)  # fmt: skip
def test_a_setting_that_no_site_file_allows_is_bad_usage(
    site: Site, d0ctl: Type, word: str, said: str
) -> None:
    done = d0ctl("node", "set", "localhost", word)

    assert done.exit_code == 2
    assert said in done.stderr


def test_the_site_file_puts_back_what_a_verb_has_changed(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    file = tmp_path / "site.yaml"
    file.write_text("nodes:\n  localhost: {cpus: 2, speed: 1.5}\n")
    assert d0ctl("site", "apply", str(file), "--yes").exit_code == 0
    assert d0ctl("site", "diff", str(file)).exit_code == 0
    d0ctl("node", "set", "localhost", "cpus=3", "speed=none", "platform=sl7")

    different = d0ctl("site", "diff", str(file))

    line = "~ node localhost: cpus 3 -> 2, platform sl7 -> none, speed none -> 1.5\n"
    assert (different.exit_code, different.stdout) == (1, line)
    (change,) = document(d0ctl("site", "diff", str(file), "--json").stdout)["changes"]
    assert change == {"verb": "change", "kind": "node", "name": "localhost",
                      "keys": ["cpus", "platform", "speed"]}  # fmt: skip
    assert d0ctl("site", "apply", str(file), "--yes").exit_code == 0
    assert (node(d0ctl)["cpus"], node(d0ctl)["speed"]) == (2, 1.5)


def test_a_node_that_moves_to_another_cluster_loses_its_copies(site: Site, d0ctl: Type) -> None:
    registry.add(site.store, Address("far", "ssh", "far"), cpus=1)
    site.submit(production())
    site.launch("prod/1/1/1", "far")
    site.end("prod/1/1/1")

    plan = d0ctl("node", "set", "far", "cluster=farm", "--new", "--dry-run")
    done = d0ctl("node", "set", "far", "cluster=farm", "--new")

    assert plan.stdout.splitlines() == [
        "would change `far`: cluster none -> farm",
        "files that only it has would be made again if needed",
    ]
    assert done.exit_code == 0, done.output
    assert registry.named(site.store, "far").cluster == "farm"
    assert site.phase("prod/1/1/1") == "ready"


def test_a_cluster_that_is_misspelt_is_refused_and_none_is_made(site: Site, d0ctl: Type) -> None:
    registry.add(site.store, Address("far", "ssh", "far"), cpus=1, cluster="farm")

    done = d0ctl("node", "set", "far", "cluster=farn")

    assert done.exit_code == 3
    assert done.stderr == (
        "d0ctl: there is no cluster `farn`; `--new` would make it\ndid you mean `farm`?\n"
    )
    assert registry.named(site.store, "far").cluster == "farm"


def test_a_cluster_that_its_last_node_leaves_keeps_its_settings(site: Site, d0ctl: Type) -> None:
    registry.add(site.store, Address("far", "ssh", "far"), cpus=1, cluster="farm")
    d0ctl("cluster", "set", "farm", "capacity=2TB", "platform=sl7")

    done = d0ctl("node", "set", "far", "cluster=lab", "--new")
    (undo,) = [line for line in done.stderr.splitlines() if line.startswith("to undo: ")]
    assert undo == "to undo: d0ctl node set far cluster=farm --new"
    assert d0ctl(*undo.split()[3:]).exit_code == 0

    entry = yaml.safe_load(d0ctl("site", "show").stdout)["clusters"]
    assert entry == {"farm": {"platform": "sl7", "capacity": "2TB"}}


def test_a_node_is_added_to_a_cluster_that_exists_or_that_it_makes(site: Site, d0ctl: Type) -> None:
    words = ["node", "add", "near", "--local", "--same-machine", "--cluster"]

    misspelt = d0ctl(*words, "contrl")
    plan = d0ctl(*words, "lab", "--new", "--dry-run")
    added = d0ctl(*words, "lab", "--new")

    assert (misspelt.exit_code, misspelt.stderr) == (
        3, "d0ctl: there is no cluster `contrl`; `--new` would make it\n"
        "did you mean `control`?\n",
    )  # fmt: skip
    assert plan.stdout.splitlines()[-1] == "would make the cluster `lab`"
    assert added.stdout.splitlines()[-1] == "made the cluster `lab`"
    assert registry.named(site.store, "near").cluster == "lab"


def test_the_last_node_of_a_cluster_leaves_its_settings_unless_they_are_removed_too(
    site: Site, d0ctl: Type
) -> None:
    for name in ("far", "farther"):
        with site.store.writing():
            registry.add(site.store, Address(name, "ssh", name), cpus=1, cluster="farm")
    d0ctl("cluster", "set", "farm", "capacity=2TB", "private=yes")
    settings = "private=yes and capacity=2TB"
    keeps = f"cluster `farm` keeps its settings without a node: {settings} (--with-settings"

    assert d0ctl("node", "remove", "far").stdout == "removed `far`\n"
    assert keeps in d0ctl("node", "remove", "farther", "--dry-run").stdout
    assert keeps in d0ctl("node", "remove", "farther").stdout
    assert yaml.safe_load(d0ctl("site", "show").stdout)["clusters"] == {
        "farm": {"private": True, "capacity": "2TB"}
    }

    with site.store.writing():
        registry.add(site.store, Address("far", "ssh", "far"), cpus=1, cluster="farm")
    words = ("node", "remove", "far", "--with-settings")

    assert (
        f"would forget the settings of cluster `farm`: {settings}"
        in d0ctl(*words, "--dry-run").stdout
    )
    assert f"forgot the settings of cluster `farm`: {settings}" in d0ctl(*words).stdout
    assert "clusters" not in yaml.safe_load(d0ctl("site", "show").stdout)


def test_a_node_in_use_does_not_move(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")

    assert d0ctl("node", "set", "localhost", "cluster=farm").exit_code == 4


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("node set localhost cpu=3", "did you mean `d0ctl node set localhost cpus=3`?"),
        (
            "node set localhost speed=2 platfrom=sl7",
            "did you mean `d0ctl node set localhost speed=2 platform=sl7`?",
        ),
        (
            "cluster set control capacty=20MB",
            "did you mean `d0ctl cluster set control capacity=20MB`?",
        ),
        (
            "researcher set kant mial=k@example.org",
            "did you mean `d0ctl researcher set kant mail=k@example.org`?",
        ),
        ("node set localhost zzz=3", "d0ctl node set localhost speed=1.5 cpus=8 memory=16GB"),
        ("throttle set reseacher kant", "d0ctl throttle set researcher kant --max-running 50"),
        ("throttle set zzz kant", "d0ctl throttle set node kant --max-running 50"),
    ],
)
def test_a_misspelt_key_is_answered_with_the_same_command(
    site: Site, d0ctl: Type, words: str, hint: str
) -> None:
    answer = d0ctl(*words.split())

    assert answer.exit_code == 2
    assert answer.stderr.splitlines()[1:] == [hint]


@pytest.mark.parametrize(("machine", "speed"), [("m1", 3.0), ("m2", None)])
def test_a_node_that_moves_to_another_cluster_keeps_its_benchmark_if_it_is_the_same_machine(
    site: Site, machine: str, speed: float | None
) -> None:
    registry.add(site.store, Address("farm", "ssh", "farm"), cpus=2)
    site.up("farm", machine_id="m1")
    registry.keep_speed(site.store, "farm", 3.0, now=time.time())
    wanted = read_text(
        "nodes: {farm: {destination: farm, cluster: desks}}\nclusters: {desks: {}}", "site.yaml"
    )
    facts = {**json.loads(registry.named(site.store, "farm").facts or "{}"), "machine_id": machine}

    site_changes.apply(site.store, wanted, {"farm": facts}, actor="me", note=None,
                       now=time.time(), source="site.yaml")  # fmt: skip

    farm = registry.named(site.store, "farm")
    assert (farm.cluster, farm.speed_measured) == ("desks", speed)
