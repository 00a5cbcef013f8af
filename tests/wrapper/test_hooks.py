"""Scripts of the site round binaries: when they run, what they find, how they fail."""

from typing import Any

from tests.wrapper.client import Client, binary, launch
from tests.wrapper.test_progress import STAYS


def hook(**scripts: Any) -> dict[str, Any]:
    return dict(scripts)


def test_hooks_run_before_and_after_each_binary_and_at_the_end(node: Client) -> None:
    say = "echo {} $D0CTL_BINARY >> ../order"
    site = hook(before=say.format("site-before"), after=say.format("site-after"),
                end=say.format("end"))  # fmt: skip
    own = hook(before=say.format("own-before"), after=say.format("own-after"))
    end = node.run(
        binary(script="echo binary 1 >> ../order", hooks=[own]),
        binary(script="echo binary 2 >> ../order"),
        hooks=[site],
    )

    assert end["outcome"] == "successful"
    assert (node.folder(1) / "order").read_text().splitlines() == [
        "site-before 1", "own-before 1", "binary 1", "own-after 1", "site-after 1",
        "site-before 2", "binary 2", "site-after 2", "end",
    ]  # fmt: skip


def test_a_hook_has_logs_of_its_own_and_the_environment_of_the_binary(node: Client) -> None:
    site = hook(
        before="echo $GEOMETRY $D0CTL_BINARY_NAME; pwd",
        after="echo $D0CTL_EXIT_CODE $D0CTL_REASON >&2",
        end="echo $D0CTL_OUTCOME $D0CTL_REASON",
    )
    step = binary(script="exit 3", name="reco")
    end = node.run(step, hooks=[site], environment={"GEOMETRY": "v3"})

    work = node.folder(1) / "work"
    assert end["reason"] == "exit-code"
    assert (node.folder(1) / "1.before.out").read_text() == f"v3 reco\n{work}\n"
    assert (node.folder(1) / "1.after.err").read_text() == "3 exit-code\n"
    assert (node.folder(1) / "end.out").read_text() == "failed exit-code\n"


def test_the_failure_of_a_hook_has_its_own_reason(node: Client) -> None:
    site = hook(name="site", before="echo no licence >&2; exit 9")
    end = node.run(binary(script="touch ../ran"), hooks=[site])

    assert (end["reason"], end["binary"], end["exit_code"]) == ("hook", 1, None)
    assert end["detail"] == "the hook of site before binary 1 ended with exit code 9: no licence"
    assert end["binaries"] == []
    assert not (node.folder(1) / "ran").exists()


def test_a_hook_after_a_successful_binary_can_fail_it(node: Client) -> None:
    end = node.run(binary("true"), binary("true"), hooks=[hook(after="false")])

    assert (end["reason"], end["binary"]) == ("hook", 1)
    assert [one["exit_code"] for one in end["binaries"]] == [0]


def test_the_reason_of_a_failed_binary_wins_over_that_of_its_hooks(node: Client) -> None:
    end = node.run(binary(script="exit 3"), hooks=[hook(after="exit 4", end="exit 5")])

    answer = [one["text"] for one in node.messages(1) if one["kind"] == "note"]
    assert end["reason"] == "exit-code"
    assert answer == [
        "the hook after binary 1 ended with exit code 4",
        "the hook at the end ended with exit code 5",
    ]


def test_the_hook_at_the_end_can_fail_the_package(node: Client) -> None:
    step = binary(script="echo x > a", outputs=[{"name": "a", "min_size": None}])
    end = node.run(step, hooks=[hook(end="false")], keep=["a"])

    assert (end["reason"], end["outputs"]) == ("hook", [])


def test_a_hook_that_takes_too_long_is_ended(node: Client) -> None:
    end = node.run(binary("true"), hooks=[hook(before="sleep 100", timeout=0.2)])

    assert (end["reason"], "did not end within 0.2 s" in end["detail"]) == ("hook", True)


def test_a_hook_can_be_killed_like_a_binary(node: Client) -> None:
    node.launch(launch(1, binary("true"), hooks=[hook(before=f"touch ../1.out; {STAYS}")]))
    node.started(1)
    node.send("kill", attempts=[1], grace=1)

    end = node.end(1)
    assert (end["outcome"], end["binaries"]) == ("killed", [])
