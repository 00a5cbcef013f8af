"""Words of other programs, and commands that the dashboard does not have."""

from collections.abc import Mapping

FILES = "it reads or writes files in the folder where you type it"
OUTLIVES = "it starts or ends a process that goes on without the dashboard"
FOREGROUND = "it stays in the foreground, in a terminal of its own"
PRINTS = "it prints a list or report, which a pager or another program takes"
MACHINE = "it sets up this machine or account, seldom, and not from a dashboard that others may see"
SITE = "it changes or checks the site, step by step on the terminal"

NOT_HERE: Mapping[str, str] = {
    **dict.fromkeys((
        "init", "template list", "template show", "template new", "import", "validate", "rehearse",
        "schema", "export", "backup", "restore", "task submit", "policy try",
    ), FILES),
    **dict.fromkeys(("daemon start", "daemon restart", "daemon stop"), OUTLIVES),
    **dict.fromkeys(("run", "wait", "daemon run", "serve"), FOREGROUND),
    **dict.fromkeys((
        "report usage", "report metrics", "report disk", "policy show", "archives",
        "file list", "cluster list", "researcher list", "throttle list", "software list",
        "software where", "store list", "store locate", "plugins", "notify list", "notify show",
        "site show", "token list", "daemon status", "doctor",
    ), PRINTS),
    **dict.fromkeys((
        "daemon install", "daemon uninstall", "event key", "event send", "completion install",
        "completion uninstall",
    ), MACHINE),
    **dict.fromkeys((
        "node check", "node login", "node logout", "cluster check", "site check", "site diff",
        "site apply", "site rotate-key", "software add", "software remove", "software push",
        "software purge", "software verify", "store delete", "notify test",
    ), SITE),
}  # fmt: skip
"""The reason for each, which the palette shows."""

ELSEWHERE: Mapping[str, str] = {
    "ack": "acknowledge", "bjobs": "status", "bkill": "kill", "bsub": "submit", "cancel": "kill",
    "cat": "logs", "check": "node check", "condor_hold": "hold", "condor_q": "status",
    "condor_release": "release", "condor_rm": "kill", "condor_submit": "submit",
    "continue": "resume", "dashboard": "tui", "delete": "remove", "download": "results",
    "drop": "kill-line", "drop-line": "kill-line", "errors": "report failures",
    "estimate": "eta", "estimates": "eta",
    "fetch": "results", "forget": "remove", "get": "results", "head": "logs", "info": "status",
    "jobs": "status", "less": "logs", "list": "status", "log": "logs", "ls": "status",
    "nodes": "node list", "output": "results", "outputs": "results", "ps": "status", "qdel": "kill",
    "qstat": "status", "qsub": "submit", "queue": "status", "rerun": "retry",
    "resubmit": "retry", "rm": "remove",
    "sacct": "history", "sbatch": "submit", "scancel": "kill", "show": "status",
    "share": "site show", "shares": "site show", "sinfo": "node list",
    "skip": "kill-line", "squeue": "status", "suspend": "pause", "tail": "logs",
    "tasks": "task list", "undo": "history", "unhold": "release",
    "user": "researcher list", "users": "researcher list", "watch": "tui",
}  # fmt: skip
"""What people type who know other programs, and the command that does it here."""
