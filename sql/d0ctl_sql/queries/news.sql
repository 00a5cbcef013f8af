-- name: news_mark
-- The last event that notifications have read; null while the site notifies nobody.
select event from notified;

-- name: keep_news_mark
-- The events were read up to this one.
update notified set event = :event;

-- name: lower_news_mark
-- Events were removed, so that new ones may get their numbers.
update notified set event = min(event, (select coalesce(max(id), 0) from event))
 where event is not null;

-- name: last_event
-- The last event.
select coalesce(max(id), 0) from event;

-- name: pass_ended_jobs
-- Jobs that ended before the site notified anybody are not reported.
update job set notified = ended where ended is not notified;

-- name: new_failures
-- Failures, and holds by a policy, between two events, by job, reason and cluster, with how many
-- are still failed or held, and the first and the last as examples. `first` and `last` are when they
-- ended, `recorded` is when d0ctl learned of the last one.
select package.job_id, job.name, job.originator, job.mail,
       coalesce(attempt.reason, 'unknown') as reason, cluster.name as cluster,
       count(*) as count,
       count(case when event.new = 'failed' and coalesce(attempt.answer, 'fail') = 'fail'
                  then 1 end) as failed,
       count(case when event.new = 'held' or attempt.answer = 'hold' then 1 end) as held,
       min(coalesce(attempt.ended, event.at)) as first,
       max(coalesce(attempt.ended, event.at)) as last, max(event.at) as recorded,
       min(attempt.id) as example, max(attempt.id) as other,
       max(case when event.new = 'held' or coalesce(attempt.answer, 'fail') in ('fail', 'hold')
                then attempt.id end) as worst
  from event
  cross join attempt on attempt.id = event.attempt_id
  join package on package.id = event.package_id
  join job on job.id = package.job_id
  left join node on node.id = attempt.node_id
  left join cluster on cluster.id = node.cluster_id
 where event.id > :after and event.id <= :upto
   and ((event.new = 'failed' and event.actor is null
         and event.old in (select name from phase where status = 'launched'))
        or (event.new = 'held' and event.actor = 'policy' and event.old = 'starting'))
 group by package.job_id, reason, cluster.id
 order by package.job_id, reason;

-- name: failures_now
-- Of failures of a job for a reason between two times, how many packages are still failed, and how
-- many the policy still holds, up to the numbers that were reported; nothing if the job is gone.
select job.originator, job.mail,
       (select count(*) from (
            select 1
              from package indexed by package_in_phase
              join attempt on attempt.package_id = package.id and attempt.number = package.attempts
             where package.job_id = :job and package.phase = 'failed'
               and coalesce(attempt.reason, 'unknown') = :reason
               and coalesce(attempt.ended, :first) between :first and :last
             limit :failed)) as failed,
       (select count(*) from (
            select 1
              from package indexed by package_in_phase
              join attempt on attempt.package_id = package.id and attempt.number = package.attempts
             where package.job_id = :job and package.phase = 'held' and package.actor = 'policy'
               and coalesce(attempt.reason, 'unknown') = :reason
               and coalesce(attempt.ended, :first) between :first and :last
             limit :held)) as held
  from job where job.id = :job;

-- name: new_given_up
-- Nodes that are down and whose attempts were lost between two events because of that.
select node.id, node.name, cluster.name as cluster, count(*) as count, max(event.at) as at
  from event
  cross join attempt on attempt.id = event.attempt_id
  join node on node.id = attempt.node_id and node.state = 'down'
  join cluster on cluster.id = node.cluster_id
 where event.id > :after and event.id <= :upto and event.new = 'failed' and event.actor is null
   and attempt.outcome = 'lost' and attempt.reason = 'platform-failure'
 group by node.id;

-- name: failure_example
-- One attempt that failed, with the last lines of its binary.
select package_path.path,
       attempt.number, attempt.node_name, attempt.message, attempt.stderr
  from attempt
  join package on package.id = attempt.package_id
  join package_path on package_path.package_id = package.id
 where attempt.id = :attempt;

-- name: new_ends
-- Jobs that have ended since the last read, and how their tasks have.
select job.id, job.name, job.originator, job.mail, job.ended, task.status as task, task.note
  from job indexed by job_not_notified
  left join task on task.job_id = job.id
 where job.ended is not job.notified and job.ended is not null and job.visible = 1;

-- name: keep_end_notified
-- Record that the end of a job was read.
update job set notified = ended where id = :job;

-- name: new_node_problems
-- Nodes with a problem that notifications have not seen yet.
select node.id, node.name, 'node-' || node_problem.kind as kind, node_problem.since,
       node_problem.evidence, cluster.name as cluster
  from node_problem
  join node on node.id = node_problem.node_id
  join cluster on cluster.id = node.cluster_id
 where not exists (select 1 from problem
                    where problem.kind = 'node-' || node_problem.kind
                      and problem.subject_id = node.id);

-- name: add_problem
-- Record a problem, until it clears.
insert or ignore into problem (kind, subject_id, subject, since)
values (:kind, :subject_id, :subject, :since);

-- name: cleared_problems
-- Problems that are over, and whether their subjects still exist.
select problem.kind, problem.subject_id, problem.subject,
       coalesce(node.id, job.id) is not null as is_there
  from problem
  left join node on node.id = problem.subject_id and problem.kind glob 'node-*'
  left join job on job.id = problem.subject_id and problem.kind in ('still', 'held')
 where case problem.kind
       when 'still' then job.ended is null
       when 'stands-still' then 0
       when 'held' then not exists (select 1 from package
                                     where package.job_id = problem.subject_id
                                       and package.phase = 'held' and package.actor = 'policy')
       else not exists (select 1 from node_problem
                         where node_problem.node_id = problem.subject_id
                           and 'node-' || node_problem.kind = problem.kind) end;

-- name: is_open_problem
-- Whether a subject has a recorded problem.
select 1 from problem where kind = :kind and subject_id = :subject_id;

-- name: problem_standing_jobs
-- The jobs that are known to stand still.
select subject_id, subject from problem where kind = 'stands-still' and subject_id <> 0;

-- name: researcher_of_job
-- Who gets mail about a job, and which.
select originator, mail from job where id = :job;

-- name: remove_problem
-- Record that a problem is over.
delete from problem where kind = :kind and subject_id = :subject_id;

-- name: notified_of
-- Who was notified of a problem.
select recipient from notified_of where kind = :kind and subject_id = :subject_id order by recipient;

-- name: forget_notified
-- Recipients who were notified of a problem are notified that it is over.
delete from notified_of where kind = :kind and subject_id = :subject_id;

-- name: job_of_end
-- A job as the mail about its end begins.
select id, name, title, submitted, ended from job where id = :job and ended is not null;

-- name: incomplete_packages
-- The oldest packages of a job in a phase, and why they are in it.
select package.id,
       package_path.path,
       package.phase, package.note, package.actor
  from package
  join package_path on package_path.package_id = package.id
 where package.job_id = :job and package.phase = :phase
 order by package.id
 limit :limit;
