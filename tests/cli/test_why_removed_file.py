"""`why` of a file of which no copy is left: who or what removed the last one, and why."""

import time

from d0ctl.store.files import copies
from d0ctl.store.jobs import unneeded_files
from d0ctl.units import moment
from tests.cli.conftest import Type
from tests.cli.file_answers import reported
from tests.support.building import production
from tests.support.rows import change, read, value
from tests.support.site import Site


def read_by_all(site: Site, disposition: str | None = "retain-temp") -> None:
    """Make `gen-1`, which has this disposition; its only reader is done."""
    site.up()
    site.submit(production(lines=1))
    for path in ("prod/1/1/1", "prod/1/1/2"):
        site.finish(path)
    with site.store.writing():
        change(site.store, "file", {"name": "gen-1"}, disposition=disposition)


def cause(site: Site, d0ctl: Type) -> tuple[str, str]:
    """Return why `gen-1` is gone, and when it was removed."""
    found = reported(d0ctl, "prod:gen-1")
    gone = "file `gen-1` of job `prod` was made by `prod/1/1/1` and is gone: "
    assert found["status"] == "purged"
    assert found["answer"].startswith(gone)
    at = value(site.store, "file", "removed", name="gen-1")
    assert found["details"]["file"]["removed"] == at
    return found["answer"].removeprefix(gone), moment(at, time.time())


def make_space(site: Site, wanted: int) -> None:
    """Have copies removed on this machine because its disk is full."""
    with site.store.writing():
        assert unneeded_files.make_space(site.store, 1, wanted, now=time.time())


def test_a_file_that_a_person_freed_names_person_node_time_and_reason(
    site: Site, d0ctl: Type
) -> None:
    read_by_all(site)
    freed = d0ctl("node", "free", "localhost", "10B", "--reason", "disk tight", "--yes")
    assert freed.exit_code == 0, freed.output

    why, at = cause(site, d0ctl)

    ((actor,),) = read(site.store, "action", "actor", verb="node free")
    assert why == f"{actor} freed it on `localhost` at {at}: disk tight"


def test_a_file_that_was_freed_without_a_reason_names_none(site: Site, d0ctl: Type) -> None:
    read_by_all(site)
    assert d0ctl("node", "free", "localhost", "10B", "--yes").exit_code == 0

    why, at = cause(site, d0ctl)

    assert why.endswith(f" freed it on `localhost` at {at}")


def test_a_file_that_a_person_purged_names_person_time_and_reason(site: Site, d0ctl: Type) -> None:
    read_by_all(site)
    purged = d0ctl("file", "purge", "prod:gen-1", "--reason", "purge test", "--yes")
    assert purged.exit_code == 0, purged.output

    why, at = cause(site, d0ctl)

    ((actor,),) = read(site.store, "action", "actor", verb="file purge")
    assert why == f"{actor} purged it at {at}: purge test"


def test_a_file_that_was_removed_for_space_names_the_node(site: Site, d0ctl: Type) -> None:
    read_by_all(site)
    make_space(site, 10)

    why, at = cause(site, d0ctl)

    assert why == f"d0ctl removed it at {at} because space was needed on `localhost`"


def test_a_file_whose_last_copy_was_lost_after_its_readers_ended_says_so(
    site: Site, d0ctl: Type
) -> None:
    read_by_all(site)
    ((file, cluster),) = read(site.store, "location", "file_id", "cluster_id", by="file_id",
                              file_id=value(site.store, "file", "id", name="gen-1"))  # fmt: skip
    with site.store.writing():
        copies.lose(site.store, [(file, cluster)], now=time.time())

    assert cause(site, d0ctl)[0] == "its last copy was lost"


def test_a_removed_file_that_is_made_again_says_why_it_was_removed(site: Site, d0ctl: Type) -> None:
    read_by_all(site)
    make_space(site, 10)
    assert d0ctl("set-status", "prod/1/1/1", "unscheduled", "--yes").exit_code == 0

    found = reported(d0ctl, "prod:gen-1")

    assert found["status"] == "lost"
    assert any("because space was needed on `localhost`" in fact for fact in found["facts"])


def test_an_unneeded_file_is_gone_and_can_be_made_again(site: Site, d0ctl: Type) -> None:
    read_by_all(site, disposition=None)
    with site.store.writing():
        unneeded_files.clean_up(site.store, now=time.time())

    found = reported(d0ctl, "prod:gen-1")

    assert cause(site, d0ctl)[0] == "it was removed because no package needed it"
    assert found["commands"] == [
        "d0ctl file set-disposition prod:gen-1 retain-indef   "
        "# keeps it on its node once it is made again",
        "d0ctl set-status prod/1/1/1 unscheduled",
    ]
    assert "1 package that read it has ended" in found["facts"]
    for words in ("status prod/1/1/1", "status prod/1/1/2", "file list prod:gen-1"):
        rows = d0ctl(*words.split()).stdout.splitlines()
        assert any("gen-1" in row and " purged" in row for row in rows)


def test_only_a_file_that_packages_read_is_made_again_if_one_is_retried(
    site: Site, d0ctl: Type
) -> None:
    read_by_all(site)
    for path in ("prod/2/1/1", "prod/3/1/1"):
        site.finish(path)
    again = "it is made again if a package that reads it is retried"
    for name in ("gen-1", "plot.png"):
        assert d0ctl("file", "purge", f"prod:{name}", "--yes").exit_code == 0

    assert again in reported(d0ctl, "prod:gen-1")["facts"]
    facts = reported(d0ctl, "prod:plot.png")["facts"]
    assert again not in facts and "no package reads it" in facts


def test_an_unneeded_file_that_is_kept_from_now_on_is_only_made_again(
    site: Site, d0ctl: Type
) -> None:
    read_by_all(site, disposition=None)
    with site.store.writing():
        unneeded_files.clean_up(site.store, now=time.time())
    d0ctl("file", "set-disposition", "prod:gen-1", "retain-indef")

    assert reported(d0ctl, "prod:gen-1")["commands"] == ["d0ctl set-status prod/1/1/1 unscheduled"]
