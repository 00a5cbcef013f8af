-- name: hold_job
-- Keep a job from being scheduled.
update job
   set hold = 1, hold_actor = :actor, hold_note = :note, hold_since = :now
 where id = :job and hold = 0;

-- name: keep_hold
-- Keep the hold of a job that ends now for those who look at the past.
insert into past_stop (job_id, verb, running, since, actor, note, ended)
select id, 'hold', 0, hold_since, hold_actor, hold_note, :now
  from job where id = :job and hold = 1;

-- name: release_job
-- Allow a job to be scheduled again.
update job
   set hold = 0, hold_actor = null, hold_note = null, hold_since = null
 where id = :job and hold = 1;

-- name: hold_packages
-- waiting, ready, cooloff, assigned -> held: the selected packages that are not launched; parked
-- ones until they are resumed. One that cools off keeps the end of its cool-off.
update package
   set phase = 'held', parked = :parked, node_id = null, staging = 0,
       changed = :now, actor = :actor, note = :note
 where id in (select package_id from selected_package)
   and phase in ('waiting', 'ready', 'cooloff', 'assigned');

-- name: release_held_packages
-- held -> ready or waiting, or cooloff if it was held in its cool-off and that has not ended.
update package
   set phase = case when actor <> 'policy' and not_before > :now then 'cooloff'
                    when missing = 0 then 'ready' else 'waiting' end,
       not_before = iif(actor <> 'policy' and not_before > :now, not_before, null), parked = 0,
       changed = :now, actor = :actor, note = :note
 where id in (select package_id from selected_package) and phase = 'held';

-- name: name_cooloff_again
-- The selected packages that are back in their cool-off say again after which failure they cool off.
update package
   set (actor, note) = (select event.actor, event.note
                          from event
                         where event.package_id = package.id
                           and event.new = 'cooloff' and event.old <> 'held'
                         order by event.id desc limit 1)
 where id in (select package_id from selected_package) and phase = 'cooloff';

-- name: kill_idle_packages
-- not launched -> canceled; on a node out of contact, at once: its attempt ends on return.
update package
   set phase = 'canceled', request = null, staging = 0, not_before = null, changed = :now,
       actor = :actor, note = :note
 where id in (select package_id from selected_package)
   and (phase in (select name from phase where is_idle = 1)
        or phase = 'transferring' or phase = 'unreachable');

-- name: count_hastenable
-- How many of the selected packages are being killed, and not immediately.
select count(*) from package
 where id in (select package_id from selected_package) and phase = 'killing'
   and request not in ('kill now', 'drop now');

-- name: hasten_killing
-- killing: an end that keeps outputs becomes a plain one, a plain one becomes immediate.
update package
   set request = case request when 'kill partial' then 'kill' when 'drop' then 'drop now'
                              else 'kill now' end
 where id in (select package_id from selected_package) and phase = 'killing';

-- name: kill_launched_packages
-- launched -> killing: the wrapper confirms it, and then they are canceled or dropped.
update package
   set phase = 'killing', request = :request, changed = :now, actor = :actor, note = :note
 where id in (select package_id from selected_package)
   and phase in (select name from phase where in_contact = 1);

-- name: end_canceled_attempts
-- Attempts of selected packages that were canceled out of contact do not count any more.
update attempt
   set outcome = 'killed', ended = :now, reason = 'killed', message = 'canceled while its node was out of contact'
 where outcome is null
   and id in (select attempt_id
                from selected_package join package on package.id = selected_package.package_id
               where package.phase in ('canceled', 'dropped'));

-- name: cancel_transfers
-- Results of selected packages that were canceled are no longer requested.
delete from transfer
 where result = 1 and file_id in
    (select file.id
       from selected_package
       join package on package.id = selected_package.package_id
            and package.phase in ('canceled', 'dropped')
       join file on file.package_id = package.id);

-- name: choose_without_inputs
-- Add the packages that lose a required input, or the last of their optional inputs, with the
-- outputs of those already selected, or that follow a selected package in its line that has not
-- succeeded. Launched packages are not added, except a running one that still waits for a required
-- input, which it would never get; successful ones only in the same job, as they could not run again.
insert or ignore into selected_package (package_id)
select package.id
  from (select input.package_id as id, max(input.required) as required,
               max(input.required = 1 and file.present = 0) as never, file.job_id
          from selected_package
          join file on file.package_id = selected_package.package_id
          join input on input.file_id = file.id and input.own = 0 and input.dropped = 0
         group by input.package_id) as losing
  join package on package.id = losing.id
 where (package.phase in (select name from phase where may_start = 1)
        or (package.phase = 'done' and package.job_id = losing.job_id)
        or (package.early = 1 and losing.never = 1
            and package.phase in (select name from phase where is_active = 1)))
   and (losing.required = 1
        or not exists (select 1
                         from input as other
                         join file as retained on retained.id = other.file_id
                        where other.package_id = losing.id
                          and other.required = 0 and other.dropped = 0 and other.own = 0
                          and retained.dropped = 0
                          and not (retained.late = 1 and retained.present = 1)
                          and coalesce(retained.package_id, 0) not in (select package_id
                                                                     from selected_package)))
 union
select package.id
  from selected_package
  join package as before on before.id = selected_package.package_id
                        and before.phase not in ('transferring', 'done')
  join package on package.line_id = before.line_id and package.seq = before.seq + 1
 where package.phase in (select name from phase where may_start = 1);

-- name: is_selection_awaited
-- Whether packages outside the selection need outputs of it that do not exist yet, or follow a
-- selected package in its line.
select exists (select 1
                 from selected_package
                 join file on file.package_id = selected_package.package_id and file.present = 0
                 join input on input.file_id = file.id and input.own = 0 and input.dropped = 0
                 join package on package.id = input.package_id
                where package.phase in (select name from phase where may_start = 1)
                  and package.id not in (select package_id from selected_package))
    or exists (select 1
                 from selected_package
                 join package as before on before.id = selected_package.package_id
                 join package on package.line_id = before.line_id and package.seq = before.seq + 1
                where package.phase in (select name from phase where may_start = 1)
                  and package.id not in (select package_id from selected_package));

-- name: choose_losing
-- Packages that lose inputs because of the selection and may continue without them: how many they lose
-- and keep of those that packages make, and whether these were the last that they waited for.
select package.id,
       losing.lost,
       (select count(*)
          from input join file on file.id = input.file_id and file.package_id is not null
         where input.package_id = package.id and input.own = 0 and input.dropped = 0)
       - losing.lost as left,
       package.phase = 'waiting' and package.early = 0
       and package.missing = losing.absent as starts
  from (select input.package_id, count(*) as lost, sum(file.present = 0) as absent
          from selected_package
          join file on file.package_id = selected_package.package_id
          join input on input.file_id = file.id and input.own = 0 and input.dropped = 0
         where input.package_id not in (select package_id from selected_package)
         group by input.package_id) as losing
  join package on package.id = losing.package_id
 where package.phase in (select name from phase where may_start = 1)
    or (package.early = 1 and losing.absent > 0
        and package.phase in (select name from phase where is_active = 1))
 order by package.id;

-- name: launched_readers
-- How many launched packages go on with files of the selected ones, which are dropped, or with what
-- others made of these, and the first ones. Whether one of the same job `lacks` files to run again: it
-- requires a dropped one, or has read no others.
with reader as (
    select package.id, package.job_id,
           max(maker.is_dropped = 1
               and (input.required = 1
                    or not exists (select 1
                                     from input as other
                                     join file as found on found.id = other.file_id
                                          and found.dropped = 0
                                    where other.package_id = package.id and other.own = 0
                                      and other.required = 0 and found.package_id is not null
                                      and found.package_id not in (select package_id
                                                                     from selected_package))))
           as lacks
      from (select package_id, 1 as is_dropped from selected_package
             union all
            select package_id, 0 from selected_package_reader) as maker
      join file on file.package_id = maker.package_id
      join input on input.file_id = file.id and input.own = 0 and input.dropped = 0
      join package on package.id = input.package_id
           and package.phase in ('starting', 'staging-in', 'running', 'suspended', 'unreachable',
                                 'transferring')
     where package.id not in (select package_id from selected_package)
       and not (package.early = 1 and package.phase <> 'transferring'
                and (file.present = 0
                     or exists (select 1 from streamed_input
                                 where streamed_input.package_id = package.id
                                   and streamed_input.file_id = file.id
                                   and streamed_input.state < 2)))
     group by package.id)
select count(*) over () as number, package_path.path,
       max(reader.lacks) over (partition by reader.job_id) as lacks
  from reader
  join package_path on package_path.package_id = reader.id
 order by reader.id
 limit 10;

-- name: unmade_beside
-- Packages that run only after a retry, beside the selected ones, of the jobs of these :readers and of
-- those whose files these jobs read.
with recursive feeding (job_id) as (
    select package.job_id
      from json_each(:readers) as reader join package on package.id = reader.value
     union
    select need.maker_id from feeding join need on need.job_id = feeding.job_id)
select package.id
  from feeding
  cross join package indexed by package_in_phase
    on package.job_id = feeding.job_id and package.phase in ('failed', 'canceled', 'dropped')
 where package.id not in (select package_id from selected_package)
 order by package.id;

-- name: waiting_for
-- Which packages wait for these :packages, beside the selected ones. Stages with a lower `require` may
-- continue without them if :enough is reached, or while their jobs go on.
select before.id as package, reader.id as reader
  from json_each(:packages) as some
  cross join package as before on before.id = some.value
  cross join package as reader
    on reader.id in (select input.package_id
                       from file
                       join input on input.file_id = file.id and input.own = 0 and input.dropped = 0
                      where file.package_id = before.id and file.present = 0
                      union all
                     select next.id from package as next
                      where next.line_id = before.line_id and next.seq = before.seq + 1
                      union all
                     select next.id
                       from line_order
                       join package as next on next.line_id = line_order.line_id and next.seq = 1
                      where line_order.after_id = before.line_id and before.phase <> 'dropped')
   and reader.phase = 'waiting' and reader.early = 0
  cross join stage on stage.id = reader.stage_id
 where reader.id not in (select package_id from selected_package)
   and (stage.require >= 1
        or (:enough = 0
            and not exists (
                select 1
                  from stage as other
                  join stage_count on stage_count.stage_id = other.id and stage_count.n > 0
                 where other.job_id = before.job_id and stage_count.phase <> 'waiting'
                   and stage_count.phase not in (select name from phase where is_final = 1))));

-- name: left_unread
-- How many files that packages have made are removed if the selected packages are dropped, as only
-- these were to read them, and the first ones. The youngest readers are asked first, because they end
-- last.
with read as (
    select distinct file.id, file.job_id, file.name
      from selected_package
      join package as reader on reader.id = selected_package.package_id
           and reader.phase not in ('transferring', 'done', 'dropped')
      join input on input.package_id = reader.id and input.own = 0 and input.dropped = 0
      join file on file.id = input.file_id and file.present = 1 and file.dropped = 0
               and file.result = 0 and file.stored is null
               and coalesce(file.disposition, file.dispositions) not like '%retain%'
      join package as maker on maker.id = file.package_id and maker.phase = 'done'
           and maker.id not in (select package_id from selected_package))
select count(*) over () as number, job.name || ':' || read.name as name
  from read
  join job on job.id = read.job_id
 where (select 1
          from input
          left join package on package.id = input.package_id
               and package.phase not in ('transferring', 'done', 'dropped')
               and package.id not in (select package_id from selected_package)
         where input.file_id = read.id and input.dropped = 0
           and (package.id is not null or input.disposition like 'retain%')
         order by input.package_id desc
         limit 1) is null
 order by read.id
 limit 10;

-- name: files_of_selected
-- The outputs of the selected packages that are dropped, or are not; bounded.
select file.name from selected_package join file on file.package_id = selected_package.package_id
 where file.dropped = :dropped order by file.id limit :limit;

-- name: unassign_readers_of_selected
-- assigned -> ready: the inputs of the package change with the selected packages.
update package
   set phase = 'ready', node_id = null, staging = 0, changed = :now, actor = :actor, note = :note
 where phase = 'assigned'
   and id in (select input.package_id
                from selected_package
                join file on file.package_id = selected_package.package_id
                join input on input.file_id = file.id);

-- name: keep_of_dropped_lines
-- Keep only selected packages of dropped lines.
delete from selected_package
 where (select line.dropped is null from package join line on line.id = package.line_id
         where package.id = selected_package.package_id);

-- name: keep_without_inputs
-- Keep only selected packages that have not begun and need dropped files: one that they require, or
-- all that they do not.
delete from selected_package
 where package_id not in (
       select package.id
         from (select input.package_id as id,
                      max(input.required = 1 and file.dropped = 1) as lacks_one,
                      max(input.required = 0) as has_others,
                      max(input.required = 0 and file.dropped = 0) as has_some
                 from selected_package
                 join input on input.package_id = selected_package.package_id and input.own = 0
                 join file on file.id = input.file_id
                where file.package_id is not null
                group by input.package_id) as reading
         join package on package.id = reading.id
                     and package.phase in (select name from phase where may_start = 1)
        where reading.lacks_one or (reading.has_others and not reading.has_some));

-- name: drop_inputs
-- Remove the outputs of the selected packages from the lists of all packages that have not begun.
update input
   set dropped = 1
 where own = 0 and dropped = 0
   and file_id in (select file.id
                     from selected_package join file on file.package_id = selected_package.package_id)
   and package_id not in (select package_id from selected_package)
   and (select phase from package where package.id = input.package_id)
       in ('waiting', 'ready', 'cooloff', 'held', 'failed', 'canceled');

-- name: drop_open_inputs
-- Remove them also from the input lists of running packages that started early, unless these were
-- already notified of them.
update input
   set dropped = 1
 where own = 0 and dropped = 0
   and file_id in (select file.id
                     from selected_package join file on file.package_id = selected_package.package_id)
   and package_id not in (select package_id from selected_package)
   and (select early = 1 and phase in (select name from phase where is_active = 1)
          from package where package.id = input.package_id)
   and ((select present from file where file.id = input.file_id) = 0
        or exists (select 1 from streamed_input
                    where streamed_input.package_id = input.package_id
                      and streamed_input.file_id = input.file_id
                      and streamed_input.state < 2));

-- name: drop_files
-- The outputs of the selected packages are dropped.
update file set dropped = 1
 where dropped = 0 and package_id in (select package_id from selected_package);

-- name: outdate_readers
-- Packages that have succeeded with outputs of the selected ones are out of date, and so are,
-- recursively, the readers of their files in the same job; those of another job are once these files
-- have been made again. Only the results of the former may be accepted. Those that the job file of
-- their job has no more never are.
insert or ignore into outdated_package (package_id, job_id, by_recipe, acceptable)
with recursive outdated (package_id, job_id, acceptable) as (
    select package.id, package.job_id, 1
      from selected_package
      join file on file.package_id = selected_package.package_id
      join input on input.file_id = file.id and input.own = 0 and input.dropped = 0
      join package on package.id = input.package_id and package.phase = 'done'
      join line on line.id = package.line_id and line.named <> 2
    union
    select package.id, package.job_id, null
      from outdated
      join file on file.package_id = outdated.package_id
      join input on input.file_id = file.id and input.own = 0 and input.dropped = 0
      join package on package.id = input.package_id and package.phase = 'done'
                  and package.job_id = outdated.job_id
      join line on line.id = package.line_id and line.named <> 2)
select package_id, job_id, 0, max(acceptable)
  from outdated
 where package_id not in (select package_id from selected_package)
 group by package_id;

-- name: excuse_lacking
-- Packages that lacked only files that are dropped by now ran with the recipe of their job; they may
-- have read dropped files.
update outdated_package
   set by_recipe = 0,
       acceptable = iif(exists (select 1 from input join file on file.id = input.file_id
                                 where input.package_id = outdated_package.package_id
                                   and input.own = 0 and input.dropped = 0 and file.dropped = 1),
                        1, null)
 where by_recipe = 1
   and package_id in (select lacked_input.package_id
                        from selected_package
                        join file on file.package_id = selected_package.package_id
                        join lacked_input on lacked_input.file_id = file.id)
   and not exists (select 1 from lacked_input join file on file.id = lacked_input.file_id
                    where lacked_input.package_id = outdated_package.package_id
                      and file.dropped = 0);

-- name: excuse_lacking_elsewhere
-- Packages that lack files of the selected ones, which had come back, are up to date if that was all:
-- they lack no other such file, and read no dropped one, no changed one, and none of a package that is
-- out of date.
delete from outdated_package
 where by_recipe = 0
   and package_id in (select input.package_id
                        from selected_package
                        join file on file.package_id = selected_package.package_id
                        join input on input.file_id = file.id and input.own = 0
                                  and input.dropped = 1)
   and package_id not in (select package_id from lacking_restored)
   and not exists (select 1
                     from input
                     join file on file.id = input.file_id
                    where input.package_id = outdated_package.package_id
                      and input.own = 0 and input.dropped = 0
                      and (file.dropped = 1
                           or file.package_id in (select package_id from outdated_package)))
   and not exists (select 1 from earlier_reader
                    where earlier_reader.package_id = outdated_package.package_id);

-- name: forget_outdated_by_makers
-- Packages of the selected ones' jobs, and of jobs that read their files, are up to date again if only
-- the makers of their files were not.
delete from outdated_package
 where by_recipe = 0 and acceptable is null
   and job_id in (select package.job_id
                    from selected_package join package on package.id = selected_package.package_id
                   union
                  select need.job_id
                    from selected_package
                    join package on package.id = selected_package.package_id
                    join need on need.maker_id = package.job_id)
   and not exists (select 1
                     from input
                     join file on file.id = input.file_id
                     join outdated_package as maker on maker.package_id = file.package_id
                    where input.package_id = outdated_package.package_id and input.own = 0
                      and input.dropped = 0);

-- name: drop_idle_packages
-- not launched -> dropped; successful ones stay.
update package
   set phase = 'dropped', request = null, staging = 0, not_before = null, changed = :now,
       actor = :actor, note = :note
 where id in (select package_id from selected_package)
   and (phase in (select name from phase where may_start = 1) or phase = 'unreachable');

-- name: drop_killing_packages
-- Packages already being killed end as dropped.
update package set request = iif(request = 'kill now', 'drop now', 'drop')
 where id in (select package_id from selected_package) and phase = 'killing';

-- name: drop_lines
-- Mark lines as dropped in which only successful packages are left; `named` are those that were
-- requested.
update line
   set dropped = :now, named = id in (select value from json_each(:requested)), unlisted = named = 2
 where dropped is null
   and id in (select line_id from selected_package_state)
   and not exists (select 1 from package
                    where package.line_id = line.id and package.phase not in ('dropped', 'done')
                      and package.id not in (select package_id from selected_package));

-- name: selected_by_phase
-- How many of the selected packages are in each phase.
select package.phase, count(*) as n
  from selected_package join package on package.id = selected_package.package_id
 group by package.phase;

-- name: selected_paths
-- The selected packages by path, a bounded number.
select package_path.path,
       package.phase
  from (select package_id from selected_package order by package_id limit :limit) as some
  join package on package.id = some.package_id
  join package_path on package_path.package_id = package.id
 order by package.id;

-- name: selected_paths_in_phases
-- The selected packages in some phases by path, a bounded number.
select package_path.path
  from selected_package
  join package on package.id = selected_package.package_id
  join package_path on package_path.package_id = package.id
 where package.phase in (select value from json_each(:phases))
 order by package.id limit :limit;

-- name: positions_of_lines
-- Where the lines of the selected packages are that are dropped, or are not.
select job.name as job, stage.seq as stage, line.seq as line
  from (select distinct line_id from selected_package_state) as some
  join line on line.id = some.line_id and (line.dropped is not null) = :dropped
  join stage on stage.id = line.stage_id
  join job on job.id = stage.job_id;

-- name: selected_lines
-- Whether any line of the selected packages is dropped, and whether any is not.
select coalesce(max(line.dropped is not null), 0) as dropped,
       coalesce(max(line.dropped is null), 0) as undropped
  from selected_package
  join package on package.id = selected_package.package_id
  join line on line.id = package.line_id;

-- name: choose_by_path
-- Choose packages by ranges of the four levels.
insert or ignore into selected_package (package_id)
select package.id
  from job
  join stage on stage.job_id = job.id
  join line on line.stage_id = stage.id
  join package on package.line_id = line.id
 where job.name glob :job and job.visible = 1
   and stage.seq between :stage_from and :stage_to
   and (:stage_name is null or stage.name = :stage_name)
   and line.seq between :line_from and :line_to
   and package.seq between :package_from and :package_to
   and (:phases is null or package.phase in (select value from json_each(:phases)))
   and (:before is null or package.changed < :before)
   and (:node is null or package.node_id = (select id from node where name = :node))
   and (:reason is null or exists (select 1 from attempt where attempt.package_id = package.id
                                    and attempt.number = package.attempts
                                    and attempt.reason = :reason));

-- name: choose_by_ranges
-- The same for many selectors at once: lists of a job's name and the ends of three ranges.
insert or ignore into selected_package (package_id)
select package.id
  from json_each(:ranges) as wanted
 cross join job on job.name = wanted.value ->> 0 and job.visible = 1
 cross join stage on stage.job_id = job.id
       and stage.seq between wanted.value ->> 1 and wanted.value ->> 2
 cross join line on line.stage_id = stage.id
       and line.seq between wanted.value ->> 3 and wanted.value ->> 4
 cross join package on package.line_id = line.id
       and package.seq between wanted.value ->> 5 and wanted.value ->> 6;

-- name: empty_ranges
-- The selectors of this kind that match no package.
select wanted.key
  from json_each(:ranges) as wanted
 where not exists (select 1
                     from job
                    cross join stage on stage.job_id = job.id
                          and stage.seq between wanted.value ->> 1 and wanted.value ->> 2
                    cross join line on line.stage_id = stage.id
                          and line.seq between wanted.value ->> 3 and wanted.value ->> 4
                    cross join package on package.line_id = line.id
                          and package.seq between wanted.value ->> 5 and wanted.value ->> 6
                    where job.name = wanted.value ->> 0 and job.visible = 1);

-- name: ranges_with_phases
-- The selectors of this kind, also of stages by name, with selected packages in some phases.
select wanted.key
  from json_each(:ranges) as wanted
 where exists (select 1
                 from job
                cross join stage on stage.job_id = job.id
                      and stage.seq between wanted.value ->> 1 and wanted.value ->> 2
                      and (wanted.value ->> 7 is null or stage.name = wanted.value ->> 7)
                cross join line on line.stage_id = stage.id
                      and line.seq between wanted.value ->> 3 and wanted.value ->> 4
                cross join package on package.line_id = line.id
                      and package.seq between wanted.value ->> 5 and wanted.value ->> 6
                where job.name glob wanted.value ->> 0 and job.visible = 1
                  and package.id in (select package_id from selected_package)
                  and package.phase in (select value from json_each(:phases)));

-- name: choose_by_phase
-- The same for phases, answered from the index of phases.
insert or ignore into selected_package (package_id)
select package.id
  from json_each(:phases) as wanted
  cross join job
  join package indexed by package_in_phase
    on package.job_id = job.id and package.phase = wanted.value
  join line on line.id = package.line_id
  join stage on stage.id = package.stage_id
 where job.name glob :job and job.visible = 1
   and stage.seq between :stage_from and :stage_to
   and (:stage_name is null or stage.name = :stage_name)
   and line.seq between :line_from and :line_to
   and package.seq between :package_from and :package_to
   and (:before is null or package.changed < :before)
   and (:node is null or package.node_id = (select id from node where name = :node))
   and (:reason is null or exists (select 1 from attempt where attempt.package_id = package.id
                                    and attempt.number = package.attempts
                                    and attempt.reason = :reason));

-- name: count_files_of_selected
-- How many outputs of the selected packages are dropped, or are not.
select count(*) from selected_package join file on file.package_id = selected_package.package_id
 where file.dropped = :dropped;

-- name: cancel_failed_packages
-- failed -> canceled: of a killed line; without a reason the note still says why they failed.
update package
   set phase = 'canceled', changed = :now, actor = :actor, note = coalesce(:note, note)
 where id in (select package_id from selected_package) and phase = 'failed';
