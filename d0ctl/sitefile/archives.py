"""The only place that looks into archives of software on this machine."""

from dataclasses import dataclass
from pathlib import Path

from d0ctl.jobfile.language.field_types import WrongError
from d0ctl_wrapper.host import archive


@dataclass(frozen=True, slots=True)
class Looked:
    """What is in an archive: size in bytes, checksum, how many files, and the checksum of these."""

    size: int
    checksum: str
    files: int
    manifest: str


def look(path: Path) -> Looked:
    """Read a whole archive as a node would. Raises WrongError where a node would refuse it."""
    try:
        with path.open("rb") as file:
            checksum = archive.copy(file, None, archive.nothing)
            size = file.tell()
            file.seek(0)
            found = archive.contents(file)
    except archive.Spoilt as error:
        raise WrongError(f"archive `{path}`: {error}") from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise WrongError(f"archive `{path}` can't be read: {reason}") from error
    return Looked(size, checksum, len(found), archive.seal(found))
