"""The place for the traceback of a dashboard that crashed."""

import os
import time
from pathlib import Path

from d0ctl.config import Home


def keep(home: Home, traceback_text: str) -> Path:
    """Write a traceback into the home's logs, or without a home into the temporary folder."""
    folder = home.logs if home.logs.is_dir() else Path(os.environ.get("TMPDIR") or "/tmp")
    path = folder / f"tui-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    path.touch(mode=0o600, exist_ok=False)
    path.write_text(traceback_text)
    return path
