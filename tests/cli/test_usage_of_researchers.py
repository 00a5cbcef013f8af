"""The usage report counts for a researcher of the site what all of the originators did."""

import time

from tests.cli.conftest import Type
from tests.support import rows
from tests.support.building import document, job, line, package
from tests.support.site import Site


def test_jobs_of_all_logins_of_a_researcher_count_together(d0ctl: Type, site: Site) -> None:
    with site.store.writing():
        said = '{"max": {"mail": "max@example.org"}}'
        site.store.change("keep_setting", name="researchers", value=said)
        site.store.forget()
    for number, who in enumerate(("max", "max@lab01", "max@example.org", "eve@lab01")):
        site.submit(job(("make", [line(package("f"))]), name=f"job{number}", originator=who))
        site.finish(f"job{number}/1/1/1")

    answer = document(d0ctl("report", "usage", "--by", "researcher", "--json").stdout)

    found = {one["researcher"]: one["attempts"] for one in answer["by_researcher"]}
    assert found == {"max": 3, "eve@lab01": 1}


def test_archived_jobs_count_too_if_that_is_asked(d0ctl: Type, site: Site) -> None:
    for name in ("old", "older", "new"):
        site.submit(job(("make", [line(package("f"))]), name=name, originator="max"))
        site.finish(f"{name}/1/1/1")
        if name != "new":
            rows.change(site.store, "job", {"name": name}, ended=time.time())
            assert d0ctl("archive", name, "--as", name, "--yes").exit_code == 0

    alone = d0ctl("report", "usage", "--by", "researcher")
    all_of_them = d0ctl("report", "usage", "--with-archives", "--json")

    assert "2 archives are not counted: --with-archives counts all\n" in alone.stderr
    found = document(all_of_them.stdout)
    assert found["total"]["attempts"] == 3 and all_of_them.stderr == ""
    assert [one["attempts"] for one in found["by_researcher"]] == [3]
    assert {one["job"] for one in found["by_job"]} == {"old", "older", "new"}
    for words in (["new", "--with-archives"], ["--archive", "old", "--with-archives"]):
        assert d0ctl("report", "usage", *words).exit_code == 2
