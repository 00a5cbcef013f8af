"""Files that were made again with other contents after packages had read them."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Type
from tests.cli.file_answers import reported
from tests.support import rows
from tests.support.building import job, line, package
from tests.support.site import Site

OF_READER = "`d0ctl update load/2/1/1 --again`"


def again(site: Site, d0ctl: Type, checksum: str) -> None:
    """Make the file `raw` again, with this checksum."""
    assert d0ctl("set-status", "load/1/1/1", "unscheduled", "--yes").exit_code == 0
    attempt = site.launch("load/1/1/1")
    made = {"name": "raw", "path": f"/tmp/base/cache/{attempt}/raw", "size": 12,
            "checksum": checksum}  # fmt: skip
    site.end("load/1/1/1", outputs=[made])


@pytest.fixture
def ended(site: Site) -> Site:
    """A job that has made `raw`, and `all` of it."""
    raw, merge = line(package("raw")), line(package("all", needs=["raw"]))
    site.submit(job(("make", [raw]), ("merge", [merge]), name="load"))
    site.finish("load/1/1/1")
    site.finish("load/2/1/1")
    return site


def made_from(d0ctl: Type) -> list[str]:
    """What `why` says of which files `all` was made."""
    facts: list[str] = reported(d0ctl, "load:all")["facts"]
    return [fact for fact in facts if fact.startswith("it was made from")]


def test_why_of_a_file_does_not_take_a_later_version_of_an_input_for_the_one_that_was_read(
    ended: Site, d0ctl: Type
) -> None:
    assert made_from(d0ctl) == ["it was made from `load:raw`, sha256:00"]

    again(ended, d0ctl, "sha256:11")

    (fact,) = made_from(d0ctl)
    version = "it was made from an earlier version of `load:raw`, sha256:00, which was replaced "
    assert fact.startswith(version)
    (read,) = reported(d0ctl, "load:all")["details"]["origin"]["inputs"]
    assert read == {"file": "load:raw", "size": 10, "checksum": "sha256:00", "is_earlier": True}


def test_an_input_that_was_made_again_with_the_same_contents_is_the_one_that_was_read(
    ended: Site, d0ctl: Type
) -> None:
    again(ended, d0ctl, "sha256:00")

    assert made_from(d0ctl) == ["it was made from `load:raw`, sha256:00"]
    assert "raw" not in d0ctl("results", "load").output


def test_a_reader_that_ran_again_has_read_the_later_version(ended: Site, d0ctl: Type) -> None:
    again(ended, d0ctl, "sha256:11")

    d0ctl("set-status", "load/2/1/1", "unscheduled", "--yes")
    ended.finish("load/2/1/1")

    assert made_from(d0ctl) == ["it was made from `load:raw`, sha256:11"]
    assert "raw" not in d0ctl("results", "load").output


def test_results_and_why_of_the_job_name_a_file_of_which_packages_read_an_earlier_version(
    ended: Site, d0ctl: Type
) -> None:
    again(ended, d0ctl, "sha256:11")

    named = f"`raw` has changed since 1 finished package read it: {OF_READER} runs it again"
    assert named in d0ctl("results", "load").output
    assert named in d0ctl("why", "load").output
    d0ctl("kill-line", "load/2/1", "--drop-outputs", "--yes")
    assert "`raw`" not in d0ctl("results", "load").output


def test_a_package_that_is_out_of_date_anyway_is_named_if_its_input_was_made_again(
    ended: Site, d0ctl: Type
) -> None:
    rows.insert(ended.store, "outdated_package", package_id=2, job_id=1, by_recipe=0)
    assert "`raw`" not in d0ctl("results", "load").output

    again(ended, d0ctl, "sha256:11")

    said = d0ctl("results", "load").output
    assert "is out of date" in said
    read = "`raw` has changed since 1 finished package read it"
    assert f"{read}: `d0ctl update load --again` runs it again, too" in said


def test_why_of_a_package_and_of_its_file_name_an_input_that_was_made_again(
    ended: Site, d0ctl: Type
) -> None:
    again(ended, d0ctl, "sha256:11")

    of_reader, of_file = d0ctl("why", "load/2/1/1").stdout, d0ctl("why", "load:all").stdout

    assert "- `raw` has changed since it read it\n" in of_reader
    assert "- `raw` has changed since `load/2/1/1` read it\n" in of_file
    assert all("$ d0ctl update load/2/1/1 --again\n" in said for said in (of_reader, of_file))
    assert "has changed" not in d0ctl("why", "load/1/1/1").stdout


@pytest.mark.parametrize("target", ["load", "load:all"])
def test_an_exported_origin_keeps_the_versions_apart(ended: Site, d0ctl: Type, target: str) -> None:
    again(ended, d0ctl, "sha256:11")

    document = json.loads(d0ctl("export", target, "--format", "prov").stdout)

    earlier = "file:load%3Araw%40load/2/1/1/1"
    assert document["entity"][earlier]["term:checksum"] == "sha256:00"
    assert used(document) == [earlier]
    crate = d0ctl("export", target, "--format", "ro-crate").stdout
    assert '"raw (an earlier version)"' in crate


def used(document: Any) -> list[str]:
    """The files that runs have used."""
    return [use["prov:entity"] for use in document["used"].values()]


def test_a_package_of_another_job_whose_input_was_made_again_is_named_and_runs_again_on_request(
    ended: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "other.yaml").write_text(
        "job: other\nstages: [{lines: [{run: cat raw, inputs: ['load:raw'], outputs: mine}]}]\n"
    )
    d0ctl("submit", str(tmp_path / "other.yaml"))
    ended.finish("other/1/1/1")
    again(ended, d0ctl, "sha256:11")

    said = d0ctl("results", "other").stderr
    why = d0ctl("why", "other/1/1/1").stdout
    d0ctl("update", "other", "--again")

    assert "`raw` has changed since 1 finished package read it: `d0ctl update other/1/1/1" in said
    assert "`raw` has changed since" in " ".join(why.split())
    assert ended.phase("other/1/1/1") == "ready"
