"""Plot the mass histogram with the fitted curve over it."""

import argparse
import json
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure


def plot(rows: np.ndarray, curve: np.ndarray, peak: dict[str, float]) -> Figure:
    """Draw rows (low, high, count) as points with errors, and the curve (mass, events per GeV)."""
    low, high, counts = rows.T
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.errorbar(
        (low + high) / 2,
        counts,
        xerr=(high - low) / 2,
        yerr=np.sqrt(counts),
        fmt="k.",
        elinewidth=1,
        label=f"{peak['events']} simulated events",
    )
    mass = f"peak at {peak['mass_gev']:.2f} ± {peak['error_gev']:.2f} GeV"
    axes.plot(*curve.T, color="tab:red", label=mass)
    axes.set_xlabel("mass of the lepton pair (GeV)")
    axes.set_ylabel(f"events / {high[0] - low[0]:g} GeV")
    axes.set_title(r"$p\bar{p} \to Z/\gamma^* \to e^+e^-,\ \mu^+\mu^-$ at 1960 GeV")
    axes.set_xlim(low[0], high[-1])
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    return figure


def main() -> None:
    """Read the command line, write the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("histogram", metavar="MASS.csv")
    parser.add_argument("--curve", required=True, metavar="CURVE.csv")
    parser.add_argument("--peak", required=True, metavar="PEAK.json")
    parser.add_argument("--out", required=True, metavar="FILE.png")
    options = parser.parse_args()
    rows = np.loadtxt(options.histogram, delimiter=",", ndmin=2)
    peak = json.loads(Path(options.peak).read_text())
    plot(rows, np.loadtxt(options.curve), peak).savefig(options.out, dpi=150)


if __name__ == "__main__":
    main()
