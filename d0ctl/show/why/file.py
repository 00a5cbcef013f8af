"""Why a file exists or does not: its maker, its copies, and the packages that wait for it."""

from shlex import quote
from typing import Any

from msgspec import Struct

from d0ctl.model import Phase, phase_word
from d0ctl.select import parse
from d0ctl.show.why.common import MOST, Explanation
from d0ctl.show.why.files.file_copies import (
    absent,
    as_result,
    by_hand,
    copy_fact,
    found_fact,
    in_former_home,
    spread_fact,
    transfer_fact,
)
from d0ctl.show.why.files.last_copy import why_gone
from d0ctl.show.why.files.origin import add_origin
from d0ctl.show.why.files.readers import is_open, reader_facts
from d0ctl.show.why.package import package as explain_package
from d0ctl.show.why.phases import dropped_line
from d0ctl.store.clusters import replicas
from d0ctl.store.connection import Store
from d0ctl.store.files import inventory
from d0ctl.store.files.inventory import FoundCopy
from d0ctl.store.files.moved_home import previous_home
from d0ctl.store.jobs import retry
from d0ctl.store.views import browse, file_locations, one_package
from d0ctl.store.views.file_locations import CopyView, FileView, ReaderView, TransferView
from d0ctl.units import count, moment, size

MADE = frozenset({"present", "purged"})
"""The states of files that a run has made."""


class _AboutFile(Struct, frozen=True):
    """A file with its copies, transfers and readers, and the explanation to fill."""

    store: Store
    file: FileView
    copies: list[CopyView]
    transfers: list[TransferView]
    readers: list[ReaderView]
    explanation: Explanation
    now: float
    found_copies: list[FoundCopy]


def file(store: Store, view: FileView, now: float) -> Explanation:
    """Explain why a file exists or does not, and suggest commands."""
    about = _AboutFile(
        store, view, file_locations.copies(store, view.id),
        file_locations.transfers(store, view.id), file_locations.readers(store, view.id),
        Explanation(view.path, _state(view), ""), now,
        inventory.of_file(store, view.id, MOST),
    )  # fmt: skip
    about.explanation.phase = view.maker_phase
    _STATES[about.explanation.status](about)
    _locations(about)
    about.explanation.facts += [spread_fact(copy, now) for copy in replicas.of_file(store, view.id)]
    about.explanation.facts += reader_facts(store, view, about.readers)
    if about.explanation.status in MADE:
        add_origin(store, about.explanation, view, now)
    about.explanation.details["file"] = _document(about)
    return about.explanation


def _state(file: FileView) -> str:
    if file.maker is None:
        return "outside"
    if file.dropped:
        return "dropped"
    if file.present:
        return "partial" if file.partial else "present"
    if file.removed_by == "archive" or file.maker_phase in (Phase.DONE, Phase.TRANSFERRING):
        return "present" if file.late else "purged"
    return "missing" if file.size is None else "lost"


def _outside(about: _AboutFile) -> None:
    file, explanation = about.file, about.explanation
    ways = {reader.acquire for reader in about.readers}
    if file.locator is not None:
        origin = f"`{file.locator}`"
    elif ways == {"none"}:
        origin = "expected on the nodes (`acquire: none`), where d0ctl does not look for it"
    elif ways == {"self"}:
        origin = "fetched by the binaries that read it (`acquire: self`)"
    else:
        origin = f"{f'`{file.here}`' if str(file.here) != file.name else 'a file'} on this machine"
        if not file.here.exists():
            explanation.facts.append("it does not exist now, so packages that read it can't run")
        else:
            _found_again(about)
    explanation.answer = (
        f"file `{file.name}` of job `{file.job}` is made by no package: it is {origin}"
    )
    explanation.commands.append(f"d0ctl status {file.job}")


def _found_again(about: _AboutFile) -> None:
    """Say that a file exists which packages did not find, and how they read it at once."""
    file, explanation = about.file, about.explanation
    for phase in (Phase.COOLOFF, Phase.FAILED):
        paths = [reader.path for reader in about.readers if reader.phase == phase]
        if any(_did_not_find(about.store, path, file.name) for path in paths[:MOST]):
            several = quote(f"{file.job}:{phase}")
            explanation.commands.append(f"d0ctl retry {several if len(paths) > 1 else paths[0]}")
    if explanation.commands:
        explanation.facts.append("it exists now: a retry of packages that did not find it reads it")


def _did_not_find(store: Store, path: str, name: str) -> bool:
    """Return whether the last attempt at a package did not find a file."""
    package = browse.package(store, parse(path))
    return f"{name}`" in one_package.not_found(store, package.id)


def _present(about: _AboutFile) -> None:
    file = about.file
    if file.late:
        files = count(file_locations.matches(about.store, file.id), "file")
        about.explanation.answer = (
            f"`{file.name}` of job `{file.job}` stands for {files} that `{file.maker}` has made"
        )
    else:
        faults = [by_hand(copy, file) for copy in about.copies] or absent(about.store, file)
        is_lost = bool(faults) and all(faults)
        state = f"is recorded, but its copy {faults[0].partition(':')[0]}" if is_lost else "exists"
        about.explanation.answer = f"{_name(file)} {state}: {_size(file)}made by `{file.maker}`"
        about.explanation.facts += in_former_home(about.store, about.copies, is_lost=is_lost)
        if is_lost and not about.store.home.archive:
            _lost_copies(about)
        if "retain-indef" in (file.disposition or file.dispositions):
            fact = "it is kept even if no package needs it (`retain-indef`)"
            about.explanation.facts.append(fact)
            unneeded = f"d0ctl file set-disposition {quote(file.path)} deletable"
            about.explanation.commands.append(unneeded)
        _make_again(about)
    about.explanation.commands.append(f"d0ctl status {file.maker}")


def _make_again(about: _AboutFile) -> None:
    """Add how to reach nodes that are down and alone have a file, and how else packages get it."""
    is_away = bool(about.copies) and all(copy.state == "down" for copy in about.copies)
    if not is_away or about.file.locator:
        return
    names = {copy.node: None for copy in about.copies[:MOST]}
    about.explanation.commands += [f"d0ctl node check {name}" for name in names]
    if not any(map(is_open, about.readers)):
        return
    from d0ctl.show.why.causes.inputs_away import made_elsewhere  # late: few nodes are down

    again = made_elsewhere(about.store, [about.file], about.now)
    about.explanation.commands += [again] if again else []


def _lost_copies(about: _AboutFile) -> None:
    """Say how a file is found or made again whose copies are all gone or were changed."""
    explanation = about.explanation
    package = browse.package(about.store, parse(about.file.maker or ""))
    if previous_home(about.store):
        explanation.commands.append("d0ctl daemon start")
    elif lost := retry.unmakable(about.store.select([package.id])):
        explanation.facts.append("put it back: it can't be made again, as nothing makes "
                                 f"`{lost['name']}` any more, which was read")  # fmt: skip
    else:
        again = f"d0ctl set-status {about.file.maker} unscheduled"
        explanation.facts.append("put it back, or make it again; to count the packages that do: "
                                 f"{again} --dry-run")  # fmt: skip
        explanation.commands.append(again)


def _partial(about: _AboutFile) -> None:
    file = about.file
    about.explanation.answer = (
        f"{_name(file)} is partial: {_size(file)}written by `{file.maker}` before it was ended"
    )
    about.explanation.commands += [f"d0ctl why {file.maker}", f"d0ctl retry {file.maker}"]


def _purged(about: _AboutFile) -> None:
    file = about.file
    why = why_gone(about.store, file, about.found_copies, about.now)
    about.explanation.answer = f"{_name(file)} was made by `{file.maker}` and is gone: {why}"
    if about.readers and not about.store.home.archive:
        about.explanation.facts.append("it is made again if a package that reads it is retried")
    is_done = file.maker_phase == Phase.DONE
    is_kept = "retain" in (file.disposition or file.dispositions) or file.result or file.locator
    if is_done and about.readers and not is_kept:  # their end removes it once more
        keep = f"d0ctl file set-disposition {quote(file.path)} retain-indef"
        about.explanation.commands.append(f"{keep}   # keeps it on its node once it is made again")
    again = f"d0ctl set-status {file.maker} unscheduled" if is_done else f"d0ctl why {file.maker}"
    about.explanation.commands.append(again)


def _dropped(about: _AboutFile) -> None:
    file, explanation = about.file, about.explanation
    maker = _maker(about)
    if file.maker_phase == Phase.DROPPED:
        explanation.answer = f"{_name(file)} is dropped: {maker.answer}"
        explanation.facts, explanation.commands = maker.facts, maker.commands
        explanation.retries = maker.retries
        return
    line = (file.maker or "").rpartition("/")[0]
    explanation.answer = f"{_name(file)} is dropped: line `{line}` that made it was dropped"
    if file.line_dropped is not None:
        explanation.answer += f" {moment(file.line_dropped, about.now)}"
    explanation.facts.append(
        f"`{file.maker}` stays {phase_word(file.maker_phase)}, but no package reads its outputs"
    )
    package = browse.package(about.store, parse(file.maker or ""))
    dropped_line.add_restoring(about.store, explanation, package.line_id, about.now)


def _missing(about: _AboutFile) -> None:
    _unmade(about, "does not exist yet")


def _lost(about: _AboutFile) -> None:
    _unmade(about, "was made before, and will be made again")
    if about.file.removed is not None:
        fact = why_gone(about.store, about.file, about.found_copies, about.now)
        about.explanation.facts.append(fact)


def _unmade(about: _AboutFile, state: str) -> None:
    """Explain a missing file by the state of its maker."""
    maker, explanation = _maker(about), about.explanation
    because = maker.answer.replace(f"package `{maker.path}`", f"its maker `{maker.path}`", 1)
    explanation.answer = f"{_name(about.file)} {state}: {because}"
    explanation.facts, explanation.commands = maker.facts, maker.commands
    explanation.retries, explanation.stderr = maker.retries, maker.stderr
    explanation.details |= maker.details


def _maker(about: _AboutFile) -> Explanation:
    assert about.file.maker is not None
    package = browse.package(about.store, parse(about.file.maker))
    return explain_package(about.store, package, about.now)


_STATES = {
    "outside": _outside, "present": _present, "partial": _partial, "purged": _purged,
    "dropped": _dropped, "missing": _missing, "lost": _lost,
}  # fmt: skip


def _name(file: FileView) -> str:
    return f"file `{file.name}` of job `{file.job}`"


def _size(file: FileView) -> str:
    return f"{size(file.size)}, " if file.size is not None else ""


def _locations(about: _AboutFile) -> None:
    """Add its copies, its transfers, and its disposition."""
    facts, file = about.explanation.facts, about.file
    facts += [copy_fact(copy, file) for copy in about.copies[:MOST]]
    if len(about.copies) > MOST:
        facts.append(f"and {count(len(about.copies) - MOST, 'more copy', 'more copies')}")
    facts += [found_fact(copy, about.now) for copy in about.found_copies]
    facts += [f"it is stored at `{locator}`" for locator in file.stored_at]
    is_away = bool(about.copies) and all(copy.state == "down" for copy in about.copies)
    facts += [transfer_fact(transfer, is_away) for transfer in about.transfers[:MOST]]
    written = ", ".join(file.dispositions.split())
    if file.disposition:
        instead = f", in place of the {written} of its job file then" if written else ""
        facts.append(f"its disposition is {file.disposition}, as a person has set it{instead}")
    elif written:
        facts.append(f"its disposition is {written}")
    facts += as_result(about.store, file, about.copies)


def _document(about: _AboutFile) -> dict[str, Any]:
    file, lost = about.file, absent(about.store, about.file)
    return {
        "job": file.job, "file": file.name, "maker": file.maker, "maker_phase": file.maker_phase,
        "present": bool(file.present and not lost), "dropped": bool(file.dropped),
        "partial": bool(file.partial), "size": file.size, "checksum": file.checksum,
        "dispositions": file.dispositions.split(), "result": bool(file.result),
        "locator": file.locator, "stored": file.stored_at,
        "removed": None if file.present else file.removed,
        "removed_by": None if file.present else file.removed_by,
        "copies": [{"node": copy.node, "cluster": copy.cluster, "path": copy.path}
                   for copy in about.copies],
        "transfers": [{"to": "results" if transfer.result else transfer.cluster,
                       "tries": transfer.tries, "trouble": transfer.last_error}
                      for transfer in about.transfers],
        "found": [{"node": copy.node, "path": copy.path, "finding": copy.finding,
                   "noticed": copy.noticed} for copy in about.found_copies],
        "readers": [{"path": each.path, "phase": each.phase, "dropped": bool(each.dropped),
                     "missing": each.missing if each.phase == Phase.WAITING else 0}
                    for each in about.readers],
    }  # fmt: skip
