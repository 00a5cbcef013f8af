"""Jobs whose files are in stores of the site: a directory, rsync, S3, and commands that fail."""

import os
from collections.abc import Iterator

import pytest

from tests.support.site import Site
from tests.support.stores import KEYS, rsync_folder, s3_server

NAMES = ("archive", "backup", "cloud")


@pytest.fixture
def stores(site: Site) -> Iterator[Site]:
    """A site with a store of each kind, and one whose tapes are never mounted."""
    for name in ("archive", "backup"):
        (site.folder / name).mkdir()
    site.variables |= KEYS
    site.variables["PATH"] = f"{rsync_folder()}:{os.environ['PATH']}"
    with s3_server("reco") as url:
        site.ok("site", "apply", site.write(
            f"stores:\n"
            f"  archive: {{directory: {site.folder}/archive}}\n"
            f"  backup: {{rsync: {site.folder}/backup}}\n"
            f"  cloud: {{s3: {url}/2026}}\n"
            f"  tape: {{fetch: 'echo no tape for {{name}} >&2; : > {{dest}}; exit 3',"
            " check: 'echo the robot is off >&2; exit 1'}\n"
            "policy: {stage-in: {tries: 0}, missing-input: {tries: 0}}\n",
            "site.yaml"), "--yes")  # fmt: skip
        yield site


def test_outputs_are_stored_and_inputs_of_another_job_are_fetched(stores: Site) -> None:
    outputs = "".join(f"{{file: {name}.txt, locator: 'store:{name}/run 1/a.txt'}}, "
                      for name in NAMES)  # fmt: skip
    make = "; ".join(f"echo {name} > {name}.txt" for name in NAMES)
    stores.ok("run", stores.write(
        f"job: make\nstages: [{{lines: [{{run: '{make}', outputs: [{outputs}]}}]}}]\n"
    ))  # fmt: skip

    inputs = outputs.replace("{file: ", "{file: got-")
    stores.ok("run", stores.write(
        f"job: read\nstages: [{{lines: [{{run: 'cat got-* > all.txt', inputs: [{inputs}],"
        " outputs: [all.txt]}]}]\n"))  # fmt: skip

    assert (stores.home.root / "results/read/all.txt").read_text() == "archive\nbackup\ncloud\n"
    assert (stores.folder / "archive/run 1/a.txt").read_text() == "archive\n"
    assert "it is stored at `store:cloud/run 1/a.txt`" in stores.ok("why", "make:cloud.txt")
    assert stores.json("store", "locate", "store:cloud/run 1/a.txt")["location"].endswith("a.txt")
    assert [one["kind"] for one in stores.json("store", "list")["stores"]] == [
        "directory", "rsync", "s3", "commands",
    ]  # fmt: skip
    stores.ok("store", "delete", "store:archive/run 1/a.txt", "--dry-run")
    assert (stores.folder / "archive/run 1/a.txt").exists()
    stores.ok("store", "delete", "store:archive/run 1/a.txt", "--reason", "it is elsewhere")
    assert not (stores.folder / "archive/run 1/a.txt").exists()
    assert stores.ask("select target, note from action where verb = 'store delete'") == [
        ("store:archive/run 1/a.txt", "it is elsewhere")
    ]
    assert stores.d0ctl("store", "locate", "store:archive/run 1/a.txt").code == 3


def test_a_file_that_a_store_does_not_have_or_give_fails_the_package_with_the_reason(
    stores: Site,
) -> None:
    lines = ", ".join(f"{{run: cat a, inputs: [{{file: a, locator: 'store:{name}/a'}}]}}"
                      for name in ("archive", "cloud", "tape"))  # fmt: skip
    done = stores.d0ctl("run", stores.write(f"job: read\nstages: [{{lines: [{lines}]}}]\n"))

    assert done.code == 1
    assert "warning: store `archive` has no file `a`" in done.err
    assert "warning: store `tape`: the robot is off" in done.err
    reasons = stores.ask("select reason, message from attempt order by package_id")
    assert [reason for reason, _ in reasons] == ["missing-input", "missing-input", "stage-in"]
    assert f"there is no file `a` in {stores.folder}/archive" in reasons[0][1]
    assert reasons[2][1].endswith("no tape for a")
    assert "no tape for a" in stores.ok("why", "read/1/3/1")
    assert "store: tape: store `tape`: the robot is off" in stores.d0ctl("doctor").out


def test_an_unknown_store_or_a_missing_command_is_a_fault_of_the_job_file(stores: Site) -> None:
    done = stores.d0ctl("submit", stores.write(
        "job: wrong\nstages: [{lines: [{run: cat a > b,"
        " inputs: [{file: a, locator: 'store:archiv/a'}],"
        " outputs: [{file: b, locator: 'store:tape/b'}]}]}]\n"))  # fmt: skip

    assert done.code == 2
    assert "the site has no store `archiv` (did you mean `archive`?)" in done.err
    assert "store `tape` has no command to store files; add `store` to it" in done.err
