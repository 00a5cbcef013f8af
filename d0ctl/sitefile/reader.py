"""From a site file to a Site: the way in."""

import posixpath
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from d0ctl.errors import BadJobFile
from d0ctl.jobfile import local_files
from d0ctl.jobfile.language.field_types import WrongError
from d0ctl.jobfile.language.template import Scope
from d0ctl.jobfile.sections.level import Level, Reading
from d0ctl.jobfile.source import mapping_of, text_of
from d0ctl.jobfile.yaml.document import Mapping, Sequence
from d0ctl.jobfile.yaml.faults import Faults, Place
from d0ctl.sitefile.archives import Looked, look
from d0ctl.sitefile.nodes import judge_clusters, read_clusters, read_nodes
from d0ctl.sitefile.settings import SETTINGS
from d0ctl.sitefile.software import read_software
from d0ctl.sitefile.spec import Site, SoftwareEntry

SECTIONS = ("nodes", "clusters", "software", *SETTINGS)

WITHOUT_EFFECT = {
    "nodes": {"speed": "has no effect yet"},
    "clusters": {"private": "has no effect yet", "capacity": "has no effect yet"},
    "software": {"runtime": "has no effect yet but on the progress of a chain of binaries"},
}
"""Keys that are kept and shown, but by which nothing goes yet."""

Look = Callable[[Path], Looked]


def read(path: Path, look: Look = look) -> Site:
    """Read and check a site file, archives included. Raises BadJobFile with every fault."""
    return read_text(text_of(path, "site file"), str(path), path.parent, look)


def read_text(
    text: str, source: str = "-", directory: Path | None = None, look: Look = look
) -> Site:
    """Read a site from a text; relative paths in it lie in `directory`."""
    faults = Faults(source, "a site file")
    root = mapping_of(text, faults, "`nodes` and `software`")
    reading = Reading(faults, local_files.absolute(str(directory or ".")), Scope())
    level = Level(root, "a site", SECTIONS, reading)
    found = {key: read(node, reading) for key, read in SETTINGS.items() if (node := level.get(key))}
    settings = {key: value for key, value in found.items() if value}
    site = Site(
        nodes=read_nodes(nodes, reading) if (nodes := level.get("nodes")) else (),
        clusters=read_clusters(nodes, reading) if (nodes := level.get("clusters")) else (),
        software=_software(level, settings, reading, look),
        settings=settings,
    )
    if (nodes := level.get("nodes")) and (clusters := level.get("clusters")):
        judge_clusters(nodes, clusters, reading)
    if faults:
        raise BadJobFile(faults.lines())
    _warn(level, reading)
    return replace(site, warnings=tuple(faults.warnings.lines()))


def _warn(level: Level, reading: Reading) -> None:
    """Warn of keys that have no effect yet, each once."""
    for section, keys in WITHOUT_EFFECT.items():
        node = level.get(section)
        entries = [value for _, value in node.items.values()] if isinstance(node, Mapping) else []
        for key, told in keys.items():
            for entry in node.items if isinstance(node, Sequence) else entries:
                if isinstance(entry, Mapping) and key in entry.items:
                    place = entry.items[key][0].place
                    reading.faults.warnings.add(place, f"`{key}` {told}")
                    break


def _software(
    level: Level, settings: dict[str, Any], reading: Reading, look: Look
) -> tuple[SoftwareEntry, ...]:
    node = level.get("software")
    if node is None:
        return ()
    server = settings.get("code-server")
    seen: dict[str, Looked] = {}
    return tuple(
        _judged(_placed(entry, server, reading.directory), place, seen, reading, look)
        for entry, place in read_software(node, reading)
    )


def _placed(entry: SoftwareEntry, server: str | None, directory: str) -> SoftwareEntry:
    """Give an archive its whole path or URL: it lies at the code server, or beside the file."""
    if entry.archive is None or "://" in entry.archive:
        return entry
    if server is not None and "://" in server and not entry.archive.startswith("/"):
        return replace(entry, archive=f"{server}/{entry.archive}")
    path = posixpath.normpath(local_files.absolute(server or directory, entry.archive))
    return replace(entry, archive=path)


def _judged(
    entry: SoftwareEntry, place: Place, seen: dict[str, Looked], reading: Reading, look: Look
) -> SoftwareEntry:
    """Hold what an entry says of its archive against the archive, if that is here."""
    if entry.archive is None:
        return entry
    if not entry.is_here:
        if not entry.archive.startswith(("http://", "https://", "file://")):
            reading.fault(place, "`archive` takes a path, or an http, https or file URL")
        elif entry.checksum is None:
            reading.fault(place, "an `archive` behind a URL needs its `checksum`")
        return entry
    try:
        found = seen[entry.archive] = seen.get(entry.archive) or look(Path(entry.archive))
    except WrongError as error:
        reading.fault(place, str(error))
        return entry
    for key in ("checksum", "size", "manifest"):
        said, real = getattr(entry, key), getattr(found, key)
        if said is not None and said != real:
            reading.fault(place, f"the `{key}` of `{entry.archive}` is {real}, not {said}")
    return replace(entry, checksum=found.checksum, size=found.size, manifest=found.manifest)
