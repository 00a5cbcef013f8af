"""Which version of a file was read from an old copy, also after its node was removed."""

import json

from tests.e2e.test_edited import read_old_copy
from tests.e2e.test_script_versions import digest
from tests.support.site import Site


def test_the_version_that_was_read_from_an_old_copy_stays_known_without_its_node(
    site: Site,
) -> None:
    data = site.jobs / "data.txt"
    data.write_text("v1\n")
    first = digest(data)
    read_old_copy(site)
    second = digest(data)

    def read(number: int) -> list[str]:
        """The checksums of the file by which a result on the second node was made."""
        text = site.ok("why", f"data:t{number}.txt", "--json")
        return [each["checksum"] for each in json.loads(text)["details"]["origin"]["inputs"]]

    def assert_known() -> None:
        """The first two packages there have read the first version, the last one the second."""
        assert [read(number) for number in (1, 2, 3)] == [[first], [first], [second]]
        assert first in site.ok("export", "data:t2.txt", "--format", "prov")
        assert second not in site.ok("export", "data:t2.txt", "--format", "prov")
        assert "has changed since 3 finished packages read it" in site.d0ctl("results", "data").err
        assert "changed since attempt 1: data.txt" in site.ok("status", "data/1/2/2")

    assert_known()
    site.ok("node", "remove", "farm")
    assert_known()
    path = site.jobs / "job.yaml"
    path.write_text(path.read_text().replace("nodes: farm", "nodes: localhost"))
    plan = site.ok("update", "data", "--dry-run")
    assert "3 packages out of date" in plan and "data/1/2/2" in plan, plan
    site.ok("update", "data", "--accept")
    assert "has changed since" not in site.d0ctl("results", "data").err
