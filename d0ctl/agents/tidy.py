"""What nobody needs any more goes: from the nodes, and from the way through this machine."""

from contextlib import suppress
from pathlib import Path

from d0ctl.agents.control import Control
from d0ctl.store import tidy as store_tidy
from d0ctl.store.site import default


def tidy(control: Control, now: float) -> None:
    """Have superfluous copies removed."""
    here = store_tidy.tidy(control.store, now=now)
    if here:
        control.after(_remove, here, control.home.cache)


def expire(control: Control, now: float) -> None:
    """Have outputs of failed packages removed that have stayed for `keep-failed`."""
    store_tidy.expire(control.store, before=now - default(control.store, "keep-failed"))


def _remove(paths: list[str], cache: Path) -> None:
    """Remove copies on this machine, and the folders that are empty without them."""
    for path in map(Path, paths):
        with suppress(OSError):
            path.unlink()
            for folder in path.parents:
                if folder == cache:
                    break
                folder.rmdir()
