"""Each way a program can fail has its reason, and its own last words are shown."""

from typing import Any

import pytest

from tests.support.site import Site

JOB = """\
job: bad
stages:
  - name: stage
    lines:
      - {name: missing, run: "echo first >&2; no-such-program-anywhere"}
      - {name: missing-list, run: [no-such-program-anywhere]}
      - {name: segfault, run: "echo before >&2; echo last words of segfault >&2; kill -SEGV $$"}
      - {name: three, run: "echo before >&2; echo last words of three >&2; exit 3"}
      - {name: silent, run: "echo last words of silent >&2", outputs: [never.made]}
      - {name: killed, run: "echo before >&2; echo last words of killed >&2; kill -KILL $$"}
      - {name: good, run: "true"}
"""

# line: reason, exit code, signal, what it said last
WANTED: dict[int, tuple[str, int | None, int | None, str]] = {
    1: ("software-missing", 127, None, "no-such-program-anywhere"),
    2: ("software-missing", None, None, "no-such-program-anywhere"),
    3: ("seg-fault", None, 11, "last words of segfault"),
    4: ("exit-code", 3, None, "last words of three"),
    5: ("missing-output", 0, None, "last words of silent"),
    6: ("signal", None, 9, "last words of killed"),
}


@pytest.mark.parametrize("where", ["this machine", "ssh"])
def test_a_failure_has_its_reason_and_last_words(site: Site, where: str) -> None:
    if where == "ssh":
        site.add("farm")
        site.alone()
    done = site.d0ctl("run", site.write(JOB))
    screen = site.ok("status", "bad")
    history = site.ok("history", "bad")
    failures = site.json("history", "bad")["failures"]

    assert done.code == 1, done
    assert site.json("status", "bad")["status"] == "failed"
    for line, (reason, code, number, words) in WANTED.items():
        (one,) = (each for each in failures if each["path"] == f"bad/1/{line}/1")
        found = (one["reason"], one["exit_code"], one["signal"])
        assert found == (reason, code, number), one
        assert words in f"{one['stderr']} {one['message']}"
        assert words in history
    assert reasons(site) == {
        "exit-code": 1,
        "missing-output": 1,
        "seg-fault": 1,
        "signal": 1,
        "software-missing": 2,
    }
    assert any(words in screen for *_, words in WANTED.values())
    assert site.counts("bad") == {"failed": 6, "done": 1}
    package = site.package("bad/1/4/1")
    assert [one["exit_code"] for one in package["attempts"]] == [3]
    assert package["failures"][0]["reason"] == "exit-code"
    assert "last words of three" in site.ok("status", "bad/1/4/1")
    assert "last words of three" in site.ok("logs", "bad/1/4/1")
    why: Any = site.json("why", "bad/1/4/1")
    assert "exit-code" in why["answer"] and "last words of three" in why["stderr"]


def reasons(site: Site) -> dict[str, int]:
    """How often the job failed for what."""
    return {one["reason"]: one["count"] for one in site.json("history", "bad")["reasons"]}


def test_a_run_ends_with_the_reason_when_no_node_fits_the_rest(site: Site) -> None:
    text = "job: wide\nstages: [{name: a, lines: [{run: 'true'}, {run: 'true', cpus: 4000}]}]\n"
    file = site.folder / "wide.yaml"
    file.write_text(text)

    refused = site.d0ctl("run", file)
    forced = site.d0ctl("run", file, "--force")

    assert refused.code == 4
    assert "CPUs, needs 4,000)" in refused.err or "CPUs, needs 4000)" in refused.err
    assert forced.code == 1
    assert "`wide` stands still: 1 package is ready, and no node can take it" in forced.err
    assert site.package("wide/1/1/1")["phase"] == "done"
