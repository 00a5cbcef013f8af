"""What must be true after a run, whatever happened in it; each check says what is not, in words."""

import json
import re
import signal
from collections import Counter
from collections.abc import Iterator

from d0ctl.errors import ExitCode
from d0ctl.store import open_store
from d0ctl_wrapper.protocol import message
from tests.chaos import work
from tests.chaos.field import Field
from tests.chaos.plan import SLURM
from tests.support.rows import count, read

GIVEN_UP = ("its node did not answer", "canceled while its node was out of contact")
"""How the message of an attempt begins that d0ctl gave up after the lease, or a person earlier."""

EXPECTED = ("No space left on device", "is full", "File too large")
"""What a full disk, or its stand-in, has programs say."""

MULTILINE = re.MULTILINE | re.DOTALL

Results = dict[str, bytes]
"""What a job has left, by folder and name."""


def results(field: Field) -> Results:
    """What the job has left, in results/ and in the world outside."""
    folders = (field.home.results / work.JOB, field.folder / work.STORED)
    paths = [path for folder in folders for path in sorted(folder.glob("*"))]
    return {f"{path.parent.name}/{path.name}": path.read_bytes() for path in paths}


def check(field: Field, expected: Results | None) -> Iterator[str]:
    """Everything that is wrong after the daemon was stopped."""
    found = results(field)
    if expected is not None and found != expected:
        yield f"the results are {found}, those of an undisturbed run {expected}"
    phases = Counter(field.phases().values())
    if phases != {"done": work.PACKAGES - 1, "dropped": 1}:
        yield f"packages are {dict(phases)}"
    yield from _runs(field)
    yield from counted_twice(field)
    yield from overlaps(field)
    yield from of_any_work(field)


def of_any_work(field: Field) -> Iterator[str]:
    """What is wrong with messages, programs and the database."""
    yield from _letters(field)
    yield from _crashes(field)
    yield from _exits(field)
    yield from (f"{name}: {rows}" for name, rows in field.faults().items())
    # flaky packages may have failed on one node only, which d0ctl has drained then
    field.call("node", "resume", "*")
    if field.call("doctor") != ExitCode.DONE:
        yield "doctor is not content"


def attempts(field: Field) -> dict[int, tuple[str, str | None, str | None]]:
    """Path, outcome and message of each attempt."""
    with open_store(field.home, read_only=True) as store:
        rows = read(store, "v_attempt", "attempt_id", "path", "outcome", "message", by="attempt_id")
        return {number: (path, outcome, message) for number, path, outcome, message in rows}


def _runs(field: Field) -> Iterator[str]:
    """Every run of a binary belongs to an attempt of its package, and to another one each."""
    known = attempts(field)
    for (path, attempt, output), times in field.journal.runs().items():
        if times > 1:
            yield f"attempt {attempt} ran the binary of `{output}` {times} times"
        if attempt not in known or known[attempt][0] != path:
            yield f"`{path}` ran as attempt {attempt}, which it never had"
    for attempt, (path, outcome, _) in known.items():
        if outcome == "successful":
            yield from unfinished(field.journal, path, attempt)
        if outcome is None:
            yield f"attempt {attempt} of `{path}` is still open"


def unfinished(journal: work.Journal, path: str, attempt: int) -> Iterator[str]:
    """The outputs of an attempt that counts whose binary never came to its end.

    An attempt that begins in mid-chain, or only delivers, has outputs from attempts before it.
    """
    started = [note for note in journal.notes("start") if note[0] == path]
    ended = [note for note in journal.notes("end") if note[0] == path]
    for output in {name for _, _, name in started} or {"anything"}:
        own = (path, attempt, output)
        before = [number for _, number, name in ended if name == output and number <= attempt]
        if not before or (own in started and own not in ended):
            yield f"attempt {attempt} of `{path}` counts, and `{output}` never came to its end"


def counted_twice(field: Field) -> Iterator[str]:
    """No package has two attempts that count, unless its outputs were lost with a pilot.

    A package that is killed while its results are copied has an attempt that counts. When it is
    retried, it may need files again that were removed after its end.
    """
    nodes: dict[str, list[str]] = {}
    with open_store(field.home, read_only=True) as store:
        if count(store, "event", old="transferring", new="canceled"):
            return
        for path, outcome, node in read(
            store, "v_attempt", "path", "outcome", "node", by="attempt_id"
        ):
            if outcome == "successful":
                nodes.setdefault(path, []).append(node)
    for path, ran_on in nodes.items():
        if not all(node.startswith(f"{SLURM}-") for node in ran_on[:-1]):
            yield f"`{path}` counts {len(ran_on)} times"


def overlaps(field: Field) -> Iterator[str]:
    """No package ran twice at the same time, unless an attempt before was given up."""
    given_up = given_up_packages(field)
    for path, attempt, output in field.journal.notes("double"):
        if path not in given_up:
            yield f"attempt {attempt} of `{path}` ran beside another one (`{output}`)"


def given_up_packages(field: Field) -> set[str]:
    """The packages of which an attempt was given up, while its node was out of contact."""
    return {
        path for path, _, answer in attempts(field).values() if (answer or "").startswith(GIVEN_UP)
    }


def _letters(field: Field) -> Iterator[str]:
    """No message waits anywhere, and only what was spoilt has been rejected.

    A wrapper tries again to send an end that its relay has sent meanwhile. It may come after the
    daemon, and is a repeat then.
    """
    folders = [field.home.dropbox, *(field.base_of(name) / "spool" for name in field.sshds)]
    waiting = [path for folder in folders for path in folder.glob("new/*")]
    ended = {str(number) for number, (_, outcome, _) in attempts(field).items() if outcome}
    waiting = [path for path in waiting if path.name.split(".")[0] not in ended]
    if waiting:
        yield f"messages wait: {[path.name for path in waiting]}"
    folder = field.home.dropbox / "rejected"
    for reason in folder.glob("*.reason"):
        path = reason.with_suffix("")
        text = "" if path.is_dir() else path.read_bytes().decode(errors="replace")
        if not _is_spoilt(text, field.spoiled):
            yield f"{path.name} was rejected: {reason.read_text()} {text[:300]}"
            continue
        path.rmdir() if path.is_dir() else path.unlink()
        reason.unlink()


def _is_spoilt(text: str, spoiled: list[str]) -> bool:
    """Whether a text is no message, but a part of one that was damaged."""
    try:
        message.parse(text)
    except ValueError:
        return any(text in one or json.dumps(text)[1:-1] in one for one in spoiled)
    return text in spoiled


def _crashes(field: Field) -> Iterator[str]:
    """Nothing has ended with a traceback, but where a full disk could not be written to."""
    answer = [path.read_text() for path in field.folder.glob("**/attempts/*/crash")]
    one = r"^Traceback .*?^\S*(?:Error|Exception)\b[^\n]*"
    chained = rf"{one}(?:\n\n(?:During|The above)[^\n]*\n\n{one})*"
    answer += re.findall(chained, field.log(), MULTILINE)
    yield from (text for text in answer if not any(word in text for word in EXPECTED))


def _exits(field: Field) -> Iterator[str]:
    """No daemon has ended by itself, unless it found no room to begin."""
    if any(strike.kind.endswith("full") for strike in field.plan.strikes):
        return
    daemons = [one for one in field.forked if "daemon" in str(one.args)]
    for process in daemons:
        if process.poll() not in (0, -signal.SIGKILL, -signal.SIGTERM):
            yield f"a daemon ended by itself: exit code {process.poll()}"
