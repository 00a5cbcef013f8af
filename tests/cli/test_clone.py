"""clone: a job submitted once more."""

from pathlib import Path

import pytest

from tests.cli.conftest import Type
from tests.support.archives import RECO, packed
from tests.support.building import document, production
from tests.support.rows import change
from tests.support.site import Site

BODY = """\
stages:
  - name: say
    lines:
      - run: "echo {word} {size} > said"
        outputs: [said]
"""

GOOD = f"job: good\nparameters: {{word: hello, size: small}}\n{BODY}"


@pytest.fixture
def file(tmp_path: Path, d0ctl: Type) -> Path:
    """The file of a job that is submitted with one parameter set."""
    path = tmp_path / "good.yaml"
    path.write_text(GOOD)
    assert d0ctl("submit", str(path), "--set", "word=bye").exit_code == 0
    return path


def script(d0ctl: Type, job: str) -> str:
    """What the only binary of a job runs."""
    found: str = document(d0ctl("status", f"{job}/1/1/1/1", "--json").stdout)["script"]
    return found


def test_a_clone_has_the_parameters_of_the_job_and_the_next_free_name(
    file: Path, d0ctl: Type
) -> None:
    assert d0ctl("clone", "good").stdout == "submitted `good-001`: 1 package\n"
    assert d0ctl("clone", "good-001").stdout == "submitted `good-002`: 1 package\n"

    assert "echo bye small" in script(d0ctl, "good-002")


def test_a_clone_takes_other_parameters_and_a_name(file: Path, d0ctl: Type) -> None:
    assert d0ctl("clone", "good", "--set", "size=large", "--as", "wide").exit_code == 0

    assert "echo bye large" in script(d0ctl, "wide")


def test_a_clone_of_a_job_whose_file_was_changed_says_that_it_does_not_follow_it(
    file: Path, d0ctl: Type
) -> None:
    assert "changed since" not in d0ctl("clone", "good", "--dry-run").stdout
    file.write_text(GOOD.replace("echo", "printf"))

    plan = d0ctl("clone", "good", "--dry-run").stdout

    assert "the job file of `good` was changed since, and a clone is of the job" in plan
    assert f"to submit the file: d0ctl submit {file} --as NAME\n" in plan
    d0ctl("clone", "good")
    assert "echo bye small" in script(d0ctl, "good-001")


def test_faults_of_a_job_file_that_was_changed_since_are_said_to_be_in_the_one_submitted(
    file: Path, d0ctl: Type, tmp_path: Path, site: Site
) -> None:
    software = ("software", "add", "--archive", str(packed(tmp_path / "reco.tar.gz", RECO)))
    d0ctl(*software, "good/v1")
    file.write_text(
        GOOD.replace("run:", "software: good/v1\n        run:").replace("good\n", "v\n")
    )
    assert d0ctl("submit", str(file)).exit_code == 0
    change(site.store, "software", version="v2")

    same = d0ctl("clone", "v")
    file.write_text(file.read_text().replace("good/v1", "good/v2"))
    other = d0ctl("clone", "v")

    assert same.exit_code == other.exit_code == 2
    assert "there is no software `good/v1` (did you mean `good/v2`?)" in same.stderr
    assert other.stderr.startswith(same.stderr.removesuffix("\n"))
    assert "changed since" not in same.stderr
    assert "the job file of `v` was changed since, and a clone is of the job" in other.stderr
    assert f"to submit the file: d0ctl submit {file} --as NAME\n" in other.stderr


def test_a_clone_warns_of_a_text_where_the_job_file_has_a_number(file: Path, d0ctl: Type) -> None:
    file.write_text(f"job: many\nparameters: {{events: 10, word: a, size: b}}\n{BODY}")
    assert d0ctl("submit", str(file)).exit_code == 0

    plan = d0ctl("clone", "many", "--set", "events=ten", "--dry-run")

    assert "warning: parameter `events` is the number 10, and --set makes it `ten`" in plan.stdout


def test_a_clone_uses_the_job_file_as_it_was_submitted(file: Path, d0ctl: Type) -> None:
    file.unlink()

    assert d0ctl("clone", "good").exit_code == 0
    assert "echo bye small" in script(d0ctl, "good-001")


def test_a_held_clone_is_released_before_anything_else(file: Path, d0ctl: Type) -> None:
    assert d0ctl("clone", "good", "--hold", "--as", "later").stderr == (
        "`later` is held, so none of its packages start: d0ctl release later\n"
    )


def test_a_rehearsal_of_a_clone_submits_nothing(file: Path, d0ctl: Type) -> None:
    reply = d0ctl("clone", "good", "--dry-run")

    assert reply.stdout == "would submit `good-001`: 1 stage, 1 line, 1 package\n"
    assert d0ctl("status", "good-001").exit_code == 3


def test_a_parameter_that_the_job_does_not_have_is_a_fault(file: Path, d0ctl: Type) -> None:
    reply = d0ctl("clone", "good", "--set", "wrod=x")

    assert reply.exit_code == 2
    assert "the job has no parameter `wrod` to set (did you mean `word`?)" in reply.stderr


def test_only_one_whole_job_is_cloned(site: Site, file: Path, d0ctl: Type) -> None:
    site.submit(production())

    assert "`clone` takes one" in d0ctl("clone", "*").stderr
    reply = d0ctl("clone", "prod")
    assert (reply.exit_code, "was not made from a job file" in reply.stderr) == (4, True)
    assert d0ctl("clone", "nobody").exit_code == 3


CHAIN = """\
job: chain
stages:
  - name: sim
    lines:
      - {for: {n: [1, 2]}, run: "echo {n} > s{n}", outputs: "s{n}"}
  - name: reco
    after: sim
    lines:
      - {for: {n: [1, 2]}, after: "reco/1", run: "cat s{n} > r{n}", inputs: "s{n}", outputs: "r{n}"}
"""


def test_a_part_of_a_job_becomes_a_job_of_its_own(tmp_path: Path, d0ctl: Type) -> None:
    path = tmp_path / "chain.yaml"
    path.write_text(CHAIN.replace('after: "reco/1", ', ""))
    assert d0ctl("submit", str(path)).exit_code == 0

    assert d0ctl("clone", "chain/2/2", "--as", "alone").stdout == "submitted `alone`: 1 package\n"
    assert d0ctl("clone", "chain.1").stdout == "submitted `chain-001`: 2 packages\n"

    stages = document(d0ctl("export", "alone", "--format", "json").stdout)["stages"]
    (line,) = stages[0]["lines"]
    (binary,) = line["packages"][0]["binaries"]
    assert (stages[0]["name"], line["name"]) == ("reco", "n=2")
    assert [input["file"] for input in binary["inputs"]] == ["chain:s2"]
    assert document(d0ctl("status", "chain-001", "--json").stdout)["stages"][0]["lines"] == 2


def test_a_part_with_a_short_wall_time_is_cloned_without_a_warning(
    tmp_path: Path, d0ctl: Type
) -> None:
    path = tmp_path / "short.yaml"
    path.write_text("job: short\nstages: [{lines: [{run: 'true', wall-time: 4s, looping: 9s}]}]\n")
    assert "warning" not in d0ctl("submit", str(path)).stderr

    assert "warning" not in d0ctl("clone", "short/1", "--as", "alone").stderr


def test_a_warning_of_a_part_names_the_part_and_no_line_of_a_file(
    tmp_path: Path, d0ctl: Type
) -> None:
    path = tmp_path / "retained.yaml"
    path.write_text("job: kept\nstages: [{name: a, lines: [{run: echo, outputs: "
                    "[{file: x, disposition: retain-indef}]}]}]\n")  # fmt: skip
    d0ctl("submit", str(path))

    cloned = d0ctl("clone", "kept/1/1", "--as", "one").output

    assert "\nkept/1/1: warning: no package reads `x`, but as it has a disposition" in cloned


@pytest.mark.parametrize(
    ("words", "stderr"),
    [
        (("clone", "good", "better"),
         "d0ctl: `clone` takes one job or part of a job, and there is no job `better`\n"
         "to name the new job so: d0ctl clone good --as better\n"),
        (("clone", "good/1", "better"),
         "d0ctl: `clone` takes one job or part of a job, and there is no job `better`\n"
         "to name the new job so: d0ctl clone good/1 --as better\n"),
        (("clone", "bad", "better"), "d0ctl: there is no job `bad`\nd0ctl status\n"),
        (("clone", "good/1", "--set", "a=b"), "d0ctl: --set takes a whole job\nd0ctl clone good\n"),
        (("remove", "good/1"), "d0ctl: `good/1` is not a whole job, so it can't be removed\n"
                               "d0ctl kill good/1\n"),
        (("submit", "good/1/1"), "d0ctl: `good/1/1` is a part of job `good`, but only whole jobs "
                                 "can be submitted\nas a job of its own: d0ctl clone good/1/1\n"),
    ],
)  # fmt: skip
def test_part_of_a_job_can_be_neither_removed_nor_submitted(
    file: Path, d0ctl: Type, words: tuple[str, ...], stderr: str
) -> None:
    result = d0ctl(*words)

    assert result.exit_code != 0
    assert result.stderr == stderr


def test_a_clone_of_a_job_with_dropped_lines_says_that_it_runs_them(
    tmp_path: Path, d0ctl: Type
) -> None:
    (tmp_path / "wide.yaml").write_text(
        "job: wide\nstages: [{lines: [{for: {n: [1, 2, 3]}, run: 'true', outputs: 'o-{n}'}]}]\n"
    )
    d0ctl("submit", str(tmp_path / "wide.yaml"))
    assert "dropped" not in d0ctl("clone", "wide", "--dry-run").stdout

    d0ctl("kill-line", "wide/1/2", "--drop-outputs", "--yes")

    plan = d0ctl("clone", "wide", "--dry-run").stdout
    assert "1 line of `wide` is dropped, but not in the clone, which runs it again" in plan
    file = tmp_path / "wide.yaml"
    file.write_text(file.read_text().replace("[1, 2, 3]", "[1, 3]"))
    d0ctl("update", "wide")
    assert "dropped" not in d0ctl("clone", "wide", "--dry-run").stdout
