"""The dashboard reads each kind of command that undoes an action, with each of its options."""

import time

from d0ctl.actions import ACTIONS, apply, preview
from d0ctl.actions.action import Action
from d0ctl.model import Address
from d0ctl.store.nodes import registry
from d0ctl.store.views import browse
from d0ctl_tui.screens.dialogs.undoing import request_of
from tests.support.building import production
from tests.support.site import Site
from tests.tasks import making
from tests.tui.test_task_verbs import submit

JOBS = ("prod", "limited", "edited", "seen", "bad", "held", "paused", "dropped", "updated")

BEFORE = (
    "acknowledge seen", "limit limited --max-running 3 --max-failures 4", "hold held",
    "edit edited --memory 1GB --disk 1GB --cpus 2 --gpus 1 --wall-time 1m30s --on localhost",
    "pause paused --running --for 1h30m", "kill-line dropped/1/1 --drop-outputs",
    "throttle set researcher emmy --max-running 7 --max-launches 100/1m",
    "node set far cpus=3 cluster=west --new", "node drain far old",
    "researcher set emmy mail=emmy@example.org", "cluster set west platform=linux",
    "task pause idle", "task reassign idle localhost", "task kill killed",
    "task acknowledge missing",
)  # fmt: skip
"""What was done before the actions below are planned."""

UNDONE = {
    "acknowledge bad:failed": "acknowledge bad/1/1-2/1 --withdraw",
    "acknowledge bad/1/1/1": "acknowledge bad/1/1/1 --withdraw",
    "acknowledge seen:failed --withdraw": "acknowledge seen/1/1/1",
    "cluster set west platform=none": "cluster set west platform=linux",
    "edit edited --memory 2GB --disk 2GB --cpus 1 --gpus 0 --wall-time 2h --on none":
        "edit edited --memory 1GB --disk 1GB --cpus 2 --gpus 1 --wall-time 1m30s --on localhost",
    "edit prod --memory 2GB --gpus 1 --wall-time 2h --on localhost":
        "edit prod --memory none --gpus 0 --wall-time none --on none",
    "file set-disposition prod:* deletable": "file set-disposition 'prod:*' as-written",
    "finish prod": "retry prod:canceled",
    "hold prod": "release prod",
    "hold prod/make/1": "release prod/make/1:held",
    "kill prod/1 prod/2": "retry prod/1:canceled prod/2:canceled",
    "kill-line bad/1/1": "retry bad/1/1:canceled,failed",
    "kill-line prod/1/1 --drop-outputs": "restore-line prod/1/1 --again",
    "kill-line prod/3/1 --drop-outputs": "restore-line prod/3/1",
    "limit limited --max-running none --max-failures 9":
        "limit limited --max-running 3 --max-failures 4",
    "limit prod --max-running 2 --max-failures 9":
        "limit prod --max-running none --max-failures none",
    "node add farm emmy@farm": "node remove farm",
    "node drain localhost": "node resume localhost",
    "node resume far": "node drain far",
    "node resume far old": "node drain far old",
    "node set far cpus=none": "node set far cpus=3",
    "node set far cluster=none": "node set far cluster=west --new",
    "pause prod --running": "resume prod",
    "priority prod 60": "priority prod 50",
    "priority prod/1 60": "priority prod/1 50",
    "release held": "hold held",
    "researcher set emmy mail=none": "researcher set emmy mail=emmy@example.org",
    "restore-line dropped/1/1": "kill-line dropped/1/1 --drop-outputs",
    "resume paused": "pause paused --running --for 1h30m",
    "task acknowledge broken": "task acknowledge broken --withdraw",
    "task acknowledge missing --withdraw": "task acknowledge missing",
    "task kill idle": "task retry idle",
    "task pause busy": "task resume busy",
    "task reassign idle far": "task reassign idle localhost",
    "task resume idle": "task pause idle",
    "task retry killed": "task finish killed",
    "throttle set researcher emmy --max-running none --max-launches 5/1s":
        "throttle set researcher emmy --max-running 7 --max-launches 100/1m",
    "throttle set job prod* --max-running 7 --max-launches 5/1s":
        "throttle set job 'prod*' --max-running none --max-launches none",
    "token add laptop reader": "token remove laptop",
}  # fmt: skip
"""What is done, and the command that undoes it."""


def build(site: Site) -> None:
    """Jobs, nodes and tasks in the states in which each action can be planned."""
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    registry.add(site.store, Address("old", "ssh", "old"), cpus=2)
    site.up(cpus=4, gpus=2)
    for name in JOBS:
        site.submit(production(name))
    for path in ("seen/1/1/1", "bad/1/1/1", "bad/1/2/1"):
        site.fail(path)
    for name in ("idle", "busy", "killed"):
        submit(site, name)
    for name in ("broken", "missing"):
        making.submit(site.store, now=time.time(), name=name, files="[none.sh]")
    making.work(site.store, time.time())
    for command in BEFORE:
        request = request_of(f"d0ctl {command}")
        apply(site.store, request, actor="emmy", note=None, now=time.time())
    making.work(site.store, time.time())


def test_each_command_that_undoes_an_action_is_read(site: Site) -> None:
    build(site)
    paused = browse.job(site.store, "paused").pause_since  # all of the pause is still to come

    for command, undo in UNDONE.items():
        plan = preview(site.store, request_of(f"d0ctl {command}"), now=paused or 0.0)
        assert plan.undo == f"d0ctl {undo}", command
        assert request_of(plan.undo).command() == plan.undo


def test_each_verb_that_can_be_undone_is_among_them() -> None:
    none = Action.__dataclass_fields__["undo"].default
    undoable = {name for name, action in ACTIONS.items() if action.undo is not none}

    planned = {request_of(f"d0ctl {command}").name for command in UNDONE}

    assert undoable - planned == {"update"}  # `--previous`, after a change of the job file
