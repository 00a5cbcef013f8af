-- name: outline_job_ids
-- Every visible job, the newest first.
select id from job where visible = 1 order by id desc;

-- name: outline_jobs
-- Some jobs by their ids.
select job.id, job.name, job.title, job.originator, job.priority, job.hold, job.hold_actor,
       job.hold_note, job.hold_since, job.pause, job.pause_running, job.pause_actor,
       job.pause_note, job.pause_since, job.pause_until, job.finish, job.finish_actor,
       job.finish_note, job.finish_since, job.submitted, job.ended, job.max_running, job.max_failures,
       exists (select 1 from job_end where job_id = job.id and at is not job.ended) as went_on,
       (select coalesce(sum(acknowledged), 0) from stage where job_id = job.id) as acknowledged,
       exists (select 1
                 from outdated_package
                 join package on package.id = outdated_package.package_id
                             and package.phase = 'done'
                 join line on line.id = package.line_id and line.dropped is null
                where outdated_package.job_id = job.id) as is_outdated,
       exists (select 1 from task
                where task.job_id = job.id and task.status = 'paused') as has_paused_task
  from json_each(:ids) as wanted
  join job on job.id = wanted.value and job.visible = 1;

-- name: outline_jobs_counts
-- How many packages of some jobs are in each phase, read off the counts.
select stage.job_id, stage_count.phase, sum(stage_count.n) as n
  from json_each(:ids) as wanted
  cross join stage on stage.job_id = wanted.value
  join stage_count on stage_count.stage_id = stage.id and stage_count.n > 0
 group by stage.job_id, stage_count.phase;

-- name: outline_stages
-- A page of the stages of a job.
select id, seq, name, require, lines, max_running, final, acknowledged from stage
 where job_id = :job and seq between :first and :last order by seq;

-- name: outline_stages_counts
-- How many packages of each of these stages are in each phase.
select stage_count.stage_id, stage_count.phase, stage_count.n
  from stage join stage_count on stage_count.stage_id = stage.id
 where stage.job_id = :job and stage.seq between :first and :last and stage_count.n > 0;

-- name: outline_lines_counts
-- How many packages of each of these lines are in each phase, none counted beyond a window.
select line.id as line_id, package.phase, count(*) as n
  from line
  join package on package.line_id = line.id and package.seq <= :window
 where line.stage_id = :stage and line.seq between :first and :last
 group by line.id, package.phase;

-- name: outline_lines_acknowledged
-- How many failed packages of each of these lines are acknowledged.
select package.line_id, count(*) as n
  from line
  join package on package.line_id = line.id and package.phase = 'failed'
  join acknowledgement on acknowledgement.package_id = package.id
 where line.stage_id = :stage and line.seq between :first and :last
 group by package.line_id;

-- name: outline_last_stage
-- How many stages a job has.
select coalesce(max(seq), 0) from stage where job_id = :job;

-- name: outline_last_package
-- How many packages a line has.
select coalesce(max(seq), 0) from package where line_id = :line;

-- name: outline_last_binary
-- How many binaries a package has.
select coalesce(max(seq), 0) from binary where package_id = :package;

-- name: outline_packages
-- A page of the packages of a line, with their last attempts.
select * from package_row
 where line_id = :line and seq between :first and :last
 order by seq;

-- name: outline_only_packages
-- The packages of lines that have just one, with their last attempts.
select package_row.*
  from json_each(:lines) as wanted
  join package_row on package_row.line_id = wanted.value and package_row.seq = 1;

-- name: outline_packages_by_id
-- Some packages by their ids, with their last attempts.
select package_row.*
  from json_each(:ids) as wanted
  join package_row on package_row.id = wanted.value;

-- name: outline_paths
-- The paths of some packages by their ids.
select package_path.path
  from json_each(:ids) as wanted
  join package_path on package_path.package_id = wanted.value;

-- name: outline_in_phases
-- Every package of a job that is in these phases, for a list that shows pages of it.
select package.id
  from json_each(:phases) as wanted
  cross join package indexed by package_in_phase
    on package.job_id = :job and package.phase = wanted.value
 order by package.id;

-- name: outline_needing_in_phases
-- The same without acknowledged failures.
select package.id
  from json_each(:phases) as wanted
  cross join package indexed by package_in_phase
    on package.job_id = :job and package.phase = wanted.value
 where not exists (select 1 from acknowledgement where package_id = package.id)
 order by package.id;

-- name: outline_first_of_groups
-- Packages of a job in these phases by stage, phase, reason and message, without acknowledged
-- failures: the first of each group, of a bounded number of packages.
select min(some.id) as id, some.stage_id, some.phase, attempt.reason, attempt.message
  from (select package.id, package.stage_id, package.phase, package.attempts
          from json_each(:phases) as wanted
          cross join package indexed by package_in_phase
            on package.job_id = :job and package.phase = wanted.value
         where not exists (select 1 from acknowledgement where package_id = package.id)
         limit :window) as some
  left join attempt on attempt.package_id = some.id and attempt.number = some.attempts
 group by some.stage_id, some.phase, attempt.reason, attempt.message
 order by 1;

-- name: outline_group
-- The group of a package: its stage, phase, reason and message.
select package.stage_id, package.phase, attempt.reason, attempt.message
  from package
  left join attempt on attempt.package_id = package.id and attempt.number = package.attempts
 where package.id = :package;

-- name: outline_next_in_phase
-- The next package of a job in a phase, in the order of paths.
select id from package indexed by package_in_phase
 where job_id = :job and phase = :phase and id > :after
   and not exists (select 1 from acknowledgement where package_id = package.id)
 order by id limit 1;

-- name: outline_previous_in_phase
-- The last package of a job in a phase before another, in the order of paths.
select id from package indexed by package_in_phase
 where job_id = :job and phase = :phase and id < :before
   and not exists (select 1 from acknowledgement where package_id = package.id)
 order by id desc limit 1;

-- name: outline_place
-- The position of a package in its job.
select package.job_id, stage.seq as stage, line.seq as line, package.seq as package
  from package
  join stage on stage.id = package.stage_id
  join line on line.id = package.line_id
 where package.id = :package;

-- name: outline_node_use
-- How many slots of each node run packages, by the part of their CPUs that they need, and in how many of
-- these packages are suspended; how many packages there wait for a slot or for inputs, or are unreachable; packages that started early and
-- wait for inputs, or only deliver outputs, take no slot. A node that is down runs none.
select node_id,
       sum(case when staging = 0 and phase in ('running', 'suspended', 'killing') and state <> 'down'
                then cpus * cpu / 100.0 else 0 end) as used,
       sum(case when staging = 0 and phase = 'suspended' and state <> 'down'
                then cpus * cpu / 100.0 else 0 end) as suspended,
       sum(staging = 0 and phase in ('assigned', 'starting')) as ahead,
       sum(staging = 1) as staging,
       sum(phase = 'unreachable') as unreachable
  from (select package.node_id, package.phase, requirement.cpus, requirement.cpu, node.state,
               (package.phase = 'staging-in' or package.staging = 1) as staging
          from package indexed by package_live
          join requirement on requirement.id = package.requirement_id and requirement.stay is null
          join node on node.id = package.node_id
         where package.node_id in (select id from node)
           and package.is_live = 1
           and not (package.early = 1 and package.awaited > 0))
 group by node_id;

-- name: outline_running_progress
-- The progress of the running packages of a job by their own reports, by line.
select package.stage_id, package.line_id, count(*) as live,
       sum(coalesce(progress.percent, 0)) as percents,
       max(case when package.phase = 'running' then progress.eta end) as eta,
       count(case when package.phase = 'running' then progress.eta end) as with_eta
  from package indexed by package_in_phase
  left join progress on progress.package_id = package.id
 where package.job_id = :job and package.phase in ('running', 'suspended', 'unreachable')
 group by package.line_id;

-- name: outline_events
-- The latest events, a bounded number, after one that is known.
select some.id, some.at, some.old, some.new, some.actor, some.note,
       attempt.reason, attempt.message, coalesce(node.name, attempt.node_name) as node,
       package_path.path
  from (select * from event where id > :after order by id desc limit :limit) as some
  join package on package.id = some.package_id
  join package_path on package_path.package_id = package.id
  left join attempt on attempt.id = some.attempt_id
  left join node on node.id = some.node_id
 order by some.id desc;

-- name: outline_events_after
-- The events after one that is known, the oldest first; of one job, or of all visible ones.
select event.id, event.at, package_path.path, event.old, event.new,
       attempt.number as attempt, attempt.reason, coalesce(node.name, attempt.node_name) as node,
       event.actor, event.note
  from event
  join package on package.id = event.package_id
  join job on job.id = package.job_id and job.visible = 1
  join package_path on package_path.package_id = package.id
  left join attempt on attempt.id = event.attempt_id
  left join node on node.id = event.node_id
 where event.id > :after and event.id <= :last and (:job is null or job.id = :job)
 order by event.id limit :limit;

-- name: outline_totals
-- How many packages of visible jobs have succeeded, have failed, and run.
select coalesce(sum(case when stage_count.phase = 'done' then stage_count.n end), 0) as done,
       coalesce(sum(case when stage_count.phase = 'failed' then stage_count.n end), 0) as failed,
       coalesce(sum(case when stage_count.phase = 'running' then stage_count.n end), 0) as running
  from job
  join stage on stage.job_id = job.id
  join stage_count on stage_count.stage_id = stage.id
   and stage_count.phase in ('done', 'failed', 'running')
 where job.visible = 1;

-- name: outline_recent_ends
-- How many packages have ended since an event, by period, with the number of each period. Those that
-- failed and were tried again by themselves, at once or after a cool-off, have not ended.
select cast(some.at / :period as integer) as number, count(*) as ended
  from (select id, at, package_id, new from event where id > :after) as some
 where some.new = 'done'
    or (some.new = 'failed'
        and not exists (select 1 from event as next
                         where next.package_id = some.package_id and next.id > some.id
                           and next.old = 'failed' and next.actor is null
                           and next.at < some.at + 1.0))
 group by 1
 order by 1;

-- name: outline_last_end
-- When a job had ended before it went on; null: it never did.
select max(at)
  from job_end
 where job_id = :job and at is not (select ended from job where id = :job);

-- name: outline_stage_ends
-- How many packages of each stage of a job have succeeded and failed since an event, and when the one
-- that ended first began. Those that run again have not ended, and of the others only the last end
-- counts; none that ended before :since and was recorded later, as after a time without a daemon.
select ends.stage_id, ends.done, ends.failed,
       coalesce(attempt.started, attempt.launched, ends.first) as began
  from (select package.stage_id, sum(last.new = 'done') as done, sum(last.new = 'failed') as failed,
               min(last.at) as first,
               package.attempt_id               -- of the same row: SQLite promises that for `min`
          from (select max(at) as at, package_id, new
                  from event not indexed
                 where id > :after and new in ('done', 'failed')
                 group by package_id) as last
          cross join package on package.id = last.package_id and package.job_id = :job
           and package.phase = last.new
          left join attempt as tried on tried.id = package.attempt_id
         where coalesce(tried.ended, last.at) >= :since
         group by package.stage_id) as ends
  left join attempt on attempt.id = ends.attempt_id;

-- name: outline_needing_a_person
-- How many packages of each job need a person, by phase, without acknowledged failures; waiting ones
-- do if nothing moves, but not beside acknowledged failures, which block them.
select stage.job_id, stage_count.phase,
       sum(stage_count.n - iif(stage_count.phase = 'failed', stage.acknowledged, 0)) as n
  from job
  join stage on stage.job_id = job.id
  join stage_count on stage_count.stage_id = stage.id and stage_count.n > 0
   and (stage_count.phase in ('failed', 'held', 'unreachable')
        or (stage_count.phase = 'waiting' and job.ended is not null
            and not exists (select 1 from stage as known
                             where known.job_id = job.id and known.acknowledged > 0)))
 where job.visible = 1
 group by stage.job_id, stage_count.phase
having sum(stage_count.n - iif(stage_count.phase = 'failed', stage.acknowledged, 0)) > 0;

-- name: outline_on_node
-- A few packages that are live on a node.
select package_row.*
  from (select id from package indexed by package_live
         where node_id = :node and is_live = 1
         limit :limit) as some
  join package_row on package_row.id = some.id;

-- name: outline_failed_packages
-- Failed packages of some jobs, with the facts of their last attempts and the input that sets them
-- apart most; bounded.
select package.id, attempt.reason, attempt.node_name as node,
       coalesce(binary.software, '(no software)') as software,
       (select file.name
          from input
          cross join suspect on suspect.file_id = input.file_id
          join file on file.id = input.file_id
         where input.package_id = package.id and input.own = 0
         order by suspect.excess desc limit 1) as input,
       attempt.ended, attempt.message,
       exists (select 1 from acknowledgement where package_id = package.id) as acknowledged,
       job.name as job, package.attempts as tries
  from (select package.id
          from json_each(:jobs) as wanted
          cross join package indexed by package_in_phase
            on package.job_id = wanted.value and package.phase = 'failed'
         limit :limit) as some
  join package on package.id = some.id
  join job on job.id = package.job_id
  left join attempt on attempt.package_id = package.id and attempt.number = package.attempts
  left join binary on binary.package_id = package.id and binary.seq = coalesce(attempt.binary, 1);

-- name: report_failed_packages
-- Collect the last attempts of failed packages of some jobs; bounded.
insert into failing (attempt_id, reason)
select attempt.id, coalesce(attempt.reason, 'unknown')
  from (select package.id, package.attempts
          from json_each(:jobs) as wanted
          cross join package indexed by package_in_phase
            on package.job_id = wanted.value and package.phase = 'failed'
         limit :limit) as some
  join attempt on attempt.package_id = some.id and attempt.number = some.attempts;

-- name: outline_failure_groups
-- Failed packages that nobody has acknowledged, by job and reason, with the latest of each group;
-- bounded.
select grouped.*, job.name as job, package_path.path
  from (select some.job_id, some.id, attempt.reason, count(*) as n,
               count(distinct attempt.node_id) as nodes, attempt.node_name as node,
               max(attempt.ended) as ended, attempt.message
          from (select package.id, package.job_id, package.attempts
                  from json_each(:jobs) as wanted
                  cross join package indexed by package_in_phase
                    on package.job_id = wanted.value and package.phase = 'failed'
                 where not exists (select 1 from acknowledgement where package_id = package.id)
                 limit :window) as some
          left join attempt on attempt.package_id = some.id and attempt.number = some.attempts
         group by some.job_id, attempt.reason
         order by n desc, ended desc limit :limit) as grouped
  join job on job.id = grouped.job_id
  join package_path on package_path.package_id = grouped.id
 order by grouped.n desc, grouped.ended desc;

-- name: outline_search_files
-- Files of a job whose names begin with a text, with their makers; bounded.
select job.name as job, file.name, file.package_id as package, file.present, package.phase
  from file
  join job on job.id = file.job_id
  left join package on package.id = file.package_id
 where file.job_id = :job and file.name >= :begin and file.name < :end
 order by file.name limit :limit;

-- name: outline_search_nodes
-- Nodes whose names contain a word.
select name, state from node where name like '%' || :word || '%' order by name limit :limit;

-- name: outline_search_jobs
-- Jobs whose names or titles contain a word, first the one of this name, then the newest; of a task
-- its status.
select name, title, (select task.status from task where task.job_id = job.id) as task from job
 where visible = 1 and (name like '%' || :word || '%' or title like '%' || :word || '%')
 order by name = :word desc, id desc limit :limit;

-- name: outline_search_stages
-- Stages whose names contain a word, of the newest jobs first.
select job.name as job, stage.seq, stage.name
  from (select id, name from job where visible = 1 order by id desc limit 200) as job
  join stage on stage.job_id = job.id
 where stage.name like '%' || :word || '%' limit :limit;

-- name: outline_search_reasons
-- Reasons of recent failures that contain a word.
select latest.reason, count(*) as n
  from (select reason from attempt indexed by attempt_failed
         where outcome in ('failed', 'lost') order by ended desc limit 2000) as latest
 where latest.reason like '%' || :word || '%'
 group by latest.reason limit :limit;

-- name: outline_search_packages
-- Names of packages that contain a word, by stage, of the newest jobs first: those of the first lines.
select job.name as job, stage.seq, package.name, min(package.id) as package
  from (select id, name from job where visible = 1 order by id desc limit 200) as job
  join stage on stage.job_id = job.id
  join line on line.stage_id = stage.id and line.seq <= 20
  join package on package.line_id = line.id
 where package.name like '%' || :word || '%'
 group by job.id, stage.id, package.name
 order by job.id desc, stage.seq
 limit :limit;

-- name: outline_named
-- The packages of a stage by their name; bounded.
select package.id
  from job
  join stage on stage.job_id = job.id and stage.seq = :stage
  join line on line.stage_id = stage.id
  join package on package.line_id = line.id
 where job.name = :job and job.visible = 1 and package.name = :name
 limit :limit;

-- name: outline_search_messages
-- The packages with recent failures whose message contains a word, and one such message; bounded.
select latest.package_id as id, latest.message
  from (select package_id, message from attempt indexed by attempt_failed
         where outcome in ('failed', 'lost') order by ended desc limit 2000) as latest
 where latest.message like '%' || :word || '%'
 group by latest.package_id limit :limit;

-- name: outline_failed_for
-- The packages of the latest failures for a reason; bounded.
select distinct latest.package_id as id
  from (select package_id, reason from attempt indexed by attempt_failed
         where outcome in ('failed', 'lost') order by ended desc limit 2000) as latest
 where latest.reason = :reason limit :limit;

-- name: outline_selected
-- The ids of the selected packages, in the order of paths.
select package_id from selected_package order by package_id;

-- name: outline_first_below
-- The first package of a line, given by the numbers of its stage and itself.
select package.id
  from stage
  join line on line.stage_id = stage.id and line.seq = :line
  join package on package.line_id = line.id and package.seq = 1
 where stage.job_id = :job and stage.seq = :stage;
