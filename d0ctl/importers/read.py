"""Read a workflow of another program, by the form of its file."""

from pathlib import Path

from msgspec import Struct

from d0ctl.errors import BadJobFile, NotFound
from d0ctl.importers import dag_file, dagman, snakemake, wfcommons
from d0ctl.importers.draft import Draft, Unreadable

FORMATS = ("dagman", "wfcommons", "snakemake")
"""What can be read."""


class Imported(Struct, frozen=True):
    """The text of a job file, and a sentence for each thing that could not be carried over."""

    text: str
    left_out: tuple[str, ...]


def read(path: Path, form: str | None = None) -> Imported:
    """Read a file. Raises BadJobFile with the reason if it can't be read, NotFound."""
    if not path.exists():
        raise NotFound(f"there is no file `{path}`")
    draft = Draft(path.stem)
    try:
        text = dag_file.text_of(path, str(path))
        form = form or _form_of(text)
        if form == "dagman":
            dagman.read(path, draft)
        elif form == "wfcommons":
            wfcommons.read(text, path, draft)
        else:
            snakemake.read(text, path, draft)
    except Unreadable as error:
        raise BadJobFile([str(error)]) from error
    return Imported(draft.text(), tuple(draft.left_out))


def _form_of(text: str) -> str:
    """Tell what kind of file a text is of."""
    begin = text.lstrip()[:10]
    if begin.startswith("{"):
        return "snakemake" if '"links"' in text and '"workflow"' not in text else "wfcommons"
    return "snakemake" if begin.startswith("digraph") else "dagman"
