"""What a job would do, found in one pass over its lines."""

from collections.abc import Iterator

from msgspec.structs import replace

from d0ctl.jobfile.preview import Preview, Source
from d0ctl.jobfile.spec import LineSpec
from tests.support.jobs import job, line, simple, stage


class Counted(tuple[LineSpec, ...]):
    """Lines that count how often they are read."""

    times = 0

    def __iter__(self) -> Iterator[LineSpec]:
        self.times += 1
        return super().__iter__()


def test_lines_are_read_once_and_inputs_of_later_stages_are_found() -> None:
    merge = stage(simple(inputs=["a", "b", "/outside"], outputs=["all"]), name="merge")
    sim = stage(line(simple(outputs=["a"])), line(simple(outputs=["b", "c"])), name="sim")
    lines = [Counted(one.lines) for one in (merge, sim)]
    stages = [replace(one, lines=two) for one, two in zip((merge, sim), lines, strict=True)]

    spec = job("late", *stages)
    before = [line.times for line in lines]

    preview = Preview(spec, listing=True)

    first, second = preview.stages
    assert first.reads == {Source("stage", "sim"): {"a", "b"}, Source("here"): {"/outside"}}
    assert (first.change, first.results, second.results) == ("merge", 1, 1)
    assert [line.makes for line in preview.lines(second)] == [["a"], ["b", "c"]]
    assert [line.path for line in preview.lines(first)] == ["1/1"]
    assert [one.times - then for one, then in zip(lines, before, strict=True)] == [1, 1]
