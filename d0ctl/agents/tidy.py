"""What nobody needs any more goes: from the nodes, and from the way through this machine."""

from d0ctl.agents.control import Control
from d0ctl.store import tidy as store_tidy
from d0ctl.store.site import default


def tidy(control: Control, now: float) -> None:
    """Have superfluous copies removed."""
    here = store_tidy.tidy(control.store, now=now)
    if here:
        control.after(control.home.forget_copies, here)


def expire(control: Control, now: float) -> None:
    """Have outputs of failed packages removed that have stayed for `keep-failed`."""
    store_tidy.expire(control.store, before=now - default(control.store, "keep-failed"))
