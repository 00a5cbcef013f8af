"""The command line: one module per command, each imported only when it is typed."""

import gc
import os
import sys


def _open_what_is_shut() -> None:
    """Open closed stdin, stdout or stderr to /dev/null, so that no opened file takes its number."""
    for mode, name in (("r", "stdin"), ("w", "stdout"), ("w", "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)  # gets the lowest number: the closed one
            os.set_inheritable(nowhere, True)
            setattr(sys, name, os.fdopen(nowhere, mode, encoding="utf-8"))


def _import_msgspec() -> None:
    """Import msgspec without `typing_extensions`, which it only prefers to `typing`.

    That module imports `inspect`, `ast` and `tokenize`: a sixth of the time of a reading command.
    """
    if "typing_extensions" in sys.modules:
        return
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules["typing_extensions"]


def main() -> None:
    """Run the command that was typed, and end with its exit code."""
    _open_what_is_shut()
    if sys.argv[1:] in (["--version"], ["-V"]):  # answered before anything is imported
        from d0ctl import __version__

        print(f"d0ctl {__version__}")
        return
    gc.disable()  # collecting garbage takes a fifth of the time of a short command
    try:
        if _answer():
            return
        from d0ctl.cli.app import app
    finally:
        gc.freeze()  # nor is it collected at the end
    gc.enable()
    app(prog_name="d0ctl")


def _answer() -> bool:
    """Answer commands that do not need Typer; return whether this was one."""
    if "_D0CTL_COMPLETE" in os.environ:
        from d0ctl.cli import direct_completion

        if (answer := direct_completion.answer(os.environ)) is not None:
            print(answer)
            return True
    _import_msgspec()
    from d0ctl.cli import fast_path

    if (call := fast_path.parse(sys.argv[1:])) is not None:
        fast_path.run(call)
        return True
    return False
