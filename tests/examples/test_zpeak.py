"""The Z production: its physics piece by piece, and a small run of the whole chain."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

ZPEAK = Path(__file__).resolve().parents[2] / "examples" / "zpeak"
EVENTS = 300
SEEDS = (1, 2)
Z_MASS = 91.19

Columns = dict[str, list[Any]]


def script(name: str) -> ModuleType:
    """A script of the example as a module."""
    spec = importlib.util.spec_from_file_location(f"zpeak_{name}", ZPEAK / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(folder: Path, name: str, *words: object) -> None:
    """Run a script of the example in `folder`; here, as its imports take longer than its work."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "argv", [f"{name}.py", *map(str, words)])
        script(name).main()


def produce(folder: Path, seeds: tuple[int, ...] = SEEDS) -> Path:
    """Run the lines of these seeds in this order, then merge and fit."""
    folder.mkdir()
    for seed in seeds:
        run(folder, "generate", "--seed", seed, "--events", EVENTS, "--out", f"gen-{seed}.npz")
        run(folder, "simulate", f"gen-{seed}.npz", "--seed", seed, "--out", f"sim-{seed}.npz")
        run(folder, "reconstruct", f"sim-{seed}.npz", "--out", f"reco-{seed}.npz")
        names = "--histogram", f"hist-{seed}.csv", "--ntuple", f"ntuple-{seed}.root"
        run(folder, "recoanalyze", f"reco-{seed}.npz", "--seed", seed, *names)
    merge(folder, *seeds)
    files = "--json", "peak.json", "--text", "peak.txt", "--curve", "curve.csv"
    run(folder, "fit", "mass.csv", *files)
    return folder


def merge(folder: Path, *seeds: int) -> None:
    """Merge the lines of these seeds."""
    histograms = [f"hist-{seed}.csv" for seed in seeds]
    ntuples = [f"ntuple-{seed}.root" for seed in seeds]
    results = "--out-histogram", "mass.csv", "--out-ntuple", "zpeak.root"
    run(folder, "merge", "--histograms", *histograms, "--ntuples", *ntuples, *results)


def tree(path: Path) -> dict[str, Any]:
    """The columns of the merged ntuple."""
    import uproot  # type: ignore[import-untyped]  # heavy, and all workers import this module

    with uproot.open(path) as file:
        columns: dict[str, Any] = file["z"].arrays(library="np")
    return columns


@pytest.fixture(scope="module")
def production(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small production."""
    return produce(tmp_path_factory.mktemp("zpeak") / "production")


def test_a_small_run_peaks_at_the_mass_of_the_z(production: Path) -> None:
    peak = json.loads((production / "peak.json").read_text())

    assert peak["mass_gev"] == pytest.approx(91.2, abs=1)
    assert 0 < peak["error_gev"] < 0.5
    assert 100 < peak["events"] < EVENTS * len(SEEDS)


def test_the_same_seeds_give_the_same_histogram_bin_for_bin_in_any_order(
    production: Path, tmp_path: Path
) -> None:
    again = produce(tmp_path / "again", SEEDS[::-1])

    for name in ("mass.csv", "peak.json", "peak.txt"):
        assert (again / name).read_text() == (production / name).read_text()
    ours, theirs = tree(again / "zpeak.root"), tree(production / "zpeak.root")
    assert all(np.array_equal(ours[name], theirs[name]) for name in theirs)


def test_lines_with_other_seeds_have_other_events(production: Path) -> None:
    one, other = ((production / f"hist-{seed}.csv").read_text() for seed in SEEDS)

    assert one != other


def test_a_merge_adds_histograms_and_keeps_every_candidate(production: Path) -> None:
    parts = [np.loadtxt(production / f"hist-{seed}.csv", delimiter=",") for seed in SEEDS]
    merged = np.loadtxt(production / "mass.csv", delimiter=",")
    columns = tree(production / "zpeak.root")

    assert np.array_equal(merged[:, 2], sum(part[:, 2] for part in parts))
    assert set(columns["seed"]) == set(SEEDS)
    edges = np.append(merged[:, 0], merged[-1, 1])
    assert np.array_equal(np.histogram(columns["mass"], edges)[0], merged[:, 2])


def test_the_text_histogram_is_highest_at_the_peak(production: Path) -> None:
    bars = [line for line in (production / "peak.txt").read_text().splitlines() if "#" in line]
    longest = max(bars, key=lambda bar: bar.count("#"))

    assert abs(float(longest.split()[0]) - Z_MASS) < 3


def test_the_plot_is_a_picture(production: Path) -> None:
    files = "--curve", "curve.csv", "--peak", "peak.json", "--out", "p.png"
    run(production, "plot", "mass.csv", *files)

    assert (production / "p.png").read_bytes().startswith(b"\x89PNG")


def test_the_generator_reports_its_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("D0CTL_PROGRESS", str(tmp_path / "progress"))

    run(tmp_path, "generate", "--seed", 1, "--events", 100, "--out", "gen.npz")

    assert (tmp_path / "progress").read_text() == "100/100\n"


def test_histograms_of_different_bins_are_not_added(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("60,61,1\n61,62,2\n")
    (tmp_path / "b.csv").write_text("60,62,1\n62,64,2\n")

    with pytest.raises(SystemExit, match="different bins"):
        script("merge").add_histograms([tmp_path / "a.csv", tmp_path / "b.csv"])


def test_the_detector_reads_energy_and_momentum_without_bias() -> None:
    simulate = script("simulate")
    truth = np.full(20_000, 45.0)

    energy = simulate.measured_energy(truth, np.random.default_rng(1))
    curvature = simulate.measured_curvature(-1 / truth, np.random.default_rng(2))

    assert energy.mean() == pytest.approx(45, rel=1e-3)
    assert energy.std() / 45 == pytest.approx(np.hypot(0.15 / 45**0.5, 0.01), rel=0.05)
    assert curvature.mean() == pytest.approx(-1 / 45, rel=2e-3)
    assert curvature.std() * 45 == pytest.approx(np.hypot(0.001 * 45, 0.015), rel=0.05)


def test_an_electron_takes_the_photons_round_it_and_of_its_own_event_only() -> None:
    simulate = script("simulate")
    electrons: Columns = {"event": [3], "e": [40.0], "eta": [0.5], "phi": [3.1]}
    photons: Columns = {
        "event": [2, 3, 3],
        "e": [8.0, 5.0, 20.0],
        "eta": [0.5, 0.5, 2.0],
        "phi": [3.1, -3.1, 3.1],
    }

    energies = simulate.cluster_energies(*map(arrays, (electrons, photons)))

    assert energies == pytest.approx([45.0])


def test_the_best_pair_is_one_flavour_two_charges_and_hard() -> None:
    best_pair = script("reconstruct").best_pair

    def pair(*leptons: tuple[int, int, float]) -> tuple[int, int] | None:
        found: tuple[int, int] | None = best_pair(*map(np.array, zip(*leptons, strict=True)))
        return found

    assert pair((11, 1, 40), (11, -1, 30)) == (0, 1)
    assert pair((11, 1, 40), (13, -1, 30)) is None
    assert pair((11, 1, 40), (11, 1, 30)) is None
    assert pair((11, 1, 40), (11, -1, 19)) is None
    assert pair((13, 1, 25), (13, -1, 30), (13, 1, 50)) == (1, 2)


def test_two_leptons_back_to_back_have_twice_their_energy_as_mass() -> None:
    reconstruct = script("reconstruct")
    leptons: Columns = {
        "event": [7, 7],
        "kind": [11, 11],
        "charge": [1, -1],
        "pt": [45.0, 45.0],
        "eta": [0.0, 0.0],
        "phi": [0.0, np.pi],
    }

    candidates = reconstruct.reconstruct(arrays(leptons))

    assert candidates["mass"] == pytest.approx([90.0])
    assert candidates["pt"] == pytest.approx([0.0], abs=1e-9)
    assert candidates["y"] == pytest.approx([0.0], abs=1e-9)
    assert list(candidates["event"]) == [7]


def test_the_fit_finds_the_peak_that_was_put_in() -> None:
    fit = script("fit")
    edges = np.linspace(60, 120, 61)
    truth = np.array([5000, 91.19, 2.0, 500])
    counts = np.random.default_rng(1).poisson(fit.expected((edges[:-1] + edges[1:]) / 2, truth))

    parameters, errors = fit.fit(np.column_stack([edges[:-1], edges[1:], counts]))

    assert (abs(parameters - truth) < 3 * errors).all()


def test_a_background_at_its_limit_does_not_stop_the_fit() -> None:
    fit = script("fit")
    edges = np.linspace(60, 120, 61)
    truth = np.array([5000, 91.19, 2.0, 0])
    counts = fit.expected((edges[:-1] + edges[1:]) / 2, truth).round()

    parameters, errors = fit.fit(np.column_stack([edges[:-1], edges[1:], counts]))

    assert abs(parameters[1] - truth[1]) < errors[1]


def test_too_few_events_are_reported() -> None:
    edges = np.linspace(60, 120, 61)
    rows = np.column_stack([edges[:-1], edges[1:], np.zeros(60)])

    with pytest.raises(SystemExit, match="0 events are too few for a peak"):
        script("fit").fit(rows)


def arrays(columns: Columns) -> dict[str, Any]:
    """Columns as numpy arrays."""
    return {name: np.array(column) for name, column in columns.items()}
