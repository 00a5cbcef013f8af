"""Read a site file and return a Site."""

import posixpath
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from d0ctl.errors import BadJobFile
from d0ctl.jobfile import local_files
from d0ctl.jobfile.language.field_types import BadValueError
from d0ctl.jobfile.language.placeholders import Scope
from d0ctl.jobfile.sections.level import Level, Reading
from d0ctl.jobfile.source import mapping_of, text_of
from d0ctl.jobfile.yaml.document import Mapping
from d0ctl.jobfile.yaml.faults import Faults, Position, few_comparisons
from d0ctl.sitefile import own_cluster
from d0ctl.sitefile.nodes import check_clusters, read_clusters, read_nodes
from d0ctl.sitefile.people.researchers import check_private
from d0ctl.sitefile.people.shares import check_known, check_throttled
from d0ctl.sitefile.platforms import check_platforms
from d0ctl.sitefile.settings import SETTINGS
from d0ctl.sitefile.software import read_software
from d0ctl.sitefile.software_archives import ArchiveContents, inspect
from d0ctl.sitefile.spec import Site, SoftwareEntry

SECTIONS = ("nodes", "clusters", "software", *SETTINGS)

Inspect = Callable[[Path], ArchiveContents]


def read(path: Path, inspect: Inspect = inspect) -> Site:
    """Read and check a site file, archives included. Raises BadJobFile with every fault."""
    return read_text(text_of(path, "site file"), str(path), path.parent, inspect)


@few_comparisons()
def read_text(
    text: str, source: str | None = "-", directory: Path | None = None, inspect: Inspect = inspect
) -> Site:
    """Read a site from a text; its relative paths are relative to `directory`.

    Without a source, as of a generated text, faults have no position.
    """
    faults = Faults(source, "a site file")
    root = mapping_of(text, faults, "`nodes` and `software`")
    own_cluster.rename(root, faults)
    reading = Reading(faults, local_files.absolute(str(directory or ".")), Scope())
    level = Level(root, "a site", SECTIONS, reading)
    found = {key: read(node, reading) for key, read in SETTINGS.items() if (node := level.get(key))}
    settings = {key: value for key, value in found.items() if value}
    site = Site(
        nodes=read_nodes(nodes, reading) if (nodes := level.get("nodes")) else (),
        clusters=read_clusters(nodes, reading) if (nodes := level.get("clusters")) else (),
        software=_software(level, settings, reading, inspect),
        settings=settings,
    )
    if (nodes := level.get("nodes")) and (clusters := level.get("clusters")):
        check_clusters(nodes, clusters, reading)
    if "platforms" in level:
        check_platforms(level, reading)
    if throttles := level.get("throttles"):
        check_throttled(throttles, _names(level, "researchers"), _names(level, "nodes"), reading)
    if researchers := level.get("researchers"):
        check_private(researchers, level.get("clusters"), reading)
        if shares := level.get("shares"):
            check_known(shares, settings.get("researchers", {}), reading)
    if faults:
        raise BadJobFile(faults.lines(), faults.warnings.lines())
    return replace(site, warnings=tuple(faults.warnings.lines()))


def _names(level: Level, section: str) -> Collection[str]:
    """Return the names in a section, also those of entries with faults."""
    node = level.get(section)
    return node.items.keys() if isinstance(node, Mapping) else ()


def _software(
    level: Level, settings: dict[str, Any], reading: Reading, inspect: Inspect
) -> tuple[SoftwareEntry, ...]:
    node = level.get("software")
    if node is None:
        return ()
    server = settings.get("code-server")
    seen: dict[str, ArchiveContents] = {}
    return tuple(
        _compared_with_archive(
            _with_full_path(entry, server, reading.directory), position, seen, reading, inspect
        )
        for entry, position in read_software(node, reading)
    )


def _with_full_path(entry: SoftwareEntry, server: str | None, directory: str) -> SoftwareEntry:
    """Give an archive its full path or URL, at the code server or beside the site file."""
    if entry.archive is None or "://" in entry.archive:
        return entry
    if server is not None and "://" in server and not entry.archive.startswith("/"):
        return replace(entry, archive=f"{server}/{entry.archive}")
    path = posixpath.normpath(local_files.absolute(server or directory, entry.archive))
    return replace(entry, archive=path)


def _compared_with_archive(
    entry: SoftwareEntry,
    position: Position,
    seen: dict[str, ArchiveContents],
    reading: Reading,
    inspect: Inspect,
) -> SoftwareEntry:
    """Compare an entry with its archive, if that is on this machine."""
    if entry.archive is None:
        return entry
    if not entry.is_here:
        if not entry.archive.startswith(("http://", "https://", "file://")):
            reading.fault(position, "`archive` takes a path, or an http, https or file URL")
        elif entry.checksum is None:
            reading.fault(position, "an `archive` behind a URL needs its `checksum`")
        return entry
    try:
        contents = seen[entry.archive] = seen.get(entry.archive) or inspect(Path(entry.archive))
    except BadValueError as error:
        reading.fault(position, str(error))
        return entry
    for key in ("checksum", "size", "manifest"):
        written, real = getattr(entry, key), getattr(contents, key)
        if written is not None and written != real:
            reading.fault(position, f"the `{key}` of `{entry.archive}` is {real}, not {written}")
    return replace(
        entry, checksum=contents.checksum, size=contents.size, manifest=contents.manifest
    )
