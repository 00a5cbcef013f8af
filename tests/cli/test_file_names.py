"""How `why` finds a file by its name, and what it answers when there is none."""

from pathlib import Path

import pytest

from d0ctl.jobfile.spec import InputSpec
from d0ctl.model import Address
from d0ctl.store.nodes import registry
from tests.cli.conftest import Type
from tests.cli.file_answers import reader, reported
from tests.support.building import document, job, line, package, production
from tests.support.site import Site


def test_an_outside_file_is_found_by_its_path_and_reported_if_missing(
    site: Site, d0ctl: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "a.raw").touch()
    site.submit(job(("a", [line(reader(InputSpec("raw/a.raw", made=False)))]),
                    directory=str(tmp_path)))  # fmt: skip
    monkeypatch.chdir(tmp_path / "raw")

    assert reported(d0ctl, "a.raw")["path"] == "prod:raw/a.raw"
    site.submit(job(("a", [line(reader(InputSpec(str(tmp_path / "x/b.raw"), made=False)))]),
                    name="next", directory=str(tmp_path)))  # fmt: skip
    for name in ("next:x/b.raw", str(tmp_path / "x/b.raw")):
        assert reported(d0ctl, name)["details"]["file"]["file"] == str(tmp_path / "x/b.raw")
    assert (
        "it does not exist now, so whoever reads it can't have it"
        not in (reported(d0ctl, str(tmp_path / "raw" / "a.raw"))["facts"])
    )
    (tmp_path / "raw" / "a.raw").unlink()
    assert reported(d0ctl, "raw/a.raw")["facts"][0].startswith("it does not exist now")


def test_a_file_name_used_by_several_jobs_needs_the_job(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.submit(production("next"))

    result = d0ctl("why", "gen-1")

    assert result.exit_code == 2
    assert "`gen-1` is a file of 2 jobs: say which one" in result.stderr
    assert "d0ctl why next:gen-1" in result.stderr


def test_a_missing_file_is_reported_with_the_nearest_name(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    for words, hint in [(("prod:gen-11",), "did you mean `gen-1`?"),
                        (("prod:faild",), "did you mean `failed`?"),
                        (("nothing.root",), "d0ctl why JOB:NAME"),
                        (("--file", "prod:failed"), "d0ctl file list prod")]:  # fmt: skip
        result = d0ctl("why", *words)
        assert result.exit_code == 3
        assert hint in result.stderr


def test_an_unknown_file_is_answered_with_the_list_of_files_of_the_job(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())

    missed = d0ctl("why", "prod:zzzzz")
    unknown = d0ctl("why", "elsewhere")

    assert missed.stderr == "d0ctl: job `prod` has no file `zzzzz`\nd0ctl file list prod\n"
    assert unknown.stderr.startswith("d0ctl: there is no job `elsewhere`, nor a node, batch")


def test_states_and_jobs_take_precedence_over_files_of_the_same_name(
    site: Site, d0ctl: Type
) -> None:
    site.submit(job(("a", [line(package("failed", "prod"))])))

    assert reported(d0ctl, "prod")["path"] == "prod"
    assert reported(d0ctl, "prod:ready")["path"] == "prod/1/1/1"
    assert reported(d0ctl, "--file", "prod:failed")["path"] == "prod:failed"
    assert reported(d0ctl, "--file", "prod")["path"] == "prod:prod"


def test_an_input_is_found_by_its_name_without_the_folder(site: Site, d0ctl: Type) -> None:
    site.submit(job(("one", [line(reader(InputSpec("/data/raw/r1.raw", made=False)))])))

    assert "file `/data/raw/r1.raw` of job `prod`" in d0ctl("why", "prod:r1.raw").stdout
    assert d0ctl("why", "prod:1.raw").exit_code == 3


@pytest.mark.parametrize(
    ("words", "text"),
    [(["*", "--node", "farm01"], "no file matches `*:*` on node `farm01`\nd0ctl file list '*'\n"),
     (["prod", "--disposition", "deletable"],
      "no file matches `prod:*` with disposition `deletable`\nd0ctl file list prod\n"),
     (["prod:nothing"], "no file matches `prod:nothing`\nd0ctl file list prod\n"),
     (["next*"], "no file matches `next*:*`\n")],
)  # fmt: skip
def test_a_list_without_a_file_names_its_filters_and_advises_a_wider_one(
    site: Site, d0ctl: Type, words: list[str], text: str
) -> None:
    registry.add(site.store, Address("farm01", "ssh", "farm01"), cpus=2)
    site.submit(production())

    listed = d0ctl("file", "list", *words)

    assert (listed.exit_code, listed.stderr) == (3, f"d0ctl: {text}")


@pytest.mark.parametrize("words", ["results prod", "why prod:zzz", "file list prod:zzz"])
def test_no_list_of_files_is_advised_for_a_job_without_any(
    site: Site, d0ctl: Type, words: str
) -> None:
    site.submit(job(("a", [line(package())])))

    missed = d0ctl(*words.split())

    assert (missed.exit_code, "d0ctl file list" in missed.stderr) == (3, False)


def test_the_files_of_a_part_are_those_that_its_packages_make(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")

    def names(*words: str) -> list[str]:
        files = document(d0ctl("file", "list", *words, "--json").stdout)["files"]
        return [file["file"] for file in files]

    assert names("prod/1/1") == ["prod:gen-1", "prod:sim-1"]
    assert names("prod/1/1/1") == ["prod:gen-1"]


def test_a_part_without_files_is_refused(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    for words, text in (
        (["prod/9"], "job `prod` has"),
        (["prod/1", "--disposition", "deletable"], "make no file with disposition `deletable`"),
        (["prod/1", "--disposition", "no"], "`no` is not a disposition"),
        (["prod/1", "--node", "no"], "no"),
        (["raw/a.raw"], "raw"),
    ):
        listed = d0ctl("file", "list", *words)
        assert listed.exit_code in (2, 3)
        assert text in listed.stderr


def test_a_job_with_a_colon_is_led_to_its_name_which_means_all_its_files(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())

    refused = d0ctl("file", "purge", "prod:").stderr

    assert refused.endswith("\nJOB:NAME, as in 'reco001:*.root', or `prod` for all its files\n")
    assert d0ctl("file", "list", "prod").stdout == d0ctl("file", "list", "prod:*").stdout
