"""The plan of an update, and what it says of the packages of the job."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import repeat
from operator import attrgetter

from d0ctl.actions import undo, wording
from d0ctl.actions.action import MOST_SHOWN, Plan
from d0ctl.actions.jobs._failed_readers import failed_readers
from d0ctl.actions.new_requests import describe_change
from d0ctl.actions.option import Options, ValueType, flag, pairs, value, values, write_pairs
from d0ctl.actions.selection import is_whole_job
from d0ctl.jobfile.spec import JobSpec
from d0ctl.model import STATUS_OF, Phase, Status
from d0ctl.select.condense import condense
from d0ctl.store.jobs.correction import acceptance
from d0ctl.store.jobs.correction.changed_requests import RequestChange
from d0ctl.store.jobs.correction.comparison import Place
from d0ctl.store.jobs.correction.planning import Outline, Reading
from d0ctl.store.jobs.correction.texts import Follower, RenamedStage
from d0ctl.store.jobs.results import ResultChange
from d0ctl.store.nodes import fitting
from d0ctl.store.nodes.fitting import Misfit
from d0ctl.store.views.left_out import RetryParameters
from d0ctl.units import count


@dataclass(frozen=True, slots=True)
class UpdateOptions(Options):
    """Which file corrects a job, and whether packages run again."""

    file: str | None = value(
        "--file", "FILE", "The corrected job file (default: the one it has been read from last).",
        example="FILE",
    )  # fmt: skip
    parameters: Mapping[str, str] = values(
        "--set", "KEY=VALUE", "Parameter of the job; may be repeated.", none=dict,
        type=ValueType(pairs, write_pairs), example="KEY=VALUE", log=write_pairs,
    )  # fmt: skip
    again: bool = flag("--again", "Rerun packages that ran with another definition.")
    accept: bool = flag("--accept", "Accept results that are out of date as they are.")
    previous: bool = flag("--previous", "Go back to the job file before the last update.")
    hold: bool = flag("--hold", "Keep it from being scheduled.")
    spec: JobSpec | None = None
    """What the job file says; `prepare` reads it."""
    before: Reading | None = None
    """The job before the change; `prepare` reads it, so that other writers need not wait."""

    @property
    def follows_job(self) -> bool:
        """Whether packages run again, or are accepted, by no other job file than the job has."""
        return (self.again or self.accept) and not (self.previous or self.file)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdatePlan(Plan):
    """What a job file would change in a job."""

    job: int
    name: str
    outline: Outline
    settings: tuple[str, ...]
    """The settings of the job as a whole that change."""
    misfits: tuple[Misfit, ...]
    has_text: bool
    """Whether the job has this job file already."""
    other_keys: frozenset[int]
    """Packages that stay successful, and would run again with other keys of the job file."""
    requests: Counter[tuple[RequestChange, ...]]
    """The requests that change, and of how many packages."""
    is_taken_back: bool
    """Whether the job file was taken back, so that only an update without options takes it."""
    retried: RetryParameters | None
    """With which parameters of a retry packages ran that are out of date by their recipe."""
    is_blocked: bool
    """Whether waiting packages of the job wait for files that will never be made."""
    names_other: bool
    """Whether the job file names another job, unlike the job file before."""
    results: ResultChange
    """The files that become results, and those in results/ that are declared no more."""
    changes_nothing: bool
    """Whether at most it is recorded that the job follows others whose lines have changed."""
    reads_gone: bool
    """Whether the job file before reads jobs that are gone, so that it can't be taken again."""
    followers: Sequence[Follower]
    """The jobs that take files of a stage that come or go."""
    renamed: Sequence[RenamedStage]
    """The stages that other job files read by a name that they lose."""
    dropped: str
    """How many lines of the job file stay dropped, and what restores them; empty if none do."""


def said(plan: UpdatePlan, *, named: bool) -> Iterator[str]:
    """Say what happens to which packages; `named` before it does, with their paths."""
    outline, found, job = plan.outline, plan.outline.found, plan.name
    options = plan.request.options
    if plan.is_taken_back and options.follows_job:
        yield f"as `--previous` left it; `d0ctl update {job}` takes the job file as it is"
    if options.accept and not outline.accepted and found.outdated:
        yield f"nothing is accepted: {acceptance.SAME_NAMES}"
    if plan.names_other and options.spec is not None:
        yield f"the job file says `job: {options.spec.name}`; this job stays `{job}`"
    yield from plan.settings
    old = (*found.outdated, *outline.accepted, *found.failed_earlier)
    edited = sorted({name for key in old for name in found.edited.get(key, ())})
    if edited:
        yield f"changed since packages read {'it' if len(edited) == 1 else 'them'}:"
        yield from wording.few(edited, len(edited))
        yield from failed_readers(job, found.failed_earlier.values(), edited)
    rewritten = [package for key, package in found.rewritten.items() if key not in outline.again]
    accepts, acceptable = plan.request.options.accept, count(len(outline.acceptable), "package")
    stale = {key: package for key, package in found.outdated.items()
             if key not in outline.again and key not in found.rewritten
             and not (key in found.earlier and key in outline.remade)}  # fmt: skip
    asked = outline.again - outline.renewed.keys()
    made_again = {**outline.remade, **outline.renewed}
    accepted = [(key in found.earlier, package) for key, package in outline.accepted.items()]
    by_recipe, by_files = ([package for is_earlier, package in accepted if is_earlier == which]
                           for which in (False, True))  # fmt: skip
    leaving = [package for package in found.without if package.phase != Phase.DROPPED]
    staying = [package for package in found.without if package.phase == Phase.DROPPED]
    own, busy = "its" if len(made_again) == 1 else "their", found.busy.values()
    groups: list[tuple[str, Collection[Place]]] = [
        ("added", found.added),
        ("restored, in the job file again", found.restored.values()),
        ("removed, no longer in the job file", found.removed),
        ("dropped, because of dropped inputs", leaving),
        ("still dropped, because of dropped inputs", staying),
        ("changed, with the new definition from now on", rewritten),
        ("to run again", [found.outdated[key] for key in found.outdated if key in asked]),
        (f"to run again, because {own} outputs were removed", made_again.values()),
        ("up to date again, run with this recipe", found.returned.values()),
        ("whose results are accepted, made with another recipe", by_recipe),
        ("whose results are accepted, made with files that were changed since", by_files),
        (
            "out of date, run with another recipe or other inputs",
            [package for key, package in stale.items() if key not in found.earlier],
        ),
        (
            "out of date, run before files were changed, dropped or restored",
            [package for key, package in stale.items() if key in found.earlier],
        ),
        ("left running as launched", _having(busy, Status.LAUNCHED)),
        ("still to run, in running lines", _having(busy, Status.UNSCHEDULED, Status.SCHEDULED)),
        ("left unchanged, in running lines",
         _having(busy, Status.SUCCESSFUL, Status.FAILED, Status.CANCELED)),
    ]  # fmt: skip
    for change, places in groups:
        if places:
            yield f"{count(len(places), 'package')} {change}: {_by_phase(plan, places)}"
            if named:
                yield from wording.few(_paths(job, places), len(places))
    if found.leaving:
        gone = len(found.leaving)
        which = (
            "it is" if len(found.busy) == 1 else f"{gone} of them {'is' if gone == 1 else 'are'}"
        )
        yield (
            f"{which} no longer in the job file: "
            f"no `from` takes {'its' if gone == 1 else 'their'} files"
        )
    if to_follow := len(found.busy) - len(found.leaving):
        these = "it has" if to_follow == 1 else "they have"
        yield (f"a retry would run the same as now; once {these} ended, update again: "
               f"{undo.command('update', [job])}")  # fmt: skip
    yield from wording.accepted_before(acceptance.accepted_before(found, made_again))
    if plan.retried is not None:
        sets = [word for text in plan.retried.parameters for word in ("--set", text)]
        packages = count(plan.retried.packages, "package was", "packages were")
        yield (f"{packages} retried with other parameters, which the job does not have; to change "
               f"the job instead: {undo.command('update', [job], *sets)}")  # fmt: skip
    yield from _requests(plan)
    again, stays = outline.readers & asked, outline.readers & outline.outdated
    for which, readers in (("to run again", again), ("out of date", stays)):
        if readers:
            read = count(len(readers), "package that has", "packages that have")
            yield f"{which}, too: {read} read their files"
    following = {*plan.followers, *(reader for of in plan.renamed for reader in of.readers)}
    besides = {follower.name for follower in following}
    yield from wording.readers(outline.elsewhere, "once these have changed", " of other jobs",
                               besides)  # fmt: skip
    if asked and made_again:
        yield f"in all: {count(len(asked | made_again.keys()), 'package')} to run again"
    if stale:
        more = wording.and_removed(outline.lacking)
        command = undo.command("update", [job], *(_options(plan) if named else ()))
        if drops := outline.needing[:MOST_SHOWN]:
            first = undo.command("kill-line", drops, "--drop-outputs")
            yield f"to run what is out of date, first drop what needs dropped files: {first}"
        else:
            yield f"to run what is out of date{more}: {command} --again"
        if outline.accepted and is_whole_job(plan.request.target):
            yield acceptance.SAME_NAMES
        elif outline.acceptable and not accepts:
            yield f"to accept the results of {acceptable}: {command} --accept"
    yield from wording.still_reading(found.reading, job)
    if outline.remakes is not None:
        yield wording.run_again(outline.remakes)
    if any(package.phase == Phase.FAILED for package in rewritten):
        yield f"to run the failed ones: d0ctl retry '{job}:failed'"
    if found.unlisted:
        removed = count(len(found.unlisted), "package")
        stay_too = "it stays, with its" if len(found.unlisted) == 1 else "they stay, with their"
        yield f"{removed} successful, but no longer in the job file: {stay_too} results"
    if stay := outline.keeping:
        ran = count(len(stay), "package that has run", "packages that have run")
        change = "d0ctl file set-disposition FILE DISPOSITION"
        yield f"files of {ran} keep their dispositions: {change}"
    if plan.other_keys:
        takes = count(len(plan.other_keys), "package that has run takes",
                      "packages that have run take")  # fmt: skip
        yield f"{takes} changed keys, such as `check` or `memory`, for the next run"
    yield from _results(plan, is_stale=bool(stale))
    moved = outline.remade.keys() - found.unlisted - stale.keys() | outline.readers
    moved -= found.returned.keys()
    yield f"unchanged: {count(found.unchanged - len(moved), 'package')}"
    yield from [plan.dropped] * bool(plan.dropped)
    yield from map(_renamed, repeat(job), plan.renamed)
    apart = {reader for stage in plan.renamed for reader in stage.readers}
    if followers := [follower for follower in plan.followers if follower not in apart]:
        first, rest = followers[0].name, followers[1:]
        others = f", and {count(len(rest), 'other job')}" if rest else ""
        take = f"{'take' if rest else 'takes'} files of a stage whose lines or files change"
        update = undo.command("update", [first])
        yield f"`{first}`{others} {take}; to have `{first}` follow: {update}"
    yield from fitting.not_taken(plan.misfits)
    yield from wording.warnings(plan.request.options.spec.warnings)


def _renamed(job: str, stage: RenamedStage) -> str:
    """Say which jobs read a stage by a name that it loses, and what lets them follow."""
    first, rest = stage.readers[0].name, stage.readers[1:]
    others = f", and {count(len(rest), 'other job')}" if rest else ""
    reads, file = ("read", "their job files") if rest else ("reads", "its job file")
    update = undo.command("update", [first])
    return (f"`{first}`{others} {reads} stage `{job}/{stage.old}`, which gets the name "
            f"`{stage.new}`: change it in {file}, then: {update}")  # fmt: skip


def _options(plan: UpdatePlan) -> Iterator[str]:
    """Return the options by which a planned update reads another job file."""
    options = plan.request.options
    yield from ["--previous"] * options.previous
    if options.file is not None:
        yield from ("--file", options.file)
    elif plan.is_taken_back and not options.follows_job:
        yield from ("--file", options.spec.source)
    for text in write_pairs(options.parameters):
        yield from ("--set", text)


def _requests(plan: UpdatePlan) -> Iterator[str]:
    """Say which requests change, also those that a retry or an edit had set."""
    for changes, number in plan.requests.most_common(wording.MOST_NAMED):
        yield f"{count(number, 'package')}: {', '.join(map(describe_change, changes))}"


def _results(plan: UpdatePlan, *, is_stale: bool) -> Iterator[str]:
    """Say which files are results from now on, and which stay in results/.

    If packages are out of date, the command that runs them again makes removed files again, too.
    """
    results = plan.results
    if results.files:
        are = "file is a result" if results.files == 1 else "files are results"
        later = results.files - results.due
        due = f"{results.due:,} copied to results/ at once" if results.due else ""
        made = f"{later:,} once made{' again' * (results.removed == later)}" if later else ""
        yield f"{results.files:,} {are} from now on ({', '.join(filter(None, (due, made)))})"
    if results.removed and not is_stale:
        makers = [str(part) for part in condense(results.makers)]
        again = undo.command("set-status", makers, "unscheduled")
        yield f"to make removed files again: {again}"
    if results.stay and not plan.has_text:
        stay = "file stays" if results.stay == 1 else "files stay"
        yield f"{results.stay:,} {stay} in results/, although no longer a result"


def _by_phase(plan: UpdatePlan, places: Collection[Place]) -> str:
    """Count packages by their phase before the update."""
    phases = Counter(package.phase or "new" for package in places)
    return wording.by_phase({
        "blocked" if phase == Phase.WAITING and plan.is_blocked else phase: phases[phase]
        for phase in ("new", *Phase) if phase in phases
    })  # fmt: skip


def _having(places: Iterable[Place], *statuses: Status) -> list[Place]:
    """Return the packages that have one of these statuses."""
    return [package for package in places if STATUS_OF[Phase(package.phase)] in statuses]


def _paths(job: str, places: Iterable[Place]) -> list[str]:
    """Return the paths of the first of them, in the order of the job."""
    first = nsmallest(MOST_SHOWN, places, key=attrgetter("stage", "line", "package"))
    return [f"{job}/{package.path}" for package in first]
