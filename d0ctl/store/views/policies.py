"""The policies of a site, its software, its jobs and packages, combined."""

import json
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct, field

from d0ctl.policy.decide import Case, Verdict, judge
from d0ctl.policy.rules import RESTARTED, Layer, Policy, combine
from d0ctl.select import Selector
from d0ctl.store.connection import Row, Store
from d0ctl.store.views import browse, selection

NOTHING = "{}"
"""A policy without any key."""

FOLLOWS = {"resubmit": "retried", "restart": "retried", "hold": "held", "fail": "failed"}
"""The consequence of a failure, by the answer of a policy."""

MOST_SHOWN = 50
"""How many different policies are listed at a time."""


class Policies(Struct):
    """The policies of a site, its software, its jobs and packages, each combined once."""

    store: Store
    site: str | None = None
    """The policy to use in place of the site's."""
    _site: str | None = None
    _software: dict[str, dict[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._site = self.site or self.store.value("setting", name="policy")
        for row in self.store.rows("policies_of_software"):
            self._software.setdefault(row["title"], {})[row["platform"]] = row["policy"]

    def of(
        self, job: str | None, package: str | None, software: str, platform: str | None
    ) -> Policy:
        """Return the policy of a package by the texts of its job and its own, and its software."""
        named = self._of_software(software, platform) if self._software else ()
        return _combined(self._site or NOTHING, named, job or NOTHING, package or NOTHING)

    def _of_software(self, titles: str, platform: str | None) -> tuple[tuple[str, str], ...]:
        """Return the policies of some software, by its title, for a platform or for any."""
        found = []
        for title in json.loads(titles):
            entries = self._software.get(title, {})
            text = entries.get(platform or "") or entries.get("")
            if text is not None:
                found.append((title, text))
        return tuple(found)


@lru_cache(maxsize=1024)
def _combined(site: str, software: tuple[tuple[str, str], ...], job: str, package: str) -> Policy:
    layers: list[Layer] = [("site", json.loads(site))]
    layers += [(f"software {title}", json.loads(text)) for title, text in software]
    layers += [("job", json.loads(job)), ("package", json.loads(package))]
    return combine(layers)


class InForce(Struct, frozen=True):
    """A policy and its scope: software, and how many selected packages, with one of them."""

    policy: Policy
    software: tuple[str, ...] = ()
    packages: int | None = None
    sample: str | None = None
    differs_in: str | None = None
    """The selector of packages of which some have rules of their own beside these."""


def in_force(store: Store, wanted: Selector | None, *, now: float) -> list[InForce]:
    """Return the policies for a site, a job, or the selected packages; limited."""
    policies = Policies(store)
    if wanted is None:
        return [InForce(policies.of(None, None, "[]", None))]
    if wanted.is_one and wanted.level == "job":
        job = browse.job(store, wanted.job)
        differs = f"{job.name}/*" if store.value("has_package_rules", job=job.id) else None
        rows = store.rows("policies_of_job", job=job.id)
        return [_of_job(policies, row, differs) for row in rows]
    selected = selection.choose(store, wanted, now=now)
    return [_of_some(store, policies, row)
            for row in selected.rows("policies_of_selected", limit=MOST_SHOWN)]  # fmt: skip


def _of_job(policies: Policies, row: Row, differs_in: str | None) -> InForce:
    software = row["software"] or "[]"
    return InForce(policies.of(row["job_policy"], None, software, None),
                   tuple(json.loads(software)), differs_in=differs_in)  # fmt: skip


def _of_some(store: Store, policies: Policies, row: Row) -> InForce:
    return InForce(
        policies.of(row["job_policy"], row["policy"], row["software"], None),
        tuple(json.loads(row["software"])),
        row["packages"],
        str(store.value("path_of", package=row["sample"])),
    )


def of_package(store: Store, package: int) -> Policy:
    """Return the policy of one package."""
    row = store.row("policy_of_package", package=package)
    assert row is not None
    return Policies(store).of(row["job_policy"], row["policy"], row["software"], row["platform"])


class Trial(Struct):
    """The recorded outcomes of failures for a reason, and the decisions of another policy."""

    reason: str
    count: int = 0
    happened: Counter[str] = field(default_factory=Counter)
    would: Counter[str] = field(default_factory=Counter)


def try_out(store: Store, policy: Mapping[str, Any], *, since: float) -> list[Trial]:
    """Judge the failures since a time by another policy of the site, each as it was recorded.

    What d0ctl blamed on a bad node runs elsewhere under any policy.

    The most frequent reason comes first.
    """
    policies, found = Policies(store, site=json.dumps(policy)), dict[str, Trial]()
    largest = store.value("largest_memory")
    for row in store.rows("recorded_failures", since=since):
        trial = found.setdefault(row["reason"], Trial(row["reason"]))
        trial.count += 1
        trial.happened[FOLLOWS.get(row["answer"], "failed")] += 1
        rules = policies.of(row["job_policy"], row["policy"], row["software"], row["platform"])
        is_forgiven = row["answer"] == Verdict.RESTART.value and row["reason"] not in RESTARTED
        verdict = Verdict.RESTART if is_forgiven else judge(rules, _case(row, largest)).verdict
        trial.would[FOLLOWS[verdict.value]] += 1
    return sorted(found.values(), key=lambda trial: (-trial.count, trial.reason))


def _case(row: Row, largest: int | None) -> Case:
    return Case(
        reason=row["reason"], restarts=row["restarts"], tries=row["tries"] + 1,
        failures=row["failures"] + 1, lasted=row["lasted"] or 0.0,
        all_lasted=row["all_lasted"] + (row["lasted"] or 0.0), rss=row["rss"],
        memory=row["memory"], disk=row["disk"], most_disk=row["most_disk"],
        wall_time=row["wall_time"], largest=largest, has_others=bool(row["has_others"]),
        reported=row["outcome"] != "lost",
    )  # fmt: skip
