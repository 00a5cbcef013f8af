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

-- name: leave_other_reasons
-- Remove failures for other reasons from the collected ones.
delete from failing where reason <> :reason;

-- name: leave_other_nodes
-- Remove failures on other nodes from the collected ones.
delete from failing
 where (select node_name from attempt where attempt.id = failing.attempt_id) <> :node;

-- name: failures_in_all
-- How many failures are included, of how many packages, and the CPU seconds that they took; if an
-- attempt did not report them, its run time.
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
-- The included failures by the software of the binary that failed; those of binaries without
-- software together.
select coalesce(binary.software, '(no software)') as name, count(*) as count,
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
select package_path.path,
       attempt.number, attempt.reason, attempt.message, attempt.node_name
  from attempt
  join package on package.id = attempt.package_id
  join package_path on package_path.package_id = package.id
 where attempt.id = :attempt;

-- name: shares_of_nodes
-- How many attempts around the included failures ended on each node, and how many of them are among
-- these failures; of a job, of the chosen packages, or of all.
select attempt.node_name as name, count(*) as number, count(failing.attempt_id) as failed
  from attempt
  left join failing on failing.attempt_id = attempt.id
  join package on package.id = attempt.package_id
 where attempt.id between (select max(attempt_id) from failing) - :window
                      and (select max(attempt_id) from failing) + :window
   and (attempt.outcome = 'successful' or failing.attempt_id is not null)
   and (:job is null or package.job_id = :job)
   and (:chosen = 0 or exists (select 1 from chosen where package_id = package.id))
 group by attempt.node_name;

-- name: shares_of_software
-- The same by the software that ran to its end, or that failed; plain runs are none.
select binary.software as name,
       count(*) as number, count(failing.attempt_id) as failed
  from attempt
  left join failing on failing.attempt_id = attempt.id
  join package on package.id = attempt.package_id
  join binary on binary.package_id = package.id
             and (attempt.outcome = 'successful' or binary.seq = coalesce(attempt.binary, 1))
 where attempt.id between (select max(attempt_id) from failing) - :window
                      and (select max(attempt_id) from failing) + :window
   and (attempt.outcome = 'successful' or failing.attempt_id is not null)
   and binary.software is not null
   and (:job is null or package.job_id = :job)
   and (:chosen = 0 or exists (select 1 from chosen where package_id = package.id))
 group by 1;

-- name: shares_of_inputs
-- The same by the inputs that most of the failed packages read, a few.
select file.name, count(*) as number, count(failing.attempt_id) as failed
  from (select input.file_id
          from failing
          cross join attempt on attempt.id = failing.attempt_id
          join input on input.package_id = attempt.package_id and input.own = 0
         group by input.file_id order by count(*) desc limit :limit) as some
  join file on file.id = some.file_id
  join attempt on attempt.id between (select max(attempt_id) from failing) - :window
                                 and (select max(attempt_id) from failing) + :window
  left join failing on failing.attempt_id = attempt.id
  join package on package.id = attempt.package_id
 where (attempt.outcome = 'successful' or failing.attempt_id is not null)
   and (:job is null or package.job_id = :job)
   and (:chosen = 0 or exists (select 1 from chosen where package_id = package.id))
   and exists (select 1 from input
                where input.file_id = some.file_id and input.package_id = package.id)
 group by some.file_id;
