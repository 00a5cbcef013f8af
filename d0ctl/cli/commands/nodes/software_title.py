"""How software is named on the command line: NAME/VERSION."""

from collections.abc import Iterable

from d0ctl.errors import BadUsage, NotFound
from d0ctl.store.views.browse import nearest


def split(title: str) -> tuple[str, str]:
    """Return the name and the version of software. Raises BadUsage."""
    name, slash, version = title.partition("/")
    if not (name and slash and version):
        raise BadUsage(f"`{title}` is not software: write NAME/VERSION, e.g. `reco/v12-01`")
    return name, version


def no_such(title: str, known: Iterable[str] = ()) -> NotFound:
    """Return the error for software that is not in the catalogue, with the nearest title."""
    hint = nearest(title, known) or "d0ctl software list"
    return NotFound(f"there is no software `{title}`", hint=hint)
