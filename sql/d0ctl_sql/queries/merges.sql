-- name: merging_contents
-- Files of a dataset that are being merged.
select id from content indexed by content_in_status
 where dataset_id = :dataset and status = 'merging'
 limit :limit;

-- name: mergeable_contents
-- The next files of a dataset that are to be merged.
select id, dataset_id, name, size, events, checksum, attempts
  from content indexed by content_in_status
 where dataset_id = :dataset and status = 'prepared'
 order by seq
 limit :limit;

-- name: merge_content
-- A package merges a file, if it is still there.
update content set status = 'merging', merge_id = ?, attempts = attempts + 1
 where id = ? and status = 'prepared';

-- name: count_merging
-- How many files packages were just made to merge.
select count(*) from content where merge_id >= :first and merge_id <= :last and status = 'merging';

-- name: begin_merge_attempts
-- Record the packages that were just made to merge files.
insert into content_attempt (content_id, number, package_id, began)
select id, attempts, merge_id, :now
  from content
 where merge_id >= :first and merge_id <= :last and status = 'merging';

-- name: choose_mergers
-- Select also the packages that merge outputs of the selected ones.
insert or ignore into selected_package (package_id)
select distinct content.merge_id
  from selected_package join content on content.package_id = selected_package.package_id
 where content.merge_id is not null;

-- name: choose_outdated_merges
-- Select the selected packages that have merged an output which was made again since they began.
insert or ignore into needed (package_id)
select merging.id
  from selected_package
  join package as merging on merging.id = selected_package.package_id and merging.phase = 'done'
 where exists (select 1
                 from content
                 join package as maker on maker.id = content.package_id and maker.phase = 'done'
                where content.merge_id = merging.id
                  and (select max(id) from event where package_id = maker.id and new = 'done')
                    > (select max(id) from event
                        where package_id = merging.id and new = 'assigned'));

-- name: choose_needed
-- Select the packages that are needed.
insert or ignore into selected_package (package_id) select package_id from needed;

-- name: merge_outputs_again
-- prepared -> merging: they were made again for the package that merges them.
update content set status = 'merging'
 where status = 'prepared' and merge_id in (select package_id from selected_package);

-- name: unfinish_merges
-- finished, failed -> merging: their packages merge again, or were retried by a user. A package that
-- was to merge again may have ended by now: what it had merged is not merged any more, either.
update content set status = 'merging'
 where merge_id in (select package_id from selected_package_state where phase <> 'done')
   and (status = 'finished'
        or (status = 'failed'
            and (select phase from package where package.id = content.package_id) = 'done'
            and (select phase from package where package.id = content.merge_id)
                not in ('failed', 'canceled', 'dropped')));

-- name: finish_merges
-- merging -> finished: they were merged.
update content set status = 'finished'
 where status = 'merging'
   and merge_id in (select package_id from selected_package_state where phase = 'done');

-- name: merge_ranges
-- done -> merged: the outputs of their packages were merged.
update event_range set status = 'merged'
 where status = 'done'
   and package_id in (select content.package_id
                        from selected_package
                        join content on content.merge_id = selected_package.package_id
                         and content.status = 'finished');

-- name: end_merge_attempts
-- The packages that last merged files have ended, by themselves when their wrappers say so.
update content_attempt
   set ended = coalesce(found.ended, :now), outcome = found.outcome
  from (select content.id, content.attempts,
               iif(package.phase = 'done', 'finished', package.phase) as outcome,
               iif(package.phase in ('done', 'failed') and package.actor is null,
                   attempt.ended, null) as ended
          from selected_package
          join content on content.merge_id = selected_package.package_id
          join package on package.id = selected_package.package_id
          left join attempt on attempt.id = package.attempt_id
         where package.phase in ('done', 'failed', 'canceled', 'dropped')) as found
 where content_attempt.content_id = found.id and content_attempt.number = found.attempts
   and content_attempt.outcome is not found.outcome;

-- name: fail_merges
-- merging -> failed: they were not merged, and so many attempts are enough.
update content set status = 'failed'
 where status = 'merging'
   and merge_id in (select package_id from selected_package_state
                     where phase in ('failed', 'canceled', 'dropped'))
   and (exists (select 1 from package
                 where package.id = content.merge_id and package.phase = 'dropped')
        or attempts - tried_from >=
           (select coalesce(json_extract(task.rules, '$.attempts'), 3)
              from dataset join task on task.id = dataset.task_id
             where dataset.id = content.dataset_id));

-- name: choose_ended_merges
-- Select the ended packages whose files are merged by other packages.
insert or ignore into needed (package_id)
select distinct content.merge_id
  from selected_package
  join content on content.merge_id = selected_package.package_id and content.status = 'merging'
  join package on package.id = selected_package.package_id
 where package.phase in ('failed', 'canceled');

-- name: choose_vain_merges
-- Select the packages that wait to merge an output of a selected one, which did not make it.
insert or ignore into needed (package_id)
select distinct content.merge_id
  from selected_package
  join package as maker on maker.id = selected_package.package_id
   and maker.phase in ('failed', 'canceled', 'dropped')
  join content on content.package_id = maker.id and content.output = 1
  join package on package.id = content.merge_id
   and package.phase in ('waiting', 'ready', 'cooloff', 'held');

-- name: end_vain_attempts
-- Other packages will merge the files of the selected ones.
update content_attempt
   set ended = :now, outcome = 'dropped'
 where outcome is null
   and (content_id, number) in (select content.id, content.attempts
                                  from needed
                                  join content on content.merge_id = needed.package_id);

-- name: return_merges
-- merging -> prepared: other packages will merge them.
update content set status = 'prepared'
 where status = 'merging' and merge_id in (select package_id from needed);

-- name: leave_merges
-- The files of the selected packages have left them.
update content set merge_id = null where merge_id in (select package_id from needed);

-- name: choose_given_up_merges
-- Select the ended packages that did not merge files of a task.
insert or ignore into needed (package_id)
select distinct package.id
  from dataset
  join content on content.dataset_id = dataset.id and content.status = 'failed'
  join package on package.id = content.merge_id
   and package.phase in ('failed', 'canceled', 'dropped')
 where dataset.task_id = :task and dataset.type in ('tmpl_output', 'tmpl_log');

-- name: try_merges_again
-- failed -> prepared: a user retries a task, and its files get all their attempts again.
update content set status = 'prepared', tried_from = attempts
 where status = 'failed' and merge_id in (select package_id from needed);

-- name: count_unmerged
-- How many processed input files of a task have an output that was not merged.
with maker (id) as (
    select distinct content.package_id
      from dataset
      join content on content.dataset_id = dataset.id
       and content.status = 'failed' and content.merge_id is not null
     where dataset.task_id = :task and dataset.type in ('tmpl_output', 'tmpl_log')
)
select count(*)
  from (select content.id
          from maker
          join content on content.package_id = maker.id
           and content.output = 0 and content.status = 'finished'
         union
        select content.id
          from maker
          join event_range on event_range.package_id = maker.id
          join content on content.id = event_range.content_id and content.status = 'finished');

-- name: unmerged_files
-- The files of a task that were made to be merged, and were not, and their size.
select count(*) as files, coalesce(sum(content.size), 0) as size
  from dataset
  join content on content.dataset_id = dataset.id
   and (content.status = 'prepared'
        or (content.status = 'failed' and content.merge_id is not null))
 where dataset.task_id = :task and dataset.type in ('tmpl_output', 'tmpl_log');

-- name: left_of_task
-- Failed packages of a task whose outputs were kept on nodes, and the size of these.
select count(*) as packages, coalesce(sum(attempt.left_size), 0) as size
  from task
  join job on job.id = task.job_id
 cross join attempt indexed by attempt_left
    on attempt.left_size is not null and attempt.ended >= job.submitted
  join package on package.id = attempt.package_id and package.job_id = task.job_id
 where task.id = :task;
