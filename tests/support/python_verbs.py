"""`d0ctl/api/verbs.py`: a method for each action."""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import MISSING
from pathlib import Path
from typing import Any

from d0ctl.actions.option import Field, fields_of
from d0ctl.actions.table import ACTIONS

MODULE = Path(__file__).parents[2] / "d0ctl" / "api" / "verbs.py"

BY_HAND = {"clone", "submit"}
"""Actions that return a job, which the classes have themselves."""

HEAD = '''\
"""The actions as methods, which `make schemas` writes from their table."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from d0ctl.actions.action import Target
from d0ctl.api.acting import carry_out_each, requests
from d0ctl.api.done import Done
from d0ctl.config import Home


class Acting(ABC):
    """What actions are methods of; `reason` is recorded; with `dry_run` nothing is done.

    Each method raises NotFound, Refused or BadUsage as its command does. With `keep_going`, what
    is refused is in `failures` of the result, and the others are done.
    """

    home: Home

    @abstractmethod
    def _targets(self, keep_going: bool) -> Iterable[Target]:
        """Return what an action is carried out on, one after the other."""

    def _act(
        self,
        name: str,
        options: Mapping[str, Any],
        reason: str | None,
        dry_run: bool,
        keep_going: bool = False,
    ) -> Done:
        wanted = requests(name, self._targets(keep_going), options)
        return carry_out_each(self.home, wanted, reason, dry_run, keep_going)
'''

CLASSES = {
    "Verbs": ("The actions on jobs and packages.", {"any", "line", "job"}),
    "NodeVerbs": ("The actions on nodes, one after the other.", {"node", "new node"}),
    "ClusterVerbs": ("The actions on clusters.", {"cluster"}),
    "ResearcherVerbs": ("The actions on researchers.", {"researcher"}),
    "FileVerbs": ("The actions on files, one selector after the other.", {"file"}),
    "TaskVerbs": ("The actions on tasks.", {"task"}),
    "TokenVerbs": ("The actions on tokens of the REST interface.", {"token"}),
    "ThrottleVerbs": ("The actions on throttles.", {"throttle"}),
}
"""The classes of the module: what they are, and the levels of their actions."""


def module() -> str:
    """Return the module."""
    text = HEAD + "".join(_class(name, *of) for name, of in CLASSES.items())
    ruff = Path(sys.executable).with_name("ruff")
    words: list[str | Path] = [ruff, "format", "--stdin-filename", MODULE, "-"]
    done = subprocess.run(words, input=text, stdout=subprocess.PIPE, text=True, check=True)
    return str(done.stdout)


def _class(name: str, what: str, levels: set[str]) -> str:
    return f'\n\nclass {name}(Acting):\n    """{what}"""\n' + "".join(
        _method(verb, action.help, fields_of(action.options))
        for verb, action in ACTIONS.items()
        if action.level in levels and verb not in BY_HAND
    )


def _method(name: str, help: str, fields: list[Field]) -> str:
    words = [field for field in fields if field.option.is_argument]
    own = [f"{field.name}: {_argument_type(field)}" for field in words]
    named = [
        *(f"{field.name}: {_type(field)}" for field in fields if not field.option.is_argument),
        "reason: str | None = None",
        "dry_run: bool = False",
        "keep_going: bool = False",
    ]
    given = ", ".join(f'"{field.name}": {field.name}' for field in fields)
    return f'''
    def {name.rpartition(" ")[2].replace("-", "_")}(
        {", ".join(["self", *own, "*", *named])},
    ) -> Done:
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


def _argument_type(field: Field) -> str:
    if field.option.kind == "arguments":
        return "str | Sequence[str] = ()"
    return "str | int" if field.default is MISSING else "str | None = None"


def _type(field: Field) -> str:
    option: Any = field.option
    if option.kind == "flag":
        return "bool = False"
    if option.kind == "list":
        return (
            "Mapping[str, object] | None = None"
            if field.default == {}
            else "str | Sequence[str] = ()"
        )
    return "str | float | None = None"
