-- name: make_job
-- Begin a job that is not yet visible.
insert into job (name, title, originator, priority, hold, hold_actor, hold_note, hold_since,
                 submitter, submitted, parameters, policy, directory, source, mail,
                 most_alike, max_running, max_failures)
values (:name, :title, :originator, :priority, :hold, :hold_actor, :hold_note, :hold_since,
        :submitter, :now, :parameters, :policy, :directory, :source, :mail,
        :most_alike, :max_running, :max_failures)
returning id;

-- name: keep_job_text
-- The job file of a job, packed.
insert into job_text (job_id, text) values (:job, :text);

-- name: job_text
-- Everything needed to read the job file of a job again.
select job_text.text, job.directory, job.source, job.parameters
  from job left join job_text on job_text.job_id = job.id
 where job.id = :job;

-- name: run_times_of_source
-- The mean run time of packages by stage, each in the last job from a job file in which packages of
-- this stage have succeeded; of a stage with many lines, of the first fifty. The last job is first.
select job.id, job.name as job, stage.name,
       (select avg(attempt.ended - attempt.started - attempt.suspended)
          from (select id from line where stage_id = stage.id order by seq limit 50) as first
               join package on package.line_id = first.id
               join attempt on attempt.package_id = package.id
         where attempt.outcome = 'successful' and attempt.started is not null) as seconds
  from (select max(stage.id) as id
          from job join stage on stage.job_id = job.id
         where job.source = :source and job.visible = 1
           and exists (select 1 from stage_count
                        where stage_count.stage_id = stage.id and stage_count.n > 0
                          and stage_count.phase in ('transferring', 'done'))
         group by stage.name) as last
  join stage on stage.id = last.id
  join job on job.id = stage.job_id
 order by job.id desc, stage.seq;

-- name: last_job_of_source
-- The job last submitted from a job file.
select name from job where source = :source and visible = 1 order by id desc limit 1;

-- name: late_counts
-- The late outputs of a job whose files were made, and how many they were.
select pattern.name,
       (select count(*) from file where file.pattern_id = pattern.id) as files
  from stage
  join line on line.stage_id = stage.id
  join package on package.line_id = line.id
  join file as pattern on pattern.package_id = package.id
 where stage.job_id = :job
   and pattern.late = 1 and package.phase = 'done';

-- name: job_names_like
-- Names of jobs that begin with a text, to find the next free number.
select name from job where name glob :pattern;

-- name: make_stage
-- A stage and, by its trigger, its counts.
insert into stage (job_id, seq, name, require, max_running, final)
values (:job, :seq, :name, :require, :max_running, :final)
returning id;

-- name: order_stage
-- A stage comes after another of its job.
insert into stage_order (stage_id, after_id, job_id)
select stage.id, before.id, stage.job_id
  from stage join stage as before on before.job_id = stage.job_id and before.seq = :after
 where stage.job_id = :job and stage.seq = :seq;

-- name: order_final
-- A stage comes after all others of its job.
insert into stage_order (stage_id, after_id, job_id)
select id, 0, job_id from stage where job_id = :job and seq = :seq;

-- name: order_line
-- A line comes after another of its job, by the numbers of its stage and its own.
insert into line_order (line_id, after_id)
select ?, line.id
  from stage join line on line.stage_id = stage.id
 where stage.job_id = ? and stage.seq = ? and line.seq = ?;

-- name: keep_need
-- A job reads a file that another makes.
insert or ignore into need (job_id, maker_id) values (:job, :maker);

-- name: jobs_in_need
-- Jobs that have not ended and read files of this one.
select job.name from need join job on job.id = need.job_id
 where need.maker_id = :job and job.ended is null
 order by job.id;

-- name: readers_of_jobs
-- Packages of other jobs that have not begun and read files of these jobs, by job.
select job.name, count(*) as packages
  from need
  join job on job.id = need.job_id and job.id not in (select value from json_each(:jobs))
  join package on package.job_id = job.id
                  and package.phase in (select name from phase where is_idle = 1)
 where need.maker_id = :job
   and exists (select 1 from input join file on file.id = input.file_id
                where input.package_id = package.id and file.job_id = :job)
 group by job.id
 order by job.id;

-- name: other_readers_of_jobs
-- Other jobs that read files of this one, and whether they have read some which go with it.
select job.name,
       exists (select 1
                 from file
                 join input on input.file_id = file.id
                 join package on package.id = input.package_id
                 join phase on phase.name = package.phase
                where file.job_id = :job and (file.result = 0 or :results_go)
                  and file.package_id is not null and package.job_id = need.job_id
                  and phase.is_idle = 0) as goes
  from need join job on job.id = need.job_id
 where need.maker_id = :job and job.id not in (select value from json_each(:jobs))
 order by job.id;

-- name: readers_by_path
-- Other jobs with packages that read files from outside in the folders of these jobs, by their paths:
-- those begin with the path of the folder and a `/`, the sign before `0`. Most jobs read nothing there.
select job.name
  from job
 where job.visible = 1 and job.name not in (select value from json_each(:jobs))
   and exists (select 1 from file
                where file.job_id = job.id
                  and file.name >= :results || '/' and file.name < :results || '0')
   and exists (select 1
                 from json_each(:folders) as folder
                 cross join file on file.job_id = job.id and file.name >= folder.value || '/'
                                and file.name < folder.value || '0'
                 cross join input on input.file_id = file.id)
 order by job.id;

-- name: job_ids
-- The existing jobs, visible or not.
select id from job;

-- name: reserve_ids
-- Reserve ids of a table for rows of a job; returns the last of them.
insert or replace into sqlite_sequence (rowid, name, seq)
values ((select rowid from sqlite_sequence where name = :table), :table,
        :count + max(coalesce((select seq from sqlite_sequence where name = :table), 0),
                     iif(:table = 'line', coalesce((select max(id) from line), 0), 0),
                     iif(:table = 'package', coalesce((select max(id) from package), 0), 0)))
returning seq;

-- name: make_requirement
-- One set of requirements, shared by the packages that have it.
insert into requirement (job_id, stage_id, cpus, cpu, memory, gpus, disk, space, platform, nodes,
                         exclude_nodes, software, needs, early, fetches, priority, rank, seconds,
                         expected, chain)
values (:job, :stage, :cpus, :cpu, :memory, :gpus, :disk, :space, :platform, :nodes, :exclude_nodes,
        :software, :needs, :early, :fetches, :priority, :rank, :seconds, :expected, :chain)
returning id;

-- name: number_requirement
-- The number that a requirement has in its job.
insert into incoming_requirement (number, requirement_id) values (:number, :requirement);

-- name: insert_line
-- A line of a job being submitted.
insert into line (id, stage_id, seq, name, early_start, is_open) values (?, ?, ?, ?, ?, ?);

-- name: bring_package
-- A package of a job being submitted.
insert into incoming (id, job_id, stage_id, line_id, seq, name, phase, missing, requirement_id,
                      changed, wall_time, looping, wrapper, wrapper_parameters, environment, policy)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: bring_waiting
-- A package being submitted waits for files of other jobs.
update incoming set missing = missing + ?2, phase = 'waiting' where id = ?1;

-- name: insert_packages
-- Packages of a job being submitted, waiting or ready; one statement, so that triggers cost half.
insert into package (id, job_id, stage_id, line_id, seq, name, phase, missing, requirement_id,
                     changed, added,
                     wall_time, looping, wrapper, wrapper_parameters, environment, policy)
select incoming.id, job_id, stage_id, line_id, seq, name, phase, missing,
       incoming_requirement.requirement_id, changed,
       iif((select visible from job where id = job_id) = 1, changed, null),
       wall_time, looping, wrapper, wrapper_parameters, environment, policy
  from incoming
  join incoming_requirement on incoming_requirement.number = incoming.requirement_id;

-- name: let_start_early
-- Packages of a job being submitted that start at their first input: how many of their inputs made
-- by packages exist, and how many do not.
update package set early = 1, gathered = ?, awaited = ? where id = ?;

-- name: make_late
-- The settings of late outputs of a job being submitted.
update file set min_count = ? where id = ?;

-- name: match_late
-- Inputs of a job being submitted that take only a part of a late output.
update input set "match" = ? where package_id = ? and binary = ? and file_id = ?;

-- name: insert_binary
-- A binary of a job being submitted.
insert into binary (package_id, seq, name, script, shell, argv, software, parameters, needs, cpu,
                    runtime, work_size, log_rules, progress, "check", check_timeout, events,
                    image, stdin)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: insert_file
-- A file of a job being submitted: made by a package, or from outside and present.
insert into file (id, job_id, name, package_id, binary, present, dispositions, result, late,
                  locator, size_asked, min_size, checksum_asked)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: insert_input
-- An input of a job being submitted.
insert into input (package_id, binary, file_id, position, own, acquire, required, disposition,
                   locator, size, checksum, writable, local)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, coalesce(?, 0), ?);

-- name: insert_dropped_input
-- A dropped input, without which a package of a job being submitted begins until it is restored.
insert into input (package_id, binary, file_id, position, own, acquire, required, disposition,
                   locator, size, checksum, writable, local, dropped)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, coalesce(?, 0), ?, 1);

-- name: mark_result
-- A file without consumer and disposition goes to results/.
update file set result = 1 where id = ?;

-- name: count_lines
-- Record how many lines a stage has.
update stage set lines = :lines where id = :stage;

-- name: show_job
-- Make a job visible: from here on it exists.
update job set visible = 1 where id = :job and visible = 0;

-- name: file_of_job
-- A file by the job that makes it and its name.
select file.id, file.present, file.dropped, file.job_id, file.name, file.result, file.size,
       file.checksum
  from file join job on job.id = file.job_id
 where job.name = :job and job.visible = 1 and file.name = :name and file.package_id is not null;

-- name: made_files
-- Those of these files, [job, name], that a package has made, and their copies: `here` is the path of
-- the one on the control host.
select file.id, job.name as job, file.name, file.present, file.size, file.checksum,
       here.path as here, here.made,
       exists (select 1 from location
                where location.file_id = file.id and location.cluster_id <> 1) as is_elsewhere
  from json_each(:files) as wanted
  join job on job.name = wanted.value ->> 0 and job.visible = 1
  join file on file.job_id = job.id and file.name = wanted.value ->> 1 and file.late = 0
       and file.dropped = 0
  join package on package.id = file.package_id and package.phase = 'done'
  left join location as here on here.file_id = file.id and here.cluster_id = 1
 order by file.id;

-- name: packages_to_remake
-- How many packages of which jobs run again if these files are lost, and whether the jobs have
-- ended: the makers of the files, and those of their inputs that were removed, recursively.
with recursive maker (package_id) as (
    select file.package_id
      from json_each(:files) as lost join file on file.id = lost.value
    union
    select package.id
      from maker
      join input on input.package_id = maker.package_id and input.own = 0 and input.dropped = 0
      join file on file.id = input.file_id and file.present = 0
      join package on package.id = file.package_id and package.phase = 'done')
select job.name as job, count(*) as packages, job.ended is not null as has_ended
  from maker
  join package on package.id = maker.package_id
  join job on job.id = package.job_id
 group by job.id
 order by job.id;

-- name: stages_named
-- The stages of a job.
select stage.id, stage.seq, stage.name
  from job join stage on stage.job_id = job.id
 where job.name = :job and job.visible = 1 order by stage.seq;

-- name: stage_outputs
-- The outputs of a stage that it does not read itself, but for those of lines that the job file no
-- longer has: a late output as its pattern until its files are known. Dropped ones only if :job reads
-- them, or is a new one: it gets them once they are restored; `is_new` says that it had not read them
-- before the drop.
select file.name, file.late, coalesce(file.size, file.size_asked) as size, file.result,
       file.present, file.checksum,
       file.dropped = 1
       and (:job is null or line.dropped < (select submitted from job where id = :job)) as is_new
  from line
  join package on package.line_id = line.id
  join file on file.package_id = package.id
 where line.stage_id = :stage and line.named <> 2 and line.unlisted = 0
   and (file.dropped = 0
        or (:job is null and file.late = 0)
        or exists (select 1 from input join package as reader on reader.id = input.package_id
                    where input.file_id = file.id and reader.job_id = :job))
   and (file.late = 0 or file.present = 0)
   and (file.pattern_id is null
        or (select pattern.present from file as pattern where pattern.id = file.pattern_id) = 1)
   and not exists (select 1
                     from input
                     join package as reader on reader.id = input.package_id
                    where input.file_id = file.id and reader.stage_id = :stage)
 order by line.seq, package.seq, file.id;

-- name: cached_files
-- Files that packages have made, and that are in the cache of a node; or only those of them that
-- no package of another job or line reads.
select job.name as job, file.name, file.size
  from node
  join location on location.cluster_id = node.cluster_id and location.node_id is not null
  join file on file.id = location.file_id
  join job on job.id = file.job_id
 where node.name = :node and file.package_id is not null and file.present = 1 and job.visible = 1
   and (:unread = 0
        or not exists (select 1 from input
                        where input.file_id = file.id and input.package_id <> file.package_id))
 order by file.job_id, file.id;

-- name: absent_files
-- How many of these files of a job do not exist, and how many are dropped.
select count(case when not coalesce(file.present or file.dropped, 0) then 1 end) as absent,
       count(case when file.dropped then 1 end) as dropped
  from json_each(:names) as wanted
  left join (job join file on file.job_id = job.id and file.package_id is not null)
    on job.name = :job and job.visible = 1 and file.name = wanted.value;

-- name: dropped_files
-- Those of these files of a job that are dropped.
select file.name
  from job
  cross join json_each(:names) as wanted
  join file on file.job_id = job.id and file.name = wanted.value and file.dropped = 1
 where job.name = :job and job.visible = 1
 order by file.id;

-- name: unmade_files
-- How many of these files the packages of a job that has ended did not make, and the first by name.
select min(file.name) as first, count(*) as files
  from job
  cross join json_each(:names) as wanted
  join file on file.job_id = job.id and file.name = wanted.value and file.present = 0
       and file.dropped = 0
  join package on package.id = file.package_id and package.phase <> 'done'
 where job.name = :job and job.visible = 1 and job.ended is not null
   and exists (select 1 from stage join stage_count on stage_count.stage_id = stage.id
                where stage.job_id = job.id and stage_count.phase <> 'done' and stage_count.n > 0)
having count(*) > 0;

-- name: hidden_jobs
-- Jobs whose rows are still being inserted, or were left behind.
select id, name, submitter from job where visible = 0;

-- name: job_packages_from
-- A limited range of a job's packages, for removal in chunks.
select package.id
  from stage
  join line on line.stage_id = stage.id
  join package on package.line_id = line.id
 where stage.job_id = :job
 limit :limit;

-- name: selected_attempts_to_purge
-- Remember which attempts' folders are to be removed on their nodes, also on those that were removed
-- and added again by the same name: they keep the folders.
insert into purge (node_id, attempt_id)
select node.id, attempt.id
  from selected_package
  join attempt on attempt.package_id = selected_package.package_id
  join node on node.id = coalesce((select id from node where id = attempt.node_id),
                                  (select id from node where name = attempt.node_name));

-- name: selected_brought_to_purge
-- Remember the copies that were made in other caches.
insert into purge (node_id, path)
select location.node_id, location.path
  from selected_package
  join file on file.package_id = selected_package.package_id
  join location on location.file_id = file.id
  join node on node.id = location.node_id
 where location.path like '%/cache/in/%';

-- name: cancel_foreign_consumers
-- not launched -> canceled: packages of other jobs that wait for outputs of the selected ones.
update package
   set phase = 'canceled', node_id = null, staging = 0, not_before = null, changed = :now,
       actor = null, note = 'maker-removed'
 where phase in (select name from phase where is_idle = 1) and job_id <> :job
   and id in (select input.package_id
                from selected_package
                join file on file.package_id = selected_package.package_id
                join input on input.file_id = file.id);

-- name: drop_foreign_inputs
-- Remove outputs of the selected packages from the missing inputs of other jobs.
update input set dropped = 1
 where own = 0 and dropped = 0
   and file_id in (select file.id
                     from selected_package join file on file.package_id = selected_package.package_id)
   and (select job_id from package where package.id = input.package_id) <> :job;

-- name: files_left_to_readers
-- Outputs of the selected packages become files from outside for other jobs that read them: what
-- has read them keeps its list of inputs, and does not run again without them.
insert or ignore into file (job_id, name, present, size, checksum)
select distinct reader.job_id, :folder || file.name, 1, file.size, file.checksum
  from selected_package
  join file on file.package_id = selected_package.package_id and file.late = 0
  join input on input.file_id = file.id
  join package as reader on reader.id = input.package_id
 where reader.job_id <> :job;

-- name: inputs_left_to_readers
-- The inputs of other jobs that are such files from now on.
insert or ignore into input (package_id, binary, file_id, position, acquire, required, writable,
                             disposition, locator, size, checksum, local, dropped)
select input.package_id, input.binary, outside.id, input.position, input.acquire, input.required,
       input.writable, input.disposition, input.locator, input.size, input.checksum, input.local,
       input.dropped
  from selected_package
  join file on file.package_id = selected_package.package_id and file.late = 0
  join input on input.file_id = file.id
  join package as reader on reader.id = input.package_id
  join file as outside on outside.job_id = reader.job_id and outside.name = :folder || file.name
 where reader.job_id <> :job;

-- name: delete_selected_inputs
-- Remove the inputs of selected packages.
delete from input where package_id in (select package_id from selected_package);

-- name: delete_inputs_of_selected_files
-- Remove the files of selected packages from every list.
delete from input where file_id in
    (select id from file where package_id in (select package_id from selected_package));

-- name: delete_selected_locations
-- Remove the copies of selected packages' files from the catalogue.
delete from location where file_id in
    (select id from file where package_id in (select package_id from selected_package));

-- name: delete_selected_transfers
-- Remove transfers of selected packages' files.
delete from transfer where file_id in
    (select id from file where package_id in (select package_id from selected_package));

-- name: delete_selected_files
-- Remove the files that selected packages make.
delete from file where package_id in (select package_id from selected_package);

-- name: delete_selected_binaries
-- Remove the binaries of selected packages.
delete from binary where package_id in (select package_id from selected_package);

-- name: delete_selected_binary_attempts
-- Remove the binaries' records of selected packages' attempts.
delete from binary_attempt where attempt_id in
    (select id from attempt where package_id in (select package_id from selected_package));

-- name: delete_selected_notes
-- Remove the remarks of selected packages' wrappers.
delete from note where attempt_id in
    (select attempt.id
       from selected_package join attempt on attempt.package_id = selected_package.package_id);

-- name: delete_selected_progress
-- Remove the progress of selected packages.
delete from progress where package_id in (select package_id from selected_package);

-- name: delete_selected_attempts
-- Remove the attempts of selected packages.
delete from attempt where package_id in (select package_id from selected_package);

-- name: delete_selected_events
-- Remove the history of selected packages.
delete from event where package_id in (select package_id from selected_package);

-- name: delete_selected_packages
-- Remove selected packages themselves.
delete from package where id in (select package_id from selected_package);

-- name: delete_empty_lines
-- Remove a bounded run of a job's lines that have no package left.
delete from line where id in (
    select line.id from stage join line on line.stage_id = stage.id
     where stage.job_id = :job
       and not exists (select 1 from package where package.line_id = line.id)
     limit :limit);

-- name: delete_outside_locations
-- Remove the copies of a job's files from outside.
delete from location where file_id in
    (select id from file where job_id = :job and package_id is null);

-- name: outside_to_purge
-- Remember the brought copies of files from outside.
insert into purge (node_id, path)
select location.node_id, location.path
  from file
  join location on location.file_id = file.id
  join node on node.id = location.node_id
 where file.job_id = :job and file.package_id is null and location.path like '%/cache/in/%'
   and not exists (select 1
                     from location as other join file as retained on retained.id = other.file_id
                    where other.cluster_id = location.cluster_id and other.path = location.path
                      and other.shared = 1 and retained.job_id <> :job);

-- name: delete_outside_transfers
-- Remove transfers of a job's files from outside.
delete from transfer where file_id in
    (select id from file where job_id = :job and package_id is null);

-- name: delete_outside_files
-- Remove a job's files from outside.
delete from file where job_id = :job and package_id is null;

-- name: delete_job
-- Remove a job whose packages are gone; stages, counts and requirements follow.
delete from job where id = :job;

-- name: is_changed_since
-- Whether anything has happened to a package of a job after an event.
select 1
  from event
  cross join package on package.id = event.package_id
 where event.id > :event and package.job_id = :job
 limit 1;

-- name: hide_job
-- Take a job out of sight before it is removed by chunks.
update job set visible = 0, submitter = :holder where id = :job;
