-- name: newest_entry
-- The time of the newest entry of the history; a restore of it, or a start of the daemon, is none.
select max(at)
  from (select max(at) as at from action
         where verb not in ('restore', 'daemon start', 'daemon stop')
        union all select max(submitted) from job
        union all select at from event where id = (select max(id) from event));

-- name: newest_restored_entry
-- The time of the newest entry that the last restore brought; null: it was not restored.
with restored (id, at) as (select id, at from action where verb = 'restore' order by id desc limit 1)
select max(at)
  from (select max(action.at) as at
          from restored
          join action on action.id < restored.id
                     and action.verb not in ('daemon start', 'daemon stop')
        union all
        select max(job.submitted) from restored join job on job.submitted < restored.at
        union all
        select event.at
          from restored
          join event on event.id = (select max(id) from event) and event.at < restored.at);

-- name: is_restored
-- Whether the database was restored from a backup, and no package has moved since.
select exists (select 1 from action
                where verb = 'restore'
                  and at >= coalesce((select at from event
                                       where id = (select max(id) from event)), 0));

-- name: last_restore
-- When the database was last restored from a backup.
select max(at) from action where verb = 'restore';

-- name: sizes_of_jobs
-- Each job, with its times and the number of its packages.
select job.id, job.name, job.submitted, job.ended,
       coalesce((select sum(stage_count.n)
                   from stage join stage_count on stage_count.stage_id = stage.id
                  where stage.job_id = job.id), 0) as packages
  from job
 where job.visible = 1
 order by job.id;

-- name: changed_since
-- How many packages of each job have changed after a time.
select package.job_id, count(distinct package.id) as packages
  from event
  join package on package.id = event.package_id
 where event.at > :time
 group by package.job_id;

-- name: actions_since
-- How many actions there were after a time; those of the daemon on itself do not count.
select count(*) from action where at > :time and verb not in ('daemon start', 'daemon stop');

-- name: live_on_this_machine
-- Packages that run on nodes of the control host, with the folders of these, and whether they are
-- drained.
select node.name as node, node.base, node.drained, package_path.path
  from node
  join package on package.node_id = node.id and package.is_live = 1 and package.phase <> 'assigned'
  join package_path on package_path.package_id = package.id
 where node.kind = 'local' and node.base is not null
 order by package.id;
