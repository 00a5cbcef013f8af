"""Whatever a job has done: nothing begins before what it reads is made, and the job ends last."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from d0ctl.jobfile.spec import JobSpec
from d0ctl.schedule.estimates import Range
from d0ctl.store import Store
from d0ctl.store.views.job_files import eta
from tests.store.bad_nodes import StillSite
from tests.store.test_correct import fresh
from tests.store.test_urgency import timed
from tests.support.examples import examples
from tests.support.jobs import job, line, stage, submitted
from tests.support.rows import value

LEAST_S = 1e-3
"""How much the rounding of a sum changes."""

SECONDS = st.sampled_from([0.1, 3.0, 12.0, 200.0])

CHAINS = """
select maker.id, reader.id, maker_stage.seq, stage.seq
  from input
  join file on file.id = input.file_id and file.present = 0
  join package as maker on maker.id = file.package_id
  join stage as maker_stage on maker_stage.id = maker.stage_id
  join package as reader on reader.id = input.package_id and reader.phase = 'waiting'
  join stage on stage.id = reader.stage_id
 where input.own = 0 order by 1, 2
"""


@st.composite
def chains(draw: st.DrawFn) -> JobSpec:
    """Stages whose packages read one file each of an earlier stage, or all of it."""
    width = draw(st.integers(1, 9))
    stages = []
    for seq in range(draw(st.integers(2, 4))):
        takes = [draw(SECONDS)] * width
        if draw(st.booleans()):
            takes = draw(st.lists(SECONDS, min_size=width, max_size=width))
        maker = draw(st.integers(0, seq - 1)) if seq else None
        if maker is not None and draw(st.booleans()):
            stages.append(stage(timed(takes[0], tuple(f"f{maker}-{n}" for n in range(width)),
                                      tuple(f"f{seq}-{n}" for n in range(width)))))  # fmt: skip
            continue
        lines = []
        for n, took in enumerate(takes):
            inputs = () if maker is None else (f"f{maker}-{n}",)
            middle = f"m{seq}-{n}"
            last = timed(took, (middle,), (f"f{seq}-{n}",))
            lines.append(line(timed(took, inputs, (middle,)), last) if draw(st.booleans())
                         else timed(took, inputs, (f"f{seq}-{n}",)))  # fmt: skip
        stages.append(stage(*lines))
    return job("one", *stages)


def run(site: StillSite, ended: int, passes: float, began: dict[int, float]) -> None:
    """Fill the node, and let some packages end after a time."""
    node = site.node("localhost")
    site.fill()
    began |= {attempt: site.at for attempt in site.running(node) if attempt not in began}
    site.deliver(node, [{**entry, "time": site.at} for entry in node.spool])
    node.spool = []
    site.at += passes
    for attempt in site.running(node)[:ended]:
        node.end(attempt, "successful")
    ends = [{**entry, "started": began[entry["attempt"]], "ended": site.at, "binaries": []}
            for entry in node.spool]  # fmt: skip
    node.spool = []
    site.deliver(node, ends)


def is_later(late: Range, early: Range) -> bool:
    """Whether a time, its soonest and its latest are no earlier than another's."""
    pairs = ((late.low, early.low), (late.middle, early.middle), (late.high, early.high))
    return all(later >= earlier - LEAST_S for later, earlier in pairs)


def check(store: Store, now: float) -> None:
    """Compare all estimates of unmade files' makers with those of their readers."""
    ahead = eta.horizon(store, now=now)
    for id in ahead.jobs:
        numbers = [stage.seq for stage in ahead.jobs[id].stages]
        ends = {seq: end for seq in numbers if (end := ahead.stage_end(id, seq)) is not None}
        whole = ahead.end(id)
        assert whole is None or all(is_later(whole, end) for end in ends.values())
        for maker, reader, early, late in store.connection.execute(CHAINS).fetchall():
            made = eta.package_times(store, maker, now=now)
            times = eta.package_times(store, reader, now=now)
            if made is not None and times is not None and times.start is not None:
                assert is_later(times.start, made.end)
            if early in ends and late in ends:
                assert is_later(ends[late], ends[early])


@given(
    chains(),
    st.integers(1, 4),
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from([0.5, 11.0, 30.0])), max_size=5),
)
@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
def test_makers_end_before_readers_begin_stages_in_their_order_and_the_job_last(
    spec: JobSpec, cpus: int, steps: Sequence[tuple[int, float]]
) -> None:
    with fresh() as store:
        site, began = StillSite.of(store, cpus=cpus), dict[int, float]()
        submitted(store, spec)

        check(store, site.at)
        for ended, passes in steps:
            run(site, ended, passes, began)
            check(store, site.at)


@pytest.mark.parametrize(("width", "steps"), [
    (4, [(0, 12.0)]), (6, [(0, 12.0)]), (8, [(4, 25.0), (0, 12.0)]), (9, [(4, 10.0), (0, 5.0)]),
    (12, [(4, 25.0), (4, 31.0), (0, 5.0)]), (30, [(4, 25.0), (4, 31.0), (0, 5.0)]),
])  # fmt: skip
def test_a_merge_begins_after_the_whole_stage_that_it_reads_and_ends_with_its_own(
    store: Store, width: int, steps: Sequence[tuple[int, float]]
) -> None:
    site, began = StillSite.of(store, cpus=4), dict[int, float]()
    makers = [timed(30.0, (), (f"a{n}",)) for n in range(width)]
    merge = timed(10.0, tuple(f"a{n}" for n in range(width)))
    number = submitted(store, job("long", makers, [merge]))
    run(site, 0, 0.0, began)
    for ended, passes in steps:
        run(site, ended, passes, began)

    ahead = eta.horizon(store, now=site.at)
    package = value(store, "v_package", "package_id", path="long/2/1/1")
    times = eta.package_times(store, package, now=site.at)
    made, end = (eta.at(ahead.stage_end(number, seq), site.at) for seq in (1, 2))

    assert times is not None and times.start is not None and made is not None
    assert is_later(times.start, made)
    assert times.end == end


def test_a_merge_ends_after_the_last_package_that_still_waits_for_cpus(store: Store) -> None:
    site = StillSite.of(store, cpus=4)
    makers = [timed(12.0, (), (f"a{n}",)) for n in range(9)]
    readers = [timed(0.1, (f"a{n}",), (f"b{n}",)) for n in range(9)]
    merge = timed(0.1, tuple(f"b{n}" for n in range(9)))
    number = submitted(store, job("long", makers, readers, [merge]))
    began: dict[int, float] = {}
    run(site, 4, 12.0, began)

    run(site, 0, 2.0, began)

    ahead = eta.horizon(store, now=site.at)
    ends = [ahead.stage_end(number, seq) for seq in (1, 2, 3)]
    ends = [*ends, ahead.end(number)]
    assert [end and round(end.middle, 1) for end in ends] == [22.0, 22.1, 22.2, 22.2]
    last = [value(store, "v_package", "package_id", path=f"long/{seq}/9/1") for seq in (1, 2)]
    times = [eta.package_times(store, package, now=site.at) for package in last]
    for made, read_by in pairwise(times):
        assert made is not None and read_by is not None
        assert read_by.start == made.end
