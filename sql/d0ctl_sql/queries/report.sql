-- name: report_all
-- Take in every attempt that failed.
insert into failing (attempt_id, reason)
select id, coalesce(reason, 'unknown') from attempt indexed by attempt_failed
 where outcome in ('failed', 'lost');

-- name: report_job
-- Take in the attempts of a job that failed.
insert into failing (attempt_id, reason)
select attempt.id, coalesce(attempt.reason, 'unknown')
  from attempt indexed by attempt_failed
  cross join package on package.id = attempt.package_id and package.job_id = :job
 where attempt.outcome in ('failed', 'lost');

-- name: report_chosen
-- Take in the attempts of the chosen packages that failed.
insert into failing (attempt_id, reason)
select attempt.id, coalesce(attempt.reason, 'unknown')
  from chosen join attempt on attempt.package_id = chosen.package_id
 where attempt.outcome in ('failed', 'lost');

-- name: failures_in_all
-- How many failures were taken in, of how many packages, and the CPU seconds that they took;
-- where an attempt could not tell, the time that it lasted.
select count(*) as count, count(distinct attempt.package_id) as packages,
       coalesce(sum(coalesce(attempt.cpu, attempt.ended - attempt.started)), 0) as wasted,
       count(case when package.phase = 'failed' then 1 end) as failed,
       count(case when attempt.answer in ('resubmit', 'restart') then 1 end) as again
  from failing
  cross join attempt on attempt.id = failing.attempt_id
  join package on package.id = attempt.package_id;

-- name: failures_by_reason
-- The failures that were taken in, by reason, with the latest of each.
select failing.reason as name, count(*) as count, count(distinct attempt.package_id) as packages,
       coalesce(sum(coalesce(attempt.cpu, attempt.ended - attempt.started)), 0) as wasted,
       max(attempt.ended) as last, attempt.id as sample
  from failing cross join attempt on attempt.id = failing.attempt_id
 group by failing.reason order by count desc, name limit :limit;

-- name: failures_by_node
-- The failures that were taken in, by node, with the latest of each.
select attempt.node_name as name, count(*) as count,
       count(distinct attempt.package_id) as packages,
       coalesce(sum(coalesce(attempt.cpu, attempt.ended - attempt.started)), 0) as wasted,
       max(attempt.ended) as last, attempt.id as sample
  from failing cross join attempt on attempt.id = failing.attempt_id
 group by attempt.node_name order by count desc, name limit :limit;

-- name: failures_by_software
-- The failures that were taken in, by the software of the binary that they ended in.
select coalesce(binary.software, binary.name) as name, count(*) as count,
       count(distinct attempt.package_id) as packages,
       coalesce(sum(coalesce(attempt.cpu, attempt.ended - attempt.started)), 0) as wasted,
       max(attempt.ended) as last, attempt.id as sample
  from failing
  cross join attempt on attempt.id = failing.attempt_id
  join binary on binary.package_id = attempt.package_id and binary.seq = coalesce(attempt.binary, 1)
 group by 1 order by count desc, name limit :limit;

-- name: failures_by_input
-- The failures that were taken in, by the files that the packages read.
select file.name, count(*) as count, count(distinct attempt.package_id) as packages,
       coalesce(sum(coalesce(attempt.cpu, attempt.ended - attempt.started)), 0) as wasted,
       max(attempt.ended) as last, attempt.id as sample
  from failing
  cross join attempt on attempt.id = failing.attempt_id
  join input on input.package_id = attempt.package_id and input.own = 0
            and input.binary = coalesce(attempt.binary, input.binary)
  join file on file.id = input.file_id
 group by file.id order by count desc, file.name limit :limit;

-- name: failure_sample
-- One failure, as an example of others.
select job.name || '/' || stage.seq || '/' || line.seq || '/' || package.seq as path,
       attempt.number, attempt.reason, attempt.message, attempt.node_name
  from attempt
  join package on package.id = attempt.package_id
  join line on line.id = package.line_id
  join stage on stage.id = package.stage_id
  join job on job.id = package.job_id
 where attempt.id = :attempt;
