"""The ten most common productions, as examples/patterns has them."""

import json
import sys

import nbformat
import pytest
from nbclient import execute as run_cells

from tests.support.site import Site
from tests.support.site.commands import EXAMPLES

PATTERNS = EXAMPLES / "patterns"


def result(site: Site, name: str) -> str:
    """The text of a result."""
    return (site.home.root / "results" / name).read_text()


@pytest.mark.parametrize(
    ("name", "results"),
    [
        ("array", [f"random-{seed}.txt" for seed in range(1, 11)]),
        ("array-merge", ["all.csv"]),
        ("chain", [f"{seed}.reco" for seed in range(1, 6)]),
        ("scan", ["table.txt"]),
        ("glob", [f"run{run}.count" for run in range(1, 6)]),
        ("groups", [f"part-{part}.txt" for part in (1, 2, 3)]),
    ],
)
def test_a_pattern_runs_without_a_warning_and_leaves_its_results(
    site: Site, name: str, results: list[str]
) -> None:
    site.ok("run", PATTERNS / f"{name}.yaml")

    assert site.d0ctl("validate", "--strict", PATTERNS / f"{name}.yaml").code == 0
    folder = site.home.root / "results" / name
    assert sorted(path.name for path in folder.iterdir()) == sorted(results)
    assert all(path.stat().st_size for path in folder.iterdir())


def test_the_merge_has_one_header_and_a_row_for_each_seed(site: Site) -> None:
    site.ok("run", PATTERNS / "array-merge.yaml")
    head, *rows = result(site, "array-merge/all.csv").splitlines()

    assert head == "seed,x"
    assert [row.partition(",")[0] for row in rows] == [str(seed) for seed in range(1, 11)]


def test_the_chain_leaves_no_intermediate_file(site: Site) -> None:
    site.ok("run", PATTERNS / "chain.yaml")

    files = {one["file"]: one["copies"] for one in site.json("file", "list", "chain")["files"]}
    assert [name for name, places in files.items() if places and not name.endswith(".reco")] == []
    assert result(site, "chain/5.reco").split()[:2] == ["36", "64"]


def test_the_scan_has_a_row_for_each_pair(site: Site) -> None:
    site.ok("run", PATTERNS / "scan.yaml")

    assert len(result(site, "scan/table.txt").splitlines()) == 12


def test_root_files_are_merged(site: Site) -> None:
    import uproot  # type: ignore[import-untyped]  # heavy, and all workers import this module

    site.ok("run", PATTERNS / "root.yaml", "--set", f"python={sys.executable}")

    with uproot.open(site.home.root / "results/root/all.root") as file:
        assert file["z"].num_entries == 4000
        assert file["mass"].values().sum() == pytest.approx(4000, abs=20)


def test_the_notebook_builds_runs_and_reads_its_job(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in site.environment.items():
        monkeypatch.setenv(name, value)
    text = (PATTERNS / "notebook.ipynb").read_text()
    notebook = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
    run_cells(notebook, timeout=120, kernel_name="python3")

    shown = json.loads(json.dumps(notebook.cells[-1].outputs))[0]["data"]["text/plain"]
    assert shown == "[(1, 1), (2, 4), (3, 9), (4, 16), (5, 25)]"


def test_the_table_names_every_file() -> None:
    table = (PATTERNS / "README.md").read_text()
    files = {path.name for path in PATTERNS.iterdir() if path.suffix in (".yaml", ".ipynb")}

    assert {name for name in files if f"]({name})" not in table} == set()
