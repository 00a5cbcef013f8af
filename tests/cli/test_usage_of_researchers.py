"""The usage report counts for a researcher of the site what all of the originators did."""

from tests.cli.conftest import Type
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
