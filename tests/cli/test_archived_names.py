"""Names in archives, and of the jobs that keep others from them."""

from pathlib import Path

import pytest

from d0ctl.api.selection import jobs
from d0ctl.config import Home
from tests.cli.conftest import Type
from tests.support import rows
from tests.support.building import production
from tests.support.site import Site


def test_all_archives_with_jobs_of_a_name_are_named(site: Site, d0ctl: Type) -> None:
    for name, at in (("2026-11-30", 1.0), ("2026-11-30.1", 3.0), ("2026-11-30.2", 2.0)):
        site.submit(production("prod"))
        rows.change(site.store, "job", {"name": "prod"}, submitted=at, ended=at)
        assert d0ctl("kill", "prod", "--yes").exit_code == 0
        assert d0ctl("archive", "prod", "--yes", "--as", name).exit_code == 0

    said, of_pattern = d0ctl("status", "prod").stderr, d0ctl("why", "pr*").stderr

    assert said == (
        "d0ctl: job `prod` was moved to archive `2026-11-30.1`\n"
        "  jobs of this name are also in archives `2026-11-30.2`, `2026-11-30`\n"
        "d0ctl status prod --archive 2026-11-30.1\n"
    )
    assert "  jobs that it matches are also in archives `2026-11-30.2`, " in of_pattern


def test_a_taken_name_of_an_archive_is_the_reason_of_another_one(site: Site, d0ctl: Type) -> None:
    said = []
    for name in ("a", "b"):
        site.submit(production(name))
        d0ctl("kill", name, "--yes")
        said += [d0ctl("archive", name, "--as", "old", option) for option in ("--dry-run", "--yes")]

    assert [result.stdout.splitlines()[0] for result in said] == [
        "would move job `a` to archive `old`",
        "moved job `a` to archive `old`",
        "would move job `b` to archive `old.1`, as there is an archive `old`",
        "moved job `b` to archive `old.1`, as there is an archive `old`",
    ]


@pytest.mark.parametrize("verb", ["clone", "retry", "update"])
def test_a_command_that_runs_a_job_again_names_the_export_of_an_archived_one(
    site: Site, d0ctl: Type, tmp_path: Path, verb: str
) -> None:
    (file := tmp_path / "prod.yaml").write_text("job: prod\nstages: [{lines: [{run: echo}]}]\n")
    d0ctl("submit", str(file))
    d0ctl("kill", "prod", "--yes")
    d0ctl("archive", "prod", "--as", "old", "--yes")

    export = "d0ctl --archive old export prod"
    assert d0ctl(verb, "prod").stderr == (
        "d0ctl: job `prod` was moved to archive `old`\n"
        f"to run it again, submit what `{export}` prints\n"
    )
    assert d0ctl(verb, "pr*").stderr.endswith("\nd0ctl status 'pr*' --archive old\n")
    assert "run: echo" in d0ctl(*export.split()[1:]).stdout


def test_an_archive_is_no_backup(site: Site, home: Home, d0ctl: Type) -> None:
    site.submit(production())
    d0ctl("kill", "prod", "--yes")
    d0ctl("archive", "prod", "--as", "old", "--yes")
    file = home.archive_file("old")

    for option in ("--dry-run", "--yes"):
        refused = d0ctl("restore", str(file), option)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert refused.stderr.splitlines() == [
            f"d0ctl: `{file}` is an archive and not a backup: it has only archived jobs",
            "d0ctl status --archive old",
        ]


def test_a_job_whose_files_another_reads_leads_to_the_end_of_that_one(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    for name, reads in (("make", "[]"), ("use", "['make:a']")):
        file, made = tmp_path / f"{name}.yaml", "a" if name == "make" else "b"
        lines = f"[{{run: echo > {made}, inputs: {reads}, outputs: {made}}}]"
        file.write_text(f"job: {name}\nstages: [{{lines: {lines}}}]\n")
        assert d0ctl("submit", str(file)).exit_code == 0
    site.finish("make/1/1/1")

    for verb, past in (("archive", "archived"), ("remove", "removed")):
        waiting = d0ctl(verb, "make", "--yes")
        d0ctl("hold", "use")
        held = d0ctl(verb, "make", "--yes")
        d0ctl("release", "use")

        refused = f"d0ctl: job `make` makes files that `use` reads, so it can't be {past}\n"
        assert waiting.stderr == f"{refused}d0ctl wait use\n"
        assert held.stderr == f"{refused}d0ctl why use\n"


@pytest.mark.parametrize(
    "words",
    [("hold", "m*"), ("remove", "m*", "--dry-run"), ("wait", "m*"), ("retry", "m*:failed"),
     ("status", "m*"), ("why", "m*"), ("report", "usage", "m*"), ("archive", "m*", "--dry-run")],
)  # fmt: skip
def test_a_pattern_that_only_archived_jobs_match_is_no_job(
    site: Site, d0ctl: Type, words: tuple[str, ...]
) -> None:
    site.submit(production("m1"))
    d0ctl("kill", "m1", "--yes")
    assert d0ctl("archive", "m1", "--yes", "--as", "evening").exit_code == 0

    refused = d0ctl(*words)
    unknown = d0ctl(*(word.replace("m*", "zz*") for word in words))

    said, hint = refused.stderr.splitlines()
    assert refused.exit_code == unknown.exit_code == 3
    assert said == (
        "d0ctl: no job matches `m*`, but archived ones do, the last one in archive `evening`"
    )
    assert "'m*'" in hint and hint.endswith("--archive evening")
    assert unknown.stderr.startswith("d0ctl: no job matches `zz*`\n")


def test_a_home_without_jobs_has_nothing_to_archive(site: Site, d0ctl: Type) -> None:
    for option in ("--dry-run", "--yes"):
        reply = d0ctl("archive", "*", "--ended", "1d", option)
        assert (reply.exit_code, reply.stdout.partition(":")[0]) == (0, "nothing to archive")
    assert d0ctl("archive", "prod", "--ended", "1d", "--yes").exit_code == 3


def test_jobs_that_are_not_refused_get_one_archive(site: Site, home: Home, d0ctl: Type) -> None:
    for name in ("m1", "m2", "m3"):
        site.submit(production(name))
    d0ctl("kill", "m1", "m3", "--yes")
    words = ("archive", "m1", "m2", "m3", "nosuch", "--as", "old", "--keep-going")

    planned, reply = d0ctl(*words, "--dry-run"), d0ctl(*words, "--yes")

    assert planned.exit_code == reply.exit_code == 4
    assert "would move jobs `m1`, `m3` to archive `old`" in planned.stdout
    assert "moved jobs `m1`, `m3` to archive `old`" in reply.stdout
    for said in (planned.stderr, reply.stderr):
        assert "job `m2` has not ended" in said and "there is no job `nosuch`" in said
    assert [path.name for path in home.archives.glob("*.db")] == ["old.db"]


def test_python_archives_jobs_together(site: Site, home: Home, d0ctl: Type) -> None:
    for name in ("m1", "m2", "m3"):
        site.submit(production(name))
    d0ctl("kill", "m1", "m3", "--yes")

    done = jobs("*", home=home.root).archive(name="old", keep_going=True)

    assert "job `m2` has not ended" in done.failures[0] and len(done.failures) == 1
    assert [path.name for path in home.archives.glob("*.db")] == ["old.db"]


def test_a_job_that_an_archive_lacks_is_found_in_another_or_in_the_database(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production("now"))
    site.submit(production("prod"))
    d0ctl("kill", "prod", "--yes")
    d0ctl("archive", "prod", "--yes", "--as", "spring")
    site.submit(production("late"))
    d0ctl("kill", "late", "--yes")
    d0ctl("archive", "late", "--yes", "--as", "summer")

    answers = [d0ctl(word, job, "--archive", "summer").stderr
               for word in ("status", "why", "results") for job in ("prod", "now")]  # fmt: skip

    lacks = "d0ctl: there is no job `{}` in archive `summer`, but in "
    assert (
        answers
        == [
            lacks.format("prod") + "archive `spring`\n",
            lacks.format("now") + "the database: leave out --archive\n",
        ]
        * 3
    )


@pytest.mark.parametrize("end", ["remove", "archive"])
def test_a_job_does_not_show_what_people_did_to_an_earlier_one_of_its_name(
    site: Site, d0ctl: Type, end: str
) -> None:
    site.submit(production(lines=1))
    for path in ("1/1/1", "1/1/2", "2/1/1", "3/1/1"):
        site.finish(f"prod/{path}")
    assert d0ctl("priority", "prod", "60").exit_code == 0
    before = d0ctl("history", "prod").stdout
    assert d0ctl(end, "prod", "--yes").exit_code == 0
    site.submit(production(lines=1))
    d0ctl("hold", "prod")

    for words in (("history", "prod"), ("history", "prod/1/1/1"), ("status", "prod")):
        shown = d0ctl(*words).stdout
        assert "hold" in shown
        assert not [verb for verb in ("priority prod 60", f"{end} prod") if verb in shown]
    assert "priority" in before
