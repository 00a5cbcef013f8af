"""Packages that are to read files again which were removed, as their last reader had ended."""

import time
from pathlib import Path

import pytest

from d0ctl.store.checks.check import faults
from d0ctl.store.files import copies
from d0ctl.store.jobs import unneeded_files
from tests.cli.conftest import Type
from tests.support.building import job, line, package
from tests.support.rows import change, read
from tests.support.site import Site

READER = """\
job: read
stages:
  - {name: use, lines: [{run: "cat {inputs} > r", inputs: "prod:a", outputs: r}]}
"""
AGAIN = "1 package of job `prod`, which has ended, will run again, as `prod:a` is not kept any more"


@pytest.fixture
def reader(site: Site, d0ctl: Type, tmp_path: Path) -> Path:
    """The file of job `read`, of which the only package reads a file of job `prod`."""
    path = tmp_path / "read.yaml"
    path.write_text(READER)
    makers, users = [line(package("a"))], [line(package("b", needs=["a"]))]
    site.submit(job(("make", makers), ("use", users)))
    assert d0ctl("submit", str(path)).exit_code == 0
    site.finish("prod/1/1/1")
    site.finish("prod/2/1/1")
    change(site.store, "job", {"name": "prod"}, ended=time.time())
    return path


def clean_up(site: Site) -> None:
    """Remove what no package needs."""
    with site.store.writing():
        unneeded_files.clean_up(site.store, now=time.time())


def lose_everything(site: Site) -> None:
    """Lose all copies of files."""
    locations = read(site.store, "location", "file_id", "cluster_id", by="file_id")
    with site.store.writing():
        copies.lose(site.store, [(file, cluster) for file, cluster in locations], now=time.time())


def previewed(d0ctl: Type, *words: str) -> tuple[str, str]:
    """The plan of a command, and its result."""
    plan, done = d0ctl(*words, "--dry-run"), d0ctl(*words)
    assert (plan.exit_code, done.exit_code) == (0, 0), (plan.stderr, done.stderr)
    return plan.stdout, done.stdout


def test_a_drop_says_which_inputs_lose_their_last_reader_and_a_restore_what_makes_them_anew(
    site: Site, reader: Path, d0ctl: Type
) -> None:
    dropped = previewed(d0ctl, "kill-line", "read/1/1", "--drop-outputs")
    clean_up(site)
    restored = previewed(d0ctl, "restore-line", "read/1/1")

    lost = "1 input loses its last reader and is removed; a restore makes it anew\n  prod:a\n"
    assert [answer.count(lost) for answer in dropped] == [1, 1]
    assert [answer.splitlines().count(AGAIN) for answer in restored] == [1, 1]
    assert site.phase("prod/1/1/1") == "ready"
    assert "remake  prod" in d0ctl("history", "prod").stdout
    assert faults(site.store) == []


def test_neither_says_so_of_an_input_that_another_package_is_to_read(
    site: Site, reader: Path, d0ctl: Type
) -> None:
    d0ctl("submit", str(reader), "--as", "other")
    dropped = previewed(d0ctl, "kill-line", "read/1/1", "--drop-outputs")
    clean_up(site)
    restored = previewed(d0ctl, "restore-line", "read/1/1")

    assert not [answer for answer in dropped if "last reader" in answer]
    assert not [answer for answer in restored if "again" in answer]
    assert site.phase("prod/1/1/1") == "done"


def test_a_line_that_was_canceled_before_its_drop_makes_nothing_run_again_until_it_is_retried(
    site: Site, reader: Path, d0ctl: Type
) -> None:
    d0ctl("kill", "read/1/1/1")
    d0ctl("kill-line", "read/1/1", "--drop-outputs")
    clean_up(site)

    restored = previewed(d0ctl, "restore-line", "read/1/1")
    assert site.phase("prod/1/1/1") == "done"
    retried = previewed(d0ctl, "retry", "read/1/1/1")

    assert not [answer for answer in restored if AGAIN in answer]
    assert [answer.splitlines().count(AGAIN) for answer in retried] == [1, 1]
    assert site.phase("prod/1/1/1") == "ready"


def test_so_do_packages_that_are_set_unscheduled(site: Site, reader: Path, d0ctl: Type) -> None:
    site.finish("read/1/1/1")
    clean_up(site)

    answers = previewed(d0ctl, "set-status", "read/1/1/1", "unscheduled")

    assert [answer.splitlines().count(AGAIN) for answer in answers] == [1, 1]
    assert not [answer for answer in answers if "run again, too" in answer]
    assert site.phase("prod/1/1/1") == "ready"


def test_so_do_lines_that_an_update_adds(site: Site, reader: Path, d0ctl: Type) -> None:
    site.finish("read/1/1/1")
    clean_up(site)
    assert "prod" not in d0ctl("update", "read").stdout
    added = '{run: "wc {inputs} > w", inputs: "prod:a", outputs: w}'
    reader.write_text(READER.replace("outputs: r}]", f"outputs: r}}, {added}]"))

    answers = previewed(d0ctl, "update", "read")

    assert [answer.splitlines().count(AGAIN) for answer in answers] == [1, 1]
    assert site.phase("prod/1/1/1") == "ready"


def test_so_do_lines_that_an_update_restores(site: Site, reader: Path, d0ctl: Type) -> None:
    added = '{run: "wc {inputs} > w", inputs: "prod:a", outputs: w}'
    twice = READER.replace("outputs: r}]", f"outputs: r}}, {added}]")
    reader.write_text(twice)
    d0ctl("update", "read")
    site.finish("read/1/1/1")
    reader.write_text(READER)
    d0ctl("update", "read")
    clean_up(site)
    reader.write_text(twice)

    answers = previewed(d0ctl, "update", "read")

    assert [answer.splitlines().count(AGAIN) for answer in answers] == [1, 1]
    assert site.phase("read/1/2/1") == "waiting"


def test_so_do_outdated_packages_that_run_again(site: Site, reader: Path, d0ctl: Type) -> None:
    site.finish("read/1/1/1")
    clean_up(site)
    reader.write_text(READER.replace("cat", "wc"))

    left = [d0ctl("update", "read", *more, "--dry-run").stdout for more in ([], ["--accept"])]
    answers = previewed(d0ctl, "update", "read", "--again")

    assert "whose results are accepted" in left[1]
    assert not [answer for answer in left if AGAIN in answer]
    assert [answer.splitlines().count(AGAIN) for answer in answers] == [1, 1]


def test_a_retry_names_the_packages_of_its_own_job_and_counts_those_of_others(
    site: Site, d0ctl: Type, reader: Path
) -> None:
    chain = [package("c", needs=["prod:a"]), package("d", needs=["c"])]
    site.submit(job(("use", [line(chain[0])]), ("last", [line(chain[1])]), name="chain"))
    site.finish("chain/1/1/1")
    site.finish("read/1/1/1")
    d0ctl("kill", "chain/2/1/1")
    lose_everything(site)

    plan, done = previewed(d0ctl, "retry", "chain/2/1/1")

    for said, will in ((plan, "would"), (done, "will")):
        own = f"1 package {will} run again, too, because its outputs were removed\n  chain/1/1/1\n"
        assert f"{own}{AGAIN}\n" in said
    assert [site.phase(f"{path}/1/1/1") for path in ("chain", "prod")] == ["waiting", "ready"]
    assert faults(site.store) == []


def test_held_packages_keep_what_they_read_so_that_a_release_makes_nothing_anew(
    site: Site, reader: Path, d0ctl: Type
) -> None:
    for stop, go in (("hold", "release"), ("pause", "resume")):
        d0ctl(stop, "read/1/1/1")
        clean_up(site)

        answers = previewed(d0ctl, go, "read/1/1/1")

        assert not [answer for answer in answers if "again" in answer]
        assert site.phase("prod/1/1/1") == "done"
        assert site.phase("read/1/1/1") == "ready"
