"""Files of DAGMan: nodes, the order between them, splices and sub-workflows."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from d0ctl.importers.dag import Dag, Node, Script, Work
from d0ctl.importers.draft import Unreadable
from d0ctl.importers.submit_file import joined

MOST_NESTED, MOST_BYTES = 20, 64_000_000

_VARIABLE = re.compile(r'(?<![\w.])\+?([\w.]+)\s*=\s*"((?:[^"\\]|\\.)*)"')
_IGNORED = {"DOT", "CONFIG", "NODE_STATUS_FILE", "JOBSTATE_LOG", "SAVE_POINT_FILE"}
"""Commands about DAGMan's own files, which d0ctl does not need."""
_LEFT_OUT = {
    "SET_JOB_ATTR": "attributes of jobs of HTCondor",
    "ENV": "the environment of DAGMan",
    "SERVICE": "a service node",
    "PROVISIONER": "a provisioner node",
}


class Command(NamedTuple):
    """A command of a file: its words behind the first, its place, and the lines behind it."""

    arguments: list[str]
    line: str
    at: str
    lines: Iterator[tuple[int, str]]


def text_of(path: Path, where: str) -> str:
    """Return the text of a file. Raises Unreadable."""
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            raise Unreadable(f"{where}: there is no file `{path.name[:100]}` that can be read")
        return path.read_text(errors="replace")
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise Unreadable(f"{where}: `{path.name[:100]}` can't be read: {reason}") from error


def read(path: Path) -> Dag:
    """Read a file of DAGMan with all that it includes. Raises Unreadable."""
    return _Reader(path.parent, (), Work()).of_file(path, path.name)


class _Reader:
    """Reads one file; `stack` has the files that include it."""

    def __init__(self, directory: Path, stack: tuple[Path, ...], work: Work) -> None:
        self.directory = directory
        self.stack = stack
        self.work = work
        self.ends: dict[tuple[str, bool], list[str]] = {}
        self.dag = Dag()
        self.descriptions: dict[str, str] = {}
        self.relations: list[tuple[list[str], list[str], str]] = []
        self.later: list[tuple[Callable[[Node], None], str, str]] = []

    def of_file(self, path: Path, where: str) -> Dag:
        """Read a file and return its workflow."""
        self._include(path, where)
        for change, name, at in self.later:
            nodes = self._named(name, at)
            self.work.add(at, settings=len(nodes))
            for node in nodes:
                change(node)
        for parents, children, at in self.relations:
            self._relate(parents, children, at)
        return self.dag

    def _include(self, path: Path, where: str) -> None:
        real = path.resolve()
        if real in self.stack:
            raise Unreadable(f"{where}: `{path.name[:100]}` includes itself")
        if len(self.stack) > MOST_NESTED:
            raise Unreadable(f"{where}: files include each other more than {MOST_NESTED} deep")
        self.work.add(where, files=1)
        self.stack = (*self.stack, real)
        lines = iter(enumerate(joined(text_of(path, where)), 1))
        for number, line in lines:
            arguments = line.split()
            if arguments and not arguments[0].startswith("#"):
                at = f"{path.name}:{number}"
                self._command(arguments[0], Command(arguments[1:], line, at, lines))
        self.stack = self.stack[:-1]

    def _command(self, word: str, command: Command) -> None:
        upper, at = word.upper(), command.at
        method = getattr(self, f"_read_{upper.lower().replace('-', '_')}", None)
        if upper in _IGNORED:
            return
        if upper in _LEFT_OUT:
            self.dag.left_out.append((at, f"`{upper}`: {_LEFT_OUT[upper]}"))
        elif upper == "REJECT":
            raise Unreadable(f"{at}: the file says `REJECT`, so DAGMan does not run it either")
        elif method is None:
            raise Unreadable(f"{at}: `{word[:40]}` is not a command of DAGMan")
        else:
            try:
                method(command)
            except (IndexError, ValueError) as error:
                raise Unreadable(f"{at}: `{upper}` is not complete") from error

    def _read_job(self, command: Command) -> None:
        self._node(command)

    _read_node = _read_job

    def _read_final(self, command: Command) -> None:
        self._node(command).is_final = True

    def _node(self, command: Command) -> Node:
        name, submit, *more = command.arguments
        at, inline = command.at, None
        if submit == "{":
            inline, more = _block(command)
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
        self.work.add(node.where, nodes=1)
        self.dag.nodes[node.name] = node

    def _read_submit_description(self, command: Command) -> None:
        self.descriptions[command.arguments[0]], _ = _block(command)

    def _read_splice(self, command: Command) -> None:
        name, *arguments = command.arguments
        self._part(name, arguments, command.at, joint="+", group="")

    def _read_subdag(self, command: Command) -> None:
        kind, name, *arguments = command.arguments
        if kind.upper() != "EXTERNAL":
            raise ValueError(kind)
        self._part(name, arguments, command.at, joint=".", group=name)

    def _part(self, name: str, arguments: list[str], at: str, *, joint: str, group: str) -> None:
        upper = [word.upper() for word in arguments]
        folder = self.directory / arguments[upper.index("DIR") + 1] if "DIR" in upper else None
        path = (folder or self.directory) / arguments[0]
        inner = _Reader(folder or self.directory, self.stack, self.work).of_file(path, at)
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
            part.nodes[node.name] = self.dag.nodes[node.name] = node
        part.edges = [(f"{name}{joint}{a}", f"{name}{joint}{b}") for a, b in inner.edges]
        self.dag.edges += part.edges
        for category, most in inner.limits.items():
            self.dag.limits.setdefault(
                category if category.startswith("+") else f"{name}{joint}{category}", most
            )

    def _read_include(self, command: Command) -> None:
        self._include(self.directory / command.arguments[0], command.at)

    def _read_parent(self, command: Command) -> None:
        child = [word.upper() for word in command.arguments].index("CHILD")
        parents, children = command.arguments[:child], command.arguments[child + 1 :]
        if not parents or not children:
            raise ValueError(command.line)
        self.relations.append((parents, children, command.at))

    def _relate(self, parents: Sequence[str], children: Sequence[str], at: str) -> None:
        before = [name for parent in parents for name in self._side(parent, at, last=True)]
        behind = [name for child in children for name in self._side(child, at, last=False)]
        self.work.add(at, edges=len(before) * len(behind))
        self.dag.edges += [(a, b) for a in before for b in behind]

    def _side(self, name: str, at: str, *, last: bool) -> list[str]:
        if name in self.dag.parts:
            if (name, last) not in self.ends:
                self.ends[name, last] = self.dag.parts[name].ends(last=last)
            return self.ends[name, last]
        if name not in self.dag.nodes:
            raise Unreadable(f"{at}: there is no node `{name}`")
        return [name]

    def _read_connect(self, command: Command) -> None:
        self.relations.append((command.arguments[:1], [command.arguments[1]], command.at))
        self.dag.left_out.append(
            (command.at, "`CONNECT`: all ends of the splices are connected, no pins")
        )

    def _read_pin_in(self, command: Command) -> None:
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

    def _set(self, command: Command, **settings: object) -> None:
        """Change the named nodes when all are known."""

        def change(node: Node) -> None:
            for name, value in settings.items():
                setattr(node, name, value)

        self.later.append((change, command.arguments[0], command.at))

    def _read_vars(self, command: Command) -> None:
        found = _VARIABLE.findall(command.line)
        pairs = {key.lower(): re.sub(r"\\(.)", r"\1", value) for key, value in found}
        self.later.append(
            (lambda node: node.variables.update(pairs), command.arguments[0], command.at)
        )

    def _read_retry(self, command: Command) -> None:
        arguments = command.arguments
        upper = [word.upper() for word in arguments]
        code = int(arguments[upper.index("UNLESS-EXIT") + 1]) if "UNLESS-EXIT" in upper else None
        self._set(command, retries=int(arguments[1]), unless_exit=code)

    def _read_priority(self, command: Command) -> None:
        self._set(command, priority=int(command.arguments[1]))

    def _read_category(self, command: Command) -> None:
        self._set(command, category=command.arguments[1])

    def _read_maxjobs(self, command: Command) -> None:
        self.dag.limits[command.arguments[0]] = int(command.arguments[1])

    def _read_script(self, command: Command) -> None:
        rest, at = command.arguments, command.at
        while rest[0].upper() in ("DEFER", "DEBUG"):
            self.dag.left_out.append((at, f"`{rest[0]}` of a script"))
            rest = rest[3:]
        kind, name, program, *arguments = rest
        if kind.upper() not in ("PRE", "POST", "HOLD"):
            raise ValueError(kind)
        if kind.upper() == "HOLD":
            self.dag.left_out.append((at, f"the hold script of `{name}`"))
            return
        script = Script(program, arguments)
        self._set(command._replace(arguments=[name]), **{kind.lower(): script})

    def _read_pre_skip(self, command: Command) -> None:
        self._set(command, pre_skip=int(command.arguments[1]))

    def _read_abort_dag_on(self, command: Command) -> None:
        self._set(command, abort_on=int(command.arguments[1]))
        if more := command.arguments[2:]:
            text = f"`{' '.join(more)[:40]}` of `ABORT-DAG-ON`"
            self.dag.left_out.append((command.at, text))


def _block(command: Command) -> tuple[str, list[str]]:
    """Return the text up to the closing brace, and the words behind it."""
    text: list[str] = []
    for _, line in command.lines:
        if line.strip().startswith("}"):
            return "\n".join(text), line.strip()[1:].split()
        text.append(line)
    raise Unreadable(f"{command.at}: the brace is not closed")
