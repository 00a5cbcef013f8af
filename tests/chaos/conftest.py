"""What the tests of chaos have in common: an undisturbed run to hold all others against."""

import fcntl
import json
import os

import pytest

from tests.chaos.checks import Results
from tests.chaos.plan import calm
from tests.chaos.play import play


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """The results of a run without faults, made by one of all test processes."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    kept = folder / "undisturbed.json"
    with (folder / "undisturbed.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            outcome = play(calm(), None)
            assert not outcome.problems, f"{outcome.problems}\n{outcome.report}"
            kept.write_text(json.dumps({k: v.decode() for k, v in outcome.results.items()}))
    found: dict[str, str] = json.loads(kept.read_text())
    return {name: text.encode() for name, text in found.items()}
