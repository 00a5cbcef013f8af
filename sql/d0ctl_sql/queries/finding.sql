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
-- What some packages are sorted by, of their last attempts.
select package.id,
       case :by when 'path' then package.id
                when 'name' then package.name
                when 'status' then package.phase
                when 'node' then attempt.node_name
                when 'reason' then case when package.phase = 'failed' then attempt.reason end
                when 'tries' then package.attempts
                when 'start' then attempt.started
                when 'end' then attempt.ended
                when 'duration' then coalesce(attempt.ended, :now) - attempt.started
                when 'CPU' then attempt.cpu
                when 'memory' then attempt.rss end as value
  from json_each(:ids) as wanted
  join package on package.id = wanted.value
  left join attempt on attempt.package_id = package.id and attempt.number = package.attempts
 order by package.id;
