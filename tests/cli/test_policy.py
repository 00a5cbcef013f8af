"""Policies as they are shown, and what is said of packages that they have answered."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from d0ctl.config import Home
from tests.cli.conftest import Type
from tests.support.archives import RECO, packed
from tests.support.building import document, job, line, package, production
from tests.support.key_tables import documented
from tests.support.rows import change, insert
from tests.support.site import Site

RULES = {"exit-code": {"tries": 2, "delay": [3600.0]}}

VALUES = {
    "tries": {"12": "tries 12", "1000000": "tries 1000000"},
    "delay": {"90s": "delay 1m30s", "[1m, 1h]": "delay 1m 1h"},
    "factor": {"2": "factor 2", "1.5": "factor 1.5"},
    "longest": {"1h": "longest 1h"},
    "elsewhere": {"yes": "elsewhere", "no": "no elsewhere", "only": "elsewhere only"},
    "escalate": {"{memory: 1.5, wall-time: 2}": "memory x1.5 wall-time x2"},
    "priority": {"20": "priority 20"},
    "hold": {"yes": "hold", "no": "no hold", "job": "hold job"},
    "release": {"10m": "release 10m"},
    "passive": {"yes": "passive", "no": "no passive"},
}
"""Values of each key of a rule, and how `policy show` writes them."""

LIMITS = {
    "attempt": {"48h": "attempt over 2d (site)", "no": "attempt no limit (site)"},
    "all-attempts": {"3d": "all-attempts over 3d (site)", "no": "all-attempts no limit (site)"},
    "memory": {"8GB": "memory over 8GB (site)", "no": "memory no limit (site)"},
    "tries": {"1000000": "tries after 1000000 of them (site)", "no": "tries no limit (site)"},
}
"""The same for the limits of `never`."""


def test_each_documented_key_has_values_here() -> None:
    assert set(documented("policy")) == {
        *(("Rule", key) for key in VALUES), *(("Never", key) for key in LIMITS)
    }  # fmt: skip


@pytest.mark.parametrize(
    ("entry", "key", "value", "expected"),
    [
        (entry, key, value, expected)
        for entry, keys in (("exit-code", VALUES), ("never", LIMITS))
        for key, values in keys.items()
        for value, expected in values.items()
    ],
)
def test_each_value_of_a_policy_is_shown(
    d0ctl: Type, tmp_path: Path, entry: str, key: str, value: str, expected: str
) -> None:
    file = tmp_path / "site.yaml"
    file.write_text(f"policy: {{{entry}: {{{key}: {value}}}}}\n")
    assert d0ctl("site", "apply", str(file), "--yes").exit_code == 0

    shown = d0ctl("policy", "show").stdout.splitlines()

    if entry == "never":
        assert expected in " ".join(shown)
    else:
        (row,) = [line for line in shown if line.startswith("exit-code")]
        assert row.split(maxsplit=2) == ["exit-code", "site", expected]
    assert d0ctl("policy", "show", "--json").exit_code == 0
    assert d0ctl("site", "show").exit_code == 0


def test_without_a_home_the_defaults_hold(d0ctl: Type, usual_home: Home) -> None:
    answer = d0ctl("policy", "show").stdout

    assert "stage-in" in answer
    assert "tries 10, delay 5m, factor 2, longest 1h" in answer
    assert "never again: attempt over 1d, all-attempts over 1d12h, memory over 2GB" in answer
    assert not usual_home.exists()


def test_each_rule_shows_its_origin(d0ctl: Type, site: Site, tmp_path: Path) -> None:
    packed(tmp_path / "reco.tar.gz", RECO)
    file = tmp_path / "site.yaml"
    file.write_text(
        "software: [{name: reco, version: v1, archive: reco.tar.gz,\n"
        "            policy: {signal: {tries: 1}}}]\n"
        "policy: {exit-code: {tries: 2, delay: 10m}, never: {tries: no}}\n"
    )
    assert d0ctl("site", "apply", str(file), "--yes").exit_code == 0
    own = package("x", policy={"exit-code": {"tries": 4}})
    with_software = replace(own.binaries[0], software="reco/v1")
    own = replace(own, binaries=(with_software,))
    site.submit(job(("only", [line(own), line(package("y"))]), policy={"hook": {"hold": True}}))

    (shown,) = document(d0ctl("policy", "show", "prod/1/1/1", "--json").stdout)["policies"]

    rules = shown["rules"]
    assert rules["exit-code"] == {"tries": {"value": 4, "from": "package"},
                                  "delay": {"value": [600.0], "from": "site"}}  # fmt: skip
    assert rules["signal"]["tries"] == {"value": 1, "from": "software reco/v1"}
    assert rules["hook"]["hold"] == {"value": True, "from": "job"}
    assert rules["stage-in"]["tries"] == {"value": 10, "from": "default"}
    assert shown["never"]["tries"] == {"value": None, "from": "site"}
    assert (shown["packages"], shown["sample"]) == (1, "prod/1/1/1")
    assert "for prod/1/1/1" in d0ctl("policy", "show", "prod/1/*/*").stdout
    assert "tries no limit (site)" in d0ctl("policy", "show", "prod").stdout
    assert d0ctl("policy", "show", "prodd").exit_code == 3


def test_a_policy_read_from_the_database_is_unchanged(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    file = tmp_path / "site.yaml"
    text = ("policy:\n  out-of-memory:\n    escalate:\n      memory: 1.5\n"
            "  stage-in:\n    tries: 3\n    longest: 1h\n    delay:\n    - 5m\n"
            "  never:\n    memory: 'no'\n    all-attempts: 2d\n")  # fmt: skip
    file.write_text(text)
    d0ctl("site", "apply", str(file), "--yes")

    shown = d0ctl("site", "show").stdout

    assert "memory: 1.5" in shown
    file.write_text(shown)
    assert "no changes" in d0ctl("site", "apply", str(file), "--yes").stdout


def test_why_of_a_cooling_package_shows_end_reason_and_rule(d0ctl: Type, site: Site) -> None:
    site.submit(production(lines=1, policy=RULES))
    site.fail("prod/1/1/1")

    for words in (("status", "prod/1/1/1"), ("why", "prod/1/1/1"), ("history", "prod/1/1/1")):
        answer = d0ctl(*words).stdout
        assert "cooling off until " in answer
        assert "(try 1 of 2), after exit-code: binary 1 (tool) ended with exit code 3" in answer
    assert "d0ctl policy show prod/1/1/1" in d0ctl("why", "prod/1/1/1").stdout
    assert document(d0ctl("status", "prod/1/1/1", "--json").stdout)["not_before"] is not None
    screen = d0ctl("status", "prod").stdout
    assert "1 cooling off" in screen and "ready" not in screen
    assert "d0ctl retry prod:cooloff" in screen


def test_why_of_a_package_held_by_the_policy_shows_reason_and_end(d0ctl: Type, site: Site) -> None:
    rules = {"exit-code": {"hold": True, "release": 3600.0}}
    site.submit(production(lines=1, policy=rules))
    site.fail("prod/1/1/1")

    answer = d0ctl("why", "prod/1/1/1").stdout
    assert "has been held by the policy since" in answer
    assert "the policy releases it in" in answer
    assert "released as it is, it would most likely fail again" in answer
    assert "$ d0ctl logs prod/1/1/1" in answer
    assert "the policy releases it in" in d0ctl("status", "prod/1/1/1").stdout
    assert d0ctl("release", "prod/1/1/1").exit_code == 0
    assert site.phase("prod/1/1/1") == "ready"


def test_a_package_held_in_its_cool_off_says_that_it_cools_off_for_the_rest_after_release(
    d0ctl: Type, site: Site
) -> None:
    site.submit(production(lines=1, policy=RULES))
    site.fail("prod/1/1/1")
    assert d0ctl("hold", "prod/1/1/1").exit_code == 0

    for words in (("why", "prod/1/1/1"), ("history", "prod/1/1/1")):
        answer = d0ctl(*words).stdout
        assert "the policy releases" not in answer
        assert "after a release it cools off until " in answer
    d0ctl("release", "prod/1/1/1")

    assert site.phase("prod/1/1/1") == "cooloff"
    assert "is cooling off until " in d0ctl("why", "prod/1/1/1").stdout


def test_a_package_that_failed_for_good_says_to_fix_the_cause_first(
    d0ctl: Type, site: Site
) -> None:
    site.submit(production(lines=1))
    site.fail("prod/1/1/1")

    answer = d0ctl("why", "prod/1/1/1").stdout

    assert "a plain retry may fail again: fix the cause" in answer
    assert "then `d0ctl retry prod/1/1/1`" in answer


def test_another_policy_is_tried_on_the_recorded_failures_beside_what_happened(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    value = '{"exit-code": {"tries": 2}}'
    insert(site.store, "setting", name="policy", value=value)
    site.submit(production(lines=1))
    for _ in range(3):
        site.fail("prod/1/1/1")
    file = tmp_path / "other.yaml"

    def tried(policy: str, *words: str) -> object:
        file.write_text(f"policy: {policy}\n")
        return document(d0ctl("policy", "try", str(file), "--json", *words).stdout)["reasons"]

    one = {"reason": "exit-code", "count": 3, "happened": {"retried": 2, "failed": 1}}
    assert tried("{exit-code: {tries: 1}}") == [{**one, "would": {"retried": 1, "failed": 2}}]
    assert tried("{exit-code: {hold: yes}}") == [{**one, "would": {"held": 3}}]
    assert tried("{signal: {tries: 1}}") == [{**one, "would": {"failed": 3}}]
    assert tried("{}", "--since", "0s") == []
    shown = d0ctl("policy", "try", str(file)).stdout
    assert "2 retried and 1 failed" in shown and "3 failed" in shown
    assert "log-rules" not in shown
    assert site.phase("prod/1/1/1") == "failed"


def test_a_trial_of_a_policy_says_that_other_log_rules_are_not_tried(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    (file := tmp_path / "site.yaml").write_text("log-rules: [corrupt]\n")
    site.submit(production(lines=1))
    site.fail("prod/1/1/1")

    assert "the `log-rules` of the file differ" in d0ctl("policy", "try", str(file)).stdout
    assert d0ctl("site", "apply", str(file), "--yes").exit_code == 0
    assert "log-rules" not in d0ctl("policy", "try", str(file)).stdout


def test_what_a_bad_node_failed_is_tried_again_under_any_policy(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    site.submit(production(lines=1))
    site.fail("prod/1/1/1")
    change(site.store, "attempt", {}, answer="restart")
    (file := tmp_path / "other.yaml").write_text("policy: {}\n")

    (exit_code,) = document(d0ctl("policy", "try", str(file), "--json").stdout)["reasons"]

    assert exit_code["happened"] == exit_code["would"] == {"retried": 1}


@pytest.mark.parametrize(
    ("rule", "origin"),
    [
        ({"tries": 0}, "site"),
        ({"hold": "job"}, "site"),
        ({"delay": [60.0]}, "default"),
        ({}, "default"),
    ],
)
def test_a_failed_package_names_the_policy_that_set_its_rule(
    d0ctl: Type, site: Site, rule: dict[str, object], origin: str
) -> None:
    insert(site.store, "setting", name="policy", value=json.dumps({"seg-fault": rule}))
    site.submit(production(lines=1))
    site.fail("prod/1/1/1", reason="seg-fault")

    for target in ("prod", "prod/1/1/1"):
        answer = d0ctl("why", target).stdout
        assert f"the policy ({origin}) does not retry `seg-fault`" in answer


def test_a_rule_that_was_applied_after_the_failure_is_said_to_be_newer(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    file = tmp_path / "site.yaml"
    file.write_text("policy: {exit-code: {tries: 1}, never: {tries: 1}}\n")
    site.submit(production())
    site.fail("prod/1/1/1")
    later = "after this failure: a rule that it changed did not count yet"
    assert later not in d0ctl("why", "prod/1/1/1").stdout

    d0ctl("site", "apply", str(file), "--yes")

    assert later in " ".join(d0ctl("why", "prod/1/1/1").stdout.split())
    d0ctl("retry", "prod/1/1/1")
    site.fail("prod/1/1/1")
    site.fail("prod/1/1/1")
    assert later not in d0ctl("why", "prod/1/1/1").stdout
    d0ctl("site", "apply", str(file), "--yes")
    assert later not in d0ctl("why", "prod/1/1/1").stdout, "the rule is the same"


def test_a_job_whose_packages_have_rules_of_their_own_says_how_to_see_them(
    d0ctl: Type, site: Site
) -> None:
    site.submit(job(("a", [line(package("x", policy=RULES)), line(package("y"))])))
    site.submit(job(("a", [line(package("z"))]), name="plain"))

    answer = d0ctl("policy", "show", "prod").stdout

    assert answer.endswith("some packages have rules of their own: d0ctl policy show 'prod/*'\n")
    assert "exit-code         package  tries 2" in d0ctl("policy", "show", "prod/*").stdout
    assert "of their own" not in d0ctl("policy", "show", "plain").stdout
