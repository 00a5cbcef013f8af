"""The rules of the site that couriers and relays go by, from the moment when they change."""

from dataclasses import replace

from d0ctl.daemon.control import Control
from d0ctl.store.nodes.site import default


def heed(control: Control, now: float) -> None:
    """Have couriers, relays and downloads follow the site's lease, log retention and reserve."""
    names = ("lease", "keep-logs", "control-reserve")
    lease, keep_logs, reserve = (default(control.store, name) for name in names)
    before = control.site
    if (lease, keep_logs, reserve) == (before.lease, before.keep_logs, before.reserve):
        return
    control.site = replace(before, lease=lease, keep_logs=keep_logs, reserve=reserve)
    for courier in control.couriers.values():
        courier.site = control.site
        if keep_logs != before.keep_logs:
            control.after(courier.order, {"kind": "keep", "seconds": keep_logs})
