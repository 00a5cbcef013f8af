-- name: logbook_actions
-- Actions of people and of d0ctl since a time, on anything or one node, the latest first; bounded.
select at, actor, verb, target, note, packages, undo
  from action
 where at >= :since
   and (:node is null
        or verb like 'node %' and instr(' ' || target || ' ', ' ' || :node || ' ') > 0)
 order by at desc, id desc
 limit :limit;

-- name: logbook_failures
-- Failed and lost attempts since a time, perhaps on one node, by job and reason, the job that
-- failed last first; bounded.
-- `failed` counts the packages for which it was the last attempt.
select job.name as job, attempt.reason, count(*) as count,
       count(distinct attempt.package_id) as packages,
       count(case when package.phase = 'failed' and package.attempt_id = attempt.id then 1 end)
           as failed,
       count(distinct attempt.node_name) as nodes, attempt.node_name as node,
       max(attempt.ended) as last, attempt.message,
       count(distinct likeness(attempt.message)) as messages
  from attempt indexed by attempt_failed
  cross join package on package.id = attempt.package_id
  cross join job on job.id = package.job_id and job.visible = 1
 where attempt.outcome in ('failed', 'lost') and attempt.ended >= :since
   and (:node is null or attempt.node_name = :node)
 group by job.id, attempt.reason
 order by last desc
 limit :limit;

-- name: logbook_outages
-- When nodes, or just one, were down or full since a time, the latest first; bounded.
select node_name as node, kind, began, ended, became, error
  from node_outage
 where (ended is null or ended >= :since)
   and (:node is null or node_name = :node)
 order by began desc, id desc
 limit :limit;
