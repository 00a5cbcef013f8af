"""The only place that says how many files a process may have open.

Who drives hundreds of nodes holds several connections each, more than the usual 1,024. What
it starts on this machine keeps the former limit: programs that use `select` fail above that.
"""

import resource

MOST = 65_536
"""More are never asked for; some programs close every number that they might have open."""

_LIMIT = resource.RLIMIT_NOFILE
_former = resource.getrlimit(_LIMIT)


def allow_many() -> None:
    """Let this process open as many files as it may, up to `MOST`."""
    soft, hard = resource.getrlimit(_LIMIT)
    most = MOST if hard == resource.RLIM_INFINITY else min(hard, MOST)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(_LIMIT, (most, hard))


def keep_former(pid: int) -> None:
    """Give a process that we have started the limit that was ours."""
    try:
        resource.prlimit(pid, _LIMIT, _former)
    except ProcessLookupError:
        return  # it has ended already
