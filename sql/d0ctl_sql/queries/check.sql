-- name: check_integrity
-- What SQLite itself finds wrong with the file.
select 'the database file' as subject, quick_check as detail
  from pragma_quick_check where quick_check <> 'ok' limit 20;

-- name: check_foreign_keys
-- Rows that point at nothing.
select 'table ' || "table" as subject, 'row ' || rowid || ' points at a missing ' || parent as detail
  from pragma_foreign_key_check limit 20;

-- name: check_counts
-- Stages whose counts differ from their packages.
select job.name || '/' || stage.seq as subject,
       stage_count.n || ' counted as ' || stage_count.phase || ', really ' || coalesce(told.n, 0)
           as detail
  from stage
  join job on job.id = stage.job_id and job.visible = 1
  join stage_count on stage_count.stage_id = stage.id
  left join (select stage_id, phase, count(*) as n from package group by stage_id, phase) as told
    on told.stage_id = stage.id and told.phase = stage_count.phase
 where stage_count.n <> coalesce(told.n, 0)
 limit 20;

-- name: check_ready
-- Jobs whose number of ready packages is wrong for the scheduler.
select job.name as subject,
       demand.ready || ' told to the scheduler as ready, really ' || coalesce(told.n, 0) as detail
  from demand
  join job on job.id = demand.job_id and job.visible = 1
  left join (select demand_id, count(*) as n from package where phase = 'ready'
              group by demand_id) as told on told.demand_id = demand.id
 where demand.ready <> coalesce(told.n, 0)
 limit 20;

-- name: check_missing
-- Packages that wait for another number of things than is missing.
select job.name || '/' || stage.seq || '/' || line.seq || '/' || counted.seq as subject,
       'waits for ' || counted.missing || ' things, really ' || counted.really as detail
  from (select package.line_id, package.seq, package.missing,
               case when package.early > 0 then package.awaited > 0 and package.gathered = 0
                    else (select count(*) from input join file on file.id = input.file_id
                           where input.package_id = package.id and input.own = 0
                             and input.dropped = 0 and file.present = 0) end
               + coalesce((select before.phase not in ('transferring', 'done')
                             from package as before
                            where before.line_id = package.line_id
                              and before.seq = package.seq - 1), 0) as really
          from package) as counted
  join line on line.id = counted.line_id
  join stage on stage.id = line.stage_id
  join job on job.id = stage.job_id and job.visible = 1
 where counted.missing <> counted.really
 limit 20;

-- name: check_early
-- Packages that start at their first input, and count their inputs wrong.
select job.name || '/' || stage.seq || '/' || line.seq || '/' || counted.seq as subject,
       'has ' || counted.gathered || ' inputs and awaits ' || counted.awaited || ', really '
           || counted.there || ' and ' || counted.absent as detail
  from (select package.line_id, package.seq, package.gathered, package.awaited,
               coalesce(sum(file.present = 0), 0) as absent,
               coalesce(sum(file.present = 1 and file.late = 0
                            and file.package_id is not null), 0) as there
          from package
          left join input on input.package_id = package.id and input.own = 0
                         and input.dropped = 0
          left join file on file.id = input.file_id
         where package.early > 0
         group by package.id) as counted
  join line on line.id = counted.line_id
  join stage on stage.id = line.stage_id
  join job on job.id = stage.job_id and job.visible = 1
 where counted.gathered <> counted.there or counted.awaited <> counted.absent
 limit 20;

-- name: check_feed
-- Inputs to be told to packages that do not run, or that wait for a copy that nobody makes.
select coalesce(job.name || ':' || file.name, 'the end of a list') as subject,
       case when package.early = 0
              or package.phase not in ('starting', 'staging-in', 'running', 'suspended',
                                       'unreachable', 'killing')
            then 'is to be told to a package that does not run'
            else 'is to be told to a package, and no copy is on its way' end as detail
  from feed
  join package on package.id = feed.package_id
  left join file on file.id = feed.file_id
  left join job on job.id = file.job_id
 where package.early = 0
    or package.phase not in ('starting', 'staging-in', 'running', 'suspended', 'unreachable',
                             'killing')
    or (feed.state = 1 and file.present = 1 and not exists
           (select 1 from transfer join node on node.cluster_id = transfer.cluster_id
             where transfer.file_id = feed.file_id and transfer.result = 0
               and node.id = feed.node_id))
 limit 20;

-- name: check_attempts
-- Packages with more than one live attempt, or launched without one, or ended with one.
select job.name || '/' || stage.seq || '/' || line.seq || '/' || counted.seq as subject,
       'is ' || counted.phase || ' with ' || counted.live || ' live attempts' as detail
  from (select package.line_id, package.seq, package.phase, count(attempt.id) as live
          from package
          left join attempt on attempt.package_id = package.id and attempt.outcome is null
         group by package.id
        having count(attempt.id) <> (package.phase in ('starting', 'staging-in', 'running',
                                                       'suspended', 'killing', 'unreachable'))
       ) as counted
  join line on line.id = counted.line_id
  join stage on stage.id = line.stage_id
  join job on job.id = stage.job_id
 limit 20;

-- name: check_copies
-- Files that are present without a copy, or absent with one.
select job.name || ':' || file.name as subject,
       case when file.present = 1 then 'is present, but there is no copy of it'
            else 'is not present, but there is a copy of it' end as detail
  from file join job on job.id = file.job_id and job.visible = 1
 where file.package_id is not null and file.late = 0
   and file.present <> exists (select 1 from location where location.file_id = file.id)
 limit 20;

-- name: check_released
-- Packages that miss nothing and still wait.
select job.name || '/' || stage.seq || '/' || line.seq || '/' || package.seq as subject,
       'waits, and nothing is missing' as detail
  from package
  join line on line.id = package.line_id
  join stage on stage.id = line.stage_id
  join job on job.id = stage.job_id and job.visible = 1
 where package.phase = 'waiting' and package.missing = 0
 limit 20;

-- name: check_transferring
-- Packages that transfer results, of which none is under way.
select job.name || '/' || stage.seq || '/' || line.seq || '/' || package.seq as subject,
       'transfers results, of which none is under way' as detail
  from job
  join package on package.job_id = job.id and package.phase = 'transferring'
  join line on line.id = package.line_id
  join stage on stage.id = line.stage_id
 where not exists (select 1 from file join transfer on transfer.file_id = file.id
                    where file.package_id = package.id and transfer.result = 1)
 limit 20;

-- name: check_progress
-- Packages of which progress is told though they are not launched.
select job.name || '/' || stage.seq || '/' || line.seq || '/' || package.seq as subject,
       'has progress, and is ' || package.phase as detail
  from progress
  join package on package.id = progress.package_id
  join line on line.id = package.line_id
  join stage on stage.id = line.stage_id
  join job on job.id = stage.job_id
 where package.attempt_id <> progress.attempt_id
    or package.phase not in ('starting', 'staging-in', 'running', 'suspended', 'killing',
                             'unreachable')
 limit 20;

-- name: check_hidden
-- Jobs that are half in or half out.
select job.name as subject, 'is not wholly in or out; the next start removes it' as detail
  from job where visible = 0 limit 20;

-- name: check_bad_nodes
-- Nodes that d0ctl has drained, and that take packages all the same.
select 'node ' || node.name as subject, 'drained by d0ctl, and not drained' as detail
  from bad_node join node on node.id = bad_node.node_id and node.drained = 0
 limit 20;

-- name: check_conduct
-- Nodes of which more failures in a row are counted than failures.
select 'node ' || node.name as subject,
       conduct.streak || ' failures of stage ' || conduct.stage_id || ' in a row, of '
           || conduct.failed as detail
  from conduct join node on node.id = conduct.node_id
 where conduct.streak > conduct.failed
 limit 20;
