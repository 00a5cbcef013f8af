-- name: ranges_again
-- The next ranges of events of a task that other packages did not process.
select content.id, content.dataset_id, content.name, content.size, content.events, content.checksum,
       content.attempts, event_range.first, event_range.last
  from dataset
  join event_range indexed by event_range_ready
    on event_range.dataset_id = dataset.id and event_range.status = 'ready'
  join content on content.id = event_range.content_id
   and content.status in ('ready', 'picked', 'running')
 where dataset.task_id = :task and dataset.type = 'input'
 order by dataset.seq, event_range.content_id, event_range.first
 limit :limit;

-- name: split_contents
-- The files of a task of which packages process some ranges of events, and none the others yet.
select content.id, content.dataset_id, content.name, content.size, content.events, content.checksum,
       content.attempts, content.next_event
  from dataset
  join content indexed by content_split
    on content.dataset_id = dataset.id and content.next_event <= content.events
   and content.status in ('ready', 'picked', 'running')
 where dataset.task_id = :task and dataset.type = 'input'
 order by dataset.seq, content.seq
 limit :limit;

-- name: send_range
-- A package is made of a range of events, if no other has it.
insert into event_range (content_id, dataset_id, first, last, status, attempts, package_id)
values (?, ?, ?, ?, 'sent', 1, ?)
on conflict do update
   set status = 'sent', attempts = attempts + 1, package_id = excluded.package_id
 where status = 'ready' and last = excluded.last;

-- name: count_sent
-- How many ranges of events packages were just made of.
select count(*) from event_range
 where package_id >= :first and package_id <= :last and status = 'sent';

-- name: keep_split
-- The first event of a file that is in no range yet.
update content set next_event = max(coalesce(next_event, 0), ?) where id = ?;

-- name: pick_split
-- ready -> picked: packages were made of some of their events.
update content set status = 'picked'
 where status = 'ready'
   and id in (select content_id from event_range
               where package_id >= :first and package_id <= :last);

-- name: choose_split
-- Select the files whose ranges of events the selected packages process.
insert or ignore into split_content (content_id)
select event_range.content_id
  from selected_package join event_range on event_range.package_id = selected_package.package_id;

-- name: lose_ranges
-- finished -> failed: their packages run again.
update event_range set status = 'failed'
 where status = 'finished'
   and package_id in (select package_id from selected_package_state
                       where is_final = 0 and phase <> 'transferring');

-- name: corrupt_ranges
-- done, merged -> corrupted: their packages are made again, because their files are gone or damaged.
-- They may have failed or been canceled by now.
update event_range set status = 'corrupted'
 where status in ('done', 'merged')
   and package_id in (select package_id from selected_package_state where phase <> 'done');

-- name: free_ranges
-- corrupted, failed, fatal -> ready: their packages are made again, or were retried by a user.
update event_range set status = 'ready'
 where package_id in (select package_id from selected_package_state where phase <> 'done')
   and (status = 'corrupted'
        or (status in ('failed', 'fatal')
            and (select phase from package where package.id = event_range.package_id)
                not in ('failed', 'canceled', 'dropped')));

-- name: send_ranges
-- ready -> sent: their packages are made again, or were retried by a user.
update event_range set status = 'sent'
 where status = 'ready' and package_id in (select package_id from selected_package);

-- name: start_ranges
-- sent -> running: their packages were launched, or have ended.
update event_range set status = 'running'
 where status = 'sent'
   and package_id in (select package_id from selected_package_state
                       where status in ('launched', 'successful', 'failed'));

-- name: process_ranges
-- running -> finished: their packages have processed them.
update event_range set status = 'finished'
 where status = 'running'
   and package_id in (select package_id from selected_package_state
                       where phase in ('transferring', 'done'));

-- name: end_ranges
-- finished -> done: their packages were successful.
update event_range set status = 'done'
 where status = 'finished'
   and package_id in (select package_id from selected_package_state where phase = 'done');

-- name: fail_ranges
-- sent, running, finished -> failed: their packages failed.
update event_range set status = 'failed'
 where status in ('sent', 'running', 'finished')
   and package_id in (select package_id from selected_package_state where phase = 'failed');

-- name: cancel_ranges
-- sent, running -> cancelled, finished -> discarded: their packages were killed.
update event_range set status = iif(status = 'finished', 'discarded', 'cancelled')
 where status in ('sent', 'running', 'finished')
   and package_id in (select package_id from selected_package_state
                       where phase in ('canceled', 'dropped'));

-- name: give_up_ranges
-- failed, cancelled, discarded -> fatal: so many attempts are enough.
update event_range set status = 'fatal'
 where status in ('failed', 'cancelled', 'discarded')
   and package_id in (select package_id from selected_package)
   and (exists (select 1 from package
                 where package.id = event_range.package_id and package.phase = 'dropped')
        or attempts >=
           (select coalesce(json_extract(task.rules, '$.attempts'), 3)
              from dataset join task on task.id = dataset.task_id
             where dataset.id = event_range.dataset_id));

-- name: choose_repackaged_ranges
-- Select the ended packages whose ranges of events go into other packages.
insert or ignore into needed (package_id)
select event_range.package_id
  from selected_package
  join event_range on event_range.package_id = selected_package.package_id
   and event_range.status in ('failed', 'cancelled', 'discarded')
  join package on package.id = selected_package.package_id
 where package.phase in ('failed', 'canceled');

-- name: return_ranges
-- failed, cancelled, discarded -> ready: other packages will be made of them.
update event_range set status = 'ready', package_id = null
 where status in ('failed', 'cancelled', 'discarded')
   and package_id in (select package_id from needed);

-- name: free_split_contents
-- partial -> ready: packages process some of their events again.
update content set status = 'ready'
 where status = 'partial' and id in (select content_id from split_content)
   and exists (select 1 from event_range_count as counted
                where counted.content_id = content.id and counted.n > 0
                  and counted.status in ('ready', 'sent', 'running', 'finished'));

-- name: pick_split_contents
-- ready, finished, failed -> picked: packages process some of their events.
update content set status = 'picked'
 where status in ('ready', 'finished', 'failed')
   and id in (select content_id from split_content)
   and exists (select 1 from event_range_count as counted
                where counted.content_id = content.id and counted.n > 0
                  and counted.status in ('sent', 'running', 'finished'));

-- name: start_split_contents
-- picked -> running: some of their events are processed, or were.
update content set status = 'running'
 where status = 'picked' and id in (select content_id from split_content)
   and exists (select 1 from event_range_count as counted
                where counted.content_id = content.id and counted.n > 0
                  and counted.status not in ('ready', 'sent', 'cancelled', 'fatal'));

-- name: end_split_contents
-- picked, running -> ready, finished, partial, failed: no package processes their events now.
update content
   set status = (
       select iif(content.next_event <= content.events
                  or total(iif(status = 'ready', n, 0)) > 0, 'ready',
              iif(total(iif(status = 'fatal', n, 0)) = 0, 'finished',
              iif(total(iif(status in ('done', 'merged'), n, 0)) > 0, 'partial', 'failed')))
         from event_range_count as counted
        where counted.content_id = content.id)
 where status in ('picked', 'running') and id in (select content_id from split_content)
   and not exists (select 1 from event_range_count as counted
                    where counted.content_id = content.id and counted.n > 0
                      and counted.status in ('sent', 'running', 'finished'));

-- name: choose_split_again
-- Select the files of a task with ranges of events that failed for good.
insert or ignore into split_content (content_id)
select event_range_count.content_id
  from dataset
  join content on content.dataset_id = dataset.id
   and content.status in ('failed', 'partial', 'ready') and content.next_event is not null
  join event_range_count on event_range_count.content_id = content.id
   and event_range_count.status = 'fatal' and event_range_count.n > 0
 where dataset.task_id = :task and dataset.type = 'input';

-- name: choose_given_up_ranges
-- Select the ended packages of ranges of events that were not processed.
insert or ignore into needed (package_id)
select event_range.package_id
  from split_content
  join event_range on event_range.content_id = split_content.content_id
   and event_range.status = 'fatal'
  join package on package.id = event_range.package_id
   and package.phase in ('failed', 'canceled', 'dropped');

-- name: try_ranges_again
-- fatal -> ready: a user retries a task, and its ranges of events get all their attempts again.
update event_range set status = 'ready', package_id = null, attempts = 0
 where status = 'fatal' and package_id in (select package_id from needed);

-- name: range_counts
-- How many ranges of events of each dataset of a task have each status.
select dataset.id, event_range_count.status, event_range_count.n
  from dataset
  join event_range_count
    on event_range_count.content_id = 0 and event_range_count.dataset_id = dataset.id
 where dataset.task_id = :task and event_range_count.n > 0
 order by dataset.seq;

-- name: packages_of_events
-- How many packages the events of a dataset make, so many for each.
select coalesce(sum((events + :events - 1) / :events), 0)
  from content where dataset_id = :dataset and events > :events;

-- name: content_named
-- A file of a task by its name, an input before an output.
select content.id, dataset.name as dataset, content.name, content.status, content_status.meaning,
       content.events, iif(content.next_event <= content.events, content.next_event, null) as rest
  from dataset
  join content on content.dataset_id = dataset.id and content.name = :name
  join content_status on content_status.output = content.output
   and content_status.name = content.status
 where dataset.task_id = :task
 order by dataset.seq
 limit 1;

-- name: contents_in_folders
-- Two files of a task that have this name in some folder: all its files are looked at.
select content.name
  from dataset
  join content on content.dataset_id = dataset.id and substr(content.name, -length(:name) - 1) = '/' || :name
 where dataset.task_id = :task
 limit 2;

-- name: ranges_of_file
-- How many ranges of events of a file have each status.
select event_range_count.status, event_range_count.n
  from content
  join event_range_count on event_range_count.content_id = content.id
   and event_range_count.dataset_id = content.dataset_id and event_range_count.n > 0
 where content.id = :content;

-- name: open_ranges
-- The first ranges of events of a file that are not done.
select event_range.first, event_range.last, event_range.status, event_range.attempts,
       package_path.path
  from event_range
  left join package_path on package_path.package_id = event_range.package_id
 where event_range.content_id = :content and event_range.status not in ('done', 'merged')
 order by event_range.first
 limit :limit;

-- name: attempts_of_file
-- The last packages that were made of a file, the latest last.
select * from (
    select content_attempt.number, content_attempt.ended, content_attempt.outcome,
           package_path.path
      from content_attempt
      left join package_path on package_path.package_id = content_attempt.package_id
     where content_attempt.content_id = :content
     order by content_attempt.number desc
     limit :limit)
 order by number;
