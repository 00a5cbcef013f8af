"""Jobs that take files of a stage of another job, which gets or loses lines."""

from pathlib import Path

import pytest

from d0ctl.store.checks.check import faults
from tests.cli.conftest import Type
from tests.support.site import Site

MAKER = """\
job: prod
stages:
  - {name: sim, lines: [{for: {n: [1, 2]}, run: "true", outputs: "sim-{n}"}]}
  - {name: plot, lines: [{run: "true", inputs: sim-1, outputs: plot}]}
"""
READER = """\
job: use
stages:
  - {name: merge, lines: [{run: "cat {inputs} > all", inputs: {from: prod/sim}, outputs: all}]}
"""
CHAIN = """\
job: prod
stages:
  - name: sim
    lines:
      - for: {n: [3]}
        packages: [{run: "true", outputs: g}, {run: "true", inputs: g, outputs: "sim-{n}"}]
"""
AHEAD = (
    "`prod` got or lost lines, or makes other files, since this job took those of a stage: "
    "`d0ctl update use`"
)
FOLLOW = (
    "`use` takes files of a stage whose lines or files change; "
    "to have `use` follow: d0ctl update use"
)


@pytest.fixture
def maker(site: Site, d0ctl: Type, tmp_path: Path) -> Path:
    """The job file of a job that is successful, as is one that has read a stage of it."""
    path, reader = tmp_path / "prod.yaml", tmp_path / "use.yaml"
    path.write_text(MAKER)
    reader.write_text(READER)
    for file in (path, reader):
        assert d0ctl("submit", str(file)).exit_code == 0
    for package in ("prod/1/1/1", "prod/1/2/1", "prod/2/1/1", "use/1/1/1"):
        site.finish(package)
    return path


@pytest.mark.parametrize("lines", ["[1, 2, 3]", "[1]"])
def test_a_job_says_that_another_has_got_or_lost_lines_until_it_is_updated(
    site: Site, d0ctl: Type, maker: Path, lines: str
) -> None:
    maker.write_text(MAKER.replace("[1, 2]", lines))
    assert AHEAD not in d0ctl("why", "use").stdout

    planned, updated = d0ctl("update", "prod", "--dry-run").stdout, d0ctl("update", "prod").stdout
    before = [d0ctl("why", "use").stdout, d0ctl("status", "use").stdout]
    results = d0ctl("results", "use").stderr
    followed = d0ctl("update", "use").stdout

    assert FOLLOW in planned and FOLLOW in updated
    assert all(AHEAD in " ".join(text.split()) for text in before) and AHEAD in results
    assert "1 package out of date" in followed
    assert AHEAD not in d0ctl("why", "use").stdout
    assert "take" not in d0ctl("update", "prod").stdout
    assert faults(site.store) == []


@pytest.mark.parametrize(
    ("taken", "is_named"),
    [('{from: prod/sim, match: "sim-1*"}', False), ("{from: prod/1, match: 'sim-2'}", False),
     ("{from: prod/sim, match: sim-2}", False), ("{from: prod/sim, match: sim-*}", True),
     ('{from: prod/sim, match: "{of}-*"}', True), ('{match: "sim-1", from: prod/sim}', True)],
)  # fmt: skip
def test_a_job_whose_pattern_takes_none_of_the_new_files_need_not_follow(
    d0ctl: Type, maker: Path, taken: str, is_named: bool
) -> None:
    other = maker.parent / "other.yaml"
    other.write_text(READER.replace("use", "other").replace("{from: prod/sim}", taken).replace(
        "{run:", "{for: {of: [sim]}, run:"))  # fmt: skip
    assert d0ctl("submit", str(other)).exit_code == 0
    maker.write_text(MAKER.replace("[1, 2]", "[1, 2, 3]"))

    updated = d0ctl("update", "prod").stdout

    ahead = AHEAD.replace("use", "other") in " ".join(d0ctl("why", "other").stdout.split())
    assert (("other job" in updated or "`other`" in updated), ahead) == (is_named, is_named)


def test_a_job_that_reads_the_same_files_as_before_says_so_when_it_follows(
    d0ctl: Type, maker: Path
) -> None:
    other = maker.parent / "other.yaml"
    taken = '{match: "sim-1", from: prod/sim}'
    other.write_text(READER.replace("use", "other").replace("{from: prod/sim}", taken))
    assert d0ctl("submit", str(other)).exit_code == 0
    maker.write_text(MAKER.replace("[1, 2]", "[1, 2, 3]"))
    d0ctl("update", "prod")

    planned, updated = d0ctl("update", "other", "--dry-run").stdout, d0ctl("update", "other").stdout

    assert planned.startswith("would update `other`: it reads the same files as before\n")
    assert updated.startswith("`other` reads the same files as before\n")
    assert "already matches" in d0ctl("update", "other").stdout


def test_nothing_is_said_of_stages_that_a_job_does_not_read(
    site: Site, d0ctl: Type, maker: Path
) -> None:
    maker.write_text(MAKER.replace("{run", "{for: {m: [1, 2]}, run").replace("plot}", 'plot-{m}"}')
                     .replace("outputs: plot", 'outputs: "plot'))  # fmt: skip

    assert FOLLOW not in d0ctl("update", "prod").stdout
    assert AHEAD not in d0ctl("why", "use").stdout


def test_nothing_is_said_to_a_job_that_names_the_files_which_it_reads(
    site: Site, d0ctl: Type, maker: Path
) -> None:
    reader = maker.parent / "one.yaml"
    reader.write_text(READER.replace("use", "one").replace("{from: prod/sim}", '"prod:sim-1"'))
    assert d0ctl("submit", str(reader)).exit_code == 0
    maker.write_text(MAKER.replace("[1, 2]", "[1, 2, 3]"))

    assert "`one`" not in d0ctl("update", "prod").stdout
    assert AHEAD not in d0ctl("why", "one").stdout


def test_a_job_says_that_packages_of_another_run_again_under_other_names_of_files(
    site: Site, d0ctl: Type, maker: Path
) -> None:
    maker.write_text(CHAIN)
    d0ctl("update", "prod")
    d0ctl("update", "use")
    for package in ("prod/1/3/1", "prod/1/3/2"):
        site.finish(package)
    d0ctl("update", "use", "--again")
    site.finish("use/1/1/1")
    maker.write_text(CHAIN.replace("sim-{n}", "other-{n}"))

    left = d0ctl("update", "prod").stdout
    current = d0ctl("why", "use").stdout
    again = d0ctl("update", "prod", "--again").stdout
    followed = d0ctl("update", "use").stdout if AHEAD in d0ctl("why", "use").stdout else ""

    assert FOLLOW not in left and AHEAD not in current
    assert FOLLOW in again
    assert "1 package out of date" in followed
    assert AHEAD not in d0ctl("why", "use").stdout
    assert faults(site.store) == []


def test_an_update_that_changes_nothing_lets_the_job_catch_up(
    site: Site, d0ctl: Type, maker: Path
) -> None:
    for lines in ("[1, 2, 3]", "[1, 2]"):
        maker.write_text(MAKER.replace("[1, 2]", lines))
        d0ctl("update", "prod")
    assert AHEAD in d0ctl("why", "use").stdout

    assert "unchanged: 1 package" in d0ctl("update", "use").stdout
    assert AHEAD not in d0ctl("why", "use").stdout


def test_a_job_says_that_another_has_a_line_again_that_has_stayed(
    site: Site, d0ctl: Type, maker: Path
) -> None:
    maker.write_text(MAKER.replace("[1, 2]", "[1]"))
    d0ctl("update", "prod")
    d0ctl("update", "use")
    d0ctl("update", "use", "--again")
    site.finish("use/1/1/1")
    maker.write_text(MAKER)
    before = d0ctl("why", "use").stdout

    said = [d0ctl("update", "prod").stdout for _ in range(2)]

    assert AHEAD not in before and AHEAD in d0ctl("why", "use").stdout
    assert [FOLLOW in text for text in said] == [True, False]
    assert "1 package out of date" in d0ctl("update", "use").stdout


EACH = """\
job: use
stages:
  - name: each
    lines:
      - for: {f: {from: prod/sim, by: 1}}
        run: "true"
        inputs: "{f}"
        outputs: "use-{f.index}"
"""


def test_a_job_that_does_not_follow_yet_is_updated_before_packages_run_again(
    site: Site, d0ctl: Type, maker: Path
) -> None:
    (reader := maker.parent / "use.yaml").write_text(EACH)
    d0ctl("remove", "use", "--yes")
    assert d0ctl("submit", str(reader)).exit_code == 0
    for package in ("use/1/1/1", "use/1/2/1"):
        site.finish(package)
    maker.write_text(MAKER.replace('"true"', "echo"))
    again = d0ctl("update", "prod", "--again").stdout
    assert "once these have changed: d0ctl update use --again\n" in again
    for package in ("prod/1/1/1", "prod/1/2/1"):
        site.launch(package)
        site.end(package, outputs=[made_again(package)])
    current = d0ctl("why", "use").stdout
    maker.write_text(MAKER.replace('"true"', "sleep 1").replace("[1, 2]", "[1]"))
    updated = d0ctl("update", "prod", "--dry-run").stdout + d0ctl("update", "prod").stdout

    assert (
        updated.count("1 package of other jobs has read these files or what was made of them") == 2
    )
    assert updated.count(FOLLOW) == 2 and "d0ctl update use/1/1/1 --again" not in updated
    why, package = d0ctl("why", "use").stdout, d0ctl("why", "use/1/2/1").stdout

    assert "read them: `d0ctl update use/1 --again` runs these again" in current
    assert AHEAD in why and AHEAD in package
    assert "read them: `d0ctl update use` says how to run these again\n" in why
    assert not any("--again" in page or "--accept" in page for page in (why, package))
    assert "  $ d0ctl update use\n" in package
    assert "d0ctl update use --again" in d0ctl("update", "use").stdout
    assert d0ctl("update", "use", "--again").exit_code == 0
    assert [site.phase(f"use/1/{line}/1") for line in (1, 2)] == ["ready", "done"]


def made_again(package: str) -> dict[str, object]:
    """The output of a package as it was made again, with other contents."""
    name = f"sim-{package.split('/')[2]}"
    return {"name": name, "path": f"/tmp/base/cache/9/{name}", "size": 11, "checksum": "sha256:01"}


def test_jobs_that_read_a_stage_by_a_name_that_it_loses_are_named(
    site: Site, d0ctl: Type, maker: Path
) -> None:
    other = maker.parent / "other.yaml"
    other.write_text(READER.replace("use", "other").replace("prod/sim", "prod/plot"))
    assert d0ctl("submit", str(other)).exit_code == 0
    maker.write_text(MAKER.replace("name: sim", "name: gen").replace("[1, 2]", "[1, 2, 3]"))
    change = "`use` reads stage `prod/sim`, which gets the name `gen`: change it in its job file"
    lacks = "job `prod` no longer has stage `sim`: it has `gen` and `plot`; change `from`"

    planned, updated = d0ctl("update", "prod", "--dry-run").stdout, d0ctl("update", "prod").stdout

    for page in (planned, updated):
        assert f"{change}, then: d0ctl update use\n" in page
        assert "takes files" not in page and "`other`" not in page
    for asked in (("why", "use"), ("status", "use"), ("results", "use")):
        answer = d0ctl(*asked)
        assert lacks in " ".join((answer.stdout + answer.stderr).split())
    assert "no longer has" not in d0ctl("why", "other").stdout
    assert d0ctl("update", "use").exit_code == 2
    reader = maker.parent / "use.yaml"
    reader.write_text(READER.replace("prod/sim", "prod/gen"))
    assert "1 package out of date" in d0ctl("update", "use").stdout
    assert lacks not in d0ctl("why", "use").stdout
    assert faults(site.store) == []
