"""`d0ctl/api/verbs.py`: a method for each action on jobs and packages."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from d0ctl.actions.option import Field, fields_of
from d0ctl.actions.table import ACTIONS

MODULE = Path(__file__).parents[2] / "d0ctl" / "api" / "verbs.py"

BY_HAND = {"clone", "submit"}
"""Actions that return a job, which the classes have themselves."""

HEAD = '''\
"""The actions on jobs and packages as methods, which `make schemas` writes from their table."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from d0ctl.api.done import Done


class Verbs(ABC):
    """A method for each action; `reason` is kept with who and when, `dry_run` changes nothing.

    Each raises NotFound, Refused or BadUsage as its command does; with `keep_going`, each job and
    selector is an action of its own, and what is refused is in `failures` of the result.
    """

    @abstractmethod
    def _act(
        self,
        name: str,
        options: Mapping[str, Any],
        reason: str | None,
        dry_run: bool,
        keep_going: bool = False,
    ) -> "Done":
        """Carry an action out."""
'''


def module() -> str:
    """Return the module."""
    text = HEAD + "".join(
        _method(action.name, action.help, fields_of(action.options))
        for name, action in ACTIONS.items()
        if action.level in ("any", "line", "job") and name not in BY_HAND
    )
    ruff = Path(sys.executable).with_name("ruff")
    words: list[str | Path] = [ruff, "format", "--stdin-filename", MODULE, "-"]
    done = subprocess.run(words, input=text, stdout=subprocess.PIPE, text=True, check=True)
    return str(done.stdout)


def _method(name: str, help: str, fields: list[Field]) -> str:
    needed = [field.name for field in fields if field.option.is_argument]
    own = [f"{name}: str | int" for name in needed]
    named = [
        *(f"{field.name}: {_type(field)}" for field in fields if not field.option.is_argument),
        "reason: str | None = None",
        "dry_run: bool = False",
        "keep_going: bool = False",
    ]
    given = ", ".join(f'"{field.name}": {field.name}' for field in fields)
    return f'''
    def {name.replace("-", "_")}(
        {", ".join(["self", *own, "*", *named])},
    ) -> "Done":
        """{_words(help)}{"".join(_described(fields))}"""
        return self._act("{name}", {{{given}}}, reason, dry_run, keep_going)
'''


def _words(text: str) -> str:
    """A sentence of the command line, with options as arguments are written."""
    return re.sub(r"--([a-z-]+)", lambda found: f"`{found[1].replace('-', '_')}`", text)


def _described(fields: list[Field]) -> Iterator[str]:
    if fields:
        yield "\n\n" + "\n".join(f"        {one.name}: {_words(one.option.help)}" for one in fields)
        yield "\n        "


def _type(field: Field) -> str:
    option: Any = field.option
    if option.kind == "flag":
        return "bool = False"
    if option.kind == "list":
        return "Mapping[str, object] | None = None" if field.default == {} else "Sequence[str] = ()"
    return "str | float | None = None"
