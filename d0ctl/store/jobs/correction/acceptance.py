"""Results that are out of date, and that a person accepts as they are."""

from collections.abc import Collection, Container, Sequence

from d0ctl.errors import Refused
from d0ctl.model import Phase
from d0ctl.store.connection import Store
from d0ctl.store.files import edited_files
from d0ctl.store.files.edited_files import Contents
from d0ctl.store.jobs.correction.comparison import Comparison, Place

SAME_NAMES = "results are accepted only if inputs and outputs have the same names"
"""Why the results of some packages that are out of date are not accepted."""


def acceptable(found: Comparison) -> frozenset[int]:
    """Return the outdated packages whose results a person can accept.

    They have succeeded, and still read and make files of the same names: what another definition
    reads or makes is not there.
    """
    alike = {
        package.id
        for stage in found.stages
        for line in stage.lines
        if line.old
        for package, new in zip(line.old.packages, line.definitions, strict=False)
        if package.phase == Phase.DONE and package.definition.files == new.files
    }
    return frozenset(alike.intersection(found.outdated))


def outdated_if_restored(found: Comparison) -> frozenset[int]:
    """Return the packages of dropped lines that ran with another recipe than the job file has.

    They have succeeded, so that they do not follow the job file; a line may be restored.
    """
    return frozenset(
        package.id
        for stage in found.stages
        for line in stage.lines
        if line.old and line.old.is_dropped and not line.old.is_left
        for package, new in zip(line.old.packages, line.definitions, strict=False)
        if package.phase == Phase.DONE and package.definition.recipe != new.recipe
    )


def accepted_before(found: Comparison, packages: Container[int]) -> int:
    """Count those of packages whose results were accepted as they ran, with another recipe."""
    return sum(
        package.id in packages and package.ran not in (None, package.definition.recipe)
        for stage in found.stages
        for line in stage.lines
        if line.old
        for package in line.old.packages
    )


def accepted(found: Comparison, part: Collection[int] | None) -> dict[int, Place]:
    """Take the packages to accept, of all or of those in `part`, out of the outdated ones.

    Raises Refused if nothing of a part can be accepted.
    """
    keys = acceptable(found)
    if part is not None and not (keys := keys.intersection(part)):
        if found.outdated.keys().isdisjoint(part):
            raise Refused(
                "none of these packages is out of date, or only by files of outdated packages"
            )
        stale = [found.outdated[key] for key in found.outdated.keys() & part]
        if all(package.phase == Phase.FAILED for package in stale):
            raise Refused("failed packages have no results to accept: update the job, then retry")
        raise Refused(SAME_NAMES)
    return {package: found.outdated.pop(package) for package in sorted(keys)}


def keep_recipes(
    store: Store, found: Comparison, packages: Collection[int], anew: Collection[int]
) -> None:
    """Keep what the attempts of packages ran, before the packages follow another job file.

    It is forgotten of those that follow again what they ran. Of those that run `anew`, or failed
    and get another definition, only their software is kept, for reports.
    """
    if found.returned:
        store.select(found.returned).change("forget_recipe")
    if packages:
        store.select(packages).change("keep_recipe")
    if rerun := {*anew, *found.redefined}:
        store.select(rerun).change("keep_software_of_runs")
    ran = [
        (package.definition.recipe, package.id)
        for stage in found.stages
        for line in (stage.lines if packages or found.redefined else ())
        for package in (line.old.packages if line.old else ())
        if package.id in found.redefined
        or (package.id in packages and package.id not in found.earlier)
    ]
    store.change_many("keep_recipe_digest", ran)


def redefine_failed(store: Store, found: Comparison, *, now: float) -> None:
    """Record which failed packages have another definition from now on than they failed with.

    Some are dropped, and failed again once they are restored.
    """
    store.change_many("redefine", ((now, package) for package in found.redefined))
    store.change_many("redefine", ((None, package) for package in found.failed_with_it))


def accept(
    store: Store, packages: Collection[int], contents: Sequence[Contents], *, now: float
) -> None:
    """Let the results of packages count as made from files of these contents, in a transaction."""
    edited_files.take(store.select(packages), contents, now=now)
    store.change_many("redefine", ((now, package) for package in packages))


def record_outdated(
    store: Store,
    job: int,
    packages: Collection[int],
    by_recipe: Container[int],
    found: Comparison,
    acceptable: Container[int],
) -> None:
    """Record which packages of a job are out of date, and which results may be accepted.

    That is not known of those that are out of date only by files of others.
    """
    may_be = {package: int(package in acceptable) for package in found.outdated}
    store.change_many("record_outdated", (
        (package, job, int(package in by_recipe), may_be.get(package)) for package in packages
    ))  # fmt: skip
