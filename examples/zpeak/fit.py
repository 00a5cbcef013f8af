"""Fit the Z peak of a mass histogram, and print the histogram as text.

The peak is a Breit-Wigner of the Z's natural width, smeared by a Gaussian for the
detector, on a falling tail for virtual photons and radiation. Four numbers are
fitted (events in the peak, its mass, the detector's resolution, events in the tail)
by maximum likelihood of the Poisson counts in a window round the peak.
"""

import argparse
import json
from pathlib import Path

import numpy as np

WINDOW = 76.0, 106.0
Z_WIDTH = 2.495
TAIL = 15.0
"""The tail falls by a factor e over so many GeV."""
STEPS = 50
BAR = 50
"""Length of the longest bar of the text histogram, in characters."""


def peak(mass: np.ndarray, position: float, resolution: float) -> np.ndarray:
    """Give a Breit-Wigner smeared by a Gaussian, per GeV."""
    pull, step = np.linspace(-5, 5, 101, retstep=True)
    gaussian = np.exp(-0.5 * pull**2) * step / np.sqrt(2 * np.pi)
    distance = mass[:, None] - position - resolution * pull
    return (gaussian * Z_WIDTH / (2 * np.pi) / (distance**2 + Z_WIDTH**2 / 4)).sum(axis=1)


def expected(mass: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    """Give the events per GeV at these masses: parameters as in the module's docstring."""
    signal, position, resolution, background = parameters
    low, high = np.exp(-np.array(WINDOW) / TAIL)
    tail = np.exp(-mass / TAIL) / TAIL / (low - high)
    return signal * peak(mass, position, resolution) + background * tail


def fit(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Fit a histogram's rows (low, high, count); gives the parameters and their errors."""
    low, high, counts = rows[(rows[:, 0] >= WINDOW[0]) & (rows[:, 1] <= WINDOW[1])].T
    mass, width = (low + high) / 2, high - low
    parameters = np.array([0.9 * counts.sum(), mass[counts.argmax()], 2.0, 0.1 * counts.sum()])
    shift = np.diag([1.0, 1e-3, 1e-3, 1.0])
    for _ in range(STEPS):
        # Fisher's scoring: each step solves a least-squares problem weighted by 1/expected.
        model = expected(mass, parameters) * width
        slopes = [
            (expected(mass, parameters + d) - expected(mass, parameters - d))
            * width
            / (2 * d.sum())
            for d in shift
        ]
        weighted = np.array(slopes) / model
        covariance = np.linalg.inv(weighted @ np.transpose(slopes))
        step = covariance @ weighted @ (counts - model)
        parameters = np.maximum(parameters + step, [1, WINDOW[0], 0.1, 0])
        if (abs(step) < 1e-3 * np.sqrt(np.diag(covariance))).all():
            return parameters, np.sqrt(np.diag(covariance))
    raise SystemExit("fit: no peak found; are there enough events?")


def text_histogram(rows: np.ndarray, title: str) -> str:
    """Draw the bins of the fit's window as bars of `#`."""
    shown = rows[(rows[:, 0] >= WINDOW[0]) & (rows[:, 1] <= WINDOW[1])]
    scale = BAR / shown[:, 2].max()
    bars = [
        f"{low:5.0f} - {high:3.0f}  {count:6.0f}  {'#' * round(count * scale)}"
        for low, high, count in shown
    ]
    return "\n".join([title, "", "mass in GeV   events", *(bar.rstrip() for bar in bars), ""])


def main() -> None:
    """Read the command line, fit, write number, text and curve."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("histogram", metavar="MASS.csv")
    parser.add_argument("--json", required=True, metavar="FILE.json")
    parser.add_argument("--text", required=True, metavar="FILE.txt")
    parser.add_argument("--curve", required=True, metavar="FILE.csv")
    options = parser.parse_args()
    rows = np.loadtxt(options.histogram, delimiter=",", ndmin=2)
    parameters, errors = fit(rows)
    events, mass, error = int(rows[:, 2].sum()), float(parameters[1]), float(errors[1])
    result = {"mass_gev": round(mass, 4), "error_gev": round(error, 4), "events": events}
    Path(options.json).write_text(json.dumps(result) + "\n")
    title = f"Z -> ee, mumu: {events} events, peak at {mass:.2f} +- {error:.2f} GeV"
    Path(options.text).write_text(text_histogram(rows, title))
    masses = np.linspace(*WINDOW, 301)
    np.savetxt(options.curve, np.column_stack([masses, expected(masses, parameters)]), fmt="%.6g")
    print(title)


if __name__ == "__main__":
    main()
