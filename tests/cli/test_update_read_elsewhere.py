"""update: files that packages of other jobs wait for."""

from pathlib import Path

import pytest

from tests.cli.conftest import Type

MADE = """\
job: mc
stages:
  - {name: gen, lines: [{for: {n: [1, 2, 3]}, run: "true", outputs: "gen-{n}"}]}
  - {name: sim, lines: [{for: {n: [1, 2, 3]}, run: "true", inputs: "gen-{n}", outputs: "sim-{n}"}]}
"""
READ = """\
job: ana
stages:
  - lines: [{for: {f: {from: mc/sim, by: 1}}, run: "true", inputs: "{f}", outputs: "a-{f.index}"}]
"""
MERGED = 'job: ana\nstages: [{lines: [{run: "true", inputs: {from: mc/sim}, outputs: all}]}]\n'


@pytest.mark.parametrize("reader", [READ, MERGED])
def test_lines_whose_files_another_job_waits_for_leave_a_job_once_they_are_dropped(
    d0ctl: Type, tmp_path: Path, reader: str
) -> None:
    (made := tmp_path / "mc.yaml").write_text(MADE)
    (read := tmp_path / "ana.yaml").write_text(reader)
    assert [d0ctl("submit", str(file)).exit_code for file in (made, read)] == [0, 0]
    made.write_text(MADE.replace("[1, 2, 3]", "[1]"))

    refused = d0ctl("update", "mc")

    assert refused.exit_code == 4
    first, hint = refused.stderr.splitlines()
    assert first == "d0ctl: job `ana` reads `sim-2`, which nothing would make"
    assert hint.endswith(": d0ctl kill-line mc/2/2 mc/2/3 --drop-outputs")
    assert d0ctl(*hint.partition(": d0ctl ")[2].split()).exit_code == 0
    assert d0ctl("update", "mc").exit_code == 0


def test_a_file_under_another_name_leads_to_its_readers(d0ctl: Type, tmp_path: Path) -> None:
    (made := tmp_path / "mc.yaml").write_text(MADE)
    (read := tmp_path / "ana.yaml").write_text(READ)
    assert [d0ctl("submit", str(file)).exit_code for file in (made, read)] == [0, 0]
    made.write_text(MADE.replace('"sim-{n}"', '"new-{n}"'))

    refused = d0ctl("update", "mc")

    assert refused.stderr.splitlines()[1:] == ["d0ctl why mc:sim-1"]
    assert "`ana/1/1/1`" in d0ctl("why", "mc:sim-1").stdout
