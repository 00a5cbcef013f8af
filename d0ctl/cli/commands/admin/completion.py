"""`d0ctl completion`: put the completion script where the user's shell looks for it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from d0ctl.cli.terminal.fast_typer import group
from d0ctl.cli.terminal.output import emit
from d0ctl.errors import BadUsage, NotFound
from d0ctl.show.administration import completion_installed, completion_removed

app = group("Install or remove completion for bash, zsh and fish.")

SHELLS = ("bash", "zsh", "fish")

MARK = "# d0ctl completion"
"""The end of a line that d0ctl has added to a file of the user's."""

ASKED_S = 20.0
"""How long the start of an interactive bash may take."""

Shell = Annotated[
    str,
    typer.Option("--shell", metavar="SHELL", show_default=False,
                 help="bash, zsh or fish (default: the shell that runs this command)."),
]  # fmt: skip


@app.command()
def install(shell: Shell = "") -> None:
    """Write the completion script for a shell; new shells load it."""
    name = _name_of_shell(shell)
    file, text = _file(name), _script(name)
    changed = not file.is_file() or file.read_text() != text
    if changed:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    startup = _startup(name)
    added = startup is not None and _set_line(startup, _line(name, file))
    for line in completion_installed(name, file, startup if added else None,
                                     is_new=changed or added):  # fmt: skip
        emit(line)


@app.command()
def uninstall(shell: Shell = "") -> None:
    """Remove what `completion install` has written."""
    name = _name_of_shell(shell)
    file = _file(name)
    startup = Path.home() / ".bashrc" if name == "bash" else _startup(name)
    removed = startup is not None and _set_line(startup, None)
    if not removed and not file.exists():
        raise NotFound(f"there is no completion for {name} in `{file}`")
    file.unlink(missing_ok=True)
    emit(completion_removed(file, startup if removed else None))


def _name_of_shell(shell: str) -> str:
    """Return the requested shell, else the one that is the parent of this process, else $SHELL."""
    if shell in SHELLS:
        return shell
    if shell:
        raise BadUsage(f"there is no completion for `{shell}`", hint="--shell bash, zsh or fish")
    try:
        parent = Path(f"/proc/{os.getppid()}/comm").read_text().strip()
    except OSError:
        parent = ""
    for name in (parent, Path(os.environ.get("SHELL", "")).name):
        if name in SHELLS:
            return name
    raise BadUsage("the shell is not known", hint="d0ctl completion install --shell bash")


def _file(shell: str) -> Path:
    """Return where a shell looks for completions of this user; for zsh, what ~/.zshrc loads."""
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    if shell == "fish":
        return config / "fish" / "completions" / "d0ctl.fish"
    if shell == "zsh":
        return data / "zsh" / "site-functions" / "_d0ctl"
    folder = os.environ.get("BASH_COMPLETION_USER_DIR") or data / "bash-completion"
    return Path(folder) / "completions" / "d0ctl"


def _script(shell: str) -> str:
    """Return the completion script, as the program prints it."""
    done = subprocess.run(
        [sys.executable, "-m", "d0ctl"], env=os.environ | {"_D0CTL_COMPLETE": f"source_{shell}"},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip() + "\n"


def _startup(shell: str) -> Path | None:
    """Return the file in which a shell must be made to load completions; None if it does so."""
    if shell == "zsh":
        return Path(os.environ.get("ZDOTDIR") or Path.home()) / ".zshrc"
    if shell == "bash" and not _loads_completions():
        return Path.home() / ".bashrc"
    return None


def _loads_completions() -> bool:
    """Return whether an interactive bash loads completions when they are needed."""
    try:
        done = subprocess.run(
            ["bash", "-ic", "complete -p -D"], stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=ASKED_S, start_new_session=True, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return False
    return "complet" in done.stdout.partition("-F")[2]


def _line(shell: str, file: Path) -> str:
    quoted = "'" + str(file).replace("'", "'\\''") + "'"
    load = f"[ ! -r {quoted} ] || . {quoted}"
    if shell == "zsh":
        load = f"(( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit }}; {load}"
    return f"{load}  {MARK}"


def _set_line(file: Path, line: str | None) -> bool:
    """Have this line, or none, among the lines with d0ctl's mark; return whether that changed."""
    true = file.resolve()  # of a link into a folder of settings, the file itself is changed
    before = true.read_text() if true.exists() else ""
    unmarked = [entry for entry in before.splitlines() if not entry.endswith(MARK)]
    after = "".join(f"{entry}\n" for entry in [*unmarked, *([line] if line else [])])
    if line in before.splitlines() or (line is None and MARK not in before):
        return False
    part = true.with_name(f"{true.name}.d0ctl-new")
    part.write_text(after)
    if true.exists():
        part.chmod(true.stat().st_mode)
    part.replace(true)
    return True
