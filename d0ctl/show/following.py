"""The remarks of `logs` beside the logs: on attempts that wait, end, or are out of reach."""

from d0ctl.errors import NotFound
from d0ctl.show.drawing.signs import in_state
from d0ctl.store.connection import Store
from d0ctl.store.views import one_package
from d0ctl.store.views.shapes.of_package import AttemptView, PackageView
from d0ctl.units import clean

NOT_RECORDED = "it has ended, but no daemon is running to record that: d0ctl daemon start"


def printed_nothing(name: str, attempt: int | None = None) -> str:
    """Say that there is no output, or none of the attempt that was requested."""
    of = f"attempt {attempt} of " if attempt else ""
    return f"{of}`{clean(name)}` has printed nothing"


def log_gone(tried: AttemptView) -> str:
    """Say that the log was removed."""
    return f"its log is no longer on `{clean(tried.node_name)}`"


def resumed(tried: AttemptView) -> str:
    """Say at which binary an attempt began, and why."""
    return f"attempt {tried.number} began at binary {tried.began}: {clean(tried.began_why or '')}"


def attempts_at(store: Store, package: PackageView) -> list[AttemptView]:
    """Return the attempts at a package, at least one. Raises NotFound."""
    tries = one_package.attempts(store, package.id)
    if not tries:
        state = in_state(package.phase)
        raise NotFound(f"package `{package.path}` has not run yet: it is {state}",
                       hint=f"d0ctl why {package.path}")  # fmt: skip
    return tries


def not_launched(package: PackageView) -> str:
    """Say that a package has no attempt yet."""
    return f"package `{clean(package.path)}` is {in_state(package.phase)}: waiting for its launch"


def begun(tried: AttemptView) -> str:
    """Name the attempt whose logs follow."""
    return f"attempt {tried.number} on `{clean(tried.node_name)}`"


def between(tried: AttemptView, phase: str) -> str:
    """Say that an attempt has ended and another will follow."""
    why = f"{tried.reason}, " if tried.reason else ""
    return f"attempt {tried.number} has ended ({why}{in_state(phase)}): waiting for the next"


def not_started(tried: AttemptView) -> str:
    """Say that the node does not have the attempt yet."""
    return f"attempt {tried.number} is not on `{clean(tried.node_name)}` yet: waiting for it"


def node_unreachable(tried: AttemptView, why: str) -> str:
    """Say that the node does not answer."""
    return f"node `{clean(tried.node_name)}` does not answer, trying again: {clean(why)}"


def back(tried: AttemptView) -> str:
    """Say that the node answers again."""
    return f"node `{clean(tried.node_name)}` answers again"
