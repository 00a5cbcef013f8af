-- name: notable_failures
-- The last failures of attempts until a time, also of packages that are tried again.
select some.ended as at, package_path.path as subject, 'failed' as state, some.node_name as node,
       some.reason, some.message as note,
       some.answer is not null and some.answer in ('resubmit', 'restart') as is_tried_again
  from (select *
          from attempt indexed by attempt_failed
         where outcome in ('failed', 'lost') and ended <= :until
         order by ended desc
         limit :limit) as some
  cross join package_path on package_path.package_id = some.package_id
                         and package_path.visible = 1;

-- name: notable_actions
-- What users did last until a time.
select at, target as subject, verb as state, actor, note
  from action
 where at <= :until
 order by at desc
 limit :limit;

-- name: notable_nodes
-- When nodes entered their states, or were drained, until a time, and when they went down before.
select since as at, name as subject, state, last_error as note
  from node
 where since <= :until and state <> 'unknown'
union all
select drained_at, name, 'drained', drain_note
  from node
 where drained = 1 and drained_at <= :until
union all
select at, name, 'down', error
  from (select began as at, node_name as name, error
          from node_outage
         where kind = 'down' and ended is not null and began <= :until
         order by id desc
         limit :limit) as outage
 where not exists (select 1 from node where node.name = outage.name and node.since = outage.at)
 order by at desc
 limit :limit;

-- name: notable_jobs
-- The last ends of jobs between two times, the status then of all but the final stages, how many
-- packages had not ended well, how many of these had failed, and how many lines people had dropped.
select job_end.at, job.name as subject, job_end.left, job_end.failed, job_end.dropped,
       job_end.status as state
  from job_end indexed by job_end_at
  cross join job on job.id = job_end.job_id and job.visible = 1
 where job_end.at >= :since and job_end.at <= :until
 order by job_end.at desc
 limit :limit;

-- name: ends_of_job
-- When and how a job ended, each time, the last first; bounded.
select job_end.at, job.name as subject, job_end.left, job_end.failed, job_end.dropped,
       job_end.status as state
  from job_end join job on job.id = job_end.job_id
 where job_end.job_id = :job
 order by job_end.at desc
 limit :limit;

-- name: followed_jobs
-- Some jobs: how many packages are done and failed, when they ended, and the first failure after an
-- event; `jobs` has these events by the ids of the jobs.
select job.id, job.name, job.ended,
       coalesce(sum(stage_count.n), 0) as packages,
       coalesce(sum(iif(stage_count.phase = 'done', stage_count.n, 0)), 0) as done,
       coalesce(sum(iif(stage_count.phase = 'failed', stage_count.n, 0)), 0) as failed,
       coalesce((select package_path.path || ' ' || coalesce(attempt.reason, '')
                   from event
                   join package on package.id = event.package_id and package.job_id = job.id
                   join package_path on package_path.package_id = package.id
                   left join attempt on attempt.package_id = package.id
                                    and attempt.number = package.attempts
                  where event.id > wanted.value and event.new = 'failed'
                  order by event.id
                  limit 1), '') as new_failure,
       (select coalesce(max(id), 0) from event) as last_event
  from json_each(:jobs) as wanted
  cross join job on job.id = cast(wanted.key as integer) and job.visible = 1
  join stage on stage.job_id = job.id
  left join stage_count on stage_count.stage_id = stage.id
 group by job.id;
