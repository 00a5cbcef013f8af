-- name: software
-- The whole catalogue.
select * from software order by name, version, platform;

-- name: keep_software
-- Add an entry to the catalogue, or replace the previous one.
insert into software (name, version, platform, script, shell, parameters, archive, checksum, size,
                      manifest, needs, runtime, log_rules, hooks, progress, "check", policy, applied)
values (:name, :version, :platform, :script, :shell, :parameters, :archive, :checksum, :size,
        :manifest, :needs, :runtime, :log_rules, :hooks, :progress, :check, :policy,
        :applied)
on conflict (name, version, platform) do update
   set script = excluded.script, shell = excluded.shell, parameters = excluded.parameters,
       archive = excluded.archive, checksum = excluded.checksum, size = excluded.size,
       manifest = excluded.manifest, needs = excluded.needs, runtime = excluded.runtime,
       log_rules = excluded.log_rules, hooks = excluded.hooks, progress = excluded.progress,
       "check" = excluded."check", policy = excluded.policy, applied = excluded.applied;

-- name: remove_software
-- Remove an entry from the catalogue.
delete from software where name = :name and version = :version and platform = :platform;

-- name: software_in_use
-- A job that has not ended and has packages that may still run this software.
select job.name
  from job join requirement on requirement.job_id = job.id
 where job.ended is null and job.visible = 1
   and exists (select 1 from json_each(requirement.software) where json_each.value = :title)
 limit 1;

-- name: settings
-- The sections of the site file.
select name, value from setting order by name;

-- name: setting
-- One section of the site file.
select value from setting where name = :name;

-- name: keep_setting
-- Put a section of the site file in force.
insert into setting (name, value) values (:name, :value)
on conflict (name) do update set value = excluded.value;

-- name: remove_setting
-- The site file no longer has this section.
delete from setting where name = :name;

-- name: clusters
-- All clusters, but for those of single pilots.
select * from cluster
 where not exists (select 1 from node where node.cluster_id = cluster.id and node.job not in ('', 'direct'))
 order by id;

-- name: keep_cluster
-- The common settings of all nodes of a cluster, which is created if needed.
insert into cluster (name, platform, private, capacity, software_share, services, pilots, applied)
values (:name, :platform, :private, :capacity, :software_share, :services, :pilots, :applied)
on conflict (name) do update
   set platform = excluded.platform, private = excluded.private, capacity = excluded.capacity,
       software_share = excluded.software_share, services = excluded.services,
       pilots = excluded.pilots, applied = excluded.applied,
       cached = iif(cluster.capacity is null, null, cluster.cached);

-- name: keep_node
-- The site file's settings of a node besides its address; else its own facts count.
update node
   set identity = :identity, python = :python, via = :via,
       cpus = coalesce(:cpus, json_extract(facts, '$.cpus'), cpus), cpus_asked = :cpus, speed_asked = :speed,
       memory_asked = :memory, memory = coalesce(:memory, json_extract(facts, '$.memory')),
       gpus_asked = :gpus, gpus = coalesce(:gpus, json_extract(facts, '$.gpus'), 0),
       services = :services, platform_asked = :platform,
       platform = coalesce(:platform,
                           (select platform from cluster where cluster.id = node.cluster_id),
                           lower(json_extract(facts, '$.system') || '-'
                                 || json_extract(facts, '$.machine'))),
       applied = :applied
 where id = :node;

-- name: archives_wanted
-- Archives of this machine that a node needs for its assigned packages, or for a push.
select wanted.archive, wanted.checksum, wanted.size
  from node_software as wanted
 where wanted.node_id = :node and wanted.cluster_id <> 1 and wanted.archive like '/%'
   and exists (select 1
                 from package
                 join requirement on requirement.id = package.requirement_id
                    and requirement.software <> '[]'
                 join json_each(requirement.software) as asked on asked.value = wanted.title
                where package.node_id = :node and package.phase = 'assigned')
   and not exists (select 1 from archive_copy as copy
                    where copy.node_id = :node and copy.checksum = wanted.checksum
                      and (copy.arrived is not null or copy.not_before > :now))
union
select wanted.archive, wanted.checksum, wanted.size
  from software_order as wanted
  join node on node.id = wanted.node_id and node.cluster_id <> 1
 where wanted.node_id = :node and wanted.ended is null and wanted.verb = 'push'
   and wanted.archive like '/%'
   and not exists (select 1 from archive_copy as copy
                    where copy.node_id = :node and copy.checksum = wanted.checksum
                      and (copy.arrived is not null or copy.not_before > :now));

-- name: archive_arrived
-- An archive is on a node.
insert into archive_copy (node_id, checksum, arrived) values (:node, :checksum, :now)
on conflict (node_id, checksum) do update
   set arrived = excluded.arrived, last_error = null, tries = 0;

-- name: delay_archive
-- An archive could not be copied; it is tried again, with growing delays.
insert into archive_copy (node_id, checksum, tries, last_error, not_before)
values (:node, :checksum, 1, :last_error, :now + :step)
on conflict (node_id, checksum) do update
   set tries = tries + 1, last_error = excluded.last_error,
       not_before = :now + min(:longest, (tries + 1) * :step);

-- name: forget_archive
-- An archive is no longer on a node.
delete from archive_copy where node_id = :node and checksum = :checksum;

-- name: archives_of_no_software
-- Checksums of the archives on a node that no software of the catalogue has.
select checksum
  from archive_copy
 where node_id = :node and checksum not in (select checksum from software
                                             where checksum is not null);

-- name: forget_archives_of_package
-- A node turned out to lack the software of a package: its archives are copied again.
delete from archive_copy
 where node_id = :node
   and checksum in (select software.checksum
                      from binary join software on software.title = binary.software
                     where binary.package_id = :package);

-- name: archives_under_way
-- Archives in transit that a package needs before it can start on its node.
select wanted.title, wanted.archive, copy.tries, copy.last_error
  from package
  join requirement on requirement.id = package.requirement_id and requirement.software <> '[]'
  join node_software as wanted on wanted.node_id = package.node_id and wanted.cluster_id <> 1
                              and wanted.archive like '/%'
  left join archive_copy as copy on copy.node_id = package.node_id
                                and copy.checksum = wanted.checksum
 where package.id = :package and copy.arrived is null
   and wanted.title in (select value from json_each(requirement.software));

-- name: ask_software
-- Ask a node to do something with its software.
insert into software_order (node_id, verb, name, version, platform, archive, checksum, size,
                            manifest, actor, asked)
values (:node, :verb, :name, :version, :platform, :archive, :checksum, :size, :manifest, :actor,
        :now)
returning id;

-- name: open_orders
-- The open orders of a node about its software, and whether it has the archive for each.
select software_order.*, node.cluster_id, copy.arrived
  from software_order indexed by software_order_open
  join node on node.id = software_order.node_id
  left join archive_copy as copy on copy.node_id = software_order.node_id
                                and copy.checksum = software_order.checksum
 where software_order.node_id = :node and software_order.ended is null
 order by software_order.id;

-- name: end_order
-- Record the result of an order.
update software_order
   set ended = :now, ok = :ok, message = :message, faults = :faults
 where id = :id and node_id = :node and ended is null;

-- name: software_was_there
-- Whether a node should have some software: it was pushed, copied or used there, and not purged since. A
-- copy of its archive does not count if another version with the same archive was pushed there.
with latest as (select verb, ended
                  from software_order
                 where node_id = :node and name = :name and version = :version
                   and platform = :platform and ok = 1 and message <> :absent
                 order by id desc
                 limit 1),
     since as (select coalesce((select ended from latest), 0) as at)
select exists (select 1 from latest where verb <> 'purge')
       or exists (select 1 from archive_copy
                   where node_id = :node and checksum = :checksum and arrived > since.at)
       and not exists (select 1 from software_order
                        where node_id = :node and checksum = :checksum and verb = 'push'
                          and ok = 1 and (name, version) <> (:name, :version))
       or exists (select 1
                    from job
                    cross join package on package.job_id = job.id
                    cross join requirement on requirement.id = package.requirement_id
                    cross join attempt on attempt.package_id = package.id
                                      and attempt.node_id = :node and attempt.ended is not null
                    cross join json_each(iif(attempt.recipe is null, requirement.software,
                                             (select json_group_array(former.value ->> 'software')
                                                from json_each(attempt.recipe) as former))) as used
                               on used.value = :name || '/' || :version
                   where (since.at = 0
                          or attempt.launched > since.at
                             and (attempt.binary is not null
                                  or attempt.outcome = 'successful' and attempt.delivers = 0))
                     and exists (select 1 from requirement
                                  where requirement.job_id = job.id
                                    and requirement.software <> '[]'))
  from since;

-- name: fail_pushes
-- Pushes of an archive that is missing, or is another, can't be done.
update software_order
   set ended = :now, ok = 0, message = :message
 where node_id = :node and ended is null and verb = 'push' and checksum = :checksum;

-- name: forget_order
-- Nobody waits for this order any more.
delete from software_order where id = :id and ended is null;

-- name: report_late_order
-- Nobody waits for an order any more: someone gets a report when it has ended.
update software_order set report_to = :to where id = :id and ended is null;

-- name: late_answers
-- The orders of each request for which nobody waited, once all of them have ended.
select min(late.id) as id, late.report_to, late.verb, late.name || '/' || late.version as title,
       late.asked, max(late.ended) as ended, count(*) as count, sum(late.ok = 0) as failed,
       json_group_array(json_object('node', node.name, 'message', late.message)) as answers
  from software_order as late indexed by software_order_report
  join node on node.id = late.node_id
 where late.report_to is not null
 group by late.report_to, late.verb, late.name, late.version, late.asked
having min(late.ended is not null) = 1;

-- name: forget_late_answers
-- The answers to a request are reported.
update software_order set report_to = null
 where report_to = :to and verb = :verb and name || '/' || version = :title and asked = :asked;

-- name: orders
-- Some orders, with their nodes, and why an archive could not be copied.
select software_order.*, node.name as node, node.state, node.last_error, copy.last_error as copy_error
  from software_order join node on node.id = software_order.node_id
  left join archive_copy as copy on copy.node_id = software_order.node_id
                                and copy.checksum = software_order.checksum
                                and software_order.verb = 'push'
 where software_order.id in (select value from json_each(:ids))
 order by software_order.id;

-- name: software_live_on
-- A launched package on a node that uses this software.
select package_path.path
  from package
  join requirement on requirement.id = package.requirement_id and requirement.software <> '[]'
  join package_path on package_path.package_id = package.id
 where package.node_id = :node
   and package.is_live = 1
   and exists (select 1 from json_each(requirement.software) where json_each.value = :title)
 limit 1;

-- name: software_entry
-- One entry of the catalogue.
select * from software where name = :name and version = :version and platform = :platform;

-- name: last_attempt
-- The last attempt of all, and of those that have not ended the first and how many they are.
select (select max(id) from attempt) as last, min(attempt.id) as oldest, count(*) as running
  from node
  join package on package.node_id = node.id and package.is_live = 1
  join attempt on attempt.id = package.attempt_id and attempt.outcome is null;

-- name: private_clusters
-- The clusters that only some researchers may use; a pilot has the name of its batch system.
select cluster.id, coalesce(batch.name, cluster.name) as name
  from cluster
  left join node on node.cluster_id = cluster.id and node.job not in ('', 'direct')
  left join pilot on pilot.node_id = node.id and pilot.state <> 'ended'
  left join cluster as batch on batch.id = pilot.cluster_id
 where cluster.private = 1
 order by cluster.id;

-- name: originator_of_job
-- The originator of a job.
select originator from job where id = :job;

-- name: bounded_clusters
-- The clusters whose cache has a capacity, with the node that is asked to remove files.
select cluster.id, cluster.name, cluster_space.bytes, min(node.id) as node_id
  from cluster_space
  join cluster on cluster.id = cluster_space.cluster_id
  join node on node.cluster_id = cluster.id
 group by cluster.id;

-- name: count_cached
-- How many bytes of files are in the cache of a cluster, with outputs that failed packages left; a
-- copy that several jobs share counts once.
select coalesce(sum(bytes), 0)
  from (select coalesce(file.size, 0) as bytes
          from location join file on file.id = location.file_id
         where location.cluster_id = :cluster and location.node_id is not null
           and location.shared = 0
         union all
        select max(coalesce(file.size, 0))
          from location indexed by location_shared join file on file.id = location.file_id
         where location.cluster_id = :cluster and location.node_id is not null
           and location.shared = 1
         group by location.path
         union all
        select left_size
          from attempt indexed by attempt_left join node on node.id = attempt.node_id
         where attempt.left_size is not null and node.cluster_id = :cluster);

-- name: keep_cached
-- Record the number of bytes.
update cluster set cached = :bytes where id = :cluster and cached is not :bytes;

-- name: software_room
-- How many bytes of software a cluster may have, and how many of archives are there already, except
-- for one of them; nothing without a capacity.
select cluster.name, cluster.capacity,
       cast(cluster.capacity * cluster.software_share as integer) as bytes,
       coalesce((select sum(size)
                   from (select distinct software.checksum, software.size
                           from node
                           join archive_copy on archive_copy.node_id = node.id
                                            and archive_copy.arrived is not null
                           join software on software.checksum = archive_copy.checksum
                          where node.cluster_id = cluster.id
                            and software.checksum <> :checksum)), 0) as used
  from cluster
 where cluster.id = :cluster and cluster.capacity is not null and cluster.software_share > 0;

-- name: nodes_of_clusters
-- The nodes that share each cache.
select cluster_id, name from node order by name;

-- name: software_there
-- Software on nodes of each cluster: its archive was copied, or a node last said that it
-- has it, and not that it rightly lacks it.
select cluster_id, title
  from (select node.cluster_id, software.title
          from archive_copy
          join node on node.id = archive_copy.node_id
          join software on software.checksum = archive_copy.checksum
         where archive_copy.arrived is not null
        union
        select node.cluster_id, last.name || '/' || last.version
          from (select node_id, name, version, platform, max(id) as id
                  from software_order
                 where ended is not null
                 group by node_id, name, version, platform) as newest
          join software_order as last on last.id = newest.id and last.verb <> 'purge' and last.ok = 1
                                            and last.message is not :absent
          join node on node.id = last.node_id)
 order by cluster_id, title;

-- name: originators
-- The originators of jobs, and how many jobs each has.
select originator, count(*) as jobs from job where visible = 1 group by originator
 order by originator;

-- name: software_orders
-- The latest order about each version on each node, but no check that rightly saw none.
select software_order.id, node.name as node, cluster.name as cluster,
       software_order.name || '/' || software_order.version as title, software_order.platform,
       software_order.verb, software_order.actor, software_order.asked, software_order.ended,
       software_order.ok, software_order.message, node.state, node.last_error,
       copy.last_error as copy_error
  from (select max(id) as id from software_order
         where not (verb = 'verify' and ok = 1 and message = :absent)
         group by node_id, name, version, platform) as newest
  join software_order on software_order.id = newest.id
  join node on node.id = software_order.node_id
  join cluster on cluster.id = node.cluster_id
  left join archive_copy as copy on copy.node_id = software_order.node_id
                                and copy.checksum = software_order.checksum
                                and software_order.verb = 'push'
 order by software_order.name, software_order.version, node.name, software_order.id;

-- name: software_copies
-- The archives of this machine that are on nodes; the first title with the same archive, which may have
-- brought it; and all titles with it.
select node.name as node, cluster.name as cluster, software.title, software.platform,
       archive_copy.arrived,
       (select older.title
          from software as older
         where older.checksum = software.checksum and older.id < software.id
         order by older.id
         limit 1) as same_as,
       (select json_group_array(equal.title)
          from (select title from software as equal
                 where equal.checksum = software.checksum
                 order by equal.id) as equal) as equals
  from archive_copy
  join software on software.checksum = archive_copy.checksum
  join node on node.id = archive_copy.node_id
  join cluster on cluster.id = node.cluster_id
 where archive_copy.arrived is not null
 order by software.title, node.name;

-- name: software_of_jobs
-- The nodes where packages that used some software run or have ended, and their jobs; when the last that
-- has used it was launched: one that failed before its first binary may not have got it. What attempts
-- ran before an update of their job is in their recipes.
select used.value as title, node.name as node, cluster.name as cluster, job.name as job,
       max(case when attempt.binary is not null or coalesce(attempt.outcome, 'successful') = 'successful'
                     and attempt.delivers = 0
                then attempt.launched end) as used
  from job
  cross join package on package.job_id = job.id
  cross join requirement on requirement.id = package.requirement_id
  cross join attempt on attempt.package_id = package.id and coalesce(attempt.started, attempt.ended) is not null
                    and (requirement.software <> '[]' or attempt.recipe is not null)
  cross join json_each(iif(attempt.recipe is null, requirement.software,
                           (select json_group_array(former.value ->> 'software')
                              from json_each(attempt.recipe) as former))) as used
  join node on node.id = attempt.node_id
  join cluster on cluster.id = node.cluster_id
 where job.visible = 1 and used.value is not null
   and exists (select 1 from requirement
                where requirement.job_id = job.id and requirement.software <> '[]')
 group by used.value, node.id, job.id
 order by title, node, job.id;

-- name: tokens
-- The tokens of the REST interface, without their digests.
select name, role, made, actor from token order by name;

-- name: token
-- A token by its name.
select name, role, made, actor from token where name = :name;

-- name: token_of_digest
-- The token whose secret has this digest.
select name, role from token where digest = :digest;

-- name: keep_token
-- Add a token.
insert into token (name, role, digest, made, actor)
values (:name, :role, :digest, :made, :actor);

-- name: remove_token
-- Remove a token; its secret is refused from now on.
delete from token where name = :name;

-- name: remember_event
-- An event of another system was taken.
insert into taken_event (id, signature, at) values (:id, :signature, :now) on conflict do nothing;

-- name: taken_signature
-- The signature of an event that was taken.
select signature from taken_event where id = :id;

-- name: forget_events
-- Forget events that are refused because of their age.
delete from taken_event where at < :before;
