"""Workflows of HTCondor's DAGMan as job files."""

import os
import re
import shlex
from functools import partial
from pathlib import Path

from d0ctl.importers import dag_file, submit_file
from d0ctl.importers.dag import MOST_NODES, Dag, Node, Script
from d0ctl.importers.descriptions import LATE, Descriptions, quoted
from d0ctl.importers.draft import Draft, Entry, Unreadable, label
from d0ctl.importers.submit_file import SubmitFile

STAGE, FINAL = "jobs", "final"
"""The stage of nodes without a category, and that of the final node."""

MIDDLE = 50
"""The priority of a node with priority 0."""


def read(path: Path, draft: Draft) -> None:
    """Put the nodes of a file into a draft. Raises Unreadable."""
    dag = dag_file.read(path)
    if not dag.nodes:
        raise Unreadable(f"{path.name}: there is no `JOB` in it")
    for where, text in dag.left_out:
        draft.leave_out(where, text)
    _Import(dag, draft, path.parent).run()


class _Import:
    """The conversion of a workflow into the lines of a draft."""

    def __init__(self, dag: Dag, draft: Draft, folder: Path) -> None:
        self.dag = dag
        self.draft, self.leave_out = draft, draft.leave_out
        self.has_final = any(node.is_final for node in dag.nodes.values())
        self.folder = folder
        self.descriptions = Descriptions(draft)
        self.lines: dict[str, list[tuple[str, Entry]]] = {}
        self.processes = 0
        self.made: dict[str, Entry] = {}
        """The line that makes each file."""
        self.wanted: list[tuple[Entry, str, str]] = []
        """Lines with missing inputs, and their submit descriptions."""
        self.is_all_final = all(node.is_final for node in dag.nodes.values())

    def run(self) -> None:
        """Make a line of each node, and the order between them."""
        for node in self.dag.nodes.values():
            self.lines[node.name] = self._add(node)
        for line, name, submit in self.wanted:
            if self.made.get(name, line) is not line:
                line["inputs"] = [*line.get("inputs", ()), name]
            else:
                self.leave_out(submit, f"input `{name[:100]}`: there is no such file")
        for before, behind in dict.fromkeys(self.dag.edges):
            for _, line in self.lines[behind]:
                line.setdefault("after", []).extend(path for path, _ in self.lines[before])
        for stage in self.draft.stages.values():
            for line in stage["lines"]:
                if "after" in line:
                    line["after"] = list(dict.fromkeys(line["after"]))
                if any("/" in name for name in line.get("inputs", ())):
                    line["layout"] = "flat"  # as HTCondor transfers files
        self.dag.check_order()

    def _stage_of(self, node: Node) -> str:
        if node.is_final:
            if not self.is_all_final:
                self.draft.stage(FINAL)["final"] = True
            return FINAL
        name = label(node.category.lstrip("+") or STAGE)
        stage = f"{node.group}.{name}" if node.group else name
        entry = self.draft.stage(stage)
        if node.category in self.dag.limits and self.dag.limits[node.category] > 0:
            entry["max-running"] = self.dag.limits[node.category]
        return stage

    def _add(self, node: Node) -> list[tuple[str, Entry]]:
        """Add the lines of a node: one for each process that it queues."""
        stage = self._stage_of(node)
        if node.is_done:
            self.leave_out(node.where, f"node `{node.name}` is `DONE`: it runs again")
        if node.is_noop:
            inputs: dict[str, None] = {}
            line: Entry = {"name": label(node.name), "run": self._script(node, "true", inputs)}
            if inputs:
                line["inputs"] = list(inputs)
            self._settings(node, line)
            return [(self.draft.add(stage, line), line)]
        files = self.descriptions.of(node)
        macros = {**node.variables, "job": node.name, "dag_status": "0", "retry": "0",
                  "failed_count": "0", "cluster": "0", "clusterid": "0"}  # fmt: skip
        counts = [self.descriptions.count(node, file, macros) for file in files]
        if sum(counts) > submit_file.MOST_QUEUED:
            raise Unreadable(f"{node.where}: `{node.submit}` queues {sum(counts)}, too many")
        self.processes += sum(counts)
        if self.processes > MOST_NODES:
            raise Unreadable(f"{node.where}: more than {MOST_NODES:,} processes in all")
        entries: list[tuple[str, Entry]] = []
        for file in [file for file, count in zip(files, counts, strict=True) for _ in range(count)]:
            process = str(len(entries))
            macros |= {"process": process, "procid": process, "step": process}
            name = node.name if sum(counts) == 1 else f"{node.name}.{process}"
            line = {"name": label(name)}
            self._program(node, file, macros, line)
            self._settings(node, line)
            entries.append((self.draft.add(stage, line), line))
        return entries

    def _program(self, node: Node, file: SubmitFile, macros: dict[str, str], line: Entry) -> None:
        """Add what a process runs, with its files and requirements."""
        value = partial(self.descriptions.value, node, file, macros)
        program = value("executable")
        if not program:
            raise Unreadable(f"{node.where}: `{node.submit}` has no `executable`")
        inputs: dict[str, None] = {}
        folder = node.directory / (value("initialdir") or "")
        called = self._executable(program, folder, inputs)
        if _is_missing(folder, program):
            self.wanted.append((line, os.path.normpath(program), node.submit))
        arguments = submit_file.split_arguments(value("arguments", fills=True) or "")
        command = " ".join([shlex.quote(called), *map(quoted, arguments)])
        if source := value("input"):
            self._input(source, folder, inputs, node, line)
            command += f" < {shlex.quote(Path(source).name)}"
        for name in dict.fromkeys(re.split(r"[,\s]+", value("transfer_input_files") or "")):
            if name:
                self._input(name, folder, inputs, node, line)
        command = self._environment(node, file, macros, line) + command
        line["run"] = self._script(node, command, inputs)
        if inputs:
            line["inputs"] = list(inputs)
        outputs = re.split(r"[,\s]+", value("transfer_output_files") or "")
        for name in dict.fromkeys(name for name in outputs if name and not name.endswith("/")):
            if name in self.made:
                self.leave_out(node.where, f"output `{name[:100]}`: another node makes it, too")
            else:
                self.made[name] = line
                line.setdefault("outputs", []).append(name)
        if image := value("container_image") or value("docker_image"):
            line["image"] = image.removeprefix("docker://")
        self._requirements(node, file, macros, line)

    def _executable(self, program: str, folder: Path, inputs: dict[str, None]) -> str:
        """Return the word that calls a program; a program beside the file becomes an input."""
        path = Path(program)
        if path.is_absolute():
            return program
        if "/" not in program and not _is_file(folder / path):
            return f"./{program}"
        if _is_file(folder / path):
            inputs[self._beside(folder / path)] = None
        return f"./{path.name}"

    def _beside(self, path: Path) -> str:
        """Return a path as the job file names it."""
        try:
            return str(path.resolve().relative_to(self.folder.resolve()))
        except (ValueError, OSError):
            return str(path)

    def _input(
        self, name: str, folder: Path, inputs: dict[str, None], node: Node, line: Entry
    ) -> None:
        path = folder / name
        if _is_file(path):
            inputs[self._beside(path)] = None
        else:
            self.wanted.append((line, name, node.submit))

    def _requirements(
        self, node: Node, file: SubmitFile, macros: dict[str, str], line: Entry
    ) -> None:
        value = partial(self.descriptions.value, node, file, macros)
        for key, usual in (("cpus", 1), ("gpus", 0)):
            asked = value(f"request_{key}") or ""
            if asked.isdigit() and int(asked) > usual:
                line[key] = asked
        for key, unit in (("memory", 1024**2), ("disk", 1024)):
            text = value(f"request_{key}")
            if text and (found := submit_file.size(text, unit)):
                line[key] = found
            elif text:
                self.leave_out(node.submit, f"`request_{key} = {text[:40]}`")

    def _environment(
        self, node: Node, file: SubmitFile, macros: dict[str, str], line: Entry
    ) -> str:
        """Add the variables of a process; return those that its shell sets before the program."""
        value = partial(self.descriptions.value, node, file, macros, fills=True)
        pairs = submit_file.variables(value("environment") or value("env") or "")
        names = {key: text for key, text in pairs.items() if key.isidentifier()
                 and key.isascii() and not key.startswith("D0CTL_")}  # fmt: skip
        late = {key: text for key, text in names.items()
                if quoted(text) != shlex.quote(text)}  # fmt: skip
        if fixed := {key: text for key, text in names.items() if key not in late}:
            line["environment"] = fixed
        return "".join(f"{key}={quoted(text)} " for key, text in late.items())

    def _settings(self, node: Node, line: Entry) -> None:
        """Add the priority, retries and exit codes that the workflow sets for a node."""
        if node.priority is not None:
            line["priority"] = str(min(100, max(0, MIDDLE + node.priority)))
            if not -MIDDLE <= node.priority <= 100 - MIDDLE:
                self.leave_out(node.where, f"priority {node.priority} of `{node.name}` is cut")
        if node.retries > 0:
            rule = {"tries": str(min(1000, node.retries)), "delay": "0"}
            line["policy"] = {reason: dict(rule) for reason in ("exit-code", "signal", "seg-fault")}
        rules = [{"match": text, "reason": reason} for _, text, reason in node.codes()]
        if rules:
            line["log-rules"] = rules
        if node.abort_on is not None:
            line.setdefault("policy", {})["site:abort-dag"] = {"hold": "job"}
            if self.has_final:
                self.leave_out(
                    node.where, "`ABORT-DAG-ON`: the job is held, so its final node waits"
                )

    def _script(self, node: Node, command: str, inputs: dict[str, None] | None = None) -> str:
        """Return the program of a node with its scripts and the exit code that is not retried."""
        inputs = {} if inputs is None else inputs
        parts = []
        codes = node.codes()
        if node.pre is not None:
            pre = self._call(node, node.pre, inputs)
            ends = [] if node.pre_skip is None else [f'[ "$RETURN" != {node.pre_skip} ] || exit 0']
            ends += _prints(codes)
            if ends:
                pre += f' || {{ RETURN=$?; {"; ".join(ends)}; exit "$RETURN"; }}'
            parts.append(pre)
        if node.post is not None or codes:
            parts += ["RETURN=0", f"{command} || RETURN=$?"]
        else:
            parts.append(command)
        if node.post is not None:
            parts += [f"{self._call(node, node.post, inputs)} || code=$?", "RETURN=${code:-0}"]
        parts += _prints(codes)
        if node.post is not None or codes:
            parts.append('exit "$RETURN"')
        return "\n".join(parts)

    def _call(self, node: Node, script: Script, inputs: dict[str, None]) -> str:
        arguments = [shlex.quote(self._executable(script.program, node.directory, inputs))]
        if _is_missing(node.directory, script.program):
            self.leave_out(node.where, f"script `{script.program[:100]}`: there is no such file")
        for argument in script.arguments:
            if argument == "$RETURN":
                arguments.append('"$RETURN"')
            elif argument == "$JOB":
                arguments.append(shlex.quote(node.name))
            elif argument == "$RETRY":
                arguments.append(LATE["retry"])
            elif argument == "$MAX_RETRIES":
                arguments.append(str(node.retries))
            elif argument == "$DAG_STATUS" and node.is_final:
                arguments.append(f'"{LATE["dag_status"]}"')
            elif argument == "$FAILED_COUNT" and node.is_final:
                arguments.append(f'"{LATE["failed_count"]}"')
            else:
                if argument.startswith("$"):
                    self.leave_out(node.where, f"`{argument[:40]}` of a script of `{node.name}`")
                arguments.append(shlex.quote(argument))
        return " ".join(arguments)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _is_missing(folder: Path, program: str) -> bool:
    """Return whether a program that should be beside the file is not; others are of the nodes."""
    return not Path(program).is_absolute() and not _is_file(folder / program)


def _prints(codes: list[tuple[int, str, str]]) -> list[str]:
    """Return commands that write the exit codes with a meaning to the log."""
    return [f'if [ "$RETURN" = {code} ]; then echo "{text}"; fi' for code, text, _ in codes]
