"""Read a workflow of another program, by the form of its file."""

import re
from pathlib import Path
from shlex import quote

from msgspec import Struct

from d0ctl.errors import BadJobFile, BadUsage
from d0ctl.importers import batch_script, dag_file, dagman, snakemake, wfcommons
from d0ctl.importers.draft import Draft, Unreadable
from d0ctl.jobfile.yaml.faults import did_you_mean
from d0ctl.plugins import installed, named
from d0ctl.units import clean, listed

_SNAKEFILE = re.compile(r"^(rule|checkpoint)(\s+\w+)?\s*:", re.MULTILINE)
_BATCH_LINE = re.compile(r"^#(PBS|BSUB)\s", re.MULTILINE)

FORMATS = ("dagman", "wfcommons", "snakemake")
"""The formats that can be read."""


MOST_SAID = 500
"""The longest reason, in characters: it may quote a file."""


MOST_READ = 100_000
"""How many characters of a script are looked at."""


class Imported(Struct, frozen=True):
    """The text of a job file, and a sentence for each thing that could not be converted."""

    text: str
    left_out: tuple[str, ...]


def read(path: Path, form: str | None = None) -> Imported:
    """Read a file. Raises BadJobFile with the reason if it can't be read."""
    if not path.exists():
        raise BadJobFile([clean(f"{path}: there is no such file")])
    draft = Draft(path.stem)
    if form is not None and form not in FORMATS:
        return _by_plugin(path, form)
    try:
        text = dag_file.text_of(path, str(path))
        form = form or _form_of(text)
        if (other := other_way(text, path)) is not None:
            raise Unreadable(other)
        if form == "dagman":
            dagman.read(path, draft)
        elif form == "wfcommons":
            wfcommons.read(text, path, draft)
        else:
            snakemake.read(text, path, draft)
    except Unreadable as error:
        text = clean(str(error))
        cut = text if len(text) <= MOST_SAID else f"{text[:MOST_SAID]}..."
        raise BadJobFile([cut]) from error
    return Imported(draft.text(), tuple(draft.left_out))


def _by_plugin(path: Path, form: str) -> Imported:
    """Have a plug-in read a file. Raises PluginFailed, and BadUsage if there is none."""
    plugin = named("importer", form)
    if plugin is None:
        known = (*FORMATS, *(plugin.name for plugin in installed("importer")))
        names = ", ".join(f"`{name}`" for name in known)
        raise BadUsage(f"`{form}` is not one of {names}{did_you_mean(form, known)}")
    workflow = plugin.call(path)
    if not isinstance(workflow, tuple) or len(workflow) != 2 or not isinstance(workflow[0], str):
        raise plugin.failed("must return the text of a job file, and a list of what is left out")
    left_out = tuple(plugin.items(workflow[1], "a list of what is left out"))
    if isinstance(workflow[1], str) or not all(isinstance(line, str) for line in left_out):
        raise plugin.failed("must return what is left out as a list of texts")
    return Imported(workflow[0], left_out)


def other_way(text: str, path: Path) -> str | None:
    """Say what to type for a file that people try to import, but can't; None for other files."""
    name = quote(path.name)
    if "\0" in text:
        return f"{path.name} is a binary file"
    if _SNAKEFILE.search(text):
        return (
            f"{path.name} is a Snakefile, and only its graph can be read: "
            f"`snakemake -s {name} --dag > flow.dot`, then `d0ctl import flow.dot`"
        )
    if re.search(r"^#SBATCH\s", text[:10_000], re.MULTILINE):
        return _of_slurm(path.name, batch_script.submission(text[:MOST_READ], path))
    if batch := _BATCH_LINE.search(text[:10_000]):
        return (f"{path.name} is a script, and d0ctl runs it without its lines "
                f"`#{batch[1]}`: `d0ctl submit --cpus N --memory SIZE -- ./{name}`")  # fmt: skip
    return None


def _of_slurm(name: str, found: batch_script.Submission) -> str:
    """Say what to type for a script of Slurm, and what that lacks."""
    lacks = f"; not translated: {', '.join(found.left_out)}" if found.left_out else ""
    if found.unnamed:
        files = listed(f"`{file}`" for file in found.unnamed)
        number = "-$SLURM_ARRAY_TASK_ID" if " --array " in found.command else ""
        lacks += f"; {files} would be lost: write a name such as `out{number}.txt` there, and "
        lacks += "add `--output 'out-{n}.txt'`" if number else "add `--output out.txt`"
    return (f"{name} is a script of Slurm: `{found.command}` (more under \"Slurm "
            f"scripts\" in docs/comparison.md){lacks}")  # fmt: skip


def _form_of(text: str) -> str:
    """Return the format of a text."""
    begin = text.lstrip()[:10]
    if begin.startswith("{"):
        is_list = '"nodes"' in text and '"workflow"' not in text
        return "snakemake" if is_list else "wfcommons"
    return "snakemake" if begin.startswith("digraph") else "dagman"
