"""What a site file says of failures, and what follows them then."""

from typing import Any

import pytest

from d0ctl.show.drawing.remark_texts import remark
from d0ctl.store import Store
from d0ctl.store.views import browse
from tests.store.failing import fail, launch, row, wait
from tests.support.jobs import NOW, job, simple, submitted
from tests.support.site import Site
from tests.support.site_file import apply_site

HOUR = 3600.0

SEQUENCES: dict[str, tuple[str, str, dict[str, Any], list[str]]] = {
    "defaults": (
        "looping: {tries: 0}", "hook", {},
        ["cooloff 300", "cooloff 300", "cooloff 300", "failed"],
    ),
    "tries": ("hook: {tries: 1}", "hook", {}, ["cooloff 300", "failed"]),
    "delay": (
        "hook: {delay: [1m, 2m]}", "hook", {},
        ["cooloff 60", "cooloff 120", "cooloff 120", "failed"],
    ),
    "factor": (
        "hook: {delay: 1m, factor: 3}", "hook", {},
        ["cooloff 60", "cooloff 180", "cooloff 540", "failed"],
    ),
    "longest": (
        "hook: {delay: 1m, factor: 3, longest: 2m}", "hook", {},
        ["cooloff 60", "cooloff 120", "cooloff 120", "failed"],
    ),
    "elsewhere": ("hook: {elsewhere: only}", "hook", {}, ["failed"]),
    "hold": ("exit-code: {hold: yes}", "exit-code", {}, ["held"]),
    "release": ("exit-code: {hold: yes, release: 10m}", "exit-code", {}, ["held 600"]),
    "passive": ("hook: {passive: yes}", "hook", {}, ["failed"]),
    "never tries": ("never: {tries: 2}", "hook", {}, ["cooloff 300", "cooloff 300", "failed"]),
    "never attempt": ("never: {attempt: 1h}", "hook", {"started": NOW - 2 * HOUR}, ["failed"]),
    "never all-attempts": (
        "never: {all-attempts: 3h}", "hook", {"started": NOW - 2 * HOUR}, ["cooloff 300", "failed"],
    ),
    "never memory": ("never: {memory: 1GB}", "hook", {"rss": 1_500_000_000}, ["failed"]),
    "no such limits": (
        "never: {memory: 4GB, attempt: no, all-attempts: no}", "hook",
        {"rss": 3_000_000_000, "started": NOW - 100 * HOUR},
        ["cooloff 300", "cooloff 300", "cooloff 300", "failed"],
    ),
}  # fmt: skip
"""A policy, a reason and more of the end, and each phase with the seconds until it ends."""


@pytest.mark.parametrize("key", SEQUENCES)
def test_the_consequence_of_a_failure_is_set_by_the_site(store: Store, key: str) -> None:
    policy, reason, more, expected = SEQUENCES[key]
    apply_site(store, f"policy: {{{policy}}}")
    submitted(store, job("one", [simple()]))
    site = Site.of(store, cpus=2)

    found = []
    for _ in expected:
        launch(site)
        after = fail(store, reason, **more)
        until = after["not_before"]
        found.append(after["phase"] + (f" {until - NOW:.0f}" if until else ""))
        wait(store, until or NOW)

    assert found == expected


@pytest.mark.parametrize(("key", "changed"), [("elsewhere: yes", True), ("elsewhere: no", False)])
def test_the_next_attempt_goes_to_another_node_if_the_site_says(
    store: Store, key: str, changed: bool
) -> None:
    apply_site(store, f"policy: {{hook: {{{key}}}}}")
    submitted(store, job("one", [simple()]))
    site = Site.of(store, "other", cpus=2)
    first = launch(site)
    fail(store, "hook")
    wait(store, NOW + 300)

    assert (launch(site) != first) is changed


@pytest.mark.parametrize(
    ("reason", "factor", "expected"),
    [
        ("out-of-memory", "memory: 1.5", (1500, 60.0)),
        ("wall-time", "wall-time: 2", (1000, 120.0)),
    ],
)
def test_the_next_attempt_gets_as_much_more_as_the_site_says(
    store: Store, reason: str, factor: str, expected: tuple[int, float]
) -> None:
    apply_site(store, f"policy: {{{reason}: {{escalate: {{{factor}}}}}}}")
    submitted(store, job("one", [simple(memory=1000, wall_time=60.0)]))
    launch(Site.of(store, cpus=2))

    after = fail(store, reason)

    assert (after["phase"], after["memory"], after["wall_time"]) == ("ready", *expected)


@pytest.mark.parametrize(("key", "first"), [("priority: 20", 1), ("priority: 5", 2)])
def test_the_next_attempt_has_the_priority_that_the_site_adds(
    store: Store, key: str, first: int
) -> None:
    apply_site(store, f"policy: {{exit-code: {{tries: 1, {key}}}}}")
    submitted(store, job("low", [simple()], priority=40))
    site = Site.of(store, cpus=1)
    launch(site)
    fail(store, "exit-code")
    submitted(store, job("usual", [simple()], priority=50))

    site.schedule()

    assert [row(store, package)["phase"] for package in (1, 2)].index("assigned") + 1 == first


@pytest.mark.parametrize(
    ("key", "note"),
    [
        ("hold: job", "`one/1/1/1` failed (exit-code), and its rule says `hold: job`"),
        ("hold: no", None),
    ],
)
def test_the_whole_job_is_held_if_the_site_says(store: Store, key: str, note: str | None) -> None:
    apply_site(store, f"policy: {{exit-code: {{{key}}}}}")
    submitted(store, job("one", [simple(), simple()]))
    site = Site.of(store, cpus=1)
    launch(site)

    assert fail(store, "exit-code")["phase"] == "failed"

    assert remark(browse.job(store, "one").hold_note) == note
    assert (site.schedule() == 0) is (note is not None)
