"""Entry point on a node: `python3 -I -S PATH.pyz relay`."""

import sys


def main() -> None:
    """Run the relay if the command line says so, and exit with its code."""
    if sys.argv[1:] != ["relay"]:
        sys.exit("usage: python3 -I -S PATH relay")
    from d0ctl_wrapper.relay import main as relay

    sys.exit(relay.main())


if __name__ == "__main__":
    main()
