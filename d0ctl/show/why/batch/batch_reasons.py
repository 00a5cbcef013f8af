"""Why a job waits in a batch system: the reasons of Slurm and HTCondor in words."""

from collections.abc import Mapping

from d0ctl.show.why.batch import account_limits

REASONS: Mapping[str, str] = {
    "AccountNotAllowed": "its partition does not take jobs of its account",
    "AccountingPolicy": "a limit of its account or QOS is reached",
    "AssociationJobLimit": "its account has as many jobs as it may have",
    "AssociationResourceLimit": "its account uses as much as it may use",
    "AssociationTimeLimit": "the time of its account is used up",
    "BadConstraints": "no machine has these features",
    "BeginTime": "its start time has not come",
    "BlockFreeAction": "its machines are being freed",
    "BlockMaxError": "its machines had too many errors",
    "BurstBufferOperation": "the burst buffer has failed",
    "BurstBufferResources": "the burst buffer has no room",
    "BurstBufferStageIn": "its files are copied to the burst buffer",
    "Cleaning": "its previous run is not cleaned up yet",
    "Constraints": "no machine has these features",
    "DeadLine": "it can't end before its deadline",
    "Dependency": "it waits for another job",
    "DependencyNeverSatisfied": "the job that it waits for has failed",
    "FedJobLock": "another cluster of the federation decides on it",
    "FrontEndDown": "the front end is down",
    "InactiveLimit": "it has not run anything for too long",
    "InvalidAccount": "its account does not exist, or the user may not use it",
    "InvalidQOS": "its QOS does not exist, or its account may not use it",
    "JobArrayTaskLimit": "its array may not run more at once",
    "JobHeldAdmin": "an administrator holds it",
    "JobHeldUser": "a user holds it",
    "JobHoldMaxRequeue": "it was requeued too often and is held",
    "JobLaunchFailure": "it could not be started",
    "Licenses": "a license is not free",
    "MaxMemPerLimit": "its partition allows no job with that much memory",
    "MaxPoweredUpNodes": "as many machines are powered up as may be",
    "MpiPortsBusy": "no MPI port is free on its machines",
    "NodeDown": "a machine that it needs is down",
    "NonZeroExitCode": "it ended with an exit code",
    "NvidiaImexChannels": "no NVIDIA IMEX channel is free",
    "OutOfMemory": "it ran out of memory",
    "PartitionConfig": "no machine of its partition meets its request",
    "PartitionDown": "its partition is down",
    "PartitionInactive": "its partition takes no jobs",
    "PartitionNodeLimit": "its partition has no machine of that size",
    "PartitionTimeLimit": "its partition does not allow that `wall-time`",
    "PowerNotAvail": "the cluster has no power left for it",
    "PowerReserved": "the power is reserved for other jobs",
    "Priority": "jobs of a higher priority come first",
    "Prolog": "the prolog is running on its machine",
    "QOSJobLimit": "the QOS has as many jobs as it may have",
    "QOSNotAllowed": "its partition or account does not allow its QOS",
    "QOSResourceLimit": "the QOS uses as much as it may use",
    "QOSTimeLimit": "the time of the QOS is used up",
    "QOSUsageThreshold": "its account has used more than the QOS demands",
    "RaisedSignal": "it was ended by a signal",
    "ReqNodeNotAvail": "a machine that it needs is not available",
    "Reservation": "it waits for a reservation",
    "ReservationDeleted": "its reservation was deleted",
    "ReservationInvalid": "its reservation is not valid",
    "Resources": "no machine is free",
    "SchedDefer": "its start was deferred",
    "SystemFailure": "a machine or Slurm itself has failed",
    "TimeLimit": "its time is over",
    "None": "it was submitted just now",
    "not negotiated": "the negotiator has not looked for a machine yet",
    "no match found": "no machine that fits is free",
    "insufficient priority": "jobs of users with a better priority come first",
    "submitter limit exceeded": "the user has as many machines as the share allows",
    "concurrency limit reached": "a concurrency limit is used up",
}
"""The reasons without a system: those of Slurm, except for limits, and those of HTCondor."""


def waits_for(reason: str) -> str:
    """Return why a job waits, with the original reason of its batch system."""
    name = reason.partition(",")[0].partition(":")[0]
    meaning = in_words(name)
    if meaning is None:
        return reason
    return meaning if name in ("None", "not negotiated") else f"{meaning} ({reason})"


def in_words(name: str) -> str | None:
    """Return a reason in words; None if it is not known."""
    return REASONS.get(name) or account_limits.in_words(name)
