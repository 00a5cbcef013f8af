-- name: make_task
-- A task and its job, by its log.
insert into task (job_id, parent_id, text, rules, since, actor, note)
values (:job, (select task.id from task join job on job.id = task.job_id where job.name = :parent),
        :text, :rules, :now, :actor, :note)
returning id;

-- name: make_dataset
-- A dataset of a task.
insert into dataset (task_id, seq, type, name, source, status, since)
values (:task, :seq, :type, :name, :source, :status, :now);

-- name: task_row
-- A task with what its job says.
select task.id, task.job_id, job.name, job.title, job.originator, job.priority, job.submitted,
       job.directory, job.source, job.parameters, job.hold, job.pause, task.parent_id, task.text,
       task.rules, task.measured, task.status, task.former, task.since, task.actor, task.note,
       task.waits, task.next_look, task.made, task.holder, task.ended,
       task_status.generates, task_status.is_ended, stage.id as stage_id
  from task
  join job on job.id = task.job_id
  join task_status on task_status.name = task.status
  join stage on stage.job_id = job.id and stage.seq = 1
 where task.id = :task;

-- name: tasks
-- Tasks by the names of their jobs, the newest first.
select task.id, task.job_id, job.name, job.title, job.originator, job.priority, job.submitted,
       task.status, task.since, task.note, task.waits, task.made, task.ended,
       json_extract(task.rules, '$.goal') as goal
  from job
  join task on task.job_id = job.id
 where job.visible = 1 and job.name glob :pattern
 order by task.id desc;

-- name: task_log
-- What has happened to a task.
select at, old, new, actor, note from task_log where task_id = :task order by id;

-- name: datasets_of_task
-- The datasets of a task.
select id, seq, type, output, name, source, status, since, note, looked, tries, next_look
  from dataset where task_id = :task order by seq;

-- name: dataset_counts
-- How many files of each dataset of a task have each status.
select dataset.id, dataset.type, dataset_count.status, dataset_count.n
  from dataset
  join dataset_count on dataset_count.dataset_id = dataset.id
 where dataset.task_id = :task and dataset_count.n > 0
 order by dataset.seq;

-- name: tasks_in
-- Tasks that have one of these statuses and are due, by the priority of their jobs.
select task.id
  from json_each(:statuses) as wanted
 cross join task indexed by task_in_status
    on task.status = wanted.value and task.next_look <= :now
  join job on job.id = task.job_id and job.visible = 1
 order by job.priority desc, task.next_look, task.id;

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
-- The process that works on a task, and until when.
select holder, held_until from task where id = :task;

-- name: take_task
-- Lock a task that is free, or whose holder is the one named, or has had it for too long.
update task set holder = :holder, held_until = :until
 where id = :task and (holder is null or holder = :former or held_until <= :now);

-- name: give_task
-- Unlock a task.
update task set holder = null, held_until = null where id = :task and holder = :holder;

-- name: move_task
-- Give a task a status.
update task
   set status = :new, since = :now, actor = :actor, note = :note, waits = null, next_look = 0,
       former = iif(:new = 'paused', status, null)
 where id = :task and status = :old;

-- name: let_task_wait
-- Leave a task alone for a time, and say why.
update task set waits = :why, next_look = :until where id = :task;

-- name: let_task_go_on
-- Nothing keeps a task from going on.
update task set waits = null where id = :task and waits is not null;

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
