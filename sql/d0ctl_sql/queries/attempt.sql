-- name: nodes_with_assigned
-- Nodes with assigned packages.
select node.id
  from node
 where exists (select 1 from package where node_id = node.id and phase = 'assigned');

-- name: launchable_packages
-- Assigned packages of a node whose inputs and archives are there.
select package.id
  from package join requirement on requirement.id = package.requirement_id
 where package.node_id = :node and package.phase = 'assigned' and package.staging = 0
   and (requirement.software = '[]' or not exists (
           select 1 from node_software as wanted
            where wanted.node_id = :node and wanted.cluster_id <> 1 and wanted.archive like '/%'
              and wanted.title in (select value from json_each(requirement.software))
              and not exists (select 1 from archive_copy
                               where archive_copy.node_id = :node
                                 and archive_copy.checksum = wanted.checksum
                                 and archive_copy.arrived is not null)))
 order by package.id limit :limit;

-- name: begin_attempts
-- A new attempt for each assigned package to launch.
insert into attempt (package_id, number, node_id, node_name, base, launched, delivers, expected,
                     expected_low, expected_high, memory_expected, space_expected, cpus,
                     memory, kind)
select package.id, package.attempts + 1, node.id, node.name, node.base, :now,
       requirement.stay is node.name, requirement.seconds / node.speed,
       requirement.seconds / node.speed * stage.drift_low / stage.drift,
       requirement.seconds / node.speed * stage.drift_high / stage.drift,
       requirement.memory_expected, requirement.space_expected, requirement.cpus,
       requirement.memory,
       case when package.attempts = 0 then 'first'
            when (select coalesce(last.answer = 'restart', last.outcome = 'lost')
                    from attempt as last
                   where last.package_id = package.id and last.number = package.attempts)
            then 'restart' else 'resubmit' end
  from decision
  join package on package.id = decision.package_id and package.phase = 'assigned'
  join requirement on requirement.id = package.requirement_id
  join stage on stage.id = package.stage_id
  join node on node.id = package.node_id;

-- name: purge_left
-- Files that earlier attempts of the packages to launch left for a user are removed now.
insert into purge (node_id, path)
select node.id, json_extract(kept_file.value, '$.path')
  from decision
  join package on package.id = decision.package_id and package.accept is null
              and package.attempts > 0
  join attempt on attempt.package_id = package.id and attempt.left_size is not null
  join node on node.id = attempt.node_id
  join json_each(attempt.retained, '$.left') as kept_file;

-- name: forget_left
-- And they are no longer recorded; outputs that only need delivery stay.
update attempt
   set retained = json_set(retained, '$.left', json('[]')),
       left_size = iif(json_extract(retained, '$.whole'), left_size, null)
 where left_size is not null
   and package_id in (select package.id
                        from decision
                        join package on package.id = decision.package_id
                                    and package.accept is null and package.attempts > 0);

-- name: launch_packages
-- assigned -> starting: the attempt just begun is the one that counts.
update package
   set phase = 'starting', attempts = attempts + 1, request = null, changed = :now, actor = null,
       note = null,
       attempt_id = (select id from attempt
                      where attempt.package_id = package.id
                        and attempt.number = package.attempts + 1)
 where id in (select package_id from decision) and phase = 'assigned';

-- name: choose_starting
-- Attempts of a node that were launched but may never have reached it.
insert or replace into decision (package_id, node_id)
select package.id, package.node_id
  from attempt join package on package.id = attempt.package_id
 where attempt.id = :attempt and attempt.wrapper_started is null and package.attempt_id = attempt.id
   and package.node_id = :node and package.phase in ('starting', 'unreachable');

-- name: launch_details
-- Everything that the wrapper must know of each package to launch.
select package.attempt_id, package.attempts as number, package.id as package_id,
       requirement.stay is node.name as delivers, package.environment, package.accept,
       requirement.cpus, requirement.cpu, requirement.memory, requirement.gpus, requirement.disk,
       package.wall_time, package.looping,
       package.early, package.wrapper, package.wrapper_parameters, package.node_id, node.platform,
       node.cluster_id, job.parameters, package_path.path, package.job_id, stage.final
  from decision
  join package on package.id = decision.package_id
  join stage on stage.id = package.stage_id
  join requirement on requirement.id = package.requirement_id
  join node on node.id = package.node_id
  join job on job.id = package.job_id
  join package_path on package_path.package_id = package.id
 order by package.id;

-- name: launch_binaries
-- The binaries of the packages to launch, in order, with the history of their runs.
select binary.package_id, binary.seq, binary.name, binary.script, binary.shell, binary.argv,
       binary.progress, binary.runtime, binary.work_size, binary.software, binary.parameters,
       run_time_history.runs, run_time_history.gap,
       binary.log_rules, binary."check", binary.check_timeout, binary.events, binary.image,
       binary.stdin
  from decision
  join package on package.id = decision.package_id
  join binary on binary.package_id = package.id
  left join run_time_history
    on run_time_history.software = coalesce(binary.software || '/' || coalesce(binary.version, ''), '')
   and run_time_history.stage_id = iif(binary.software is null, package.stage_id, 0)
   and run_time_history.binary = iif(binary.software is null, binary.seq, 0)
 order by binary.package_id, binary.seq;

-- name: launch_inputs
-- The inputs of the packages to launch, and their paths on their nodes.
select input.package_id, input.binary, input.own, input.acquire, input.required,
       input.locator, input.size as size_asked, input.checksum as checksum_asked, input.writable,
       input.local, here.path as here, here.inode, here.mtime, here.made, node.cluster_id as cluster,
       (select cluster_id from node as far
         where far.name = substr(input.locator, 1, instr(input.locator, ':') - 1)) as far,
       file.name, file.package_id as maker,
       case when file.package_id is not null then file.size end as size,
       case when file.package_id is not null then file.checksum end as checksum,
       case when file.package_id is null and (node.cluster_id = 1 or input.acquire <> 'pre-fetch')
            then file.name
            when file.package_id is null then coalesce(here.path, file.name)
            else coalesce(here.path, (select path from location
                                       where location.file_id = file.id limit 1)) end as path
  from decision
  join package on package.id = decision.package_id
  join node on node.id = package.node_id
  join input on input.package_id = package.id and input.dropped = 0
  join file on file.id = input.file_id
  left join location as here on here.file_id = file.id and here.cluster_id = node.cluster_id
 where file.late = 0
   and (package.early = 0 or file.package_id is null or input.own = 1
        or (file.present = 1 and (input.acquire <> 'pre-fetch' or here.path is not null)))
 order by input.package_id, input.binary, input.position;

-- name: launch_outputs
-- The outputs of the packages to launch.
select file.package_id, file.binary, file.name, file.min_size, file.size_asked, file.late,
       file.min_count, file.checksum_asked, file.locator,
       (select cluster_id from node as far
         where far.name = substr(file.locator, 1, instr(file.locator, ':') - 1)) as far
  from decision join file on file.package_id = decision.package_id and file.pattern_id is null
 order by file.package_id, file.binary, file.id;

-- name: launch_previous
-- Earlier attempts of packages to launch that left files on the selected node or were lost there.
select attempt.package_id, attempt.id, attempt.number, attempt.retained
  from decision
  join package on package.id = decision.package_id and package.attempts > 1
  join node on node.id = package.node_id
  join attempt on attempt.package_id = package.id and attempt.number < package.attempts
  join node as before on before.id = attempt.node_id
 where (attempt.retained is not null and before.cluster_id = node.cluster_id)
    or (attempt.outcome = 'lost' and before.id = node.id)
 order by attempt.package_id, attempt.number;

-- name: launch_twins
-- Files of other jobs in the cache of the node, for first attempts: intermediate outputs that are
-- kept, made by the same binaries in the same environment. The latest package comes first. A chain
-- without input makes its events again.
select package.id as package_id, twin.id as twin_id, path.path as twin, attempt.id as attempt_id,
       attempt.number, file.name, file.binary, retained.size, retained.checksum, location.path
  from decision
  join package on package.id = decision.package_id and package.attempts = 1
              and package.early = 0
  join binary as later on later.package_id = package.id and later.seq = 2
  join file on file.package_id = package.id and file.dispositions <> ''
  join file as retained on retained.name = file.name and retained.present = 1 and retained.dispositions <> ''
                   and retained.binary = file.binary and retained.job_id <> file.job_id
                   and retained.checksum is not null and retained.partial = 0
  join location on location.file_id = retained.id and location.node_id = package.node_id
  join package as twin on twin.id = retained.package_id and twin.phase = 'done'
                      and twin.environment is package.environment
                      and twin.wrapper is package.wrapper
                      and twin.wrapper_parameters is package.wrapper_parameters
  join attempt on attempt.id = twin.attempt_id and attempt.node_id = package.node_id
  join package_path as path on path.package_id = twin.id
 where exists (select 1 from input as raw
                where raw.package_id = package.id and raw.binary = 1 and raw.own = 0)
   and not exists (select 1 from file as late where late.package_id = package.id and late.late = 1)
   and not exists (
         select 1
           from binary as mine
           left join binary as theirs on theirs.package_id = twin.id and theirs.seq = mine.seq
          where mine.package_id = package.id and mine.seq <= file.binary
            and (theirs.seq is null
                 or (mine.script, mine.shell, mine.argv, mine.software, mine.version,
                     mine.parameters, mine.events, mine.image, mine.stdin)
                    is not (theirs.script, theirs.shell, theirs.argv, theirs.software,
                            theirs.version, theirs.parameters, theirs.events, theirs.image,
                            theirs.stdin)))
 order by package.id, twin.id desc, file.binary, file.id;

-- name: inputs_of_twin
-- The inputs of a package's binaries from outside of it.
select input.binary, file.name, input.local, file.size, file.checksum
  from input
  join file on file.id = input.file_id and file.size is not null and file.checksum is not null
 where input.package_id = :package and input.own = 0 and input.dropped = 0
 order by input.binary, input.position;

-- name: killing_attempts
-- Attempts of a node to end, and how.
select attempt_id, coalesce(request, 'kill') as request
  from package where node_id = :node and phase = 'killing';

-- name: unreachable_attempts
-- Attempts that may still run on a node out of contact.
select attempt_id from package where node_id = :node and phase = 'unreachable'
   and is_live = 1;

-- name: requested_attempts
-- Attempts on a node that are asked to pause or resume and have not confirmed it.
select attempt_id, request from package
 where node_id = :node and (request = 'pause' or request = 'resume')
   and phase in (select name from phase where in_contact = 1);

-- name: live_attempts
-- Attempts that should be alive on a node. Those are uncertain whose start a home that was restored
-- since their launch may not have received, and suspended ones, whose cause may have changed.
select package.attempt_id, package.phase, attempt.wrapper_started,
       package.phase = 'suspended'
       or (package.phase in ('starting', 'staging-in')
           and attempt.launched < (select max(at) from action where verb = 'restore'))
       as is_uncertain
  from package join attempt on attempt.id = package.attempt_id
 where package.node_id = :node and package.phase <> 'assigned'
   and package.is_live = 1;

-- name: lose_contact
-- starting, staging-in, running, suspended -> unreachable: its node does not answer.
update package
   set phase = 'unreachable', changed = :now, actor = null, note = :note
 where node_id = :node and phase not in ('assigned', 'killing', 'unreachable')
   and is_live = 1;

-- name: regain_contact
-- unreachable -> the last reported phase, or starting: its node answers again and has it. One that
-- is suspended says again why.
update package
   set (phase, note) =
       (select coalesce(attempt.phase, case when attempt.wrapper_started is null then 'starting'
                                            else 'running' end),
               iif(attempt.phase = 'suspended',
                   (select event.note from event
                     where event.package_id = package.id and event.attempt_id = attempt.id
                       and event.new = 'suspended'
                     order by event.id desc limit 1), null)
          from attempt where attempt.id = package.attempt_id),
       changed = :now, actor = null
 where node_id = :node and phase = 'unreachable'
   and is_live = 1;

-- name: refuse_attempt
-- The record of a launch that was refused.
update attempt
   set outcome = 'refused', ended = :now, reason = :reason, message = :message
 where id = :attempt and outcome is null;

-- name: cancel_absent
-- killing -> canceled or dropped: the node has no such attempt, so nothing runs.
update package
   set phase = case when request in ('drop', 'drop now') then 'dropped' else 'canceled' end,
       request = null, changed = :now
 where attempt_id = :attempt and id = (select package_id from attempt where id = :attempt)
   and node_id = :node and phase = 'killing';

-- name: end_absent
-- The record of an attempt that was ended before it began.
update attempt set outcome = 'killed', ended = :now, reason = 'killed',
       message = 'ended before it began'
 where id = :attempt and outcome is null;

-- name: give_back_absent
-- starting -> ready or waiting, or held until it is resumed, if its job is not paused: the node has
-- forgotten it before it began, as it was to pause.
update package
   set phase = case when request = 'pause' and (select pause from job where id = job_id) = 0
                    then 'held' when missing = 0 then 'ready' else 'waiting' end,
       parked = request = 'pause' and (select pause from job where id = job_id) = 0,
       request = null, node_id = null, changed = :now
 where attempt_id = :attempt and id = (select package_id from attempt where id = :attempt)
   and node_id = :node and phase = 'starting' and request in ('pause', 'resume')
   and (select wrapper_started from attempt where id = :attempt) is null;

-- name: end_given_back
-- The record of an attempt that was to pause before it began.
update attempt set outcome = 'refused', ended = :now, reason = 'paused',
       message = 'it was to pause before it began'
 where id = :attempt and outcome is null;
