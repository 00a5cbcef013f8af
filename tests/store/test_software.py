"""The catalogue in the store: where software goes, what launches carry, orders to nodes."""

import json
from typing import Any

import pytest

from d0ctl.jobfile.spec import Acquire, BinarySpec, InputSpec, OutputSpec
from d0ctl.store import Store
from d0ctl.store.attempts.launching import launches
from d0ctl.store.nodes import contact, placement, software
from tests.store.catalogue import CHECKSUM, FACTS, entry, keep, node, reco
from tests.support.jobs import NOW, job, package, submitted

OTHER = "sha256:" + "2" * 64

pytestmark = pytest.mark.usefixtures("drained_localhost")


def assign(store: Store) -> dict[str, int]:
    """Schedule what can be; the packages on each node."""
    from d0ctl.schedule.place import place

    with store.writing():
        decisions = place(
            placement.nodes(store), placement.requirements(store),
            lambda requirement, limit: placement.oldest(store, requirement, limit),
            lambda packages: placement.local_bytes(store, packages),
        )  # fmt: skip
        placement.assign(store, decisions, now=NOW)
    rows = store.connection.execute(
        "select node.name, count(*) from package join node on node.id = node_id group by node.id"
    )
    return {row[0]: row[1] for row in rows}


def launched(store: Store, node: int) -> list[dict[str, Any]]:
    """The binaries that a node is given to run."""
    with store.writing():
        found = launches.launch(store, [node], limit=9, now=NOW).get(node, [])
    return [binary for launch in found for binary in launch["binaries"]]


def test_packages_go_where_their_software_exists(store: Store) -> None:
    for name in ("sl6", "sl7"):
        node(store, name, name)
    keep(store, entry("sl7"))
    submitted(store, job("one", [package(reco())]))

    assert assign(store) == {"sl7": 1}


def test_packages_go_where_their_services_are(store: Store) -> None:
    node(store, "bare")
    node(store, "sam", services='["SAM"]')
    keep(store, entry(needs=("SAM",)))
    submitted(store, job("one", [package(reco())]))

    assert assign(store) == {"sam": 1}


def test_nodes_offer_the_services_of_their_cluster(store: Store) -> None:
    node(store, "sam")
    submitted(store, job("one", [package(BinarySpec("x", script="x", needs=("SAM",)))]))
    assert assign(store) == {}

    with store.writing():
        store.connection.execute("update cluster set services = '[\"SAM\"]' where name = 'sam'")
    assert assign(store) == {"sam": 1}


def test_the_platform_of_a_cluster_is_that_of_its_nodes(store: Store) -> None:
    number = node(store, "old")
    with store.writing():
        store.connection.execute("update cluster set platform = 'sl7' where name = 'old'")
        contact.up(store, number, {**FACTS, "machine_id": "old"}, now=NOW)
    submitted(store, job("one", [package(BinarySpec("x", script="x"), platform="sl7")]))

    assert assign(store) == {"old": 1}


def test_settings_of_the_catalogue_reach_the_binary(store: Store) -> None:
    here = node(store, "a")
    rules = ({"match": "bad", "reason": "site:bad"},)
    keep(store, entry(shell="sh", hooks={"before": "setup"}, log_rules=rules,
                      progress={"log": "(x)"}))  # fmt: skip
    submitted(store, job("one", [package(reco())]))
    assign(store)

    (reply,) = launched(store, here)
    assert reply["shell"] == "sh"
    assert reply["hooks"] == [{"name": "reco/v1", "before": "setup"}]
    assert reply["log_rules"] == [*rules]
    assert reply["progress"] == {"log": "(x)"}


def test_without_an_entry_a_package_goes_nowhere(store: Store) -> None:
    node(store, "sl7", "sl7")
    submitted(store, job("one", [package(reco())]))

    assert assign(store) == {}


def test_a_node_gets_the_script_for_its_platform(store: Store) -> None:
    special, other = node(store, "a", "sl7"), node(store, "b", "sl8")
    keep(store, entry("sl7", script="special"), entry("", script="general"))
    submitted(store, job("one", [package(reco(), nodes=(name,)) for name in "ab"]))
    assign(store)

    assert [launch["script"] for launch in launched(store, special)] == ["special"]
    assert [launch["script"] for launch in launched(store, other)] == ["general"]


def test_a_script_is_filled_from_binary_job_and_catalogue(store: Store) -> None:
    here = node(store, "a")
    text = "reco {a} {b} {c} {inputs} > {outputs}"
    keep(store, entry(script=text, parameters={"a": "1", "b": "1", "c": "1"}))
    described = reco(
        parameters={"a": "raw/x 1.raw", "z": "9"},
        inputs=(InputSpec("/data/raw/x 1.raw", made=False),),
        outputs=(OutputSpec("-o"),),
    )
    spec = job("one", [package(described)])
    submitted(store, spec)
    with store.writing():
        store.connection.execute("update job set parameters = ?", [json.dumps({"a": 5, "b": 2})])
        store.connection.execute("delete from transfer")
    assign(store)
    with store.writing():
        store.connection.execute("update package set staging = 0")

    (binary,) = launched(store, here)
    assert binary["script"] == "reco 'x 1.raw' 2 1 'x 1.raw' > ./-o"
    assert (binary["shell"], binary["argv"], binary["software"]) == ("bash", None, None)


def test_settings_of_a_job_go_before_the_catalogue(store: Store) -> None:
    here = node(store, "a")
    keep(store, entry(archive="https://x/y.tar", checksum=CHECKSUM, runtime=60.0,
                      progress={"log": "x"}))  # fmt: skip
    own = BinarySpec("own", argv=("reco",), software="reco/v1", runtime=5.0)
    submitted(store, job("one", [package(own), package(reco())]))
    assign(store)

    first, second = launched(store, here)
    assert (first["argv"], first["script"], first["runtime"]) == (["reco"], None, 5.0)
    assert (second["script"], second["runtime"]) == ("reco  std", 60.0)
    assert first["software"] == second["software"] == {
        "name": "reco", "version": "v1", "platform": "", "source": "https://x/y.tar",
        "checksum": CHECKSUM, "manifest": None,
    }  # fmt: skip


def test_the_check_of_the_catalogue_verifies_binaries_without_one_of_their_own(
    store: Store,
) -> None:
    here = node(store, "a")
    keep(store, entry(check="verify {cards} {inputs} {outputs}"))
    own = BinarySpec(
        "own", script="reco", software="reco/v1", outputs=(OutputSpec("-o"),),
        inputs=(InputSpec("/data/a b.raw", made=False, acquire=Acquire.NONE),),
    )  # fmt: skip
    checked = BinarySpec("checked", script="reco", software="reco/v1", check="test -s x")
    submitted(store, job("one", [package(reco(parameters={"cards": "my own"}))],
                         [package(own)], [package(checked)]))  # fmt: skip
    assign(store)

    assert [launch["check"] for launch in launched(store, here)] == [
        "verify 'my own'  ", "verify std 'a b.raw' ./-o", "test -s x"
    ]  # fmt: skip


def test_software_that_left_the_catalogue_is_missing_software(store: Store) -> None:
    here = node(store, "a")
    keep(store, entry())
    submitted(store, job("one", [package(reco())]))
    assign(store)
    with store.writing():
        store.connection.execute("delete from software")

    (binary,) = launched(store, here)
    assert binary["script"].endswith("exit 127\n")


def test_a_launch_waits_for_the_archive_of_its_node(store: Store) -> None:
    here = node(store, "a")
    keep(store, entry(archive="/x.tar", checksum=CHECKSUM))
    submitted(store, job("one", [package(reco()), package()]))
    assign(store)
    (wanted,) = software.archives_wanted(store, here, now=NOW)
    assert (wanted["archive"], wanted["checksum"]) == ("/x.tar", CHECKSUM)
    assert [launch["name"] for launch in launched(store, here)] == ["work"]

    with store.writing():
        software.delay(store, here, CHECKSUM, "no space", is_gone=False, now=NOW)
    assert not software.archives_wanted(store, here, now=NOW + 4)
    assert software.archives_wanted(store, here, now=NOW + 6)
    with store.writing():
        software.arrive(store, here, CHECKSUM, now=NOW + 7)
    assert not software.archives_wanted(store, here, now=NOW + 7)
    (binary,) = launched(store, here)
    assert binary["software"]["source"] == "software/archives/" + "1" * 64


def test_a_changed_archive_is_brought_anew(store: Store) -> None:
    here = node(store, "a")
    keep(store, entry(archive="/x.tar", checksum=CHECKSUM))
    submitted(store, job("one", [package(reco())]))
    assign(store)
    with store.writing():
        software.arrive(store, here, CHECKSUM, now=NOW)
    keep(store, entry(archive="/x.tar", checksum=OTHER))

    assert [row["checksum"] for row in software.archives_wanted(store, here, now=NOW)] == [OTHER]
    assert launched(store, here) == []


def test_this_machine_reads_archives_where_they_lie(store: Store) -> None:
    with store.writing():
        store.connection.execute("update node set drained = 0, state = 'up'")
    keep(store, entry(archive="/x.tar", checksum=CHECKSUM))
    submitted(store, job("one", [package(reco())]))
    (here,) = [row["id"] for row in store.rows("nodes")]
    assign(store)

    assert not software.archives_wanted(store, here, now=NOW)
    assert launched(store, here)[0]["software"]["source"] == "/x.tar"
