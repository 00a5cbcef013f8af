-- name: make_task
-- A task and its job, by its log.
insert into task (job_id, parent_id, text, rules, since, actor, note)
values (:job, (select task.id from task join job on job.id = task.job_id where job.name = :parent),
        :text, :rules, :now, :actor, :note)
returning id;

-- name: make_dataset
-- A dataset of a task.
insert into dataset (task_id, seq, type, name, source, source_id, status, since)
values (:task, :seq, :type, :name, :source, :source_id, :status, :now);

-- name: task_row
-- A task with what its job says.
select task.id, task.job_id, job.name, job.title, job.originator, job.priority, job.submitted,
       job.directory, job.source, job.parameters, job.hold, job.pause, task.parent_id, task.text,
       task.rules, task.measured, task.status, task.previous, task.since, task.actor, task.note,
       task.waits, task.next_look, task.made, task.holder, task.ended, task.destination,
       task.destination_nodes,
       task_status.generates, task_status.is_ended, stage.id as stage_id,
       merging.id as merge_stage_id, merging.lines as merges
  from task
  join job on job.id = task.job_id
  join task_status on task_status.name = task.status
  join stage on stage.job_id = job.id and stage.seq = 1
  left join stage as merging on merging.job_id = job.id and merging.seq = 2
 where task.id = :task;

-- name: tasks
-- Tasks by the names of their jobs, the newest first.
select task.id, task.job_id, job.name, job.title, job.originator, job.priority, job.submitted,
       task.status, task.since, task.note, task.waits, task.made, task.ended, task.destination,
       task.destination_why, task.acknowledged, task.acknowledged_at, task.acknowledged_because,
       json_extract(task.rules, '$.goal') as goal
  from job
  join task on task.job_id = job.id
 where job.visible = 1 and job.name glob :pattern
 order by task.id desc;

-- name: tasks_of_jobs
-- The tasks of jobs.
select task.id, task.job_id, job.name, job.title, job.originator, job.priority, job.submitted,
       task.status, task.since, task.note, task.waits, task.made, task.ended, task.destination,
       task.destination_why, task.acknowledged, task.acknowledged_at, task.acknowledged_because,
       json_extract(task.rules, '$.goal') as goal
  from json_each(:jobs) as wanted
  join task on task.job_id = wanted.value
  join job on job.id = task.job_id;

-- name: tasks_needing_a_person
-- The tasks that have ended in vain, with statuses and notes, if nobody has acknowledged that.
select task.job_id, job.name, task.status, task.note
  from json_each(:statuses) as wanted
 cross join task indexed by task_in_status on task.status = wanted.value
                                                        and task.acknowledged is null
  join job on job.id = task.job_id and job.visible = 1;

-- name: statuses_of_ended_tasks
-- The statuses of the tasks of jobs that have ended or are broken.
select task.job_id, task.status
  from json_each(:jobs) as wanted
  join task on task.job_id = wanted.value
 where task.ended is not null or task.status = 'broken';

-- name: acknowledge_task
-- A person has seen that a task ended in vain; without an actor that is withdrawn.
update task
   set acknowledged = :actor, acknowledged_at = iif(:actor is null, null, :now),
       acknowledged_because = :note
 where id = :task;

-- name: input_counts_of_tasks
-- How many files of the input datasets of tasks have each status.
select dataset.task_id, dataset_count.status, sum(dataset_count.n) as n
  from json_each(:tasks) as wanted
  join dataset on dataset.task_id = wanted.value and dataset.type = 'input'
  join dataset_count on dataset_count.dataset_id = dataset.id and dataset_count.n > 0
 group by dataset.task_id, dataset_count.status;

-- name: task_log
-- What has happened to a task.
select at, old, new, actor, note from task_log where task_id = :task order by id;

-- name: datasets_of_task
-- The datasets of a task.
select id, task_id, seq, type, output, name, source, source_id, status, since, note, looked, tries,
       next_look, asked, json_extract(source, '$.merged') as merged
  from dataset where task_id = :task order by seq;

-- name: output_dataset
-- An output dataset of a task by its name.
select id from dataset
 where task_id = :task and type in ('output', 'log') and name = :name;

-- name: output_datasets_of
-- The names of the output datasets of a task.
select dataset.name
  from job
  join task on task.job_id = job.id
  join dataset on dataset.task_id = task.id and dataset.type in ('output', 'log')
 where job.name = :task and job.visible = 1;

-- name: task_of_dataset
-- The task that makes the files of a dataset.
select job.name, task.status, task_status.is_ended
  from dataset
  join task on task.id = dataset.task_id
  join task_status on task_status.name = task.status
  join job on job.id = task.job_id
 where dataset.id = :dataset;

-- name: open_sources
-- Tasks that are still making files for one that takes them as they are made.
select distinct job.name
  from dataset
  join dataset as made on made.id = dataset.source_id
  join task on task.id = made.task_id
  join task_status on task_status.name = task.status and task_status.is_ended = 0
  join job on job.id = task.job_id
 where dataset.task_id = :task and json_extract(dataset.source, '$."early-start"');

-- name: numbers_of_made_files
-- The first and the last number of the files that were made for a dataset.
select min(seq) as first, max(seq) as last
  from content where dataset_id = :dataset and status in ('prepared', 'finished');

-- name: take_made_files
-- The next files that another task has made become files of a dataset. One that was replaced since
-- is processed again.
insert into content (dataset_id, output, seq, name, size, checksum, status)
select dataset.id, 0, made.seq, :job || ':' || made.name, made.size, made.checksum, 'ready'
  from dataset
  join content as made on made.dataset_id = dataset.source_id
   and made.seq > :after and made.seq <= :upto and made.status in ('prepared', 'finished')
   and made.name glob coalesce(json_extract(dataset.source, '$.match'), '*')
 where dataset.id = :dataset
    on conflict (dataset_id, name) do update
   set size = excluded.size, checksum = excluded.checksum, status = 'ready'
 where content.status in ('lost', 'missing', 'broken')
    or (content.status not in ('picked', 'running')
        and (content.size is not excluded.size or content.checksum is not excluded.checksum));

-- name: share_made_files
-- Files that were just made become files of datasets that take them as they are made.
insert into content (dataset_id, output, seq, name, size, checksum, status)
select dataset.id, 0, made.seq, job.name || ':' || made.name, made.size, made.checksum, 'ready'
  from selected_package
  join content as made on made.package_id = selected_package.package_id
   and made.output = 1 and made.status = 'prepared'
  join dataset on dataset.source_id = made.dataset_id
   and json_extract(dataset.source, '$."early-start"')
   and made.name glob coalesce(json_extract(dataset.source, '$.match'), '*')
  join task on task.id = dataset.task_id
  join task_status on task_status.name = task.status and task_status.is_ended = 0
  join dataset as source on source.id = made.dataset_id
  join task as maker on maker.id = source.task_id
  join job on job.id = maker.job_id
 where true
    on conflict (dataset_id, name) do update
   set size = excluded.size, checksum = excluded.checksum, status = 'ready'
 where content.status in ('lost', 'missing', 'broken')
    or (content.status not in ('picked', 'running')
        and (content.size is not excluded.size or content.checksum is not excluded.checksum));

-- name: lose_unmade_files
-- Files of a dataset that the other task does not have any more.
update content set status = 'lost'
 where dataset_id = :dataset and status in ('ready', 'missing', 'failed', 'partial')
   and not exists (select 1
                     from dataset
                     join content as made on made.dataset_id = dataset.source_id
                      and made.name = substr(content.name, length(:job) + 2)
                    where dataset.id = content.dataset_id);

-- name: wake_child_datasets
-- Datasets of other tasks that wait for those of a task are looked up at once.
update dataset set next_look = 0
 where next_look > 0 and source_id in (select id from dataset where task_id = :task);

-- name: wake_child_tasks
-- Tasks that wait for a task are looked at at once.
update task set next_look = 0
 where next_look > 0
   and (parent_id = :task
        or id in (select task_id from dataset
                   where source_id in (select id from dataset where task_id = :task)));

-- name: size_of_dataset
-- How many files a dataset has.
select coalesce(sum(n), 0) from dataset_count where dataset_id = :dataset;

-- name: dataset_counts
-- How many files of each dataset of a task have each status.
select dataset.id, dataset.type, dataset_count.status, dataset_count.n
  from dataset
  join dataset_count on dataset_count.dataset_id = dataset.id
 where dataset.task_id = :task and dataset_count.n > 0
 order by dataset.seq;

-- name: tasks_in
-- Tasks that have one of these statuses and are due: the first of each partition by the priority of
-- their jobs, then the second ones.
select task.id
  from json_each(:statuses) as wanted
 cross join task indexed by task_in_status
    on task.status = wanted.value and task.next_look <= :now
  join job on job.id = task.job_id and job.visible = 1
 order by row_number() over (partition by task.partition
                             order by job.priority desc, task.next_look, task.id),
          job.priority desc, task.next_look, task.id;

-- name: next_task_look
-- When the first task that waits is due.
select min(task.next_look)
  from task
  join task_status on task_status.name = task.status and task_status.is_ended = 0
 where task.next_look > :now;

-- name: has_open_tasks
-- 1 if a task has not ended.
select exists (select 1
                 from task_status
                cross join task indexed by task_in_status on task.status = task_status.name
                where task_status.is_ended = 0);

-- name: task_holder
-- The process that works on a task, until when, and the status of the task.
select holder, held_until, status from task where id = :task;

-- name: take_task
-- Lock a task that is free, or whose holder is the one named, or has had it for too long.
update task set holder = :holder, held_until = :until
 where id = :task and (holder is null or holder = :previous or held_until <= :now);

-- name: give_task
-- Unlock a task.
update task set holder = null, held_until = null where id = :task and holder = :holder;

-- name: move_task
-- Give a task a status.
update task
   set status = :new, since = :now, actor = :actor, note = :note, waits = null, next_look = 0,
       previous = iif(:new = 'paused', status, null)
 where id = :task and status = :old;

-- name: look_when_resumed
-- A paused task looks its inputs up when it is resumed.
update task set previous = 'defined' where id = :task and status = 'paused';

-- name: let_task_wait
-- Leave a task alone for a time, and say why.
update task set waits = :why, next_look = :until where id = :task;

-- name: change_task_rules
-- Give a task other rules.
update task set rules = :rules where id = :task;

-- name: move_dataset
-- Give a dataset a status.
update dataset set status = :new, since = :now, note = :note where id = :dataset and status <> :new;

-- name: looked_up
-- A dataset was looked up.
update dataset set looked = :now, tries = 0, next_look = 0 where id = :dataset;

-- name: look_failed
-- A dataset can't be looked up at present.
update dataset set tries = tries + 1, next_look = :next where id = :dataset;

-- name: ask_for_look
-- A dataset is to be looked up at once, also if a look is in progress.
update dataset set asked = asked + 1, next_look = 0 where id = :dataset;

-- name: known_contents
-- The files of a dataset as they were at the last look.
select id, name, size, events, checksum, status from content where dataset_id = :dataset;

-- name: last_content
-- The number of the last file of a dataset.
select coalesce(max(seq), 0) from content where dataset_id = :dataset;

-- name: insert_content
-- A file of a dataset.
insert into content (dataset_id, output, seq, name, size, events, checksum, status)
values (?, ?, ?, ?, ?, ?, ?, ?);

-- name: insert_number
-- A file of a dataset of which nothing is known but its name: nulls take long to bind.
insert into content (dataset_id, output, seq, name, status) values (?, ?, ?, ?, ?);

-- name: change_content
-- A file has another status, or is another of the same name.
update content set status = ?, size = ?, events = ?, checksum = ? where id = ?;

-- name: task_cursor
-- The last change of a package that was read for tasks.
select event from task_cursor;

-- name: lower_task_cursor
-- Changes were removed, so that new ones may get their numbers.
update task_cursor set event = min(event, (select coalesce(max(id), 0) from event));

-- name: remove_contents_of_job
-- Some files of the datasets of a job that is removed.
delete from content
 where id in (select content.id
                from task
                join dataset on dataset.task_id = task.id
                join content on content.dataset_id = dataset.id
               where task.job_id = :job
               limit :limit);

-- name: mark_contents
-- A file that no package processes has another status.
update content set status = ? where id = ? and status = 'ready';
-- name: pickable_contents
-- The next files of the inputs of a task that no package processes.
select content.id, content.dataset_id, content.name, content.size, content.events,
       content.checksum, content.attempts
  from dataset
  join content indexed by content_in_status
    on content.dataset_id = dataset.id and content.status = 'ready' and content.next_event is null
   and content.package_id is null
 where dataset.task_id = :task and dataset.type = 'input'
 order by dataset.seq, content.seq
 limit :limit;

-- name: take_content
-- A package takes a file.
insert into taken (content_id, package_id) values (?, ?);

-- name: pick_contents
-- ready -> picked: packages are made of the files that are taken, as far as they are still there.
-- One statement for all: triggers cost half of what they cost in one per file.
update content
   set status = 'picked', package_id = taken.package_id, attempts = attempts + 1
  from taken
 where content.id = taken.content_id and content.status = 'ready';

-- name: add_output_contents
-- The outputs of packages that were just made are files of datasets; those of packages that merge,
-- only of datasets with merged files.
insert or ignore into content (dataset_id, output, seq, name, status, package_id)
select dataset.id, 1, file.id, file.name, 'defined', file.package_id
  from file
  join dataset on dataset.task_id = :task and dataset.output = 1
   and (json_extract(dataset.source, '$.merged') is not null) = :merge
 where file.package_id >= :first and file.package_id <= :last
   and file.name glob json_extract(dataset.source, '$.match');

-- name: keep_out_of_results
-- Outputs that will be merged do not go to results/.
update file set result = 0
 where package_id >= :first and package_id <= :last and result = 1
   and exists (select 1
                 from content join dataset on dataset.id = content.dataset_id
                where content.package_id = file.package_id and content.name = file.name
                  and dataset.type in ('tmpl_output', 'tmpl_log'));

-- name: requirement_of_stage
-- A requirement of a stage that asks for the same.
select id from requirement
 where job_id = :job and stage_id = :stage and cpus = :cpus and cpu = :cpu and memory is :memory
   and gpus = :gpus and disk is :disk and space is :space and platform is :platform
   and nodes = :nodes and exclude_nodes = :exclude_nodes and software = :software
   and needs = :needs and early = :early and fetches = :fetches and priority is :priority
   and avoid is null and stay is null and failed_on is null and boost = 0
 limit 1;

-- name: count_made
-- Packages were made of files of a task.
update task set made = :made where id = :task;

-- name: add_work
-- Packages were added to a stage that will take so many CPU seconds.
update stage set work = work + :work where id = :stage;

-- name: queued_packages
-- How many packages of a stage are still to be launched, and how many are on nodes.
select coalesce(sum(iif(phase.status in ('unscheduled', 'scheduled'), n, 0)), 0) as queued,
       coalesce(sum(iif(phase.status = 'launched', n, 0)), 0) as launched
  from stage_count join phase on phase.name = stage_count.phase
 where stage_count.stage_id = :stage;

-- name: keep_task_cursor
-- Changes of packages were read for tasks up to this one.
update task_cursor set event = :event;

-- name: end_of_events
-- The last of the next changes.
select max(id) from (select id from event where id > :after order by id limit :limit);

-- name: choose_moved
-- The packages that changed between two events and of which files of tasks are processed or made.
insert or ignore into selected_package (package_id)
select distinct event.package_id
  from event
 where event.id > :after and event.id <= :upto
   and (exists (select 1 from content where content.package_id = event.package_id)
        or exists (select 1 from event_range where event_range.package_id = event.package_id)
        or exists (select 1 from content where content.merge_id = event.package_id));

-- name: start_contents
-- picked, defined -> running: the packages that read or make them were launched, or have ended.
update content set status = 'running'
 where status in ('picked', 'defined')
   and package_id in (select package_id from selected_package_state
                       where status in ('launched', 'successful', 'failed'));

-- name: finish_contents
-- running -> finished: their packages were successful.
update content set status = 'finished'
 where status = 'running' and output = 0
   and package_id in (select package_id from selected_package_state where phase = 'done');

-- name: prepare_outputs
-- running -> prepared: they were made. Those that were made again since the last look are not what
-- they were.
update content
   set status = iif(status = 'running', 'prepared', status),
       (size, checksum) = (select file.size, file.checksum from file
                            where file.package_id = content.package_id
                              and file.name = content.name)
 where output = 1 and status in ('running', 'prepared', 'merging', 'finished')
   and package_id in (select package_id from selected_package_state where phase = 'done');

-- name: unfinish_contents
-- Inputs: finished, failed -> picked; outputs: prepared, merging, finished, failed -> defined. Their
-- packages are made again, or were retried by a user. A package that was made again may have ended
-- by now: what it had processed and made counts no more, either.
update content set status = iif(output, 'defined', 'picked')
 where package_id in (select package_id from selected_package_state where phase <> 'done')
   and (status in ('prepared', 'merging', 'finished')
        or (status = 'failed'
            and (select phase from package where package.id = content.package_id)
                not in ('failed', 'canceled', 'dropped')));

-- name: fail_contents
-- picked, running -> failed: their packages failed, and so many attempts are enough.
update content set status = 'failed'
 where output = 0 and status in ('picked', 'running')
   and package_id in (select package_id from selected_package_state
                       where phase in ('failed', 'canceled', 'dropped'))
   and (exists (select 1 from package
                 where package.id = content.package_id and package.phase = 'dropped')
        or attempts - tried_from >=
           (select coalesce(json_extract(task.rules, '$.attempts'), 3)
              from dataset join task on task.id = dataset.task_id
             where dataset.id = content.dataset_id));

-- name: fail_outputs
-- defined, running -> failed: their packages failed.
update content set status = 'failed'
 where output = 1 and status in ('defined', 'running')
   and package_id in (select package_id from selected_package_state
                       where phase in ('failed', 'canceled', 'dropped'));

-- name: choose_repackaged
-- Select the ended packages whose files go into other packages.
insert or ignore into needed (package_id)
select distinct content.package_id
  from selected_package
  join content on content.package_id = selected_package.package_id
   and content.output = 0 and content.status in ('picked', 'running')
  join package on package.id = selected_package.package_id
 where package.phase in ('failed', 'canceled');

-- name: return_contents
-- picked, running -> ready: their packages failed, and other packages will be made of them.
update content set status = 'ready', package_id = null
 where output = 0 and status in ('picked', 'running')
   and package_id in (select package_id from needed);

-- name: forget_outputs_of_repackaged
-- Other packages have outputs of their own.
delete from content where output = 1 and package_id in (select package_id from needed);

-- name: drop_repackaged
-- failed, canceled -> dropped: the files of these packages go into other packages. So do those of
-- packages that wait to merge a file that will not be made.
update package
   set phase = 'dropped', node_id = null, changed = :now, actor = 'd0ctl',
       note = 'repackaged'
 where id in (select package_id from needed)
   and phase in ('failed', 'canceled', 'waiting', 'ready', 'cooloff', 'held');

-- name: drop_files_of_repackaged
-- The outputs of these packages will not be made by them.
update file set dropped = 1 where package_id in (select package_id from needed) and dropped = 0;

-- name: wake_moved_tasks
-- Let the agents look at the tasks of packages that have moved.
update task set next_look = 0
 where next_look > 0
   and job_id in (select job_id from selected_package_state);

-- name: finish_outputs
-- prepared -> finished: some outputs of a task that are not merged any more.
update content set status = 'finished'
 where id in (select content.id
                from dataset
                join content indexed by content_in_status
                  on content.dataset_id = dataset.id and content.status = 'prepared'
               where dataset.task_id = :task and dataset.type in ('output', 'log')
               limit :limit);


-- name: files_named
-- Files of a job by their names, with the packages that make them.
select file.id, file.name, file.package_id, file.present, package.phase
  from json_each(:names) as wanted
  join file on file.job_id = :job and file.name = wanted.value
  left join package on package.id = file.package_id;

-- name: begin_content_attempts
-- Record the packages that were just made of files.
insert into content_attempt (content_id, number, package_id, began)
select id, attempts, package_id, :now
  from content
 where package_id >= :first and package_id <= :last and output = 0 and status = 'picked';

-- name: end_content_attempts
-- The packages of the last attempts of files have ended, by themselves when their wrappers say so.
update content_attempt
   set ended = coalesce(found.ended, :now), outcome = found.outcome
  from (select content.id, content.attempts,
               iif(package.phase = 'done', 'finished', package.phase) as outcome,
               iif(package.phase in ('done', 'failed') and package.actor is null,
                   attempt.ended, null) as ended
          from selected_package
          join content on content.package_id = selected_package.package_id and content.output = 0
          join package on package.id = selected_package.package_id
          left join attempt on attempt.id = package.attempt_id
         where package.phase in ('done', 'failed', 'canceled', 'dropped')) as found
 where content_attempt.content_id = found.id and content_attempt.number = found.attempts
   and content_attempt.outcome is not found.outcome;

-- name: last_requirement
-- What the last package of a stage requests.
select requirement.*
  from line
  join package on package.line_id = line.id
  join requirement on requirement.id = package.requirement_id
 where line.stage_id = :stage
 order by line.seq desc
 limit 1;

-- name: sharers_of_task
-- How many tasks of the partition of a task make packages.
select count(*)
  from task as mine
  join task on task.partition = mine.partition
  join task_status on task_status.name = task.status and task_status.generates = 1
  join job on job.id = task.job_id and job.hold = 0 and job.pause = 0
 where mine.id = :task
   and exists (select 1 from dataset join dataset_count
                  on dataset_count.dataset_id = dataset.id and dataset_count.n > 0
                where dataset.task_id = task.id and dataset.type = 'input'
                  and dataset_count.status in ('ready', 'picked', 'running'));

-- name: keep_partition
-- The share of a task, and what its packages request.
update task set partition = :partition where id = :task and partition is not :partition;

-- name: has_tasks
-- 1 if there is a task.
select exists (select 1 from task);

-- name: open_task_of_job
-- 1 if the task of a job goes on without a user.
select exists (select 1
                 from task join task_status on task_status.name = task.status
                where task.job_id = :job and task_status.is_ended = 0
                  and task.status <> 'paused');

-- name: drop_task_locks
-- Unlock all tasks: the processes of the time of the backup are gone.
update task set holder = null, held_until = null where holder is not null;

-- name: task_of_job
-- The task whose packages a job has.
select id from task where job_id = :job;

-- name: task_may_move
-- 1 if a task may get a status.
select exists (select 1 from task_transition where old = :old and new = :new);

-- name: change_task_parameters
-- Packages that are made from now on get other values.
update job set parameters = :parameters where id = :job;

-- name: choose_given_up
-- Select the ended packages of files that were not processed.
insert or ignore into needed (package_id)
select distinct package.id
  from dataset
  join content on content.dataset_id = dataset.id and content.status in ('failed', 'partial')
  join package on package.id = content.package_id
   and package.phase in ('failed', 'canceled', 'dropped')
 where dataset.task_id = :task and dataset.type = 'input';

-- name: try_contents_again
-- failed, partial -> ready: a user retries a task, and its files get all their attempts again. Files
-- of a package that a user has just retried stay with it.
update content set status = 'ready', package_id = null, tried_from = attempts
 where output = 0 and status in ('failed', 'partial')
   and dataset_id in (select id from dataset where task_id = :task and type = 'input')
   and not exists (select 1 from package
                    where package.id = content.package_id
                      and package.phase not in ('done', 'failed', 'canceled', 'dropped'));

-- name: keep_measured
-- What the scouts of a task needed.
update task set measured = :measured where id = :task;

-- name: measured_scouts
-- What the packages of a task needed that were made so far, and how many files and events each
-- processed.
select package.phase, attempt.ended - coalesce(attempt.started, attempt.launched) as seconds,
       attempt.cpu, attempt.rss,
       (select sum(file.size) from file where file.package_id = package.id) as output,
       (select count(*) from content
         where content.package_id = package.id and content.output = 0) as files,
       coalesce((select sum(last - first + 1) from event_range
                  where event_range.package_id = package.id),
                (select sum(events) from content
                  where content.package_id = package.id and content.output = 0)) as events
  from line
  join package on package.line_id = line.id
  left join attempt on attempt.id = package.attempt_id
 where line.stage_id = :stage and line.seq <= :limit;

-- name: said_of_task
-- 1 if something was recorded of a task that kept its status.
select exists (select 1 from task_log
                where task_id = :task and old = new and at >= :since);

-- name: say_of_task
-- Something about a task that keeps its status; once for each time that it gets it.
insert into task_log (at, task_id, old, new, note)
select :now, task.id, task.status, task.status, :note
  from task
 where task.id = :task
   and not exists (select 1 from task_log
                    where task_log.task_id = task.id and task_log.old = task.status
                      and task_log.new = task.status and task_log.at >= task.since);

-- name: choose_packages_of_task
-- Select the packages of a job.
insert or ignore into selected_package (package_id) select id from package where job_id = :job;
