"""Jobs of the same name in several archives."""

from tests.cli.conftest import Type
from tests.support import rows
from tests.support.building import production
from tests.support.site import Site


def test_of_several_archived_jobs_of_a_name_the_last_one_is_found(site: Site, d0ctl: Type) -> None:
    for name, at in (("2026-11-30", 1.0), ("2026-11-30.1", 3.0), ("2026-11-30.2", 2.0)):
        site.submit(production("prod"))
        rows.change(site.store, "job", {"name": "prod"}, submitted=at, ended=at)
        assert d0ctl("kill", "prod", "--yes").exit_code == 0
        assert d0ctl("archive", "prod", "--yes", "--as", name).exit_code == 0

    said = d0ctl("status", "prod").stderr

    assert said.startswith("d0ctl: job `prod` was moved to archive `2026-11-30.1`\n")
