"""What is said when a new job has packages of a job that has ended run again."""

import hashlib
import json
import os
import time
from pathlib import Path

import pytest

from d0ctl.config import Home
from tests.cli.conftest import Type
from tests.support.building import job, line, package
from tests.support.rows import change, delete, insert, value
from tests.support.site import Site

READER = """\
job: again
stages:
  - name: look
    lines:
      - {run: "cat {inputs}", inputs: [%s]}
"""

ENDED = "of job `load`, which has ended, will run again, as"


@pytest.fixture
def result(site: Site, home: Home) -> Path:
    """The result `all` of job `load`, which was made of `raw`, and `raw` is not kept."""
    raw, merge = line(package("raw")), line(package("all", needs=["raw"]))
    site.submit(job(("make", [raw]), ("merge", [merge]), name="load"))
    site.finish("load/1/1/1")
    site.finish("load/2/1/1")
    files = {name: value(site.store, "file", "id", name=name) for name in ("raw", "all")}
    path = home.results / "load" / "all"
    path.parent.mkdir(parents=True)
    path.write_text("0123456789")
    change(site.store, "location", {"file_id": files["all"]}, path=str(path), made=time.time())
    delete(site.store, "location", file_id=files["raw"])
    change(site.store, "file", {"id": files["raw"]}, present=0)
    change(site.store, "job", ended=time.time())
    return path


@pytest.fixture
def reader(tmp_path: Path) -> Path:
    """A job file that reads the result."""
    path = tmp_path / "again.yaml"
    path.write_text(READER % "'load:all'")
    return path


def test_no_package_runs_again_for_a_result_that_is_as_it_was(
    result: Path, reader: Path, d0ctl: Type
) -> None:
    assert "warning" not in d0ctl("validate", str(reader)).output


@pytest.mark.parametrize("words", [["validate"], ["submit", "--dry-run"], ["submit"]])
def test_a_result_that_was_changed_by_hand_runs_its_makers_again(
    result: Path, reader: Path, d0ctl: Type, words: list[str]
) -> None:
    result.write_text("other")

    said = d0ctl(*words, str(reader)).stderr

    assert f"{reader}: warning: 2 packages {ENDED} `{result}` has another size now; " in said
    assert "to prevent it, put it back first\n" in said


def test_so_does_one_that_was_written_again_with_the_same_size(
    site: Site, result: Path, reader: Path, d0ctl: Type
) -> None:
    digest = hashlib.sha256(b"0123456789").hexdigest()
    change(site.store, "file", {"name": "all"}, size=10, checksum=f"sha256:{digest}")
    assert "warning" not in d0ctl("validate", str(reader)).output

    result.write_text("9876543210")
    os.utime(result, (time.time() + 1, time.time() + 1))  # the clock of files is coarse

    said = d0ctl("validate", str(reader)).stderr
    assert f"2 packages {ENDED} `{result}` has other contents now; to prevent it" in said


def test_so_does_one_that_was_removed_and_the_document_says_so(
    result: Path, reader: Path, d0ctl: Type
) -> None:
    result.unlink()

    (warning,) = json.loads(d0ctl("validate", str(reader), "--json").stdout)["warnings"]

    assert f"2 packages {ENDED} `{result}` was removed; to prevent it" in warning


@pytest.mark.parametrize("entry", ["'load:raw'", "{from: load/make}"])
def test_a_file_that_is_not_kept_is_made_again(
    result: Path, reader: Path, d0ctl: Type, site: Site, entry: str
) -> None:
    delete(site.store, "input")  # no package of `load` reads it, so `from` takes it
    reader.write_text(READER % entry)

    said = d0ctl("validate", str(reader)).stderr

    assert said == f"{reader}: warning: 1 package {ENDED} `load:raw` is not kept any more\n"


def test_a_part_that_is_cloned_has_its_makers_run_again(result: Path, d0ctl: Type) -> None:
    said = d0ctl("clone", "load/2", "--dry-run").output

    assert f"warning: 1 package {ENDED} `load:raw` is not kept any more" in said


def test_a_copy_on_a_node_is_as_good(site: Site, result: Path, reader: Path, d0ctl: Type) -> None:
    result.unlink()
    insert(site.store, "cluster", id=7, name="farm")
    change(site.store, "location", {"path": str(result)}, cluster_id=7)

    assert "warning" not in d0ctl("validate", str(reader)).output


def test_history_and_status_tell_that_packages_ran_again_and_for_which_job(
    result: Path, reader: Path, d0ctl: Type
) -> None:
    reader.write_text(READER % "'load:raw'")
    d0ctl("submit", str(reader))

    for page in ("history", "status"):
        said = d0ctl(page, "load").stdout
        assert "d0ctl  remake  load" in said
        assert "no good copy was left of files that `again` reads" in said
    (action,) = [
        action for action in json.loads(d0ctl("history", "load", "--json").stdout)["actions"]
        if action["verb"] == "remake"
    ]  # fmt: skip
    assert (action["actor"], action["packages"]) == ("d0ctl", 1)


@pytest.mark.parametrize("words", [["validate"], ["submit", "--dry-run"], ["submit"]])
@pytest.mark.parametrize(
    ("names", "absent"),
    [
        ("'load:all'", "`load:all` is not made"),
        ("'load:raw', 'load:all', 'load:sum'", "2 files such as `load:all` are not made"),
    ],
    ids=["one", "several"],
)
def test_a_file_that_a_job_did_not_make_before_it_ended_is_named_with_a_warning(
    site: Site, reader: Path, d0ctl: Type, words: list[str], names: str, absent: str
) -> None:
    lines = [line(package(name, needs=["raw"])) for name in ("all", "sum")]
    site.submit(job(("make", [line(package("raw"))]), ("merge", lines), name="load"))
    site.finish("load/1/1/1")
    reader.write_text(READER % names)
    assert "has ended" not in d0ctl("validate", str(reader)).output
    for path in ("load/2/1/1", "load/2/2/1"):
        site.fail(path)
    change(site.store, "job", ended=time.time())

    said = d0ctl(*words, str(reader)).stderr

    assert f"{reader}: warning: {absent}, and job `load` has ended: d0ctl why load:all\n" in said
