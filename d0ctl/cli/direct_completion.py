"""What TAB offers for common words, without Typer, whose import costs more than everything else.

Options, quotes, patterns and misspellings go to Typer, which gives the same answers.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from d0ctl.cli.completion_table import ARGUMENTS, COMMANDS, OFFERED, TEXT_OPTIONS

SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:")
"""Other characters, as in patterns, go to Typer."""


NOTHING = ":"
"""Says that not even files are offered: zsh carries it out, and the script for bash reads it."""

BASH = """
_d0ctl_completion() {
    local IFS=$'\n'
    COMPREPLY=( $( env COMP_WORDS="${COMP_WORDS[*]}" \\
                   COMP_CWORD=$COMP_CWORD \\
                   _D0CTL_COMPLETE=complete_bash $1 ) )
    if [[ ${COMPREPLY[0]} == : ]]; then COMPREPLY=(); compopt +o default; fi
    return 0
}

complete -o default -F _d0ctl_completion d0ctl
"""
"""The script for bash: that of Typer, and the line about files."""


def answer(environment: Mapping[str, str]) -> str | None:
    """Return the output for the shell; None if Typer has to answer."""
    shell = environment.get("_D0CTL_COMPLETE", "").removeprefix("complete_")
    if shell == "source_bash":
        return BASH
    is_split = False
    if shell == "bash":
        line, number = environment.get("COMP_WORDS", ""), environment.get("COMP_CWORD", "")
        typed = line.split()[1:]
        if not number.isdecimal() or len(typed) not in (int(number), int(number) - 1):
            return None
        is_begun = len(typed) == int(number)
        typed, is_split = _joined(typed)
    elif shell == "zsh" or (shell, environment.get("_TYPER_COMPLETE_FISH_ACTION")) == (
        "fish",
        "get-args",
    ):
        line = environment.get("_TYPER_COMPLETE_ARGS", "")
        typed = line.split()[1:]
        is_begun = bool(typed) and not line.endswith(" ")
    else:
        return None
    incomplete = typed.pop() if is_begun else ""
    if shell != "fish" and typed and _takes_text(typed[-1], typed):
        return NOTHING
    offered = _offered(typed, incomplete, shell)
    if is_split and offered:  # bash completes only the part behind the colon
        offered = [word[incomplete.rfind(":") + 1 :] for word in offered]
    return None if offered is None else _written(offered, shell)


def _takes_text(option: str, typed: Sequence[str]) -> bool:
    """Return whether the last typed word is an option whose value is a text of the user's."""
    return option in TEXT_OPTIONS and not {*OFFERED.get(option, ())} & {*typed}


def _joined(typed: Sequence[str]) -> tuple[list[str], bool]:
    """Join words that bash has split at colons; return whether the last one is joined."""
    arguments: list[str] = []
    is_open = is_split = False
    for word in typed:
        is_split = bool(arguments) and (is_open or word == ":")
        is_open = word == ":"
        if is_split:
            arguments[-1] += word
        else:
            arguments.append(word)
    return arguments, is_split


def _offered(typed: list[str], incomplete: str, shell: str) -> list[str] | None:
    if typed[:1] == ["--home"] and len(typed) > 1:
        from d0ctl.cli import session

        session.settings.home = Path(typed[1])
        typed = typed[2:]
    if not all(word[0] != "-" and SAFE.issuperset(word) for word in [*typed, incomplete or "a"]):
        return None
    group = typed[0] if typed and typed[0] in COMMANDS else ""
    rest = typed[1:] if group else typed
    if not rest:
        if shell != "bash":  # other shells show the help beside a command
            return None
        return [name for name in COMMANDS[group] if name.startswith(incomplete)]
    offers = ARGUMENTS.get(f"{group} {rest[0]}".strip())
    name = None if offers is None else _offer(offers, len(rest) - 1)
    if name is None or name == "-":
        return None if name is None else []
    from d0ctl.cli.terminal.offers import OFFERS

    return OFFERS[name](incomplete)


def _offer(offers: Sequence[str], position: int) -> str | None:
    """Return the offer for the argument at a position; one with `*` takes all that follow."""
    for number, offer in enumerate(offers):
        if offer.endswith("*"):
            return offer[:-1]
        if number == position:
            return offer
    return None


def _written(offered: Sequence[str], shell: str) -> str | None:
    if shell != "zsh":
        return "\n".join(offered)
    if not all(SAFE.issuperset(word) and ":" not in word for word in offered):
        return None
    quoted = "\n".join(f'"{word}"' for word in offered)
    return f"_arguments '*: :(({quoted}))'" if quoted else "_files"
