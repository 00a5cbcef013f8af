"""Software archives on this machine: their sizes, checksums and contents."""

from pathlib import Path

from msgspec import Struct

from d0ctl.jobfile.language.field_types import BadValueError
from d0ctl_wrapper.host import software_archive


class ArchiveContents(Struct, frozen=True):
    """An archive's size in bytes, checksum, number of files, and the checksum of their list."""

    size: int
    checksum: str
    files: int
    manifest: str


def inspect(path: Path) -> ArchiveContents:
    """Read a whole archive as a node would. Raises BadValueError if a node would refuse it."""
    try:
        with path.open("rb") as file:
            checksum = software_archive.copy(file, None, software_archive.no_pause)
            size = file.tell()
            file.seek(0)
            contents = software_archive.contents(file)
    except software_archive.BadArchive as error:
        raise BadValueError(f"archive `{path}`: {error}") from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BadValueError(f"archive `{path}` can't be read: {reason}") from error
    return ArchiveContents(
        size, checksum, len(contents), software_archive.manifest_checksum(contents)
    )
