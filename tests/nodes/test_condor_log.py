"""What is read in event logs of HTCondor, as its own code reads it."""

from pathlib import Path
from typing import Any

import htcondor2

from d0ctl.nodes.batch import condor_log, htcondor

LOG = """\
000 (012.000.000) 2026-11-23 10:00:00 Job submitted from host: <127.0.0.1:9618?addrs=127.0.0.1>
...
000 (012.001.000) 2026-11-23 10:00:00 Job submitted from host: <127.0.0.1:9618?addrs=127.0.0.1>
...
000 (012.002.000) 2026-11-23 10:00:00 Job submitted from host: <127.0.0.1:9618?addrs=127.0.0.1>
...
040 (012.000.000) 2026-11-23 10:00:20 Started transferring input files
	Transferring to host: <127.0.0.1:9618?addrs=127.0.0.1>
...
001 (012.000.000) 2026-11-23 10:00:21 Job executing on host: <127.0.0.1:9618?addrs=127.0.0.1>
	SlotName: slot1_1@n1
	CondorScratchDir = "/var/lib/condor/execute/dir_1"
	Cpus = 8
...
006 (012.000.000) 2026-11-23 10:00:30 Image size of job updated: 72
	1  -  MemoryUsage of job (MB)
	72  -  ResidentSetSize of job (KB)
...
022 (012.000.000) 2026-11-23 10:01:00 Job disconnected, attempting to reconnect
    Socket between submit and execute hosts closed unexpectedly
    Trying to reconnect to slot1_1@n1 <127.0.0.1:9618?addrs=127.0.0.1>
...
024 (012.000.000) 2026-11-23 10:02:00 Job reconnection failed
    Job not found at execution machine
    Can not reconnect to slot1_1@n1, rescheduling job
...
001 (012.001.000) 2026-11-23 10:02:21 Job executing on host: <127.0.0.1:9618?addrs=127.0.0.1>
...
012 (012.001.000) 2026-11-23 10:02:30 Job was held.
	Error from slot1_2@n1: Job has gone over cgroup memory limit of 2048 megabytes.
	Code 34 Subcode 102
...
009 (012.001.000) 2026-11-23 10:02:40 Job was aborted.
	via condor_rm (by user root)
...
001 (012.002.000) 2026-11-23 10:03:00 Job executing on host: <127.0.0.1:9618?addrs=127.0.0.1>
...
004 (012.002.000) 2026-11-23 10:03:30 Job was evicted. Code 1022 Subcode 0
	(0) CPU times
		Usr 0 00:00:00, Sys 0 00:00:00  -  Run Remote Usage
		Usr 0 00:00:00, Sys 0 00:00:00  -  Run Local Usage
	0  -  Run Bytes Sent By Job
	0  -  Run Bytes Received By Job
	Reason: Job vacated by the machine
...
009 (012.002.000) 2026-11-23 10:04:00 Job was aborted.
	The job attribute PeriodicRemove expression 'JobStatus == 1' evaluated to TRUE
...
000 (013.000.000) 11/23 10:05:00 Job submitted from host: <127.0.0.1:9618>
...
001 (013.000.000) 11/23 10:05:01 Job executing on host: <127.0.0.1:9618>
...
005 (013.000.000) 11/23 10:05:02 Job terminated.
	(0) Abnormal termination (signal 9)
	(0) No core file
		Usr 0 00:00:00, Sys 0 00:00:00  -  Run Remote Usage
		Usr 0 00:00:00, Sys 0 00:00:00  -  Run Local Usage
		Usr 0 00:00:00, Sys 0 00:00:00  -  Total Remote Usage
		Usr 0 00:00:00, Sys 0 00:00:00  -  Total Local Usage
	0  -  Run Bytes Sent By Job
	0  -  Run Bytes Received By Job
	0  -  Total Bytes Sent By Job
	0  -  Total Bytes Received By Job
...
"""


def test_htcondor_reads_the_same_events(tmp_path: Path) -> None:
    log = tmp_path / "events.log"
    log.write_text(LOG)

    theirs = list(htcondor2.JobEventLog(str(log)).events(stop_after=0))

    ours = list(condor_log.events(LOG))
    assert len(ours) == LOG.count("\n...\n")
    assert [(event.number, event.job) for event in ours] == [
        (int(event.type), f"{event.cluster}.{event.proc}") for event in theirs
    ]
    values: dict[int, dict[str, Any]] = {int(event.type): dict(event) for event in theirs}
    jobs = condor_log.jobs(LOG)
    assert jobs["12.0"]["VacateReason"] == values[24]["Reason"]
    assert jobs["12.2"]["VacateReason"] == values[4]["Reason"]
    assert jobs["12.2"]["RemoveReason"] == values[9]["Reason"]
    assert jobs["13.0"]["ExitSignal"] == values[5]["TerminatedBySignal"]
    for name in ("HoldReason", "HoldReasonCode", "HoldReasonSubCode"):
        assert jobs["12.1"][name] == values[12][name]


def test_a_log_shows_how_pilots_have_ended() -> None:
    ends = htcondor.read_accounts(LOG)

    assert ends == {
        "12.0": "evicted: Job not found at execution machine",
        "12.1": "removed: via condor_rm (by user root)",
        "12.2": "evicted: Job vacated by the machine",
        "13.0": "it was ended by signal 9",
    }


def test_a_log_that_begins_and_ends_within_events_is_read() -> None:
    begun = LOG[LOG.index("ScratchDir") : LOG.index("(013.000.000) 11/23 10:05:02")]

    assert [event.number for event in condor_log.events(begun)] == [
        6,
        22,
        24,
        1,
        12,
        9,
        1,
        4,
        9,
        0,
        1,
    ]
