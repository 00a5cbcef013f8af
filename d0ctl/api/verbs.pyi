"""The actions as methods, with their types; `make schemas` writes them from their table."""

from abc import ABCMeta
from collections.abc import Mapping, Sequence

from d0ctl.api.done import Done
from d0ctl.api.methods import Acting

class Verbs(Acting, metaclass=ABCMeta):
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

        memory: Memory to request, e.g. 4GB; `none` for no request.
        disk: Disk space to request, e.g. 20GB.
        cpus: Number of CPUs to request.
        gpus: Number of GPUs to request; 0 for none.
        wall_time: Wall time to request, e.g. 2h; `none` for no request.
        nodes: Node to run on, instead of the job's; `none` for any; may be repeated.
        environment: Variable to add to the environment; may be repeated.
        """

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

    def hold(
        self, *, reason: str | None = None, dry_run: bool = False, keep_going: bool = False
    ) -> Done:
        """Keep jobs or packages from being scheduled."""

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

    def pause(
        self,
        *,
        running: bool = False,
        duration: str | float | None = None,
        until: str | float | None = None,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Start no more packages; with `running`, suspend running ones.

        running: Suspend running packages, too.
        duration: Resume whole jobs after this time, e.g. 1h (default: `resume` does).
        until: Resume whole jobs when it is next this time, e.g. 21:30.
        """

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

    def release(
        self, *, reason: str | None = None, dry_run: bool = False, keep_going: bool = False
    ) -> Done:
        """Allow held jobs or packages to be scheduled again."""

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

    def restore_line(
        self,
        *,
        again: bool = False,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Bring back dropped lines.

        again: Run again packages that succeeded without these files, and what read theirs.
        """

    def resume(
        self, *, reason: str | None = None, dry_run: bool = False, keep_going: bool = False
    ) -> Done:
        """Resume paused jobs or packages."""

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

        memory: Memory to request, e.g. 4GB; `none` for no request.
        disk: Disk space to request, e.g. 20GB.
        cpus: Number of CPUs to request.
        gpus: Number of GPUs to request; 0 for none.
        wall_time: Wall time to request, e.g. 2h; `none` for no request.
        nodes: Node to run on, instead of the job's; `none` for any; may be repeated.
        environment: Variable to add to the environment; may be repeated.
        parameters: Parameter of the job to change; may be repeated.
        from_scratch: Discard the files that earlier attempts kept.
        """

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

    def update(
        self,
        *,
        file: str | float | None = None,
        parameters: Mapping[str, object] | None = None,
        again: bool = False,
        accept: bool = False,
        previous: bool = False,
        hold: bool = False,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Correct a submitted job.

        file: The corrected job file (default: the one it has been read from last).
        parameters: Parameter of the job; may be repeated.
        again: Rerun packages that ran with another definition.
        accept: Accept results that are out of date as they are.
        previous: Go back to the job file before the last update.
        hold: Keep it from being scheduled.
        """

class NodeVerbs(Acting, metaclass=ABCMeta):
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

    def accept_loss(
        self, *, reason: str | None = None, dry_run: bool = False, keep_going: bool = False
    ) -> Done:
        """Count the missing files of a cache in doubt as lost."""

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
        cluster: str | float | None = None,
        new: bool = False,
        same_machine: bool = False,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Add a node, once its host key is trusted and it answers.

        destination: Address of the node, as for ssh.
        cpus: CPUs that packages may use (default: all).
        gpus: Number of GPUs (default: the node's).
        identity: Private key to log in with (default: ssh's).
        accept_keys: Fingerprint of a host key to trust; may be repeated.
        directory: Folder for d0ctl's files on the node (default: ~/.d0ctl).
        python: Path of Python 3.6 or newer on the node (default: detected).
        via: Program for the connection: auto, fabric or openssh.
        local: The node is this machine.
        cluster: Cluster whose cache it shares (default: its own).
        new: Make the cluster if there is none of that name.
        same_machine: Allow a machine that is a node already.
        """

    def benchmark(
        self, *, reason: str | None = None, dry_run: bool = False, keep_going: bool = False
    ) -> Done:
        """Measure how fast a node's CPUs are."""

    def drain(
        self, *, reason: str | None = None, dry_run: bool = False, keep_going: bool = False
    ) -> Done:
        """Give nodes no new packages; running ones continue."""

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

    def remove(
        self,
        *,
        lost: bool = False,
        with_settings: bool = False,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Remove nodes; their only copies of files are made again.

        lost: Remove a node that is down and has packages: they run again elsewhere.
        with_settings: Forget the settings of its cluster, too, if no node is left in it.
        """

    def resume(
        self, *, reason: str | None = None, dry_run: bool = False, keep_going: bool = False
    ) -> Done:
        """Let drained nodes take packages again."""

    def set(
        self,
        changes: str | Sequence[str] = (),
        *,
        new: bool = False,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Change settings of a node.

        changes: Keys of its entry in the site file, with their new values.
        new: Make the cluster if there is none of that name.
        """

class ClusterVerbs(Acting, metaclass=ABCMeta):
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

class ResearcherVerbs(Acting, metaclass=ABCMeta):
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

class FileVerbs(Acting, metaclass=ABCMeta):
    """The actions on files, one selector after the other."""

    def purge(
        self, *, reason: str | None = None, dry_run: bool = False, keep_going: bool = False
    ) -> Done:
        """Remove cached copies; results and stored files stay."""

    def set_disposition(
        self,
        disposition: str | int,
        *,
        reason: str | None = None,
        dry_run: bool = False,
        keep_going: bool = False,
    ) -> Done:
        """Set how long files are kept when no package needs them.

        disposition: retain-indef, retain-temp, deletable, or as-written, as its job file said.
        """

class TaskVerbs(Acting, metaclass=ABCMeta):
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

    def avalanche(
        self, *, reason: str | None = None, dry_run: bool = False, keep_going: bool = False
    ) -> Done:
        """Make the packages of a task without waiting for its scouts."""

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

    def kill(
        self, *, reason: str | None = None, dry_run: bool = False, keep_going: bool = False
    ) -> Done:
        """End a task and kill its packages."""

    def pause(
        self, *, reason: str | None = None, dry_run: bool = False, keep_going: bool = False
    ) -> Done:
        """Make no more packages of a task, and start none; running ones go on."""

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

    def resume(
        self, *, reason: str | None = None, dry_run: bool = False, keep_going: bool = False
    ) -> Done:
        """Go on with a paused task."""

    def retry(
        self, *, reason: str | None = None, dry_run: bool = False, keep_going: bool = False
    ) -> Done:
        """Process again what a task has not processed."""

class TokenVerbs(Acting, metaclass=ABCMeta):
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

    def remove(
        self, *, reason: str | None = None, dry_run: bool = False, keep_going: bool = False
    ) -> Done:
        """Remove a token; its secret is refused from now on."""

class ThrottleVerbs(Acting, metaclass=ABCMeta):
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
