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
LIMITS = np.array([1.0, WINDOW[0], 0.1, 0.0])
"""No parameter goes below these."""
EVENTS_MIN = 50
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


def slopes(mass: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    """Give the derivatives of `expected` by each parameter, one a row."""
    steps = np.diag([1.0, 1e-3, 1e-3, 1.0])
    return np.stack(
        [
            (expected(mass, parameters + step) - expected(mass, parameters - step))
            / (2 * step.sum())
            for step in steps
        ]
    )


def fit(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Fit a histogram's rows (low, high, count); gives the parameters and their errors.

    It goes by Fisher's scoring: each step is a least-squares problem in which a bin
    weighs 1/expected. A parameter that runs into its limit stays there, without error.
    """
    low, high, counts = shown(rows).T
    mass, width, total = (low + high) / 2, high - low, counts.sum()
    if total < EVENTS_MIN:
        raise SystemExit(f"fit: {total:.0f} events are too few for a peak")
    parameters = np.array([0.9 * total, mass[counts.argmax()], 2.0, 0.1 * total])
    free, errors = np.ones(4, dtype=bool), np.zeros(4)
    for _ in range(STEPS):
        model = expected(mass, parameters) * width
        slope = slopes(mass, parameters)[free] * width
        covariance = np.linalg.inv(slope / model @ slope.T)
        change = covariance @ (slope / model) @ (counts - model)
        errors[free] = np.sqrt(np.diag(covariance))
        parameters[free] += change
        if (abs(change) < 1e-3 * errors[free]).all():
            return parameters, np.where(free, errors, 0)
        free &= parameters > LIMITS
        parameters = np.maximum(parameters, LIMITS)
    raise SystemExit("fit: no peak found")


def shown(rows: np.ndarray) -> np.ndarray:
    """Give the bins in the window."""
    return rows[(rows[:, 0] >= WINDOW[0]) & (rows[:, 1] <= WINDOW[1])]


def text_histogram(rows: np.ndarray, title: str) -> str:
    """Draw the bins of the window as bars of `#`."""
    bins = shown(rows)
    scale = BAR / bins[:, 2].max()
    bars = [
        f"{low:4.0f} - {high:3.0f} {count:7.0f}  {'#' * round(count * scale)}".rstrip()
        for low, high, count in bins
    ]
    return "\n".join([title, "", " mass (GeV)  events", *bars, ""])


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
