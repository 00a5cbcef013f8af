"""`report usage --by package`: what each step of the lines of a stage took."""

import csv
from pathlib import Path

from tests.cli.conftest import Type
from tests.support.building import document
from tests.support.site import Site

CHAIN = """
job: chain
stages:
  - name: gen
    lines:
      - for: {seed: {range: [1, 2]}}
        packages:
          - {name: sim, run: "echo > s-{seed}", outputs: ["s-{seed}"]}
          - {run: "cat s-{seed} > t-{seed}", inputs: ["s-{seed}"], outputs: ["t-{seed}"]}
"""


def test_the_steps_of_the_lines_of_a_stage_are_counted_apart(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    file = tmp_path / "chain.yaml"
    file.write_text(CHAIN)
    d0ctl("submit", str(file))
    for path in ("1/1/1", "1/2/1", "1/1/2"):
        site.finish(f"chain/{path}")

    page = d0ctl("report", "usage", "--by", "package").stdout
    table = list(csv.DictReader(
        d0ctl("report", "usage", "--by", "package", "--by", "stage", "--csv").stdout.splitlines()
    ))  # fmt: skip
    steps = document(d0ctl("report", "usage", "chain", "--by", "package", "--json").stdout)

    assert page.startswith("packages\n")
    named = {row["name"]: row["attempts"] for row in table}
    assert named == {"chain/1 gen": "3", "chain/1/*/1 sim": "2", "chain/1/*/2": "1"}
    counted = {row["package"]: row["attempts"] for row in steps["by_package"]}
    assert counted == {"chain/1/*/1 sim": 2, "chain/1/*/2": 1}
    assert "by_stage" not in steps
    assert d0ctl("status", "chain/1/*/1").exit_code == 0, "its first word selects them"


def test_without_a_group_steps_are_not_listed(d0ctl: Type, site: Site, tmp_path: Path) -> None:
    file = tmp_path / "chain.yaml"
    file.write_text(CHAIN)
    d0ctl("submit", str(file))
    site.finish("chain/1/1/1")

    assert "by_package" not in document(d0ctl("report", "usage", "--json").stdout)
    assert "packages" not in d0ctl("report", "usage").stdout.splitlines()
    file = tmp_path / "report.html"
    d0ctl("report", "usage", "--html", str(file))
    assert "chain/1/*/1" not in file.read_text()
    d0ctl("report", "usage", "--by", "package", "--html", str(file))
    assert "chain/1/*/1 sim" in file.read_text()
