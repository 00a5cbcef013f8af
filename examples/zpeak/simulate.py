"""Simulate the detector: which leptons it finds, and how well it measures them.

Three properties decide, for each kind of lepton: acceptance (where the detector
is), efficiency (how often it finds what goes there), and resolution. The energy
scale is 1: on average the detector reads the truth. The hit file (.npz) has one
row a lepton:

    event           number of the event in the event file
    kind            11 electron, 13 muon
    charge          +1 or -1, as measured
    pt eta phi      transverse momentum in GeV and direction, as measured
"""

import argparse

import numpy as np

ELECTRON_EFFICIENCY = 0.90
ELECTRON_WRONG_CHARGE = 0.003
MUON_EFFICIENCY = 0.92
MUON_ETA_MAX = 2.0
CLUSTER_RADIUS = 0.2
"""Photons this close to an electron end in its calorimeter cluster."""
LEPTON_PT_MIN = 5.0

Columns = dict[str, np.ndarray]


def in_calorimeter(eta: np.ndarray) -> np.ndarray:
    """Tell where an electron can be measured: the central or an end calorimeter."""
    eta = abs(eta)
    return (eta < 1.1) | ((eta > 1.5) & (eta < 2.5))


def measured_energy(energy: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Read energies off the calorimeter: 15 %/sqrt(E) from sampling, and 1 % everywhere."""
    resolution = np.hypot(0.15 / np.sqrt(energy), 0.01)
    return energy * (1 + resolution * rng.standard_normal(energy.shape))


def measured_curvature(curvature: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Read charge/pt off the tracker: 0.001 per GeV from hits, and 1.5 % from scattering."""
    resolution = np.hypot(0.001, 0.015 * curvature)
    return curvature + resolution * rng.standard_normal(curvature.shape)


def directions(particles: Columns) -> Columns:
    """Add pt, eta, phi and charge to the particles of an event file."""
    pt = np.hypot(particles["px"], particles["py"])
    return particles | {
        "pt": pt,
        "eta": np.arcsinh(particles["pz"] / pt),
        "phi": np.arctan2(particles["py"], particles["px"]),
        "charge": -np.sign(particles["id"]),
    }


def select(columns: Columns, mask: np.ndarray) -> Columns:
    """Keep the rows where `mask` is true."""
    return {name: column[mask] for name, column in columns.items()}


def cluster_energies(electrons: Columns, photons: Columns) -> np.ndarray:
    """Add to each electron's energy that of the photons round it, as a calorimeter does."""
    energies = electrons["e"].copy()
    first = np.searchsorted(photons["event"], electrons["event"], side="left")
    last = np.searchsorted(photons["event"], electrons["event"], side="right")
    for i, near in enumerate(map(slice, first, last)):
        d_eta = photons["eta"][near] - electrons["eta"][i]
        d_phi = np.remainder(photons["phi"][near] - electrons["phi"][i] + np.pi, 2 * np.pi) - np.pi
        energies[i] += photons["e"][near][np.hypot(d_eta, d_phi) < CLUSTER_RADIUS].sum()
    return energies


def simulate_electrons(electrons: Columns, photons: Columns, rng: np.random.Generator) -> Columns:
    """Find electrons in the calorimeter; energy from there, direction from the tracker."""
    count = len(electrons["id"])
    energy = measured_energy(cluster_energies(electrons, photons), rng)
    found = in_calorimeter(electrons["eta"]) & (rng.random(count) < ELECTRON_EFFICIENCY)
    flipped = np.where(rng.random(count) < ELECTRON_WRONG_CHARGE, -1, 1)
    pt = energy / np.cosh(electrons["eta"])
    return select(electrons | {"pt": pt, "charge": flipped * electrons["charge"]}, found)


def simulate_muons(muons: Columns, rng: np.random.Generator) -> Columns:
    """Find muons; their momentum is read off the curvature of the track."""
    curvature = measured_curvature(muons["charge"] / muons["pt"], rng)
    found = (abs(muons["eta"]) < MUON_ETA_MAX) & (rng.random(len(curvature)) < MUON_EFFICIENCY)
    return select(muons | {"pt": 1 / abs(curvature), "charge": np.sign(curvature)}, found)


def simulate(particles: Columns, seed: int) -> Columns:
    """Turn the particles of an event file into the rows of a hit file, in event order."""
    rng = np.random.default_rng(seed)
    particles = directions(particles)
    kind, hard = abs(particles["id"]), particles["pt"] > LEPTON_PT_MIN
    electrons = select(particles, (kind == 11) & hard)
    muons = select(particles, (kind == 13) & hard)
    photons = select(particles, kind == 22)
    found = simulate_electrons(electrons, photons, rng), simulate_muons(muons, rng)
    hits = {
        name: np.concatenate([part[name] for part in found])
        for name in ("event", "id", "charge", "pt", "eta", "phi")
    }
    hits["kind"] = abs(hits.pop("id"))
    return select(hits, np.argsort(hits["event"], kind="stable"))


def main() -> None:
    """Read the command line, simulate, write the hit file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("events", metavar="EVENTS.npz")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", required=True, metavar="FILE.npz")
    options = parser.parse_args()
    with np.load(options.events) as particles:
        hits = simulate(dict(particles), options.seed)
    np.savez_compressed(options.out, **hits)
    electrons = int((hits["kind"] == 11).sum())
    print(f"{electrons} electrons and {len(hits['kind']) - electrons} muons found")


if __name__ == "__main__":
    main()
