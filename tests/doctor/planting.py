"""What tests of the doctor plant, and how they look at it."""

import os
import time
from pathlib import Path

from d0ctl.doctor.finding import Finding
from tests.doctor.conftest import Found


def only(found: Found) -> Finding:
    """The one thing that is wrong."""
    (finding,) = found()
    return finding


def old(path: Path, seconds: float, text: str = "?") -> Path:
    """A file of this age."""
    path.write_text(text)
    os.utime(path, (time.time() - seconds,) * 2)
    return path
