"""Defaults of settings that neither the job nor the site file sets."""

from collections.abc import Mapping
from typing import Any

LEASE_S = 50 * 60.0
"""How long a wrapper out of contact may still store and deliver files."""

UNREACHABLE_AFTER_S = 3600.0
"""How long a node may be out of contact before its packages count as lost."""

NICE = 10
"""The niceness of binaries."""

GRACE_S = 5.0
"""The time between TERM and KILL."""

PARTIAL_GRACE_S = 60.0
"""The time that `kill --partial` gives a binary to end by itself before TERM."""

PAUSE_GRACE_S = 10.0
"""How long a binary has to pause by itself before it is stopped."""

RESERVE = 200_000_000
"""The bytes that stay free on the disk of a node."""

PATIENCE_S = 1800.0
"""After this time a package that is suspended because the disk is full fails."""

KEEP_LOGS_S = 30 * 86400.0
"""How long the logs of an attempt stay on its node, unless its job is removed."""

KEEP_FAILED_S = 86400.0
"""How long outputs of a failed package stay on its node, for a person to accept."""

INVENTORY_EVERY_S = 3600.0
"""The time between two inventories of the cache of a node; 0 means never."""

TRANSFER_IDLE_S = 300.0
"""After this time without a byte, a transfer of a wrapper is ended."""

TRANSFER_TIMEOUT_S = 12 * 3600.0
"""How long a transfer of a wrapper may take."""

TRANSFER_RETRY_S = 2.0
"""The pause after which a wrapper repeats a failed transfer; the next one is four times longer."""

MAX_ALIKE_FAILURES = 20
"""The similar failures of a stage without a success that hold its job; 0 means never."""

LINK_STREAMS, NODE_STREAMS = 2, 4
"""The most streams of files between two nodes, and at one node."""

SHARE_HALF_LIFE_S = 7 * 86400.0
"""The time after which the use of a group counts half as much."""

STANDARD: Mapping[str, Any] = {
    "looping": None, "lease": LEASE_S, "unreachable-after": UNREACHABLE_AFTER_S, "nice": NICE,
    "grace": GRACE_S, "partial-grace": PARTIAL_GRACE_S, "reserve": RESERVE, "control-reserve": None,
    "patience": PATIENCE_S, "swap": None, "yield-cpu": None,
    "archive-after": None,
    "task-agents": 1,
    "keep-logs": KEEP_LOGS_S, "keep-failed": KEEP_FAILED_S,
    "inventory-every": INVENTORY_EVERY_S, "transfer-idle": TRANSFER_IDLE_S,
    "transfer-timeout": TRANSFER_TIMEOUT_S, "transfer-retry": TRANSFER_RETRY_S,
    "max-alike-failures": MAX_ALIKE_FAILURES,
    "container": "apptainer", "share-half-life": SHARE_HALF_LIFE_S,
    "link-streams": LINK_STREAMS, "node-streams": NODE_STREAMS,
    "direct-streams": True,
    "reuse-files": True,
}  # fmt: skip
"""Defaults of the section `defaults:`; None means that the setting is off."""

BAD_NODES: Mapping[str, Any] = {
    "failures": 3, "pause": 10.0, "minimum-run": 1200.0, "try-again": 1800.0, "longest": 86400.0,
}  # fmt: skip
"""Default limits for bad nodes; the minimum run time is that of CRAB3."""

EXCLUSION: Mapping[str, Any] = {"completed": 10, "successful": 5, "rate": 0.5, "failed": 5}
"""Default conditions for excluding a node (CRAB3, Automatic Site Blacklist Policies)."""
