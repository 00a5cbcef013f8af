"""Expected failures of commands: one line for a person, and an exit code."""

import errno
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from d0ctl.access import unusable
from d0ctl.cli.session import home, in_home, reader, settings
from d0ctl.cli.terminal.output import is_terminal, say
from d0ctl.errors import Archived, BadJobFile, D0Error, ExitCode, NotANumber
from d0ctl.show.drawing.archived import in_archive, is_possible, run_again
from d0ctl.units import clean


@contextmanager
def reported_failures() -> Iterator[None]:
    """Run a command; print an expected error, and exit with its code."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except D0Error as error:
        report(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        end_line()
        sys.exit(ExitCode.INTERRUPTED)
    except BrokenPipeError:  # a reader that has closed the pipe
        forget_output()
        sys.exit(ExitCode.DONE)
    except OSError as error:
        if in_home(error):
            report(unusable(home().root, error))
            sys.exit(ExitCode.DATABASE)
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        forget_output()
        say(f"d0ctl: can't write the output: {error.strerror}")
        sys.exit(ExitCode.FAILED)


def end_line() -> None:
    """End the line on the terminal in which it has shown `^C`."""
    if is_terminal(sys.stderr):
        print(file=sys.stderr)


def forget_output() -> None:
    """Discard the rest of the output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def report(error: D0Error) -> None:
    """Print an error and its hint; with --debug the chain of causes, too."""
    if settings.debug:
        import traceback

        say("".join(traceback.format_exception(error)).rstrip())
    if isinstance(error, BadJobFile):
        for line in (*str(error).splitlines(), *error.warnings):
            say(clean(line))
        return
    say(f"d0ctl: {clean(str(error))}")
    for detail in error.details:
        say(f"  {clean(detail)}")
    if hint := _better_hint(error) or error.hint:
        say(in_archive(clean(hint), settings.archive))


def _better_hint(error: D0Error) -> str | None:
    """Return a hint that takes the typed command into account; None if there is none."""
    if isinstance(error, NotANumber):
        return _numbered(error.selector)
    typed = _typed()
    if not isinstance(error, Archived):
        return None
    if is_possible(typed, error.archive):
        return f"{typed} --archive {shlex.quote(error.archive)}"
    return None if error.is_pattern else run_again(typed, error.job, error.archive)


def _typed() -> str:
    """Return the typed command without the home, which `say` adds to commands."""
    arguments = [word for word in settings.typed if not word.startswith("--home=")]
    if "--home" in arguments:
        at = arguments.index("--home")
        del arguments[at : at + 2]
    return shlex.join(["d0ctl", *arguments])


def _numbered(selector: str) -> str | None:
    """Return what to type in place of the name of a line or package; None if there is none."""
    from d0ctl.store.views import selection  # late: only for such an error

    with suppress(D0Error), reader() as store, store.reading():
        numbers = selection.numbered(store, selector)
        return None if numbers is None else f"its number is in `{numbers}`"
    return None
