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
-- Those on a node that was down may have ended days before: `recorded`, the time of the event, counts.
-- Only those of the `late` seconds before are looked at, as each costs a search for its event.
-- `failed` counts the packages for which it was the last attempt, also acknowledged ones, and
-- `failed_again` those that failed in a later attempt that is not among these. The message is that
-- of the last of the former; if there is none, of the last attempt.
with failure as materialized
     (select job.id as job_id, job.name as job, attempt.reason, attempt.package_id,
             attempt.node_name, attempt.ended, attempt.message,
             (select max(at) from recorded_end
               where package_id = attempt.package_id and attempt_id = attempt.id) as recorded,
             package.phase = 'failed' and package.attempt_id = attempt.id as is_failed,
             package.phase = 'failed' as has_failed,
             exists (select 1 from acknowledgement where package_id = package.id) as is_known
        from attempt indexed by attempt_failed
        cross join package on package.id = attempt.package_id
        cross join job on job.id = package.job_id and job.visible = 1
       where attempt.outcome in ('failed', 'lost')
         and attempt.ended >= :since - :late and (attempt.ended >= :since or recorded >= :since)
         and (:node is null or attempt.node_name = :node)),
     latest as
     (select job_id, reason, max(ended) as last, max(coalesce(recorded, ended)) as recorded
        from failure group by job_id, reason)
select failure.job, failure.reason, count(*) as count,
       count(distinct failure.package_id) as packages, sum(failure.is_failed) as failed,
       count(distinct iif(failure.has_failed, failure.package_id, null)) - sum(failure.is_failed)
       as failed_again,
       sum(failure.is_failed and failure.is_known) as acknowledged,
       count(distinct failure.node_name) as nodes, failure.node_name as node, latest.last,
       latest.recorded, failure.message, count(distinct likeness(failure.message)) as messages,
       max(iif(failure.is_failed, failure.ended, failure.ended - latest.last - 1)) as shown
  from failure
  join latest on latest.job_id = failure.job_id and latest.reason is failure.reason
 group by failure.job_id, failure.reason
 order by latest.recorded desc
 limit :limit;

-- name: logbook_outages
-- When nodes, or just one, were down or full since a time, the latest first; bounded.
select node_name as node, kind, began, ended, became, error
  from node_outage
 where (ended is null or ended >= :since)
   and (:node is null or node_name = :node)
 order by began desc, id desc
 limit :limit;
