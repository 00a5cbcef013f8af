"""The verbs of the command line that are no actions: where the dashboard has them, or why not."""

from collections.abc import Mapping

SEEN: Mapping[str, str] = {
    "status": "fold_all", "why": "view", "eta": "view", "history": "view", "task history": "tasks",
    "report timeline": "timeline",
    "logs": "log", "peek": "peek", "report failures": "failures", "node list": "nodes",
    "task list": "tasks", "task status": "tasks", "task why": "tasks", "top": "nodes",
    "tui": "app.help",
}  # fmt: skip
"""Verbs that only look, and the action of the key that shows the same."""

FILES = "it reads or writes files in the folder where you type it"
FOREGROUND = "it stays in the foreground, in a terminal of its own"
PRINTS = "it prints a list or report, which a pager or another program takes"
MACHINE = "it sets up this machine or account, seldom, and not from a dashboard that others may see"
SITE = "it changes or checks the site, step by step on the terminal"

NOT_HERE: Mapping[str, str] = {
    **dict.fromkeys((
        "init", "template list", "template show", "template new", "import", "validate", "rehearse",
        "schema", "export", "backup", "restore", "results", "task submit", "policy try",
    ), FILES),
    **dict.fromkeys(("run", "wait", "daemon run", "serve"), FOREGROUND),
    **dict.fromkeys((
        "report usage", "report metrics", "report disk", "policy show", "archives", "file list",
        "cluster list", "researcher list", "throttle list", "software list", "software where",
        "store list", "store locate", "plugins", "notify list", "notify show", "site show",
        "token list", "daemon status", "doctor",
    ), PRINTS),
    **dict.fromkeys((
        "daemon start", "daemon stop", "daemon install", "daemon uninstall", "event key",
        "event send", "completion install", "completion uninstall",
    ), MACHINE),
    **dict.fromkeys((
        "node check", "node login", "node logout", "cluster check", "site check", "site diff",
        "site apply", "site rotate-key", "software add", "software remove", "software push",
        "software purge", "software verify", "store delete", "notify test",
    ), SITE),
}  # fmt: skip
"""Verbs that the dashboard does not have, and why; the palette copies them."""
