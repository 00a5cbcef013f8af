"""Instances of WfCommons (WfFormat 1.5) as job files."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from d0ctl.importers.draft import Draft, Entry, Unreadable, label

_SAID = 5
"""How many things of a kind are named; the rest is counted."""


def read(text: str, path: Path, draft: Draft) -> None:
    """Put the tasks of an instance into a draft. Raises Unreadable."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{path.name}: it is not JSON: {error}") from error
    workflow = _of(document, dict, path, "the document").get("workflow")
    parts = _of(workflow, dict, path, "`workflow`")
    specification = parts.get("specification")
    if not isinstance(specification, dict):
        version = str(document.get("schemaVersion", "unknown"))[:20]
        raise Unreadable(
            f"{path.name}: `workflow` has no `specification`: this is schema version {version}, "
            "and versions from 1.5 are read"
        )
    execution = parts.get("execution")
    _Import(specification, execution if isinstance(execution, dict) else {}, path, draft).run()
    if isinstance(document.get("description"), str) and document["description"].strip():
        title = " ".join(document["description"].split())
        draft.keys["title"] = "".join(c for c in title if c.isprintable())[:200]


def _of(value: Any, kind: type, path: Path, what: str) -> Any:
    if not isinstance(value, kind):
        raise Unreadable(f"{path.name}: {what} is not {'a list' if kind is list else 'a record'}")
    return value


class _Import:
    def __init__(
        self, specification: dict[str, Any], execution: dict[str, Any], path: Path, draft: Draft
    ) -> None:
        self.path = path
        self.draft = draft
        self.tasks = [
            _of(task, dict, path, "a task")
            for task in _of(specification.get("tasks"), list, path, "`tasks`")
        ]
        if not self.tasks:
            raise Unreadable(f"{path.name}: it has no tasks")
        files = specification.get("files") or []
        self.sizes = {
            file["id"]: file.get("sizeInBytes")
            for file in _of(files, list, path, "`files`")
            if isinstance(file, dict) and isinstance(file.get("id"), str)
        }
        runs = execution.get("tasks") or []
        self.runs = {
            run["id"]: run
            for run in _of(runs, list, path, "the tasks of `execution`")
            if isinstance(run, dict) and isinstance(run.get("id"), str)
        }
        self.missing: Counter[str] = Counter()
        self.invented: list[str] = []
        self.makers: dict[str, str] = {}

    def run(self) -> None:
        """Make a line of each task, in one stage per name."""
        lines: dict[str, tuple[str, Entry]] = {}
        for task in self.tasks:
            for name in self._names(task, "outputFiles"):
                self.makers.setdefault(name, self._id(task))
        for task in self.tasks:
            key = self._id(task)
            if key in lines:
                raise Unreadable(f"{self.path.name}: there are two tasks `{key[:60]}`")
            line = self._line(task, key)
            stage = label(str(task.get("name") or "tasks"))
            lines[key] = self.draft.add(stage, line), line
        for task in self.tasks:
            self._order(task, lines)
        for name, number in list(self.missing.items())[:_SAID]:
            text = f"input `{name[:100]}` of {number} tasks"
            self.draft.leave_out(self.path.name, f"{text}: there is no such file beside it")
        if len(self.missing) > _SAID:
            self.draft.leave_out(self.path.name, f"{len(self.missing) - _SAID:,} more such inputs")
        if self.invented:
            self.draft.leave_out(
                self.path.name, f"{len(self.invented):,} tasks have no command: they make their "
                "outputs with the recorded sizes",
            )  # fmt: skip

    def _id(self, task: dict[str, Any]) -> str:
        key = task.get("id", task.get("name"))
        if not isinstance(key, str) or not key:
            raise Unreadable(f"{self.path.name}: a task has no `id`")
        return key

    def _names(self, task: dict[str, Any], key: str) -> list[str]:
        names = task.get(key) or []
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise Unreadable(f"{self.path.name}: `{key}` of a task is not a list of texts")
        return list(dict.fromkeys(name.lstrip("/") if key == "outputFiles" else name
                                  for name in names))  # fmt: skip

    def _line(self, task: dict[str, Any], key: str) -> Entry:
        run = self.runs.get(key, {})
        outputs = self._names(task, "outputFiles")
        line: Entry = {"name": label(key)}
        inputs = [
            name
            for written in self._names(task, "inputFiles")
            if (name := self._input(written, key))
        ]
        command = run.get("command")
        command = command if isinstance(command, dict) else {}
        program, arguments = command.get("program"), command.get("arguments") or []
        if isinstance(program, str) and program and isinstance(arguments, list):
            program_line = [
                program,
                *(str(word) for word in arguments if isinstance(word, str | int)),
            ]
            line["run"] = program_line
        else:
            self.invented.append(key)
            line["run"] = "\n".join(self._make(name) for name in outputs) or "true"
        if inputs:
            line["inputs"] = inputs
        own = [name for name in outputs if self.makers.get(name) == key and name not in inputs]
        if own:
            line["outputs"] = own
        cores, memory, took = (
            run.get(name) for name in ("coreCount", "memoryInBytes", "runtimeInSeconds")
        )
        if isinstance(cores, int | float) and 1 < cores < 100_000:
            line["cpus"] = str(int(cores))
        if isinstance(memory, int | float) and 1 <= memory < 1e15:
            line["memory"] = str(int(memory))
        if isinstance(took, int | float) and 1 <= took < 1e8:
            line["runtime"] = str(int(took))
        return line

    def _make(self, name: str) -> str:
        size = self.sizes.get(name)
        number = int(size) if isinstance(size, int | float) and 0 <= size < 10**9 else 0
        quoted = "'" + name.replace("'", "'\\''") + "'"
        return f"truncate -s {number} {quoted}"

    def _input(self, written: str, key: str) -> str | None:
        name = written.lstrip("/")
        if name in self.makers:
            return name if self.makers[name] != key else None
        try:
            if (self.path.parent / written).is_file():
                return written
        except (OSError, ValueError):
            pass
        self.missing[written] += 1
        return None

    def _order(self, task: dict[str, Any], lines: dict[str, tuple[str, Entry]]) -> None:
        """Order a task after those parents whose files it does not read."""
        _, line = lines[self._id(task)]
        makers = {self.makers.get(name) for name in line.get("inputs", ())}
        for parent in self._names(task, "parents"):
            if parent not in lines:
                raise Unreadable(f"{self.path.name}: there is no task `{parent[:60]}`, a parent")
            if parent not in makers:
                line.setdefault("after", []).append(lines[parent][0])
