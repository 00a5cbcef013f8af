"""Retries that are suggested after a failure, and those that are not."""

import shlex
from typing import Any

import pytest

from tests.cli.conftest import Type
from tests.cli.suggestions import suggested
from tests.support.building import Site, job, line, package
from tests.support.rows import change


def test_after_an_end_by_lack_of_memory_a_size_is_suggested(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("x", memory=300_000_000))])))
    site.fail("prod/1/1/1", reason="out-of-memory", rss=403_000_000)

    answer = suggested(d0ctl, "why", "prod/1/1/1")

    assert "d0ctl retry prod/1/1/1 --memory 700MB" in answer
    assert "it used 403 MB of memory" in d0ctl("why", "prod/1/1/1").stdout


def test_when_no_node_has_more_memory_no_retry_is_suggested(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("x", memory=8 << 30))])))
    site.fail("prod/1/1/1", reason="out-of-memory", rss=8 << 30)

    answer = suggested(d0ctl, "why", "prod/1/1/1")

    assert not [command for command in answer if command.startswith("d0ctl retry")]
    assert "no node can take it with more" in d0ctl("why", "prod/1/1/1").stdout


@pytest.mark.parametrize(
    ("reason", "limit", "option"),
    [("wall-time", {"wall_time": 60.0}, "--wall-time 2m"),
     ("disk-full", {"disk": 5_000_000}, "--disk 8MB")],
)  # fmt: skip
def test_after_a_limit_was_reached_more_of_it_is_suggested(
    site: Site, d0ctl: Type, reason: str, limit: dict[str, Any], option: str
) -> None:
    site.submit(job(("a", [line(package("x", **limit))])))
    for _ in range(5):
        if site.phase("prod/1/1/1") != "failed":
            with site.store.writing():
                change(site.store, "package", {"phase": "cooloff"}, phase="ready")
            site.fail("prod/1/1/1", reason=reason)

    assert f"d0ctl retry prod/1/1/1 {option}" in suggested(d0ctl, "why", "prod/1/1/1")


@pytest.mark.parametrize(
    "reason",
    ["exit-code", "missing-output", "verification", "looping", "seg-fault", "log-message",
     "site:bad-field"],
)  # fmt: skip
def test_no_plain_retry_is_suggested_for_what_would_fail_again(
    site: Site, d0ctl: Type, reason: str
) -> None:
    site.submit(job(("a", [line(package(f"x{n}")) for n in (1, 2)])))
    site.fail("prod/1/1/1", reason=reason)
    site.fail("prod/1/2/1", reason=reason)

    for asked in (["why", "prod/1/1/1"], ["why", "prod"], ["status", "prod"]):
        answer = d0ctl(*asked).stdout
        listed = [text for text in answer.splitlines() if text.startswith("  d0ctl retry")]
        assert listed == []
        assert "tries: 3" not in answer
    assert f"`d0ctl retry 'prod:failed' --failed-for {reason}`" in d0ctl("why", "prod").stdout


def test_for_alike_failures_one_command_retries_all(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package(f"x{n}", memory=300_000_000)) for n in (1, 2, 3)])))
    for number, used in ((1, 403_000_000), (2, 310_000_000)):
        site.fail(f"prod/1/{number}/1", reason="out-of-memory", rss=used)

    command = "d0ctl retry 'prod:failed' --failed-for out-of-memory --memory 700MB"

    assert command in suggested(d0ctl, "why", "prod")
    assert command in suggested(d0ctl, "status", "prod")
    assert "would retry 2 packages" in d0ctl(*shlex.split(command)[1:], "--dry-run").stdout
