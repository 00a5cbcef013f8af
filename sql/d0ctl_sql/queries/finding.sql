-- name: finding_jobs
-- The visible jobs of a person (`name` or `name@host`; empty: of all) that have not ended, or not
-- before a time, the newest first.
select id from job
 where visible = 1
   and (:person = '' or originator = :person
        or substr(originator, 1, length(:person) + 1) = :person || '@')
   and (ended is null or (not :active and ended >= :since))
 order by id desc;

-- name: finding_number_of_jobs
-- How many jobs are visible.
select count(*) from job where visible = 1;

-- name: finding_package_keys
-- What some packages are sorted by, of their last attempts; the end of a running one is what it
-- has reported, that of a canceled one is when it was canceled.
select package.id,
       case :by when 'path' then package.id
                when 'name' then package.name
                when 'status' then package.phase
                when 'node' then attempt.node_name
                when 'reason' then case when package.phase = 'failed' then attempt.reason end
                when 'tries' then package.attempts
                when 'start' then attempt.started
                when 'end' then case
                     when package.phase in ('canceled', 'dropped') then package.changed
                     when package.phase in ('done', 'failed')
                     then coalesce(attempt.ended, package.changed)
                     when package.phase = 'running'
                     then (select eta from progress
                            where package_id = package.id and eta > :now) end
                when 'duration' then coalesce(attempt.ended, :now) - attempt.started
                when 'CPU' then attempt.cpu
                when 'memory' then attempt.rss end as value
  from json_each(:ids) as wanted
  join package on package.id = wanted.value
  left join attempt on attempt.package_id = package.id and attempt.number = package.attempts
 order by package.id;

-- name: finding_last_ids
-- How far the numbers of lines, packages, files and attempts go.
select (select coalesce(max(id), 0) from line) as lines,
       (select coalesce(max(id), 0) from package) as packages,
       (select coalesce(max(id), 0) from file) as files,
       (select coalesce(max(id), 0) from attempt) as attempts;

-- name: finding_next_id
-- The next id of a kind after one; a restore leaves a large gap in the ids.
select case :kind when 'line' then (select min(id) from line where id > :after)
                  when 'package' then (select min(id) from package where id > :after)
                  when 'file' then (select min(id) from file where id > :after)
                  else (select min(id) from attempt where id > :after) end;

-- name: finding_line_names
-- The names of a range of lines with their jobs, those like a pattern if there is one.
select job.name as job, stage.seq as stage, line.seq, line.name
  from line
  join stage on stage.id = line.stage_id
  join job on job.id = stage.job_id and job.visible = 1
 where line.id between :first and :last
   and (:pattern is null or line.name like :pattern escape '\');

-- name: finding_package_names
-- The names of a range of packages by stage, those like a pattern if there is one.
select job.name || '/' || stage.seq as stage, package.name
  from package
  join stage on stage.id = package.stage_id
  join job on job.id = stage.job_id and job.visible = 1
 where package.id between :first and :last
   and (:pattern is null or package.name like :pattern escape '\')
 group by package.stage_id, package.name;

-- name: finding_file_names
-- The names of a range of files with their jobs, those like a pattern if there is one.
select job.name as job, file.name, file.package_id as package
  from file
  join job on job.id = file.job_id and job.visible = 1
 where file.id between :first and :last
   and (:pattern is null or file.name like :pattern escape '\');

-- name: finding_messages
-- What a range of failed attempts said, and why they failed, like a pattern if there is one.
select attempt.package_id as package, attempt.reason, attempt.message
  from attempt
  join package on package.id = attempt.package_id
  join job on job.id = package.job_id and job.visible = 1
 where attempt.id between :first and :last and attempt.outcome in ('failed', 'lost')
   and (:pattern is null or attempt.message like :pattern escape '\'
        or attempt.reason like :pattern escape '\');

-- name: finding_job_names
-- The names and titles of jobs, the newest first.
select name, title from job where visible = 1 order by id desc limit :limit;

-- name: finding_stage_names
-- The names of stages, of the newest jobs first.
select job.name || '/' || stage.seq as stage, stage.name
  from (select id, name from job where visible = 1 order by id desc limit :limit) as job
  join stage on stage.job_id = job.id;

-- name: finding_ran_on
-- The packages of which an attempt ran on a node, of the latest attempts.
select distinct package_id as id
  from attempt not indexed
 where id >= :first and node_name = :node
 order by 1;
