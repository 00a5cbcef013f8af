"""A workflow of DAGMan: its nodes, and the order between them."""

from pathlib import Path

from msgspec import Struct, field

from d0ctl.importers.draft import Unreadable

MOST_FILES, MOST_NODES, MOST_EDGES = 10_000, 1_000_000, 5_000_000

_NO_RETRY = "d0ctl: exit code {} is not retried"
_ABORT = "d0ctl: exit code {} stops the job"


class Script(Struct):
    """A script that runs before or after a node."""

    program: str
    arguments: list[str]


class Node(Struct):
    """A node, with the settings of later commands."""

    name: str
    where: str
    directory: Path
    submit: str
    inline: str | None = None
    is_final: bool = False
    is_noop: bool = False
    is_done: bool = False
    variables: dict[str, str] = field(default_factory=dict)
    retries: int = 0
    unless_exit: int | None = None
    abort_on: int | None = None
    priority: int | None = None
    category: str = ""
    pre: Script | None = None
    post: Script | None = None
    pre_skip: int | None = None
    group: str = ""
    """The sub-workflow that it belongs to."""

    def codes(self) -> list[tuple[int, str, str]]:
        """Return its exit codes with a meaning, the lines for its log, and the reason.

        The first reason counts.
        """
        exit_codes = []
        if self.abort_on is not None:
            exit_codes.append((self.abort_on, _ABORT.format(self.abort_on), "site:abort-dag"))
        if self.unless_exit is not None and self.unless_exit != self.abort_on:
            exit_codes.append(
                (self.unless_exit, _NO_RETRY.format(self.unless_exit), "site:no-retry")
            )
        return exit_codes


class Dag(Struct):
    """A workflow: nodes, pairs of names that follow each other, and limits of categories."""

    nodes: dict[str, Node] = field(default_factory=dict)
    edges: list[tuple[str, str]] = field(default_factory=list)
    limits: dict[str, int] = field(default_factory=dict)
    parts: dict[str, "Dag"] = field(default_factory=dict)
    """Splices and sub-workflows by their names."""
    left_out: list[tuple[str, str]] = field(default_factory=list)

    def ends(self, *, last: bool) -> list[str]:
        """Return the nodes that no node follows, or that follow no node."""
        inner = {pair[0 if last else 1] for pair in self.edges}
        return [
            name for name, node in self.nodes.items() if name not in inner and not node.is_final
        ]

    def check_order(self) -> None:
        """Check that no node waits for itself. Raises Unreadable."""
        waits = dict.fromkeys(self.nodes, 0)
        behind: dict[str, list[str]] = {name: [] for name in self.nodes}
        for a, b in self.edges:
            waits[b] += 1
            behind[a].append(b)
        free = [name for name, number in waits.items() if not number]
        done = 0
        while free:
            done += 1
            for name in behind[free.pop()]:
                waits[name] -= 1
                if not waits[name]:
                    free.append(name)
        if done < len(waits):
            first = next(name for name, number in waits.items() if number)
            raise Unreadable(
                f"{self.nodes[first].where}: node `{first}` is in or behind a circle of "
                "`PARENT` and `CHILD`"
            )


class Work(Struct):
    """How much a workflow has with all its parts: small files may name each other many times."""

    files: int = 0
    nodes: int = 0
    settings: int = 0
    """How many nodes the commands about nodes change, each as often as it is changed."""
    edges: int = 0

    def add(self, where: str, *, files: int = 0, nodes: int = 0, settings: int = 0,
            edges: int = 0) -> None:  # fmt: skip
        """Count more. Raises Unreadable if it is too much."""
        self.files += files
        self.nodes += nodes
        self.settings += settings
        self.edges += edges
        for number, most, kind in (
            (self.files, MOST_FILES, "files"),
            (self.nodes, MOST_NODES, "nodes"),
            (self.settings, MOST_EDGES, "settings of nodes"),
            (self.edges, MOST_EDGES, "pairs of nodes in order"),
        ):
            if number > most:
                raise Unreadable(f"{where}: more than {most:,} {kind}")
