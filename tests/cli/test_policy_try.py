"""A trial of the policy in force decides what was decided."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from d0ctl.model import Address
from d0ctl.store.nodes import registry
from tests.cli.conftest import Type
from tests.support.building import document, job, line, package
from tests.support.site import Site

RAN = {"binary": 1, "started": 1.0, "ended": 2.0, "exit_code": None, "signal": 9, "cpu": 1.0,
       "rss": 1, "gap": 1.0}  # fmt: skip
GB = 10**9


@pytest.fixture
def tried(d0ctl: Type, tmp_path: Path) -> Any:
    """Put a policy into force; or try the one in force, and return its answer for a reason."""
    file = tmp_path / "site.yaml"

    def tried(policy: str = "") -> Any:
        if policy:
            file.write_text(f"policy: {policy}\n")
            assert d0ctl("site", "apply", str(file), "--yes").exit_code == 0
            return None
        (found,) = document(d0ctl("policy", "try", str(file), "--json").stdout)["reasons"]
        return found["happened"], found["would"]

    return tried


@pytest.mark.parametrize(("took", "follows"), [(8_000_000, "failed"), (5_000_000, "retried")])
def test_a_package_fails_that_used_more_than_its_disk(
    site: Site, tried: Any, took: int, follows: str
) -> None:
    tried("{exit-code: {tries: 2}}")
    site.submit(job(("a", [line(package("x", disk=6_000_000))])))
    site.fail("prod/1/1/1", reason="disk-full", exit_code=None, binaries=[{**RAN, "disk": took}])

    assert tried() == ({follows: 1}, {follows: 1})


def test_a_package_fails_without_another_node_if_it_needs_one(site: Site, tried: Any) -> None:
    tried("{exit-code: {tries: 2, elsewhere: only}}")
    site.submit(job(("a", [line(package("x"))])))
    site.fail("prod/1/1/1")

    assert tried() == ({"failed": 1}, {"failed": 1})


def test_a_package_is_retried_until_it_has_failed_on_each_node(site: Site, tried: Any) -> None:
    tried("{exit-code: {tries: 5, elsewhere: only}}")
    site.submit(job(("a", [line(package("x"))])))
    registry.add(site.store, Address("far", "ssh", "far"), cpus=1)
    site.up("far", machine_id="far")
    for name in ("localhost", "far"):
        site.launch("prod/1/1/1", name)
        site.end("prod/1/1/1", "failed", reason="exit-code")

    assert tried() == ({"retried": 1, "failed": 1}, {"retried": 1, "failed": 1})


def test_software_of_the_catalogue_is_installed_again_on_the_only_node(
    site: Site, tried: Any
) -> None:
    tried("{exit-code: {tries: 2}}")
    made = package("x")
    uses = replace(made, binaries=(replace(made.binaries[0], software="reco/v1"),))
    site.submit(job(("a", [line(uses)])))
    site.fail("prod/1/1/1", reason="software-missing")

    assert tried() == ({"retried": 1}, {"retried": 1})


def test_a_failure_is_judged_by_the_memory_that_it_had(site: Site, d0ctl: Type, tried: Any) -> None:
    tried("{exit-code: {tries: 2}}")
    site.submit(job(("a", [line(package("x", memory=GB))])))
    site.fail("prod/1/1/1", rss=3 * GB // 2)

    assert d0ctl("retry", "prod/1/1/1", "--memory", "2GB").exit_code == 0

    assert tried() == ({"failed": 1}, {"failed": 1})


def test_attempts_before_a_retry_count_for_the_time_of_all(
    site: Site, d0ctl: Type, tried: Any
) -> None:
    tried("{exit-code: {tries: 9}, never: {all-attempts: 3s}}")
    site.submit(job(("a", [line(package("x"))])))
    for _ in range(2):
        site.fail("prod/1/1/1")
    assert d0ctl("retry", "prod/1/1/1").exit_code == 0
    site.fail("prod/1/1/1")

    assert tried() == ({"retried": 1, "failed": 2}, {"retried": 1, "failed": 2})
