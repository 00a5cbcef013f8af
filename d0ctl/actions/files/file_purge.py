"""file purge: remove all copies of files that d0ctl keeps."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace

from d0ctl.actions import wording
from d0ctl.actions.action import Action, Author
from d0ctl.actions.file_choice import SHOWN, FileChoice, FilePlan, FileRequest, choose
from d0ctl.actions.option import Options
from d0ctl.errors import Refused
from d0ctl.store.connection import Store
from d0ctl.store.files import selected_files
from d0ctl.store.jobs import unneeded_files
from d0ctl.units import count, size


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgePlan(FilePlan):
    """What a purge would do."""

    copies: tuple[str, ...] = ()
    """The copies on this machine, which are removed after the transaction."""


def plan(store: Store, request: FileRequest[Options], now: float) -> PurgePlan:
    """Plan for the files that no package needs. Raises NotFound and Refused."""
    selected, _ = choose(store, request.target)
    needed = selected_files.keep_removable(selected)
    weight = selected_files.weight(selected)
    if not weight.files:
        why = (
            f"{needed} needed by packages that have not ended"
            if needed
            else _without_copies(store, request.target)
        )
        is_single = not any(sign in str(request.target) for sign in "*?[")
        hint = (f"d0ctl why {shlex.quote(str(request.target))}" if needed and is_single
                else f"d0ctl file list {shlex.quote(str(request.target))}")  # fmt: skip
        raise Refused(f"no file of `{request.target}` can be purged: {why}", hint=hint)
    return PurgePlan(
        request=request,
        file_selection=selected,
        files=weight.files,
        bytes=weight.bytes,
        largest=selected_files.largest(selected, SHOWN),
        needed=needed,
    )


def _without_copies(store: Store, target: FileChoice) -> str:
    """Say that no cache has a copy of files, and where else they exist."""
    results, stored = selected_files.lasting(choose(store, target)[0])
    where = [
        f"{count(number, 'file')} {word}"
        for number, word in ((results, "in results/"), (stored, "in stores"))
        if number
    ]
    return f"{' and '.join(where)}, which purge does not remove" if where else "no copy is kept"


def purge(store: Store, plan: PurgePlan, by: Author) -> PurgePlan:
    """Remove all copies; results and stored files stay."""
    return replace(plan, copies=tuple(unneeded_files.purge(plan.file_selection, now=by.now)))


def describe(plan: PurgePlan) -> Iterator[str]:
    """Say what would be purged."""
    yield f"would purge {plan.what}, {size(plan.bytes)}"
    yield from wording.files(plan.largest, plan.files)
    yield from _needed(plan, "would keep")


def report(plan: PurgePlan) -> Iterator[str]:
    """Say what was purged."""
    yield f"purged {plan.what}, {size(plan.bytes)}"
    yield from _needed(plan, "kept")


def _needed(plan: PurgePlan, keep: str) -> Iterator[str]:
    if plan.needed:
        them = "it" if plan.needed == 1 else "them"
        yield f"{keep} {count(plan.needed, 'file')}: packages that have not ended need {them}"


ACTION = Action(
    name="file purge",
    help="Remove cached copies; results and stored files stay.",
    example="'reco001:*.root' --dry-run",
    past="purged",
    options=Options,
    plan=plan,
    act=purge,
    follow=lambda store, plan, now: store.home.forget_copies(plan.copies),
    describe=describe,
    report=report,
    level="file",
    question="do that?",
    destroys=True,
    title="purge: remove copies of files",
)
