"""Hooks: scripts of a site or its software before and after binaries, and at the end.

They are the custom package wrapper of InGrid. A failure of a hook has a reason of its own, unless
the binary has failed already.
"""

from typing import Any, Dict, List

from d0ctl_wrapper.attempt.reporter import Reporter
from d0ctl_wrapper.attempt.run.script import Script, ScriptContext, facts, run
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.protocol.launch import Launch

Binary = Dict[str, Any]


class Hooks:
    """The hooks of one attempt: those of its site, and for each binary those of its software."""

    def __init__(self, context: ScriptContext, launch: Launch, report: Reporter) -> None:
        self._context = context
        self._hooks: "List[Dict[str, Any]]" = launch["hooks"]
        self._report = report

    def before(self, number: int, binary: Binary) -> None:
        """Run the hooks before a binary; raise Failed if one fails."""
        for hook in [*self._hooks, *binary["hooks"]]:
            self._run(hook, "before", number, _about(number, binary))

    def after(self, number: int, binary: Binary, failed: "Failed | None") -> None:
        """Run the hooks after a binary; raise Failed if one fails.

        Hooks enclose a binary like brackets, so their order is reversed here.
        """
        hooks = [*binary["hooks"][::-1], *self._hooks[::-1]]
        if not any(hook["after"] for hook in hooks):
            return
        last = self._report.records[-1] if self._report.records else {}
        is_recorded = last.get("binary") == number
        more = {
            "EXIT_CODE": last.get("exit_code") if is_recorded else None,
            "SIGNAL": last.get("signal") if is_recorded else None,
            "REASON": failed.reason if failed else None,
        }
        for hook in hooks:
            self._run_for(failed, hook, "after", number, {**_about(number, binary), **more})

    def end(self, failed: "Failed | None") -> None:
        """Run the hooks at the end of the chain; raise Failed if one fails."""
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
        """Run a hook; after another failure its own failure is only a remark."""
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
        run(self._context, script, facts(about))


def _about(number: int, binary: Binary) -> "Dict[str, Any]":
    return {"BINARY": number, "BINARY_NAME": binary["name"]}
