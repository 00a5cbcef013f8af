"""Stores and binaries for tests of stage-out."""

from pathlib import Path
from typing import Any

from tests.wrapper.client import Client, Frame, binary

DATA = b"ten bytes\n" * 1000

MAKE = binary(
    script="printf 'ten bytes\\n%.0s' $(seq 1000) > out; echo log > log",
    outputs=[{"name": "out", "min_size": None}, {"name": "log", "min_size": None}],
)


def rules(store: Path, **changes: Any) -> Frame:
    """The site's command for the mass storage."""
    command = f"{store.parent}/xrdcp {{source}} {{dest}}"
    return {"commands": {"root": {"store": command}}, "retry": 0.05, **changes}


def made(*locators: str, **more: Any) -> Frame:
    """What a package says that has its output delivered."""
    deliver = [{"name": "out", "locator": locator} for locator in locators]
    return {"keep": ["out", "log"], "deliver": deliver, "transfer": {"retry": 0.05}, **more}


def run(node: Client, *locators: str, attempt: int = 1, **more: Any) -> Frame:
    """Run a package whose output is delivered, to its end message."""
    return node.run(MAKE, attempt=attempt, **made(*locators, **more))
