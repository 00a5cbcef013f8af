"""Random walks of packages and agents: files are conserved, and no table of states is left."""

from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from d0ctl.agents import round as rounds
from d0ctl.store import Store, open_store
from d0ctl.store.tasks import content_follower
from tests.support.examples import examples
from tests.support.homes import make_home
from tests.support.jobs import NOW
from tests.tasks.making import submit
from tests.tasks.test_merge import MERGE, end

STEPS = st.lists(
    st.one_of(
        st.just("agents"), st.just("follow"), st.just("end"),
        st.tuples(st.integers(0, 50), st.integers(0, 50), st.booleans()),
    ),
    max_size=60,
)  # fmt: skip
"""Rounds of agents, of the follower alone, the success of all ready packages, and changes of
packages, by a user or by d0ctl.
"""

DATASET = "select dataset_id, status, n from dataset_count where n > 0 order by 1, 2"
FILES = "select dataset_id, status, count(*) from content group by 1, 2 order by 1, 2"

IN_TWO = """
select content_id from content_attempt where ended is null group by 1 having count(*) > 1
"""

LOOSE = """
select content.id from content
  left join package on package.id = content.package_id
 where content.output = 0 and content.status in ('picked', 'running')
   and (package.id is null or package.phase in ('done', 'failed', 'canceled', 'dropped'))
"""
"""Files in a package that has ended."""

UNMADE = """
select content.id from content join package on package.id = content.package_id
 where content.status in ('prepared', 'merging', 'finished') and package.phase <> 'done'
"""
"""Files that count as processed or made, although their package was not successful."""

LOOSE_MERGES = """
select content.id from content
  left join package on package.id = content.merge_id
 where (content.status = 'merging'
        and (package.id is null or package.phase in ('done', 'failed', 'canceled', 'dropped')))
    or (content.status = 'prepared' and content.merge_id is not null)
    or (content.merge_id is not null and content.status = 'finished' and package.phase <> 'done')
"""
"""Files that no package merges, or that have left theirs."""

IDLE = """
select package.id from package
 where phase not in ('done', 'failed', 'canceled', 'dropped')
   and not exists (select 1 from content where content.package_id = package.id and output = 0
                                           and status in ('picked', 'running'))
   and not exists (select 1 from content where content.merge_id = package.id)
   and not exists (select 1 from event where event.package_id = package.id
                                         and event.old = 'dropped')
"""
"""Packages that may run, and have no file: those that a user restored are others' work."""


def rows(store: Store, query: str) -> list[tuple[Any, ...]]:
    """What a query finds."""
    return [tuple(row) for row in store.connection.execute(query)]


def step(store: Store, package: int, choice: int, by_user: bool) -> None:
    """Give a package another phase, one that the table of transitions allows."""
    packages = rows(store, "select id, phase from package order by id")
    if not packages:
        return
    number, phase = packages[package % len(packages)]
    following_phases = rows(store, f"select new from transition where old = '{phase}' order by new")
    if following_phases:
        with store.writing():
            store.connection.execute(
                "update package set phase = ?, changed = ?, actor = ? where id = ?",
                [following_phases[choice % len(following_phases)][0], NOW,
                 "emmy" if by_user else None, number],
            )  # fmt: skip


def walk(store: Store, steps: list[Any]) -> None:
    """Take steps, after two rounds of the agents."""
    for name in ["agents", "agents", *steps]:
        if name == "agents":
            rounds.take(store, clock=lambda: NOW)
        elif name == "end":
            end(store)
        elif name == "follow":
            content_follower.follow(store, now=NOW)
        else:
            step(store, *name)


def check(store: Store, files: int) -> None:
    """Compare what the database says with what must always hold, once all changes are read."""
    while content_follower.follow(store, now=NOW):
        pass
    assert rows(store, DATASET) == rows(store, FILES)
    assert rows(store, "select count(*) from content where output = 0") == [(files,)]
    assert rows(store, IN_TWO) == []
    assert rows(store, LOOSE) == []
    assert rows(store, UNMADE) == []
    assert rows(store, LOOSE_MERGES) == []
    assert rows(store, IDLE) == []


MERGED_AGAIN_IN_VAIN = ["end", "agents", "end", "agents", (3, 0, False), (3, 1, False)]
"""A package that has merged files is made again, and canceled before anybody looks."""

PROCESSED_AGAIN_IN_VAIN = ["end", "agents", (0, 0, False), (0, 1, False)]
"""So is one that has processed files."""


@settings(max_examples=examples(30))
@example(steps=MERGED_AGAIN_IN_VAIN, size=3, merges=True)
@example(steps=PROCESSED_AGAIN_IN_VAIN, size=3, merges=True)
@given(steps=STEPS, size=st.integers(1, 4), merges=st.booleans())
def test_files_are_conserved_whatever_packages_do(
    tmp_path_factory: Any, steps: list[Any], size: int, merges: bool
) -> None:
    home = make_home(tmp_path_factory.mktemp("walk") / "home")
    with open_store(home) as store:
        submit(store, inputs="{seeds: {range: [1, 8]}}",
               split=f"{{files-per-package: {size}, attempts: 2}}",
               more=MERGE.format(rules="files-per-merge: 2") if merges else "")  # fmt: skip
        walk(store, steps)
        if rows(store, "select 1 from content"):
            check(store, 8)
