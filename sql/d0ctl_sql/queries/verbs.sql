-- name: keep_pause
-- Keep the pause of a job that ends now for those who look at the past; it also ends if another
-- pause replaces it.
insert into past_stop (job_id, verb, running, since, actor, note, until, ended)
select id, 'pause', pause_running, pause_since, pause_actor, pause_note, pause_until, :now
  from job where id = :job and pause = 1;

-- name: pause_job
-- Keep a job from being scheduled, perhaps until a time, and suspend running packages if requested.
-- A reason stays until another is given.
update job
   set pause = 1, pause_running = max(pause_running, :running), pause_actor = :actor,
       pause_note = coalesce(:note, iif(pause, pause_note, null)), pause_since = :now, pause_until = :until
 where id = :job;

-- name: adds_to_pause
-- Whether a job is not paused yet, or another pause would change for how long or how it is.
select pause = 0 or pause_running < :running or :until is not null or pause_until is not null
  from job where id = :job;

-- name: pauses_over
-- Jobs whose pause ends by itself, and is over.
select id, name, pause_running
  from job indexed by job_paused_until
 where pause_until <= :now;

-- name: resume_job
-- Allow a paused job to be scheduled again.
update job
   set pause = 0, pause_running = 0, pause_actor = null, pause_note = null, pause_since = null,
       pause_until = null
 where id = :job and pause = 1;

-- name: unassign_job
-- assigned -> ready: packages of a job that must not start anything now.
update package
   set phase = 'ready', node_id = null, staging = 0, changed = :now, actor = :actor, note = :note
 where job_id = :job and phase = 'assigned';

-- name: choose_launched
-- Choose the launched packages of a job.
insert or ignore into selected_package (package_id)
select package.id
  from package indexed by package_in_phase
 where package.job_id = :job
   and package.phase in (select name from phase where has_attempt = 1);

-- name: ask_to_pause
-- Ask the selected packages that run, or are about to, to suspend; those that a guard of the node
-- has suspended, or they would continue when that lets them; and those whose node does not answer,
-- once it does. The last two keep their cause.
update package
   set request = 'pause', actor = iif(phase in ('suspended', 'unreachable'), actor, :actor),
       note = iif(phase in ('suspended', 'unreachable'), note, :note),
       changed = iif(phase in ('suspended', 'unreachable'), changed, :now)
 where id in (select package_id from selected_package)
   and phase in ('starting', 'staging-in', 'running', 'suspended', 'unreachable')
   and request is not 'pause';

-- name: ask_to_resume
-- Ask the selected packages that are suspended, or will be, to resume; of those whose node does not
-- answer the ones that were. Suspended and unreachable ones keep the cause until they answer.
update package
   set request = 'resume', actor = iif(phase in ('suspended', 'unreachable'), actor, :actor),
       note = iif(phase in ('suspended', 'unreachable'), note, :note),
       changed = iif(phase in ('suspended', 'unreachable'), changed, :now)
 where id in (select package_id from selected_package)
   and (phase = 'suspended'
        or (phase in ('starting', 'staging-in', 'running', 'unreachable') and request = 'pause')
        or (phase = 'unreachable'
            and (select phase from attempt where attempt.id = package.attempt_id) = 'suspended'));

-- name: suspended_notes
-- Why the selected packages are suspended, and how many for the same causes.
select package.note, count(*) as n
  from selected_package join package on package.id = selected_package.package_id
 where package.phase = 'suspended' and package.note is not null
 group by package.note;

-- name: left_suspended
-- How many packages of jobs that are not paused a person has suspended.
select job.name, count(*) as n
  from job
  join package indexed by package_in_phase
    on package.job_id = job.id and package.phase = 'suspended'
 where job.visible = 1 and job.ended is null and job.pause = 0 and package.is_paused
 group by job.id order by job.id;

-- name: settle_resumed
-- A package that was asked to resume before it had paused does not confirm that.
update package set request = null
 where attempt_id = :attempt and id = (select package_id from attempt where id = :attempt)
   and request = 'resume' and phase in ('starting', 'staging-in', 'running');

-- name: unpark_packages
-- held -> ready or waiting, or cooloff if that has not ended: paused packages.
update package
   set phase = case when not_before > :now then 'cooloff'
                    when missing = 0 then 'ready' else 'waiting' end,
       not_before = iif(not_before > :now, not_before, null), parked = 0,
       changed = :now, actor = :actor, note = :note
 where id in (select package_id from selected_package) and phase = 'held' and parked = 1;

-- name: selected_pausable
-- The selected packages by phase, whether pause holds them, and whether they are asked to pause, or are
-- suspended as a person asked for it and not by a guard of their node, unless they are asked to
-- continue. Of unreachable ones nobody knows the cause.
select package.phase, package.parked,
       package.request is 'pause'
       or (package.phase = 'suspended' and package.request is not 'resume'
           and package.note glob :paused || '*')
       or (package.phase = 'unreachable' and package.request is not 'resume'
           and (select phase from attempt where attempt.id = package.attempt_id) is 'suspended')
       as asked,
       count(*) as n
  from selected_package join package on package.id = selected_package.package_id
 group by 1, 2, 3;

-- name: keep_pausable
-- Keep of the selected packages only those of these kinds, which `selected_pausable` counts.
delete from selected_package
 where package_id in
     (select package.id
        from selected_package join package on package.id = selected_package.package_id
       where json_array(
                 package.phase, package.parked,
                 (package.request is 'pause'
                  or (package.phase = 'suspended' and package.request is not 'resume'
                      and package.note glob :paused || '*')
                  or (package.phase = 'unreachable' and package.request is not 'resume'
                      and (select phase from attempt
                            where attempt.id = package.attempt_id) is 'suspended')) is true)
             not in (select value from json_each(:kinds)));

-- name: finish_job
-- Launch no more packages of a job; a hard end replaces a soft one.
update job
   set finish = :how, finish_actor = :actor, finish_note = :note, finish_since = :now,
       pause = 0, pause_running = 0, pause_until = null, hold = 0, ended = null
 where id = :job and (finish is null or (finish = 'soft' and :how = 'hard'));

-- name: reopen_finished
-- Jobs of the selected packages are no longer finished.
update job
   set finish = null, finish_actor = null, finish_note = null, finish_since = null
 where finish is not null
   and id in (select job_id from selected_package_state);

-- name: finishing_jobs
-- Jobs that are being finished, and who requested it.
select id, name, finish, finish_actor, finish_note, finish_since
  from job indexed by job_finishing
 where finish is not null and visible = 1 and ended is null;

-- name: choose_idle
-- Choose packages of a job that are not launched, a limited number.
insert or ignore into selected_package (package_id)
select package.id
  from package indexed by package_in_phase
 where package.job_id = :job
   and package.phase in (select name from phase where is_idle = 1)
 limit :limit;

-- name: stages_with_priority
-- Stages of a job with packages that have a priority of their own; requirements without packages
-- remain after an update.
select seq
  from stage
 where id in (select stage_id from requirement where job_id = :job and priority is not null)
   and exists (select 1
                 from line
                 join package on package.line_id = line.id
                 join requirement on requirement.id = package.requirement_id
                where line.stage_id = stage.id and requirement.priority is not null)
   and job_id = :job
 order by seq;

-- name: priorities_of_selected
-- The priorities of the selected packages, their own or that of their job.
select distinct coalesce(requirement.priority, job.priority) as priority
  from selected_package
  join package on package.id = selected_package.package_id
  join requirement on requirement.id = package.requirement_id
  join job on job.id = package.job_id
 order by 1;

-- name: set_priority
-- Set the priority of a job.
update job set priority = :priority where id = :job and priority <> :priority;

-- name: limit_job
-- How many packages of a job may be on nodes at once.
update job set max_running = :most where id = :job;

-- name: limit_stage
-- How many packages of a stage may be on nodes at once.
update stage set max_running = :most where id = :stage;

-- name: limit_failures
-- After how many failed packages a job is held.
update job set max_failures = :most where id = :job;

-- name: choose_retry
-- Keep only selected packages in these phases.
delete from selected_package
 where (select phase from package where id = package_id)
       not in (select value from json_each(:phases));

-- name: hopeless_reasons
-- Chosen packages that ended at a limit which is not above what they took, and that would run the
-- same again, and read the same files; those with other contents now are `edited`. Not those that
-- cool off, as the policy has seen to them, or that a person canceled, as a retry undoes that.
select package.id, attempt.reason
  from selected_package
  join package on package.id = selected_package.package_id
  join requirement on requirement.id = package.requirement_id
  join attempt on attempt.package_id = package.id and attempt.number = package.attempts
 where package.phase not in ('cooloff', 'canceled')
   and coalesce(package.redefined, 0) < attempt.ended
   and ((attempt.reason = 'out-of-memory' and :memory is null
         and requirement.memory <= coalesce(attempt.rss, requirement.memory))
        or (attempt.reason = 'wall-time' and :wall_time is null
            and package.wall_time <= 1 + coalesce(
                attempt.ended - coalesce(attempt.started, attempt.launched), package.wall_time)))
   and not exists (select 1
                     from input
                     join file on file.id = input.file_id
                    where input.package_id = package.id and input.own = 0
                      and (file.replaced > attempt.launched
                           or file.id in (select value from json_each(:edited))));

-- name: hopeless_inputs
-- Chosen packages that can't run without a file of a dropped line, and one such file.
select package.id, file.name
  from selected_package
  join package on package.id = selected_package.package_id
  join input on input.package_id = package.id and input.own = 0 and input.required = 1
            and input.dropped = 0
  join file on file.id = input.file_id and file.dropped = 1 and file.present = 0
 group by package.id;

-- name: selected_requirements
-- The requests of the selected packages to a node, and how many have each.
select requirement.*, stage.name as stage, count(*) as n
  from selected_package
  join package on package.id = selected_package.package_id
  join requirement on requirement.id = package.requirement_id
  join stage on stage.id = requirement.stage_id
 group by requirement.id;

-- name: choose_of_requirement
-- Chosen packages with a requirement.
select package.id from selected_package join package on package.id = selected_package.package_id
 where package.requirement_id = :requirement;

-- name: leave_out_package
-- Remove a package from the selection.
delete from selected_package where package_id = ?;

-- name: same_requirement
-- A requirement of a stage with exactly these requests.
select id from requirement
 where job_id = :job and stage_id = :stage and cpus = :cpus and cpu = :cpu and memory is :memory
   and gpus = :gpus and disk is :disk and space is :space and platform is :platform and nodes = :nodes
   and exclude_nodes = :exclude_nodes and software = :software and needs = :needs
   and early = :early and fetches = :fetches and priority is :priority and rank is :rank
   and seconds is :seconds and avoid is null and boost = 0 and stay is null;

-- name: change_requirement
-- Change the requests of the selected packages with a requirement.
update package set requirement_id = :new
 where id in (select package_id from selected_package) and requirement_id = :old;

-- name: change_wall_time
-- Change the wall time of the selected packages.
update package set wall_time = :wall_time where id in (select package_id from selected_package);

-- name: wall_times_of_selected
-- Two different wall times of the selected packages, or the only one.
select distinct package.wall_time
  from selected_package
  join package on package.id = selected_package.package_id
 limit 2;

-- name: change_environment
-- Add variables to those of the selected packages, or give them other values.
update package
   set environment = json_patch(coalesce(environment, '{}'), :variables)
 where id in (select package_id from selected_package);

-- name: change_script
-- Change the script of a binary.
update binary set script = ?, argv = ?, parameters = ? where package_id = ? and seq = ?;

-- name: keep_retry_parameters
-- A package runs with these parameters, which are not those of its job; null: with those of its job.
update package set retried_with = ? where id = ?;

-- name: forget_other_recipe
-- A package is about to run what its job says.
delete from outdated_package where package_id = ? and by_recipe = 1;

-- name: record_other_recipe
-- A package is about to run something else than its job says: its results are out of date.
insert or replace into outdated_package (package_id, job_id, by_recipe, acceptable)
select id, job_id, 1, 1 from package where id = ?;

-- name: selected_positions
-- The positions of the selected packages in their jobs.
select package.id, package.job_id, stage.seq as stage, line.seq as line, package.seq,
       stage.name as stage_name
  from selected_package
  join package on package.id = selected_package.package_id
  join line on line.id = package.line_id
  join stage on stage.id = package.stage_id
 order by stage.seq, line.seq, package.seq;

-- name: retry_packages
-- failed, canceled, cooloff -> ready or waiting: by a person, so that tries count from zero.
update package
   set phase = case when missing = 0 then 'ready' else 'waiting' end, node_id = null,
       not_before = null, restarts = 0, tried_from = attempts, request = 'resubmit',
       accept = null, changed = :now, actor = :actor, note = :note
 where id in (select package_id
                from selected_package) and phase in ('failed', 'canceled', 'cooloff');

-- name: count_partial_outputs
-- How many partial files of the selected packages exist.
select count(*)
  from selected_package
  join file on file.package_id = selected_package.package_id and file.partial = 1
           and file.present = 1;

-- name: set_successful
-- failed, canceled -> done: by hand.
update package
   set phase = 'done', request = null, changed = :now, actor = :actor, note = :note
 where id in (select package_id from selected_package) and phase in ('failed', 'canceled');

-- name: outputs_to_accept
-- Chosen packages with a missing output: the names of these, those that their last attempt with any
-- left on its node, and their requirements.
select package.id as package_id, attempt.id as attempt, attempt.node_name, attempt.retained,
       node.id as node, requirement.id as requirement_id, requirement.memory, requirement.avoid,
       requirement.boost, requirement.failed_on, requirement.stay,
       (select json_group_array(json_object('name', file.name, 'late', file.late,
                                            'least', coalesce(file.min_count, 0)))
          from file where file.package_id = package.id and file.present = 0
                      and file.pattern_id is null) as lacking
  from selected_package
  join package on package.id = selected_package.package_id
  join requirement on requirement.id = package.requirement_id
  left join attempt on attempt.id = (select id from attempt as past
                                      where past.package_id = package.id
                                        and past.retained is not null
                                      order by past.number desc limit 1)
  left join node on node.id = attempt.node_id and node.name = attempt.node_name
 where exists (select 1 from file where file.package_id = package.id and file.present = 0);

-- name: accept_outputs
-- failed, canceled -> ready or waiting: to take over the outputs of an attempt, on its node.
update package
   set phase = case when missing = 0 then 'ready' else 'waiting' end, node_id = null,
       not_before = null, restarts = 0, tried_from = attempts, accept = :attempt,
       requirement_id = :requirement, changed = :now, actor = :actor, note = :note
 where id = :package and phase in ('failed', 'canceled');

-- name: kept_of_selected
-- Chosen packages of which previous attempts left files.
select attempt.id, package.id as package_id, attempt.node_name, requirement.id as requirement_id,
       requirement.memory, requirement.avoid, requirement.boost, requirement.failed_on,
       requirement.stay
  from selected_package
  join package on package.id = selected_package.package_id
  join requirement on requirement.id = package.requirement_id
  join attempt on attempt.package_id = package.id and attempt.retained is not null;

-- name: purge_kept_of_selected
-- Have files removed that earlier attempts of the selected packages left.
insert into purge (node_id, path)
select node.id, 'cache/' || attempt.id
  from selected_package
  join attempt on attempt.package_id = selected_package.package_id and attempt.retained is not null
  join node on node.id = attempt.node_id;

-- name: forget_kept_of_selected
-- The next attempts of the selected packages begin from scratch.
update attempt set retained = null, left_size = null
 where retained is not null and package_id in (select package_id from selected_package);

-- name: set_unscheduled
-- done -> ready or waiting: by hand, to be made again.
update package
   set phase = case when missing = 0 then 'ready' else 'waiting' end, node_id = null,
       restarts = 0, request = 'resubmit', changed = :now, actor = :actor, note = :note
 where id in (select package_id from selected_package) and phase = 'done';

-- name: purge_selected_outputs
-- Remove cached copies of the outputs, or of the partial ones, of selected packages. While a launched
-- package reads such a file those that attempts made stay, and those that were brought until the
-- node is next in contact.
insert into purge (node_id, path, after)
select node_id, path, later
  from (select location.node_id, location.path,
               iif(exists (select 1
                             from input join package as reader on reader.id = input.package_id
                            where input.file_id = file.id
                              and reader.is_live = 1), file.id, null) as later
          from selected_package
          join file on file.package_id = selected_package.package_id and file.partial >= :partial
          join location on location.file_id = file.id and location.shared = 0
          join node on node.id = location.node_id)
 where later is null or instr(path, '/cache/in/') = 0;

-- name: lose_selected_outputs
-- Outputs of the selected packages, or the partial ones, no longer count.
insert into lost_copy (file_id, cluster_id)
select file.id, coalesce(location.cluster_id, 0)
  from selected_package
  join file on file.package_id = selected_package.package_id and file.partial >= :partial
  left join location on location.file_id = file.id;

-- name: wait_for_lost_outputs
-- ready, assigned -> waiting: their inputs are being made again.
update package
   set phase = 'waiting', node_id = null, staging = 0, changed = :now, actor = null,
       note = 'input-remade'
 where phase in ('ready', 'assigned') and missing > 0
   and id in (select input.package_id
                from lost_copy join input on input.file_id = lost_copy.file_id
               union
              select after.id
                from selected_package
                join package as maker on maker.id = selected_package.package_id
                join package as after on after.line_id = maker.line_id
                                     and after.seq = maker.seq + 1);

-- name: set_failed
-- unreachable -> failed: by hand, for one that will never report again.
update package
   set phase = 'failed', request = null, changed = :now, actor = :actor, note = :note
 where id in (select package_id from selected_package) and phase = 'unreachable';

-- name: end_given_up
-- Attempts of selected packages that were given up by hand no longer count.
update attempt
   set outcome = 'lost', ended = :now, reason = 'lost', message = :message
 where outcome is null
   and id in (select attempt_id
                from selected_package join package on package.id = selected_package.package_id
               where package.phase = 'failed');

-- name: scripts_of
-- The scripts of the binaries of a package.
select seq, script, argv, parameters from binary where package_id = :package order by seq;

-- name: selected_package_files
-- The inputs and outputs of the selected packages.
select input.package_id, input.binary, file.name, 'in' as kind
  from selected_package
  join input on input.package_id = selected_package.package_id
  join file on file.id = input.file_id
 union all
select file.package_id, file.binary, file.name, 'out'
  from selected_package join file on file.package_id = selected_package.package_id;

-- name: keep_idle
-- Keep only selected packages that are not launched and have not ended.
delete from selected_package
 where (select phase from package where id = package_id)
       not in ('waiting', 'ready', 'cooloff', 'held', 'assigned');

-- name: count_acknowledged
-- How many of the selected packages have acknowledged failures.
select count(*)
  from selected_package
  join acknowledgement on acknowledgement.package_id = selected_package.package_id;

-- name: keep_acknowledged
-- Of the selected packages keep those whose failures are acknowledged.
delete from selected_package where package_id not in (select package_id from acknowledgement);

-- name: leave_out_acknowledged
-- Of the selected packages keep those whose failures are not acknowledged.
delete from selected_package where package_id in (select package_id from acknowledgement);

-- name: acknowledge_failures
-- Acknowledge the failures of the selected packages that have failed.
insert into acknowledgement (package_id, stage_id, at, actor, note)
select package.id, package.stage_id, :now, :actor, :note
  from selected_package join package on package.id = selected_package.package_id
 where package.phase = 'failed'
    on conflict do nothing;

-- name: keep_withdrawn_acknowledgements
-- Keep the acknowledgements of the selected packages for those who look at the past.
insert into past_acknowledgement (package_id, stage_id, at, actor, note, ended)
select package_id, stage_id, at, actor, note, :now
  from acknowledgement where package_id in (select package_id from selected_package);

-- name: withdraw_acknowledgements
-- The failures of the selected packages need a person again.
delete from acknowledgement where package_id in (select package_id from selected_package);

-- name: acknowledgement
-- Who acknowledged the failure of a package, when and why.
select at, actor, note from acknowledgement where package_id = :package;

-- name: count_accepted
-- Of how many selected packages a person has accepted the results as they ran, with another recipe.
select count(*)
  from selected_package
  join package on package.id = selected_package.package_id and package.phase = 'done'
  join attempt on attempt.id = package.attempt_id and attempt.recipe_digest is not null;

-- name: running_without
-- A successful package that is selected, or that has made removed inputs of the selected ones,
-- recursively, and a file that it requires and that is dropped; not one of packages :back.
with recursive again (package_id) as (
    select package_id from selected_package
    union
    select package.id
      from again
      join input on input.package_id = again.package_id and input.own = 0 and input.dropped = 0
      join file on file.id = input.file_id and file.present = 0 and file.dropped = 0
      join package on package.id = file.package_id and package.phase = 'done')
select package_path.path, job.name as job, file.name as file,
       line.dropped is not null as is_dropped
  from again
  join package on package.id = again.package_id and package.phase = 'done'
  join line on line.id = package.line_id
  join input on input.package_id = package.id and input.own = 0 and input.dropped = 0
            and input.required = 1
  join file on file.id = input.file_id and file.dropped = 1
           and file.package_id not in (select value from json_each(:back))
           and file.package_id not in (select package_id from selected_package)
  join job on job.id = file.job_id
  join package_path on package_path.package_id = package.id
 order by package.id
 limit 1;

-- name: makers_of_removed
-- How many other packages of the same jobs made inputs of the selected ones that were removed,
-- recursively, how many of these ran with another recipe than their job has now, of how many a person
-- has accepted that, and the first ones.
with recursive maker (package_id) as (
    select package.id
      from selected_package
      join package as reader on reader.id = selected_package.package_id
      join stage on stage.id = reader.stage_id
      join input on input.package_id = reader.id and input.own = 0
                and (input.dropped = 0 or stage.final = 1)
      join file on file.id = input.file_id and file.present = 0 and file.dropped = 0
               and file.job_id = reader.job_id
      join package on package.id = file.package_id and package.phase = 'done'
    union
    select package.id
      from maker
      join package as reader on reader.id = maker.package_id
      join input on input.package_id = reader.id and input.own = 0 and input.dropped = 0
      join file on file.id = input.file_id and file.present = 0 and file.dropped = 0
               and file.job_id = reader.job_id
      join package on package.id = file.package_id and package.phase = 'done')
select count(*) over () as number, coalesce(sum(outdated_package.by_recipe) over (), 0) as outdated,
       sum(attempt.recipe_digest is not null) over () as accepted, package_path.path
  from maker
  join package on package.id = maker.package_id
  left join attempt on attempt.id = package.attempt_id
  join package_path on package_path.package_id = maker.package_id
  left join outdated_package on outdated_package.package_id = maker.package_id
 where maker.package_id not in (select package_id from selected_package)
 order by maker.package_id
 limit 10;

-- name: removed_of_other_jobs
-- Removed files of other jobs that the selected packages read, or packages of their own jobs that run
-- again for them, if packages that are not selected make them again.
with recursive reader (package_id) as (
    select package_id from selected_package
    union
    select package.id
      from reader
      join package as reads on reads.id = reader.package_id
      join input on input.package_id = reads.id and input.own = 0 and input.dropped = 0
      join file on file.id = input.file_id and file.present = 0 and file.dropped = 0
               and file.job_id = reads.job_id
      join package on package.id = file.package_id and package.phase = 'done')
select distinct file.id, job.name as job, file.name
  from reader
  join package as reads on reads.id = reader.package_id
  join input on input.package_id = reads.id and input.own = 0 and input.dropped = 0
  join file on file.id = input.file_id and file.present = 0 and file.dropped = 0
           and file.job_id <> reads.job_id
  join package on package.id = file.package_id and package.phase = 'done'
           and package.id not in (select package_id from selected_package)
  join job on job.id = file.job_id
 order by file.id;

-- name: dropped_readers
-- How many dropped lines read files of the selected packages, and the first ones.
select count(*) over () as number, reader.line_id, reader.job, reader.stage, reader.line
  from (select min(package.id) as package_id
          from selected_package
          join file on file.package_id = selected_package.package_id and file.dropped = 0
          join input on input.file_id = file.id and input.own = 0
          join package on package.id = input.package_id and package.phase = 'dropped'
         group by package.line_id) as first
  join package_path as reader on reader.package_id = first.package_id
 order by reader.line_id
 limit 10;

-- name: readers_failed
-- How many other packages have failed that read files of the selected ones, and the first ones.
with reader as (
    select distinct package.id as package_id
      from selected_package
      join file on file.package_id = selected_package.package_id
      join input on input.file_id = file.id and input.own = 0 and input.dropped = 0
      join package on package.id = input.package_id and package.phase = 'failed')
select count(*) over () as number, package_path.path
  from reader join package_path on package_path.package_id = reader.package_id
 where reader.package_id not in (select package_id from selected_package)
 order by reader.package_id
 limit 10;

-- name: lines_needing_dropped
-- The first lines of a job with packages that have succeeded with files of dropped lines, of other jobs
-- or, if these were dropped while they ran, of the same job, and require them, or have read no others
-- that they do not require; not those that would read other files now, as an update says, or as the
-- other job got or lost lines since this one took its files.
select distinct job.name as job, stage.seq as stage, line.seq as line, maker.name as maker,
       file.name as file
  from outdated_package
  join package on package.id = outdated_package.package_id and package.phase = 'done'
  join input on input.package_id = package.id and input.own = 0 and input.dropped = 0
  join file on file.id = input.file_id and file.dropped = 1
  join line on line.id = package.line_id and line.dropped is null and line.named <> 2
  join stage on stage.id = line.stage_id
  join job on job.id = stage.job_id
  join job as maker on maker.id = file.job_id
 where outdated_package.job_id = :job
   and (outdated_package.by_recipe = 0 or outdated_package.acceptable = 1)
   and (input.required = 1
        or not exists (select 1 from need
                        where need.job_id = :job and need.maker_id = maker.id and need.behind = 1))
   and (input.required = 1
        or not exists (select 1
                         from input as other
                         join file as found on found.id = other.file_id and found.dropped = 0
                        where other.package_id = package.id and other.own = 0
                          and other.required = 0 and found.package_id is not null))
 limit 10;

-- name: lines_needing_elsewhere
-- How many lines of other jobs have packages that have succeeded with files of the selected ones, and
-- require them, or have read no others that they do not require, and the first of these lines; not
-- those that would read other files now. If `behind`: those that may, by the latter reason, as a line
-- beside them has read others, so that each is for a group.
select count(*) over () as number, job.name as job, stage.seq as stage, line.seq as line
  from (select distinct package.line_id
          from selected_package
          join file on file.package_id = selected_package.package_id
          join input on input.file_id = file.id and input.own = 0 and input.dropped = 0
          join package on package.id = input.package_id and package.phase = 'done'
                      and package.job_id <> file.job_id
          join need on need.job_id = package.job_id and need.maker_id = file.job_id
         where not exists (select 1 from outdated_package
                            where outdated_package.package_id = package.id
                              and by_recipe = 1 and acceptable = 0)
           and (input.required = 1 and :behind = 0
                or input.required = 0 and need.behind = :behind
               and (:behind = 0
                    or exists (select 1
                                 from line as own
                                 join line as beside on beside.stage_id = own.stage_id
                                                    and beside.seq in (own.seq - 1, own.seq + 1)
                                 join package as other on other.line_id = beside.id
                                where own.id = package.line_id
                                  and not exists (select 1 from input as same
                                                   where same.package_id = other.id
                                                     and same.file_id = file.id)))
               and not exists (select 1
                                 from input as other
                                 join file as found on found.id = other.file_id and found.dropped = 0
                                where other.package_id = package.id and other.own = 0
                                  and other.required = 0
                                  and found.package_id not in (select package_id
                                                                 from selected_package)))
        ) as needing
  join line on line.id = needing.line_id and line.dropped is null and line.named <> 2
  join stage on stage.id = line.stage_id
  join job on job.id = stage.job_id
 order by line.id
 limit 10;

-- name: needs_among
-- Which of these jobs read files of which others of them.
select job.name as reader, maker.name as maker
  from job
  join need on need.job_id = job.id
  join job as maker on maker.id = need.maker_id
 where job.name in (select value from json_each(:jobs)) and job.visible = 1
   and maker.name in (select value from json_each(:jobs));

-- name: readers_done
-- How many other packages have succeeded with files of the selected ones, recursively, and the first
-- ones; not those of lines that are dropped, or that their job file has no more.
select count(*) over () as number, package_path.path
  from selected_package_reader
  join package on package.id = selected_package_reader.package_id
  join line on line.id = package.line_id and line.dropped is null and line.named <> 2
  join package_path on package_path.package_id = package.id
 order by selected_package_reader.package_id
 limit 10;
