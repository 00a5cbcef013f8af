"""Analyze the Z candidates of one line: a histogram of their mass, and an ntuple.

The histogram is a text file with a row `low,high,count` a bin. The ntuple is a
ROOT file with the tree `z`, whose branches are those of the candidates and the
line's seed, so that an event can be told from its namesake in another line.
"""

import argparse

import numpy as np
import uproot

EDGES = np.linspace(60, 120, 61)
TYPES = {"seed": "int32", "event": "int32", "kind": "int32"} | dict.fromkeys(
    ("mass", "pt", "y"), "float64"
)


def write_histogram(path: str, mass: np.ndarray) -> None:
    """Count masses (GeV) in bins of 1 GeV."""
    counts, _ = np.histogram(mass, EDGES)
    rows = np.column_stack([EDGES[:-1], EDGES[1:], counts])
    np.savetxt(path, rows, fmt=["%g", "%g", "%d"], delimiter=",", header="low,high,count")


def write_ntuple(path: str, candidates: dict[str, np.ndarray], seed: int) -> None:
    """Write the candidates of one line as the tree `z`."""
    columns = candidates | {"seed": np.full(len(candidates["mass"]), seed)}
    with uproot.recreate(path) as file:
        tree = file.mktree("z", TYPES)
        tree.extend({name: columns[name].astype(kind) for name, kind in TYPES.items()})


def main() -> None:
    """Read the command line, analyze, write histogram and ntuple."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("candidates", metavar="CANDIDATES.npz")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--histogram", required=True, metavar="FILE.csv")
    parser.add_argument("--ntuple", required=True, metavar="FILE.root")
    options = parser.parse_args()
    with np.load(options.candidates) as file:
        candidates = dict(file)
    write_histogram(options.histogram, candidates["mass"])
    write_ntuple(options.ntuple, candidates, options.seed)


if __name__ == "__main__":
    main()
