-- name: site
-- The name of this site on its nodes.
select name from site;

-- name: nodes
-- All nodes with their running packages.
select node.*, cluster.name as cluster,
       (select count(*) from package where package.node_id = node.id
           and package.phase <> 'assigned'
           and package.is_live = 1) as launched,
       (select count(*) from package where package.node_id = node.id
           and package.phase = 'assigned') as assigned
  from node join cluster on cluster.id = node.cluster_id
 order by node.id;

-- name: packages_in_use
-- The packages on nodes, with the CPU time and memory that their wrappers reported last.
select package_path.path, node.name as node, package.phase, requirement.cpus,
       progress.cpu, progress.rss, progress.percent, progress.at - attempt.started as seconds
  from package indexed by package_live
  join node on node.id = package.node_id
  join requirement on requirement.id = package.requirement_id
  join package_path on package_path.package_id = package.id
  left join attempt on attempt.package_id = package.id and attempt.number = package.attempts
  left join progress on progress.package_id = package.id and progress.attempt_id = attempt.id
 where package.is_live = 1 and package.phase <> 'assigned'
   and package.node_id in (select id from node);

-- name: nodes_to_order
-- Nodes with attempts to end, pause or resume, or with files to remove.
select node.id
  from node
 where exists (select 1 from package where node_id = node.id and phase = 'killing')
    or exists (select 1 from package
                where node_id = node.id and (request = 'pause' or request = 'resume'))
    or exists (select 1 from due_purge where node_id = node.id);

-- name: nodes_lacking_software
-- Nodes that may lack software: with an open order about it, or with packages to launch.
select node.id
  from node
 where exists (select 1 from software_order where node_id = node.id and ended is null)
    or exists (select 1 from package where node_id = node.id and phase = 'assigned');

-- name: node_by_name
-- One node.
select node.*, cluster.name as cluster
  from node join cluster on cluster.id = node.cluster_id
 where node.name = :name;

-- name: machines
-- Which machine each node is, the oldest node first; pilots may share theirs.
select name, kind, machine from node where job = '' order by id;

-- name: apart_in_cluster
-- A node of the same cluster with another folder, so with another cache.
select other.name
  from node
  join node as other on other.cluster_id = node.cluster_id and other.id <> node.id
 where node.id = :node and node.kind = 'ssh' and other.kind = 'ssh' and other.state <> 'down'
   and node.job = '' and other.job = ''
   and :folder <> '' and json_extract(other.facts, '$.folder') not in ('', :folder)
 order by other.id
 limit 1;

-- name: node_by_id
-- One node.
select node.*, cluster.name as cluster
  from node join cluster on cluster.id = node.cluster_id
 where node.id = :node;

-- name: node_names
-- The names of all nodes, each with its cluster.
select node.name, cluster.name as cluster
  from node join cluster on cluster.id = node.cluster_id
 order by node.name;

-- name: add_cluster
-- A cluster; a node without one gets its own.
insert into cluster (name) values (:name)
on conflict (name) do update set name = excluded.name
returning id;

-- name: add_node
-- A node of which only the address is known.
insert into node (name, cluster_id, kind, destination, identity, directory, python, via, cpus,
                  cpus_asked, gpus, gpus_asked)
values (:name, :cluster, :kind, :destination, :identity, :directory, :python, :via, :cpus,
        :cpus_asked, coalesce(:gpus, 0), :gpus)
returning id;

-- name: remove_node
-- Forget a node.
delete from node where id = :node;

-- name: forget_machine
-- Let a node be another machine than before.
update node set machine = null where id = :node;

-- name: remove_unused_cluster
-- Forget a cluster that has no node and no copy.
delete from cluster
 where id = :cluster and id <> 1 and pilots is null
   and not exists (select 1 from node where cluster_id = :cluster)
   and not exists (select 1 from location where cluster_id = :cluster)
   and not exists (select 1 from transfer where cluster_id = :cluster);

-- name: remove_bare_cluster
-- Forget a cluster that has no node, no copy and no settings, so that it can come back as it was.
delete from cluster
 where id = :cluster and id <> 1 and pilots is null and applied = 0
   and platform is null and services = '[]' and private = 0 and capacity is null
   and software_share = 0
   and not exists (select 1 from node where cluster_id = :cluster)
   and not exists (select 1 from location where cluster_id = :cluster)
   and not exists (select 1 from transfer where cluster_id = :cluster);

-- name: forget_node_copies
-- Forget the copies that only this node had.
insert into lost_copy (file_id, cluster_id)
select file_id, cluster_id from location
 where cluster_id = :cluster and :cluster <> 1
   and not exists (select 1 from node where node.cluster_id = :cluster and node.id <> :node);

-- name: files_only_on_nodes
-- Number and size of the files that packages have made and of which these nodes have a copy, but none
-- of the other clusters nor results/, and how many packages would run again without it, by requirement:
-- makers of those that are still needed, and of their inputs that were removed. Those that are retained
-- and that nothing makes again are counted and named, too.
with recursive only_there (file_id, package_id, size) as materialized (
    select file.id, file.package_id, file.size
      from location
      join file on file.id = location.file_id and file.package_id is not null
                and file.stored is null
     where location.node_id in (select value from json_each(:nodes))
       and not exists (select 1 from location as other
                        where other.file_id = location.file_id
                          and other.cluster_id in (select value from json_each(:others)))
       and not exists (select 1 from delivered_result where delivered_result.file_id = file.id)),
maker (package_id) as (
    select package.id
      from only_there
      join file on file.id = only_there.file_id and file.dropped = 0
      join package on package.id = file.package_id and package.phase in ('done', 'transferring')
     where exists (select 1
                     from input
                     join package as reader on reader.id = input.package_id
                    where input.file_id = file.id and input.dropped = 0 and input.own = 0
                      and reader.phase not in ('done', 'transferring', 'canceled', 'dropped'))
        or exists (select 1 from transfer
                    where transfer.file_id = file.id and transfer.result = 1)
    union
    select package.id
      from maker
      join input on input.package_id = maker.package_id and input.own = 0 and input.dropped = 0
      join file on file.id = input.file_id and file.dropped = 0
                and (file.present = 0 or file.id in (select file_id from only_there))
      join package on package.id = file.package_id and package.phase in ('done', 'transferring')),
retained (file_id, path) as materialized (
    select file.id, job.name || ':' || file.name
      from only_there
      join file on file.id = only_there.file_id and file.dropped = 0 and file.partial = 0
      join job on job.id = file.job_id
      join package on package.id = file.package_id and package.phase in ('done', 'transferring')
     where iif(file.disposition is not null, file.disposition = 'retain-indef',
               file.dispositions like '%retain-indef%')
       and package.id not in (select package_id from maker))
select count(*) as files, coalesce(sum(size), 0) as bytes,
       (select count(*) from retained) as retained,
       (select json_group_array(path) from (select path from retained order by file_id limit :named)
       ) as names,
       (select json_group_object(requirement_id, n)
          from (select package.requirement_id, count(*) as n
                  from maker join package on package.id = maker.package_id
                 group by package.requirement_id)) as packages
  from only_there;

-- name: needed_only_on_nodes
-- Number and size of the files that packages have made and that are still read or copied as results, of
-- which these nodes have a copy, but none of the other clusters, by the first job that needs them, with
-- one of them; and the jobs that have made those that are not to be copied to results/ yet.
select job.name as job, count(*) as files, coalesce(sum(needed.size), 0) as bytes,
       min(maker.name || ':' || needed.name) as example,
       json_group_array(distinct maker.name)
         filter (where not needed.is_leaving) as makers
  from (select file.name, file.size, file.job_id as made_in,
               exists (select 1 from transfer
                        where transfer.file_id = file.id and transfer.result = 1) as is_leaving,
               coalesce((select reader.job_id
                           from input
                           join package as reader on reader.id = input.package_id
                          where input.file_id = file.id and input.dropped = 0 and input.own = 0
                            and reader.phase not in ('done', 'transferring', 'canceled', 'dropped')
                          limit 1),
                        (select maker.job_id
                           from transfer
                           join package as maker on maker.id = file.package_id
                          where transfer.file_id = file.id and transfer.result = 1
                          limit 1)) as job_id
          from location
          join file on file.id = location.file_id and file.package_id is not null
                    and file.stored is null and file.dropped = 0
         where location.node_id in (select value from json_each(:nodes))
           and not exists (select 1 from location as other
                            where other.file_id = location.file_id
                              and other.cluster_id in (select value from json_each(:others)))
           and not exists (select 1 from delivered_result where delivered_result.file_id = file.id)
       ) as needed
  join job on job.id = needed.job_id
  join job as maker on maker.id = needed.made_in
 group by job.id
 order by files desc, job.id;

-- name: forget_node_transfers
-- Forget transfers to a cluster without nodes.
delete from transfer
 where cluster_id = :cluster and :cluster <> 1 and result = 0
   and not exists (select 1 from node where node.cluster_id = :cluster and node.id <> :node);

-- name: node_in_use
-- How many packages are launched on a node, with :results also those whose results are still on their
-- way from there and nowhere else.
select (select count(*) from package
         where node_id = :node and phase <> 'assigned' and is_live = 1)
     + (select count(*)
          from job
          join package indexed by package_in_phase
            on package.job_id = job.id and package.phase = 'transferring'
          join attempt on attempt.id = package.attempt_id and attempt.node_id = :node
         where :results and job.visible = 1 and job.ended is null
           and not exists (select 1
                             from node as own
                             join node as other on other.cluster_id = own.cluster_id
                                               and other.id <> own.id
                            where own.id = :node));

-- name: drain_node
-- Let a node take no new packages; if its cache is in doubt, also when that is over. A drain by
-- d0ctl itself becomes one by a person now.
update node
   set drained_at = case when drained = 1 and drained_at is not doubted
                          and id not in (select node_id from bad_node) then drained_at
                         else :now end,
       drained = 1, drain_note = :note
 where id = :node;

-- name: resume_node
-- Let a node take packages again, unless its cache is in doubt.
update node
   set drained = 0, drain_note = null, drained_at = null
 where id = :node and doubted is null;

-- name: note_free_disk
-- Record the free disk of a node.
update node set facts = json_set(facts, '$.disk_free', :free) where id = :node;

-- name: begin_full_disk
-- Note since when the disk of a node has less free space than its reserve.
insert into node_outage (node_name, kind, began)
select node.name, 'full', :now
  from node join node_space on node_space.node_id = node.id
 where node.id = :node and node_space.disk_short > 0
    on conflict do nothing;

-- name: end_full_disk
-- Note until when it had.
update node_outage
   set ended = :now, became = 'up'
 where kind = 'full' and ended is null
   and node_name = (select node.name
                      from node join node_space on node_space.node_id = node.id
                     where node.id = :node and node_space.disk_short = 0);

-- name: keep_speed
-- Record the result of a node's benchmark.
update node set speed_measured = :speed, measured = :now where id = :node;

-- name: move_node
-- A node shares the cache of another cluster from now on.
update node set cluster_id = :cluster where id = :node;

-- name: node_up
-- A node answers; its facts are recorded.
update node
   set since = case when state = 'up' then since else :now end,
       state = 'up', contact = :now, last_error = null, facts = :facts, load = :load,
       machine = coalesce(nullif(:machine, ''), machine),
       boot = :boot, base = :base, clock = :clock, memory = coalesce(memory_asked, :memory),
       gpus = coalesce(gpus_asked, :gpus),
       platform = coalesce(platform_asked,
                           (select platform from cluster where cluster.id = node.cluster_id),
                           :platform),
       cpus = coalesce(cpus_asked, :cpus)
 where id = :node;

-- name: node_heard
-- Record the last contact of a node that is not down, and its load then.
update node set contact = max(coalesce(contact, 0), :last_heard), load = coalesce(:load, load)
 where id = :node and state <> 'down';

-- name: node_down
-- A node does not answer.
update node
   set since = case when state = 'down' then since else :now end, state = 'down',
       last_error = :last_error, next_try = :next_try
 where id = :node;

-- name: try_node_now
-- Ask the process that drives a node that is down to try to reach it at once.
update node set next_try = null where id = :node and state = 'down' and next_try is not null;

-- name: requirement_pace
-- The recent run time of such a package, smoothed, and that on a standard node; new ones
-- count a half.
update requirement
   set pace = coalesce(pace * 0.5 + :pace * 0.5, :pace),
       seconds = coalesce(seconds * 0.5 + :seconds * 0.5, :seconds)
 where id = :requirement;

-- name: end_killing
-- Attempts to be ended on a node that is out of contact no longer count.
update attempt
   set outcome = 'killed', ended = :now, reason = 'killed',
       message = 'canceled while its node was out of contact'
 where outcome is null
   and id in (select attempt_id from package where node_id = :node and phase = 'killing');

-- name: cancel_killing
-- killing -> canceled or dropped: its node is out of contact, so it is ended there on return.
update package
   set phase = case when request in ('drop', 'drop now') then 'dropped' else 'canceled' end,
       request = null, changed = :now
 where node_id = :node and phase = 'killing';

-- name: left_behind
-- How many of the selected packages have an attempt that a person ended while its node was out of
-- contact, and that may still run there, as the node has not answered since; and on which nodes.
select count(distinct package.id) as packages, count(distinct node.id) as nodes,
       min(node.name) as node
  from selected_package
  join package on package.id = selected_package.package_id
       and package.phase in ('canceled', 'failed')
  join attempt on attempt.package_id = package.id
  join node on node.id = attempt.node_id and coalesce(node.contact, 0) < attempt.ended
 where (attempt.outcome = 'killed'
        and attempt.message = 'canceled while its node was out of contact')
    or (attempt.outcome = 'lost'
        and exists (select 1
                      from event
                     where event.package_id = package.id and event.attempt_id = attempt.id
                       and event.old = 'unreachable' and event.new = 'failed'));

-- name: node_unknown
-- No process drives a node any more, since its last contact.
update node set state = 'unknown', since = coalesce(contact, :now) where id = :node and state = 'up';

-- name: node_untried
-- down -> unknown: d0ctl does not contact a node, so its last state may be wrong now.
update node set state = 'unknown', since = :now where id = :node and state = 'down';

-- name: last_contact
-- When any node was heard last by a process that drove it; checks say nothing of its packages.
select max(case when state = 'unknown' then min(contact, coalesce(since, contact))
                else contact end) from node;

-- name: forget_contacts
-- No process of this home has contacted any node.
update node set state = 'unknown', since = coalesce(contact, :now) where state <> 'unknown';

-- name: lease_holder
-- Who holds a lease.
select holder from lease where name = :name;

-- name: leases
-- All leases.
select name, holder, taken from lease order by name;

-- name: take_lease
-- Take a lease that is free or whose holder is the one named.
insert into lease (name, holder, taken) values (:name, :holder, :now)
on conflict (name) do update set holder = excluded.holder, taken = excluded.taken
 where lease.holder = :previous
returning holder;

-- name: give_lease
-- Release a lease.
delete from lease where name = :name and holder = :holder;

-- name: drop_lease
-- Drop a lease whose holder is gone.
delete from lease where name = :name;

-- name: drop_leases_of
-- Drop the leases of a process that is gone.
delete from lease where holder = :holder;

-- name: nodes_left_up
-- The nodes that were up when the process ended that drives them.
select node.id
  from lease
  join node on node.state = 'up' and lease.name = 'node ' || node.id
 where lease.holder = :holder;

-- name: newest_attempt
-- The id of the newest attempt.
select max(id) from attempt;

-- name: launched_after
-- How many packages have an attempt that is newer than :last, and how many of these run as it.
select count(distinct package.id) as packages,
       count(distinct case when package.is_live = 1 and attempt.number = package.attempts
                           then package.id end) as running
  from attempt
  join package on package.id = attempt.package_id
 where attempt.id > :last
   and (package.phase <> 'assigned' or attempt.number < package.attempts);

-- name: generation
-- How often this site was restored from a backup, from 1.
select generation from site;

-- name: last_home
-- The folder of the home when a process last drove packages; null: none has.
select home from site;

-- name: record_home
-- The home is here now.
update site set home = :home;

-- name: move_copies
-- The home was moved: copies in it, by their paths now; their inodes may be others.
update location
   set path = :present || substr(path, length(:previous) + 1), inode = null
 where cluster_id = 1 and substr(path, 1, length(:previous)) = :previous;

-- name: move_purges
-- Likewise, files on this machine that are about to be removed.
update purge
   set path = :present || substr(path, length(:previous) + 1)
 where node_id in (select id from node where cluster_id = 1)
   and substr(path, 1, length(:previous)) = :previous;

-- name: raise_generation
-- The site is restored from a backup; the home has had this generation already.
update site set generation = max(generation, :known) + 1;

-- name: raise_ids
-- Raise the next id of a table above all that may have been used.
insert or replace into sqlite_sequence (rowid, name, seq)
values ((select rowid from sqlite_sequence where name = :table), :table,
        max(:least, coalesce((select seq from sqlite_sequence where name = :table), 0)));

-- name: drop_leases
-- Remove the leases of the time of the backup.
delete from lease;

-- name: purge_unknown
-- Files on a node of an unknown attempt, as after a restore, are removed.
insert into purge (node_id, attempt_id)
select :node, :attempt
 where not exists (select 1 from attempt where id = :attempt)
   and not exists (select 1 from purge where node_id = :node and attempt_id = :attempt);

-- name: requirements_of_job
-- The requests of a job's packages to a node, and the stage of each requirement.
select requirement.*, stage.name as stage, stage.seq as stage_seq
  from requirement join stage on stage.id = requirement.stage_id
 where requirement.job_id = :job
 order by requirement.id;

-- name: waiting_of_requirement
-- A waiting package with a requirement, of a line of its stage or of the first ones.
select package_path.path
  from requirement
  join line on line.stage_id = requirement.stage_id
           and line.seq between coalesce(:line, 1) and coalesce(:line, 100000)
  join package on package.line_id = line.id and package.phase = 'waiting'
              and package.requirement_id = requirement.id
  join package_path on package_path.package_id = package.id
 where requirement.id = :requirement
 limit 1;

-- name: requirements_to_run
-- The requests of packages of jobs that have not ended, but for those that only deliver outputs.
select requirement.*, job.name as job
  from job
  join requirement on requirement.job_id = job.id and requirement.stay is null
 where job.visible = 1 and job.ended is null
 order by requirement.job_id, requirement.id;

-- name: requirements_by_id
-- The same of some requirements.
select requirement.*
  from json_each(:requirements) as asked
  join requirement on requirement.id = asked.value and requirement.stay is null;

-- name: remake_requests
-- The requests of successful packages that would run again at once, with how many these are; without
-- those whose line was dropped, whose job is held or paused, or that read files of which only nodes that
-- are down have copies.
select requirement.*, count(*) as n
  from json_each(:packages) as maker
  cross join package on package.id = maker.value
  join job on job.id = package.job_id and job.visible = 1 and job.hold = 0 and job.pause = 0
  join line on line.id = package.line_id and line.dropped is null
  join requirement on requirement.id = package.requirement_id and requirement.stay is null
 where package.phase = 'done'
   and not exists (
       select 1
         from input
         join file on file.id = input.file_id and file.present = 1
                  and file.package_id is not null and file.locator is null
        where input.package_id = package.id and input.dropped = 0 and input.own = 0
          and exists (select 1 from location where location.file_id = file.id)
          and not exists (select 1
                            from location
                            left join node on node.cluster_id = location.cluster_id
                           where location.file_id = file.id
                             and (location.cluster_id = 1 or node.state <> 'down')))
 group by requirement.id;

-- name: packages_to_run
-- How many packages of a job with some requirements have not ended.
select count(*)
  from package
 where job_id = :job
   and phase in ('waiting', 'ready', 'held', 'cooloff', 'assigned', 'starting', 'staging-in',
                 'running', 'suspended', 'unreachable')
   and requirement_id in (select value from json_each(:requirements));

-- name: note_login
-- Record whether a node could log in to another one.
insert into node_login (node_id, callee_id, fault, tried)
values (:node, :callee, :fault, :now)
on conflict (node_id, callee_id) do update set fault = excluded.fault, tried = excluded.tried;

-- name: logins_between
-- The known logins between two nodes.
select node_id, callee_id, fault, tried
  from node_login
 where (node_id, callee_id) in (values (:one, :other), (:other, :one));

-- name: logins_of
-- The known logins from and to a node.
select caller.name as caller, callee.name as callee, fault, tried
  from node_login
       join node as caller on caller.id = node_login.node_id
       join node as callee on callee.id = node_login.callee_id
 where node_login.node_id = :node or node_login.callee_id = :node
 order by caller.name, callee.name;
