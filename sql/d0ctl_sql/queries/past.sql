-- name: set_moment
-- The moment that this connection reads, and the last event by then.
insert into moment (at, last) values (:at, :last);

-- name: event_at_or_before
-- An event by its number, or the last one before it.
select id, at from event where id <= :id order by id desc limit 1;

-- name: views_of_schema
-- The views, as they were made.
select sql from sqlite_master where type = 'view';

-- name: indices_of_past
-- The named indices of tables that have one of the past in their place, as they were made.
select sql from main.sqlite_master as present
 where type = 'index' and sql is not null
   and exists (select 1 from temp.sqlite_master
                where type = 'table' and name = present.tbl_name);

-- name: enter_past
-- Tables that take the place of those of the present, as they were at the moment. Indices
-- that queries ask for by name follow from those of the present. A package without an event since then is as it is now. Of the
-- others, the first event since then says the phase, the last event before it all else. A package
-- that was dropped then has no acknowledgement, even if its restore has brought one back.
create temp table later (package_id integer primary key, id integer);
insert into later (package_id, id)
select package_id, min(id) from main.event
 where id > (select last from moment) group by package_id;
create temp table job as
select * from main.job where submitted <= (select at from moment) and visible = 1;
create unique index temp.job_id on job (id);
update temp.job set ended = null where ended > (select at from moment);
create temp table job_end as
select * from main.job_end where at <= (select at from moment);
create unique index temp.job_end_id on job_end (job_id, at);
update temp.job set hold = 0 where hold_since > (select at from moment);
update temp.job set pause = 0 where pause_since > (select at from moment);
update temp.job
   set (hold, hold_actor, hold_note, hold_since) = (1, was.actor, was.note, was.since)
  from main.past_stop as was
 where was.job_id = job.id and was.verb = 'hold'
   and was.since <= (select at from moment) and was.ended > (select at from moment);
update temp.job
   set (pause, pause_running, pause_actor, pause_note, pause_since, pause_until) =
       (1, was.running, was.actor, was.note, was.since, was.until)
  from main.past_stop as was
 where was.job_id = job.id and was.verb = 'pause'
   and was.since <= (select at from moment) and was.ended > (select at from moment);
update temp.job set finish = null where finish_since > (select at from moment);
create temp table package as
select * from main.package
 where job_id in (select id from temp.job)
   and (added is null or added <= (select at from moment));
create unique index temp.package_id on package (id);
create temp table attempt as
select * from main.attempt where launched <= (select at from moment);
create unique index temp.attempt_id on attempt (id);
create unique index temp.attempt_of_package on attempt (package_id, number);
update temp.attempt
   set ended = null, outcome = null, reason = null, message = null, binary = null,
       exit_code = null, signal = null, cpu = null, rss = null, stderr = null, answer = null
 where ended > (select at from moment);
update temp.attempt set wrapper_started = null where wrapper_started > (select at from moment);
update temp.attempt set started = null where started > (select at from moment);
update temp.package
   set (phase, changed, node_id, attempt_id, actor, note, request, attempts, restarts) =
       (select first.old, coalesce(prior.at, package.added, temp.job.submitted),
               prior.node_id, prior.attempt_id, prior.actor, prior.note, null,
               (select count(*) from temp.attempt where package_id = package.id),
               (select count(*) from temp.attempt
                 where package_id = package.id and answer = 'restart')
          from temp.later
          join main.event as first on first.id = temp.later.id
          join temp.job on temp.job.id = package.job_id
          left join main.event as prior
            on prior.id = (select max(id) from main.event
                             where package_id = package.id and id < temp.later.id)
         where temp.later.package_id = package.id)
 where id in (select package_id from temp.later);
update temp.package
   set status = (select status from phase where name = package.phase),
       is_live = (select is_live from phase where name = package.phase),
       slot = phase = 'staging-in', staging = 0
 where id in (select package_id from temp.later);
create unique index temp.package_of_line on package (line_id, seq);
create temp table line as
select * from main.line
 where stage_id in (select id from main.stage where job_id in (select id from temp.job))
   and exists (select 1 from temp.package where line_id = line.id);
create unique index temp.line_id on line (id);
create unique index temp.line_of_stage on line (stage_id, seq);
update temp.line set dropped = null where dropped > (select at from moment);
create temp table acknowledgement as
select * from main.acknowledgement where at <= (select at from moment);
create unique index temp.acknowledgement_id on acknowledgement (package_id);
insert or ignore into temp.acknowledgement (package_id, stage_id, at, actor, note)
select package_id, stage_id, at, actor, note from main.past_acknowledgement
 where at <= (select at from moment) and ended > (select at from moment);
delete from temp.acknowledgement
 where (select phase from temp.package where id = package_id) <> 'failed';
create temp table stage as
select * from main.stage
 where job_id in (select id from temp.job)
   and (exists (select 1 from temp.line where stage_id = stage.id)
        or not exists (select 1 from main.line where stage_id = stage.id));
create unique index temp.stage_id on stage (id);
create unique index temp.stage_of_job on stage (job_id, seq);
update temp.stage
   set acknowledged = (select count(*) from temp.acknowledgement where stage_id = stage.id),
       lines = (select count(*) from temp.line where stage_id = stage.id);
create temp table stage_count as
select stage_id, phase, count(*) as n from temp.package group by stage_id, phase;
create unique index temp.stage_count_id on stage_count (stage_id, phase);
create temp table progress as select * from main.progress where false;
create temp view event as
select * from main.event where id <= (select last from moment);
create temp table node as select * from main.node;
create unique index temp.node_id on node (id);
update temp.node
   set state = 'unknown', load = null, contact = null, last_error = null, drained = 0;
update temp.node
   set (state, since, last_error) = (
       select 'down', began, error from main.node_outage
        where node_name = temp.node.name and kind = 'down'
          and began <= (select at from moment)
          and (ended is null or ended > (select at from moment)))
 where exists (
       select 1 from main.node_outage
        where node_name = temp.node.name and kind = 'down'
          and began <= (select at from moment)
          and (ended is null or ended > (select at from moment)));
create temp table task_log as
select * from main.task_log where at <= (select at from moment);
create index temp.task_log_id on task_log (task_id, id);
create temp table task as
select * from main.task where job_id in (select id from temp.job);
create unique index temp.task_id on task (id);
update temp.task
   set (status, since, actor, note) =
       (select new, at, actor, note from temp.task_log
         where task_id = task.id and old is not new order by id desc limit 1),
       waits = null, ended = iif(ended > (select at from moment), null, ended),
       acknowledged = iif(acknowledged_at > (select at from moment), null, acknowledged);
create temp table dataset_count as select * from main.dataset_count where false;
create temp table outdated_package as select * from main.outdated_package where false;
create temp table action as
select * from main.action where at <= (select at from moment);

-- name: end_job_of_past
-- A job that could not move at the moment had ended: when it is recorded, or with the last change of
-- its packages.
update job
   set ended = (select coalesce((select max(job_end.at) from job_end
                                  where job_id = :job and job_end.at >= still.since),
                                min(still.since, still.at))
                  from (select coalesce(max(package.changed), job.submitted) as since, moment.at
                          from moment left join package on package.job_id = :job) as still)
 where id = :job;

-- name: first_of_last_attempts
-- The id of the first of the last attempts; a restore leaves a large gap in the ids.
select coalesce(min(id), 0) from (select id from attempt where id > 0 order by id desc limit :limit);

-- name: attempt_spans
-- When and where the attempts from an id on, and earlier ones that have not ended, ran, of a job or
-- of all, with the slots that each took and those that its node has; null if the node is removed. Of
-- those whose end is not known: since when their node did not answer.
select package_path.path, package_path.stage, package_path.line, attempt.node_name as node,
       attempt.launched, attempt.started, attempt.ended, attempt.outcome, attempt.reason,
       coalesce(attempt.cpus, requirement.cpus) * requirement.cpu / 100.0 as took, node.cpus as node_slots,
       attempt.suspended,
       iif(attempt.ended is null and package.phase = 'suspended', package.changed, null)
           as suspended_since,
       case when attempt.ended is not null
            then (select run_end.ended from run_end
                   where run_end.attempt_id = attempt.id and run_end.ended <> attempt.ended)
            when package.phase = 'unreachable' or node.state = 'down'
            then max(coalesce((select max(at) from event
                                where event.package_id = package.id
                                  and event.attempt_id = attempt.id and event.new = 'unreachable'
                                  and package.phase = 'unreachable'),
                              node.since, package.changed),
                     coalesce(attempt.started, attempt.launched)) end as contact_lost
  from (select id from attempt where id >= :first
        union
        select attempt_id from package where is_live = 1) as some
  cross join attempt on attempt.id = some.id
  cross join package_path on package_path.package_id = attempt.package_id
  join package on package.id = attempt.package_id
  join requirement on requirement.id = package.requirement_id
  left join node on node.id = attempt.node_id
 where (attempt.id >= :first or attempt.ended is null) and package_path.visible = 1
   and (:job is null or package_path.job_id = :job)
 order by attempt.launched, attempt.id;

-- name: successful_beside
-- The last package of a stage that has succeeded, of a bounded number of its job's; one with the same
-- number in its line, if there is any.
select package_path.path
  from (select some.id
          from (select id, stage_id, seq from package indexed by package_in_phase
                 where job_id = :job and phase = 'done' order by id desc limit 20000) as some
         where some.stage_id = :stage
         order by some.seq = :seq desc, some.id desc limit 1) as nearest
  join package_path on package_path.package_id = nearest.id;
