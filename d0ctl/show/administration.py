"""What commands of administration say: backups, archives, plug-ins, completion, servers."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from d0ctl.plugins import Plugin
from d0ctl.show.drawing.sheet import Cell
from d0ctl.show.drawing.signs import Glyphs, glyph
from d0ctl.store.jobs.archive import Archive
from d0ctl.units import clean, count, listed, moment, size

if TYPE_CHECKING:
    from d0ctl.store.checks.repeated_jobs import Repeated
    from d0ctl.store.checks.restore_consequences import Difference, Newer, Stranded

NO_ARCHIVES = "no archives yet: d0ctl archive '*' --ended 90d creates one"

NOT_IN_BACKUPS = {
    "results": "results", "archive": "archives",
    "nodes": "logs and files of packages on this machine", "event.key": "the key of events",
    "site.yaml": "the site file", "templates": "templates of job files",
}  # fmt: skip
"""What else of a home a backup lacks, besides the keys of the site and of nodes."""

MOST_NAMED = 5
"""How many jobs of an archive, or packages, are named; the rest are counted."""

NO_PLUGINS = "no plug-ins are installed: docs/plugins.md says how to write one"


def written(file: Path, bytes_written: int) -> str:
    """Say where a backup is, and how large."""
    return f"the database is in `{clean(str(file))}`: {size(bytes_written)}"


def warnings(
    newer: "Newer | None", driver: Path | None, stop: str, first: Path | None
) -> Iterator[str]:
    """Say what a restored backup means for packages and nodes.

    `newer` packages were launched after it, `driver` is another home whose daemon works, and
    `stop` stops that; `first` is another home that is in use.
    """
    if newer is None:
        yield ("it is not known which packages were launched after the backup: their nodes end "
               "them at the next contact, and delete their logs and files")  # fmt: skip
    elif newer.packages:
        yield _newer(newer)
    if driver is not None:
        yield f"a daemon of this site runs in the home `{clean(str(driver))}`: only one can work"
        yield ("without a daemon, this home shows the backup, and the nodes delete nothing; to "
               "change over to this home:")  # fmt: skip
        yield stop
    elif first is not None:
        yield (f"the home in use is `{clean(str(first))}`: without a daemon, this one shows the "
               "backup, and the nodes delete nothing")  # fmt: skip


def _newer(newer: "Newer") -> str:
    """Say what happens to packages that a backup does not have: those that have ended, too."""
    is_one, all_run = newer.packages == 1, newer.packages == newer.running
    subject = count(newer.packages, "running package" if all_run else "package")
    some = f", {count(newer.running)} of them running," if newer.running and not all_run else ""
    whose = "its node" if is_one else "their nodes"
    s, it, its = ("s", "it", "its") if is_one else ("", "them", "their")
    ends = f"end{s} {it} at the next contact, and delete{s} {its} logs and files"
    goes = ends if newer.running else f"delete{s} {its} logs and files at the next contact"
    return (
        f"{subject}{some} {'was' if is_one else 'were'} launched after the backup: {whose} {goes}"
    )


def reach(last: float | None, difference: "Difference | None", now: float) -> Iterator[str]:
    """Say until when a backup reaches, what it lacks of the present database, and what only it has.

    Without `difference` there is no present database that can be read.
    """
    ends = "has no history" if last is None else f"ends at {moment(last, now)}"
    if difference is None:
        yield f"the backup {ends}; what came later is not known"
        return
    yield f"the backup {ends}, and {_lacking(difference)}"
    for things, names in (("job", difference.former_jobs), ("node", difference.former_nodes)):
        if names:
            yield f"only the backup has {count(len(names), things)}: {_named(names)}"
    if difference.lost_nodes:
        yield ("packages, logs and files on nodes that it lacks stay there until `d0ctl node add` "
               "adds these again")  # fmt: skip


def archived_too(archives: "Sequence[Repeated]") -> Iterator[str]:
    """Say which archives have jobs of the backup.

    Before the restore, an archive may be the only copy: no command is given that removes it.
    """
    for archive in archives:
        is_one = archive.jobs == 1
        be, their, them = ("is", "its", "it") if is_one else ("are", "their", "them")
        yield (f"{count(archive.jobs, 'job')} of the backup {be} in archive `{archive.archive}`, "
               f"too: {their} logs on nodes were removed, and `--with-archives` counts only what "
               f"the backup has of {them}")  # fmt: skip
    if any(archive.is_needless for archive in archives):
        yield "after the restore, `d0ctl doctor` says how to remove archives without other jobs"


def _lacking(difference: "Difference") -> str:
    jobs, changed = difference.lost_jobs, difference.changed_packages
    lacks = []
    if jobs:
        packages = count(difference.lost_packages, "package")
        lacks.append(f"{count(len(jobs), 'job')} with {packages} ({_named(jobs)})")
    if changed:
        others = ("package of another job", "packages of other jobs") if jobs else ("package",)
        lacks.append(f"changes of {count(changed, *others)}")
    if difference.lost_nodes:
        nodes = count(len(difference.lost_nodes), "node")
        lacks.append(f"{nodes} ({_named(difference.lost_nodes)})")
    if difference.actions:
        lacks.append(count(difference.actions, "action"))
    return f"lacks what came later: {listed(lacks)}" if lacks else "lacks nothing"


def _named(all_names: Sequence[str]) -> str:
    names, more = ", ".join(all_names[:MOST_NAMED]), len(all_names) - MOST_NAMED
    return clean(f"{names} and {more} more" if more > 0 else names)


def stranded(left: "Stranded | None") -> Iterator[str]:
    """Say which packages run where a restored home can't reach them, and what to do first."""
    if left is None:
        return
    is_one, names = len(left.packages) == 1, [shlex.quote(name) for name in left.nodes]
    packages, root = count(len(left.packages), "package"), clean(str(left.root))
    s, it = ("s", "it") if is_one else ("", "them")
    if not left.is_there:
        yield (f"when the backup was made, {packages} ran on the machine of the home `{root}`, in "
               f"its folder, and start{s} again here: {_named(left.packages)}")  # fmt: skip
        return
    yield (f"{packages} run{s} on this machine in the folder of `{root}`, where this home can't "
           f"reach {it}, and would run a second time: {_named(left.packages)}")  # fmt: skip
    yield f"before you change over, let {it} end, or kill {it}, and make a new backup:"
    home = f"d0ctl --home {shlex.quote(root)}"
    drain = f"{home} node drain {' '.join(names)}; " if names else ""
    yield f"{drain}{home} daemon start"


def would_restore(file: Path, database: Path) -> Iterator[str]:
    """Say what would be replaced or made, and what would be kept."""
    if not database.exists():
        yield f"would copy `{clean(str(file))}` to `{clean(str(database))}`"
    else:
        yield f"would replace `{clean(str(database))}` by `{clean(str(file))}`"
        yield "the current database would be kept beside it"
        yield "results, archives and keys would stay as they are"


def question(database: Path) -> str:
    """Return the question before a database is replaced."""
    return f"replace `{clean(str(database))}`?"


def restored(
    file: Path, previous: Path | None, home: Path, old: Path | None, *, is_new: bool,
    needs_key: bool,
) -> Iterator[str]:  # fmt: skip
    """Say where the database is from, where the previous one is, and what to type next.

    A home that `is_new` lacks the known hosts and what is NOT_IN_BACKUPS, and with `needs_key` a
    key for the attempts of the backup; `old` is where they may be.
    """
    yield f"restored the database from `{clean(str(file))}`"
    if previous is not None:
        yield f"the previous database is `{clean(str(previous))}`"
    source, target = "OLD_HOME" if old is None else clean(str(old)), f"{clean(str(home))}/"
    hosts = [] if old and not (old / "known_hosts").exists() else [f"{source}/known_hosts"]
    if needs_key:
        yield ("a backup has no keys: without `site.key` and `known_hosts` of the old home no "
               "package can start or report")  # fmt: skip
        if old is None:
            yield "copy `site.key.previous`, too, if it exists: it has keys of running packages"
        has_previous = old is not None and (old / "site.key.previous").exists()
        previous_keys = [f"{source}/site.key.previous"] if has_previous else []
        yield shlex.join(["cp", "-p", f"{source}/site.key", *previous_keys, *hosts, target])
    elif is_new and hosts:
        yield ("a backup has no keys of nodes: without `known_hosts` of the old home no machine "
               "is reached by ssh before its key is accepted")  # fmt: skip
        yield shlex.join(["cp", "-p", *hosts, target])
    there = [name for name in NOT_IN_BACKUPS if (is_new if old is None else (old / name).exists())]
    if there:
        lacks = listed([NOT_IN_BACKUPS[name] for name in there])
        want = "copy those that exist" if old is None else "to have them in this home, too"
        yield f"a backup does not have {lacks}; {want}:"
        paths = [f"{source}/{name}" for name in there]
        yield shlex.join(["cp", "-pHr" if is_new else "-pHru", *paths, target])
    if old is not None:
        yield f"to change over from `{clean(str(old))}`, and not to only look at the backup:"
    yield "d0ctl daemon start"


def not_counted(archives: Sequence[str], *, can_add: bool) -> str:
    """Say that figures lack archived jobs, and how these are read, or with `can_add` counted."""
    number, more = len(archives), len(archives) > 1
    how = f"--archive {'NAME' if more else shlex.quote(archives[0])}"
    how = "--with-archives counts all" if can_add else how
    return f"{count(number, 'archive')} {'are' if more else 'is'} not counted: {how}"


def missing_archives(home: Path, old: Path | None) -> Iterator[str]:
    """Say that jobs were archived, but not here; `old` is a home from which archives are copied."""
    where = f"no archives are in `{clean(str(home))}/archive`, although jobs were archived"
    if old is None:
        yield f"{where}: after a restore, copy the folder `archive` of the first home"
    else:
        yield f"{where}: copy them from the home of the backup"
        yield shlex.join(["cp", "-pHr", f"{clean(str(old))}/archive", f"{clean(str(home))}/"])


def archive_cells(archive: Archive) -> list[Cell]:
    """Return the row of an archive."""
    return [
        (clean(archive.name), "strong"),
        count(archive.packages, "package"),
        size(archive.size),
        _named(archive.jobs),
    ]


def plugin_cells(plugin: Plugin, problem: str | None, glyphs: Glyphs) -> list[Cell]:
    """Return the row of a plug-in; `problem` is why it can't be used."""
    return [
        glyph("failed" if problem else "successful", glyphs),
        plugin.kind,
        (clean(plugin.name), "strong"),
        clean(f"{plugin.package} {plugin.version}"),
        (clean(plugin.target), "faint"),
    ]


def completion_installed(
    shell: str, file: Path, startup: Path | None, *, is_new: bool
) -> Iterator[str]:
    """Say where the completion of a shell is; `startup` is the file that loads it from now on."""
    if not is_new:
        yield f"completion for {shell} is already in `{file}`"
        return
    yield f"wrote `{file}`"
    if startup is not None:
        yield f"added a line to `{startup}` that loads it"
    yield f"start a new {shell} to use it; to undo: d0ctl completion uninstall --shell {shell}"


def completion_removed(file: Path, startup: Path | None) -> str:
    """Say which file was removed, and from which file a line."""
    return f"removed `{file}`" + ("" if startup is None else f" and a line of `{startup}`")


ONLY_HERE = "only for this machine\n"
ONLY_OWN_PAGE = "only for its own page\n"

USED_LINK = "this link is not valid, or it was used before: start `d0ctl tui --web` again\n"


def serving(address: str, port: int, *, with_tls: bool) -> str:
    """Say where the REST interface is."""
    host = f"[{address}]" if ":" in address else address
    scheme = "https" if with_tls else "http"
    return f"serving {scheme}://{host}:{port}/v1 (its OpenAPI document: /v1/openapi.json)"


def to_open(link: str) -> str:
    """Say which link a person opens in a browser."""
    return f"open {link}"
