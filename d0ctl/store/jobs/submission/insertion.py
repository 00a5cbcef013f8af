"""The insertion of the rows of a job that comes in, by short transactions."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from shlex import quote

from msgspec import Struct, field

from d0ctl.errors import Refused
from d0ctl.store.connection import Store
from d0ctl.store.jobs.submission.intake_rows import (
    BinaryRow,
    Chunk,
    FileRow,
    InputRow,
    PackageRow,
    Row,
)
from d0ctl.units import REQUESTS

TRANSACTION_S = 0.1
"""After this time a transaction takes no further chunk; a writer may take at most 0.2 s."""

REQUIREMENT = (
    "stage", *REQUESTS, "cpu", "space", "platform", "nodes", "exclude_nodes",
    "priority", "early", "fetches", "software", "needs", "rank", "seconds",
    "expected", "chain",
)  # fmt: skip
"""The fields of a requirement, in the order of the intake."""


def dropped(file: str) -> Refused:
    """Refuse to read a file of another job, `JOB:NAME`, that is dropped."""
    return Refused(f"`{file}` was dropped, so nothing can read it",
                   hint=f"d0ctl why {quote(file)}")  # fmt: skip


class Insertion(Struct):
    """The rows of one job on their way into the database."""

    store: Store
    job: int
    packages: int = 0
    lines: Counter[int] = field(default_factory=Counter)
    """The number of lines of each stage."""
    absent: set[int] = field(default_factory=set)
    """Files of other jobs that do not exist: not yet, or no more."""
    takes_dropped: bool = False
    """Whether packages may read dropped files of other jobs, as those of dropped lines do."""

    def reserve(self, table: str, count: int) -> int:
        """Reserve ids of a table for this job; return the first."""
        if not self.store.connection.in_transaction:
            with self.store.writing():
                return self.reserve(table, count)
        last = self.store.value("reserve_ids", table=table, count=count)
        return int(last) - count + 1

    def insert_all(self, chunks: Iterator[Chunk], progress: Callable[[int], None] | None) -> None:
        """Insert the chunks, as many per transaction as there is time for."""
        chunk = next(chunks, None)
        while chunk is not None:
            with self.store.writing():
                until = time.monotonic() + TRANSACTION_S
                self._insert(chunk)
                while time.monotonic() < until:
                    chunk = next(chunks, None)
                    if chunk is None:
                        break
                    self._insert(chunk)
            if progress is not None:
                progress(self.packages)
            chunk = chunk and next(chunks, None)

    def _insert(self, chunk: Chunk) -> None:
        """Insert the rows of a chunk, each kind after those that it refers to."""
        store = self.store
        self.packages += len(chunk.packages)
        self.lines.update(line[1] for line in chunk.lines)
        for number, *fields in chunk.requirements:
            requirement = self._make_requirement(fields)
            store.change("number_requirement", number=number, requirement=requirement)
        self._change_many("insert_line", chunk.lines)
        left_out: list[Row] = []
        inputs, matches, absent = self._foreign(chunk.foreign, left_out)
        if chunk.packages:
            self._packages(chunk.packages, absent)
        store.insert_many("insert_binary", chunk.binaries, BinaryRow._fields.index("software"))
        self._files(chunk.files)
        all_inputs = [*chunk.inputs, *inputs]
        store.insert_many("insert_input", all_inputs, InputRow._fields.index("disposition"))
        self._change_many("insert_dropped_input", left_out)
        out = Counter(row[0] for row in left_out)
        early = [(there - absent[of] - out[of], missing + absent[of], of)
                 for there, missing, of in chunk.early]  # fmt: skip
        self._change_many("let_start_early", early)
        self._change_many("make_late", chunk.late)
        self._change_many("match_late", [*chunk.matches, *matches])
        self._change_many("order_line", chunk.orders)
        self._change_many("mark_result", chunk.results)

    def _packages(self, rows: Sequence[Row], absent: Mapping[int, int]) -> None:
        self.store.insert_many("bring_package", rows, PackageRow._fields.index("wall_time"))
        self._change_many("bring_waiting", list(absent.items()))
        self.store.change("insert_packages")
        self.store.empty("incoming")

    def _files(self, rows: Sequence[Row]) -> None:
        self.store.insert_many("insert_file", rows, FileRow._fields.index("locator"))

    def _make_requirement(self, fields: Sequence[object]) -> int:
        return int(self.store.value("make_requirement", **self._requirement(fields)))

    def _requirement(self, fields: Sequence[object]) -> dict[str, object]:
        return {"job": self.job, **dict(zip(REQUIREMENT, fields, strict=True))}

    def _foreign(
        self, entries: Sequence[Row], left_out: list[Row]
    ) -> tuple[list[Row], list[Row], Counter[int]]:
        """Find files of other jobs; count those that packages wait for.

        Inputs without which packages begin are added to `left_out`.
        """
        inputs: list[Row] = []
        matches: list[Row] = []
        absent = Counter[int]()
        for job, name, (package, binary, _, *rest), match in entries:
            row = self.store.row("file_of_job", job=job, name=name)
            if row is None:
                raise Refused(f"job `{job}` makes no file `{name}` any more")
            is_left_out = row["dropped"] and not self.takes_dropped
            if is_left_out and InputRow(package, binary, row["id"], *rest).required:
                raise dropped(f"{job}:{name}")
            if not is_left_out and not row["present"]:
                self.absent.add(row["id"])
                absent[package] += 1
            self.store.change("keep_need", job=self.job, maker=row["job_id"])
            (left_out if is_left_out else inputs).append((package, binary, row["id"], *rest))
            if match is not None:
                matches.append((match, package, binary, row["id"]))
        return inputs, matches, absent

    def _change_many(self, query: str, rows: Sequence[Row]) -> None:
        if rows:
            self.store.change_many(query, rows)
