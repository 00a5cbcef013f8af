"""How software is named on the command line: NAME/VERSION."""

from d0ctl.errors import BadUsage, NotFound


def split(title: str) -> tuple[str, str]:
    """Return the name and the version of software. Raises BadUsage."""
    name, slash, version = title.partition("/")
    if not (name and slash and version):
        raise BadUsage(f"`{title}` is not software: write NAME/VERSION, e.g. `reco/v12-01`")
    return name, version


def no_such(title: str) -> NotFound:
    """Return the error for software that is not in the catalogue."""
    return NotFound(f"there is no software `{title}`", hint="d0ctl software list")
