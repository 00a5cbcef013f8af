"""Jobs of which successful packages are out of date, in the list of jobs and for scripts."""

from pathlib import Path

import pytest

from tests.cli.conftest import Type
from tests.support.building import production
from tests.support.rows import insert
from tests.support.site import Site

REMARK = "some out of date"


def test_the_list_of_jobs_and_the_check_of_one_say_that_packages_are_out_of_date(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    before = d0ctl("status").stdout + d0ctl("status", "-q", "prod").stdout

    insert(site.store, "outdated_package", package_id=site.id_of("prod/1/1/1"), job_id=1,
           by_recipe=1)  # fmt: skip

    assert REMARK not in before
    assert REMARK in d0ctl("status").stdout
    assert f"packages done, {REMARK};" in d0ctl("status", "-q", "prod").stdout
    assert REMARK not in d0ctl("status", "-q", "prod/1").stdout


def test_a_package_that_runs_again_is_not_called_out_of_date(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    insert(site.store, "outdated_package", package_id=site.id_of("prod/1/2/1"), job_id=1,
           by_recipe=1)  # fmt: skip

    assert REMARK not in d0ctl("status").stdout


def merged(site: Site) -> None:
    """A job whose lines have succeeded, and what merges their files."""
    site.submit(production())
    for number in (1, 2, 3):
        site.finish(f"prod/1/{number}/1")
        site.finish(f"prod/1/{number}/2")
    site.finish("prod/2/1/1")


@pytest.mark.parametrize("again", [(), ("--again",)])
def test_nothing_is_out_of_date_once_a_dropped_line_is_restored(
    site: Site, d0ctl: Type, again: tuple[str, ...]
) -> None:
    merged(site)
    site.finish("prod/3/1/1")

    d0ctl("kill-line", "prod/1/2", "--drop-outputs")
    dropped = d0ctl("status").stdout
    d0ctl("restore-line", "prod/1/2", *again)

    assert REMARK in dropped
    assert REMARK not in d0ctl("status").stdout


def test_a_package_stays_out_of_date_while_another_of_its_inputs_is_dropped(
    site: Site, d0ctl: Type
) -> None:
    merged(site)
    d0ctl("kill-line", "prod/1/2", "--drop-outputs")
    d0ctl("kill-line", "prod/1/3", "--drop-outputs")

    d0ctl("restore-line", "prod/1/2")

    assert REMARK in d0ctl("status").stdout


def test_readers_in_other_jobs_are_out_of_date_only_by_what_they_have_read_themselves(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.submit(production(lines=2))
    for name, file in (("direct", "prod:sim-2"), ("later", "prod:all")):
        (path := tmp_path / f"{name}.yaml").write_text(
            f"job: {name}\nstages: [{{lines: [{{run: 'cat x > {name}', inputs: ['{file}'], "
            f"outputs: {name}}}]}}]\n"
        )
        assert d0ctl("submit", str(path)).exit_code == 0
    for package in ("1/1/1", "1/1/2", "1/2/1", "1/2/2", "2/1/1"):
        site.finish(f"prod/{package}")
    for name in ("direct", "later"):
        site.finish(f"{name}/1/1/1")

    said = d0ctl("kill-line", "prod/1/2", "--drop-outputs").stdout

    assert "to run them again without: d0ctl update prod --again\n" in said
    assert "must be dropped first: d0ctl kill-line direct/1/1 --drop-outputs\n" in said
    found = {name: "out of date" in d0ctl("status", name).stdout for name in READERS}
    assert found == {"prod": True, "direct": True, "later": False}
    d0ctl("restore-line", "prod/1/2")
    assert not any("out of date" in d0ctl("status", name).stdout for name in READERS)


READERS = ("prod", "direct", "later")
