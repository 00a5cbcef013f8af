"""Which command a shell did not find (exit code 127) or could not run (126), or which file."""

import posixpath
import re
from contextlib import suppress
from pathlib import Path
from shlex import quote

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.jobfile.local_files import interpreter_of, is_program
from d0ctl.show.why.causes.correction import correction_of
from d0ctl.show.why.stopped_job import in_quotes
from d0ctl.store.connection import Store
from d0ctl.store.views import browse, one_package
from d0ctl.store.views.one_package import NodeFailure
from d0ctl.store.views.shapes.of_package import AttemptView, PackageView

_SHELL_MESSAGES = (
    r"(?:^|: )(?:line \d+: )?([^\s:][^:]*): "
    r"(?:No such file or directory|(?:command )?not found|Permission denied|cannot execute.*"
    r"|bad interpreter.*)$"
)
"""Messages of sh, bash and dash, with the command as the last name before."""

_FILE_MESSAGES = (
    r"(?i)No such file or directory: b?['\"](?P<python>[^'\"]+)['\"]"
    r"|(?:cannot|can't|could not|couldn't|unable to|failed to) (?:open|stat|access) "
    r"(?:the )?(?:input )?(?:file )?"
    r"['\"`‘]?(?P<opened>[^\s'\"`’:]+)"
    r"|(?:^|: )['\"`‘]?(?P<shell>[^\s:'\"`’]+)['\"’]?: No such file or directory"
    r"|file ['\"`‘]?(?P<root>[^\s'\"`’]+)['\"’]? does not exist"
    r"|No module named '(?P<module>\w+)'"
)
"""Messages of python, C++ programs, the usual tools and ROOT, with the name of the file."""


_LONGEST_LINE = 10_000
"""How many bytes of a first line are read."""

_NOT_STARTED = "can't start binary"
"""The message of a program that runs without a shell and was not found."""

_NO_FORMAT = "Exec format error"
"""The error of the kernel for a script without a `#!` line, or a program for other machines."""

_READ_BY_SHELL = re.compile(r"^([^\s:]+\.(?:py|pl|R)): (?:line )?\d+: ", re.MULTILINE)
"""How the messages of a shell begin that reads a script for another program."""

_CARRIAGE_RETURN = re.compile(r"\$'[^']*\\r'|\\r['’]: No such file")
"""What bash, env and the usual tools print of a name that ends with a carriage return."""

_TO_UNIX = r"sed -i 's/\r$//'"
"""The command that removes Windows line ends."""

_TYPOGRAPHIC = frozenset("‘’“”„")
"""Quotes of texts that were copied from a page or a document."""

_TOO_LONG = "Argument list too long"
"""The error of the kernel for arguments and an environment that it does not take."""


class Missing(Struct, frozen=True):
    """The missing thing, and what to do; whether a retry may help then."""

    fact: str
    may_retry: bool = True
    is_fixed: bool = False
    """Whether it was corrected since, so that a plain retry helps."""
    first: str = ""
    """The command that takes the corrected job file, if that is possible."""
    is_of_node: bool = False
    """Whether other nodes may have it."""


def missing(store: Store, package: PackageView, last: AttemptView) -> Missing | None:
    """Say which command or file was missing; None for other failures."""
    if _TOO_LONG in (last.message or ""):
        return Missing(correction_of(store, package).advice, may_retry=False)
    is_not_run = last.exit_code in (126, 127) or _NOT_STARTED in (last.message or "")
    if not is_not_run and not last.exit_code:
        return None
    command = Path(_name(last) or "").name if is_not_run else ""
    if found := _windows_lines(store, package, last, command):
        return found
    if found := _no_first_line(store, package, last):
        return found
    if not is_not_run:
        return _file(store, package, last)
    found = _command(store, package, last)
    return replace(found, is_of_node=found.may_retry and not found.is_fixed)


def _windows_lines(
    store: Store, package: PackageView, last: AttemptView, command: str
) -> Missing | None:
    """Return a script with Windows line ends: `command`, or one that its messages show."""
    text = f"{last.message or ''}\n{last.stderr or ''}"
    is_shown = _CARRIAGE_RETURN.search(text) is not None
    folder = Path(browse.directory(store, package.job_id))
    for file in one_package.inputs(store, package.id) if is_shown or command else ():
        path, base = folder / file.name, Path(file.local_name).name
        if (is_shown or base == command) and _has_windows_lines(path, is_named=base in text):
            return Missing(f"`{base}` has Windows line ends (`\\r\\n`), which `#!` and shells "
                           f"read as part of a name: {_TO_UNIX} {quote(str(path))}")  # fmt: skip
    fact = "a name in its messages ends with a carriage return: a script or a list of names has"
    return Missing(f"{fact} Windows line ends: {_TO_UNIX} FILE") if is_shown else None


def _no_first_line(store: Store, package: PackageView, last: AttemptView) -> Missing | None:
    """Return a script that lacks the line which says what reads it."""
    is_started = _NO_FORMAT not in (last.message or "")
    match = _READ_BY_SHELL.search(_messages(last)) if is_started else None
    name = match[1] if match else None if is_started else _name_before(_NO_FORMAT, last)
    folder = Path(browse.directory(store, package.job_id))
    for file in one_package.inputs(store, package.id) if name else ():
        path = str(folder / file.name)
        if Path(file.local_name).name != Path(name or "").name:
            continue
        if program := interpreter_of(path, by_shell=is_started):
            return Missing(f"`{name}` has no `#!` line: begin {quote(path)} with "
                           f"`#!/usr/bin/env {program}`")  # fmt: skip
        if Path(path).is_file() and _is_changed_since(Path(path), last):
            return Missing(f"`{name}` could not run, but {path} was changed since", is_fixed=True)
    if is_started:
        return None
    return Missing("its program is a script without a `#!` line, or is for other machines than "
                   f"node `{last.node_name}`")  # fmt: skip


def _name_before(error: str, last: AttemptView) -> str | None:
    match = re.search(rf"([^\s:]+): {error}", _messages(last))
    return match and match[1]


def _has_windows_lines(path: Path, *, is_named: bool) -> bool:
    """Return whether the first line of a script, or of a file that messages name, ends so."""
    with suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                line = file.readline(_LONGEST_LINE)
            return line.endswith(b"\r\n") and (is_named or line.startswith(b"#!"))
    return False


def _file(store: Store, package: PackageView, last: AttemptView) -> Missing | None:
    """Return a file in the folder of the job that is no input."""
    names = {Path(file.name).name for file in one_package.inputs(store, package.id)}
    folder = browse.directory(store, package.job_id)
    for match in re.finditer(_FILE_MESSAGES, _messages(last)):
        name = next(filter(None, match.groups())).rstrip(".,;") + (".py" if match["module"] else "")
        if Path(name).name not in names and _is_beside(folder, name):
            return _no_input(store, package, name)
    return None


def _is_beside(folder: str, name: str) -> bool:
    return not name.startswith("/") and (Path(folder) / name).is_file()


def _no_input(store: Store, package: PackageView, name: str) -> Missing:
    name = posixpath.normpath(name)
    has_inputs = bool(one_package.inputs(store, package.id))
    correction = correction_of(store, package)
    return Missing(
        f"`{name}` is {correction.folder} but is not an input, so it is not on the node: "
        f"{correction.add_input(name, has_inputs=has_inputs)}", may_retry=False,
        first=correction.update,
    )  # fmt: skip


def _command(store: Store, package: PackageView, last: AttemptView) -> Missing:
    name = _name(last)
    if name is None:
        word = "not executable" if _is_denied(last) else "not found"
        return Missing(f"a command was {word} on node `{last.node_name}`: its log says which")
    if "/" not in name and not _is_script(name, last):
        return _on_the_path(store, package, name, last)
    if name.startswith("/"):
        return _absolute(name, _nodes(store, package, last, name), last)
    return _beside(store, package, name, last)


def _is_script(name: str, last: AttemptView) -> bool:
    """Return whether the name is that of a script which bash reads: it is not on the PATH."""
    return f"bash: {name}: No such file or directory" in _messages(last).splitlines()


def _is_denied(last: AttemptView) -> bool:
    """Return whether the command is there, but not executable."""
    if _NOT_STARTED in (last.message or ""):
        return "Permission denied" in (last.message or "")
    return last.exit_code == 126


def _nodes(store: Store, package: PackageView, last: AttemptView, name: str) -> str:
    """Return in words the nodes on which a command of its stage was missing in the same way."""
    alike = one_package.alike_by_node(store, package.stage_id, last)
    nodes = {failure.node_name for failure in alike if _name(failure) == name} | {last.node_name}
    return f"{'node' if len(nodes) == 1 else 'nodes'} {in_quotes(sorted(nodes))}"


def _messages(last: AttemptView | NodeFailure) -> str:
    """Return its message and the end of stderr, with names relative to its directory."""
    text = f"{last.message or ''}\n{last.stderr or ''}"
    return re.sub(rf"/[^\s:'\"`‘]*/attempts/{last.id}/work/", "./", text)


def _name(last: AttemptView | NodeFailure) -> str | None:
    for line in reversed(_messages(last).splitlines()):
        if match := re.search(_SHELL_MESSAGES, line.strip()):
            is_raw = "not found" in match[0]  # as a shell prints it; other programs quote names
            return match[1] if is_raw else match[1].strip("'\"`‘’")
    return None


def _on_the_path(store: Store, package: PackageView, name: str, last: AttemptView) -> Missing:
    if any(Path(file.name).name == name for file in one_package.inputs(store, package.id)):
        return Missing(
            f"`{name}` is searched on the PATH, which lacks the working directory: write "
            f"`./{name}` for the input, then {correction_of(store, package).again}",
            may_retry=False,
        )  # fmt: skip
    if quotes := _TYPOGRAPHIC.intersection(name):
        return Missing(
            f"`{min(quotes)}` is no quote for the shell, but a part of the name `{name}`: write "
            f"a straight quote there (' or \"), then {correction_of(store, package).again}",
            may_retry=False,
        )  # fmt: skip
    nodes = _nodes(store, package, last, name)
    if _is_denied(last):
        return Missing(f"`{name}` is on the PATH of {nodes}, but is not executable there")
    return Missing(
        f"`{name}` is not on the PATH of {nodes}: install it there, "
        f"name its full path, or ship it as an input ({correction_of(store, package).ship(name)}); "
        "a PATH that was changed there counts after `d0ctl daemon restart`"
    )


def _absolute(name: str, nodes: str, last: AttemptView) -> Missing:
    if _is_denied(last):
        return Missing(f"`{name}` is not executable on {nodes}: chmod +x {quote(name)}")
    return Missing(f"`{name}` does not exist on {nodes}")


def _is_executable_since(path: Path, at: float) -> bool:
    """Return whether a file is executable, and was changed, or its mode, after a moment.

    One that is as it was failed for something else, such as the format of a binary.
    """
    return path.is_file() and is_program(str(path)) and path.stat().st_ctime > at


def _is_changed_since(path: Path, last: AttemptView) -> bool:
    return path.stat().st_mtime > (last.ended or 0.0)


def _beside(store: Store, package: PackageView, name: str, last: AttemptView) -> Missing:
    """Return a script that should be in the folder of the attempt."""
    folder = browse.directory(store, package.job_id)
    here = Path(folder) / name
    base = here.name
    is_input = any(Path(file.name).name == base for file in one_package.inputs(store, package.id))
    if _is_denied(last):
        if _is_executable_since(here, last.ended or 0.0):
            return Missing(f"`{name}` was not executable, but {here} is by now", is_fixed=True)
        where = f": chmod +x {quote(str(here))}" if here.is_file() else ""
        return Missing(f"`{name}` is not executable{where}")
    if is_input:
        if here.is_file() and _is_changed_since(here, last):
            return Missing(f"`{name}` could not run, but {here} was changed since", is_fixed=True)
        return Missing(
            f"`{base}` is an input, so the program on its first line (`#!`) is missing on node "
            f"`{last.node_name}`, or `{name}` is not its path there: d0ctl peek {package.path}"
        )
    if _is_beside(folder, name):
        return _no_input(store, package, name)
    correction = correction_of(store, package)
    return Missing(f"`{name}` is neither an input nor {correction.folder}: "
                   f"{correction.add_unknown_input()}", may_retry=False)  # fmt: skip
