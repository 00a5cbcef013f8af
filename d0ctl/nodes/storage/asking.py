"""Whether the stores that a job names answer, and have the files that it reads."""

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import Any

from d0ctl.errors import D0Error, NotFound
from d0ctl.jobfile.spec import JobSpec
from d0ctl.nodes.storage import stores
from d0ctl.sitefile.transfer.stores import commands
from d0ctl_wrapper.protocol.locator import in_store

ASKED_S = 5.0
"""How long stores may be asked for one job."""

MOST_ASKED = 20
"""How many files of a store are checked."""

MOST_READ = 2000
"""In how many lines files are searched for."""

TOGETHER = 8
"""How many questions are asked at the same time."""


def faults(spec: JobSpec, entries: Mapping[str, Any]) -> list[str]:
    """Return, for each store that a job names, why it can't serve the job; empty if it can."""
    read = _named(spec)
    named = {store: files for store, files in read.items() if store in entries}
    if not named:
        return []
    ask = partial(_fault, until=time.monotonic() + ASKED_S)
    with ThreadPoolExecutor(TOGETHER) as pool:
        asked = [pool.submit(ask, store, entries[store], files) for store, files in named.items()]
        return [fault for answer in asked if (fault := answer.result())]


def _named(spec: JobSpec) -> dict[str, list[str]]:
    """Return the stores that a job names, with the first files that it reads from each.

    Files that it stores there itself need not exist yet.
    """
    found: dict[str, list[str]] = {}
    locators = list(_locators(spec))
    own = {locator for locator, is_read in locators if not is_read}
    for locator, is_read in locators:
        location = in_store(locator)
        if location is not None:
            files = found.setdefault(location.store, [])
            is_asked = is_read and locator not in own
            if is_asked and len(files) < MOST_ASKED and location.name not in files:
                files.append(location.name)
    return found


def _locators(spec: JobSpec) -> Iterator[tuple[str, bool]]:
    """Yield the locators of a job, and whether it reads there."""
    lines = (line for stage in spec.stages for line in stage.lines)
    for line in islice(lines, MOST_READ):
        for binary in (binary for package in line.packages for binary in package.binaries):
            yield from ((entry.locator, not entry.made) for entry in binary.inputs if entry.locator)
            yield from ((output.locator, False) for output in binary.outputs if output.locator)


def _fault(store: str, entry: Mapping[str, Any], files: list[str], until: float) -> str | None:
    ways = commands(entry)
    ask = partial(_answer, store, entry, until)
    if "check" in ways and (fault := ask("check", "")):
        return fault
    missing = [name for name in files if ask("locate", name)] if "locate" in ways else []
    if not missing:
        return None
    others = f", nor {len(missing) - 1} more that the job reads" if len(missing) > 1 else ""
    return f"store `{store}` has no file `{missing[0]}`{others}"


def _answer(store: str, entry: Mapping[str, Any], until: float, verb: str, name: str) -> str | None:
    """Ask a store, within the remaining time; return its problem, None if there is none or it is
    unknown.
    """
    left_s = until - time.monotonic()
    if left_s <= 0:
        return None
    try:
        stores.run(store, entry, verb, name, timeout_s=left_s)
    except NotFound as error:
        return str(error)
    except D0Error as error:
        return str(error) if verb == "check" else None
    return None
