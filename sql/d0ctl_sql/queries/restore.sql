-- name: lines_of_selected
-- The lines of the selected packages.
select distinct line_id from selected_package_state;

-- name: keep_named
-- Keep only selected packages of lines that were dropped by name.
delete from selected_package
 where (select line.dropped is null or line.named = 0
          from package join line on line.id = package.line_id
         where package.id = selected_package.package_id);

-- name: selected_dropped_ids
-- The selected packages that are dropped.
select selected_package.package_id
  from selected_package
  join package on package.id = selected_package.package_id and package.phase = 'dropped';

-- name: removed_of_selected
-- The dropped lines of selected packages that the job file no longer has.
select place.job, place.stage, place.line
  from selected_package
  join package on package.id = selected_package.package_id and package.seq = 1
  join line on line.id = package.line_id and (line.named = 2 or line.unlisted = 1)
           and line.dropped is not null
  join package_path as place on place.package_id = package.id
 order by package.id;

-- name: leave_without_inputs
-- Remove packages that would still lack a dropped file if the selected ones were back, also successful
-- ones, whose files were dropped with it, or would have been; those that have read a dropped file of
-- another job keep theirs.
delete from selected_package
 where ((select phase from package where id = package_id) = 'dropped'
        or ((select phase from package where id = package_id) = 'done'
            and not exists (select 1
                              from input join file on file.id = input.file_id and file.dropped = 1
                             where input.package_id = selected_package.package_id
                               and file.job_id <> (select job_id from package
                                                    where id = selected_package.package_id))))
   and (exists (select 1
                  from input join file on file.id = input.file_id
                 where input.package_id = selected_package.package_id and input.own = 0
                   and input.required = 1 and file.dropped = 1
                   and coalesce(file.package_id, 0) not in (select package_id
                                                              from selected_package))
        or (exists (select 1 from input
                     where input.package_id = selected_package.package_id and input.own = 0
                       and input.required = 0)
            and not exists (select 1
                              from input join file on file.id = input.file_id
                             where input.package_id = selected_package.package_id and input.own = 0
                               and input.required = 0
                               and (file.dropped = 0
                                    or file.package_id in (select package_id
                                                             from selected_package))))
        or exists (select 1
                     from package
                     join package as before on before.line_id = package.line_id
                                           and before.seq = package.seq - 1
                    where package.id = selected_package.package_id and before.phase = 'dropped'
                      and before.id not in (select package_id from selected_package)));

-- name: choose_restored
-- Add packages that were dropped, or whose files were, and lack nothing once the selected ones are
-- back.
insert or ignore into selected_package (package_id)
select package.id
  from (select input.package_id as id
          from selected_package
          join file on file.package_id = selected_package.package_id
          join input on input.file_id = file.id and input.own = 0
         union
        select after.id
          from selected_package
          join package as before on before.id = selected_package.package_id
          join package as after on after.line_id = before.line_id
                               and after.seq = before.seq + 1) as near
  join package on package.id = near.id
  join line on line.id = package.line_id and (line.named = 0 or line.dropped is null)
       and (package.phase = 'dropped'
            or (package.phase = 'done'
                and exists (select 1 from file
                             where file.package_id = package.id and file.dropped = 1)))
 where not exists (select 1
                     from input join file on file.id = input.file_id
                    where input.package_id = package.id and input.own = 0
                      and input.required = 1 and file.dropped = 1
                      and coalesce(file.package_id, 0) not in (select package_id
                                                                 from selected_package))
   and (not exists (select 1 from input
                     where input.package_id = package.id and input.own = 0
                       and input.required = 0)
        or exists (select 1
                     from input join file on file.id = input.file_id
                    where input.package_id = package.id and input.own = 0
                      and input.required = 0
                      and (file.dropped = 0
                           or file.package_id in (select package_id from selected_package))))
   and not exists (select 1 from package as before
                    where before.line_id = package.line_id and before.seq = package.seq - 1
                      and before.phase = 'dropped'
                      and before.id not in (select package_id from selected_package));

-- name: leave_out_done_of_dropped
-- Successful packages of dropped lines stay as they are.
delete from selected_package
 where package_id in (select package.id
                        from selected_package as one
                        join package on package.id = one.package_id and package.phase = 'done'
                        join line on line.id = package.line_id and line.dropped is not null);

-- name: launched_without
-- A package that was launched, or has succeeded, without files of the selected ones; one that has not
-- ended comes first; not those of other dropped lines.
select package_path.path,
       package.phase, attempt.launched
  from selected_package
  join file on file.package_id = selected_package.package_id
  join input on input.file_id = file.id and input.own = 0 and input.dropped = 1
  join package on package.id = input.package_id
              and package.phase in (select name from phase
                                     where status in ('launched', 'successful'))
  join line on line.id = package.line_id
           and (line.dropped is null or package.id in (select package_id from selected_package))
  join package_path on package_path.package_id = package.id
  left join attempt on attempt.id = package.attempt_id
 order by package.phase = 'done'
 limit 1;

-- name: done_without
-- The packages of their job that have succeeded without files of the selected ones, and those that
-- have read their files, recursively; not those of other dropped lines.
with recursive reader (package_id) as (
    select package.id
      from selected_package
      join file on file.package_id = selected_package.package_id
      join input on input.file_id = file.id and input.own = 0 and input.dropped = 1
      join package on package.id = input.package_id and package.phase = 'done'
                  and package.job_id = file.job_id
      join line on line.id = package.line_id
               and (line.dropped is null or package.id in (select package_id from selected_package))
    union
    select package.id
      from reader
      join file on file.package_id = reader.package_id
      join input on input.file_id = file.id and input.own = 0 and input.dropped = 0
      join package on package.id = input.package_id and package.phase = 'done'
                  and package.job_id = file.job_id
      join line on line.id = package.line_id
               and (line.dropped is null or package.id in (select package_id from selected_package)))
select package.id, package_path.path, package.phase
  from reader
  join package on package.id = reader.package_id
  join package_path on package_path.package_id = package.id
 order by package.id;

-- name: lines_to_restore
-- The lines that were dropped by name, or by an update, with which a dropped line comes back: itself, or
-- those that made its dropped inputs.
with recursive above (line_id) as (
    values (:line)
    union
    select needed_line.needed_id
      from above join needed_line on needed_line.line_id = above.line_id)
select line.id, line.named, place.job, place.stage, place.line
  from above
  join line on line.id = above.line_id and line.named <> 0 and line.dropped is not null
  join package on package.line_id = line.id and package.seq = 1
  join package_path as place on place.package_id = package.id
 order by line.id;

-- name: lines_lacked
-- The lines that were dropped by name, or by an update, with which all missing inputs of a package
-- come back; none if some are missing for another reason. Whether packages of them are still being
-- killed.
with recursive above (line_id) as (
    select maker.line_id
      from input
      join file on file.id = input.file_id
      join package as maker on maker.id = file.package_id
     where input.package_id = :package and input.own = 0 and input.dropped = 1
    union
    select needed_line.needed_id
      from above join needed_line on needed_line.line_id = above.line_id)
select line.id, line.named, place.job, place.stage, place.line,
       exists (select 1 from package as ending
                where ending.line_id = line.id and ending.phase = 'killing') as is_ending
  from above
  cross join line on line.id = above.line_id and line.named <> 0 and line.dropped is not null
  join package on package.line_id = line.id and package.seq = 1
  join package_path as place on place.package_id = package.id
 where not exists (select 1 from input join file on file.id = input.file_id
                    where input.package_id = :package and input.own = 0 and input.dropped = 1
                      and file.dropped = 0)
 order by line.id limit :limit;

-- name: line_launched_without
-- A package that was launched, or has succeeded, without files of a line or of what was dropped
-- with it.
with recursive restored (line_id) as (
    values (:line)
    union
    select reader.line_id
      from restored
      join package as maker on maker.line_id = restored.line_id
      join file on file.package_id = maker.id
      join input on input.file_id = file.id and input.own = 0
      join package as reader on reader.id = input.package_id
           and (reader.phase = 'dropped'
                or (reader.phase = 'done'
                    and exists (select 1 from file as made
                                 where made.package_id = reader.id and made.dropped = 1)))
      join line on line.id = reader.line_id and (line.named = 0 or line.dropped is null)
)
select package_path.path,
       reader.phase, attempt.launched
  from restored
  join package as maker on maker.line_id = restored.line_id
  join file on file.package_id = maker.id
  join input on input.file_id = file.id and input.own = 0 and input.dropped = 1
  join package as reader on reader.id = input.package_id
                        and reader.phase in (select name from phase
                                              where status in ('launched', 'successful'))
  join line on line.id = reader.line_id
           and (line.dropped is null or line.id in (select line_id from restored))
  join package_path on package_path.package_id = reader.id
  left join attempt on attempt.id = reader.attempt_id
 limit 1;

-- name: repackaged_elsewhere
-- A selected package of a task whose files have gone into other packages.
select package_path.path
  from selected_package
  join package on package.id = selected_package.package_id and package.phase = 'dropped'
  join task on task.job_id = package.job_id
  join package_path on package_path.package_id = package.id
 where not exists (select 1 from content where content.package_id = selected_package.package_id)
   and not exists (select 1 from event_range where event_range.package_id = selected_package.package_id)
 limit 1;

-- name: gaining
-- Packages that get inputs back by the selection: how many, beside how many of those that packages
-- make, and whether that makes them wait; not those of other jobs that have succeeded without.
select package_path.path,
       gaining.gained,
       (select count(distinct input.file_id)
          from input join file on file.id = input.file_id and file.package_id is not null
         where input.package_id = package.id and input.own = 0 and input.dropped = 0) as had,
       gaining.absent > 0 as waits
  from (select input.package_id, count(distinct input.file_id) as gained,
               sum(file.present = 0) as absent
          from selected_package
          join file on file.package_id = selected_package.package_id
          join input on input.file_id = file.id and input.own = 0 and input.dropped = 1
          join package as reader on reader.id = input.package_id
                      and (reader.phase <> 'done' or reader.job_id = file.job_id)
          join line on line.id = reader.line_id and line.dropped is null
         where input.package_id not in (select package_id from selected_package)
         group by input.package_id) as gaining
  join package on package.id = gaining.package_id
  join package_path on package_path.package_id = package.id
 order by package.id;

-- name: lacking_elsewhere
-- How many packages of other jobs have succeeded without files of the selected ones, and would read them
-- if they ran again, and the first ones.
select count(*) over () as number, package_path.path
  from (select distinct input.package_id
          from selected_package
          join file on file.package_id = selected_package.package_id
          join input on input.file_id = file.id and input.own = 0 and input.dropped = 1
          join package on package.id = input.package_id and package.phase = 'done'
                      and package.job_id <> file.job_id
          join stage on stage.id = package.stage_id and stage.final = 0
          join line on line.id = package.line_id and line.dropped is null and line.named <> 2
         ) as lacking
  join package_path on package_path.package_id = lacking.package_id
 order by lacking.package_id
 limit 10;

-- name: made_again_by_restore
-- Selected packages that have succeeded and run again: their outputs were removed and are read again,
-- by packages that get them back or by one of these.
with recursive maker (package_id) as (
    select package.id
      from selected_package
      join package on package.id = selected_package.package_id and package.phase = 'done'
      join file on file.package_id = package.id and file.present = 0
      join input on input.file_id = file.id and input.own = 0
      join package as reader on reader.id = input.package_id and reader.phase <> 'canceled'
     where input.dropped = 1 or reader.phase not in ('done', 'transferring')
    union
    select package.id
      from maker
      join input on input.package_id = maker.package_id and input.own = 0
      join file on file.id = input.file_id and file.present = 0
      join selected_package on selected_package.package_id = file.package_id
      join package on package.id = file.package_id and package.phase = 'done')
select package_path.package_id as id, package_path.path
  from maker join package_path on package_path.package_id = maker.package_id
 order by maker.package_id;

-- name: needing_inputs_again
-- Selected packages that need their inputs once they are restored: not those that were canceled when
-- they were dropped.
select package.id
  from selected_package
  join package on package.id = selected_package.package_id and package.phase = 'dropped'
 where (select old from event
         where event.package_id = package.id and event.new = 'dropped'
         order by event.id desc limit 1) is not 'canceled';

-- name: restore_files
-- The outputs of the selected packages are in the lists again.
update file set dropped = 0
 where dropped = 1 and package_id in (select package_id from selected_package);

-- name: restore_inputs
-- All packages that have not begun read them again.
update input
   set dropped = 0
 where own = 0 and dropped = 1
   and file_id in (select file.id
                     from selected_package join file on file.package_id = selected_package.package_id)
   and (select phase from package where package.id = input.package_id)
       in ('waiting', 'ready', 'cooloff', 'held', 'assigned', 'failed', 'canceled', 'dropped');

-- name: leave_out_dropped
-- Chosen packages that have not succeeded, or run again, go without files that are still dropped, if
-- others remain.
update input
   set dropped = 1
 where own = 0 and dropped = 0 and required = 0
   and package_id in (select package_id from selected_package)
   and (select phase from package where package.id = input.package_id)
       not in ('done', 'transferring')
   and (select dropped from file where file.id = input.file_id) = 1
   and exists (select 1
                 from input as other join file on file.id = other.file_id and file.dropped = 0
                where other.package_id = input.package_id and other.own = 0 and other.required = 0);

-- name: forget_outdated_readers
-- Packages that have read files of the selected ones are up to date again, if that was all: they
-- read no dropped file, no changed one, and none of a package that is out of date.
delete from outdated_package
 where by_recipe = 0
   and package_id in (select package_id from selected_package_reader)
   and not exists (select 1
                     from input
                     join file on file.id = input.file_id
                    where input.package_id = outdated_package.package_id
                      and input.own = 0 and input.dropped = 0
                      and (file.dropped = 1
                           or file.package_id in (select package_id from outdated_package)))
   and package_id not in (select package_id from lacking_restored)
   and not exists (select 1 from earlier_reader
                    where earlier_reader.package_id = outdated_package.package_id);

-- name: outdate_lacking_elsewhere
-- Packages of other jobs that have succeeded without files of the selected ones, which are back, are out
-- of date, and so are selected ones that lack files restored before them, and, recursively, the readers
-- of their files in the same job.
insert or ignore into outdated_package (package_id, job_id, by_recipe, acceptable)
with recursive outdated (package_id, job_id, acceptable) as (
    select package.id, package.job_id, 1
      from selected_package
      join file on file.package_id = selected_package.package_id
      join input on input.file_id = file.id
      join lacking_restored on lacking_restored.package_id = input.package_id
                           and lacking_restored.file_id = file.id
      join package on package.id = input.package_id and package.job_id <> file.job_id
      join line on line.id = package.line_id and line.named <> 2
    union
    select package.id, package.job_id, 1
      from selected_package
      join lacking_restored on lacking_restored.package_id = selected_package.package_id
      join package on package.id = lacking_restored.package_id
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
 group by package_id;

-- name: outdate_lacking
-- Packages that lack files of the selected ones are out of date.
insert or replace into outdated_package (package_id, job_id, by_recipe, acceptable)
select distinct package.id, package.job_id, 1, 0
  from selected_package
  join file on file.package_id = selected_package.package_id and file.dropped = 0
  join lacked_input on lacked_input.file_id = file.id
  join package on package.id = lacked_input.package_id;

-- name: outdate_by_makers
-- Packages of the selected ones' jobs that have succeeded with files of outdated ones are so, too; not
-- those that the job file has no more.
insert or ignore into outdated_package (package_id, job_id, by_recipe)
select package.id, package.job_id, 0
  from outdated_package as maker
  join file on file.package_id = maker.package_id
  join input on input.file_id = file.id and input.own = 0 and input.dropped = 0
  join package on package.id = input.package_id and package.phase = 'done'
              and package.job_id = maker.job_id
  join line on line.id = package.line_id and line.named <> 2
 where maker.job_id in (select package.job_id
                          from selected_package join package on package.id = selected_package.package_id);

-- name: restore_lines
-- Lines of the selected packages are no longer dropped.
update line set dropped = null, named = iif(unlisted = 1, 2, 0), unlisted = 0
 where +dropped is not null
   and id in (select line_id from selected_package_state);

-- name: forget_names
-- Requested lines are no longer dropped by name; it stays known which the job file does not have.
update line set named = 0, unlisted = unlisted = 1 or named = 2
 where id in (select value from json_each(:requested));

-- name: wait_for_restored
-- ready, assigned -> waiting: packages that got inputs back which do not exist.
update package
   set phase = 'waiting', node_id = null, staging = 0, changed = :now, actor = :actor,
       note = :note
 where phase in ('ready', 'assigned') and missing > 0
   and id in (select input.package_id
                from selected_package
                join file on file.package_id = selected_package.package_id
                join input on input.file_id = file.id);

-- name: count_ended_before_drop
-- How many of the selected packages had failed, or were canceled, when they were dropped.
select count(*)
  from selected_package
  join package on package.id = selected_package.package_id and package.phase = 'dropped'
 where (select old from event
         where event.package_id = package.id and event.new = 'dropped'
         order by event.id desc limit 1) in ('failed', 'canceled');

-- name: ended_before_drop
-- Those of some dropped packages that had failed, or were canceled, when they were dropped.
select package.id
  from json_each(:packages) as asked
  join package on package.id = asked.value
 where (select old from event
         where event.package_id = package.id and event.new = 'dropped'
         order by event.id desc limit 1) in ('failed', 'canceled')
 order by package.id;

-- name: count_lacking
-- How many packages have succeeded before an update added files of the selected ones to their inputs.
select count(distinct package.id)
  from selected_package
  join file on file.package_id = selected_package.package_id
  join lacked_input on lacked_input.file_id = file.id
  join package on package.id = lacked_input.package_id and package.phase = 'done'
  join line on line.id = package.line_id and line.dropped is null;

-- name: restore_acknowledgements
-- Failures that were acknowledged when the selected packages were dropped are so again.
insert into acknowledgement (package_id, stage_id, at, actor, note)
select was.package_id, was.stage_id, was.at, was.actor, was.note
  from selected_package
  join package on package.id = selected_package.package_id and package.phase = 'dropped'
  join past_acknowledgement as was on was.package_id = package.id
 where was.ended = (select at from event
                     where event.package_id = package.id and event.new = 'dropped'
                     order by event.id desc limit 1);

-- name: restore_packages
-- dropped -> as before: failed, canceled, held, or to be run.
update package
   set phase = case (select old from event
                      where event.package_id = package.id and event.new = 'dropped'
                      order by event.id desc limit 1)
                    when 'failed' then 'failed'
                    when 'canceled' then 'canceled'
                    when 'held' then 'held'
                    else case when missing = 0 then 'ready' else 'waiting' end end,
       request = null, node_id = null, changed = :now, actor = :actor, note = :note
 where id in (select package_id from selected_package) and phase = 'dropped';

-- name: restore_times
-- Restored packages that had failed, or were canceled, have done so when, where and why they did.
update package
   set (changed, node_id, actor, note) =
       (select event.at, (select id from node where node.id = event.node_id), event.actor, event.note
          from event
         where event.package_id = package.id and event.new = package.phase and event.old <> 'dropped'
         order by event.id desc limit 1)
 where id in (select package_id from selected_package) and phase in ('failed', 'canceled')
   and (select old from event where event.package_id = package.id
         order by event.id desc limit 1) = 'dropped'
   and exists (select 1 from event
                where event.package_id = package.id and event.new = package.phase
                  and event.old <> 'dropped');

-- name: lose_restored
-- Outputs of the selected packages that have been removed meanwhile.
insert into lost_copy (file_id, cluster_id)
select file.id, 0
  from selected_package
  join package on package.id = selected_package.package_id
       and package.phase in ('done', 'transferring')
  join file on file.package_id = package.id and file.present = 0;

-- name: keep_left_out
-- Record the missing inputs of attempts just begun: how many they get, of how many that packages
-- make, and names.
update attempt
   set (inputs, inputs_asked) =
           (select count(distinct case when input.dropped = 0 then file_id end),
                   count(distinct file_id)
              from input join file on file.id = input.file_id and file.package_id is not null
             where input.package_id = attempt.package_id and input.own = 0),
       left_out = (select json_group_array(name)
                     from (select distinct file.name
                             from input join file on file.id = input.file_id
                            where input.package_id = attempt.package_id and input.own = 0
                              and input.dropped = 1
                            order by file.id limit 100))
 where id in (select package.attempt_id
                from decision join package on package.id = decision.package_id)
   and exists (select 1 from input
                where input.package_id = attempt.package_id and input.own = 0
                  and input.dropped = 1);

-- name: left_out_inputs
-- Missing inputs of a package; bounded.
select distinct file.name
  from input join file on file.id = input.file_id
 where input.package_id = :package and input.own = 0 and input.dropped = 1
 order by file.id limit :limit;

-- name: lacked_inputs
-- Whether the last attempt at a package had begun without some of its inputs.
select attempt.left_out is not null
  from package join attempt on attempt.package_id = package.id and attempt.number = package.attempts
 where package.id = :package;

-- name: count_inputs
-- How many files a package gets from others, and how many it requests; whether it has succeeded with
-- another definition than its job file has now.
select count(distinct case when input.dropped = 0 then file_id end) as given,
       count(distinct file_id) as asked,
       exists (select 1
                 from outdated_package join package on package.id = package_id
                where package_id = :package and by_recipe = 1 and phase = 'done') as outdated
  from input join file on file.id = input.file_id and file.package_id is not null
 where input.package_id = :package and own = 0;

-- name: not_copied
-- Outputs of a job that no package reads, and that are no results because they have dispositions.
select count(*) as files, min(file.name) as name
  from file
 where file.job_id = :job and file.package_id is not null and file.dispositions <> ''
   and file.result = 0 and file.locator is null and file.pattern_id is null
   and not exists (select 1 from input where input.file_id = file.id);

-- name: last_not_kept
-- The last package of a job, if its last attempt has a remark that begins with this text.
select package_path.path, note.text
  from (select package.id, package.attempts
          from stage
          join line on line.stage_id = stage.id
          join package on package.line_id = line.id
         where stage.job_id = :job
         order by stage.seq desc, line.seq desc, package.seq desc
         limit 1) as last
  join attempt on attempt.package_id = last.id and attempt.number = last.attempts
  join note on note.attempt_id = attempt.id and substr(note.text, 1, length(:text)) = :text
  join package_path on package_path.package_id = last.id
 limit 1;

-- name: count_not_kept
-- How many packages of a job have such a remark on their last attempt, among its first ones.
select count(*)
  from (select package.id, package.attempts
          from stage
          join line on line.stage_id = stage.id
          join package on package.line_id = line.id
         where stage.job_id = :job
         limit :limit) as found
 where exists (select 1
                 from attempt
                 join note on note.attempt_id = attempt.id
                      and substr(note.text, 1, length(:text)) = :text
                where attempt.package_id = found.id and attempt.number = found.attempts);

-- name: read_from_outside
-- Packages that have read a file from outside while a package before them, in the same line or in
-- the line of the same number of an earlier stage, has made an unkept file of this name; bounded.
select reader_path.path as reader,
       maker_path.path as maker,
       found.name
  from (select file.id, file.name,
               replace(file.name, rtrim(file.name, replace(file.name, '/', '')), '') as base,
               (select package_id from input where file_id = file.id limit 1) as reader_id
          from file
         where file.job_id = :job and file.name >= '/' and file.name < '0'
           and file.package_id is null
         limit :limit) as found
  join package as reader on reader.id = found.reader_id and reader.phase = 'done'
  join line as reads on reads.id = reader.line_id
  join stage as later on later.id = reads.stage_id
  join stage as earlier on earlier.job_id = later.job_id and earlier.seq <= later.seq
  join line as makes on makes.stage_id = earlier.id and makes.seq = reads.seq
  join package as maker on maker.line_id = makes.id
       and (earlier.seq < later.seq or maker.seq < reader.seq)
  join note on note.attempt_id = (select id from attempt
                                   where package_id = maker.id and number = maker.attempts)
       and substr(note.text, 1, length(:text)) = :text
       and instr(note.text, '`' || found.base || '`') > 0
  join package_path as reader_path on reader_path.package_id = reader.id
  join package_path as maker_path on maker_path.package_id = maker.id
 order by later.seq, reads.seq, reader.seq;

-- name: partial_read
-- Packages of a job that have succeeded with partial files, one file each; bounded.
select reader_path.path as reader,
       maker_path.path as maker,
       file.name
  from (select :job as id union all select maker_id from need where job_id = :job) as made
  join file indexed by file_partial on file.job_id = made.id and file.partial = 1
  join input on input.file_id = file.id and input.own = 0 and input.dropped = 0
  join package as reader on reader.id = input.package_id and reader.phase = 'done'
       and reader.job_id = :job
  join package_path as reader_path on reader_path.package_id = reader.id
  join package_path as maker_path on maker_path.package_id = file.package_id
 limit :limit;

-- name: short_packages
-- Packages that lack files of dropped lines of a job, those of the job that lack such files of other
-- jobs, or did before these came back, and those of final stages that lack what did not exist when
-- they began.
select package.id,
       package_path.path,
       package.phase
  from (select input.package_id
          from (select package.id
                  from stage
                  join line as gone on gone.stage_id = stage.id and gone.dropped is not null
                  join package on package.line_id = gone.id
                 where stage.job_id = :job
                 limit 500) as maker
          join file on file.package_id = maker.id
          join input on input.file_id = file.id and input.own = 0 and input.dropped = 1
         union
        select reader.id
          from (select package.id
                  from need
                  join stage on stage.job_id = need.maker_id
                  join line as gone on gone.stage_id = stage.id and gone.dropped is not null
                  join package on package.line_id = gone.id
                 where need.job_id = :job
                 limit 500) as maker
          join file on file.package_id = maker.id
          join input on input.file_id = file.id and input.own = 0 and input.dropped = 1
          join package as reader on reader.id = input.package_id and reader.job_id = :job
         union
        select lacking_restored.package_id
          from (select package_id from outdated_package
                 where job_id = :job and by_recipe = 0 and acceptable = 1
                 limit 500) as stale
          join lacking_restored on lacking_restored.package_id = stale.package_id
         union
        select input.package_id
          from stage
          join line on line.stage_id = stage.id
          join package on package.line_id = line.id
          join input on input.package_id = package.id and input.own = 0 and input.dropped = 1
         where stage.job_id = :job and stage.final = 1) as short
  join package on package.id = short.package_id and package.phase <> 'dropped'
  join package_path on package_path.package_id = package.id
 order by package.id
 limit :limit;

-- name: waits_for_dropped
-- Whether a waiting package of a job needs a dropped file, of a bounded number of lines.
select 1
  from (select :job as id union all select maker_id from need where job_id = :job) as made
  join stage on stage.job_id = made.id
  join line on line.stage_id = stage.id and line.dropped is not null
  join package as maker on maker.line_id = line.id
  join file on file.package_id = maker.id and file.dropped = 1 and file.present = 0
  join input on input.file_id = file.id and input.own = 0 and input.dropped = 0
  join package on package.id = input.package_id and package.phase = 'waiting'
              and package.job_id = :job
 limit 1;

-- name: could_read_absent
-- Whether a package of a final stage began without a file that was made since.
select exists (select 1
                 from input
                 join file on file.id = input.file_id and file.dropped = 0
                 join package as maker on maker.id = file.package_id and maker.phase = 'done'
                 join package on package.id = input.package_id
                 join stage on stage.id = package.stage_id and stage.final = 1
                where input.package_id = :package and input.own = 0 and input.dropped = 1);
