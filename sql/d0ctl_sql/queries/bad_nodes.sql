-- name: add_node_record
-- Count how packages of a stage ended on a node; a success ends the streak of failures before it.
insert into node_record (stage_id, node_id, job_id, successful, failed, streak, since, last, lasted,
                     longest, successes)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict do update
   set successful = node_record.successful + excluded.successful,
       failed = node_record.failed + excluded.failed,
       streak = excluded.streak + iif(excluded.successful > 0, 0, node_record.streak),
       since = case when excluded.successful > 0 or node_record.streak = 0
                    then coalesce(excluded.since, node_record.since)
                    else min(node_record.since, coalesce(excluded.since, node_record.since)) end,
       earlier = iif(excluded.successful > 0 and node_record.streak > 0, node_record.streak,
                     node_record.earlier),
       successes = excluded.successes + iif(excluded.successful > 0 and node_record.streak > 0, 0,
                                            node_record.successes),
       last = coalesce(excluded.last, node_record.last),
       lasted = coalesce(excluded.lasted, node_record.lasted),
       longest = case when excluded.successful > 0 or node_record.streak = 0
                      then coalesce(excluded.longest, node_record.longest)
                      else max(node_record.longest, coalesce(excluded.longest, 0)) end;

-- name: failed_elsewhere
-- Those of these failures, [package, node, reason], whose packages have failed for the same reason on
-- another node: they do not speak against this one. Attempts before a retry by a person do not count.
select distinct failure.value ->> 0 as package, failure.value ->> 1 as node
  from json_each(:failures) as failure
  join package on package.id = failure.value ->> 0
  join attempt on attempt.package_id = package.id and attempt.number > package.tried_from
 where attempt.outcome = 'failed' and attempt.reason = failure.value ->> 2
   and attempt.node_id <> failure.value ->> 1;

-- name: add_job_node_record
-- Count the same by job, for the exclusion of nodes.
insert into job_node_record (job_id, node_id, successful, failed) values (?, ?, ?, ?)
on conflict do update
   set successful = job_node_record.successful + excluded.successful,
       failed = job_node_record.failed + excluded.failed;

-- name: take_back_success
-- An attempt that was counted as a success of its node has failed after all; if it was the only
-- success, the streak of failures before it continues.
update node_record
   set successful = successful - 1, successes = max(0, successes - 1),
       streak = streak + iif(successes = 1, earlier, 0), earlier = iif(successes = 1, 0, earlier)
 where stage_id = :stage and node_id = :node and successful > 0;

-- name: take_back_job_success
-- The same by job.
update job_node_record set successful = successful - 1
 where job_id = :job and node_id = :node and successful > 0;

-- name: streaks
-- The nodes on which the last packages of some stages failed.
select stage_id, node_id, successful, failed, streak, last, lasted
  from node_record
 where streak > 0 and stage_id in (select value from json_each(:stages));

-- name: streaks_of_node
-- The stages of jobs that have not ended whose last packages failed on a node, the latest first.
select node_record.stage_id, job.name || '/' || stage.seq as path
  from node_record
  join stage on stage.id = node_record.stage_id
  join job on job.id = node_record.job_id and job.ended is null
 where node_record.node_id = :node and node_record.streak > 0
 order by node_record.last desc
 limit :limit;

-- name: proven_nodes
-- The nodes on which a stage has succeeded.
select node_id from node_record where stage_id = :stage and successful > 0;

-- name: stage_in_hand
-- How many packages of a stage a node has.
select count(*) from package
 where node_id = :node and stage_id = :stage
   and is_live = 1;

-- name: job_node_records
-- How packages of a job ended on each node.
select node_id, successful, failed from job_node_record where job_id = :job;

-- name: named_job_node_records
-- How packages of a job that has not ended did on each node, the worst node first: the records of
-- its stages lack those that were lost. And whether another node takes packages.
select node.name, job_node_record.successful, job_node_record.failed,
       job_node_record.failed
           - coalesce((select sum(node_record.failed)
                         from node_record indexed by node_record_of_job
                        where node_record.job_id = job_node_record.job_id
                          and node_record.node_id = job_node_record.node_id), 0) as lost,
       exists (select 1 from node as other
                where other.id <> node.id and other.state = 'up' and other.drained = 0)
           as has_others
  from job_node_record
  join node on node.id = job_node_record.node_id
  join job on job.id = job_node_record.job_id and job.ended is null
 where job_node_record.job_id = :job
 order by job_node_record.failed desc, node.name;

-- name: tried_elsewhere
-- How many packages of a job failed last on each node, and are to be tried again or run on another one.
select node, sum(packages) as packages
  from (select requirement.failed_on as node, requirement.ready as packages
          from requirement
         where requirement.job_id = :job and requirement.ready > 0
           and requirement.failed_on is not null
         union all
        select requirement.failed_on, 1
          from package indexed by package_in_phase
          join requirement on requirement.id = package.requirement_id
                          and requirement.failed_on is not null
          left join node on node.id = package.node_id
         where package.job_id = :job
           and package.phase in (select name from phase where is_live = 1 or name = 'cooloff')
           and node.name is not requirement.failed_on)
 group by node;

-- name: suspect_nodes
-- The nodes, not drained yet, on which the last packages of some stages failed.
select node_record.*, node.name as node, job.name || '/' || stage.seq as path
  from node_record
  join node on node.id = node_record.node_id and node.drained = 0
  join stage on stage.id = node_record.stage_id
  join job on job.id = node_record.job_id
 where node_record.streak > 0
   and node_record.stage_id in (select value from json_each(:stages));

-- name: record_elsewhere
-- How packages of a stage ended on all other nodes.
select coalesce(sum(successful), 0) as successful, coalesce(sum(failed), 0) as failed
  from node_record where stage_id = :stage and node_id <> :node;

-- name: job_record_elsewhere
-- How packages of a job ended on all other nodes.
select coalesce(sum(successful), 0) as successful, coalesce(sum(failed), 0) as failed
  from node_record where job_id = :job and node_id <> :node;

-- name: worse_than_elsewhere
-- The stages of which more packages failed on a node than succeeded there, although some succeeded on
-- others; the latest first.
select mine.stage_id as stage, job.name || '/' || stage.seq as path, mine.failed, mine.successful,
       mine.last, sum(others.successful) as others, sum(others.failed) as others_failed
  from node_record as mine
  join stage on stage.id = mine.stage_id
  join job on job.id = stage.job_id
  join node_record as others on others.stage_id = mine.stage_id and others.node_id <> mine.node_id
 where mine.node_id = :node and mine.failed > mine.successful and mine.last > :since
 group by stage.id
having sum(others.successful) > sum(others.failed)
 order by mine.last desc
 limit :limit;

-- name: forget_node_records_of_node
-- The records of a node start at zero.
delete from node_record where node_id = :node;

-- name: forget_job_node_records_of_node
-- The records of a node by job start at zero.
delete from job_node_record where node_id = :node;

-- name: forget_node_records_of_selected
-- Forget records of nodes with the jobs of the selected packages (CRAB3: a resubmit clears them).
delete from node_record
 where job_id in (select job_id from selected_package_state);

-- name: forget_job_node_records_of_selected
-- Forget records of nodes with the jobs of the selected packages (CRAB3: a resubmit clears them).
delete from job_node_record
 where job_id in (select job_id from selected_package_state);

-- name: place_of_attempt
-- The stage of an attempt, and its node, if that still exists.
select package.stage_id, package.job_id, node.id as node_id, package.id as package_id
  from attempt
  join package on package.id = attempt.package_id
  join node on node.id = attempt.node_id
 where attempt.id = :attempt;

-- name: bad_nodes
-- The nodes that d0ctl has drained.
select bad_node.*, node.name as node
  from bad_node join node on node.id = bad_node.node_id
 order by bad_node.since;

-- name: bad_node
-- Why d0ctl has drained a node, which package tries it now, and the room on its disk.
select bad_node.*,
       (select package_path.path
          from package join package_path on package_path.package_id = package.id
         where package.id = bad_node.canary_id and package.node_id = bad_node.node_id
           and package.is_live = 1) as canary,
       (select disk_spare from node_space
         where node_space.node_id = bad_node.node_id) as disk_spare,
       (select max(binary_attempt.disk)
          from attempt indexed by attempt_failed
          join binary_attempt on binary_attempt.attempt_id = attempt.id
         where attempt.outcome in ('failed', 'lost') and attempt.ended >= bad_node.began
           and attempt.node_id = bad_node.node_id and attempt.reason = 'disk-full') as disk_taken
  from bad_node where node_id = :node;

-- name: suspected_nodes
-- The nodes that d0ctl has drained for packages of a job that wait or run elsewhere now.
select node.name, bad_node.job_id
  from bad_node join node on node.id = bad_node.node_id
 where exists (select 1
                 from attempt indexed by attempt_failed
                 join package on package.id = attempt.package_id
                             and package.stage_id = bad_node.stage_id
                             and package.status in ('unscheduled', 'scheduled', 'launched')
                             and package.phase <> 'held'
                             and package.node_id is not bad_node.node_id
                where attempt.outcome in ('failed', 'lost')
                  and attempt.ended between bad_node.began and bad_node.since
                  and attempt.node_id = bad_node.node_id);

-- name: bad_nodes_of_selected
-- The nodes that were drained because packages of the jobs of the selected packages failed there.
select bad_node.node_id, node.name as node
  from bad_node join node on node.id = bad_node.node_id
 where bad_node.job_id in (select job_id from selected_package_state);

-- name: keep_bad_node
-- d0ctl drains a node, with the evidence.
insert into bad_node (node_id, job_id, stage_id, since, began, evidence, next_try)
values (:node, :job, :stage, :now, :began, :evidence, :next_try);

-- name: fail_bad_node
-- The package that tried a node failed as well, so the next try comes later.
update bad_node set times = :times, next_try = :next_try, canary_id = null
 where node_id = :node;

-- name: forget_bad_node
-- A node is good again, or a user handles it.
delete from bad_node where node_id = :node;

-- name: failed_on_node
-- The attempts of a stage that failed on a node since a time, in jobs that are not finishing, with
-- the requirements of their packages; without packages that had failed so elsewhere before.
select attempt.id, attempt.package_id, attempt.node_name, attempt.reason,
       requirement.id as requirement_id, requirement.memory, requirement.avoid, requirement.boost,
       requirement.failed_on, requirement.stay, package_path.path,
       package.attempt_id = attempt.id
       and (package.phase in ('failed', 'cooloff')
            or (package.phase = 'held' and package.actor = 'policy')) as stands
  from attempt indexed by attempt_failed
  join package on package.id = attempt.package_id and package.stage_id = :stage
  join requirement on requirement.id = package.requirement_id
  join package_path on package_path.package_id = package.id
  join job on job.id = package.job_id and job.finish is null
 where attempt.outcome in ('failed', 'lost') and attempt.ended >= :began
   and attempt.node_id = :node
   and not exists (select 1 from attempt as before
                    where before.package_id = attempt.package_id
                      and before.number < attempt.number and before.number > package.tried_from
                      and before.node_id <> attempt.node_id
                      and before.outcome = 'failed' and before.reason = attempt.reason);

-- name: failed_there_and_elsewhere
-- How many of the first failures of a stage on a node since a time there are, and how many of these
-- packages have failed for the same reason on another node; without packages that requested too little.
select count(*) as failed, coalesce(sum(is_elsewhere), 0) as elsewhere
  from (select exists (select 1 from attempt as other
                        where other.package_id = attempt.package_id
                          and other.number > package.tried_from
                          and other.node_id <> attempt.node_id
                          and other.outcome = 'failed' and other.reason = attempt.reason)
               as is_elsewhere
          from attempt indexed by attempt_failed
          join package on package.id = attempt.package_id and package.stage_id = :stage
         where attempt.outcome in ('failed', 'lost') and attempt.ended >= :began
           and attempt.node_id = :node
           and coalesce(attempt.reason, '') not in ('out-of-memory', 'wall-time')
         limit :limit);

-- name: succeeded_meanwhile
-- Whether a package of a stage succeeded on another node that was launched between two attempts.
select exists (select 1 from attempt
                 join package on package.id = attempt.package_id and package.stage_id = :stage
                where attempt.id > :first and attempt.id < :last
                  and attempt.node_id <> :node and attempt.outcome = 'successful');

-- name: unproven_since_update
-- Whether a job was updated before a time, and no package of a stage that was launched after its last
-- update has succeeded on another node. The ids of attempts follow the launches.
with updated as (
    select action.at
      from action join job on job.id = :job and job.name glob action.target
     where action.verb = 'update'
     order by action.id desc limit 1)
select exists (select 1 from updated
                where updated.at <= :since
                  and not exists (
                      select 1 from attempt
                        join package on package.id = attempt.package_id
                                    and package.stage_id = :stage
                       where attempt.id > coalesce((select before.id from attempt as before
                                                     where before.launched < updated.at
                                                     order by before.id desc limit 1), 0)
                         and attempt.node_id <> :node and attempt.outcome = 'successful'));

-- name: failed_trial
-- The same of the last attempt of the package that tried a node.
select attempt.id, attempt.package_id, attempt.node_name, attempt.reason,
       requirement.id as requirement_id, requirement.memory, requirement.avoid, requirement.boost,
       requirement.failed_on,
       requirement.stay, '' as path,
       package.phase in ('failed', 'cooloff')
       or (package.phase = 'held' and package.actor = 'policy') as stands
  from package
  join attempt on attempt.id = package.attempt_id
  join requirement on requirement.id = package.requirement_id
  join job on job.id = package.job_id and job.finish is null
 where package.id = :package and attempt.node_id = :node and attempt.outcome in ('failed', 'lost')
   and attempt.answer is not 'restart';

-- name: forgive_attempt
-- A failure caused by a bad node does not count as a try.
update attempt set answer = 'restart' where id = ?;

-- name: run_elsewhere
-- failed, cooloff, held -> ready or waiting: it failed because of its node.
update package
   set phase = case when missing = 0 then 'ready' else 'waiting' end, node_id = null,
       not_before = null, requirement_id = :requirement, changed = :now, actor = null, note = :note
 where id = :package
   and (phase in ('failed', 'cooloff') or (phase = 'held' and actor = 'policy'));

-- name: node_deeds
-- Drains and resumes of a node since it was added, perhaps with others, the last first.
select at, actor, verb, note from action
 where instr(' ' || target || ' ', ' ' || :name || ' ') > 0 and verb in ('node drain', 'node resume')
   and id > (select coalesce(max(id), 0) from action
              where instr(' ' || target || ' ', ' ' || :name || ' ') > 0 and verb = 'node add')
 order by id desc limit :limit;

-- name: add_alike
-- Packages of a stage failed for good for a reason; return how many now.
insert into alike (stage_id, reason, failed) values (:stage, :reason, :failed)
on conflict do update set failed = alike.failed + excluded.failed
returning failed;

-- name: stage_on_trial
-- A stage without any success, of a job that is not held and continues, with its path.
select job.name || '/' || stage.seq as path, job.most_alike
  from stage join job on job.id = stage.job_id and job.hold = 0 and job.finish is null
 where stage.id = :stage
   and not exists (select 1 from stage_count
                    where stage_id = :stage and phase in ('transferring', 'done') and n > 0);

-- name: unproven_elsewhere
-- Whether a stage runs on a node that has not failed with it yet, and may still succeed.
select 1 from node
 where not exists (select 1 from node_record
                    where node_record.stage_id = :stage and node_record.node_id = node.id
                      and node_record.failed > 0)
   and exists (select 1 from package
                where package.node_id = node.id and package.stage_id = :stage
                  and package.is_live = 1
                  and package.phase not in ('assigned', 'unreachable'))
 limit 1;

-- name: failures_of_job
-- How many packages of a job with `max-failures` have failed since it was released, if it continues.
select job.name, job.max_failures as most, sum(stage_count.n) - job.excused as failed
  from job
  join stage on stage.job_id = job.id
  join stage_count on stage_count.stage_id = stage.id and stage_count.phase = 'failed'
 where job.id = :job and job.max_failures is not null and job.hold = 0 and job.finish is null
 group by job.id;

-- name: excuse_failures_of_job
-- A user releases a job, so its failures count from zero.
update job
   set excused = (select coalesce(sum(stage_count.n), 0)
                    from stage
                    join stage_count on stage_count.stage_id = stage.id
                                    and stage_count.phase = 'failed'
                   where stage.job_id = job.id)
 where id = :job and max_failures is not null;

-- name: excuse_failures_of_selected
-- The same for the jobs of the selected packages, whose failed ones are about to be tried again.
update job
   set excused = (select coalesce(sum(stage_count.n), 0)
                    from stage
                    join stage_count on stage_count.stage_id = stage.id
                                    and stage_count.phase = 'failed'
                   where stage.job_id = job.id)
                 - (select count(*) from selected_package
                      join package on package.id = selected_package.package_id
                     where package.job_id = job.id and package.phase = 'failed')
 where max_failures is not null
   and id in (select job_id from selected_package_state);

-- name: forget_alike_of_job
-- A user releases a job, so its failures for the same reason count from zero.
delete from alike where stage_id in (select id from stage where job_id = :job);

-- name: stopped_jobs_of_selected
-- The jobs of the selected packages that are held, perhaps by d0ctl itself, or paused.
select distinct job.id, job.name, job.hold as is_held, job.pause as is_paused,
       job.hold = 1 and job.hold_actor = :actor as is_held_by_d0ctl
  from selected_package
  join package on package.id = selected_package.package_id
  join job on job.id = package.job_id
 where job.hold = 1 or job.pause = 1;

-- name: forget_alike_of_selected
-- The same for the jobs of the selected packages.
delete from alike
 where stage_id in (select stage.id
                      from selected_package
                      join package on package.id = selected_package.package_id
                      join stage on stage.job_id = package.job_id);

-- name: failed_attempt
-- The package of an attempt, and why the attempt failed.
select package_path.path, attempt.reason
  from attempt join package_path on package_path.package_id = attempt.package_id
 where attempt.id = :attempt;
