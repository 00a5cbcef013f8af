"""Views that a person has saved by name: which jobs and packages are shown, in which order."""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from d0ctl.errors import D0Error
from d0ctl.store.views.finding.job_list import JobList
from d0ctl_tui.read.package_filter import PackageFilter

START = "start"
"""The view of this name is shown when the dashboard starts."""


class SavedView(Struct, frozen=True, omit_defaults=True):
    """What is shown: jobs, or a list of packages of them."""

    jobs: JobList = JobList()
    packages: PackageFilter | None = None

    @property
    def summary(self) -> str:
        """What it shows, in words."""
        parts = [f"jobs {self.jobs.summary}"] if self.jobs.hides else []
        if self.jobs.order != "age":
            parts.append(f"jobs by {self.jobs.order}")
        if self.packages is not None:
            parts.append(self.packages.name)
            parts += [f"by {self.packages.order}"] if self.packages.order != "path" else []
        return ", ".join(parts) or "all jobs"


def folder() -> Path:
    """Return the folder of what this user has set."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "d0ctl"


def file() -> Path:
    """Return the file of the views of this user."""
    return folder() / "views.json"


def load() -> Mapping[str, SavedView]:
    """Return the views by name. Raises D0Error if they can't be read."""
    try:
        return dict(sorted(msgspec.json.decode(file().read_bytes(),
                                               type=dict[str, SavedView]).items()))  # fmt: skip
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise D0Error(f"{file()}: the saved views can't be read: {error}") from error


def save(name: str, view: SavedView | None) -> None:
    """Save a view by its name, or delete it. Raises D0Error."""
    views = dict(load())
    views.pop(name, None)
    if view is not None:
        views[name] = view
    path = file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f"{path.name}.{os.getpid()}")
        fresh.write_bytes(msgspec.json.format(msgspec.json.encode(views)) + b"\n")
        fresh.replace(path)
    except OSError as error:
        raise D0Error(f"{path}: the views can't be saved: {error}") from error
