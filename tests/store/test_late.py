"""Late outputs: consumers are held until the names are known, and then wait for the files."""

from typing import Any

import pytest
from msgspec.structs import replace

from d0ctl.jobfile.spec import InputSpec, OutputSpec
from d0ctl.store import Store
from d0ctl.store.views import one_package
from tests.store.test_early import drop, early, turn
from tests.store.test_files import lose
from tests.support.homes import faults
from tests.support.jobs import job, phases, simple, stage, submitted
from tests.support.messages import end_message, output
from tests.support.site import Site

PARTS = OutputSpec("part-*", late=True)
MERGE = "late/2/1/1"


def taken(match: str | None = None) -> InputSpec:
    """The late output as the input of another package."""
    return InputSpec("part-*", required=False, match=match)


def begun(store: Store, site: Site) -> int:
    """Let the maker start, and give its attempt."""
    node = site.node("localhost")
    site.schedule()
    site.hand_out(node)
    site.order(node)
    return max(node.attempts)


def end_with(site: Site, attempt: int, *names: str, **more: Any) -> None:
    """Let an attempt end well with these files for its late output."""
    node = site.node("localhost")
    outputs = [{**output(f"/here/{attempt}", name), "late": "part-*"} for name in names]
    node.disk.update(entry["path"] for entry in outputs)
    node.attempts[attempt] = "ended"
    message = end_message(attempt, outputs=outputs)
    site.deliver(node, [{**message, **more}])


def given(site: Site, path: str = MERGE) -> set[str]:
    """What the latest launch of a package has as inputs."""
    launches = [launch for node in site.nodes.values() for launch in node.launches.values()]
    last = [launch for launch in launches if launch["path"] == path][-1]
    return {entry["name"] for entry in last["inputs"]}


def test_two_parts_of_a_late_output_are_both_given(store: Store) -> None:
    submitted(
        store, job("late", [simple(outputs=[PARTS])], [simple(inputs=[taken("*-1\n*-[23]")])])
    )
    site = Site.of(store, cpus=2)

    end_with(site, begun(store, site), "part-1", "part-2", "part-4")
    site.settle()

    assert given(site) == {"part-1", "part-2"}


def test_a_reader_waits_until_the_names_are_known(store: Store) -> None:
    submitted(store, job("late", [simple(outputs=[PARTS])], [simple(inputs=[taken()])]))
    site = Site.of(store, cpus=2)
    attempt = begun(store, site)
    assert phases(store)[MERGE] == "waiting"

    end_with(site, attempt, "part-1", "part-2")
    assert phases(store)[MERGE] == "ready"
    site.settle()

    assert given(site) == {"part-1", "part-2"}
    assert faults(store) == {}


def test_a_reader_takes_only_matching_files(store: Store) -> None:
    spec = job("late", [simple(outputs=[PARTS])], [simple(inputs=[taken("*-[2-9]")])])
    submitted(store, spec)
    site = Site.of(store, cpus=2)

    end_with(site, begun(store, site), "part-1", "part-2", "part-3")
    site.settle()

    assert given(site) == {"part-2", "part-3"}
    assert faults(store) == {}


def test_no_file_at_all_is_an_empty_list(store: Store) -> None:
    maybe = replace(PARTS, min_count=0)
    submitted(store, job("late", [simple(outputs=[maybe])], [simple(inputs=[taken()])]))
    site = Site.of(store, cpus=2)

    end_with(site, begun(store, site))
    site.settle()

    assert given(site) == set()
    assert phases(store)[MERGE] == "done"
    assert faults(store) == {}


def test_the_files_that_nobody_takes_are_results(store: Store) -> None:
    submitted(store, job("late", [simple(outputs=[OutputSpec("part-*", late=True, result=True)])]))
    site = Site.of(store, cpus=2)

    end_with(site, begun(store, site), "part-1")
    assert phases(store) == {"late/1/1/1": "transferring"}
    site.settle()

    assert phases(store) == {"late/1/1/1": "done"}
    assert faults(store) == {}


def test_without_any_result_there_is_nothing_to_deliver(store: Store) -> None:
    maybe = OutputSpec("part-*", late=True, result=True, min_count=0)
    submitted(store, job("late", [simple(outputs=[maybe])]))
    site = Site.of(store, cpus=2)

    end_with(site, begun(store, site))

    assert phases(store) == {"late/1/1/1": "done"}
    assert faults(store) == {}


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        ("plain", "late output `plain` has the same name as a file of `late/1/2/1`"),
        ("part-*", "late output `part-*` has the same name as a file of `late/1/1/1`"),
        ("a\x07", "late the file name `a\x07` has a control character"),
        ("x:part", "late output `x:part` looks like a file of another job, `JOB:NAME`"),
    ],
)
def test_a_name_that_can_not_be_is_a_failure_with_a_sentence(
    store: Store, name: str, detail: str
) -> None:
    spec = job("late", [simple(outputs=[PARTS]), simple(outputs=["plain"], nodes=("nowhere",))],
               [simple(inputs=[taken()])])  # fmt: skip
    submitted(store, spec)
    site = Site.of(store, cpus=2)

    end_with(site, begun(store, site), "part-1", name)

    assert phases(store)["late/1/1/1"] == "failed"
    last = one_package.attempts(store, 1)[-1]
    assert (last.reason, last.message) == ("verification", detail)
    assert phases(store)[MERGE] == "waiting"
    assert faults(store) == {}


def test_of_two_packages_with_one_name_the_second_fails(store: Store) -> None:
    others = OutputSpec("p*", late=True)
    submitted(store, job("late", [simple(outputs=[PARTS]), simple(outputs=[others])]))
    site = Site.of(store, cpus=2)
    node = site.node("localhost")
    begun(store, site)
    some, two = ({**output("/here", "part-1"), "late": pattern} for pattern in ("part-*", "p*"))

    site.deliver(node, [end_message(1, outputs=[some]), end_message(2, outputs=[two])])

    assert sorted(phases(store).values()) in (["done", "failed"], ["failed", "transferring"])
    assert faults(store) == {}


def test_a_remake_with_other_names_puts_them_in_the_place_of_the_former(store: Store) -> None:
    spec = job("late", [simple(outputs=[PARTS])], [simple(inputs=[taken(), "/cal"])],
               [simple(inputs=[taken(), "b"], name="other")],
               [simple(outputs=["b"], nodes=("nowhere",))])  # fmt: skip
    submitted(store, spec)
    site = Site.of(store, cpus=2)
    end_with(site, begun(store, site), "part-1", "part-2")

    lose(store, "part-1")
    assert phases(store)["late/1/1/1"] == "ready"
    assert phases(store)[MERGE] == "waiting"
    assert faults(store) == {}
    end_with(site, begun(store, site), "part-2", "part-3")

    assert phases(store)[MERGE] == "ready"
    assert faults(store) == {}
    site.settle()
    assert given(site) == {"part-2", "part-3", "cal"}


def test_a_failed_maker_that_is_retried_may_make_other_names(store: Store) -> None:
    submitted(store, job("late", [simple(outputs=[PARTS])], [simple(inputs=[taken()])]))
    site = Site.of(store, cpus=2)
    node = site.node("localhost")
    site.deliver(node, [end_message(begun(store, site), "failed", "exit-code")])
    with store.writing():
        store.connection.execute("update package set phase = 'ready' where id = 1")

    end_with(site, begun(store, site), "part-7")
    site.settle()

    assert given(site) == {"part-7"}


def test_a_drop_takes_late_files_out_of_the_lists(store: Store) -> None:
    spec = job("late", [simple(outputs=[PARTS]), simple(outputs=["b"], nodes=("nowhere",))],
               [simple(inputs=[taken(), InputSpec("b", required=False)])])  # fmt: skip
    submitted(store, spec)
    site = Site.of(store, cpus=2)
    end_with(site, begun(store, site), "part-1")

    drop(store, 2)
    assert phases(store)[MERGE] == "ready"
    assert faults(store) == {}

    drop(store, 1)
    assert phases(store)[MERGE] == "dropped"
    assert faults(store) == {}


def test_late_files_reach_a_package_that_started_early(store: Store) -> None:
    spec = job("late", [simple(outputs=["a"]), simple(outputs=[PARTS])],
               stage(early(simple(inputs=["a", taken()]))))  # fmt: skip
    submitted(store, spec)
    site = Site.of(store, cpus=2)
    while phases(store)[MERGE] != "running":
        turn(site)

    site.settle()

    assert given(site) >= {"a", "part-0"}
    assert set(phases(store).values()) == {"done"}
    assert faults(store) == {}
