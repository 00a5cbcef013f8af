"""Files of DAGMan: nodes, the order between them, splices and sub-workflows."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct, field

from d0ctl.importers.draft import Unreadable
from d0ctl.importers.submit_file import joined

MOST_NODES, MOST_EDGES, MOST_NESTED = 1_000_000, 5_000_000, 20
MOST_BYTES = 64_000_000

_VARIABLE = re.compile(r'(?<![\w.])\+?([\w.]+)\s*=\s*"((?:[^"\\]|\\.)*)"')
_IGNORED = {"DOT", "CONFIG", "NODE_STATUS_FILE", "JOBSTATE_LOG", "SAVE_POINT_FILE"}
"""Commands about DAGMan's own files, which d0ctl does not need."""
_LEFT_OUT = {
    "SET_JOB_ATTR": "attributes of jobs of HTCondor",
    "ENV": "the environment of DAGMan",
    "SERVICE": "a service node",
    "PROVISIONER": "a provisioner node",
}


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


def text_of(path: Path, where: str) -> str:
    """Return the text of a file. Raises Unreadable."""
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            raise Unreadable(f"{where}: there is no file `{path.name}` that can be read")
        return path.read_text(errors="replace")
    except (OSError, ValueError) as error:
        raise Unreadable(f"{where}: `{path.name}` can't be read: {error}") from error


def read(path: Path) -> Dag:
    """Read a file of DAGMan with all that it includes. Raises Unreadable."""
    return _Reader(path.parent, ()).of_file(path, path.name)


class _Reader:
    """Reads one file; `stack` has the files that include it."""

    def __init__(self, directory: Path, stack: tuple[Path, ...]) -> None:
        self.directory = directory
        self.stack = stack
        self.dag = Dag()
        self.descriptions: dict[str, str] = {}
        self.relations: list[tuple[list[str], list[str], str]] = []
        self.later: list[tuple[Callable[[Node], None], str, str]] = []

    def of_file(self, path: Path, where: str) -> Dag:
        """Read a file and return its workflow."""
        self._include(path, where)
        for change, name, at in self.later:
            for node in self._named(name, at):
                change(node)
        for parents, children, at in self.relations:
            self._relate(parents, children, at)
        return self.dag

    def _include(self, path: Path, where: str) -> None:
        real = path.resolve()
        if real in self.stack or len(self.stack) > MOST_NESTED:
            raise Unreadable(f"{where}: `{path.name}` includes itself")
        self.stack = (*self.stack, real)
        lines = iter(enumerate(joined(text_of(path, where)), 1))
        for number, line in lines:
            words = line.split()
            if words and not words[0].startswith("#"):
                self._command(words, line, f"{path.name}:{number}", lines)
        self.stack = self.stack[:-1]

    def _command(
        self, words: list[str], line: str, at: str, lines: Iterator[tuple[int, str]]
    ) -> None:
        word = words[0].upper()
        method = getattr(self, f"_read_{word.lower().replace('-', '_')}", None)
        if word in _IGNORED:
            return
        if word in _LEFT_OUT:
            self.dag.left_out.append((at, f"`{word}`: {_LEFT_OUT[word]}"))
        elif word == "REJECT":
            raise Unreadable(f"{at}: the file says `REJECT`, so DAGMan does not run it either")
        elif method is None:
            raise Unreadable(f"{at}: `{words[0][:40]}` is not a command of DAGMan")
        else:
            try:
                method(words[1:], line, at, lines)
            except (IndexError, ValueError) as error:
                raise Unreadable(f"{at}: `{word}` is not complete") from error

    def _read_job(
        self, words: list[str], line: str, at: str, lines: Iterator[tuple[int, str]]
    ) -> None:
        self._node(words, at, lines)

    def _read_node(
        self, words: list[str], line: str, at: str, lines: Iterator[tuple[int, str]]
    ) -> None:
        self._node(words, at, lines)

    def _read_final(
        self, words: list[str], line: str, at: str, lines: Iterator[tuple[int, str]]
    ) -> None:
        self._node(words, at, lines).is_final = True

    def _node(self, words: list[str], at: str, lines: Iterator[tuple[int, str]]) -> Node:
        name, submit, *more = words
        inline = None
        if submit == "{":
            inline, more = _block(lines, at)
        node = Node(name, at, self.directory, submit, inline or self.descriptions.get(submit))
        upper = [word.upper() for word in more]
        node.is_noop, node.is_done = "NOOP" in upper, "DONE" in upper
        if "DIR" in upper:
            node.directory = self.directory / more[upper.index("DIR") + 1]
        if name in self.dag.nodes or name in self.dag.parts:
            raise Unreadable(f"{at}: there are two nodes `{name}`")
        self._add(node)
        return node

    def _add(self, node: Node) -> None:
        if len(self.dag.nodes) >= MOST_NODES:
            raise Unreadable(f"{node.where}: more than {MOST_NODES:,} nodes")
        self.dag.nodes[node.name] = node

    def _read_submit_description(
        self, words: list[str], line: str, at: str, lines: Iterator[tuple[int, str]]
    ) -> None:
        self.descriptions[words[0]], _ = _block(lines, at)

    def _read_splice(
        self, words: list[str], line: str, at: str, lines: Iterator[tuple[int, str]]
    ) -> None:
        self._part(words[0], words[1:], at, joint="+", group="")

    def _read_subdag(
        self, words: list[str], line: str, at: str, lines: Iterator[tuple[int, str]]
    ) -> None:
        if words[0].upper() != "EXTERNAL":
            raise ValueError(words[0])
        self._part(words[1], words[2:], at, joint=".", group=words[1])

    def _part(self, name: str, words: list[str], at: str, *, joint: str, group: str) -> None:
        upper = [word.upper() for word in words]
        folder = self.directory / words[upper.index("DIR") + 1] if "DIR" in upper else None
        path = (folder or self.directory) / words[0]
        inner = _Reader(folder or self.directory, self.stack).of_file(path, at)
        if name in self.dag.nodes or name in self.dag.parts:
            raise Unreadable(f"{at}: there are two nodes `{name}`")
        self.dag.left_out += inner.left_out
        part = self.dag.parts[name] = Dag()
        for node in inner.nodes.values():
            node.name = f"{name}{joint}{node.name}"
            node.group = f"{group}.{node.group}".strip(".") if group else node.group
            if node.category and not node.category.startswith("+"):
                node.category = f"{name}{joint}{node.category}"
            if node.is_final:
                self.dag.left_out.append((node.where, f"`FINAL` node of the part `{name}`"))
                continue
            part.nodes[node.name] = node
            self._add(node)
        part.edges = [(f"{name}{joint}{a}", f"{name}{joint}{b}") for a, b in inner.edges]
        self.dag.edges += part.edges
        for category, most in inner.limits.items():
            self.dag.limits.setdefault(
                category if category.startswith("+") else f"{name}{joint}{category}", most
            )

    def _read_include(
        self, words: list[str], line: str, at: str, lines: Iterator[tuple[int, str]]
    ) -> None:
        self._include(self.directory / words[0], at)

    def _read_parent(
        self, words: list[str], line: str, at: str, lines: Iterator[tuple[int, str]]
    ) -> None:
        child = [word.upper() for word in words].index("CHILD")
        if not words[:child] or not words[child + 1 :]:
            raise ValueError(line)
        self.relations.append((words[:child], words[child + 1 :], at))

    def _relate(self, parents: Sequence[str], children: Sequence[str], at: str) -> None:
        before = [name for parent in parents for name in self._side(parent, at, last=True)]
        behind = [name for child in children for name in self._side(child, at, last=False)]
        if len(self.dag.edges) + len(before) * len(behind) > MOST_EDGES:
            raise Unreadable(f"{at}: more than {MOST_EDGES:,} pairs of nodes in order")
        self.dag.edges += [(a, b) for a in before for b in behind]

    def _side(self, name: str, at: str, *, last: bool) -> list[str]:
        if name in self.dag.parts:
            return self.dag.parts[name].ends(last=last)
        if name not in self.dag.nodes:
            raise Unreadable(f"{at}: there is no node `{name}`")
        return [name]

    def _read_connect(
        self, words: list[str], line: str, at: str, lines: Iterator[tuple[int, str]]
    ) -> None:
        self.relations.append(([words[0]], [words[1]], at))
        self.dag.left_out.append((at, "`CONNECT`: all ends of the splices are connected, no pins"))

    def _read_pin_in(
        self, words: list[str], line: str, at: str, lines: Iterator[tuple[int, str]]
    ) -> None:
        """Ignore it: a pin matters only to `CONNECT`, which is reported as left out."""

    _read_pin_out = _read_pin_in

    def _named(self, name: str, at: str) -> list[Node]:
        if name.upper() == "ALL_NODES":
            return [node for node in self.dag.nodes.values() if not node.is_final]
        if name in self.dag.parts:
            return list(self.dag.parts[name].nodes.values())
        if name not in self.dag.nodes:
            raise Unreadable(f"{at}: there is no node `{name}`")
        return [self.dag.nodes[name]]

    def _read_vars(
        self, words: list[str], line: str, at: str, lines: Iterator[tuple[int, str]]
    ) -> None:
        pairs = {
            key.lower(): re.sub(r"\\(.)", r"\1", value) for key, value in _VARIABLE.findall(line)
        }
        self.later.append((lambda node: node.variables.update(pairs), words[0], at))

    def _read_retry(
        self, words: list[str], line: str, at: str, lines: Iterator[tuple[int, str]]
    ) -> None:
        number = int(words[1])
        upper = [word.upper() for word in words]
        code = int(words[upper.index("UNLESS-EXIT") + 1]) if "UNLESS-EXIT" in upper else None

        def change(node: Node) -> None:
            node.retries, node.unless_exit = number, code

        self.later.append((change, words[0], at))

    def _read_priority(
        self, words: list[str], line: str, at: str, lines: Iterator[tuple[int, str]]
    ) -> None:
        number = int(words[1])
        self.later.append((lambda node: setattr(node, "priority", number), words[0], at))

    def _read_category(
        self, words: list[str], line: str, at: str, lines: Iterator[tuple[int, str]]
    ) -> None:
        name = words[1]
        self.later.append((lambda node: setattr(node, "category", name), words[0], at))

    def _read_maxjobs(
        self, words: list[str], line: str, at: str, lines: Iterator[tuple[int, str]]
    ) -> None:
        self.dag.limits[words[0]] = int(words[1])

    def _read_script(
        self, words: list[str], line: str, at: str, lines: Iterator[tuple[int, str]]
    ) -> None:
        while words[0].upper() in ("DEFER", "DEBUG"):
            self.dag.left_out.append((at, f"`{words[0]}` of a script"))
            words = words[3:]
        kind, name, program, *arguments = words
        if kind.upper() not in ("PRE", "POST", "HOLD"):
            raise ValueError(kind)
        if kind.upper() == "HOLD":
            self.dag.left_out.append((at, f"the hold script of `{name}`"))
            return
        script = Script(program, arguments)
        self.later.append((lambda node: setattr(node, kind.lower(), script), name, at))

    def _read_pre_skip(
        self, words: list[str], line: str, at: str, lines: Iterator[tuple[int, str]]
    ) -> None:
        number = int(words[1])
        self.later.append((lambda node: setattr(node, "pre_skip", number), words[0], at))

    def _read_abort_dag_on(
        self, words: list[str], line: str, at: str, lines: Iterator[tuple[int, str]]
    ) -> None:
        code = int(words[1])
        self.later.append((lambda node: setattr(node, "abort_on", code), words[0], at))
        if len(words) > 2:
            self.dag.left_out.append((at, f"`{' '.join(words[2:])[:40]}` of `ABORT-DAG-ON`"))

    def _named_later(self, name: str, at: str) -> None:
        self.later.append((lambda node: None, name, at))


def _block(lines: Iterator[tuple[int, str]], at: str) -> tuple[str, list[str]]:
    """Return the text up to the closing brace, and the words behind it."""
    text: list[str] = []
    for _, line in lines:
        if line.strip().startswith("}"):
            return "\n".join(text), line.strip()[1:].split()
        text.append(line)
    raise Unreadable(f"{at}: the brace is not closed")
