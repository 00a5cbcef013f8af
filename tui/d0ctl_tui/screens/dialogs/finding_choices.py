"""The choices of the search: first what indexes tell at once, then all names and messages."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from d0ctl import select
from d0ctl.errors import BadUsage, D0Error
from d0ctl.show.drawing.remark_texts import gist
from d0ctl.store.connection import Store
from d0ctl.store.opening import open_store
from d0ctl.store.sqlite_errors import database_errors
from d0ctl.store.views import outline, search
from d0ctl.store.views.finding import wide_search
from d0ctl.store.views.finding.wide_search import Match
from d0ctl.store.views.search import Found
from d0ctl.units import count
from d0ctl_tui.read.package_filter import PackageFilter
from d0ctl_tui.screens.dialogs.search_box import Choice
from d0ctl_tui.screens.dialogs.search_results import Reach


def everywhere(screen: Reach, typed: str) -> list[Choice]:
    """Return the matches of a path or a word in names, reasons and messages; in a thread."""
    typed = typed.strip()
    if not typed or typed.startswith(wide_search.EXPRESSION):
        return []
    home = screen.dashboard.home
    try:
        with open_store(home, read_only=True) as store, database_errors(home):
            return [*_path(screen, typed), *_found(screen, store, typed)]
    except D0Error as error:
        return [Choice(str(error), role="bad", do=lambda: None)]


def _path(screen: Reach, typed: str) -> list[Choice]:
    """Return the path itself, if the text is one."""
    if "/" not in typed and ":" not in typed:
        return []
    try:
        wanted = select.parse(typed, with_binary=True)
    except BadUsage:
        return []
    if wanted.level == "binary":
        show = partial(screen.dashboard.show_card, typed)
        return [Choice(typed, "show it", kind="binary", do=show)]
    if wanted.is_one:
        return [Choice(str(wanted), "go there", kind="path", do=partial(screen.go_to, typed))]
    show = partial(screen.show_only, PackageFilter("path", str(wanted)))
    return [Choice(str(wanted), "show these", kind="filter", do=show)]


def _found(screen: Reach, store: Store, typed: str) -> list[Choice]:
    choices = [_choice(screen, job) for job in search.jobs(store, typed)]
    choices += [_choice(screen, stage) for stage in search.stages(store, typed)]
    for node in search.nodes(store, typed):
        choices += [_choice(screen, node), _ran_on(screen, node.name)]
    choices += [_choice(screen, reason) for reason in search.reasons(store, typed)]
    choices += [_choice(screen, package) for package in search.packages(store, typed)]
    choices += [_choice(screen, message) for message in search.messages(store, typed)]
    job, name = select.file_of_job(typed) or ("", typed)
    files = search.files(store, outline.job_ids(store), name)
    for file in (file for file in files if job in ("", file.job)):
        path = _path_of(store, file)
        about = f"{file.about}  {path or 'from outside'}"
        show = partial(screen.dashboard.show_card, f"{file.job}:{file.name}")
        choices.append(Choice(file.name, about, kind="file", do=show))
    return choices


def _choice(screen: Reach, match: Found) -> Choice:
    actions: dict[str, Callable[[], object]] = {
        "job": partial(screen.go_to, match.name),
        "task": partial(screen.go_to, match.name),
        "stage": partial(screen.go_to, match.name),
        "node": partial(screen.dashboard.show_nodes, match.name),
    }
    show = partial(screen.show_only, PackageFilter(match.kind, match.name, match.job))
    return Choice(match.name, match.about, kind=match.kind, do=actions.get(match.kind, show))


def _path_of(store: Store, match: Found) -> str | None:
    if match.package is None:
        return None
    rows = outline.packages_by_id(store, [match.package])
    return rows[match.package].path if match.package in rows else None


def _ran_on(screen: Reach, node: str) -> Choice:
    return Choice(node, f"packages of the last {wide_search.RAN:,} attempts", kind="ran on",
                  do=partial(screen.show_only, PackageFilter("ran on", node)))  # fmt: skip


def deeper(screen: Reach, typed: str) -> Iterator[tuple[Sequence[Choice], float]]:
    """Yield the matches in all names and messages, step by step; in a thread.

    If nothing contains the text, what has its letters in their order is looked for.
    """
    typed, home = typed.strip(), screen.dashboard.home
    try:
        patterns = wide_search.patterns(typed)
        with open_store(home, read_only=True) as store, database_errors(home):
            for number, pattern in enumerate(patterns):
                found: list[Choice] = []
                for step in wide_search.search(store, pattern):
                    matches = _without_repeats(step.found)
                    found = [wide for match in matches for wide in _wide(screen, match)]
                    yield found, min(step.share, 0.99)
                if found or number == len(patterns) - 1:
                    yield found, 1.0
                    return
    except D0Error as error:
        yield [Choice(str(error), role="bad", do=lambda: None)], 1.0


def _without_repeats(found: Sequence[Match]) -> list[Match]:
    """Return matches with one of all messages that are shown alike, for the packages of each."""
    matches: list[Match] = []
    messages: dict[str, Match] = {}
    for match in found:
        text = gist(match.text)
        if match.kind == "message" and text in messages:
            messages[text].packages += match.packages
            continue
        matches.append(replace(match, packages=[*match.packages]))
        if match.kind == "message":
            messages[text] = matches[-1]
    return matches


def _wide(screen: Reach, match: Match) -> list[Choice]:
    go = partial(screen.go_to, match.text)
    match match.kind:
        case "node":
            show = partial(screen.dashboard.show_nodes, match.text)
            return [Choice(match.text, kind="node", do=show), _ran_on(screen, match.text)]
        case "job" | "stage":
            return [Choice(match.text, match.location, kind=match.kind, do=go)]
        case "line":
            show = partial(screen.go_to, match.location)
            return [Choice(match.text, match.location, kind="line", do=show)]
        case "file":
            show = partial(screen.dashboard.show_card, f"{match.location}:{match.text}")
            return [Choice(match.text, f"of {match.location}", kind="file", do=show)]
        case "package":
            wanted = PackageFilter("package", match.text, match.location)
            return [Choice(match.text, f"of {match.location}", kind="package",
                           do=partial(screen.show_only, wanted))]  # fmt: skip
    packages = tuple(dict.fromkeys(match.packages))
    wanted = PackageFilter("found", match.text, packages=packages)
    return [Choice(gist(match.text), f"{count(len(packages), 'package')} failed", kind="message",
                   do=partial(screen.show_only, wanted))]  # fmt: skip
