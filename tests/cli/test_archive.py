"""archive: ended jobs in a file of their own, which reading commands read like the database."""

import json
import re
import shlex
import time
from typing import Any

import pytest

from d0ctl.config import Home
from d0ctl.store import Store, open_store
from d0ctl.store.jobs import archive
from d0ctl.store.views import browse
from tests.cli.conftest import Type
from tests.support import rows
from tests.support.building import document, production
from tests.support.site import Site

READING = (
    ("status", "prod", "--json"),
    ("status", "prod/1/1", "--json"),
    ("status", "prod/1/1/1", "--json"),
    ("status", "prod/1/2/1", "--json"),
    ("history", "prod/1/2/1", "--json"),
    ("history", "prod", "--json"),
    ("report", "failures", "prod", "--json"),
    ("report", "usage", "prod", "--json"),
    ("export", "prod", "--format", "json"),
)


@pytest.fixture
def ended(store: Store, d0ctl: Type) -> Site:
    """A home with the job `prod`, of which one line failed and the rest was killed, and `other`."""
    site = Site.of(store)
    site.submit(production("prod"))
    site.submit(production("other"))
    site.finish("prod/1/1/1")
    site.fail("prod/1/2/1", "no such calibration")
    assert d0ctl("kill", "prod", "--yes", "--reason", "not needed").exit_code == 0
    rows.change(store, "job", {"name": "prod"}, ended=time.time())  # as a daemon does
    return site


def without_copies(text: str) -> Any:
    """Return a document without what it says of copies of files on nodes, which are removed."""
    found = json.loads(text)
    known = [{**file, "copies": None, "present": None} for file in found.get("outputs", ())]
    return {**found, "outputs": known}


def test_a_job_reads_the_same_before_and_after_it_is_archived(ended: Site, d0ctl: Type) -> None:
    before = [d0ctl(*words).stdout for words in READING]

    assert d0ctl("archive", "prod", "--yes", "--as", "spring").exit_code == 0

    after = [d0ctl(*words, "--archive", "spring").stdout for words in READING]
    for now, then in zip(after, before, strict=True):
        assert without_copies(now) == without_copies(then)


def test_archiving_removes_a_job_and_leaves_both_databases_consistent(
    ended: Site, d0ctl: Type
) -> None:
    reply = d0ctl("archive", "prod", "--yes", "--as", "spring")

    assert reply.stdout == (
        "moved job `prod` to archive `spring`\n"
        "d0ctl status --archive spring shows the archived jobs\n"
    )
    assert d0ctl("status", "prod").exit_code == 3
    assert d0ctl("status", "other").exit_code == 0
    assert d0ctl("kill", "other", "--yes").exit_code == 0
    assert d0ctl("doctor").exit_code == 0
    assert "prod" in d0ctl("status", "--archive", "spring").stdout
    assert "other" not in d0ctl("status", "--archive", "spring").stdout
    assert d0ctl("--archive", "spring", "why", "prod/1/2/1").exit_code == 0


def test_archives_are_listed_with_their_jobs(ended: Site, d0ctl: Type) -> None:
    assert "no archive" in d0ctl("archives").stdout
    d0ctl("archive", "prod", "--yes", "--as", "spring")

    (found,) = document(d0ctl("archives", "--json").stdout)["archives"]

    assert found["name"] == "spring"
    assert found["jobs"] == ["prod"]
    assert found["packages"] == browse.job(open_archive(ended, "spring"), "prod").packages
    assert d0ctl("archives").stdout.startswith("spring  ")


@pytest.mark.parametrize("report", ["report failures", "report usage", "history"])
def test_a_report_says_which_archives_it_leaves_out(ended: Site, d0ctl: Type, report: str) -> None:
    before = d0ctl(*report.split(), "--since", "30d").stderr
    d0ctl("archive", "prod", "--yes", "--as", "spring")

    how = "--archive spring" if report == "report failures" else "--with-archives counts all"
    assert "archive" not in before
    assert d0ctl(*report.split(), "--since", "30d").stderr == (f"1 archive is not counted: {how}\n")
    assert d0ctl(*report.split(), "--archive", "spring").stderr == ""


def open_archive(site: Site, name: str) -> Store:
    """The store of an archive."""
    return open_store(Home(site.store.home.root, archive=name), read_only=True)


def test_a_job_that_is_not_in_the_database_any_more_is_found_in_its_archive(
    ended: Site, d0ctl: Type
) -> None:
    d0ctl("archive", "prod", "--yes", "--as", "spring")

    for words in (("kill", "prod", "--yes"), ("run", "prod"), ("wait", "prod"), ("logs", "prod")):
        answer = d0ctl(*words)
        assert answer.exit_code == 3
        assert answer.stderr == (
            "d0ctl: job `prod` was moved to archive `spring`\nd0ctl status prod --archive spring\n"
        )
    assert "there is no job `prud`" in d0ctl("status", "prud").stderr
    assert "there is no job `other`" in d0ctl("status", "other", "--archive", "spring").stderr


@pytest.mark.parametrize(
    "words",
    [
        ["status", "prod"], ["why", "prod"], ["why", "prod/1/1/1"], ["history", "prod"],
        ["results", "prod"], ["file", "list", "prod"], ["export", "prod"],
        ["report", "failures", "prod"], ["report", "usage", "prod", "--json"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_command_that_reads_is_answered_with_itself_for_the_archive(
    ended: Site, d0ctl: Type, words: list[str]
) -> None:
    d0ctl("archive", "prod", "--yes", "--as", "spring")

    refused = d0ctl(*words)

    line, advice = refused.stderr.splitlines()
    assert (refused.exit_code, line) == (3, "d0ctl: job `prod` was moved to archive `spring`")
    assert shlex.split(advice) == ["d0ctl", *words, "--archive", "spring"]
    assert d0ctl(*shlex.split(advice)[1:]).exit_code == 0


def test_the_answer_for_an_archived_job_keeps_the_home(ended: Site, d0ctl: Type) -> None:
    d0ctl("archive", "prod", "--yes", "--as", "spring")
    home = str(ended.store.home.root)

    for words in (["--home", home, "results", "prod"], ["results", "prod", f"--home={home}"]):
        advice = shlex.split(d0ctl(*words).stderr.splitlines()[1])
        assert advice == ["d0ctl", "--home", home, "results", "prod", "--archive", "spring"]


def test_a_job_in_place_of_a_report_is_answered_with_a_report_on_it(
    ended: Site, d0ctl: Type
) -> None:
    d0ctl("archive", "prod", "--yes", "--as", "spring")

    for word, line, advice in (
        ("other/1", "which report on `other/1`?", "d0ctl report failures other/1"),
        ("prod", "which report on `prod`?", "d0ctl report failures prod --archive spring"),
        ("s3", "there is no report and no job `s3`", "d0ctl report --help"),
        ("failure", "no such command `failure`", "did you mean `d0ctl report failures`?"),
    ):
        refused = d0ctl("report", word)
        assert (refused.exit_code, refused.stderr) == (2, f"d0ctl: {line}\n{advice}\n")


def test_a_second_archive_of_the_same_name_gets_a_number(ended: Site, d0ctl: Type) -> None:
    d0ctl("archive", "prod", "--yes", "--as", "spring")
    d0ctl("kill", "other", "--yes")

    reply = d0ctl("archive", "other", "--yes", "--as", "spring")
    assert "archive `spring.1`" in reply.stdout


def test_an_active_job_is_refused_by_name_and_skipped_by_a_pattern(
    ended: Site, d0ctl: Type
) -> None:
    refused = d0ctl("archive", "other", "--yes")

    assert refused.exit_code == 4
    assert "job `other` has not ended, so it can't be archived" in refused.stderr
    assert "moved job `prod` to" in d0ctl("archive", "*", "--yes").stdout


def test_jobs_that_ended_recently_stay(ended: Site, d0ctl: Type) -> None:
    reply = d0ctl("archive", "*", "--ended", "1d", "--yes")

    assert reply.exit_code == 0
    assert "nothing to archive" in reply.stdout
    assert d0ctl("archives", "--json").stdout.count("name") == 0


def test_a_dry_run_lists_the_jobs_to_archive_and_moves_nothing(ended: Site, d0ctl: Type) -> None:
    before = time.strftime("%F")
    reply = d0ctl("archive", "prod", "--dry-run")
    days = before, time.strftime("%F")  # midnight may have passed

    assert any(f"would move job `prod` to archive `{day}`" in reply.stdout for day in days)
    assert d0ctl("status", "prod").exit_code == 0


def test_an_archive_is_read_only(ended: Site, d0ctl: Type) -> None:
    d0ctl("archive", "prod", "--yes", "--as", "spring")

    refused = d0ctl("retry", "prod", "--archive", "spring", "--yes")

    assert refused.exit_code == 4
    assert "`spring` is an archive, so it can only be read" in refused.stderr
    again = d0ctl("--archive", "spring", "export", "prod")
    assert "`d0ctl --archive spring export prod` prints" in refused.stderr.replace("JOB", "prod")
    assert again.exit_code == 0 and again.stdout.startswith("job: prod\n")


@pytest.mark.parametrize("name", ["summer", "../../etc/passwd"])
def test_a_missing_archive_is_reported_in_one_line(ended: Site, d0ctl: Type, name: str) -> None:
    reply = d0ctl("status", "--archive", name)

    assert reply.exit_code in (3, 4)
    assert len(reply.stderr.splitlines()) <= 2


def test_a_bad_name_of_an_archive_is_refused(ended: Site, d0ctl: Type) -> None:
    assert d0ctl("archive", "prod", "--as", "../x", "--yes").exit_code == 2


@pytest.mark.parametrize(
    ("words", "code", "answer"),
    [
        (["doctor"], 2, "on the database, not on an archive"),
        (["backup", "copy.db"], 2, "on the database, not on an archive"),
        (["logs", "prod/1/1/1"], 4, "on its node were removed when it was archived"),
        (["peek", "prod/1/1/1"], 4, "on its node were removed when it was archived"),
        (["logs", "gone/1/1/1"], 3, "there is no job `gone`"),
    ],
)
def test_commands_report_the_data_that_an_archive_lacks(
    ended: Site, d0ctl: Type, words: list[str], code: int, answer: str
) -> None:
    d0ctl("archive", "prod", "--yes", "--as", "spring")

    reply = d0ctl(*words, "--archive", "spring")
    assert reply.exit_code == code
    assert answer in reply.stderr


def test_a_change_of_a_job_while_it_is_archived_is_noticed(ended: Site, d0ctl: Type) -> None:
    jobs = [browse.job(ended.store, "prod").id]
    last = archive.write(ended.store, jobs, "spring", now=time.time())
    assert not archive.is_changed(ended.store, jobs, last)

    d0ctl("retry", "prod", "--yes")

    assert archive.is_changed(ended.store, jobs, last)


def test_archiving_frees_space_in_the_database_file(store: Store, d0ctl: Type) -> None:
    Site.of(store).submit(production("large", lines=6000))
    assert d0ctl("kill", "large", "--yes").exit_code == 0
    before = rows.pages(store)

    assert d0ctl("archive", "large", "--yes").exit_code == 0

    assert rows.pages(store) < before / 4
    assert rows.pragma(store, "integrity_check") == "ok"


def test_each_table_is_archived_or_listed_as_left_out(store: Store) -> None:
    found = rows.read(store, "sqlite_master", "name", by="name", type="table")
    tables = {name for (name,) in found if not name.startswith(("sqlite_", "_sqlite"))}

    assert tables == archive.COPIED.keys() | archive.LEFT_OUT
    assert not archive.COPIED.keys() & archive.LEFT_OUT


def test_commands_on_the_page_of_an_archived_job_read_the_archive(ended: Site, d0ctl: Type) -> None:
    d0ctl("archive", "prod", "--yes", "--as", "spring")

    pages = (["status"], ["status", "prod"], ["status", "prod/1/2/1"], ["why", "prod"],
             ["history", "prod"], ["status", "prod/9"], ["logs", "prod/1/2/1"])  # fmt: skip
    for words in pages:
        reply = d0ctl(*words, "--archive", "spring")
        page = reply.stdout + reply.stderr
        assert not re.search(r"d0ctl (status|why|history|logs|retry|kill-line|clone)\b", page), page
        for command in re.findall(r"^(?:  \$ )?d0ctl (--archive spring [^ ]+ [^ ]+)", page, re.M):
            assert d0ctl(*command.split()).exit_code == 0
    history = d0ctl("status", "prod/1/2/1", "--archive", "spring").stdout.splitlines()[-1]
    assert history == "d0ctl --archive spring history prod/1/2/1"


def test_a_blocked_job_is_archived_as_it_has_ended(store: Store, d0ctl: Type) -> None:
    Site.of(store).submit(production("prod"))
    d0ctl("kill", "prod/1", "--yes")

    assert d0ctl("archive", "prod", "--yes", "--as", "spring").exit_code == 0
    assert "⊗ blocked" in d0ctl("status", "prod", "--archive", "spring").stdout
