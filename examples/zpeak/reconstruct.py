"""Reconstruct the Z: in each event the best pair of leptons, and what it came from.

A pair has one flavour, opposite charges and both leptons above 20 GeV; of several
in an event the one with the largest sum of pt is taken. The file (.npz) has one
row a Z candidate:

    event           number of the event in the event file
    kind            11 e+e-, 13 mu+mu-
    mass pt         of the pair, in GeV
    y               its rapidity
"""

import argparse
from itertools import combinations

import numpy as np

PT_MIN = 20.0
MASS_GEV = {11: 0.000511, 13: 0.10566}

Columns = dict[str, np.ndarray]


def best_pair(kinds: np.ndarray, charges: np.ndarray, pts: np.ndarray) -> tuple[int, int] | None:
    """Give the positions of the best pair among an event's leptons, if there is one."""
    pairs = [
        (i, j)
        for i, j in combinations(np.flatnonzero(pts > PT_MIN), 2)
        if kinds[i] == kinds[j] and charges[i] == -charges[j]
    ]
    return max(pairs, key=lambda pair: pts[pair[0]] + pts[pair[1]], default=None)


def four_momenta(leptons: Columns) -> np.ndarray:
    """Give the rows (e, px, py, pz) of measured leptons."""
    pt, eta, phi = leptons["pt"], leptons["eta"], leptons["phi"]
    mass = np.where(leptons["kind"] == 11, MASS_GEV[11], MASS_GEV[13])
    px, py, pz = pt * np.cos(phi), pt * np.sin(phi), pt * np.sinh(eta)
    return np.stack([np.sqrt(px**2 + py**2 + pz**2 + mass**2), px, py, pz], axis=-1)


def kinematics(momenta: np.ndarray) -> Columns:
    """Give mass, pt and rapidity of particles with these rows (e, px, py, pz)."""
    e, px, py, pz = momenta.T
    return {
        "mass": np.sqrt(np.maximum(e**2 - px**2 - py**2 - pz**2, 0)),
        "pt": np.hypot(px, py),
        "y": 0.5 * np.log((e + pz) / (e - pz)),
    }


def reconstruct(leptons: Columns) -> Columns:
    """Turn the leptons of a hit file, in event order, into Z candidates."""
    _, first = np.unique(leptons["event"], return_index=True)
    pairs = []
    for start, stop in zip(first, [*first[1:], len(leptons["event"])], strict=True):
        here = slice(start, stop)
        pair = best_pair(leptons["kind"][here], leptons["charge"][here], leptons["pt"][here])
        if pair:
            pairs.append((start + pair[0], start + pair[1]))
    lepton, antilepton = np.array(pairs, dtype=int).reshape(-1, 2).T
    momenta = four_momenta(leptons)
    identity = {name: leptons[name][lepton] for name in ("event", "kind")}
    return identity | kinematics(momenta[lepton] + momenta[antilepton])


def main() -> None:
    """Read the command line, reconstruct, write the candidates."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hits", metavar="HITS.npz")
    parser.add_argument("--out", required=True, metavar="FILE.npz")
    options = parser.parse_args()
    with np.load(options.hits) as leptons:
        candidates = reconstruct(dict(leptons))
    np.savez_compressed(options.out, **candidates)
    print(f"{len(candidates['mass'])} Z candidates")


if __name__ == "__main__":
    main()
