"""Bad days from end to end: nothing is lost, `why` names the cause, and others go on."""

import time
from pathlib import Path

import pytest

from d0ctl.daemon.desk import Desk
from d0ctl.jobfile.spec import BinarySpec, InputSpec
from d0ctl.select import parse
from d0ctl.show.why.package import package as why_package
from d0ctl.store.views import browse
from d0ctl.store.views.job_files.eta_audit import audit
from tests.daemon.contact import turn_until
from tests.support.jobs import binary, job, package, phases, simple, submitted
from tests.support.rows import read


def setting(desk: Desk, name: str, value: str) -> None:
    """Say something in the site file."""
    with desk.store.writing():
        desk.store.change("keep_setting", name=name, value=value)


def why(desk: Desk, path: str) -> str:
    """What `why` says of a package."""
    explained = why_package(desk.store, browse.package(desk.store, parse(path)), time.time())
    return "\n".join([explained.answer, *explained.facts, *explained.commands])


def test_a_file_whose_checksum_never_matches_fails_its_package_after_the_tries_of_the_policy(
    desk: Desk, tmp_path: Path
) -> None:
    setting(desk, "policy", '{"stage-in": {"tries": 2, "delay": [0]}}')
    setting(desk, "defaults", '{"transfer-retry": 0}')
    other = tmp_path / "input"
    other.write_text("not what was promised\n")
    wrong = InputSpec(
        file="/data/input", made=False, locator=f"file://{other}", checksum="sha256:" + "0" * 64
    )
    submitted(desk.store, job("job", [simple("cat input", [wrong]), simple("echo well")]))

    turn_until(desk, lambda: set(phases(desk.store).values()) == {"failed", "done"})

    assert phases(desk.store) == {"job/1/1/1": "failed", "job/1/2/1": "done"}
    tried = read(desk.store, "attempt", "reason", package_id=1)
    assert tried == [("stage-in",)] * 3
    said = why(desk, "job/1/1/1")
    assert "its checksum is sha256:9d7e36" in said
    assert f"not sha256:{'0' * 64}" in said
    assert "not retried: it was tried again 2 times" in said
    assert other.read_text() == "not what was promised\n"


def test_estimates_that_are_wrong_by_a_hundred_delay_nothing_and_end_nothing(desk: Desk) -> None:
    long = [package(binary("sleep 0.2", runtime=0.002)) for _ in range(4)]
    short = [package(binary("true", runtime=20.0)) for _ in range(4)]
    submitted(desk.store, job("job", long, short))

    turn_until(desk, lambda: set(phases(desk.store).values()) == {"done"})

    assert read(desk.store, "attempt", "outcome") == [("successful",)] * 8
    audited = [pair for each in audit(desk.store, 1, 100) if each.kind == "stage"
               for pair in each.pairs]  # fmt: skip
    assert any(expected == 0.002 and took > 0.1 for expected, took in audited)
    assert any(expected == 20.0 and took < 20.0 for expected, took in audited)


TOO_LONG = (
    "Argument list too long (its arguments or its environment are too long for the kernel:"
    " `{inputs.list}` in `run`, and $D0CTL_INPUTS, name a file with one input per line; a long"
    " value can be an input file)"
)


@pytest.mark.parametrize(
    ("too_long", "environment", "said"),
    [
        (BinarySpec(name="work", argv=("true", "x" * 200_000)), {}, "can't start binary 1 (work)"),
        (binary("/bin/true " + "x" * 200_000), {}, "(command not executable)"),
        (binary("true"), {"LONG": "x" * 200_000}, "can't start binary 1"),
    ],
)
def test_arguments_that_are_too_long_fail_at_once_with_what_to_write_instead(
    desk: Desk, too_long: BinarySpec, environment: dict[str, str], said: str
) -> None:
    submitted(desk.store, job("job", [package(too_long, environment=environment)]))

    turn_until(desk, lambda: phases(desk.store) == {"job/1/1/1": "failed"})

    ((reason, message),) = read(desk.store, "attempt", "reason", "message")
    assert reason == "exit-code"
    assert said in message
    assert message.endswith(TOO_LONG)
    advice = "correct the job file, then `d0ctl run FILE --as NAME`"
    assert advice in why(desk, "job/1/1/1")
