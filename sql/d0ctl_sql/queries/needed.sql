-- name: some_needs
-- Whether a job reads files that other jobs make.
select 1 from need where job_id = :job limit 1;

-- name: find_needed
-- The packages of other jobs that a job depends on: the makers of files that its packages wait for,
-- the makers of their inputs in turn, and the packages before them in their lines.
insert into needed (package_id)
with recursive
    waiting (id) as (
        select id from package indexed by package_in_phase
         where job_id = :job and phase = 'waiting'
         union
        select id from package indexed by package_awaiting
         where job_id = :job and early > 0 and awaited > 0
           and phase not in (select name from phase where is_final = 1)
    ),
    found (id) as (
        select file.package_id
          from waiting
          join input on input.package_id = waiting.id and input.own = 0 and input.dropped = 0
          join file on file.id = input.file_id and file.present = 0 and file.dropped = 0
                   and file.job_id <> :job and file.package_id is not null
         union
        select file.package_id
          from found
          join package on package.id = found.id and package.phase = 'waiting'
          join input on input.package_id = package.id and input.own = 0 and input.dropped = 0
          join file on file.id = input.file_id and file.present = 0 and file.dropped = 0
                   and file.package_id is not null
         union
        select before.id
          from found
          join package on package.id = found.id and package.phase = 'waiting'
          join package as before on before.line_id = package.line_id
                                and before.seq = package.seq - 1
                                and before.phase <> 'done' and before.phase <> 'transferring'
    )
select found.id from found join package on package.id = found.id and package.job_id <> :job;

-- name: needed_requirements
-- The requests of needed packages that are ready, like `ready_requirements`.
select sum(package.away is null) as ready, requirement.*
  from needed
  join package on package.id = needed.package_id and package.phase = 'ready'
  join requirement on requirement.id = package.requirement_id
  join job on job.id = package.job_id
          and job.visible = 1 and job.hold = 0 and job.pause = 0 and job.finish is null
 group by requirement.id
 order by coalesce(requirement.priority, job.priority) + requirement.boost desc, job.id,
          requirement.rank desc, requirement.id;

-- name: needed_packages
-- The oldest ready and needed packages of a requirement, except those that take no slot yet, or wait for
-- nodes that are down.
select package.id
  from needed join package on package.id = needed.package_id
 where package.phase = 'ready' and package.requirement_id = :requirement
   and package.away is null and (package.early = 0 or package.awaited = 0)
 order by package.id limit :limit;

-- name: needed_open_packages
-- The oldest needed packages of a requirement that start while they wait for inputs.
select package.id
  from needed join package on package.id = needed.package_id
 where package.phase = 'ready' and package.requirement_id = :requirement
   and package.early = 1 and package.awaited > 0
 order by package.id limit :limit;

-- name: needed_phases
-- How many of the needed packages are in each phase, by job, whether that blocks them, and whether
-- a policy will release the held ones.
select job.name as job, job.hold or job.pause as is_held, package.phase, count(*) as n,
       max(package.actor is 'policy' and package.not_before is not null) as releases
  from needed
  join package on package.id = needed.package_id
  join job on job.id = package.job_id
 group by job.id, package.phase;
