"""Chains that begin in the middle, with files of another job (InGrid, case I)."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from d0ctl.daemon.desk import Desk
from d0ctl.jobfile.spec import Disposition, OutputSpec, PackageSpec
from d0ctl.show.why.file import file as why_file
from d0ctl.store.views import file_locations
from d0ctl.store.views.job_files import provenance
from tests.daemon.contact import turn_until
from tests.support.jobs import binary, job, package, phases, submitted
from tests.support.rows import read, value

RECO = "cat raw > reco; echo ran >> ran"


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    """A file of the user."""
    path = tmp_path / "raw"
    path.write_text("raw\n")
    return path


def chain(
    raw: Path, reco: str = RECO, root: str = "cat reco > hist", name: str = "reco"
) -> PackageSpec:
    """Two binaries, of whose files the first one is kept."""
    kept = OutputSpec("reco", dispositions=frozenset({Disposition.RETAIN_TEMP}))
    ran = OutputSpec("ran", dispositions=frozenset({Disposition.RETAIN_TEMP}))
    return package(
        binary(reco, [str(raw)], [kept, ran], name=name),
        binary(root, ["reco", "ran"], ["hist"], name="root"),
    )


def ran(desk: Desk, name: str, spec: PackageSpec) -> list[int]:
    """Run a job of a chain; return which of its binaries ran."""
    submitted(desk.store, job(name, [spec]))
    turn_until(desk, lambda: phases(desk.store).get(f"{name}/1/1/1") == "done")
    attempt = max(row[0] for row in read(desk.store, "attempt", "id"))
    return [row[0] for row in read(desk.store, "binary_attempt", "seq", by="seq",
                                   attempt_id=attempt)]  # fmt: skip


def facts(desk: Desk, job: str) -> Iterable[str]:
    """What is said of the intermediate file."""
    return why_file(desk.store, file_locations.in_job(desk.store, job, "reco"), 0.0).facts


def test_a_chain_begins_with_the_kept_file_of_another_job_and_leaves_it_as_it_is(
    desk: Desk, raw: Path
) -> None:
    assert ran(desk, "one", chain(raw)) == [1, 2]

    changing = chain(raw, root="echo more >> reco; cat reco > hist", name="analyze-1")
    assert ran(desk, "two", changing) == [2]
    assert "reused it without running binary `analyze-1`: the outputs of binary 1 are intact, " \
        "as `one/1/1/1` left them" in " ".join(facts(desk, "two"))  # fmt: skip

    taken = [run.taken for run in provenance.runs_of_job(desk.store, "two", now=0.0)]
    assert taken == ["the outputs of binary 1 are intact, as `one/1/1/1` left them", None]

    assert ran(desk, "three", chain(raw)) == [1, 2]  # `two` has changed its copy
    assert ran(desk, "four", chain(raw)) == [2]
    assert ran(desk, "five", chain(raw)) == [2]
    for name in ("one", "four", "five"):
        file = file_locations.in_job(desk.store, name, "reco")
        copy = Path(value(desk.store, "location", "path", file_id=file.id))
        assert copy.read_text() == "raw\n"


@pytest.mark.parametrize("what", ["input", "binary", "copy", "site"])
def test_a_chain_begins_anew_if_anything_before_the_file_is_another(
    desk: Desk, raw: Path, what: str
) -> None:
    ran(desk, "one", chain(raw))
    if what == "input":
        raw.write_text("RAW\n")
    if what == "site":
        with desk.store.writing():
            desk.store.change("keep_setting", name="defaults", value='{"reuse-files": false}')
    if what == "copy":
        for path in read(desk.store, "location", "path", by="path"):
            if path[0].endswith("/reco"):
                Path(path[0]).unlink()

    spec = chain(raw, reco=f"true; {RECO}") if what == "binary" else chain(raw)

    assert ran(desk, "two", spec) == [1, 2]
