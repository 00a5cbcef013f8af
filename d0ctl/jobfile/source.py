"""From a file on this machine to its text and its tree, with faults where it has neither."""

from pathlib import Path

from d0ctl.errors import BadJobFile
from d0ctl.jobfile import local_files
from d0ctl.jobfile.sections.level import kind_of
from d0ctl.jobfile.yaml.document import MOST_CHARACTERS, Mapping, parse
from d0ctl.jobfile.yaml.faults import Faults, Place, did_you_mean, escape


def text_of(path: Path, what: str = "job file") -> str:
    """Read the text of a file. Raises BadJobFile where there is none."""
    try:
        with path.open("rb") as file:
            data = file.read(4 * MOST_CHARACTERS + 1)
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_text(path, what, data, error) from None
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def mapping_of(text: str, faults: Faults, keys: str) -> Mapping:
    """Read a text whose top level has keys. Raises BadJobFile where it has none."""
    root = parse(text.replace("\r\n", "\n").replace("\r", "\n"), faults)
    if isinstance(root, Mapping):
        return root
    what = "it is empty" if root is None else f"this is {kind_of(root)}"
    place = root.place if root is not None else Place(1, 1)
    faults.add(place, f"{faults.what} has keys such as {keys}; {what}")
    raise BadJobFile(faults.lines())


def _not_text(path: Path, what: str, data: bytes, error: UnicodeDecodeError) -> BadJobFile:
    before = data[: error.start]
    line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
    byte = data[error.start]
    told = f"the byte 0x{byte:02x} is no UTF-8 text, so this is no {what}"
    return BadJobFile([escape(f"{path}:{line}:{column}: {told}")])


def _unreadable(path: Path, error: Exception) -> BadJobFile:
    if isinstance(error, FileNotFoundError):
        hint = did_you_mean(path.name, local_files.beside(str(path.parent), path.name))
        return BadJobFile([escape(f"{path}: there is no such file{hint}")])
    reason = (getattr(error, "strerror", None) or str(error)).lower()
    return BadJobFile([escape(f"{path}: it can't be read: {reason}")])
