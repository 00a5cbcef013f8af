"""The table of JSON documents in docs/commands.md: what each is, and its keys."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

from d0ctl.cli.schemas.by_command import DOCUMENTS

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
HEAD = "| document | what it is | its keys |\n|---|---|---|\n"


def page() -> str:
    """The page with its table as the program has it."""
    before, _, rest = PAGE.read_text().partition(HEAD)
    _, _, after = rest.partition("\n\n")
    return before + HEAD + "\n".join(_rows()) + "\n\n" + after


def _rows() -> Iterator[str]:
    for name, shape in DOCUMENTS.items():
        keys = " ".join(f"`{key}`" for key in _keys(shape))
        yield f"| `{name}` | {_sentence(shape)} | {keys} |"


def _keys(shape: Any) -> list[str]:
    return [] if shape == dict[str, Any] else list(get_type_hints(shape))


def _sentence(shape: Any) -> str:
    if shape == dict[str, Any]:
        return "the sections of a [site file](sitefile.md); times in seconds, sizes in bytes"
    first = shape.__doc__.partition("\n")[0].rstrip(".")
    return str(first[:1].lower() + first[1:])
