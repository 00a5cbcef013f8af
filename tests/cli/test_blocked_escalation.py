"""A failure is not retried with more as a rule for it says `tries: 0`: which, and what helps."""

import json
from typing import Any

import pytest

from tests.cli.conftest import Type
from tests.support.building import job, line, package
from tests.support.rows import insert
from tests.support.site import Site

MORE: dict[str, Any] = {"escalate": {"memory": 1.5}}
NONE: dict[str, Any] = {"tries": 0}


@pytest.mark.parametrize(
    ("at_site", "own", "said"),
    [
        (MORE, NONE, "(package) does not retry `out-of-memory`: its `tries: 0` in the job file "
         "overrides `escalate` in the site file; `tries: 1` there would, with more"),
        (NONE, MORE, "(site) does not retry `out-of-memory`: its `tries: 0` in the site file "
         "overrides `escalate` in the job file; `tries: 1` there would, with more"),
        (NONE, {}, "(site) does not retry `out-of-memory`: `policy: {out-of-memory: {tries: 1, "
         "escalate: {memory: 1.5}}}` in place of its `tries: 0` in the site file would, with more"),
        ({}, {}, "(default) does not retry `out-of-memory`: `policy: {out-of-memory: {escalate: "
         "{memory: 1.5}}}` would, with more"),
    ],
)  # fmt: skip
def test_a_rule_that_blocks_an_escalation_is_named(
    d0ctl: Type, site: Site, at_site: dict[str, Any], own: dict[str, Any], said: str
) -> None:
    insert(site.store, "setting", name="policy", value=json.dumps({"out-of-memory": at_site}))
    site.submit(job(("a", [line(package("x", policy={"out-of-memory": own}))])))
    site.fail("prod/1/1/1", reason="out-of-memory")

    answer = " ".join(d0ctl("why", "prod/1/1/1").stdout.split())

    assert f"the policy {said}" in answer
    assert "d0ctl retry prod/1/1/1 --memory " in answer
