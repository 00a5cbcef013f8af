"""The limit on open files of this process.

A process that drives hundreds of nodes has several connections to each, more than the usual
1,024. Processes that it starts keep the usual limit: programs that use `select` fail above it.
"""

import resource

MOST = 65_536
"""The highest limit to request; some programs close every number that could be open."""

_LIMIT = resource.RLIMIT_NOFILE
_previous = resource.getrlimit(_LIMIT)


def allow_many() -> None:
    """Raise the limit of this process as far as allowed, up to `MOST`."""
    soft, hard = resource.getrlimit(_LIMIT)
    most = MOST if hard == resource.RLIM_INFINITY else min(hard, MOST)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(_LIMIT, (most, hard))


def keep_previous(pid: int) -> None:
    """Give the previous limit to a process that this one has started."""
    try:
        resource.prlimit(pid, _LIMIT, _previous)
    except ProcessLookupError:
        return  # it has ended already
