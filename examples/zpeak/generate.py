"""Generate Z bosons at the Tevatron: p pbar -> Z/gamma* -> e+e-, mu+mu- at 1960 GeV.

Pythia makes whole events, with showers, underlying event and hadrons. The event
file (.npz) keeps what the detector simulation looks at, the stable electrons,
muons and photons above 0.5 GeV in pt, one row a particle in columns of equal length:

    event           number of the event, from 0
    id              PDG code: 11 e-, -11 e+, 13 mu-, -13 mu+, 22 photon
    px py pz e      four-momentum in GeV
"""

import argparse
import os
from pathlib import Path

import numpy as np
import pythia8mc

SETTINGS = """
Beams:idA = 2212
Beams:idB = -2212
Beams:eCM = 1960.
WeakSingleBoson:ffbar2gmZ = on
PhaseSpace:mHatMin = 60.
PhaseSpace:mHatMax = 120.
23:onMode = off
23:onIfAny = 11 13
Random:setSeed = on
Print:quiet = on
"""
KEPT = {11, 13, 22}
PT_MIN = 0.5


def start_pythia(seed: int) -> pythia8mc.Pythia:
    """Give a generator that is ready; equal seeds give equal events."""
    pythia = pythia8mc.Pythia("", False)
    for setting in [*SETTINGS.strip().splitlines(), f"Random:seed = {seed}"]:
        if not pythia.readString(setting):
            raise SystemExit(f"generate: Pythia does not know `{setting}`")
    if not pythia.init():
        raise SystemExit("generate: Pythia can't start with these settings")
    return pythia


def generate(pythia: pythia8mc.Pythia, events: int) -> dict[str, np.ndarray]:
    """Make `events` events and give their particles as the columns above."""
    rows = []
    for event in range(events):
        # Now and then Pythia gives an event up; the next one takes its place.
        while not pythia.next():
            pass
        rows += [
            (event, particle.id(), particle.px(), particle.py(), particle.pz(), particle.e())
            for particle in pythia.event
            if particle.isFinal() and abs(particle.id()) in KEPT and particle.pT() > PT_MIN
        ]
        if event % 100 == 99:
            report(event + 1, events)
    table = np.array(rows).reshape(-1, 6)
    columns = {"event": table[:, 0].astype(np.int32), "id": table[:, 1].astype(np.int32)}
    return columns | dict(zip(("px", "py", "pz", "e"), table[:, 2:].T, strict=True))


def report(done: int, total: int) -> None:
    """Tell d0ctl how far we are; without d0ctl, do nothing."""
    if path := os.environ.get("D0CTL_PROGRESS"):
        Path(path).write_text(f"{done}/{total}\n")


def main() -> None:
    """Read the command line, generate, write the event file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True, help="1 to 900000000")
    parser.add_argument("--events", type=int, required=True)
    parser.add_argument("--out", required=True, metavar="FILE.npz")
    options = parser.parse_args()
    pythia = start_pythia(options.seed)
    particles = generate(pythia, options.events)
    np.savez_compressed(options.out, **particles)
    cross_section_pb = pythia.infoPython().sigmaGen() * 1e9
    print(f"{options.events} events, {len(particles['id'])} particles, {cross_section_pb:.0f} pb")


if __name__ == "__main__":
    main()
