"""From a job file to rows: what `run`, `submit` and `validate` share."""

import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from shlex import quote

from d0ctl.cli import changing, session
from d0ctl.cli.terminal.output import is_terminal, say
from d0ctl.errors import BadUsage, Refused
from d0ctl.jobfile.site_names import KnownNames
from d0ctl.jobfile.spec import JobSpec
from d0ctl.store.connection import Store
from d0ctl.store.nodes.fitting import lines, misfits_of_spec
from d0ctl.store.views import browse
from d0ctl.store.views.known_names import known_names
from d0ctl.units import clean, count

MANY = 20_000
"""From so many packages on, coming in is worth a line of progress."""


MOST_WARNINGS = 5
"""How many warnings `submit` and `run` print."""


def parameters(pairs: Iterable[str] | None) -> Mapping[str, str]:
    """Read the `--set` options. Raises BadUsage."""
    found = {}
    for pair in pairs or ():
        key, equals, value = pair.partition("=")
        if not (key and equals):
            raise BadUsage(f"--set takes KEY=VALUE, not `{pair}`")
        found[key.strip()] = value
    return found


def read(file: str, pairs: Iterable[str] | None) -> JobSpec:
    """Read and check a job file. Raises BadJobFile with every fault."""
    given = parameters(pairs)
    if not session.home().exists():
        return _read(file, given, KnownNames(("localhost",), {}, {}, lambda *_: None))
    with session.reader() as store:
        return _read(file, given, known_names(store))


def _read(file: str, given: Mapping[str, str], known: KnownNames) -> JobSpec:
    from d0ctl.jobfile import reader

    if file == "-":
        return reader.read_text(sys.stdin.read(), "-", Path.cwd(), given, known)
    return reader.read(Path(file), given, known)


def misfits(spec: JobSpec, file: str) -> list[str]:
    """Return a warning for what packages of each stage ask for that no node has."""
    if not session.home().exists():
        return []
    with session.reader() as store:
        found = misfits_of_spec(store, spec, now=time.time())
    return [f"{file}: warning: no node can ever take packages of {one}" for one in lines(found)]


def warn(spec: JobSpec, file: str) -> None:
    """Print the first warnings of a job file that is going to be submitted."""
    for warning in spec.warnings[:MOST_WARNINGS]:
        say(warning)
    if (more := len(spec.warnings) - MOST_WARNINGS) > 0:
        say(f"and {count(more, 'more warning')}: d0ctl validate {quote(file)}")


def submit(
    store: Store, spec: JobSpec, *, name: str | None, hold: bool = False, force: bool = False
) -> str:
    """Make the job's rows; the name it got. Raises Refused where no node can ever take them."""
    from d0ctl.store.jobs.submit import submit as make_rows

    shown = 0

    def progress(packages: int) -> None:
        nonlocal shown
        if spec.packages >= MANY and is_terminal(sys.stderr):
            shown = packages
            told = f"submitting: {count(packages)} of {count(spec.packages)}"
            print(f"\r{told}\x1b[K", end="", file=sys.stderr, flush=True)

    try:
        return make_rows(
            store, spec, now=time.time(), actor=session.actor(), name=name, hold=hold,
            force=force, note=changing.reason(), progress=progress, moved=_tell_moved,
        )  # fmt: skip
    finally:
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _tell_moved(aside: Path) -> None:
    say(f"older files under the name of this job are now in {clean(str(aside))}")


def check_name(store: Store, spec: JobSpec, name: str | None) -> None:
    """Raise BadUsage or Refused for a name that this job can't have."""
    import re

    if name is not None and not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name):
        raise BadUsage(
            f"`{name}` can't be a job's name", hint="a letter, then letters, digits, `_` and `-`"
        )
    wanted = name or (spec.name if spec.named else None)
    if wanted and (found := browse.jobs(store, wanted)):
        raise Refused(
            f"there is a job `{wanted}` already, and it is {found[0].status}",
            hint=f"`--as NAME` submits another, `d0ctl run {wanted}` goes on with that one, "
            f"`d0ctl remove {wanted}` makes room",
        )


def summary(spec: JobSpec) -> str:
    """How much a job is, in words."""
    stages = count(len(spec.stages), "stage")
    packages = count(spec.packages, "package")
    if spec.packages > MANY:
        return f"{stages}, {packages}"
    lines = sum(1 for stage in spec.stages for _ in stage.lines)
    return f"{stages}, {count(lines, 'line')}, {packages}"
