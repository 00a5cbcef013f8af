"""What a correction would change, planned before its transaction."""

import json
from collections.abc import Collection, Container, Iterable, Mapping, Sequence

from msgspec import Struct

from d0ctl.jobfile.language.file_names import foreign
from d0ctl.jobfile.spec import JobSpec
from d0ctl.model import Phase
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.files import edited_files, selected_files
from d0ctl.store.files.edited_files import Contents
from d0ctl.store.files.remakes import Remakes, remakes
from d0ctl.store.jobs import audit, retry
from d0ctl.store.jobs.correction import acceptance, comparison, standing
from d0ctl.store.jobs.correction.checks import (
    check,
    check_dropped,
    check_mixed,
    needing,
    pairs,
)
from d0ctl.store.jobs.correction.comparison import (
    Comparison,
    Place,
    Sides,
    made_inputs,
)
from d0ctl.store.jobs.correction.revision import Known, known_files
from d0ctl.store.jobs.correction.standing import StandingStage
from d0ctl.store.jobs.retry import Listed

MOST_LISTED = 10
"""How many packages of other jobs are named."""


class Outline(Struct):
    """The changes by a correction, and the packages that they affect."""

    found: Comparison
    readers: frozenset[int]
    """Packages of the job that have succeeded with files of outdated ones."""
    elsewhere: Listed
    """Those of other jobs, which are left as they are."""
    again: frozenset[int]
    """Packages that will run again, and have succeeded or failed."""
    written: frozenset[int]
    """Packages that get another definition."""
    remade: Mapping[int, Place]
    """Packages that have succeeded, and run again because their outputs were removed."""
    renewed: Mapping[int, Place]
    """Those of `again` that are out of date, but run again only because of that, too."""
    lacking: int
    """How many more would run again with `--again`, because their outputs were removed."""
    outdated: frozenset[int]
    """Packages that stay as they ran, although the job file has another definition of them or of
    a maker of their files, or a file from outside was changed since they read it."""
    by_recipe: frozenset[int]
    """Those of them that ran with another definition."""
    unread: frozenset[str]
    """The files that they would read if they ran again."""
    acceptable: frozenset[int] = frozenset()
    """Those of which a person could accept the results."""
    accepted: Mapping[int, Place] = {}
    """Packages that are out of date no more, because a person accepts their results."""
    contents: Sequence[Contents] = ()
    """The present contents of the files from outside that packages have read before a change."""
    remakes: Remakes | None = None
    """The packages of other jobs that run again for these."""
    needing: tuple[str, ...] = ()
    """The lines that would have to be dropped first if the outdated packages were to run again."""
    keeping: frozenset[int] = frozenset()
    """Packages whose files keep dispositions that are others in the job file, and no person's."""

    @property
    def lacked(self) -> dict[int, frozenset[str]]:
        """Those that stay as they ran, and lack only inputs: the names of these.

        Packages that have read changed files are out of date in any case.
        """
        apart = self.again | self.written | self.found.edited.keys()
        return {key: names for key, names in self.found.lacking.items() if key not in apart}

    @property
    def redefined(self) -> frozenset[int]:
        """Those that run again because their outputs were removed, and get another definition."""
        return self.written & self.remade.keys()


class Reading(Struct):
    """A job and a job file as read before the transaction, with the last action at that time."""

    sides: Sides
    seen: int
    contents: Sequence[Contents]
    """The present contents of changed files from outside, if results are to be accepted."""


def read_before(store: Store, job: int, spec: JobSpec, *, accept: bool = False) -> Reading:
    """Read both sides, which takes most of the time of a correction: 0.2 ms per package."""
    with store.reading():
        contents = edited_files.present_contents(store, job) if accept else []
        return Reading(comparison.read(store, job, spec), audit.latest(store), contents)


def _sides(store: Store, job: int, spec: JobSpec, before: Reading | None) -> Sides | None:
    """Return the sides as read before if nothing but phases has changed since."""
    if before is None or audit.latest(store) != before.seen:
        return None
    return before.sides if standing.refresh(store, job, before.sides.old) else None


def _contents(store: Store, job: int, before: Reading | None) -> Sequence[Contents]:
    """Return the contents of changed files: those read before, to hash none in a transaction."""
    return edited_files.present_contents(store, job) if before is None else before.contents


def plan(
    store: Store,
    job: int,
    spec: JobSpec,
    *,
    again: bool = False,
    accept: bool = False,
    part: Collection[int] | None = None,
    before: Reading | None = None,
) -> Outline:
    """Return the changes of a job file to a job. Raises Refused.

    With `again`, packages that are out of date run again: all, or those of the part that has these
    ids, and the readers of their files. With `accept`, their results count as up to date instead,
    if they would read and make the same files.
    """
    sides = _sides(store, job, spec, before) or comparison.read(store, job, spec)
    comparison_result = comparison.compare(sides, spec)
    accepted = acceptance.accepted(comparison_result, part) if accept else {}
    own = frozenset(package.id for stage in sides.old for line in stage.lines
                    for package in line.packages)  # fmt: skip
    all_readers = frozenset(_readers_done(store, comparison_result.outdated))
    dropped = _dropped(sides.old) - comparison_result.restored.keys()
    readers = (all_readers & own) - comparison_result.unlisted - dropped
    stale = rerun = frozenset(readers.union(comparison_result.outdated) if again else ())
    if part is not None:
        rerun &= frozenset(part).union(_readers_done(store, rerun.intersection(part)))
    known = known_files(store, job)
    asked = rerun
    while True:
        written = frozenset(comparison_result.rewritten).union(
            rerun - readers, rerun & comparison_result.other["whole"]
        )
        running = frozenset([None, *written, *rerun])
        reads = _reads(spec, comparison_result, running, known)
        gone = _makers_of_absent(store, reads, rerun, stale) - dropped
        # Those run again anyway, for their removed outputs: not with what is out of date.
        too = gone & stale
        if not too:
            break
        rerun |= too
    # They run again in any case: with the present requests and dispositions.
    written |= gone & comparison_result.other["whole"]
    check(store, job, spec, comparison_result, written, known)
    check_dropped(store, spec, comparison_result, rerun | gone, dropped, known)
    remade, renewed = _places(sides.old, gone), _places(sides.old, rerun - asked)
    # Those that have lacked files count as if they had read them.
    earlier = comparison_result.earlier - comparison_result.short
    written |= (accepted.keys() - earlier) | comparison_result.returned.keys()
    written |= comparison_result.complete
    anew = gone & comparison_result.earlier  # by the files as they are now
    outdated = _outdated(comparison_result).difference(rerun, written, anew)
    by_recipe = frozenset(outdated - comparison_result.earlier)
    check_mixed(store, job, comparison_result, by_recipe, rerun | gone)
    unread = _names_read(spec, comparison_result, outdated) if outdated else ()
    outdated.update(_readers_done(store, outdated), readers - rerun - gone)
    outdated = (outdated & own) - anew
    again_reads = _reads(spec, comparison_result, outdated, known) if outdated else ()
    lacking = _makers_of_absent(store, again_reads, outdated, outdated)
    aside = acceptance.outdated_if_restored(comparison_result)
    return Outline(
        comparison_result, readers, _listed(store, all_readers - own), rerun, written, remade,
        renewed,
        len(lacking - gone), aside | outdated - comparison_result.unlisted - rerun,
        by_recipe | aside,
        frozenset(unread), acceptance.acceptable(comparison_result) & outdated,
        {key: accepted[key] for key in accepted.keys() - gone},
        _contents(store, job, before) if accepted else (),
        _remakes(store, spec, comparison_result, rerun | gone),
        needing(store, spec, comparison_result, outdated | lacking, dropped, known),
        selected_files.without_set(store, comparison_result.other["dispositions"] - written),
    )  # fmt: skip


def _places(stages: Iterable[StandingStage], packages: Collection[int]) -> dict[int, Place]:
    """Return where these packages are, by their ids."""
    return {
        package.id: Place(stage.seq, line.seq, package.seq, package.phase)
        for stage in (stages if packages else ())
        for line in stage.lines
        for package in line.packages
        if package.id in packages
    }


def _dropped(stages: Iterable[StandingStage]) -> frozenset[int]:
    """Return the packages of dropped lines, which run no more."""
    return frozenset(package.id for stage in stages for line in stage.lines if line.is_dropped
                     for package in line.packages)  # fmt: skip


def _outdated(found: Comparison) -> set[int]:
    """Return the packages that ran, or are running, with another definition or earlier files."""
    listed = {package.id for stage in found.stages for line in stage.lines if line.old
              for package in line.old.packages}  # fmt: skip
    return found.outdated.keys() | (found.busy.keys() & listed)


def _reads(
    spec: JobSpec, found: Comparison, running: Container[int | None], known: Known
) -> Iterable[int]:
    """Return the files of the job that the `running` packages read; added ones are None.

    Those of packages that the job file has no more are left out: others will make them.
    """
    names = _names_read(spec, found, running)
    files = {of[name] for name in names for of in (known.ids, known.late) if name in of}
    return {file for file in files if known.makers[file] not in found.unlisted}


def _names_read(spec: JobSpec, found: Comparison, running: Container[int | None]) -> set[str]:
    """Return the names of the files of the job that such packages read."""
    return {
        name
        for line, of in pairs(spec, found)
        if not line.stays_dropped
        for at, package in enumerate(of.packages)
        if line.package(at) in running and not line.is_lost(at)
        for name in made_inputs(package)
    }


def _remakes(
    store: Store, spec: JobSpec, found: Comparison, again: Collection[int]
) -> Remakes | None:
    """Return the packages of other jobs that run again for packages that run again, or that are
    added, restored or changed before they have run.
    """
    if not spec.others:
        return None
    changed = {key for key, old in found.rewritten.items() if old.phase != Phase.CANCELED}
    names = _names_read(spec, found, {None, *again, *found.restored, *changed})
    return remakes(store, filter(foreign, names))


def _makers_of_absent(
    store: Store, files: Iterable[int], apart: Iterable[int], anew: Iterable[int]
) -> frozenset[int]:
    """Return the packages that make these files and, recursively, their missing inputs.

    Those in `apart` are left out. Those in `anew` may get other inputs, so those that they
    have had are not followed.
    """
    selected = store.select()
    selected.change("choose_makers_of_absent", files=json.dumps(list(files)))
    anew_ids = json.dumps(list(anew))
    while selected.change("choose_makers_again", anew=anew_ids) > 0:
        pass
    retry.leave_out(selected, apart)
    return frozenset(row[0] for row in selected.rows("selected_ids"))


def _readers_done(store: Store, packages: Iterable[int]) -> list[int]:
    """Return successful packages that have read files of these, directly or indirectly."""
    first = set(packages)
    selected = store.select(first)
    while selected.change("choose_readers_done") > 0:
        pass
    return [row[0] for row in selected.rows("selected_ids") if row[0] not in first]


def _listed(store: Store, packages: Collection[int]) -> Listed:
    """Count packages, with the paths of the first; not those that never run again."""
    selected = store.select(packages)
    selected.change("leave_without_use")
    found = lifecycle.paths(selected, MOST_LISTED) if packages else []
    return retry.with_needs(store, Listed(selected.count(), tuple(path for path, _ in found)))


def declared_results(spec: JobSpec) -> list[str]:
    """Return the files that a job file sends to results/."""
    return [
        output.file
        for stage in spec.stages
        for line in stage.lines
        for package in line.packages
        for binary in package.binaries
        for output in binary.outputs
        if output.result
    ]
