"""`why` of packages that failed lines block: their causes, and the lines to drop."""

import time
from typing import Any

from d0ctl import actions
from d0ctl.actions import request
from d0ctl.select import parse
from d0ctl.show.why.selected import explain
from d0ctl.store.nodes import leases
from tests.show.asking import why
from tests.store.requiring import end_all, go_on, merge
from tests.support.building import job, line, production
from tests.support.building import package as make
from tests.support.site import Site


def act(site: Site, verb: str, path: str, **options: Any) -> None:
    """A person acts."""
    wanted = request(verb, parse(path), **options)
    actions.apply(site.store, wanted, actor="emmy", note=None, now=time.time())


def test_the_only_line_of_a_stage_is_not_to_be_dropped(site: Site) -> None:
    site.submit(production(lines=2))
    for path in ("prod/1/1/1", "prod/1/1/2", "prod/1/2/1", "prod/1/2/2"):
        site.finish(path)
    site.fail("prod/2/1/1")

    answers = [why(site, path) for path in ("prod", "prod/2/1/1", "prod/3/1/1")]

    assert not [text for answer in answers for text in answer.commands if "kill-line" in text]
    assert not [text for answer in answers for text in answer.facts if "can be dropped" in text]


def test_all_causes_of_a_blocked_merge_are_named_or_counted(site: Site) -> None:
    lines = [line(make(f"x{seed}"), make(f"y{seed}", needs=[f"x{seed}"])) for seed in range(1, 8)]
    merge = make("all", needs=[f"y{seed}" for seed in range(1, 8)])
    site.submit(job(("make", lines), ("merge", [line(merge)])))
    for seed in (2, 4):
        site.fail(f"prod/1/{seed}/1")

    two = why(site, "prod/2/1/1")
    for seed in (1, 3, 5, 6, 7):
        site.fail(f"prod/1/{seed}/1")
    seven = why(site, "prod/2/1/1")

    assert "the causes are `prod/1/2/1` (failed) and `prod/1/4/1` (failed)" in two.facts
    assert "d0ctl kill-line prod/1/2 prod/1/4 --drop-outputs" in two.commands
    names = ", ".join(f"`prod/1/{seed}/1` (failed)" for seed in range(1, 6))
    assert f"the causes are {names} and 2 more" in seven.facts


def test_the_causes_of_a_merge_of_failed_lines_add_up_and_its_command_drops_all_of_them(
    site: Site,
) -> None:
    files = [f"x{seed}" for seed in range(20)]
    lines = [line(make(file)) for file in files]
    site.submit(job(("make", lines), ("merge", [line(make("all", needs=files))])))
    for seed in range(1, 14):
        site.fail(f"prod/1/{seed}/1")

    answer = why(site, "prod/2/1/1")

    named = ", ".join(f"`prod/1/{seed}/1` (failed)" for seed in range(6, 11))
    assert f"the other causes are {named} and 3 more" in answer.facts
    assert answer.commands[1:] == ["d0ctl kill-line prod/1/1-13 --drop-outputs"]
    assert ("lines `prod/1/1-13` can be dropped: packages that can run without them do so"
            in answer.facts)  # fmt: skip
    for seed in (15, 17, 19):
        site.fail(f"prod/1/{seed}/1")
    assert why(site, "prod/2/1/1").commands[1:] == [
        "d0ctl kill-line prod/1/1-13 prod/1/15 prod/1/17 prod/1/19 --drop-outputs"]  # fmt: skip


def test_a_job_names_the_lines_that_block_it_as_the_merge_does(site: Site) -> None:
    files = [f"x{seed}" for seed in range(1, 5)]
    merge = line(make("all", needs=files))
    site.submit(job(("make", [line(make(file)) for file in files]), ("merge", [merge])))
    for seed in (1, 4):
        site.finish(f"prod/1/{seed}/1")
    for seed in (2, 3):
        site.fail(f"prod/1/{seed}/1")
    go_on(site.store)

    of_job, of_stage = (
        explain(site.store, parse(path), time.time()) for path in ("prod", "prod/2")
    )

    fact = "lines `prod/1/2-3` can be dropped: packages that can run without them do so"
    drop = "d0ctl kill-line prod/1/2-3 --drop-outputs"
    assert fact in of_job.facts and fact in of_stage.facts
    assert of_job.commands[-1] == of_stage.commands[-1] == drop


def test_a_job_that_failed_packages_of_another_one_block_names_all_of_them(site: Site) -> None:
    makers = [line(make(f"x{seed}")) for seed in range(1, 9)]
    site.submit(job(("make", makers), name="gen"))
    readers = [line(make(f"y{seed}", needs=[f"gen:x{seed}"])) for seed in range(1, 9)]
    site.submit(job(("read", readers), ("plot", [line(make("z", needs=["y7"]))]), name="ana"))
    for seed in range(1, 9):
        (site.fail if seed in (2, 3, 5, 7) else site.finish)(f"gen/1/{seed}/1")
    for seed in (1, 4, 6, 8):
        site.finish(f"ana/1/{seed}/1")
    go_on(site.store)

    answer = explain(site.store, parse("ana"), time.time())

    assert "job `ana` can't continue: package `ana/1/2/1` is blocked" in answer.answer
    assert ("other packages wait for `gen/1/3/1` (failed), `gen/1/5/1` (failed) and `gen/1/7/1` "
            "(failed)") in answer.facts  # fmt: skip
    drops = [text for text in answer.commands if "kill-line" in text]
    assert drops == ["d0ctl kill-line gen/1/2-3 gen/1/5 gen/1/7 --drop-outputs"]
    assert explain(site.store, parse("ana/2"), time.time()).facts[:1] == [
        "the cause is `gen/1/7/1`, which is failed"]  # fmt: skip


def test_a_job_with_too_few_successes_says_what_its_merge_requires(site: Site) -> None:
    site.submit(merge(0.8, lines=6))
    end_all(site, failing=2, lines=6)
    go_on(site.store)

    answers = [explain(site.store, parse(path), time.time()) for path in ("prod", "prod/2")]

    required = "stage `merge` requires 80%: 4 of 6 packages of stage `reco` are successful so far"
    assert answers[0].answer.startswith("job `prod` failed: 2 packages failed")
    assert [answer.facts.count(required) for answer in answers] == [1, 1]
    assert required not in explain(site.store, parse("prod/1"), time.time()).facts


def test_lines_that_are_no_neighbours_are_both_named_as_those_to_drop(site: Site) -> None:
    site.submit(production(lines=4))
    for seed in (1, 3):
        site.fail(f"prod/1/{seed}/1")

    facts = why(site, "prod/2/1/1").facts

    assert ("lines `prod/1/1` and `prod/1/3` can be dropped: packages that can run without them "
            "do so") in facts  # fmt: skip


def test_a_successful_package_of_a_dropped_line_is_said_to_be_of_one(site: Site) -> None:
    files = ["x1", "x2"]
    lines = [line(make(file)) for file in files]
    site.submit(job(("make", lines), ("merge", [line(make("all", needs=files))])))
    site.finish("prod/1/1/1")
    act(site, "kill-line", "prod/1/1", drop_outputs=True)

    answer = why(site, "prod/1/1/1")

    assert answer.status == "successful"
    assert any(text.startswith("its line was dropped ") for text in answer.facts)
    assert "d0ctl restore-line prod/1/1" in answer.commands


def test_a_package_that_is_being_killed_has_no_estimated_start(site: Site) -> None:
    site.submit(production(lines=2))
    site.finish("prod/1/1/1")
    site.launch("prod/1/2/1")
    act(site, "kill", "prod/1/2/1")

    answer = why(site, "prod/1/2/1")

    assert answer.phase == "killing"
    assert not [text for text in answer.facts if "begins" in text or "expected to take" in text]


def test_why_of_a_job_with_a_failure_says_why_its_ready_packages_do_not_run(site: Site) -> None:
    site.up(cpus=1)
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())
    site.submit(production("older"))
    site.submit(production())
    site.fail("prod/1/2/1")
    site.launch("older/1/1/1")

    for part in ("prod", "prod/1"):
        answer = explain(site.store, parse(part), time.time())
        assert " has failures: 1 package failed" in answer.answer
        assert any("ready: package `prod/1/1/1` is ready, and no slot is free on" in fact
                   for fact in answer.facts)  # fmt: skip
        assert any("job `older` are ready, too, and come first" in fact for fact in answer.facts)

    site.launch("prod/1/1/1")
    answer = explain(site.store, parse("prod"), time.time())
    assert not any("ready: package" in fact for fact in answer.facts)
