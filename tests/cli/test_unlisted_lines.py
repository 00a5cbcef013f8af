"""Successful lines that the job file no longer has after an update: `why` and `status` say so."""

from pathlib import Path

import pytest

from d0ctl.store.checks.check import faults
from d0ctl.store.jobs.correction.late_lines import make_lines
from tests.cli.conftest import Type
from tests.support.site import Site

TEXT = """\
job: prod
stages:
  - name: sim
    lines:
      - {for: {n: [1, 2, 3, 4]}, run: "true", outputs: "sim-{n}"}
  - name: merge
    lines:
      - {run: "true", inputs: {from: sim}, outputs: all}
"""
LINES = "3 lines are no longer in the job file: prod/1/2-4; no `from` takes their files"


def one(line: int) -> str:
    """What is said of one of them."""
    return f"line `prod/1/{line}` is no longer in the job file: no `from` takes its files"


@pytest.fixture
def file(site: Site, d0ctl: Type, tmp_path: Path) -> Path:
    """The job file of a successful job, which has no more than the first line."""
    path = tmp_path / "prod.yaml"
    path.write_text(TEXT)
    assert d0ctl("submit", str(path)).exit_code == 0
    for package in ("1/1", "1/2", "1/3", "1/4", "2/1"):
        site.finish(f"prod/{package}/1")
    path.write_text(TEXT.replace("[1, 2, 3, 4]", "[1]"))
    assert d0ctl("update", "prod", "--yes").exit_code == 0
    return path


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize(
    ("part", "text"),
    [("prod", LINES), ("prod/1", LINES), ("prod/1/3", one(3)), ("prod/1/3/1", one(3))],
)
def test_lines_that_the_job_file_no_longer_has_are_named(d0ctl: Type, part: str, text: str) -> None:
    for command in ("why", "status"):
        assert d0ctl(command, part).stdout.count(text) == 1


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize("part", ["prod/1/1", "prod/1/1/1", "prod/2", "prod/2/1/1"])
def test_nothing_is_said_of_the_other_parts(d0ctl: Type, part: str) -> None:
    assert "no longer in the job file" not in d0ctl("why", part).stdout


def test_dropped_lines_and_those_that_are_back_are_not_named(d0ctl: Type, file: Path) -> None:
    d0ctl("kill-line", "prod/1/4", "--drop-outputs", "--yes")
    file.write_text(TEXT.replace("[1, 2, 3, 4]", "[1, 2]"))
    d0ctl("update", "prod", "--yes")

    assert one(3) in d0ctl("why", "prod").stdout
    assert "no longer in the job file" not in d0ctl("why", "prod/1/2").stdout


def test_a_line_that_runs_while_the_job_file_loses_it_is_left_out(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    path, reader = tmp_path / "prod.yaml", tmp_path / "reader.yaml"
    path.write_text(TEXT)
    d0ctl("submit", str(path))
    site.finish("prod/1/1/1")
    site.launch("prod/1/4/1")
    path.write_text(TEXT.replace("[1, 2, 3, 4]", "[1]"))

    said = d0ctl("update", "prod", "--yes").stdout
    site.end("prod/1/4/1")
    reader.write_text(
        "{job: reader, stages: [{name: use, lines: [{run: cat, inputs: {from: prod/sim}}]}]}"
    )
    d0ctl("submit", str(reader))

    assert "1 package left running as launched: 1 running\n" in said
    assert "it is no longer in the job file: no `from` takes its files\n" in said
    assert "update again" not in said
    assert one(4) in d0ctl("why", "prod").stdout
    assert "prod:sim-4" not in d0ctl("export", "reader").stdout
    assert "prod:sim-1" in d0ctl("export", "reader").stdout
    assert faults(site.store) == []


def test_packages_of_a_running_line_that_have_not_begun_are_not_counted_as_running(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    path, made = tmp_path / "prod.yaml", 'run: "true", inputs: "x-{n}-'
    steps = [f'{{{made}{at}", outputs: "x-{{n}}-{at + 1}"}}' for at in (1, 2, 3)]
    packages = ", ".join(['{run: "true", outputs: "x-{n}-1"}', *steps])
    whole = TEXT.replace('run: "true", outputs: "sim-{n}"', f"packages: [{packages}]")
    path.write_text(whole)
    d0ctl("submit", str(path))
    site.finish("prod/1/4/1")
    site.launch("prod/1/4/2")
    path.write_text(whole.replace("[1, 2, 3, 4]", "[1, 2, 3]"))

    said = d0ctl("update", "prod", "--yes").stdout
    site.end("prod/1/4/2")

    assert (
        "1 package left running as launched: 1 running\n"
        "2 packages still to run, in running lines: 2 waiting\n"
        "1 package left unchanged, in running lines: 1 successful\n"
        "4 of them are no longer in the job file: no `from` takes their files\n"
    ) in said
    assert site.phase("prod/1/4/3") == "ready"


@pytest.mark.parametrize(("name", "maker"), [("x-4", "1/4/1"), ("sim-4", "1/4/3")])
def test_only_files_of_running_packages_are_said_to_be_made_now(
    site: Site, d0ctl: Type, tmp_path: Path, name: str, maker: str
) -> None:
    path, run = tmp_path / "prod.yaml", '{run: "true", '
    steps = [f'{run}outputs: "x-{{n}}"}}', f'{run}inputs: "x-{{n}}", outputs: "y-{{n}}"}}',
             f'{run}inputs: "y-{{n}}", outputs: "sim-{{n}}"}}']  # fmt: skip
    whole = TEXT.replace('run: "true", outputs: "sim-{n}"', f"packages: [{', '.join(steps)}]")
    path.write_text(whole)
    d0ctl("submit", str(path))
    site.finish("prod/1/4/1")
    site.launch("prod/1/4/2")
    more = f'  - {{name: more, lines: [{run}outputs: "{name}"}}]}}\n'
    path.write_text(whole.replace("[1, 2, 3, 4]", "[1]") + more)

    refused = d0ctl("update", "prod")
    site.end("prod/1/4/2")

    assert refused.exit_code == 4
    assert f"`{name}` is a file of `{maker}`, whose line is running\n" in refused.stderr
    assert d0ctl("update", "prod").exit_code == 0


GROUPS = """\
  - {name: gen, lines: [{run: "true", outputs: {file: "x-*", late: yes}}]}
  - {name: each, lines: [{for: {p: {from: gen, by: 1}}, run: cat, inputs: "{p}"}]}
"""


@pytest.mark.parametrize("is_dropped", [False, True])
def test_a_line_stays_left_out_while_groups_of_late_outputs_are_made(
    site: Site, d0ctl: Type, tmp_path: Path, *, is_dropped: bool
) -> None:
    path = tmp_path / "prod.yaml"
    path.write_text(TEXT + GROUPS)
    d0ctl("submit", str(path))
    site.finish("prod/1/4/1")
    if is_dropped:
        d0ctl("kill-line", "prod/1/4", "--drop-outputs")
    path.write_text(TEXT.replace("[1, 2, 3, 4]", "[1, 2, 3]") + GROUPS)
    d0ctl("update", "prod")
    site.launch("prod/3/1/1")
    outputs = [{"name": f"x-{n}", "path": f"/tmp/base/cache/9/x-{n}", "size": 1,
                "checksum": "sha256:01", "late": "x-*"} for n in (1, 2)]  # fmt: skip
    site.end("prod/3/1/1", outputs=outputs)

    make_lines(site.store, lambda: 0.0)

    assert site.phase("prod/4/2/1") == "ready"
    if is_dropped:
        d0ctl("restore-line", "prod/1/4")
    assert one(4) in d0ctl("why", "prod").stdout
