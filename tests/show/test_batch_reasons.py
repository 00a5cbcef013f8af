"""The reasons for which jobs wait in a batch system, in words."""

from pathlib import Path

import pytest

from d0ctl.show.why.batch import account_limits
from d0ctl.show.why.batch.batch_reasons import in_words, waits_for

NAMES = (Path(__file__).parent / "slurm_reasons.txt").read_text().split()
"""All reasons in the sources of Slurm 22.05, 23.02, 23.11, 24.05, 24.11 and 26.05."""


@pytest.mark.parametrize("name", NAMES)
def test_every_reason_of_slurm_has_words(name: str) -> None:
    words = in_words(name)

    assert words is not None
    assert name not in words
    assert words[0].islower()


@pytest.mark.parametrize(("name", "words"), {
    "AssocGrpCpuLimit": "the CPUs of its account are in use",
    "AssocGrpMemLimit": "the memory of its account is in use",
    "AssocGrpGRES": "the GPUs of its account are in use",
    "AssocGrpCPUMinutesLimit": "the CPU time of its account is used up",
    "AssocGrpCPURunMinutesLimit":
        "running jobs of its account may still take all CPU time that it has",
    "AssocGrpWallLimit": "the running time of its account is used up",
    "AssocGrpSubmitJobsLimit": "its account has as many jobs in the queue as it may have",
    "AssocMaxJobsLimit": "its account has as many jobs as it may have",
    "AssocMaxCpuPerJobLimit": "its account allows no job with that many CPUs",
    "AssocMaxMemPerNode": "its account allows no job with that much memory on one machine",
    "AssocMaxCpuMinutesPerJobLimit": "its account allows no job with that much CPU time",
    "AssocMaxWallDurationPerJobLimit": "its account does not allow that `wall-time`",
    "QOSGrpNodeLimit": "the machines of the QOS are in use",
    "QOSMaxCpuPerUserLimit": "the user has as many CPUs as the QOS allows",
    "QOSMaxJobsPerUserLimit": "the user has as many jobs as the QOS allows",
    "QOSMaxSubmitJobPerUserLimit": "the user has as many jobs in the queue as the QOS allows",
    "QOSMinCpuNotSatisfied": "the QOS takes no job with so few CPUs",
    "QOSMinMemory": "the QOS takes no job with so little memory",
    "MaxGRESPerAccount": "its account has as many GPUs as the QOS allows",
    "MaxCpuRunMinsPerUser":
        "running jobs of the user may still take as much CPU time as the QOS allows",
    "MaxSubmitJobsPerAccount": "its account has as many jobs in the queue as the QOS allows",
}.items())  # fmt: skip
def test_limits_are_said_as_people_say_them(name: str, words: str) -> None:
    assert in_words(name) == words


def test_the_original_reason_follows_the_words() -> None:
    assert waits_for("InvalidAccount") == (
        "its account does not exist, or the user may not use it (InvalidAccount)"
    )
    assert waits_for("ReqNodeNotAvail, UnavailableNodes:n[1-4]") == (
        "a machine that it needs is not available (ReqNodeNotAvail, UnavailableNodes:n[1-4])"
    )
    assert waits_for("RaisedSignal:9") == "it was ended by a signal (RaisedSignal:9)"
    assert waits_for("None") == "it was submitted just now"
    assert waits_for("SiteOwnReason") == "SiteOwnReason"


def test_an_error_of_sbatch_is_searched_for_limits() -> None:
    error = "sbatch: error: AssocMaxSubmitJobLimit\nsbatch: error: Batch job submission failed"

    assert account_limits.named(error) == [
        "its account has as many jobs in the queue as it may have"
    ]
    assert account_limits.named("sbatch: error: invalid partition specified: nightly") == []
