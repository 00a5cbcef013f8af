"""Which part of a job runs again without mixing files that were made from other inputs."""

import json
from collections.abc import Sequence

from d0ctl.store.connection import Selection, Store

MOST_FOLLOWED = 1000
"""How many packages of a part, of those after them and of those before these are looked at."""


def part_to_rerun(store: Store, path: str) -> str:
    """Return a part of a job, or the smallest larger one that `update --again` runs again.

    That is its stage or its job if the part, or a package that depends on it, would read files of
    other packages that are out of date and now have other inputs or outputs, or what was made of
    these. The part is a package, or has some that are out of date.
    """
    job, *numbers = path.split("/")
    while numbers:
        stage, line, package = (*numbers, None, None)[:3]
        rows = store.rows("packages_to_rerun", job=job, stage=stage, line=line, package=package,
                          limit=MOST_FOLLOWED)  # fmt: skip
        if not _would_mix(store, [row[0] for row in rows]):
            break
        numbers = numbers[:1] if line else []
    return "/".join([job, *numbers])


def would_mix(selected: Selection) -> bool:
    """Return whether the selected packages, or such after them, would read such files."""
    return _would_mix(selected.store, [row[0] for row in selected.rows("selected_ids")])


def _would_mix(store: Store, packages: Sequence[int]) -> bool:
    ids = json.dumps(packages)
    return store.row("would_mix", packages=ids, limit=MOST_FOLLOWED) is not None
