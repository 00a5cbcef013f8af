"""A notifier: each event is a line of a file."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def journal(event: Mapping[str, Any]) -> None:
    """Append the headline of an event to the file that `$JOURNAL` names, or `~/journal`."""
    path = Path(os.environ.get("JOURNAL", Path.home() / "journal"))
    with path.open("a") as file:
        print(event["event"], event["headline"], file=file)
