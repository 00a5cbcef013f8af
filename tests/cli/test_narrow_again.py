"""What is said to run a single package again does so, also beside others with other inputs."""

import json
from pathlib import Path

from tests.cli.conftest import Type
from tests.cli.suggestions import suggested
from tests.cli.test_advice import refused
from tests.support.site import Site


def write(file: Path, *seeds: int) -> None:
    """Write a job that simulates each energy with these seeds, merges per energy, and lists all."""
    sims = [f"s{{e}}-{seed}" for seed in seeds]
    file.write_text(f"""\
job: scan
stages:
  - name: sim
    lines: [{{for: {{e: [45, 160], seed: {[*seeds]}}}, run: sim, outputs: "s{{e}}-{{seed}}"}}]
  - name: merge
    lines: [{{for: {{e: [45, 160]}}, run: merge, inputs: {json.dumps(sims)}, outputs: "m{{e}}"}}]
  - {{name: table, lines: [{{run: table, inputs: {{from: merge}}, outputs: table}}]}}
""")


def scanned(site: Site, d0ctl: Type, file: Path) -> None:
    """Let such a job succeed."""
    write(file, 1, 2)
    assert d0ctl("submit", str(file)).exit_code == 0
    for path in site.phases():
        site.finish(path)


def test_one_of_several_merges_with_other_inputs_runs_again_with_its_stage(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    scanned(site, d0ctl, file := tmp_path / "scan.yaml")
    write(file, 1, 2, 3)
    assert d0ctl("update", "scan").exit_code == 0

    for asked in ("scan/2/1/1", "scan:m45"):
        assert "d0ctl update scan/2 --again" in suggested(d0ctl, "why", asked)
    assert refused(d0ctl, "why scan/2/1/1", "why scan/2/1", "why scan:m45") == []


def test_what_other_commands_say_of_such_a_merge_is_accepted(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    scanned(site, d0ctl, file := tmp_path / "scan.yaml")
    write(file, 1, 2, 3)
    assert d0ctl("update", "scan").exit_code == 0

    for asked in ("retry scan/2/1/1", "set-status scan/2/1/1 unscheduled --dry-run",
                  "clone scan/2/1 --dry-run"):  # fmt: skip
        assert "d0ctl update scan --again" in suggested(d0ctl, *asked.split())
        assert refused(d0ctl, asked) == []


def test_a_merge_alone_runs_again_where_its_inputs_have_changed_alone(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    scanned(site, d0ctl, file := tmp_path / "scan.yaml")
    file.write_text(file.read_text().replace("run: merge,", "run: merge -v,"))
    assert d0ctl("update", "scan").exit_code == 0

    assert "d0ctl update scan/2/1/1 --again" in suggested(d0ctl, "why", "scan/2/1/1")


RENAMED = """\
job: scan
stages:
  - {{name: gen, lines: [{{name: a, run: "true", outputs: [k, {0}a]}}]}}
  - {{name: sim, lines: [{{name: a, run: "true", inputs: {0}a, outputs: s}}]}}
"""


def test_a_package_whose_input_has_another_name_runs_again_with_its_job(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (file := tmp_path / "scan.yaml").write_text(RENAMED.format(""))
    assert d0ctl("submit", str(file)).exit_code == 0
    for path in ("scan/1/1/1", "scan/2/1/1"):
        site.finish(path)
    file.write_text(RENAMED.format("new-"))
    assert d0ctl("update", "scan").exit_code == 0

    for asked in ("scan/2/1/1", "scan/2", "scan:s"):
        assert "d0ctl update scan --again" in " ".join(suggested(d0ctl, "why", asked))
    assert refused(d0ctl, "why scan/2/1/1", "why scan/2", "why scan:s") == []
