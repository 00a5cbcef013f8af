"""Run a job, and have the public validator check the RO-Crates of it and of one of its files."""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CASE = Path(__file__).parents[2] / "examples" / "cases" / "case1.yaml"

D0CTL = (sys.executable, "-m", "d0ctl")

VALIDATOR = Path(__file__).with_name("validator.py")


def main() -> int:
    """Return the exit code of the validator."""
    parser = argparse.ArgumentParser(prog="python -m tests.crates", description=__doc__)
    parser.add_argument("python", help="the python that has roc-validator")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="d0ctl-crates-") as folder:
        environment = os.environ | {"D0CTL_HOME": f"{folder}/home"}
        run = [*D0CTL, "run", str(CASE), "--as", "histograms"]
        subprocess.run(run, env=environment, check=True)
        paths = []
        for what in ("histograms", "histograms:histogram.txt"):
            paths.append(Path(folder, f"{what.replace(':', '-')}.json"))
            with paths[-1].open("w") as file:
                export = [*D0CTL, "export", what, "--format", "ro-crate"]
                subprocess.run(export, env=environment, check=True, stdout=file)
        return subprocess.run([options.python, VALIDATOR, *paths], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
