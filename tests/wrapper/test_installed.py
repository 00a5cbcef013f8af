"""Installed software: verified, sealed, replaced and purged."""

from pathlib import Path
from typing import Any

import pytest

from d0ctl_wrapper.host import software_archive
from tests.support.archives import member, packed
from tests.wrapper.client import Client, binary
from tests.wrapper.ordering import ask, cached, names, order


def test_verify_finds_changed_and_missing_files(node: Client, reco: Path) -> None:
    wanted = order(reco)
    assert ask(node, "verify", wanted) == (False, "1 fault", ["not installed"])
    ask(node, "pull", wanted)
    assert ask(node, "verify", wanted) == (True, "complete", [])

    (cached(node) / "etc/cards").write_text("energy 2000\n")
    (cached(node) / "bin/reco-v12").unlink()
    (cached(node) / "made.pyc").touch()

    faults = ["`bin/reco-v12` is missing", "`etc/again` has changed", "`etc/cards` has changed"]
    assert ask(node, "verify", wanted) == (False, "3 faults", faults)


def test_damaged_software_is_installed_again_after_it_was_missing(node: Client, reco: Path) -> None:
    chain = [binary(script="reco-v12", software=order(reco)) for _ in range(2)]
    assert node.run(*chain, attempt=1)["outcome"] == "successful"
    (cached(node) / "bin/reco-v12").unlink()

    failed = node.run(*chain, attempt=2)
    again = node.run(*chain, attempt=3)

    assert (failed["reason"], again["outcome"]) == ("software-missing", "successful")
    (note,) = [entry["text"] for entry in node.messages(2) if entry["kind"] == "note"]
    assert note == ("software `reco/v12-01` is damaged: `bin/reco-v12` is missing; "
                    "the next attempt installs it again")  # fmt: skip
    assert ask(node, "verify", order(reco)) == (True, "complete", [])


def test_software_without_faults_stays_after_a_command_was_missing(
    node: Client, reco: Path
) -> None:
    failed = node.run(binary(script="recoo", software=order(reco)))

    assert failed["reason"] == "software-missing"
    assert [entry for entry in node.messages(1) if entry["kind"] == "note"] == []
    assert ask(node, "verify", order(reco)) == (True, "complete", [])


def test_a_manifest_is_sealed_by_the_catalogue(node: Client, reco: Path) -> None:
    with reco.open("rb") as file:
        sealed = order(
            reco, manifest=software_archive.manifest_checksum(software_archive.contents(file))
        )
    assert ask(node, "pull", sealed)[0]
    assert ask(node, "verify", sealed)[0]

    record = cached(node) / software_archive.RECORD
    record.write_text(record.read_text().replace("link:reco", "link:other"))
    assert ask(node, "verify", sealed)[2] == ["its list of files differs from the catalogue"]
    record.write_text("{")
    assert ask(node, "verify", sealed)[2] == ["can't read its record"]
    assert ask(node, "pull", sealed)[0]
    assert ask(node, "verify", sealed)[0]


def test_another_archive_replaces_the_installed_one(
    node: Client, reco: Path, tmp_path: Path
) -> None:
    ask(node, "pull", order(reco))
    other = packed(tmp_path / "other.tar", [member("etc/cards", "energy 900\n")])

    assert ask(node, "verify", order(other))[2] == [
        "it comes from another archive than in the catalogue"
    ]
    assert ask(node, "pull", order(other))[0]
    assert (cached(node) / "etc/cards").read_text() == "energy 900\n"
    assert not (cached(node) / "bin").exists()


def test_software_is_purged_with_the_archive_that_was_brought(node: Client, reco: Path) -> None:
    brought = node.base / "software/archives/1"
    brought.parent.mkdir(parents=True)
    reco.rename(brought)
    wanted = order(brought, "software/archives/1")
    ask(node, "pull", wanted)
    brought.parent.chmod(0o700)
    (cached(node) / "bin").chmod(0o500)

    assert ask(node, "purge", wanted) == (True, "removed", [])
    assert not cached(node).exists() and not brought.exists()
    assert ask(node, "purge", wanted) == (True, "it was not installed", [])


@pytest.mark.parametrize("change", [{"name": ".."}, {"version": "a/b"}, {"platform": "."},
                                    {"name": ""}, {"source": ""}, {"verb": "push"}])  # fmt: skip
def test_a_software_order_outside_of_the_cache_is_refused(
    node: Client, reco: Path, change: dict[str, Any]
) -> None:
    node.send("software", **{"id": 1, "verb": "pull", **order(reco), **change})

    assert "software" in node.wait("fault")["message"]


def test_files_of_a_killed_helper_do_not_block_the_next(node: Client, reco: Path) -> None:
    left = node.base / "software/.aside/reco,v12-01,linux-x86_64/new/bin"
    left.mkdir(parents=True)
    (left / "half").touch()
    (node.base / "software/reco/v12-01/linux-x86_64").mkdir(parents=True)

    assert ask(node, "pull", order(reco))[0]
    assert names(cached(node) / "bin") == ["reco", "reco-v12"]
    assert names(node.base / "software/.aside") == []


def test_a_file_whose_name_is_not_utf_8_is_verified(node: Client, tmp_path: Path) -> None:
    path = packed(tmp_path / "reco.tar", [member("caf\udce9", "x")])
    assert ask(node, "pull", order(path))[0]
    assert ask(node, "verify", order(path))[0]
    (cached(node) / "caf\udce9").unlink()

    assert ask(node, "verify", order(path))[2] == ["`caf?` is missing"]
