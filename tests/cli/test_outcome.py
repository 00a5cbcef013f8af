"""What jobs come to, and that nothing which was not made counts as a success."""

import pytest

from tests.cli.building import Site, document, job, line, package, production
from tests.cli.conftest import Type


def test_a_job_of_which_a_part_was_killed_is_canceled(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")

    d0ctl("kill", "prod", "--reason", "wrong geometry")

    waited = d0ctl("wait", "prod")
    assert (waited.exit_code, waited.stdout) == (1, "`prod` is canceled: 1 of 8 packages done\n")
    assert document(d0ctl("status", "prod", "--json").stdout)["status"] == "canceled"
    why = d0ctl("why", "prod").stdout
    assert "job `prod` is canceled: 1 of 8 packages done, 7 canceled" in why
    assert "wrong geometry" in why
    assert "d0ctl retry 'prod:canceled'" in why


@pytest.mark.parametrize("verb", ["finish prod", "kill prod", "set-status prod/2/1/1 canceled"])
def test_no_verb_that_cancels_leaves_a_success(site: Site, d0ctl: Type, verb: str) -> None:
    site.submit(job(("a", [line(package("a"))]), ("b", [line(package("b", needs=["a"]))])))
    site.finish("prod/1/1/1")

    d0ctl(*verb.split(), "--yes")

    assert d0ctl("wait", "prod").exit_code == 1
    assert "canceled" in d0ctl("status", "prod").stdout.splitlines()[1]


def test_lines_that_were_dropped_on_purpose_do_not_count(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("a")), line(package("b"))])))
    site.finish("prod/1/1/1")

    d0ctl("kill-line", "prod/1/2", "--drop-outputs", "--yes")

    waited = d0ctl("wait", "prod")
    assert (waited.exit_code, waited.stdout) == (0, "`prod` is successful\n")
    assert document(d0ctl("status", "prod", "--json").stdout)["dropped"] == 1
