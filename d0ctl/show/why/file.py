"""Why a file is there or is not: who makes it, where it lies, who waits for it."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from d0ctl.model import STATUS_OF, Phase, Status
from d0ctl.select import parse
from d0ctl.show.why.common import MOST, Explanation
from d0ctl.show.why.package import package as explain_package
from d0ctl.store.connection import Store
from d0ctl.store.views import browse, file_locations
from d0ctl.store.views.file_locations import CopyView, FileView, ReaderView, TransferView
from d0ctl.units import count, listed, moment, size

ENDED = frozenset({Status.SUCCESSFUL, Status.CANCELED})
"""Packages in these statuses read nothing any more, nor does what is transferring."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A file to explain with all that hangs on it, and the explanation to fill."""

    store: Store
    file: FileView
    copies: list[CopyView]
    transfers: list[TransferView]
    readers: list[ReaderView]
    told: Explanation
    now: float


def file(store: Store, one: FileView, now: float) -> Explanation:
    """Why a file is there or is not, and what to type about it."""
    found = _Found(
        store, one, file_locations.copies(store, one.id), file_locations.transfers(store, one.id),
        file_locations.readers(store, one.id), Explanation(one.path, _state(one), ""), now,
    )  # fmt: skip
    found.told.phase = one.maker_phase
    _STATES[found.told.status](found)
    _whereabouts(found)
    _readers(found)
    found.told.details["file"] = _document(found)
    return found.told


def _state(one: FileView) -> str:
    if one.maker is None:
        return "outside"
    if one.dropped:
        return "dropped"
    if one.present:
        return "partial" if one.partial else "present"
    if one.maker_phase in (Phase.DONE, Phase.TRANSFERRING):
        return "purged"
    return "missing" if one.size is None else "lost"


def _outside(found: _Found) -> None:
    one, told = found.file, found.told
    ways = {reader.acquire for reader in found.readers}
    if one.locator is not None:
        origin = f"`{one.locator}`"
    elif ways == {"none"}:
        origin = "what lies on the nodes, where nothing is brought"
    elif ways == {"self"}:
        origin = "where the binaries that read it fetch it themselves"
    else:
        origin = f"{f'`{one.here}`' if str(one.here) != one.name else 'a file'} on this machine"
        if not one.here.exists():
            told.facts.append("it is not there now, so whoever reads it can't have it")
    told.answer = f"file `{one.name}` of job `{one.job}` is made by no package: it is {origin}"
    told.commands.append(f"d0ctl status {one.job}")


def _present(found: _Found) -> None:
    one = found.file
    if one.late:
        number = file_locations.matches(found.store, one.id)
        found.told.answer = (f"`{one.name}` of job `{one.job}` stands for {count(number, 'file')} "
                             f"that `{one.maker}` has made")  # fmt: skip
    else:
        found.told.answer = f"{_name(one)} is there: {_weight(one)}made by `{one.maker}`"
        if "retain-indef" in (one.disposition or one.dispositions):
            told = "it stays when nobody needs it any more (`retain-indef`), until it is given up"
            found.told.facts.append(told)
            found.told.commands.append(f"d0ctl file set-disposition '{one.path}' deletable")
    found.told.commands.append(f"d0ctl status {one.maker}")


def _partial(found: _Found) -> None:
    one = found.file
    found.told.answer = (f"{_name(one)} is there in part: {_weight(one)}as far as `{one.maker}` "
                         "had come when it was ended")  # fmt: skip
    found.told.commands += [f"d0ctl why {one.maker}", f"d0ctl retry {one.maker}"]


def _purged(found: _Found) -> None:
    one = found.file
    found.told.answer = (f"{_name(one)} was made by `{one.maker}` and is gone: "
                         "it was removed when nobody needed it any more")  # fmt: skip
    found.told.facts.append("a package that reads it and is retried has it made again")
    is_done = one.maker_phase == Phase.DONE
    again = f"d0ctl set-status {one.maker} unscheduled" if is_done else f"d0ctl why {one.maker}"
    found.told.commands.append(again)


def _dropped(found: _Found) -> None:
    one, told = found.file, found.told
    maker = _maker(found)
    if one.maker_phase == Phase.DROPPED:
        told.answer = f"{_name(one)} is dropped: {maker.answer}"
        told.facts, told.commands = maker.facts, maker.commands
        return
    line = (one.maker or "").rpartition("/")[0]
    told.answer = f"{_name(one)} is dropped: line `{line}` that made it was dropped"
    if one.line_dropped is not None:
        told.answer += f" {moment(one.line_dropped, found.now)}"
    told.facts.append(f"`{one.maker}` stays {one.maker_phase}, but nobody reads what it made")
    told.commands.append(f"d0ctl restore-line {line}")


def _missing(found: _Found) -> None:
    _unmade(found, "is not there yet")


def _lost(found: _Found) -> None:
    _unmade(found, "was made, is gone, and is to be made again")


def _unmade(found: _Found, words: str) -> None:
    """Tell that a file is not there by what its maker is at."""
    maker, told = _maker(found), found.told
    because = maker.answer.replace(f"package `{maker.path}`", f"its maker `{maker.path}`", 1)
    told.answer = f"{_name(found.file)} {words}: {because}"
    told.facts, told.commands, told.stderr = maker.facts, maker.commands, maker.stderr
    told.details |= maker.details


def _maker(found: _Found) -> Explanation:
    assert found.file.maker is not None
    one = browse.package(found.store, parse(found.file.maker))
    return explain_package(found.store, one, found.now)


_STATES = {
    "outside": _outside, "present": _present, "partial": _partial, "purged": _purged,
    "dropped": _dropped, "missing": _missing, "lost": _lost,
}  # fmt: skip


def _name(one: FileView) -> str:
    return f"file `{one.name}` of job `{one.job}`"


def _weight(one: FileView) -> str:
    return f"{size(one.size)}, " if one.size is not None else ""


def _whereabouts(found: _Found) -> None:
    """Where its copies lie, where it is being carried, and what is to become of it."""
    facts, one = found.told.facts, found.file
    facts += [_copy(copy) for copy in found.copies[:MOST]]
    if len(found.copies) > MOST:
        facts.append(f"and there are {count(len(found.copies) - MOST, 'more copy', 'more copies')}")
    facts += [f"it is stored at `{locator}`" for locator in one.stored_at]
    facts += [_transfer(transfer) for transfer in found.transfers[:MOST]]
    if one.dispositions:
        facts.append(f"its disposition is {', '.join(one.dispositions.split())}")
    if one.result:
        facts.append("it is a result")


def _copy(copy: CopyView) -> str:
    if copy.node is None:
        return f"a copy lies on this machine: {copy.path}"
    away = ", which does not answer now" if copy.state == "down" else ""
    spare = "; it goes when space is needed" if copy.spare else ""
    return f"a copy lies on `{copy.node}`{away}: {copy.path}{spare}"


def _transfer(one: TransferView) -> str:
    where = "results/" if one.result else f"`{one.cluster}`"
    trouble = f", {count(one.tries, 'try', 'tries')} so far: {one.trouble}" if one.trouble else ""
    return f"it is on its way to {where}{trouble}"


def _readers(found: _Found) -> None:
    """Who needs it, and what else they wait for."""
    facts, readers = found.told.facts, found.readers
    open_ones = [one for one in readers if _is_open(one)]
    facts += [_reader(found.file, one) for one in open_ones[:MOST]]
    if len(open_ones) > MOST:
        phases = Counter(one.phase for one in open_ones[MOST:])
        more = listed(f"{n:,} {phase}" for phase, n in phases.most_common())
        facts.append(f"and it is read by {count(len(open_ones) - MOST, 'more package')}: {more}")
    if not readers:
        facts.append("no other package reads it")
    elif len(open_ones) < len(readers):
        done = len(readers) - len(open_ones)
        least = "at least " if len(readers) >= file_locations.MOST_READERS else ""
        facts.append(f"{least}{count(done, 'package')} that read it "
                     f"{'has' if done == 1 else 'have'} ended")  # fmt: skip


def _is_open(one: ReaderView) -> bool:
    return STATUS_OF[Phase(one.phase)] not in ENDED and one.phase != Phase.TRANSFERRING


def _reader(one: FileView, reader: ReaderView) -> str:
    if reader.dropped:
        return f"`{reader.path}`, which is {reader.phase}, goes without it"
    if one.present or reader.phase != Phase.WAITING:
        return f"`{reader.path}` needs it and is {reader.phase}"
    more = reader.missing - reader.uses
    others = f" and for {count(more, 'more file')}" if more > 0 else ""
    return f"`{reader.path}` waits for it{others}"


def _document(found: _Found) -> dict[str, Any]:
    one = found.file
    return {
        "job": one.job, "file": one.name, "maker": one.maker, "maker_phase": one.maker_phase,
        "present": bool(one.present), "dropped": bool(one.dropped), "partial": bool(one.partial),
        "size": one.size, "checksum": one.checksum, "dispositions": one.dispositions.split(),
        "result": bool(one.result), "locator": one.locator, "stored": one.stored_at,
        "copies": [{"node": copy.node, "cluster": copy.cluster, "path": copy.path}
                   for copy in found.copies],
        "transfers": [{"to": "results" if way.result else way.cluster, "tries": way.tries,
                       "trouble": way.trouble} for way in found.transfers],
        "readers": [{"path": each.path, "phase": each.phase, "dropped": bool(each.dropped),
                     "missing": each.missing if each.phase == Phase.WAITING else 0}
                    for each in found.readers],
    }  # fmt: skip
