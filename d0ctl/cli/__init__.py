"""The command line: one module per command, each imported only when it is typed."""

import gc
import os
import sys


def _open_closed_streams() -> None:
    """Open closed stdin, stdout or stderr to /dev/null, so that no opened file takes its number."""
    for mode, name in (("r", "stdin"), ("w", "stdout"), ("w", "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)  # gets the lowest number: the closed one
            os.set_inheritable(nowhere, True)
            setattr(sys, name, os.fdopen(nowhere, mode, encoding="utf-8"))


def _import_msgspec() -> None:
    """Import msgspec without two modules of which it needs nothing: a fifth of a reading command.

    `typing_extensions`, which it prefers to `typing`, imports `inspect`, `ast` and `tokenize`.
    `uuid` asks `platform`, which compiles ten patterns, only for the name of the system.
    """
    from types import SimpleNamespace

    system = SimpleNamespace(system=lambda: os.uname().sysname)
    instead = {"typing_extensions": None, "platform": system}
    instead = {name: module for name, module in instead.items() if name not in sys.modules}
    sys.modules.update(instead)  # type: ignore[arg-type]
    try:
        import msgspec  # noqa: F401
    finally:
        for name in instead:
            del sys.modules[name]


def main() -> None:
    """Run the command that was typed, and end with its exit code."""
    if run():
        _leave()


def run() -> bool:
    """Run the command that was typed; return whether it was a short one, which leaves nothing."""
    _open_closed_streams()
    if sys.argv[1:] in (["--version"], ["-V"]):  # answered before anything is imported
        from d0ctl import __version__

        print(f"d0ctl {__version__}")
        return True
    gc.disable()  # collecting garbage takes a fifth of the time of a short command
    try:
        if _answer():
            return True
        from d0ctl.cli.app import app
    finally:
        gc.freeze()  # nor is it collected at the end
    gc.enable()
    app(prog_name="d0ctl")
    return False


def _leave() -> None:
    """End the process at once: Python takes 3 ms to empty the modules that a command imported."""
    try:
        sys.stdout.flush()
    except OSError:
        return  # Python reports it at its end
    os._exit(0)


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
