"""An example and the exit status of every command that is not an action."""

READS = "0 done, 2 bad usage, 3 nothing matches, 5 the database can't be read"
CHANGES = "0 done, 1 not confirmed, 2 bad usage, 3 no such software, 4 refused"
NODES = "0 done, 1 not on all nodes, 3 no such software or node, 6 a node can't be reached"
HOME = "0 done, 5 the database can't be read"

EPILOGS = {
    "run": ("reco.yaml --set run=4711", "0 the job is successful, 1 it is not, 2 no such or a "
            "bad job file, 3 no such job, 4 refused, 130 interrupted"),
    "init": ("merge -o sim.yaml", "0 done, 2 bad usage, or a value that does not fit, "
             "3 no such pattern, 4 the file exists"),
    "template list": ("", "0 done, 2 a template has a fault"),
    "template show": ("merge", "0 done, 2 it has a fault, 3 no such template"),
    "template new": ("merge --set number=100 -o sim.yaml", "0 done, 2 bad usage, or a value that "
                     "does not fit, 3 no such template, 4 the file exists"),
    "import": ("flow.dag -o flow.yaml", "0 everything was converted, 1 something was left out, "
               "2 it can't be read, 4 the job file exists"),
    "validate": ("reco.yaml --strict", "0 no fault, 2 a fault, or with --strict a warning"),
    "rehearse": ("reco.yaml --site bigger.yaml", "0 done, 2 bad job or site file, 4 a run time is "
                 "not known, or no node can take a package"),
    "wait": ("reco001/2 --until failed --timeout 2h", "0 all of it is successful (with --until "
             "any: a package ended, and none failed), 1 it is not, or the time is over, 2 bad "
             "usage, 3 nothing matches, 5 no daemon is running"),
    "schema": ("job > job.schema.json", "0 done, 2 bad usage, 3 no such schema"),
    "status": ("reco001 --status failed --node farm02", f"{READS}; with --check, 0 no failures, "
               "1 failures need a person, 5 it stands still"),
    "why": ("reco001/2/3/1", READS),
    "top": ("--json", HOME),
    "eta": ("reco001", "0 done, 2 bad usage, 3 nothing matches, 4 the job has ended, "
            "5 the database can't be read"),
    "history": ("reco001 --reason exit-code", READS),
    "logs": ("reco001/2/3/1 --follow", f"{READS}, 6 the node can't be reached"),
    "peek": ("reco001/2/3/1 out.log --bytes 1MB", f"{READS}, 6 the node can't be reached"),
    "results": ("'reco001:*.root' --copy ~/reco", "0 done, 1 not all were copied, 2 bad usage, "
                "3 nothing matches, 5 the database can't be read"),
    "report failures": ("reco001 --older-than 2h", READS),
    "report disk": ("farm", READS),
    "report timeline": ("reco001", READS),
    "report metrics": ("-o /var/lib/prometheus/node-exporter/d0ctl.prom", "0 done, 4 the file "
                       "can't be written, 5 the database can't be read"),
    "report usage": ("--since 7d --html report.html", "0 done, 2 bad usage, 3 nothing matches, "
                     "4 the file can't be written, 5 the database can't be read"),
    "policy try": ("new-site.yaml --since 7d", "0 done, 2 no such file, or a fault in it"),
    "policy show": ("reco001/2", READS),
    "export": ("reco001 --format dagman > reco001.dag", READS),
    "tui": ("reco001 --theme dark", "0 closed, 2 bad usage, 5 the database can't be read"),
    "archives": ("--json", HOME),
    "file list": ("'reco001:*.root' --json", READS),
    "node list": ("--json", HOME),
    "node check": ("farm02 'lab*'", "0 no problem found, 1 a problem, 3 no such node, "
                   "6 one can't be reached"),
    "node login": ("emmy@farm02.example.org", "0 logged in, 2 bad usage, 3 no such node, "
                   "6 the login was refused"),
    "node logout": ("farm02", "0 done, 2 bad usage, 3 no such node"),
    "cluster list": ("--json", HOME),
    "cluster check": ("batch --wait 1h", "0 no problem found, 1 a problem, 2 bad usage, "
                      "3 no such batch system, 6 its login node can't be reached"),
    "researcher list": ("--json", HOME),
    "throttle list": ("--json", HOME),
    "site check": ("site.yaml", "0 no fault, 2 no such file, or a fault in it, "
                   "3 no site file in the home"),
    "site diff": ("site.yaml", "0 no difference, 1 a difference, 2 no such or a bad site "
                  "file, 3 none in the home"),
    "site apply": ("site.yaml --dry-run", "0 done, 1 not confirmed, 2 no such or a bad site "
                   "file, 3 none in the home, 4 refused, 6 a new node can't be reached"),
    "site rotate-key": ("--reason 'a stolen backup'", "0 done, 1 not confirmed, "
                        "4 a process drives packages (--lost), 5 no key"),
    "site show": ("> site.yaml", HOME),
    "software list": ("--json", HOME),
    "software where": ("reco/v12", HOME),
    "software add": ("reco/v12 --archive reco.tar.gz", CHANGES),
    "software remove": ("reco/v12", CHANGES),
    "software push": ("reco/v12 --node farm02", NODES),
    "software purge": ("reco/v12 --node farm02", NODES),
    "software verify": ("reco/v12", NODES),
    "store list": ("--json", HOME),
    "store locate": ("store:archive/run1/a.raw", "0 it is there, 2 bad usage, 3 no such file or "
                     "store, 4 the store has no such command, 5 it does not answer"),
    "store delete": ("store:archive/run1/a.raw", "0 removed, 1 not confirmed, 2 bad usage, "
                     "3 no such file or store, 4 the store has no such command, "
                     "5 it does not answer"),
    "task submit": ("reco-task.yaml", "0 submitted, 2 bad task file, 3 no such parent, 4 refused, "
                    "5 the database can't be used"),
    "task list": ("--json", HOME),
    "task status": ("reco", READS),
    "task why": ("reco", READS),
    "task history": ("reco", READS),
    "daemon run": ("", "0 stopped, 4 another daemon is running, 5 the database can't be used"),
    "daemon start": ("", "0 it is running, 5 it did not start"),
    "daemon stop": ("", "0 it is not running any more, 5 it did not stop"),
    "daemon restart": ("", "0 it is running, 5 it did not stop or start"),
    "daemon install": ("--journal", "0 it is running as a service, 2 bad usage, 4 refused, or "
                       "systemd does not answer, 5 it did not start"),
    "daemon uninstall": ("", "0 removed, 3 there is no service, 4 systemd does not answer"),
    "daemon status": ("--json", "0 it is running, 3 it is not"),
    "serve": ("--port 8620", "0 stopped, 2 bad usage, 4 the port is taken, or it is not installed, "
              "5 there is no home"),
    "token list": ("--json", HOME),
    "event key": ("", "0 done, 4 there is one, 5 there is no home"),
    "event send": ("file-arrived reco/raw", "0 done, 2 bad usage, 3 no key, 4 refused"),
    "notify list": ("--json", READS),
    "notify show": ("12", "0 done, 3 no such message, 4 it was sent, and its text is not kept"),
    "notify test": ("emmy@example.org", "0 sent, 1 not sent, 2 bad usage, 4 no mail is set up"),
    "plugins": ("--json", "0 all can be used, 1 one can't be used"),
    "doctor": ("--nodes", "0 no problem found, 5 a problem, 6 --nodes could not check a node"),
    "completion install": ("--shell zsh", "0 done, 2 bad usage"),
    "completion uninstall": ("", "0 removed, 2 bad usage, 3 there is none"),
    "backup": ("d0ctl-backup.db", "0 done, 3 no such folder, 4 refused, 5 the database is damaged"),
    "restore": ("d0ctl-backup.db --dry-run", "0 done, 1 not confirmed, 2 not a backup, "
                "3 no such file, 4 refused, 5 the database can't be used"),
}  # fmt: skip
"""The end of the help of each command: an example, and the exit codes."""


def epilog(name: str) -> str:
    """Return the end of a command's help; empty for a command without an entry here."""
    if name not in EPILOGS:
        return ""
    arguments, exit_status = EPILOGS[name]
    example = f"Example: d0ctl {name} {arguments}".rstrip()
    return f"{example}\n\nExit status: {exit_status}."
