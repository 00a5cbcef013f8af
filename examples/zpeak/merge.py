"""Merge the lines: histograms are added bin by bin, ntuples put one after another.

The ntuple is ordered by seed and event, so the result does not depend on the
order of the files. The ROOT file holds the tree `z` and the histogram `mass`.
"""

import argparse

import numpy as np
import uproot


def add_histograms(paths: list[str]) -> np.ndarray:
    """Add histograms of equal bins; gives rows (low, high, count)."""
    first, *others = (np.loadtxt(path, delimiter=",", ndmin=2) for path in paths)
    for other in others:
        if not np.array_equal(other[:, :2], first[:, :2]):
            raise SystemExit("merge: the histograms have different bins")
        first[:, 2] += other[:, 2]
    return first


def join_ntuples(paths: list[str]) -> dict[str, np.ndarray]:
    """Put the trees `z` of several files together, ordered by seed and event."""
    parts = [uproot.open(path)["z"].arrays(library="np") for path in paths]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    order = np.lexsort((columns["event"], columns["seed"]))
    return {name: column[order] for name, column in columns.items()}


def main() -> None:
    """Read the command line, merge, write both results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--histograms", nargs="+", required=True, metavar="IN.csv")
    parser.add_argument("--ntuples", nargs="+", required=True, metavar="IN.root")
    parser.add_argument("--out-histogram", required=True, metavar="FILE.csv")
    parser.add_argument("--out-ntuple", required=True, metavar="FILE.root")
    options = parser.parse_args()
    rows = add_histograms(options.histograms)
    columns = join_ntuples(options.ntuples)
    np.savetxt(
        options.out_histogram, rows, fmt=["%g", "%g", "%d"], delimiter=",", header="low,high,count"
    )
    with uproot.recreate(options.out_ntuple) as file:
        file["mass"] = rows[:, 2], np.append(rows[:, 0], rows[-1, 1])
        tree = file.mktree("z", {name: column.dtype for name, column in columns.items()})
        tree.extend(columns)
    print(f"{len(options.histograms)} lines, {len(columns['mass'])} Z candidates")


if __name__ == "__main__":
    main()
