"""Entry point on a node: `python3 -I -S PATH.pyz relay`, or an end of a stream of files."""

import sys
from typing import Callable


def main() -> None:
    """Run what the command line says, and exit with its code."""
    words = sys.argv[1:]
    run: "Callable[[], int]"
    if words == ["relay"]:
        from d0ctl_wrapper.relay.main import main as run
    elif words == ["send"]:
        from d0ctl_wrapper.host.file_sender import main as run
    elif words == ["receive"]:
        from d0ctl_wrapper.host.file_receiver import main as run
    else:
        sys.exit("usage: python3 -I -S PATH relay|send|receive")
    sys.exit(run())


if __name__ == "__main__":
    main()
