"""The text of a job file or site file on this machine, and its tree."""

from pathlib import Path

from msgspec.structs import replace

from d0ctl.errors import BadJobFile
from d0ctl.jobfile import local_files
from d0ctl.jobfile.sections.level import kind_of
from d0ctl.jobfile.spec import JobSpec
from d0ctl.jobfile.yaml.document import Mapping, Scalar
from d0ctl.jobfile.yaml.faults import Faults, Position, did_you_mean, escape
from d0ctl.jobfile.yaml.parser import MAX_CHARACTERS, parse


def text_of(path: Path, what: str = "job file") -> str:
    """Read the text of a file. Raises BadJobFile if it can't be read or is not text."""
    try:
        with path.open("rb") as file:
            data = file.read(4 * MAX_CHARACTERS + 1)
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_text(path, what, data, error) from None
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def mapping_of(text: str, faults: Faults, keys: str) -> Mapping:
    """Parse a text whose top level has keys. Raises BadJobFile if it has none."""
    root = parse(text.replace("\r\n", "\n").replace("\r", "\n"), faults)
    if isinstance(root, Mapping):
        return root
    problem = "it is empty" if root is None else f"this is {kind_of(root)}"
    position = root.position if root is not None else Position(1, 1)
    faults.add(position, f"{faults.what} needs keys such as {keys}; {problem}")
    raise BadJobFile(faults.lines())


def with_priority(spec: JobSpec, priority: int, previous: str) -> JobSpec:
    """Return a job with the priority that it has, unless its job file or the previous one sets it.

    Both texts have been read before; they are parsed only if the priority would change.
    """
    if spec.priority == priority or any(map(_sets_priority, (spec.text, previous))):
        return spec
    return replace(spec, priority=priority)


def _sets_priority(text: str) -> bool:
    return bool(text) and "priority" in mapping_of(text, Faults("-"), "`job`").items


def is_named_anew(spec: JobSpec, job: str, previous: str) -> bool:
    """Return whether a job file names another job, which the previous one of that job did not."""
    if not spec.named or spec.name == job:
        return False
    return not previous or _written_name(spec.text) != _written_name(previous)


def _written_name(text: str) -> str | None:
    _, node = mapping_of(text, Faults("-"), "`job`").items.get("job", (None, None))
    return node.text if isinstance(node, Scalar) else None


def _not_text(path: Path, what: str, data: bytes, error: UnicodeDecodeError) -> BadJobFile:
    before = data[: error.start]
    line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
    byte = data[error.start]
    message = f"the byte 0x{byte:02x} is not UTF-8, so this is not a {what}"
    return BadJobFile([escape(f"{path}:{line}:{column}: {message}")])


def _unreadable(path: Path, error: Exception) -> BadJobFile:
    if isinstance(error, FileNotFoundError):
        beside = local_files.beside(str(path.parent), path.name)
        hint = did_you_mean(str(path), [str(path.parent / name) for name in beside])
        return BadJobFile([escape(f"{path}: there is no such file{hint}")])
    reason = (getattr(error, "strerror", None) or str(error)).lower()
    return BadJobFile([escape(f"{path}: it can't be read: {reason}")])


def own_parameters(text: str) -> dict[str, str]:
    """Return the parameters that a job file itself gives a text; the text has been read before."""
    root = mapping_of(text, Faults("-"), "`job`")
    _, node = root.items.get("parameters", (None, None))
    if not isinstance(node, Mapping):
        return {}
    return {
        name: value.text for name, (_, value) in node.items.items() if isinstance(value, Scalar)
    }
