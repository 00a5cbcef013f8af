"""`python -m tests.support.node FOLDER`: a node to try, behind a private sshd of this machine."""

import argparse
import shlex
import signal
import sys
from contextlib import suppress
from pathlib import Path

from tests.support import Missing
from tests.support.openssh import fingerprint
from tests.support.sshd import Sshd


def main() -> None:
    """Run an sshd until SIGINT or SIGTERM, and print how to add it as a node."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.support.node",
        description="Start an sshd on a free loopback port, print the command that adds it as a "
        "node, and end it with Ctrl-C. It needs no service and no account `sshd`, and lets only "
        "its own key in. Started again with the same folder it is the same node, with the packages "
        "that ran there lost.",
    )
    parser.add_argument("folder", type=Path, help="for its keys, its log and the home of logins")
    folder = parser.parse_args().folder.resolve()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with Sshd(folder, port=port_of(folder)) as sshd, suppress(KeyboardInterrupt):
            (folder / "port").write_text(str(sshd.port))
            print(shlex.join(added(sshd)), flush=True)
            signal.pause()
    except Missing as missing:
        sys.exit(f"d0ctl: {missing}")


def port_of(folder: Path) -> int:
    """Return the port of an earlier sshd of that folder, 0 if there was none."""
    kept = folder / "port"
    return int(kept.read_text()) if kept.exists() else 0


def added(sshd: Sshd) -> list[str]:
    """Return the command that adds it beside `localhost`, which is the same machine."""
    return ["d0ctl", "node", "add", sshd.folder.name, sshd.destination, "--identity",
            str(sshd.identity), "--accept-key", fingerprint(sshd), "--same-machine",
            "--cpus", "2"]  # fmt: skip


if __name__ == "__main__":
    main()
