"""`d0ctl/api/verbs.pyi`: the types of the methods that are made from the table of actions."""

import subprocess
import sys
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from textwrap import indent
from typing import Any

from d0ctl.api import verbs

MODULE = Path(__file__).parents[2] / "d0ctl" / "api" / "verbs.pyi"

HEAD = '''\
"""The actions as methods, with their types; `make schemas` writes them from their table."""

from abc import ABCMeta
from collections.abc import Mapping, Sequence

from d0ctl.api.done import Done
from d0ctl.api.methods import Acting
'''


def module() -> str:
    """Return the module."""
    kinds = [
        kind for kind in vars(verbs).values() if getattr(kind, "__module__", "") == verbs.__name__
    ]
    text = HEAD + "".join(map(_class, kinds))
    ruff = Path(sys.executable).with_name("ruff")
    words: list[str | Path] = [ruff, "format", "--stdin-filename", MODULE, "-"]
    done = subprocess.run(words, input=text, stdout=subprocess.PIPE, text=True, check=True)
    return str(done.stdout)


def _class(kind: type) -> str:
    methods = [getattr(kind, name) for name in list(vars(kind)) if not name.startswith("_")]
    return (
        f'\n\nclass {kind.__name__}(Acting, metaclass=ABCMeta):\n    """{kind.__doc__}"""\n'
        + "".join(indent(_method(method), "    ") for method in methods)
    )


def _method(method: Callable[..., Any]) -> str:
    types = str(signature(method)).replace("collections.abc.", "").replace("d0ctl.api.done.", "")
    help = str(method.__doc__)
    end = "\n" if "\n" in help else ""
    return f"\ndef {method.__name__}{types}:\n" + indent(f'"""{help}{end}"""\n', "    ")
