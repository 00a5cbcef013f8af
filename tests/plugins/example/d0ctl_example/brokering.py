"""A broker: nodes that people work on are for others, and files stay where they are."""

from collections.abc import Mapping
from typing import Any


def near_data(asked: Mapping[str, Any]) -> dict[str, float | str]:
    """Refuse nodes with the service `desktop`, and prefer nodes with more bytes of the inputs."""
    return {
        node["node"]: "people work on it" if "desktop" in node["services"] else node["input_bytes"]
        for node in asked["nodes"]
    }
