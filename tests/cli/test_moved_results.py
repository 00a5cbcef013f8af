"""Jobs that read files in results/ by their paths, and what moves or removes these."""

from pathlib import Path

import pytest

from tests.cli.conftest import Type
from tests.support.site import Site

SCAN = "job: scan\nstages: [{lines: [{run: 'date > m-1', outputs: m-1}]}]\n"


def submit(d0ctl: Type, file: Path, text: str, *more: str) -> str:
    """Submit a job file; what was printed."""
    file.write_text(text)
    done = d0ctl("submit", str(file), *more)
    assert done.exit_code == 0, done.stderr
    return str(done.stdout + done.stderr)


@pytest.fixture
def readers(site: Site, d0ctl: Type, tmp_path: Path) -> Path:
    """A folder of results of an archived job, files of which one of three jobs reads."""
    (folder := site.store.home.results / "scan").mkdir(parents=True)
    (beside := site.store.home.results / "scan-2").mkdir()
    for each in (folder, beside, tmp_path):
        (each / "m-1").write_text("1\n")
    for name, read in (("fit2", folder), ("beside", beside), ("apart", tmp_path)):
        text = f"job: {name}\nstages: [{{lines: [{{run: 'wc {{inputs}}', inputs: {read}/m-1}}]}}]\n"
        assert submit(d0ctl, tmp_path / f"{name}.yaml", text).startswith("submitted")
    return folder


def test_a_job_that_takes_the_name_of_earlier_results_names_who_reads_them(
    readers: Path, d0ctl: Type, tmp_path: Path
) -> None:
    (file := tmp_path / "scan.yaml").write_text(SCAN)
    planned = [d0ctl(verb, str(file), "--dry-run").stdout for verb in ("submit", "run")]
    other = submit(d0ctl, file, SCAN, "--as", "new", "--dry-run")
    done = submit(d0ctl, file, SCAN)

    read = "`fit2` reads files of results/scan"
    for said in planned:
        assert f"would be moved to {readers}.1\n{read}: packages that run after that would" in said
    assert read not in other
    assert f"now in {readers}.1\n{read}, which are in results/scan.1 now: packages that" in done
    assert "beside" not in done and "apart" not in done


@pytest.mark.parametrize("way", [[], ["--keep-results"]])
def test_the_removal_of_a_job_names_who_reads_its_results_by_their_paths(
    readers: Path, d0ctl: Type, tmp_path: Path, way: list[str]
) -> None:
    file = tmp_path / "scan.yaml"
    submit(d0ctl, file, SCAN)
    without = d0ctl("remove", "scan", "--dry-run").stdout
    readers.mkdir()
    (readers / "m-1").write_text("2\n")

    planned = d0ctl("remove", "scan", *way, "--dry-run").stdout
    done = d0ctl("remove", "scan", *way, "--yes").stdout

    gone = "packages of `fit2` read files "
    assert (
        f"{gone}in results/ that would not be there any more: they could not run again" in planned
    )
    assert f"{gone}that are not in results/ any more: they can't run again without these" in done
    assert "fit2" not in without
    assert not readers.exists()


def test_the_removal_of_a_job_and_its_reader_names_no_other(
    readers: Path, d0ctl: Type, tmp_path: Path
) -> None:
    submit(d0ctl, tmp_path / "scan.yaml", SCAN)
    readers.mkdir()
    (readers / "m-1").write_text("2\n")

    assert "fit2` read" not in d0ctl("remove", "*", "--dry-run").stdout
