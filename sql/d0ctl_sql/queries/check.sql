-- name: check_integrity
-- What SQLite itself finds wrong with the file.
pragma quick_check;

-- name: check_foreign_keys
-- Rows that point nowhere.
pragma foreign_key_check;

-- name: check_counts
-- Stages whose counts differ from their packages.
select stage.id, stage_count.phase, stage_count.n,
       (select count(*) from package
         where package.stage_id = stage.id and package.phase = stage_count.phase
           and package.job_id = stage.job_id) as really
  from stage join stage_count on stage_count.stage_id = stage.id
  left join (select stage_id, phase, count(*) as n from package group by stage_id, phase) as told
    on told.stage_id = stage.id and told.phase = stage_count.phase
 where stage_count.n <> coalesce(told.n, 0);

-- name: check_ready
-- Demands whose number of ready packages is wrong.
select demand.id, demand.ready, coalesce(told.n, 0) as really
  from demand
  left join (select demand_id, count(*) as n from package where phase = 'ready'
              group by demand_id) as told on told.demand_id = demand.id
 where demand.ready <> coalesce(told.n, 0);

-- name: check_missing
-- Packages that wait for another number of things than is missing.
select package.id, package.missing,
       (select count(*) from input join file on file.id = input.file_id
         where input.package_id = package.id and input.own = 0 and input.dropped = 0
           and file.present = 0)
       + coalesce((select before.phase not in ('transferring', 'done')
                     from package as before
                    where before.line_id = package.line_id
                      and before.seq = package.seq - 1), 0) as really
  from package join job on job.id = package.job_id and job.visible = 1
 where package.missing <>
       (select count(*) from input join file on file.id = input.file_id
         where input.package_id = package.id and input.own = 0 and input.dropped = 0
           and file.present = 0)
       + coalesce((select before.phase not in ('transferring', 'done')
                     from package as before
                    where before.line_id = package.line_id
                      and before.seq = package.seq - 1), 0);

-- name: check_attempts
-- Packages with more than one live attempt, or a launched one without a live attempt.
select package.id, package.phase, count(attempt.id) as live
  from package left join attempt on attempt.package_id = package.id and attempt.outcome is null
 group by package.id
having count(attempt.id) > 1
    or (package.phase in ('starting', 'staging-in', 'running', 'suspended', 'killing',
                          'unreachable') and count(attempt.id) <> 1)
    or (package.phase not in ('starting', 'staging-in', 'running', 'suspended', 'killing',
                              'unreachable') and count(attempt.id) <> 0);

-- name: check_copies
-- Files that are present without a copy, or absent with one.
select file.id, file.name, file.present
  from file join job on job.id = file.job_id and job.visible = 1
 where file.package_id is not null
   and file.present <> exists (select 1 from location where location.file_id = file.id);

-- name: check_released
-- Packages that miss nothing and still wait.
select id from package where phase = 'waiting' and missing = 0;

-- name: check_transferring
-- Packages that transfer results, of which none is under way.
select package.id from package
 where package.phase = 'transferring'
   and not exists (select 1 from file join transfer on transfer.file_id = file.id
                    where file.package_id = package.id and transfer.result = 1);
