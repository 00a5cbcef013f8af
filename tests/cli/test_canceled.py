"""What is said of packages that are blocked by canceled ones, and what continues them."""

import time
from pathlib import Path

import pytest

from d0ctl.store.nodes import contact
from tests.cli.conftest import Type
from tests.support.building import document, job, line, package, production
from tests.support.rows import change
from tests.support.site import Site


def commands(d0ctl: Type, path: str) -> list[str]:
    """The commands that `why` suggests."""
    suggested: list[str] = document(d0ctl("why", path, "--json").stdout)["commands"]
    return suggested


def three_lines(site: Site, *canceled: int) -> None:
    """Three lines that have ended, some of them canceled, and a merge that needs all."""
    files = [f"x{number}" for number in range(1, 4)]
    lines = [line(package(file)) for file in files]
    site.submit(job(("sim", lines), ("merge", [line(package("all", takes=files))])))
    for number in {1, 2, 3} - set(canceled):
        site.finish(f"prod/1/{number}/1")


def test_why_names_the_retry_of_the_canceled_packages_that_block_the_rest(
    site: Site, d0ctl: Type
) -> None:
    three_lines(site, 1, 2)
    d0ctl("kill-line", "prod/1/1-2")

    for path in ("prod", "prod/merge", "prod/2/1/1"):
        assert "d0ctl retry 'prod:canceled'" in commands(d0ctl, path)
    for path in ("prod", "prod/merge"):
        assert "2 packages are canceled in `prod`" in d0ctl("why", path).stdout
    assert "d0ctl retry 'prod:canceled'" in d0ctl("status", "prod").stdout
    assert d0ctl("retry", "prod:canceled").exit_code == 0
    assert site.phase("prod/1/1/1") == "ready"


def test_why_retries_only_the_canceled_package_that_the_input_needs(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=2))
    d0ctl("kill", "prod/1/1/1")
    d0ctl("kill", "prod/1/2/*")

    assert "d0ctl retry prod/1/1/1" in commands(d0ctl, "prod/1/1/2")
    assert "d0ctl retry 'prod:canceled'" in commands(d0ctl, "prod")


def test_why_and_retry_of_a_canceled_package_name_the_canceled_ones_before_it(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=2))
    for path in ("prod/1/2/1", "prod/1/2/2"):
        site.finish(path)
    d0ctl("kill", "prod/1/1/*", "prod/2/1/1")

    for path in ("prod", "prod/3/1/1", "prod/2/1/1"):
        assert commands(d0ctl, path)[0] == "d0ctl retry prod/1/1/1 prod/1/1/2 prod/2/1/1"
    missing = (
        "it can't start without `prod/1/1/1` (canceled) and `prod/1/1/2` (canceled): "
        "`d0ctl retry prod/1/1/1 prod/1/1/2`"
    )
    assert missing in d0ctl("retry", "prod/2/1/1", "--dry-run").stdout
    assert missing in d0ctl("retry", "prod/2/1/1").stdout
    assert "can't start" not in d0ctl("retry", "prod/1/1/1", "prod/1/1/2").stdout
    assert site.phase("prod/1/1/1") == "ready"


def test_retry_of_several_canceled_packages_counts_the_ones_before_them(
    site: Site, d0ctl: Type
) -> None:
    site.submit(job(("more", [line(package(f"y{n}")) for n in range(4)]),
                    ("all", [line(package("z", takes=[f"y{n}" for n in range(4)])),
                             line(package("w", takes=["y0"]))]), name="many"))  # fmt: skip
    d0ctl("kill", "many")

    said = d0ctl("retry", "many/2:canceled").stdout

    assert "some of them can't start without `many/1/" in said
    assert "and 1 more: `d0ctl retry many:canceled`" in said
    assert "can't start" not in d0ctl("retry", "many:canceled").stdout


def test_why_of_a_job_with_failures_names_its_canceled_packages_too(
    site: Site, d0ctl: Type
) -> None:
    three_lines(site, 1, 2)
    d0ctl("kill-line", "prod/1/1")
    site.fail("prod/1/2/1")

    answer = d0ctl("why", "prod").stdout

    assert "1 package failed" in answer
    assert "1 package is canceled in `prod`" in answer
    assert "d0ctl retry 'prod:canceled'" in answer


def test_restore_line_of_a_canceled_line_names_the_retry(site: Site, d0ctl: Type) -> None:
    three_lines(site, 1)
    d0ctl("kill-line", "prod/1/1")

    refused = d0ctl("restore-line", "prod/1/1")
    *_, hint = refused.stderr.splitlines()
    selector = hint.partition("d0ctl retry ")[2].strip("'")

    assert refused.exit_code == 4
    assert "line `prod/1/1` is not dropped" in refused.stderr
    assert hint == "to retry its canceled packages: d0ctl retry 'prod/1/1/*:canceled'"
    assert d0ctl("retry", selector).exit_code == 0
    assert site.phase("prod/1/1/1") == "ready"


def test_wait_counts_the_canceled_and_blocked_packages_of_a_failed_job(
    site: Site, d0ctl: Type
) -> None:
    three_lines(site, 1)
    d0ctl("kill-line", "prod/1/1")

    waited = d0ctl("wait", "prod")
    status = d0ctl("status", "prod", "-q")

    assert waited.exit_code == 1
    assert waited.stdout == "`prod` is blocked: 1 canceled and 1 blocked of 4 packages\n"
    assert status.stdout.startswith("`prod` is blocked: 2 of 4 packages done")


def test_a_merge_that_has_not_run_will_run_without_the_dropped_line(
    site: Site, d0ctl: Type
) -> None:
    three_lines(site, 1, 2)
    d0ctl("kill-line", "prod/1/1")
    d0ctl("kill-line", "prod/1/2", "--drop-outputs")
    blocked = d0ctl("status", "prod").stdout
    d0ctl("retry", "prod:canceled")
    site.finish("prod/1/1/1")
    site.launch("prod/2/1/1")
    running = d0ctl("status", "prod").stdout

    assert "prod/2/1/1 will run with 2 of 3 inputs, missing: x2" in blocked
    assert "prod/2/1/1 runs with 2 of 3 inputs, missing: x2" in running


def test_results_and_wait_say_which_inputs_of_others_a_package_lacked(
    d0ctl: Type, tmp_path: Path, site: Site
) -> None:
    (tmp_path / "sum.sh").write_text("cat x* > sum\n")
    file = tmp_path / "mc.yaml"
    file.write_text(
        "job: mc\nstages:\n"
        "- {name: a, lines: [{for: {n: [1, 2]}, run: 'echo > x{n}', outputs: 'x{n}'}]}\n"
        "- {name: b, lines: [{run: sh sum.sh, inputs: [sum.sh, {from: a}], outputs: sum}]}\n"
    )
    d0ctl("submit", str(file))
    site.finish("mc/1/1/1")
    planned = d0ctl("kill-line", "mc/1/2", "--drop-outputs", "--dry-run")
    d0ctl("kill-line", "mc/1/2", "--drop-outputs")
    site.finish("mc/2/1/1")

    assert "mc/2/1/1 loses 1 input, keeps 1" in planned.stdout
    for verb in ("results", "wait"):
        told = d0ctl(verb, "mc").stderr
        assert "mc/2/1/1 ran with 1 of 2 inputs, missing: x2" in told


def test_several_killed_lines_are_lines(site: Site, d0ctl: Type) -> None:
    three_lines(site, 1, 2)

    killed = d0ctl("kill-line", "prod/1/1-2")

    assert "to continue without these lines: d0ctl kill-line prod/1/1-2" in killed.stdout


def test_the_way_on_without_failed_lines_names_just_these(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=4))
    for number in (1, 3):
        site.fail(f"prod/1/{number}/1")

    planned = d0ctl("kill-line", "prod/*/*:failed", "--dry-run").stdout
    advised = "d0ctl kill-line prod/1/1 prod/1/3 --drop-outputs"

    assert f"to continue without these lines: {advised}\n" in planned
    dropped = d0ctl(*advised.split()[1:], "--dry-run").stdout
    assert "prod/1/2" not in dropped and "prod/1/4" not in dropped


def test_an_input_that_the_package_still_waits_for_is_not_optional(site: Site, d0ctl: Type) -> None:
    three_lines(site, 1)

    screen = d0ctl("status", "prod/2/1/1").stdout

    assert "missing, optional" not in screen
    assert "missing" in screen


def test_a_job_whose_packages_were_killed_is_blocked_on_each_screen(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=1))
    d0ctl("kill", "prod/1", "--yes")

    assert "prod  ⊗ blocked" in d0ctl("status").stdout
    assert d0ctl("status", "prod").stdout.splitlines()[1].startswith("⊗ blocked")
    assert "✘ failed" not in d0ctl("status", "prod").stdout


def test_why_of_a_killed_job_says_who_killed_it_and_why(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=1))
    site.launch("prod/1/1/1")
    d0ctl("kill", "prod", "--reason", "wrong geometry")
    site.end("prod/1/1/1", "killed")

    why = " ".join(d0ctl("why", "prod").stdout.split())

    assert "job `prod` is canceled: 0 of" in why
    assert "package `prod/1/1/1` was canceled by " in why
    assert why.count("wrong geometry") == 1


def test_why_of_a_failed_job_says_who_killed_a_package_of_it(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=2))
    site.fail("prod/1/1/1")
    d0ctl("kill", "prod/1/2/1", "--reason", "wrong geometry")

    assert "was canceled by " in d0ctl("why", "prod").stdout
    assert "was canceled" not in d0ctl("why", "prod/1/1").stdout


def test_of_a_failed_job_the_canceled_packages_are_counted_and_their_retry_is_named(
    site: Site, d0ctl: Type
) -> None:
    three_lines(site, 1, 2, 3)
    site.fail("prod/1/1/1")
    site.launch("prod/1/2/1")
    with site.store.writing():
        contact.down(site.store, 1, "connection refused", now=time.time())
    d0ctl("kill", "prod")

    for path in ("prod", "prod/1"):
        assert f"d0ctl retry '{path}:canceled'" in commands(d0ctl, path)
    assert "3 packages are canceled in `prod`" in d0ctl("why", "prod").stdout
    assert d0ctl("status", "prod").stdout.count("d0ctl retry 'prod:canceled'") == 1
    assert d0ctl("retry", "prod:canceled").exit_code == 0
    assert site.phase("prod/1/2/1") == "ready"


def test_the_canceled_packages_of_a_canceled_job_are_counted_once(site: Site, d0ctl: Type) -> None:
    three_lines(site, 1, 2, 3)
    d0ctl("kill", "prod")

    answer = d0ctl("why", "prod").stdout

    assert answer.count("4 canceled") == 1
    assert "packages are canceled" not in answer
    assert answer.count("d0ctl retry 'prod:canceled'") == 1


@pytest.mark.parametrize(("verb", "done"), [("remove", "removed"), ("archive", "moved")])
def test_a_job_that_goes_names_the_packages_of_others_that_are_canceled_with_it(
    site: Site, d0ctl: Type, verb: str, done: str
) -> None:
    site.submit(production("maker", lines=2))
    site.submit(job(("read", [line(package("all", takes=["maker:sim-1"]))]), name="reader"))
    for number in (1, 2):
        site.fail(f"maker/1/{number}/1")
    for name in ("maker", "reader"):
        change(site.store, "job", {"name": name}, ended=time.time())

    planned = d0ctl(verb, "maker", "--dry-run").stdout
    both = d0ctl(verb, "maker", "reader", "--dry-run").stdout
    said = d0ctl(verb, "maker", "--yes").stdout

    cause = "1 package of `reader`, because nothing makes"
    assert f"would cancel {cause} its inputs then" in planned
    assert "would cancel" not in both
    assert f"{done} job `maker`" in said
    assert f"canceled {cause} its inputs any more" in said
    assert site.phase("reader/1/1/1") == "canceled"
    for path in ("reader", "reader/1", "reader/1/1/1"):
        assert "a retry would run without these inputs" in d0ctl("why", path).stdout
        assert not any("retry" in command for command in commands(d0ctl, path))


def test_no_retry_is_advised_of_canceled_packages_too_large(site: Site, d0ctl: Type) -> None:
    large = [line(package(f"x{n}", memory=64 << 30)) for n in (1, 2)]
    site.submit(job(("a", large), ("b", [line(package("all", needs=["x1", "x2"]))])))
    site.up()
    d0ctl("kill", "prod/1", "--yes")

    for target in ("prod", "prod/1", "prod/1/2", "prod/2/1/1"):
        assert not [text for text in commands(d0ctl, target) if text.startswith("d0ctl retry")]
        assert "d0ctl why prod/1/1/1" in (said := d0ctl("why", target).stdout) or "no node" in said
    assert d0ctl("retry", "prod:canceled").exit_code == 4
