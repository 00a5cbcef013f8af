"""Which part of a job runs again without mixing files that were made from other inputs."""

from d0ctl.store.connection import Store

MOST_FOLLOWED = 1000
"""How many packages of a part, of those after them and of those before these are looked at."""


def part_to_rerun(store: Store, path: str) -> str:
    """Return a part of a job, or the smallest larger one that `update --again` runs again.

    That is its stage or its job if the part, or a package that depends on it, would read files of
    other packages that are out of date and now have other inputs or outputs, or what was made of
    these. The part is a package, or has some that are out of date.
    """
    job, *numbers = path.split("/")
    selected = store.select([])
    while numbers:
        stage, line, package = (*numbers, None, None)[:3]
        selected.change("choose_to_rerun", job=job, stage=stage, line=line, package=package,
                        limit=MOST_FOLLOWED)  # fmt: skip
        if selected.row("would_mix", limit=MOST_FOLLOWED) is None:
            break
        numbers = numbers[:1] if line else []
    return "/".join([job, *numbers])
