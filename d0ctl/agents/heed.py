"""The rules of the site that couriers and relays go by, from the moment when they change."""

from dataclasses import replace

from d0ctl.agents.control import Control
from d0ctl.store.site import default


def heed(control: Control, now: float) -> None:
    """Have couriers renew leases of the site's length, and relays keep logs for as long as it."""
    lease, keep_logs = (default(control.store, name) for name in ("lease", "keep-logs"))
    before = control.site
    if (lease, keep_logs) == (before.lease, before.keep_logs):
        return
    control.site = replace(before, lease=lease, keep_logs=keep_logs)
    for courier in control.couriers.values():
        courier.site = control.site
        if keep_logs != before.keep_logs:
            control.after(courier.order, {"kind": "keep", "seconds": keep_logs})
