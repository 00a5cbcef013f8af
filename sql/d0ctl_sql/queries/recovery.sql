-- name: report_failing
-- An attempt that failed, and why.
insert or ignore into failing (attempt_id, reason) values (?, ?);

-- name: failing_cases
-- The facts on which the answer to each failed attempt depends: the policies of its package, its
-- requirements, and its attempts since a person last submitted or retried it. A failure because of a
-- node is no try, unless the package fails on another for the same reason: then it is the cause.
select failing.attempt_id, attempt.node_name, node.platform, package.policy,
       job.policy as job_policy, package.wall_time, package.requirement_id, requirement.memory,
       requirement.disk, requirement.avoid, requirement.boost, requirement.failed_on, requirement.stay,
       requirement.software,
       count(case when past.number > package.tried_from and past.outcome = 'failed'
                   and past.answer is not 'restart' then 1 end) as failures,
       count(case when past.number > package.tried_from and past.outcome = 'failed'
                   and past.reason = failing.reason
                   and (past.answer is not 'restart'
                        or (past.node_id is not attempt.node_id
                            and past.reason not in ('lost', 'platform-failure')))
                  then 1 end) as tries,
       count(case when past.number > package.tried_from and past.outcome = 'refused'
                   and past.reason <> 'paused' then 1 end) as refusals,
       group_concat(case when past.number > package.tried_from and past.reason = failing.reason
                         then past.node_name end, ' ') as places,
       coalesce(sum(case when past.outcome <> 'refused'
                         then past.ended - coalesce(past.started, past.launched) end), 0) as lasted
  from failing
  join attempt on attempt.id = failing.attempt_id
  join package on package.id = attempt.package_id
  join job on job.id = package.job_id
  join requirement on requirement.id = package.requirement_id
  left join node on node.id = attempt.node_id
  left join attempt as past on past.package_id = package.id and past.outcome is not null
                           and past.id <> attempt.id
 group by failing.attempt_id;

-- name: requirement_by_id
-- The requests of some packages to a node.
select requirement.* from requirement where requirement.id = :requirement;

-- name: largest_memory
-- The memory of the largest node; null if that of one is unknown.
select case when count(*) = count(memory) then max(memory) end from node;

-- name: requirement_like
-- A requirement equal to another one except for these values; a :priority of null keeps its own.
select other.id
  from requirement
  join requirement as other
    on other.job_id = requirement.job_id and other.stage_id = requirement.stage_id
   and other.cpus = requirement.cpus and other.cpu = requirement.cpu
   and other.gpus = requirement.gpus and other.disk is requirement.disk
   and other.space is requirement.space
   and other.platform is requirement.platform and other.nodes = requirement.nodes
   and other.exclude_nodes = requirement.exclude_nodes and other.software = requirement.software
   and other.needs = requirement.needs and other.early = requirement.early
   and other.fetches = requirement.fetches
   and other.chain = requirement.chain and other.expected = requirement.expected
   and other.priority is coalesce(:priority, requirement.priority)
   and other.memory is :memory and other.avoid is :avoid and other.boost = :boost
   and other.failed_on is :failed_on and other.stay is :stay
 where requirement.id = :requirement
 limit 1;

-- name: make_requirement_like
-- Copy a requirement with these values; a :priority of null keeps its own.
insert into requirement (job_id, stage_id, cpus, cpu, memory, gpus, disk, space, platform, nodes,
                    exclude_nodes, pace, software, needs, early, fetches, priority, avoid, boost,
                    failed_on, stay, rank, seconds, expected, chain, memory_expected,
                    space_expected)
select job_id, stage_id, cpus, cpu, :memory, gpus, disk, space, platform, nodes, exclude_nodes, pace,
       software, needs, early, fetches,
       coalesce(:priority, priority), :avoid, :boost, :failed_on, :stay,
       rank, seconds, expected, chain, memory_expected, space_expected
  from requirement where id = :requirement
returning id;

-- name: stay_nowhere
-- Packages no longer wait for files on a node that is given up or removed.
update requirement set stay = null where stay = :node;

-- name: release_in_time
-- held -> ready or waiting: packages that a policy held for a time.
update package
   set phase = case when missing = 0 then 'ready' else 'waiting' end, not_before = null,
       changed = :now, actor = null, note = 'released-by-policy'
 where phase = 'held' and actor = 'policy' and not_before is not null and not_before <= :now;

-- name: releases_to_come
-- Whether a package of a job is held and will be released by the policy.
select 1 from package indexed by package_releasing
 where phase = 'held' and actor = 'policy' and not_before is not null and not_before > 0
   and job_id = :job
 limit 1;

-- name: settle_refused
-- starting -> cooloff or held: the node could not start it, and by the policy it waits.
update package
   set phase = :phase, not_before = :not_before, node_id = null, requirement_id = :requirement,
       changed = :now, actor = case when :phase = 'held' then 'policy' end, note = :note,
       request = case when exists (select 1 from attempt
                                    where attempt.package_id = package.id
                                      and attempt.outcome <> 'refused')
                      then 'resubmit failed: ' else 'submit failed: ' end || :failure
 where attempt_id = :attempt and id = (select package_id from attempt where id = :attempt)
   and node_id = :node and phase = 'starting';

-- name: policies_of_software
-- The policies of entries of the catalogue.
select title, platform, policy from software where policy <> '{}' order by platform;

-- name: policies_of_job
-- The policies of a job, and the software that its packages use.
select distinct job.policy as job_policy, requirement.software
  from job left join requirement on requirement.job_id = job.id
 where job.id = :job;

-- name: has_package_rules
-- Whether packages of a job have rules of their own.
select exists (select 1 from package where job_id = :job and policy <> '{}');

-- name: policies_of_selected
-- The policies of the selected packages, each with the number of its packages and one of them.
select job.policy as job_policy, package.policy, requirement.software, count(*) as packages,
       min(package.id) as sample
  from selected_package
  join package on package.id = selected_package.package_id
  join job on job.id = package.job_id
  join requirement on requirement.id = package.requirement_id
 group by job.policy, package.policy, requirement.software
 order by packages desc
 limit :limit;

-- name: path_of
-- The path of a package.
select package_path.path
  from package
  join package_path on package_path.package_id = package.id
 where package.id = :package;

-- name: policy_of_package
-- The policies of a package, and the platform of its node.
select job.policy as job_policy, package.policy, requirement.software, node.platform
  from package
  join job on job.id = package.job_id
  join requirement on requirement.id = package.requirement_id
  left join node on node.id = package.node_id
 where package.id = :package;

-- name: recorded_failures
-- Failed attempts that ended since a time, with the facts on which the answer to each depended:
-- the attempts before it, and whether there is another node on which its package had not failed so.
-- Of the attempts before the last submit or retry by a person only the time counts after it.
with failure as (
    select attempt.*, package.policy, package.wall_time, package.requirement_id, package.job_id,
           iif(attempt.number > package.tried_from, package.tried_from, 0) as tried_from
      from attempt indexed by attempt_failed
      join package on package.id = attempt.package_id
     where attempt.outcome in ('failed', 'lost') and attempt.ended >= :since
       and attempt.reason is not null)
select failure.id, failure.reason, failure.answer, failure.outcome, failure.rss, failure.memory,
       max(0, failure.ended - coalesce(failure.started, failure.wrapper_started) - failure.suspended)
           as lasted,
       (select max(coalesce(disk, 0)) from binary_attempt where attempt_id = failure.id) as disk,
       failure.policy, job.policy as job_policy, failure.wall_time, requirement.disk as most_disk,
       requirement.software, node.platform,
       (failure.reason = 'software-missing' and requirement.software <> '[]')
           or exists (select 1 from node as other
                       where other.name <> failure.node_name
                         and not exists (select 1 from attempt as before
                                          where before.package_id = failure.package_id
                                            and before.number < failure.number
                                            and before.number > failure.tried_from
                                            and before.reason = failure.reason
                                            and before.node_name = other.name)) as has_others,
       count(case when past.number > failure.tried_from and past.outcome = 'failed'
                   and past.answer is not 'restart' then 1 end) as failures,
       count(case when past.number > failure.tried_from and past.outcome = 'failed'
                   and past.reason = failure.reason
                   and (past.answer is not 'restart'
                        or (past.node_id is not failure.node_id
                            and past.reason not in ('lost', 'platform-failure')))
                  then 1 end) as tries,
       count(case when past.number > failure.tried_from and past.answer = 'restart'
                   and past.reason in ('lost', 'platform-failure') then 1 end) as restarts,
       coalesce(sum(past.ended - coalesce(past.started, past.launched)), 0) as all_lasted
  from failure
  join job on job.id = failure.job_id
  join requirement on requirement.id = failure.requirement_id
  left join node on node.id = failure.node_id
  left join attempt as past on past.package_id = failure.package_id and past.number < failure.number
                           and past.outcome is not null and past.outcome <> 'refused'
 group by failure.id;
