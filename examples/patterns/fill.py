"""fill.py SEED FILE: fill a histogram and a tree with 1000 masses."""

import sys

import numpy as np
import uproot

rng = np.random.default_rng(int(sys.argv[1]))
mass = rng.normal(91.2, 2.5, 1000)
with uproot.recreate(sys.argv[2]) as file:
    file["mass"] = np.histogram(mass, bins=60, range=(80, 110))
    file.mktree("z", {"mass": np.float64}).extend({"mass": mass})
