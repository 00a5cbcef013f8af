"""The written use cases run, and make what they should."""

import math
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import type_in
from tests.support.archives import RECO, packed

CASES = Path(__file__).resolve().parents[2] / "examples" / "cases"
RUNS = ("run1", "run2", "run3")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the cases, where commands are typed."""
    monkeypatch.setenv("D0CTL_HOME", str(tmp_path / "home"))
    shutil.copytree(CASES, tmp_path / "cases")
    monkeypatch.chdir(tmp_path / "cases")
    return tmp_path


def run(folder: Path, *words: str) -> Path:
    """Run a case to its end; the folder of its results."""
    reply = type_in("run", *words)
    assert reply.exit_code == 0, reply.output
    (results,) = (folder / "home" / "results").glob("[!.]*")
    return results


def signals(run: str) -> list[int]:
    """The signals of the events of a raw file."""
    return [int(row.split()[1]) for row in (CASES / f"{run}.raw").read_text().splitlines()]


def summary(path: Path) -> list[int]:
    """What recoanalyze says: events, sum and maximum of their energies."""
    return [int(word) for word in path.read_text().split()]


def test_reco001_has_three_lines_for_each_raw_file_and_stores_its_events(folder: Path) -> None:
    results = run(folder, "reco001.yaml", "--set", f"tape={folder}/tape")

    for name in RUNS:
        energies = [10 * one for one in signals(name)]
        large = [one for one in energies if one >= 500]
        assert summary(results / f"{name}.root") == [20, sum(energies), max(energies)]
        assert summary(results / f"filtered-{name}.root") == [len(large), sum(large), max(large)]
    assert len(list((folder / "tape").glob("reco-run?-[12].aod"))) == 6
    status = type_in("status", "reco001").stdout
    assert "3/3" in status and "9/9" in status
    dag = type_in("export", "reco001", "--format", "dagman").stdout
    assert [line for line in dag.splitlines() if line.startswith("PARENT")] == [
        f"PARENT Stage1Line{n}Package1Reco CHILD Stage2Line{n}Package1RecoA"
        f" Stage2Line{n + 3}Package1Store Stage2Line{n + 6}Package1RecoA"
        for n in (1, 2, 3)
    ]


def test_case_1_adds_up_histograms_as_they_arrive(folder: Path) -> None:
    results = run(folder, "case1.yaml")

    rows = [row.split() for row in (results / "histogram.txt").read_text().splitlines()]
    every = [one for name in RUNS for one in signals(name)]
    assert [[int(word) for word in row] for row in rows] == [
        [10 * bin, sum(one // 10 == bin for one in every)] for bin in range(10)
    ]


def test_case_2_keeps_its_files_on_the_cluster(folder: Path) -> None:
    results = run(folder, "case2.yaml")

    assert sorted(path.name for path in results.iterdir()) == [f"{name}.root" for name in RUNS]
    assert "retain-indef" in type_in("file", "list", "case2-001:*.root").stdout


def test_case_3_splits_all_events_into_chains(folder: Path) -> None:
    results = run(folder, "case3.yaml")

    parts = [summary(results / f"mc-{part}.root") for part in (1, 2, 3)]
    assert [events for events, _, _ in parts] == [20, 20, 20]


def test_case_4_forwards_its_output(folder: Path) -> None:
    type_in("run", "case4.yaml", "--set", f"folder={folder}/local")

    for name in RUNS:
        rows = sorted(
            int(row.split()[1])
            for part in (1, 2)
            for row in (folder / "local" / f"reco-{name}-{part}.aod").read_text().splitlines()
        )
        assert rows == sorted(10 * one for one in signals(name))


def test_case_5_is_done_again_with_another_version(folder: Path) -> None:
    run(folder, "case5.yaml")
    assert type_in("run", "case5.yaml", "--set", "version=v2").exit_code == 0

    names = {path.name for path in (folder / "home" / "results").glob("case5-00?/*")}
    assert {"reco-run1-v1-1.aod", "reco-run1-v2-1.aod"} <= names


def test_case_6_brings_software_to_each_node(folder: Path) -> None:
    archive = packed(folder / "hello.tar.gz", RECO)
    assert type_in("software", "add", "hello/v1", "--archive", str(archive)).exit_code == 0

    results = run(folder, "case6.yaml")

    assert (results / "report.txt").read_text() == "localhost has hello/v1\n"


def test_case_7_removes_an_old_version(folder: Path) -> None:
    (folder / "programs" / "p10.15").mkdir(parents=True)

    results = run(folder, "case7.yaml", "--set", f"cache={folder}/programs")

    assert (results / "report.txt").read_text() == "localhost: removed p10.15\n"
    assert not (folder / "programs" / "p10.15").exists()


def test_case_8_adds_up_to_pi(folder: Path) -> None:
    results = run(folder, "case8.yaml")

    assert float((results / "pi.txt").read_text()) == round(math.pi, 6)


@pytest.mark.parametrize("path", sorted(CASES.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_case_is_in_the_readme(path: Path) -> None:
    assert f"`{path.name}`" in (CASES / "README.md").read_text()
