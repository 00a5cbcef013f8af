-- name: has_replaced
-- 1 if an input file of a task was replaced after a package had processed it.
select 1
  from dataset
  join content indexed by content_replaced
    on content.dataset_id = dataset.id
   and content.status = 'ready' and content.package_id is not null
 where dataset.task_id = :task and dataset.type = 'input'
 limit 1;

-- name: choose_replaced
-- Select the packages that have processed input files of a task before these were replaced.
insert or ignore into selected_package (package_id)
select package.id
  from dataset
  join content indexed by content_replaced
    on content.dataset_id = dataset.id
   and content.status = 'ready' and content.package_id is not null
  join package on package.id = content.package_id and package.phase = 'done'
 where dataset.task_id = :task and dataset.type = 'input';

-- name: choose_failed_replaced
-- Select the ended packages that did not process files which were replaced then.
insert or ignore into needed (package_id)
select package.id
  from dataset
  join content indexed by content_replaced
    on content.dataset_id = dataset.id
   and content.status = 'ready' and content.package_id is not null
  join package on package.id = content.package_id
   and package.phase in ('failed', 'canceled', 'dropped')
 where dataset.task_id = :task and dataset.type = 'input';

-- name: leave_replaced
-- Other packages will process the files of the selected ones that were replaced.
update content set package_id = null
 where status = 'ready' and package_id in (select package_id from needed);

-- name: pick_replaced
-- ready -> picked: their packages process them again.
update content set status = 'picked'
 where status = 'ready'
   and package_id in (select package_id from selected_package_state
                       where phase not in ('failed', 'canceled', 'dropped'));

-- name: choose_live_replaced
-- Select the packages that process files again which were replaced.
insert or ignore into selected_package (package_id)
select package.id
  from dataset
  join content indexed by content_replaced
    on content.dataset_id = dataset.id
   and content.status = 'ready' and content.package_id is not null
  join package on package.id = content.package_id
   and package.phase not in ('done', 'failed', 'canceled', 'dropped')
 where dataset.task_id = :task and dataset.type = 'input';

-- name: keep_mergers
-- Of the selected packages, only those that merge and have not ended.
delete from selected_package
 where not exists (select 1 from content where content.merge_id = selected_package.package_id)
    or (select phase from package where package.id = selected_package.package_id)
       in ('done', 'failed', 'canceled', 'dropped');
