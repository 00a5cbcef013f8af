"""Servers and commands for tests of inputs that a wrapper brings."""

from pathlib import Path
from typing import Any

from tests.wrapper.client import Client, Frame, binary

DATA = b"ten bytes\n" * 1000


def given(locator: str, **changes: Any) -> Frame:
    """An input that has to be brought."""
    described = {"name": "raw", "path": None, "size": None, "required": True, "locator": locator}
    return {**described, **changes}


def rules(program: Path, **changes: Any) -> Frame:
    """The site's commands for a scheme."""
    command = f"{program} {{source}} {{dest}}"
    return {"commands": {"root": {"fetch": command, "store": command}}, "retry": 0.05, **changes}


READ = binary(script="cat raw > out; cp raw copy", outputs=[{"name": "out", "min_size": None}])


def run(node: Client, *inputs: Frame, attempt: int = 1, **more: Any) -> Frame:
    """Run a package that reads its inputs, to its end message."""
    more = {"transfer": {"retry": 0.05}, **more}
    return node.run(READ, inputs=list(inputs), keep=["out"], attempt=attempt, **more)


def calls(program: Path) -> list[str]:
    """How the program was called."""
    file = program.parent / "calls"
    return file.read_text().splitlines() if file.exists() else []
