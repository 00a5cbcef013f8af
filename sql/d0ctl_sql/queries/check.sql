-- name: check_integrity
-- The faults that SQLite itself finds in a table and its indices.
select 'table ' || :table as subject, quick_check as detail
  from pragma_quick_check(:table) where quick_check <> 'ok' limit 20;

-- name: check_foreign_keys
-- Rows of a table that point at nothing.
select 'table ' || "table" as subject,
       coalesce('row ' || rowid, 'a row') || ' points at a missing ' || parent as detail
  from pragma_foreign_key_check(:table) limit 20;

-- name: tables_to_check
-- The tables of the database.
select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name;

-- name: defined
-- Everything that is defined in the database.
select type, name, sql from sqlite_master
 where sql is not null and name not like 'sqlite_%' and name not like '%\_sqlite\_%' escape '\'
 order by rowid;

-- name: schema_version
-- The last migration that was applied.
select max(name) from _sqlite_migrations where migration_set = 'd0ctl';

-- name: package_page
-- The end of a page of packages, and how many were in it.
select max(id) as upto, count(*) as n
  from (select id from package where id > :after order by id limit :size);

-- name: file_page
-- The end of a page of files, and how many were in it.
select max(id) as upto, count(*) as n
  from (select id from file where id > :after order by id limit :size);

-- name: stages_to_count
-- The stages of completely submitted jobs.
select stage.id from job join stage on stage.job_id = job.id where job.visible = 1;

-- name: count_page
-- How many packages of a page are in each phase of their stages.
select stage_id, phase, count(*) as n
  from package where id > :after and id <= :upto group by stage_id, phase;

-- name: moves_since
-- Changes of phase since a row of history was the newest.
select event.id, event.package_id, event.old, event.new, package.stage_id
  from event cross join package on package.id = event.package_id
 where event.id > :event;

-- name: counts_kept
-- The recorded counts of the packages of each stage.
select stage_count.stage_id, stage_count.phase, stage_count.n, job.name || '/' || stage.seq as path
  from job
  join stage on stage.job_id = job.id
  join stage_count on stage_count.stage_id = stage.id
 where job.visible = 1;

-- name: check_lines
-- Stages whose recorded number of lines is wrong.
select job.name || '/' || stage.seq as subject,
       'has ' || stage.lines || ' lines, really ' ||
       (select count(*) from line where line.stage_id = stage.id) as detail
  from stage join job on job.id = stage.job_id and job.visible = 1
 where stage.lines <> (select count(*) from line where line.stage_id = stage.id)
 limit 20;

-- name: check_acknowledged
-- Stages whose recorded number of acknowledged failures is wrong, or that acknowledge others.
select job.name || '/' || stage.seq as subject,
       'counts ' || stage.acknowledged || ' acknowledged failures, really ' || there.n as detail
  from stage
  join job on job.id = stage.job_id and job.visible = 1
  join (select stage.id,
               (select count(*) from package indexed by package_in_phase
                  join acknowledgement on acknowledgement.package_id = package.id
                 where package.job_id = stage.job_id and package.phase = 'failed'
                   and package.stage_id = stage.id) as n
          from stage) as there on there.id = stage.id
 where stage.acknowledged <> there.n
 limit 20;

-- name: check_ready
-- Jobs whose number of ready packages is wrong for the scheduler.
select job.name as subject,
       (requirement.ready - requirement.away) || ' given to the scheduler as ready, really '
           || coalesce(counted.n - counted.away, 0) as detail
  from requirement
  join job on job.id = requirement.job_id and job.visible = 1
  left join (select requirement_id, count(*) as n, count(away) as away
               from package where phase = 'ready'
              group by requirement_id) as counted on counted.requirement_id = requirement.id
 where requirement.ready <> coalesce(counted.n, 0) or requirement.away <> coalesce(counted.away, 0)
 limit 20;

-- name: check_missing
-- Packages whose number of missing things is wrong.
select package_path.path as subject,
       'waits for ' || counted.missing || ' things, really ' || counted.really as detail
  from (select package.id, package.missing, package_missing.missing as really
          from package join package_missing on package_missing.package_id = package.id
         where package.id > :after and package.id <= :upto) as counted
  join package_path on package_path.package_id = counted.id and package_path.visible = 1
 where counted.missing <> counted.really
 limit 20;

-- name: check_early
-- Packages that start at their first input, with wrong counts of their inputs.
select package_path.path as subject,
       'has ' || counted.gathered || ' inputs and awaits ' || counted.awaited || ', really '
           || counted.there || ' and ' || counted.absent as detail
  from (select package.id, package.gathered, package.awaited,
               coalesce(sum(file.present = 0), 0) as absent,
               coalesce(sum(file.present = 1 and file.late = 0
                            and file.package_id is not null), 0) as there
          from package
          left join input on input.package_id = package.id and input.own = 0
                         and input.dropped = 0
          left join file on file.id = input.file_id
         where package.early > 0 and package.id > :after and package.id <= :upto
         group by package.id) as counted
  join package_path on package_path.package_id = counted.id and package_path.visible = 1
 where counted.gathered <> counted.there or counted.awaited <> counted.absent
 limit 20;

-- name: check_places
-- Packages whose node, attempt, hold, request or next try does not fit their phase.
select package_path.path as subject, judged.detail
  from (select package.id,
               case when package.phase in (select name from phase where is_live = 1)
                         and not exists (select 1 from node where node.id = package.node_id)
                    then 'is ' || package.phase || ' on no node'
                    when package.phase in ('ready', 'assigned') and package.missing > 0
                    then 'is ' || package.phase || ', and waits for ' || package.missing
                         || ' things'
                    when package.staging > 0 and package.phase <> 'assigned'
                    then 'is ' || package.phase || ', and waits for copies'
                    when package.phase = 'cooloff' and package.not_before is null
                    then 'cools off, and nobody knows until when'
                    when package.phase not in ('cooloff', 'held') and package.not_before is not null
                    then 'is ' || package.phase || ', and has a time for the next try'
                    when package.phase = 'held' and package.actor is null
                    then 'is held by nobody'
                    when package.parked = 1 and package.phase <> 'held'
                    then 'is ' || package.phase || ', and counts as paused'
                    when package.early = 0 and (package.gathered > 0 or package.awaited > 0)
                    then 'does not start early, and counts its inputs'
                    end as detail
          from package
         where package.id > :after and package.id <= :upto) as judged
  join package_path on package_path.package_id = judged.id and package_path.visible = 1
 where judged.detail is not null
 limit 20;

-- name: check_staging
-- Assigned packages that wait for a wrong number of copies in transit to their nodes.
select package_path.path as subject,
       'waits for ' || counted.staging || ' copies, really ' || counted.really as detail
  from (select package.id, package.staging,
               (select count(distinct input.file_id)
                  from input
                  join node on node.id = package.node_id
                  join transfer on transfer.file_id = input.file_id
                               and transfer.cluster_id = node.cluster_id
                               and transfer.result = 0
                 where input.package_id = package.id and input.own = 0 and input.dropped = 0
                   and input.acquire = 'pre-fetch') as really
          from package where package.phase = 'assigned') as counted
  join package_path on package_path.package_id = counted.id and package_path.visible = 1
 where counted.staging <> counted.really
 limit 20;

-- name: check_streamed_inputs
-- Inputs to announce to packages that do not run, or that wait for a copy that nothing makes.
select coalesce(job.name || ':' || file.name, 'the end of a list') as subject,
       case when package.early = 0
              or package.phase not in (select name from phase where has_attempt = 1)
            then 'is to be sent to a package that does not run'
            else 'is to be sent to a package, and no copy is being made' end as detail
  from streamed_input
  join package on package.id = streamed_input.package_id
  left join file on file.id = streamed_input.file_id
  left join job on job.id = file.job_id
 where package.early = 0
    or package.phase not in (select name from phase where has_attempt = 1)
    or (streamed_input.state = 1 and file.present = 1 and not exists
           (select 1 from transfer join node on node.cluster_id = transfer.cluster_id
             where transfer.file_id = streamed_input.file_id and transfer.result = 0
               and node.id = streamed_input.node_id))
 limit 20;

-- name: check_attempts
-- Packages with more than one live attempt, launched without a current attempt, ended with a live
-- one, or with a gap in their attempt numbers.
select package_path.path as subject,
       case when counted.live <> counted.should
            then 'is ' || counted.phase || ' with ' || counted.live || ' live attempts'
            when counted.live <> counted.current
            then 'is ' || counted.phase || ', and its live attempt is not the one that counts'
            when counted.attempts <> counted.really or counted.attempts <> counted.last
            then 'has had ' || counted.attempts || ' attempts, really ' || counted.really
            else 'has an attempt that ended without an outcome, or the reverse' end as detail
  from (select package.id, package.phase, package.attempts,
               package.phase in (select name from phase where has_attempt = 1) as should,
               coalesce(sum(attempt.id is not null and attempt.outcome is null), 0) as live,
               coalesce(sum(attempt.id = package.attempt_id and attempt.outcome is null
                            and attempt.node_id is package.node_id), 0) as current,
               coalesce(sum(attempt.id is not null
                            and (attempt.outcome is null) <> (attempt.ended is null)), 0) as odd,
               count(attempt.id) as really, coalesce(max(attempt.number), 0) as last
          from package
          left join attempt on attempt.package_id = package.id
         where package.id > :after and package.id <= :upto
         group by package.id) as counted
  join package_path on package_path.package_id = counted.id
 where counted.live <> counted.should or counted.live <> counted.current or counted.odd > 0
    or counted.attempts <> counted.really or counted.attempts <> counted.last
 limit 20;

-- name: check_history
-- Packages that are in another phase than their history ends with.
select package_path.path as subject,
       'is ' || recorded.phase || ', and its history ends with ' || recorded.last as detail
  from (select package.id, package.phase,
               (select event.new from event where event.package_id = package.id
                 order by event.id desc limit 1) as last
          from package
         where package.id > :after and package.id <= :upto) as recorded
  join package_path on package_path.package_id = recorded.id and package_path.visible = 1
 where recorded.last <> recorded.phase
 limit 20;

-- name: check_strays
-- Packages of no job, stage or requirement, or of a stage that is not that of their line.
select coalesce(job.name || '/', '') || 'package ' || package.id as subject,
       case when job.id is null then 'is of no job'
            when requirement.id is null then 'is of no requirement'
            else 'is not of the stage of its line' end as detail
  from package
  left join line on line.id = package.line_id
  left join stage on stage.id = line.stage_id
  left join job on job.id = package.job_id
  left join requirement on requirement.id = package.requirement_id
     and requirement.job_id = package.job_id
 where package.id > :after and package.id <= :upto
   and (job.id is null or requirement.id is null or stage.id is not package.stage_id
        or stage.job_id is not package.job_id)
 limit 20;

-- name: check_needs
-- Packages that read a file of another job that is not recorded as needed, or that treat a file of
-- their own job as one of another, or the reverse.
select package_path.path as subject,
       case when input.own <> (file.package_id is package.id)
            then 'is wrong about who makes `' || file.name || '`'
            else 'reads `' || file.name || '` of a job that is not known to be needed' end as detail
  from package
  join input on input.package_id = package.id
  join file on file.id = input.file_id
  join package_path on package_path.package_id = package.id and package_path.visible = 1
 where package.id > :after and package.id <= :upto
   and (input.own <> (file.package_id is package.id)
        or (file.job_id <> package.job_id and file.package_id is not null
            and not exists (select 1 from need
                             where need.job_id = package.job_id and need.maker_id = file.job_id)))
 limit 20;

-- name: check_dropped
-- Packages of dropped lines that may still run, and dropped packages whose outputs count.
select package_path.path as subject,
       case when package_path.line_dropped is not null
            then 'is ' || package.phase || ' in a dropped line'
            else 'is dropped, and its outputs are not' end as detail
  from package
  join package_path on package_path.package_id = package.id and package_path.visible = 1
 where package.id > :after and package.id <= :upto
   and ((package_path.line_dropped is not null
         and package.phase not in ('dropped', 'done', 'transferring', 'killing'))
        or (package.phase = 'dropped'
            and exists (select 1 from file where file.package_id = package.id
                                             and file.dropped = 0)))
 limit 20;

-- name: check_copies
-- Files that are present without a copy, or absent with one.
select job.name || ':' || file.name as subject,
       case when file.present = 1 then 'is present, but there is no copy of it'
            else 'is not present, but there is a copy of it' end as detail
  from file join job on job.id = file.job_id and job.visible = 1
 where file.package_id is not null and file.late = 0 and file.id > :after and file.id <= :upto
   and file.present <> exists (select 1 from location where location.file_id = file.id)
 limit 20;

-- name: check_makers
-- Files of no job, or made in another job than their own, or whose pattern is none.
select 'file ' || file.id || ' (' || file.name || ')' as subject,
       case when job.id is null then 'is of no job'
            when file.pattern_id is not null then 'came of a pattern that is none'
            else 'is made in another job than its own' end as detail
  from file
  left join job on job.id = file.job_id
  left join package as maker on maker.id = file.package_id
 where file.id > :after and file.id <= :upto
   and (job.id is null or maker.job_id <> file.job_id
        or (file.pattern_id is not null
            and not exists (select 1 from file as pattern
                             where pattern.id = file.pattern_id and pattern.late = 1)))
 limit 20;

-- name: check_parked
-- Copies that are postponed because there is no source, although there is one.
-- Not those that wait for a copy on the control host (cluster 1), which d0ctl tries to get.
select job.name || ':' || file.name as subject,
       'is to be copied, and nobody tries, though it is there' as detail
  from transfer
  join file on file.id = transfer.file_id and file.package_id is not null
  join job on job.id = file.job_id and job.visible = 1
 where transfer.not_before >= :parked
   and exists (select 1 from location where location.file_id = file.id)
   and not exists (select 1 from transfer as here
                    where here.file_id = transfer.file_id and here.cluster_id = 1
                      and here.not_before < :parked)
 limit 20;

-- name: check_transferring
-- Packages that transfer results, of which none is in transit.
select package_path.path as subject,
       'transfers results, of which none is under way' as detail
  from job
  cross join package on package.job_id = job.id and package.phase = 'transferring'
  join package_path on package_path.package_id = package.id
 where not exists (select 1 from file join transfer on transfer.file_id = file.id
                    where file.package_id = package.id and transfer.result = 1)
 limit 20;

-- name: check_progress
-- Packages that have progress although they are not launched.
select package_path.path as subject,
       'has progress, and is ' || package.phase as detail
  from progress
  cross join package on package.id = progress.package_id
  join package_path on package_path.package_id = package.id
 where package.attempt_id <> progress.attempt_id
    or package.phase not in (select name from phase where has_attempt = 1)
 limit 20;

-- name: check_requests
-- Packages that are asked to pause or resume and do not run.
select package_path.path as subject,
       'is asked to ' || package.request || ', and is ' || package.phase as detail
  from package indexed by package_requested
  join package_path on package_path.package_id = package.id
 where (package.request = 'pause' or package.request = 'resume')
   and package.phase not in (select name from phase where has_attempt = 1)
 limit 20;

-- name: check_ids
-- Ids that would be used twice, or were used before the last restore.
with first_id (least) as (select iif(generation > 1, generation << :bits, 0) from site)
select 'table ' || highest.name as subject,
       'the next number is ' || (coalesce(retained.seq, 0) + 1) || ', and '
           || max(coalesce(highest.most, 0), highest.least) || ' was given already' as detail
  from (select 'attempt' as name, (select max(id) from attempt) as most, first_id.least from first_id
         union all select 'file', (select max(id) from file), first_id.least from first_id
         union all select 'job', (select max(id) from job), first_id.least from first_id) as highest
  left join sqlite_sequence as retained on retained.name = highest.name
 where coalesce(retained.seq, 0) < max(coalesce(highest.most, 0), highest.least);

-- name: check_texts
-- Small tables with invalid JSON.
select 'table ' || name as subject, detail || ' is no JSON' as detail
  from (select 'setting' as name, setting.name as detail, value as text from setting
         union all select 'node', node.name, facts from node
         union all select 'node', node.name, services from node
         union all select 'job', job.name, parameters from job
         union all select 'job', job.name, policy from job
         union all select 'requirement', 'requirement ' || id, nodes from requirement
         union all select 'requirement', 'requirement ' || id, exclude_nodes from requirement
         union all select 'software', title, parameters from software) as named
 where not json_valid(text)
 limit 20;

-- name: check_released
-- Packages that miss nothing and still wait, although they are driven.
select package_path.path as subject,
       'waits, and nothing is missing' as detail
  from package
  join package_path on package_path.package_id = package.id and package_path.visible = 1
 where package.phase = 'waiting' and package.missing = 0
 limit 20;

-- name: check_ended
-- Jobs that count as ended, although they are driven and something in them moves.
select job.name as subject, 'counts as ended, and has packages in ' || stage_count.phase as detail
  from job
  join stage on stage.job_id = job.id
  join stage_count on stage_count.stage_id = stage.id and stage_count.n > 0
 where job.visible = 1 and job.ended is not null
   and stage_count.phase not in ('waiting', 'done', 'failed', 'canceled', 'dropped', 'held')
 limit 20;

-- name: results_page
-- The files of a page in results/: known copies, and delivered ones; those of dropped lines may be gone.
select file.id, job.name as job, file.name, file.size, file.checksum,
       here.made as delivered, here.path is not null and file.dropped = 0 as is_copy,
       maker.phase in ('done', 'transferring') and file.present = 1 and file.dropped = 0
           and not exists (select 1 from transfer
                            where transfer.file_id = file.id and transfer.result = 1) as is_due
  from file
  join job on job.id = file.job_id and job.visible = 1
  join package as maker on maker.id = file.package_id
  left join location as here on here.file_id = file.id and here.cluster_id = 1
        and here.path = :results || job.name || '/' || file.name
 where file.id > :after and file.id <= :upto and file.result = 1 and file.late = 0;

-- name: makers_of_files
-- The packages that make these files.
select distinct package_path.package_id, package_path.path
  from json_each(:files) as listed
  join file on file.id = listed.value
  join package_path on package_path.package_id = file.package_id
 order by package_path.package_id;

-- name: copies_page
-- The copies on a node of a page of files, with size, time and maker; null as the node means
-- the control host.
select location.path, location.inode, location.mtime, file.size, file.checksum,
       (select path from package_path where package_id = file.package_id) as maker
  from location
  join file on file.id = location.file_id
 where location.file_id > :after and location.file_id <= :upto and location.node_id is :node;

-- name: known_attempts
-- The database's records of attempts that a node reports.
select attempt.id, attempt.outcome, attempt.node_id,
       package.phase in ('done', 'dropped') as is_over,
       exists (select 1 from purge where purge.attempt_id = attempt.id) as goes
  from json_each(:ids) as listed
  join attempt on attempt.id = listed.value
  join package on package.id = attempt.package_id;

-- name: attempts_to_purge
-- The attempts whose folders a node has yet to remove.
select attempt_id from purge where node_id = :node and attempt_id is not null;

-- name: known_copies
-- Of the files that a node lists, those that are copies, are kept for a later attempt, are about to
-- be removed, or belong to a live attempt.
select json_extract(listed.value, '$.path') as path
  from json_each(:copies) as listed
  left join attempt on attempt.id = json_extract(listed.value, '$.attempt')
 where (attempt.id is not null and (attempt.outcome is null or attempt.outcome = 'lost'
                                   or attempt.retained is not null))
    or exists (select 1
                 from file join location on location.file_id = file.id
                where file.package_id = attempt.package_id
                  and location.path = json_extract(listed.value, '$.path'))
    or exists (select 1 from location
                where location.file_id = json_extract(listed.value, '$.file')
                  and location.path = json_extract(listed.value, '$.path'))
    or exists (select 1 from location
                where location.cluster_id = :cluster and location.shared = 1
                  and location.path = json_extract(listed.value, '$.path'))
    or exists (select 1 from purge where purge.path = json_extract(listed.value, '$.path'))
    or exists (select 1 from purge where purge.path = json_extract(listed.value, '$.folder'))
    or exists (select 1 from purge where purge.node_id = :node
                                     and purge.attempt_id
                                         = json_extract(listed.value, '$.attempt'));

-- name: some_work_left
-- Whether any package of any job moves, or should.
select 1
  from stage_count
 where n > 0 and phase not in ('waiting', 'held', 'done', 'failed', 'canceled', 'dropped')
 limit 1;

-- name: check_bad_nodes
-- Nodes that d0ctl has drained, and that take packages nevertheless.
select 'node ' || node.name as subject, 'drained by d0ctl, and not drained' as detail
  from bad_node join node on node.id = bad_node.node_id and node.drained = 0
 limit 20;

-- name: check_node_records
-- Nodes with more counted failures in a row than failures.
select 'node ' || node.name as subject,
       node_record.streak || ' failures of stage ' || node_record.stage_id || ' in a row, of '
           || node_record.failed as detail
  from node_record join node on node.id = node_record.node_id
 where node_record.streak > node_record.failed
 limit 20;

-- name: check_dataset_counts
-- Datasets whose counts differ from their files.
select 'dataset ' || dataset.name as subject,
       'counts ' || dataset_count.n || ' files as ' || dataset_count.status || ', and has '
           || (select count(*) from content
                where content.dataset_id = dataset.id and content.status = dataset_count.status)
           as detail
  from dataset_count join dataset on dataset.id = dataset_count.dataset_id
 where dataset_count.n <> (select count(*) from content
                            where content.dataset_id = dataset.id
                              and content.status = dataset_count.status)
 limit 20;

-- name: check_dataset_files
-- Files of datasets that count as processed by packages that have ended, once all is read.
select 'dataset ' || dataset.name as subject,
       'file ' || content.name || ' is ' || content.status || ', and its package has ended' as detail
  from dataset
  join content_status on content_status.output = dataset.output and content_status.is_used = 1
  join content indexed by content_in_status
    on content.dataset_id = dataset.id and content.status = content_status.name
   and content.next_event is null
  left join package on package.id = content.package_id
 where (package.id is null or package.phase in ('done', 'failed', 'canceled', 'dropped'))
   and (select event from task_cursor) >= (select coalesce(max(id), 0) from event)
 limit 20;

-- name: check_event_ranges
-- Ranges of events that count as processed by packages that have ended, once all is read.
select 'dataset ' || dataset.name as subject,
       'events ' || event_range.first || ' to ' || event_range.last || ' of file ' || content.name
           || ' are ' || event_range.status || ', and their package has ended' as detail
  from dataset
  join event_range_count as counted
    on counted.content_id = 0 and counted.dataset_id = dataset.id and counted.n > 0
   and counted.status in ('sent', 'running', 'finished')
  join content indexed by content_in_status
    on content.dataset_id = dataset.id and content.status in ('picked', 'running')
   and content.next_event is not null
  join event_range on event_range.content_id = content.id and event_range.status = counted.status
  left join package on package.id = event_range.package_id
 where (package.id is null or package.phase in ('done', 'failed', 'canceled', 'dropped'))
   and (select event from task_cursor) >= (select coalesce(max(id), 0) from event)
 limit 20;

-- name: check_split_files
-- Files that are split and count as processed, although no package processes their events.
select 'dataset ' || dataset.name as subject,
       'file ' || content.name || ' is ' || content.status || ', and no range of its events is'
           as detail
  from dataset
  join content indexed by content_in_status
    on content.dataset_id = dataset.id and content.status in ('picked', 'running')
   and content.next_event is not null
 where not exists (select 1 from event_range_count as counted
                    where counted.content_id = content.id and counted.n > 0
                      and counted.status in ('sent', 'running', 'finished'))
   and (select event from task_cursor) >= (select coalesce(max(id), 0) from event)
 limit 20;
