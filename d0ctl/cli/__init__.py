"""The command line: one module a command, each imported only when it is typed."""

import sys


def main() -> None:
    """Run the command that was typed, and end with its exit code."""
    if sys.argv[1:] == ["--version"]:  # answered before anything is imported
        from d0ctl import __version__

        print(f"d0ctl {__version__}")
        return
    from d0ctl.cli.app import app

    app(prog_name="d0ctl")
