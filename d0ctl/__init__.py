"""d0ctl: a single-host control tool for productions on machines reached by ssh.

`from d0ctl import Job, jobs` imports the Python interface: docs/python.md.
"""

TYPE_CHECKING = False
"""The same as in `typing`, whose import would take most of the time of `d0ctl --version`."""

if TYPE_CHECKING:
    from d0ctl.api.files import Files as Files
    from d0ctl.api.job import Job as Job
    from d0ctl.api.nodes import Nodes as Nodes
    from d0ctl.api.selection import Selection as Selection
    from d0ctl.api.selection import jobs as jobs
    from d0ctl.api.site import Site as Site
    from d0ctl.api.site_sections import Cluster as Cluster
    from d0ctl.api.site_sections import Researcher as Researcher
    from d0ctl.api.site_sections import Token as Token
    from d0ctl.api.task_interface import Task as Task
    from d0ctl.api.task_interface import tasks as tasks
    from d0ctl.api.throttle import Throttle as Throttle
    from d0ctl.errors import BadJobFile as BadJobFile
    from d0ctl.errors import D0Error as D0Error

__version__ = "0.1.0"

_EXPORTS = {
    "Cluster": "d0ctl.api.site_sections",
    "Files": "d0ctl.api.files",
    "Job": "d0ctl.api.job",
    "Nodes": "d0ctl.api.nodes",
    "Selection": "d0ctl.api.selection",
    "jobs": "d0ctl.api.selection",
    "Researcher": "d0ctl.api.site_sections",
    "Site": "d0ctl.api.site",
    "Task": "d0ctl.api.task_interface",
    "tasks": "d0ctl.api.task_interface",
    "Throttle": "d0ctl.api.throttle",
    "Token": "d0ctl.api.site_sections",
    "BadJobFile": "d0ctl.errors",
    "D0Error": "d0ctl.errors",
}


if not TYPE_CHECKING:  # type checkers know the names above, and so find misspelt ones

    def __getattr__(name):
        """Import a name of the Python interface when it is used: commands start without it."""
        if name not in _EXPORTS:
            raise AttributeError(f"module `d0ctl` has no attribute `{name}`")
        from importlib import import_module

        return getattr(import_module(_EXPORTS[name]), name)

    def __dir__():
        return sorted([*globals(), *_EXPORTS])
