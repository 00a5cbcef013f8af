"""The actions as methods, which `make schemas` writes from their table."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from d0ctl.actions.action import Target
from d0ctl.api.acting import carry_out_each, requests
from d0ctl.api.done import Done
from d0ctl.config import Home


class Acting(ABC):
    """What actions are methods of; `reason` is recorded; with `dry_run` nothing is done.

    Each method raises NotFound, Refused or BadUsage as its command does. With `keep_going`, what
    is refused is in `failures` of the result, and the others are done.
    """

    home: Home

    @abstractmethod
    def _targets(self, keep_going: bool) -> Iterable[Target]:
        """Return what an action is carried out on, one after the other."""

    def _act(
        self,
        name: str,
        options: Mapping[str, Any],
        reason: str | None,
        dry_run: bool,
        keep_going: bool = False,
    ) -> Done:
        wanted = requests(name, self._targets(keep_going), options)
        return carry_out_each(self.home, wanted, reason, dry_run, keep_going)


class Verbs(Acting):
    """The actions on jobs and packages."""

    def acknowledge(
        self,
        *,
        withdraw: bool = False,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Mark failures as seen: they need nobody any more.

        withdraw: Have acknowledged failures need a person again.
        """
        return self._act("acknowledge", {"withdraw": withdraw}, reason, dry_run, keep_going)

    def archive(
        self,
        *,
        name: str | float | None = None,
        ended: str | float | None = None,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Move ended jobs with their history to an archive.

        name: Name of the archive (default: today's date).
        ended: Only jobs that ended at least this time ago, e.g. `90d`.
        """
        return self._act("archive", {"name": name, "ended": ended}, reason, dry_run, keep_going)

    def edit(
        self,
        *,
        memory: str | float | None = None,
        disk: str | float | None = None,
        cpus: str | float | None = None,
        gpus: str | float | None = None,
        wall_time: str | float | None = None,
        nodes: str | Sequence[str] = (),
        environment: Mapping[str, object] | None = None,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Change the resources that packages request before they start.

        memory: Memory to request, e.g. 4GB.
        disk: Disk space to request, e.g. 20GB.
        cpus: Number of CPUs to request.
        gpus: Number of GPUs to request; 0 for none.
        wall_time: Wall time to request, e.g. 2h.
        nodes: Node to run on, instead of the job's; may be repeated.
        environment: Variable to add to the environment; may be repeated.
        """
        return self._act(
            "edit",
            {
                "memory": memory,
                "disk": disk,
                "cpus": cpus,
                "gpus": gpus,
                "wall_time": wall_time,
                "nodes": nodes,
                "environment": environment,
            },
            reason,
            dry_run,
            keep_going,
        )

    def finish(
        self,
        *,
        soft: bool = False,
        hard: bool = False,
        partial: bool = False,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Start no more packages; with `hard`, kill running ones.

        soft: Let running packages end by themselves (default).
        hard: Kill running packages, too.
        partial: With `hard`: keep the files made so far, marked partial.
        """
        return self._act(
            "finish", {"soft": soft, "hard": hard, "partial": partial}, reason, dry_run, keep_going
        )

    def hold(
        self,
        *,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Keep jobs or packages from being scheduled."""
        return self._act("hold", {}, reason, dry_run, keep_going)

    def kill(
        self,
        *,
        partial: bool = False,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """End packages for good, with all their processes.

        partial: Keep the files made so far, marked partial.
        """
        return self._act("kill", {"partial": partial}, reason, dry_run, keep_going)

    def kill_line(
        self,
        *,
        drop_outputs: bool = False,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """End lines; with `drop_outputs`, the job continues.

        drop_outputs: Remove their files from the inputs of later packages.
        """
        return self._act("kill-line", {"drop_outputs": drop_outputs}, reason, dry_run, keep_going)

    def limit(
        self,
        *,
        max_running: str | float | None = None,
        max_failures: str | float | None = None,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Change how many packages run at once, and how many may fail.

        max_running: Largest number of packages on nodes at once, or `none`.
        max_failures: Hold the job after this many failed packages, or `none`.
        """
        return self._act(
            "limit",
            {"max_running": max_running, "max_failures": max_failures},
            reason,
            dry_run,
            keep_going,
        )

    def pause(
        self,
        *,
        running: bool = False,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Start no more packages; with `running`, suspend running ones.

        running: Suspend running packages, too.
        """
        return self._act("pause", {"running": running}, reason, dry_run, keep_going)

    def priority(
        self,
        priority: str | int,
        *,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Change the priority of jobs or packages.

        priority: 0 to 100; higher is scheduled first.
        """
        return self._act("priority", {"priority": priority}, reason, dry_run, keep_going)

    def release(
        self,
        *,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Allow held jobs or packages to be scheduled again."""
        return self._act("release", {}, reason, dry_run, keep_going)

    def remove(
        self,
        *,
        keep_results: bool = False,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Delete jobs with their history and results.

        keep_results: Move its results to results/JOB.1, or the next free number.
        """
        return self._act("remove", {"keep_results": keep_results}, reason, dry_run, keep_going)

    def restore_line(
        self,
        *,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Bring back dropped lines."""
        return self._act("restore-line", {}, reason, dry_run, keep_going)

    def resume(
        self,
        *,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Resume paused jobs or packages."""
        return self._act("resume", {}, reason, dry_run, keep_going)

    def retry(
        self,
        *,
        memory: str | float | None = None,
        disk: str | float | None = None,
        cpus: str | float | None = None,
        gpus: str | float | None = None,
        wall_time: str | float | None = None,
        nodes: str | Sequence[str] = (),
        environment: Mapping[str, object] | None = None,
        parameters: Mapping[str, object] | None = None,
        from_scratch: bool = False,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Retry failed packages, optionally with changed resources.

        memory: Memory to request, e.g. 4GB.
        disk: Disk space to request, e.g. 20GB.
        cpus: Number of CPUs to request.
        gpus: Number of GPUs to request; 0 for none.
        wall_time: Wall time to request, e.g. 2h.
        nodes: Node to run on, instead of the job's; may be repeated.
        environment: Variable to add to the environment; may be repeated.
        parameters: Parameter of the job to change; may be repeated.
        from_scratch: Discard the files that earlier attempts kept.
        """
        return self._act(
            "retry",
            {
                "memory": memory,
                "disk": disk,
                "cpus": cpus,
                "gpus": gpus,
                "wall_time": wall_time,
                "nodes": nodes,
                "environment": environment,
                "parameters": parameters,
                "from_scratch": from_scratch,
            },
            reason,
            dry_run,
            keep_going,
        )

    def set_status(
        self,
        status: str | int,
        *,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Set the status of packages by hand, if their files allow it.

        status: unscheduled, successful, failed or canceled.
        """
        return self._act("set-status", {"status": status}, reason, dry_run, keep_going)

    def update(
        self,
        *,
        file: str | float | None = None,
        parameters: Mapping[str, object] | None = None,
        again: bool = False,
        previous: bool = False,
        hold: bool = False,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Correct a submitted job.

        file: The corrected job file (default: the one it was submitted from).
        parameters: Parameter of the job; may be repeated.
        again: Rerun packages that ran with another definition.
        previous: Go back to the job file before the last update.
        hold: Keep it from being scheduled.
        """
        return self._act(
            "update",
            {
                "file": file,
                "parameters": parameters,
                "again": again,
                "previous": previous,
                "hold": hold,
            },
            reason,
            dry_run,
            keep_going,
        )


class NodeVerbs(Acting):
    """The actions on nodes, one after the other."""

    def accept_key(
        self,
        fingerprints: str | Sequence[str] = (),
        *,
        reinstalled: bool = False,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Trust a node's new host key; its packages stay as they are.

        fingerprints: The host key's fingerprint (default: ask at the terminal).
        reinstalled: The host was reinstalled: its files and attempts are gone.
        """
        return self._act(
            "node accept-key",
            {"fingerprints": fingerprints, "reinstalled": reinstalled},
            reason,
            dry_run,
            keep_going,
        )

    def accept_loss(
        self,
        *,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Count the missing files of a cache in doubt as lost."""
        return self._act("node accept-loss", {}, reason, dry_run, keep_going)

    def add(
        self,
        destination: str | None = None,
        *,
        cpus: str | float | None = None,
        gpus: str | float | None = None,
        identity: str | float | None = None,
        accept_keys: str | Sequence[str] = (),
        directory: str | float | None = None,
        python: str | float | None = None,
        via: str | float | None = None,
        local: bool = False,
        same_machine: bool = False,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Add a node, once its host key is trusted and it answers.

        destination: Address of the node, as for ssh.
        cpus: Number of slots (default: the node's CPUs).
        gpus: Number of GPUs (default: the node's).
        identity: Private key to log in with (default: ssh's).
        accept_keys: Fingerprint of a host key to trust; may be repeated.
        directory: Folder for d0ctl's files on the node (default: ~/.d0ctl/SITE/NODE).
        python: Path of Python 3.6 or newer on the node (default: detected).
        via: Program for the connection: auto, fabric or openssh.
        local: The node is this machine.
        same_machine: Allow a machine that is a node already.
        """
        return self._act(
            "node add",
            {
                "destination": destination,
                "cpus": cpus,
                "gpus": gpus,
                "identity": identity,
                "accept_keys": accept_keys,
                "directory": directory,
                "python": python,
                "via": via,
                "local": local,
                "same_machine": same_machine,
            },
            reason,
            dry_run,
            keep_going,
        )

    def benchmark(
        self,
        *,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Measure how fast a node's CPUs are."""
        return self._act("node benchmark", {}, reason, dry_run, keep_going)

    def drain(
        self,
        *,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Give a node no new packages; running ones continue."""
        return self._act("node drain", {}, reason, dry_run, keep_going)

    def free(
        self,
        wanted: str | int,
        *,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Free space in a node's cache; cheap copies are removed first.

        wanted: How much to free, such as 200GB.
        """
        return self._act("node free", {"wanted": wanted}, reason, dry_run, keep_going)

    def remove(
        self,
        *,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Remove a node; its only copies of files are made again."""
        return self._act("node remove", {}, reason, dry_run, keep_going)

    def resume(
        self,
        *,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Let a drained node take packages again."""
        return self._act("node resume", {}, reason, dry_run, keep_going)

    def set(
        self,
        changes: str | Sequence[str] = (),
        *,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Change settings of a node.

        changes: Keys of its entry in the site file, with their new values.
        """
        return self._act("node set", {"changes": changes}, reason, dry_run, keep_going)


class ClusterVerbs(Acting):
    """The actions on clusters."""

    def set(
        self,
        changes: str | Sequence[str] = (),
        *,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Change the platform, services, privacy or cache of a cluster.

        changes: Keys of its entry in the site file, with their new values.
        """
        return self._act("cluster set", {"changes": changes}, reason, dry_run, keep_going)


class ResearcherVerbs(Acting):
    """The actions on researchers."""

    def set(
        self,
        changes: str | Sequence[str] = (),
        *,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Change the mail or the private clusters of a researcher.

        changes: Keys of its entry in the site file, with their new values.
        """
        return self._act("researcher set", {"changes": changes}, reason, dry_run, keep_going)


class FileVerbs(Acting):
    """The actions on files, one selector after the other."""

    def purge(
        self,
        *,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Remove cached copies; results and stored files stay."""
        return self._act("file purge", {}, reason, dry_run, keep_going)

    def set_disposition(
        self,
        disposition: str | int,
        *,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Set how long files are kept when no package needs them.

        disposition: retain-indef, retain-temp, deletable, or as-written in the job file.
        """
        return self._act(
            "file set-disposition", {"disposition": disposition}, reason, dry_run, keep_going
        )


class TaskVerbs(Acting):
    """The actions on tasks."""

    def acknowledge(
        self,
        *,
        withdraw: bool = False,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Mark a task that ended in vain as seen: it needs nobody any more.

        withdraw: Have the task need a person again.
        """
        return self._act("task acknowledge", {"withdraw": withdraw}, reason, dry_run, keep_going)

    def avalanche(
        self,
        *,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Make the packages of a task without waiting for its scouts."""
        return self._act("task avalanche", {}, reason, dry_run, keep_going)

    def finish(
        self,
        *,
        soft: bool = False,
        hard: bool = False,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Make no more packages of a task; it ends with what was processed.

        soft: Let packages that exist end by themselves (default).
        hard: Kill packages that have not ended.
        """
        return self._act("task finish", {"soft": soft, "hard": hard}, reason, dry_run, keep_going)

    def incexec(
        self,
        *,
        parameters: Mapping[str, object] | None = None,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Look up the inputs of a task again, and process what is new.

        parameters: New value of a parameter; may be repeated.
        """
        return self._act("task incexec", {"parameters": parameters}, reason, dry_run, keep_going)

    def kill(
        self,
        *,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """End a task and kill its packages."""
        return self._act("task kill", {}, reason, dry_run, keep_going)

    def pause(
        self,
        *,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Make no more packages of a task, and start none; running ones go on."""
        return self._act("task pause", {}, reason, dry_run, keep_going)

    def reassign(
        self,
        nodes: str | Sequence[str] = (),
        *,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Let the rest of a task run on other nodes.

        nodes: Nodes to run on.
        """
        return self._act("task reassign", {"nodes": nodes}, reason, dry_run, keep_going)

    def resume(
        self,
        *,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Go on with a paused task."""
        return self._act("task resume", {}, reason, dry_run, keep_going)

    def retry(
        self,
        *,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Process again what a task has not processed."""
        return self._act("task retry", {}, reason, dry_run, keep_going)


class TokenVerbs(Acting):
    """The actions on tokens of the REST interface."""

    def add(
        self,
        role: str | int,
        *,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Let a program or a person use the REST interface; print the secret.

        role: reader, operator (also acts on jobs) or admin (also on nodes and the site).
        """
        return self._act("token add", {"role": role}, reason, dry_run, keep_going)

    def remove(
        self,
        *,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Remove a token; its secret is refused from now on."""
        return self._act("token remove", {}, reason, dry_run, keep_going)


class ThrottleVerbs(Acting):
    """The actions on throttles."""

    def set(
        self,
        *,
        max_running: str | float | None = None,
        max_launches: str | float | None = None,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Set or lift limits of nodes, researchers or jobs.

        max_running: Largest number of packages on nodes at once, or `none`.
        max_launches: Most packages sent to nodes in a time, or `none`.
        """
        return self._act(
            "throttle set",
            {"max_running": max_running, "max_launches": max_launches},
            reason,
            dry_run,
            keep_going,
        )
