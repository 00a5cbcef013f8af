"""A classifier: failures because all licences are in use get a reason of their own."""

from collections.abc import Mapping
from typing import Any


def licence(failure: Mapping[str, Any]) -> str | None:
    """Return the reason of a failure, or None to keep its own."""
    if failure["exit_code"] == 75 and "no licence" in failure["stderr"]:
        return "site:licence"
    return None
