"""The only entry on a node: `python3 -I -S PATH.pyz relay`."""

import sys


def main() -> int:
    """Start what the command line names."""
    if sys.argv[1:] != ["relay"]:
        sys.stderr.write("usage: python3 -I -S PATH relay\n")
        return 2
    from d0ctl_wrapper import relay

    return relay.main()


if __name__ == "__main__":
    sys.exit(main())
