-- name: hear_of
-- An attempt with a message.
insert into reporting_attempt (attempt_id) values (?);

-- name: attempt_contexts
-- The facts for a verdict on each attempt with a message.
select attempt.id, attempt.package_id, attempt.node_id, attempt.number, attempt.outcome,
       package.attempt_id as current, package.phase, package.request, package.restarts,
       package.requirement_id, package.job_id, package.stage_id, attempt.launched, node.clock,
       attempt.delivers, package.accept, attempt.node_name, node.name as node, node.speed
  from reporting_attempt
  join attempt on attempt.id = reporting_attempt.attempt_id
  join package on package.id = attempt.package_id
  left join node on node.id = attempt.node_id;

-- name: live_node
-- The node of an attempt that has not ended.
select node_id from attempt where id = :attempt and outcome is null;

-- name: node_of_attempt
-- The name of the node of an attempt, which stays when the node is removed.
select node_name from attempt where id = :attempt;

-- name: report_state
-- When an attempt and its wrapper started, if they reported that, for how long it was suspended, and
-- the last phase that it reported.
insert into reported_state (attempt_id, wrapper_started, started, utc_offset, suspended, seq, phase, why)
values (?, ?, ?, ?, ?, ?, ?, ?);

-- name: report_progress
-- The last progress that an attempt reported.
insert into reported_progress (attempt_id, seq, binary, done, total, percent, line, eta, cpu, rss)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: keep_note
-- Record a remark of a wrapper, once; none when the attempt has as many as it may.
insert or ignore into note (attempt_id, seq, at, binary, text)
select new.*
  from (select ? as attempt_id, ? as seq, ? as at, ? as binary, ? as text) as new
 where (select count(*) from note where note.attempt_id = new.attempt_id) < ?;

-- name: declared_sizes
-- How many binaries, inputs and outputs the packages with messages have.
select attempt.id,
       (select count(*) from binary where binary.package_id = attempt.package_id) as binaries,
       (select count(*) from input where input.package_id = attempt.package_id) as inputs,
       (select count(*) from file where file.package_id = attempt.package_id) as outputs
  from reporting_attempt
  join attempt on attempt.id = reporting_attempt.attempt_id;

-- name: report_binary
-- The record of a binary.
insert into reported_binary (attempt_id, seq, started, ended, exit_code, cpu, rss, disk, signal,
                             reason)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: report_gap
-- The longest silence of a binary.
insert into reported_gap (package_id, seq, gap) values (?, ?, ?);

-- name: record_run_times
-- Record the longest silences of programs of successful attempts.
insert into run_time_history (software, stage_id, binary, runs, gap)
select coalesce(binary.software || '/' || coalesce(binary.version, ''), ''),
       iif(binary.software is null, package.stage_id, 0),
       iif(binary.software is null, binary.seq, 0), count(*), max(reported_gap.gap)
  from reported_gap
  join package on package.id = reported_gap.package_id
  join binary on binary.package_id = package.id and binary.seq = reported_gap.seq
 group by 1, 2, 3
on conflict do update
   set runs = run_time_history.runs + excluded.runs, gap = max(run_time_history.gap, excluded.gap);

-- name: declared_outputs
-- The outputs that the selected packages declare.
select file.package_id, file.name, file.late, file.min_count
  from selected_package
  join file on file.package_id = selected_package.package_id and file.pattern_id is null;

-- name: report_output
-- An output that an attempt left.
insert into reported_output (attempt_id, package_id, name, path, size, checksum, inode, mtime,
                             partial)
values (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: report_end
-- An end with the verdict on it.
insert or ignore into reported_end (attempt_id, package_id, outcome, phase, wrapper_started, started,
                                ended, suspended, utc_offset, binary, exit_code, cpu, rss, partial, reason, message,
                                signal, stderr, not_before, answer, requirement_id, wall_time, note)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: start_attempts
-- Record when attempts and their wrappers started, and the last phase that they reported.
update attempt
   set wrapper_started = coalesce(attempt.wrapper_started, reported_state.wrapper_started),
       started = coalesce(attempt.started, reported_state.started),
       utc_offset = coalesce(attempt.utc_offset, reported_state.utc_offset),
       suspended = max(attempt.suspended, reported_state.suspended),
       phase = case when reported_state.seq > attempt.phase_seq then reported_state.phase
                    else attempt.phase end,
       phase_seq = max(attempt.phase_seq, reported_state.seq)
  from reported_state
 where attempt.id = reported_state.attempt_id and attempt.outcome is null;

-- name: mark_passed
-- Ends of packages that began in this batch and succeeded: starting, staging-in -> done or
-- transferring is one change of phase, and their history has `running` in between.
update reported_end
   set passed = 1
  from reported_state
  join attempt on attempt.id = reported_state.attempt_id and attempt.phase = 'running'
  join package on package.id = attempt.package_id and package.attempt_id = attempt.id
 where reported_end.attempt_id = attempt.id and reported_end.phase in ('done', 'transferring')
   and reported_state.why is null
   and package.phase in ('starting', 'staging-in') and package.request is null;

-- name: record_passed_starts
-- Record in the history of such packages that they ran.
insert into event (at, package_id, old, new, attempt_id, node_id)
select :now, package.id, package.phase, 'running', package.attempt_id, package.node_id
  from reported_end
  join package on package.id = reported_end.package_id
 where reported_end.passed = 1;

-- name: record_passed_ends
-- And that they ended after they ran.
update event
   set old = 'running'
 where id > :last and new in ('done', 'transferring')
   and attempt_id in (select attempt_id from reported_end where passed = 1);

-- name: start_packages
-- starting, staging-in, running, suspended -> the phase that the current attempt reported last; a
-- request for that phase is done. One that stays suspended, now for another cause, is not paused any
-- more, so a request to resume it is done, too. One that was not suspended may still become so: a
-- start does not answer a request to resume.
update package
   set phase = attempt.phase, changed = :now, actor = null, note = reported_state.why,
       request = case when (package.request = 'pause' and attempt.phase = 'suspended')
                        or (package.request = 'resume' and package.phase = 'suspended'
                            and attempt.phase <> 'suspended')
                        or (package.request = 'resume' and package.phase = attempt.phase
                            and reported_state.why not glob :paused || '*') then null
                      else package.request end
  from reported_state join attempt on attempt.id = reported_state.attempt_id
 where package.id = attempt.package_id and package.attempt_id = attempt.id
   and package.phase in (select name from phase where in_contact = 1)
   and (package.phase <> attempt.phase
        or (attempt.phase = 'suspended' and reported_state.seq = attempt.phase_seq
            and package.note is not reported_state.why))
   and attempt.id not in (select attempt_id from reported_end where passed = 1);

-- name: keep_progress
-- Record the progress of the current attempts, unless something newer is known.
insert into progress (package_id, attempt_id, seq, at, binary, done, total, percent, line, eta,
                      cpu, rss)
select package.id, attempt.id, reported_progress.seq, :now, reported_progress.binary, reported_progress.done,
       reported_progress.total, reported_progress.percent, reported_progress.line, reported_progress.eta,
       reported_progress.cpu, reported_progress.rss
  from reported_progress
  join attempt on attempt.id = reported_progress.attempt_id and attempt.outcome is null
  join package on package.id = attempt.package_id and package.attempt_id = attempt.id
 where true
on conflict do update
   set attempt_id = excluded.attempt_id, seq = excluded.seq, at = excluded.at,
       binary = excluded.binary, done = excluded.done, total = excluded.total,
       percent = excluded.percent, line = excluded.line, eta = excluded.eta,
       cpu = excluded.cpu, rss = excluded.rss
 where excluded.attempt_id > progress.attempt_id or excluded.seq > progress.seq;

-- name: forget_eta
-- The end that a program estimated before it was suspended is unknown.
update progress set eta = null
  from reported_state
  join attempt on attempt.id = reported_state.attempt_id
 where reported_state.phase = 'suspended' and progress.package_id = attempt.package_id
   and progress.attempt_id = attempt.id and progress.seq < reported_state.seq;

-- name: end_attempts
-- Record how attempts ended; an end that is already known changes nothing.
update attempt
   set outcome = reported_end.outcome,
       wrapper_started = coalesce(reported_end.wrapper_started, attempt.wrapper_started),
       started = coalesce(reported_end.started, attempt.started),
       ended = reported_end.ended, suspended = max(attempt.suspended, reported_end.suspended),
       utc_offset = coalesce(reported_end.utc_offset, attempt.utc_offset),
       binary = reported_end.binary, reason = reported_end.reason, message = reported_end.message,
       exit_code = reported_end.exit_code, signal = reported_end.signal, cpu = reported_end.cpu,
       rss = reported_end.rss, stderr = reported_end.stderr, partial = coalesce(reported_end.partial, 0),
       answer = reported_end.answer, phase = null
  from reported_end
 where attempt.id = reported_end.attempt_id and attempt.outcome is null;

-- name: keep_chain
-- Record where the chain of an attempt began, which events it did, and its files for the next one.
update attempt set retained = ?, left_size = ?, began = ?, began_why = ?, events = ? where id = ?;

-- name: purge_superseded
-- An attempt that kept all outputs supersedes those before it on its node.
insert into purge (node_id, path)
select before.node_id, 'cache/' || before.id
  from attempt
  join attempt as before on before.package_id = attempt.package_id
                        and before.number < attempt.number and before.node_id = attempt.node_id
                        and before.outcome = 'failed' and before.retained is not null
  join node on node.id = attempt.node_id
 where attempt.id = :attempt;

-- name: forget_superseded
-- And they keep nothing any more.
update attempt set retained = null, left_size = null
 where retained is not null and outcome = 'failed'
   and package_id = (select package_id from attempt where id = :attempt)
   and number < (select number from attempt where id = :attempt)
   and node_id = (select node_id from attempt where id = :attempt);

-- name: purge_unbelieved
-- Outputs that an attempt reported and that were not accepted are removed from its node.
insert into purge (node_id, path)
select attempt.node_id, 'cache/' || attempt.id
  from attempt join node on node.id = attempt.node_id
 where attempt.id = :attempt;

-- name: run_after_all
-- An attempt that should only deliver has run its binaries, as not all outputs were whole.
update attempt set delivers = 0 where id = :attempt;

-- name: accept_now
-- Record from which attempt a person accepts the outputs; null: none any more.
update package set accept = :accepted
 where id = (select package_id from attempt where id = :attempt) and attempt_id = :attempt
   and accept is not null;

-- name: keep_binaries
-- Keep the records of the binaries.
insert or ignore into binary_attempt (attempt_id, seq, started, ended, exit_code, signal, reason,
                                      cpu, rss, disk)
select attempt_id, seq, started, ended, exit_code, signal, reason, cpu, rss, disk
  from reported_binary;

-- name: purge_previous_copies
-- Remove copies of files that were made again, if an earlier attempt made them. While a launched
-- package reads such a file those that attempts made stay, and those that were brought until the
-- node is next in contact.
insert into purge (node_id, path, after)
select location.node_id, location.path,
       iif(exists (select 1
                     from input join package as reader on reader.id = input.package_id
                    where input.file_id = file.id
                      and reader.is_live = 1), file.id, null) as later
  from reported_output
  join attempt on attempt.id = reported_output.attempt_id and attempt.number > 1
  join node on node.id = attempt.node_id
  join package on package.id = reported_output.package_id
  join file on file.job_id = package.job_id and file.name = reported_output.name
           and +file.package_id = package.id
  join location on location.file_id = file.id and location.shared = 0
  join node as near on near.id = location.node_id
 where (location.cluster_id = node.cluster_id and location.path <> reported_output.path)
    or (location.cluster_id <> node.cluster_id and file.checksum <> reported_output.checksum)
 group by near.id, location.path
having later is null or instr(location.path, '/cache/in/') = 0;

-- name: lose_previous_copies
-- Copies elsewhere of files that were made again are copies of other files.
insert into lost_copy (file_id, cluster_id)
select file.id, location.cluster_id
  from reported_output
  join attempt on attempt.id = reported_output.attempt_id
  join node on node.id = attempt.node_id
  join package on package.id = reported_output.package_id
  join file on file.job_id = package.job_id and file.name = reported_output.name
           and +file.package_id = package.id and file.checksum <> reported_output.checksum
  join location on location.file_id = file.id and location.cluster_id <> node.cluster_id;

-- name: keep_locations
-- Record the paths of the outputs of attempts.
insert or replace into location (file_id, cluster_id, path, node_id, made, inode, mtime)
select file.id, node.cluster_id, reported_output.path, node.id, :now, reported_output.inode,
       reported_output.mtime
  from reported_output
  join attempt on attempt.id = reported_output.attempt_id
  join node on node.id = attempt.node_id
  join package on package.id = reported_output.package_id
  join file on file.job_id = package.job_id and file.name = reported_output.name
           and +file.package_id = package.id;

-- name: keep_files
-- Outputs that attempts left exist, with their measured sizes; they are partial if an early end was
-- requested.
update file
   set present = 1, size = reported_output.size, checksum = reported_output.checksum,
       partial = reported_output.partial,
       replaced = iif(file.checksum <> reported_output.checksum, :now, file.replaced)
  from reported_output
  join package on package.id = reported_output.package_id
 where file.job_id = package.job_id and file.name = reported_output.name
   and +file.package_id = package.id;

-- name: want_results
-- Request the outputs that belong in results/.
insert or ignore into transfer (file_id, cluster_id, result, wanted)
select file.id, 1, 1, :now
  from reported_end
  join file on file.package_id = reported_end.package_id
 where file.result = 1 and file.late = 0
   and (reported_end.phase = 'transferring'
        or (reported_end.phase = 'canceled' and reported_end.partial = 1 and file.present = 1));

-- name: want_forwards
-- Request the outputs whose locators name another node.
insert or ignore into transfer (file_id, cluster_id, result, wanted)
select file.id, far.cluster_id, 1, :now
  from reported_end
  join attempt on attempt.id = reported_end.attempt_id
  join node as near on near.id = attempt.node_id
  join file on file.package_id = reported_end.package_id and file.locator is not null
           and file.late = 0
  join node as far on far.name = substr(file.locator, 1, instr(file.locator, ':') - 1)
                  and far.cluster_id <> near.cluster_id
 where reported_end.phase = 'transferring'
    or (reported_end.phase = 'canceled' and reported_end.partial = 1 and file.present = 1);

-- name: end_packages
-- launched -> the phase of the verdict; failed -> ready, waiting, cooloff or held, if a policy says
-- so.
update package
   set phase = case when reported_end.phase = 'ready' and package.missing > 0 then 'waiting'
                    else reported_end.phase end,
       changed = :now, actor = case when reported_end.phase = 'held' then 'policy' end,
       node_id = case when reported_end.phase in ('ready', 'cooloff', 'held') then null
                      else package.node_id end,
       not_before = reported_end.not_before,
       restarts = package.restarts + (reported_end.answer is 'restart'),
       requirement_id = coalesce(reported_end.requirement_id, package.requirement_id),
       wall_time = coalesce(reported_end.wall_time, package.wall_time),
       request = case when package.phase = 'killing' and reported_end.phase in ('done', 'transferring')
                      then 'kill failed: it had already ended' end,
       note = case when reported_end.phase not in ('done', 'transferring')
                   then coalesce(reported_end.note, reported_end.reason || ': ' || reported_end.message,
                                 reported_end.reason) end
  from reported_end
 where package.id = reported_end.package_id and package.attempt_id = reported_end.attempt_id
   and (package.phase in (select name from phase where has_attempt = 1)
        or (reported_end.phase in ('ready', 'cooloff', 'held') and package.phase = 'failed'));

-- name: fail_for_now
-- launched -> failed: on the way to ready, cooloff or held, for the history.
update package
   set phase = 'failed', changed = :now, actor = null,
       note = coalesce(reported_end.reason || ': ' || reported_end.message, reported_end.reason)
  from reported_end
 where package.id = reported_end.package_id and package.attempt_id = reported_end.attempt_id
   and reported_end.phase in ('ready', 'cooloff', 'held')
   and package.phase in (select name from phase where is_active = 1);

-- name: packages_with_results
-- Of the packages that succeeded, those with outputs for results/ or another node.
select distinct file.package_id
  from selected_package
  join package on package.id = selected_package.package_id
  join file on file.package_id = selected_package.package_id and file.late = 0
 where file.result = 1
    or (file.locator is not null
        and exists (select 1
                      from node as far
                      join node as near on near.id = package.node_id
                                       and near.cluster_id <> far.cluster_id
                     where far.name = substr(file.locator, 1, instr(file.locator, ':') - 1)));

-- name: copy_at
-- The copy at a path on a node, for a package that did not find it there; none of a cache
-- in doubt, and none that was made since the launch.
insert into lost_copy (file_id, cluster_id)
select input.file_id, location.cluster_id
  from input
  join node on node.id = :node and node.doubted is null
  join location on location.file_id = input.file_id and location.cluster_id = node.cluster_id
 where input.package_id = :package and location.path = :path and location.made <= :launched;

-- name: is_in_cache
-- 1 if a path is in the cache of a node, where only d0ctl's copies are.
select 1
  from node join node as other on other.cluster_id = node.cluster_id
 where node.id = :node and substr(:path, 1, length(other.base) + 7) = other.base || '/cache/'
 limit 1;
