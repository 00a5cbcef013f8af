-- name: lenient_jobs
-- Jobs with a stage that accepts a part of its inputs, with the smallest fraction that one of their
-- stages requires: those that may still move, and those that had ended before a change of successes,
-- readers or `require`.
select job.id, job.name, min(stage.require) as least
  from stage indexed by stage_lenient
  join job on job.id = stage.job_id
 where stage.require < 1 and job.visible = 1
   and (job.ended is null
        or exists (select 1 from stage as changed
                    where changed.job_id = job.id and changed.weighed is null))
 group by job.id;

-- name: lenient_jobs_of_selected
-- The jobs of the selected packages with a stage that accepts a part of its inputs, with the smallest
-- fraction that one of their stages requires.
select job.id, job.name, min(stage.require) as least
  from job
  join stage indexed by stage_lenient on stage.job_id = job.id and stage.require < 1
 where job.id in (select package.job_id
                    from selected_package join package on package.id = selected_package.package_id)
 group by job.id;

-- name: selected_by_stage
-- How many of the selected packages of a job a drop would drop at once, by stage and phase.
select package.stage_id, package.phase, count(*) as n
  from selected_package
  join package on package.id = selected_package.package_id and package.job_id = :job
 where package.phase in (select name from phase where may_start = 1) or package.phase = 'unreachable'
 group by package.stage_id, package.phase;

-- name: weighable_stages
-- The stages of a job, and whether their successes were compared with `require` since they stopped.
select id, seq, name, weighed from stage where job_id = :job order by seq;

-- name: weigh_stage
-- Record that the successes of a stopped stage were compared with `require`.
update stage set weighed = :now where id = :stage;

-- name: forget_weight
-- A stage moves again.
update stage set weighed = null where id = :stage and weighed is not null;

-- name: weigh_again
-- Packages were dropped or restored: compare the successes of the stages of their jobs again.
update stage set weighed = null
 where weighed is not null
   and job_id in (select package.job_id
                    from selected_package join package on package.id = selected_package.package_id);

-- name: weigh_readers
-- A job goes on: compare the successes of the stages of jobs that read its files again.
update stage set weighed = null
 where weighed is not null and job_id in (select job_id from need where maker_id = :job);

-- name: stage_waits_for_outside
-- Whether a waiting package of a stage waits for a file of another job that may still come.
select 1
  from package indexed by package_in_phase
  join input on input.package_id = package.id and input.own = 0 and input.dropped = 0
  join file on file.id = input.file_id
 where package.job_id = :job and package.phase = 'waiting' and package.stage_id = :stage
   and file.job_id <> :job and file.present = 0 and file.dropped = 0
   and (select ended from job where job.id = file.job_id) is null
 limit 1;

-- name: choose_unsuccessful
-- Choose the lines of a stage that have not fully succeeded, without those that were restored and
-- have not been retried since, and those that wait, recursively, for their files.
insert or ignore into selected_package (package_id)
with recursive spared (line_id) as (
    select restored.line_id
      from package as restored indexed by package_in_phase
     where restored.phase in ('failed', 'canceled')
       and restored.job_id in (select :job union all select maker_id from need where job_id = :job)
       and (select old from event where event.package_id = restored.id
             order by event.id desc limit 1) = 'dropped'
    union
    select reader.line_id
      from spared
      join package as maker on maker.line_id = spared.line_id
      join file on file.package_id = maker.id and file.present = 0 and file.dropped = 0
      join input on input.file_id = file.id and input.own = 0 and input.dropped = 0
      join package as reader on reader.id = input.package_id and reader.phase = 'waiting')
select mate.id
  from package indexed by package_in_phase
  join package as mate on mate.line_id = package.line_id
 where package.job_id = :job and package.phase in ('failed', 'canceled', 'waiting')
   and package.stage_id = :stage
   and package.line_id not in (select line_id from spared);

-- name: spare_lines
-- Omit lines that no stage reads, or from which a stage reads that requires more.
delete from selected_package
 where package_id in
    (select package.id
       from selected_package
       join package on package.id = selected_package.package_id
      where coalesce((select max(stage.require)
                        from package as mate
                        join file on file.package_id = mate.id and file.dropped = 0
                        join input on input.file_id = file.id and input.own = 0
                                  and input.dropped = 0
                        join package as reader on reader.id = input.package_id
                                              and reader.line_id <> mate.line_id
                                              and (reader.phase in ('waiting', 'ready', 'cooloff',
                                                                    'held', 'failed', 'canceled')
                                                   or (reader.early = 1 and reader.awaited > 0
                                                       and reader.phase in
                                                           ('starting', 'staging-in', 'running',
                                                            'suspended', 'unreachable')))
                        join stage on stage.id = reader.stage_id
                       where mate.line_id = package.line_id), 2) > :reached);

-- name: count_selected_lines
-- How many lines the selected packages are of.
select count(distinct package.line_id)
  from selected_package join package on package.id = selected_package.package_id;
