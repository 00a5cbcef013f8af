"""All that a process of d0ctl imports that drives packages; run, the driver of one job."""

import sys
import threading
from pathlib import Path

import d0ctl.__main__
import d0ctl.cli.app
import d0ctl.cli.commands.admin.daemon
import d0ctl.nodes.transports.connect  # noqa: F401
from d0ctl.config import Home
from d0ctl.daemon.drive import drive


def main() -> None:
    """Drive a job to its end: `HOME ID`."""
    drive(Home(Path(sys.argv[1])), int(sys.argv[2]), lambda counts: None, threading.Event())


if __name__ == "__main__":
    main()
