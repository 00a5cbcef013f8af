-- name: report_all
-- Collect every attempt that failed.
insert into failing (attempt_id, reason)
select id, coalesce(reason, 'unknown') from attempt indexed by attempt_failed
 where outcome in ('failed', 'lost');

-- name: report_job
-- Collect the attempts of a job that failed.
insert into failing (attempt_id, reason)
select attempt.id, coalesce(attempt.reason, 'unknown')
  from attempt indexed by attempt_failed
  cross join package on package.id = attempt.package_id and package.job_id = :job
 where attempt.outcome in ('failed', 'lost');

-- name: report_selected
-- Collect the attempts of the selected packages that failed.
insert into failing (attempt_id, reason)
select attempt.id, coalesce(attempt.reason, 'unknown')
  from selected_package join attempt on attempt.package_id = selected_package.package_id
 where attempt.outcome in ('failed', 'lost');

-- name: leave_other_reasons
-- Remove failures for other reasons from the collected ones.
delete from failing where reason <> :reason;

-- name: leave_other_nodes
-- Remove failures on other nodes from the collected ones.
delete from failing
 where (select node_name from attempt where attempt.id = failing.attempt_id) <> :node;

-- name: leave_older_failures
-- Remove failures of attempts that ended before a time from the collected ones.
delete from failing
 where coalesce((select ended from attempt where attempt.id = failing.attempt_id), 0) < :since;

-- name: failures_in_all
-- How many failures are included, of how many packages, and the CPU seconds that they took; if an
-- attempt did not report them, its run time. Of how many d0ctl has tried the package again, unless a
-- person made it ready before, such as one that cooled off.
select count(*) as count, count(distinct attempt.package_id) as packages,
       coalesce(sum(coalesce(attempt.cpu, run_end.ended - attempt.started)), 0) as wasted,
       count(distinct case when package.phase = 'failed' then package.id end) as failed,
       count(distinct case when package.phase = 'cooloff' and package.attempt_id = attempt.id
                           then package.id end) as cooling,
       count(case when attempt.answer in ('resubmit', 'restart')
                   and attempt.number < package.attempts
                   and not exists (select 1 from event
                                    where event.package_id = package.id
                                      and event.attempt_id = attempt.id
                                      and event.old not in ('waiting', 'ready', 'assigned')
                                      and event.new in ('waiting', 'ready')
                                      and event.actor is not null and event.actor <> 'd0ctl')
                  then 1 end) as again,
       count(distinct acknowledgement.package_id) as acknowledged
  from failing
  cross join attempt on attempt.id = failing.attempt_id
  join run_end on run_end.attempt_id = attempt.id
  join package on package.id = attempt.package_id
  left join acknowledgement on acknowledgement.package_id = package.id
                           and package.attempt_id = attempt.id;

-- name: failures_by_reason
-- The collected failures by reason, with the latest of each that is not
-- solved, if any.
select failing.reason as name, count(*) as count, count(distinct attempt.package_id) as packages,
       coalesce(sum(coalesce(attempt.cpu, run_end.ended - attempt.started)), 0) as wasted,
       max(attempt.ended) as last,
       max(printf('%d %020.6f %d', package.phase = 'failed', attempt.ended, attempt.id)) as sample,
       count(distinct likeness(attempt.message)) as messages,
       count(distinct acknowledgement.package_id) as acknowledged
  from failing
  cross join attempt on attempt.id = failing.attempt_id
  join run_end on run_end.attempt_id = attempt.id
  join package on package.id = attempt.package_id
  left join acknowledgement on acknowledgement.package_id = package.id
                           and package.attempt_id = attempt.id
 group by failing.reason order by count desc, name limit :limit;

-- name: failures_by_node
-- The collected failures by node, with the latest of each that is not
-- solved, if any.
select attempt.node_name as name, count(*) as count,
       count(distinct attempt.package_id) as packages,
       coalesce(sum(coalesce(attempt.cpu, run_end.ended - attempt.started)), 0) as wasted,
       max(attempt.ended) as last,
       max(printf('%d %020.6f %d', package.phase = 'failed', attempt.ended, attempt.id)) as sample,
       count(distinct likeness(attempt.message)) as messages,
       count(distinct acknowledgement.package_id) as acknowledged
  from failing
  cross join attempt on attempt.id = failing.attempt_id
  join run_end on run_end.attempt_id = attempt.id
  join package on package.id = attempt.package_id
  left join acknowledgement on acknowledgement.package_id = package.id
                           and package.attempt_id = attempt.id
 group by attempt.node_name order by count desc, name limit :limit;

-- name: failures_by_software
-- The included failures by the software of the binary that failed; those of binaries without
-- software together.
select coalesce(iif(attempt.recipe is null, binary.software,
                    (select former.value ->> 'software' from json_each(attempt.recipe) as former
                      where former.value ->> 'seq' = binary.seq)), '(no software)') as name, count(*) as count,
       count(distinct attempt.package_id) as packages,
       coalesce(sum(coalesce(attempt.cpu, run_end.ended - attempt.started)), 0) as wasted,
       max(attempt.ended) as last,
       max(printf('%d %020.6f %d', package.phase = 'failed', attempt.ended, attempt.id)) as sample,
       count(distinct likeness(attempt.message)) as messages,
       count(distinct acknowledgement.package_id) as acknowledged
  from failing
  cross join attempt on attempt.id = failing.attempt_id
  join run_end on run_end.attempt_id = attempt.id
  join package on package.id = attempt.package_id
  left join acknowledgement on acknowledgement.package_id = package.id
                           and package.attempt_id = attempt.id
  join binary on binary.package_id = attempt.package_id and binary.seq = coalesce(attempt.binary, 1)
 group by 1 order by count desc, name limit :limit;

-- name: failures_by_input
-- The collected failures by the files that the packages read, those first that failed packages read
-- more often than comparable ones; only these, if those are wanted that set failures apart. A file
-- from outside is one of several jobs.
select file.name, count(*) as count, count(distinct attempt.package_id) as packages,
       coalesce(sum(coalesce(attempt.cpu, run_end.ended - attempt.started)), 0) as wasted,
       max(attempt.ended) as last,
       max(printf('%d %020.6f %d', package.phase = 'failed', attempt.ended, attempt.id)) as sample,
       count(distinct likeness(attempt.message)) as messages,
       count(distinct acknowledgement.package_id) as acknowledged
  from failing
  cross join attempt on attempt.id = failing.attempt_id
  join run_end on run_end.attempt_id = attempt.id
  join package on package.id = attempt.package_id
  left join acknowledgement on acknowledgement.package_id = package.id
                           and package.attempt_id = attempt.id
  join input on input.package_id = attempt.package_id and input.own = 0
            and input.binary = coalesce(attempt.binary, input.binary)
  join file on file.id = input.file_id
  left join suspect on suspect.file_id = file.id
 group by iif(file.package_id is null, file.name, file.id)
having :apart = 0 or max(suspect.excess) > 0
 order by coalesce(max(suspect.excess), 0) desc, count desc, file.name limit :limit;

-- name: collect_failing_stages
-- Collect the stages of the collected failures, with the numbers of their packages that failed and
-- that are done.
insert into failing_stage (stage_id, packages, done)
select package.stage_id, count(distinct package.id), stage_count.n
  from failing
  cross join attempt on attempt.id = failing.attempt_id
  join package on package.id = attempt.package_id
  join stage_count on stage_count.stage_id = package.stage_id and stage_count.phase = 'done'
 group by package.stage_id;

-- name: near_failures
-- The ids between which some attempts before and after the last of the failures are, none without a
-- failure; a restore leaves a large gap in the ids.
with last_failure (id) as (select max(attempt_id) from failing)
select coalesce((select attempt.id from attempt
                  where attempt.id <= last_failure.id
                  order by attempt.id desc limit 1 offset :most), 0) as first,
       iif(last_failure.id is null, -1,
           coalesce((select attempt.id from attempt
                      where attempt.id >= last_failure.id
                      order by attempt.id limit 1 offset :most), 9223372036854775807)) as last
  from last_failure;

-- name: compare_with_finished
-- Collect some packages of these stages that succeeded around the last of the failures.
insert or ignore into compared (package_id, stage_id)
select package_id, stage_id
  from (select package.id as package_id, package.stage_id,
               row_number() over (partition by package.stage_id order by attempt.id desc) as position
          from attempt
          join package on package.id = attempt.package_id
          join failing_stage on failing_stage.stage_id = package.stage_id
         where attempt.id between :first and :last
           and attempt.outcome = 'successful')
 where position <= :limit;

-- name: suspect_inputs
-- Collect inputs that more failed packages read than would by chance: of the readers that ended, the
-- same fraction would have failed as of the stage. The done readers of an input are counted if it has
-- at most :most; if it has more, the packages to compare tell how many there are.
insert into suspect (file_id, packages, excess)
select file_id, sum(packages), sum(packages - ended * rate) as excess
  from (select some.file_id, some.packages, 1.0 * stage.packages / (stage.packages + stage.done) as rate,
               some.packages
               + iif((select count(*) from (select 1 from input
                                             where input.file_id = some.file_id limit :most)) < :most,
                     (select count(*)
                        from (select distinct package_id from input
                               where input.file_id = some.file_id limit :most) as reader
                        cross join package on package.id = reader.package_id
                                          and package.stage_id = some.stage_id
                                          and package.phase = 'done'),
                     stage.done
                     * coalesce((select avg(exists (select 1 from input
                                                     where input.file_id = some.file_id
                                                       and input.package_id = compared.package_id))
                                   from compared where compared.stage_id = some.stage_id), 1)) as ended
          from (select input.file_id, package.stage_id, count(distinct package.id) as packages
                  from failing
                  cross join attempt on attempt.id = failing.attempt_id
                  join package on package.id = attempt.package_id
                  join input on input.package_id = package.id and input.own = 0
                 group by input.file_id, package.stage_id
                having packages > 1
                 order by packages desc limit :limit) as some
          join failing_stage as stage on stage.stage_id = some.stage_id)
 group by file_id
having excess >= :least and excess * excess >= sum(ended * rate * (1 - rate));

-- name: failure_sample
-- One failure, as an example of others; `attempt` ends with its id, after what is compared.
select package_path.path,
       attempt.number, attempt.reason, attempt.message, attempt.node_name,
       acknowledgement.actor, acknowledgement.at, acknowledgement.note
  from attempt
  join package on package.id = attempt.package_id
  join package_path on package_path.package_id = package.id
  left join acknowledgement on acknowledgement.package_id = package.id
                           and package.attempt_id = attempt.id
 where attempt.id = substr(:attempt, 24);

-- name: shares_of_nodes
-- How many attempts around the included failures ended on each node, and how many of them are among
-- these failures; of a job, of the selected packages, or of all. `apart` counts failures of packages
-- that requested too little, which say nothing about the node.
select attempt.node_name as name, count(*) as number, count(failing.attempt_id) as failed,
       count(iif(attempt.reason in ('out-of-memory', 'wall-time'), failing.attempt_id, null)) as apart
  from attempt
  left join failing on failing.attempt_id = attempt.id
  join package on package.id = attempt.package_id
 where attempt.id between :first and :last
   and (attempt.outcome = 'successful' or failing.attempt_id is not null)
   and (:job is null or package.job_id = :job)
   and (:selected = 0 or exists (select 1 from selected_package where package_id = package.id))
 group by attempt.node_name;

-- name: shares_of_software
-- The same by the software that ran to its end, or that failed; plain runs are none.
select name, count(*) as number, sum(is_failing) as failed
  from (select iif(attempt.recipe is null, binary.software,
                   (select former.value ->> 'software' from json_each(attempt.recipe) as former
                     where former.value ->> 'seq' = binary.seq)) as name,
               failing.attempt_id is not null as is_failing
          from attempt
          left join failing on failing.attempt_id = attempt.id
          join package on package.id = attempt.package_id
          join binary on binary.package_id = package.id
                     and (attempt.outcome = 'successful' or binary.seq = coalesce(attempt.binary, 1))
         where attempt.id between :first and :last
           and (attempt.outcome = 'successful' or failing.attempt_id is not null)
           and (:job is null or package.job_id = :job)
           and (:selected = 0
                or exists (select 1 from selected_package where package_id = package.id)))
 where name is not null
 group by name;

-- name: shares_of_inputs
-- The same by a few inputs that failed packages read more often than others, with a job in which they
-- failed. A file from outside is one of several jobs.
select file.name, count(*) as number, count(failing.attempt_id) as failed,
       max(iif(failing.attempt_id is null, null, job.name)) as job
  from (select min(suspect.file_id) as file_id
          from suspect
          join file on file.id = suspect.file_id
         group by iif(file.package_id is null, file.name, file.id)
         order by max(suspect.excess) desc limit :limit) as some
  join file on file.id = some.file_id
  join attempt on attempt.id between :first and :last
  left join failing on failing.attempt_id = attempt.id
  join package on package.id = attempt.package_id
  join job on job.id = package.job_id
 where (attempt.outcome = 'successful' or failing.attempt_id is not null)
   and (:job is null or package.job_id = :job)
   and (:selected = 0 or exists (select 1 from selected_package where package_id = package.id))
   and exists (select 1 from input
                where input.package_id = package.id
                  and input.file_id = iif(file.package_id is null,
                                          (select same.id from file as same
                                            where same.job_id = package.job_id
                                              and same.name = file.name and same.package_id is null),
                                          file.id))
 group by some.file_id;

-- name: use_of_all
-- Collect every attempt that ended since a time, with its CPUs, and how long its package was ready
-- before it started.
insert into attempt_use (attempt_id, package_id, stage_id, cpus, waited)
select attempt.id, package.id, package.stage_id, coalesce(attempt.cpus, requirement.cpus),
       max(0, attempt.started - coalesce(
           (select max(event.at) from event
             where event.package_id = package.id and event.new = 'ready'
               and event.at <= attempt.launched), package.added, job.submitted))
  from job
  cross join package on package.job_id = job.id
  join requirement on requirement.id = package.requirement_id
  join attempt on attempt.package_id = package.id
 where job.visible = 1 and (job.ended is null or job.ended >= :since)
   and attempt.ended >= :since and attempt.outcome <> 'refused';

-- name: use_of_selected
-- Collect the attempts of the selected packages that ended since a time, likewise.
insert into attempt_use (attempt_id, package_id, stage_id, cpus, waited)
select attempt.id, package.id, package.stage_id, coalesce(attempt.cpus, requirement.cpus),
       max(0, attempt.started - coalesce(
           (select max(event.at) from event
             where event.package_id = package.id and event.new = 'ready'
               and event.at <= attempt.launched), package.added, job.submitted))
  from selected_package
  cross join package on package.id = selected_package.package_id
  join job on job.id = package.job_id
  join requirement on requirement.id = package.requirement_id
  join attempt on attempt.package_id = package.id
 where attempt.ended >= :since and attempt.outcome <> 'refused';

-- name: use_by_stage_and_node
-- The included attempts of each stage on each node, with :packages those of each package of a line:
-- how they ended, CPU seconds, CPUs times run time, of all and where the CPU time is known, the CPU
-- time of failures, the run times of successes, and how long packages waited.
select job.name as job, job.originator as researcher, stage.seq as stage, stage.name as stage_name,
       iif(:packages, (select iif(name = cast(seq as text), name, format('%d %s', seq, name))
                         from package where id = attempt_use.package_id), null) as package,
       attempt.node_name as node, count(*) as attempts,
       sum(attempt.outcome = 'successful') as successful,
       sum(attempt.outcome in ('failed', 'lost')) as failed,
       coalesce(sum(attempt.cpu), 0) as cpu_s,
       coalesce(sum(attempt_use.cpus * max(0, run_end.ended - attempt.started)), 0) as reserved_s,
       coalesce(sum(iif(attempt.cpu is null, 0, attempt_use.cpus
                        * max(0, run_end.ended - attempt.started))), 0) as core_s,
       coalesce(sum(iif(attempt.outcome in ('failed', 'lost'),
                        coalesce(attempt.cpu, run_end.ended - attempt.started), 0)), 0) as wasted_s,
       coalesce(sum(max(0, run_end.ended - attempt.started))
                filter (where attempt.outcome = 'successful'), 0) as ran_s,
       min(max(0, run_end.ended - attempt.started))
           filter (where attempt.outcome = 'successful') as shortest_run_s,
       max(max(0, run_end.ended - attempt.started))
           filter (where attempt.outcome = 'successful') as longest_run_s,
       coalesce(sum(attempt_use.waited), 0) as waited_s, count(attempt_use.waited) as waits,
       max(attempt_use.waited) as longest_s,
       min(coalesce(attempt.started, attempt.launched)) as first, max(run_end.ended) as last
  from attempt_use
  cross join attempt on attempt.id = attempt_use.attempt_id
  join run_end on run_end.attempt_id = attempt.id
  join stage on stage.id = attempt_use.stage_id
  join job on job.id = stage.job_id
 group by attempt_use.stage_id, package, attempt.node_name
 order by job.id, stage.seq, package, attempt.node_name;

-- name: use_by_software
-- The binaries that the included attempts ran, by software; those without software together. In a
-- failed attempt, the CPU time of all its binaries is wasted.
select coalesce(iif(attempt.recipe is null, binary.software,
                    (select former.value ->> 'software' from json_each(attempt.recipe) as former
                      where former.value ->> 'seq' = binary.seq)), '(no software)') as name, count(*) as attempts,
       sum(attempt.outcome = 'successful' or ran.seq < coalesce(attempt.binary, 0)) as successful,
       sum(attempt.outcome in ('failed', 'lost') and ran.seq = attempt.binary) as failed,
       coalesce(sum(ran.cpu), 0) as cpu_s,
       coalesce(sum(attempt_use.cpus * max(0, ran.ended - ran.started)), 0) as reserved_s,
       coalesce(sum(iif(ran.cpu is null, 0, attempt_use.cpus * max(0, ran.ended - ran.started))), 0)
           as core_s,
       coalesce(sum(iif(attempt.outcome in ('failed', 'lost'),
                        coalesce(ran.cpu, ran.ended - ran.started), 0)), 0) as wasted_s,
       coalesce(sum(max(0, ran.ended - ran.started)) filter (
           where attempt.outcome = 'successful' or ran.seq < coalesce(attempt.binary, 0)), 0) as ran_s,
       min(max(0, ran.ended - ran.started)) filter (
           where attempt.outcome = 'successful' or ran.seq < coalesce(attempt.binary, 0)) as shortest_run_s,
       max(max(0, ran.ended - ran.started)) filter (
           where attempt.outcome = 'successful' or ran.seq < coalesce(attempt.binary, 0)) as longest_run_s,
       0 as waited_s, 0 as waits, null as longest_s,
       min(coalesce(attempt.started, attempt.launched)) as first, max(run_end.ended) as last
  from attempt_use
  cross join attempt on attempt.id = attempt_use.attempt_id
  join run_end on run_end.attempt_id = attempt.id
  join binary_attempt as ran on ran.attempt_id = attempt.id
  join binary on binary.package_id = attempt_use.package_id and binary.seq = ran.seq
 group by 1 order by 1;

-- name: use_failures
-- The included attempts that failed or were lost, by reason.
select coalesce(attempt.reason, 'unknown') as reason, count(*) as count
  from attempt_use cross join attempt on attempt.id = attempt_use.attempt_id
 where attempt.outcome in ('failed', 'lost')
 group by 1 order by count desc, reason;

-- name: use_times
-- When the included attempts ran on their nodes, by beginning; those that never ran are at their end.
select attempt.node_name as node, coalesce(attempt.started, run_end.ended) as began,
       run_end.ended, attempt_use.cpus, attempt.outcome, attempt.reason, package_path.path
  from attempt_use
  cross join attempt on attempt.id = attempt_use.attempt_id
  join run_end on run_end.attempt_id = attempt.id
  join package_path on package_path.package_id = attempt_use.package_id
 order by 2;
