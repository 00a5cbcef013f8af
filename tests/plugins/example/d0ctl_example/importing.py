"""An importer: a file with a shell command in each line."""

import json
from pathlib import Path


def commands(path: Path) -> tuple[str, list[str]]:
    """Return a job file with a line for each command, and a sentence for each that is left out."""
    lines, left_out = [], []
    for number, text in enumerate(path.read_text().splitlines(), start=1):
        if text.rstrip().endswith("&"):
            left_out.append(f"{path.name}:{number}: a command in the background")
        elif text.strip():
            lines.append({"run": text})
    # JSON is YAML as well.
    return json.dumps({"job": path.stem, "stages": [{"lines": lines}]}, indent=2) + "\n", left_out
