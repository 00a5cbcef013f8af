"""The only place that runs the scripts that a site, or its software, puts round binaries.

They are the custom package wrapper of InGrid: before and after each binary, and at the end.
Their failure has a reason of its own, and yields to that of the binary.
"""

from typing import Any, Dict, List

from d0ctl_wrapper.attempt.report import Report
from d0ctl_wrapper.attempt.run.script import Script, Surroundings, facts, run
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.protocol.launch import Launch

Binary = Dict[str, Any]


class Hooks:
    """The hooks of one attempt: those of its site, and round a binary those of its software."""

    def __init__(self, around: Surroundings, launch: Launch, report: Report) -> None:
        self._around = around
        self._hooks: "List[Dict[str, Any]]" = launch["hooks"]
        self._report = report

    def before(self, number: int, binary: Binary) -> None:
        """Prepare for a binary; raise Failed when that does not work."""
        for hook in [*self._hooks, *binary["hooks"]]:
            self._run(hook, "before", number, _about(number, binary))

    def after(self, number: int, binary: Binary, failed: "Failed | None") -> None:
        """Clear up after a binary, which has failed or not; raise Failed if that does not work.

        Hooks stand round a binary like brackets, so the last to come before comes first now.
        """
        hooks = [*binary["hooks"][::-1], *self._hooks[::-1]]
        if not any(hook["after"] for hook in hooks):
            return
        last = self._report.records[-1] if self._report.records else {}
        is_its = last.get("binary") == number
        more = {
            "EXIT_CODE": last.get("exit_code") if is_its else None,
            "SIGNAL": last.get("signal") if is_its else None,
            "REASON": failed.reason if failed else None,
        }
        for hook in hooks:
            self._run_for(failed, hook, "after", number, {**_about(number, binary), **more})

    def end(self, failed: "Failed | None") -> None:
        """Clear up at the end of the chain; raise Failed if that does not work."""
        more = {
            "OUTCOME": "failed" if failed else "successful",
            "REASON": failed.reason if failed else None,
        }
        for hook in self._hooks:
            self._run_for(failed, hook, "end", None, more)

    def _run_for(
        self, failed: "Failed | None", hook: "Dict[str, Any]", when: str,
        number: "int | None", about: "Dict[str, Any]",
    ) -> None:  # fmt: skip
        """Run a hook; beside what has failed already, its own failure is only worth a remark."""
        try:
            self._run(hook, when, number, about)
        except Failed as error:
            if failed is None:
                raise
            self._report.remark(error.detail)

    def _run(
        self, hook: "Dict[str, Any]", when: str, number: "int | None", about: "Dict[str, Any]"
    ) -> None:
        text = hook[when]
        if text is None:
            return
        name = when if number is None else "%d.%s" % (number, when)
        where = "at the end" if number is None else "%s binary %d" % (when, number)
        owner = " of %s" % hook["name"] if hook["name"] else ""
        who = "the hook%s %s" % (owner, where)
        script = Script(name.encode("ascii"), who, "hook", text, "bash", hook["timeout"])
        run(self._around, script, facts(about))


def _about(number: int, binary: Binary) -> "Dict[str, Any]":
    return {"BINARY": number, "BINARY_NAME": binary["name"]}
