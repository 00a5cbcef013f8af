"""What counts where neither job nor site file says anything."""

from collections.abc import Mapping
from typing import Any

LEASE_S = 50 * 60.0
"""How long a wrapper that is out of contact may act on the world."""

UNREACHABLE_AFTER_S = 3600.0
"""How long a node may be out of contact before what ran there counts as lost."""

NICE = 10
"""By how much binaries give way to others."""

GRACE_S = 5.0
"""How long a process that is to end has between TERM and KILL."""

PARTIAL_GRACE_S = 60.0
"""How long a binary whose outputs are to be kept has to end by itself before TERM."""

RESERVE = 200_000_000
"""How many bytes are to stay free on the disk of a node."""

PATIENCE_S = 1800.0
"""How long a package stands still for want of disk before it fails."""

KEEP_LOGS_S = 30 * 86400.0
"""How long the logs of an attempt stay on its node, unless its job is removed."""

KEEP_FAILED_S = 86400.0
"""How long outputs of a failed package stay on its node, for a person to accept or deliver."""

TRANSFER_IDLE_S = 300.0
"""How long a transfer of a wrapper may go without a byte before it is stuck."""

TRANSFER_TIMEOUT_S = 12 * 3600.0
"""How long a transfer of a wrapper may take."""

MAX_ALIKE_FAILURES = 20
"""After so many alike failures of a stage without a success its job is held; 0: never."""

STANDARD: Mapping[str, Any] = {
    "looping": None, "lease": LEASE_S, "unreachable-after": UNREACHABLE_AFTER_S, "nice": NICE,
    "grace": GRACE_S, "partial-grace": PARTIAL_GRACE_S, "reserve": RESERVE, "control-reserve": None,
    "patience": PATIENCE_S, "swap": None, "yield-cpu": None,
    "keep-logs": KEEP_LOGS_S, "keep-failed": KEEP_FAILED_S, "transfer-idle": TRANSFER_IDLE_S,
    "transfer-timeout": TRANSFER_TIMEOUT_S, "max-alike-failures": MAX_ALIKE_FAILURES,
}  # fmt: skip
"""What counts where the site file says nothing."""

BAD_NODES: Mapping[str, Any] = {
    "burnt": 3, "pause": 10.0, "minimum-run": 1200.0, "try-again": 1800.0, "longest": 86400.0,
}  # fmt: skip
"""Default limits for bad nodes; the minimum run time is that of CRAB3."""

EXCLUSION: Mapping[str, Any] = {"completed": 10, "successful": 5, "rate": 0.5, "failed": 5}
"""Default conditions for excluding a node (CRAB3, Automatic Site Blacklist Policies)."""
