-- name: clusters_of_pilots
-- The batch systems whose names stand for their pilots in a job file.
select name from cluster where pilots ->> 'mode' = 'pilot';

-- name: batch_systems
-- The clusters whose nodes are pilots.
select id, name, platform, services, cluster.services as cluster_services, pilots,
       fault, fault_of, fault_since, retry
  from cluster
 where pilots is not null
 order by id;

-- name: batch_system_fails
-- A request to a batch system has failed, or a pilot ended at once; an equal fault keeps its time.
update cluster
   set fault_since = case when fault = :text then fault_since else :now end,
       fault = :text, fault_of = :kind, retry = :retry
 where id = :cluster;

-- name: batch_system_works
-- The fault of a batch system is over.
update cluster set fault = null, fault_of = null, fault_since = null, retry = null
 where id = :cluster;

-- name: pilots_of_systems
-- How many pilots and other jobs of each batch system have not ended.
select cluster.name, cluster.pilots ->> 'kind' as kind, count(*) as pilots
  from pilot
  join cluster on cluster.id = pilot.cluster_id
 where pilot.state <> 'ended'
 group by cluster.id;

-- name: live_pilots
-- The pilots of a cluster that have not ended, with their nodes.
select pilot.*, node.name as node, node.state as node_state, node.contact, node.drained,
       (select count(*) from package
         where package.node_id = node.id and package.is_live = 1) as packages
  from pilot indexed by pilot_alive
  left join node on node.id = pilot.node_id
 where pilot.cluster_id = :cluster and pilot.state <> 'ended' and pilot.attempt_id is null
 order by pilot.submitted, pilot.id;

-- name: batch_faults
-- The batch systems that bring no pilots, and why.
select name, fault, fault_of, fault_since, retry
  from cluster
 where fault is not null
 order by name;

-- name: ended_pilots
-- The latest pilots of a cluster that have ended, and how.
select id, job, seq, reason, ended
  from pilot indexed by pilot_submitted
 where cluster_id = :cluster and state = 'ended'
 order by submitted desc, id desc
 limit :most;

-- name: submitted_since
-- How many pilots of a cluster were submitted recently.
select count(*) from pilot indexed by pilot_submitted
 where cluster_id = :cluster and submitted > :since and attempt_id is null;

-- name: next_pilot
-- The number of the next pilot.
select coalesce((select seq from sqlite_sequence where name = 'pilot'), 0) + 1;

-- name: add_pilot
-- A pilot that is about to be submitted; its job is found by its name, whatever happens next.
insert into pilot (cluster_id, batch, seq, submitted) values (:cluster, :batch, :seq, :now);

-- name: add_direct_jobs
-- Jobs of their own for attempts, likewise.
insert into pilot (cluster_id, batch, seq, attempt_id, priority, submitted)
values (?, ?, ?, ?, ?, ?);

-- name: keep_direct_priority
-- The batch system knows the new priority of a package.
update pilot set priority = ? where id = ?;

-- name: direct_jobs
-- The jobs of single attempts, perhaps only those in a state, and whether these are alive.
select pilot.id, pilot.batch, pilot.seq, pilot.job, pilot.state, pilot.reason, pilot.submitted,
       pilot.attempt_id as attempt, package.id is not null as is_live, pilot.priority,
       coalesce(requirement.priority, job.priority) as wanted
  from pilot indexed by pilot_direct
  left join attempt on attempt.id = pilot.attempt_id
  left join package on package.id = attempt.package_id and package.attempt_id = attempt.id
                   and package.is_live = 1
  left join requirement on requirement.id = package.requirement_id
  left join job on job.id = package.job_id
 where pilot.cluster_id = :cluster and pilot.attempt_id is not null
   and (:state is null or pilot.state = :state)
 order by pilot.id;

-- name: any_direct_job
-- Whether a cluster has jobs of single attempts.
select 1 from pilot where cluster_id = :cluster and attempt_id is not null limit 1;

-- name: direct_job_of
-- The job of an attempt.
select pilot.job, pilot.seq, pilot.state, pilot.reason, cluster.name as cluster,
       cluster.pilots ->> 'kind' as kind
  from pilot join cluster on cluster.id = pilot.cluster_id
 where pilot.attempt_id = :attempt;

-- name: direct_due
-- Attempts of a node that wait for a job of their own, the oldest first.
select package.attempt_id as attempt, requirement.cpus, requirement.gpus,
       coalesce(requirement.memory, requirement.memory_expected) as memory,
       package.wall_time, job.name || '.' || stage.name as title,
       coalesce(requirement.priority, job.priority) as priority
  from package indexed by package_live
  join requirement on requirement.id = package.requirement_id
  join stage on stage.id = package.stage_id
  join job on job.id = package.job_id
 where package.node_id = :node and package.is_live = 1 and package.phase = 'starting'
   and not exists (select 1 from pilot where pilot.attempt_id = package.attempt_id)
 order by package.attempt_id
 limit :most;

-- name: drop_direct_jobs
-- The jobs of attempts are settled, or were not accepted.
delete from pilot where id = ?;

-- name: direct_node
-- The node of a batch system in which each package has a job of its own.
select node.*, cluster.name as cluster
  from node join cluster on cluster.id = node.cluster_id
 where node.cluster_id = :cluster and node.job = 'direct';

-- name: add_direct_node
-- A batch system as a node of many CPUs.
insert into node (name, cluster_id, kind, cpus, job)
select name, id, pilots ->> 'kind', 1, 'direct' from cluster where id = :cluster;

-- name: keep_direct_node
-- How it is reached, and what its jobs may ask for together.
update node
   set destination = :destination, identity = :identity, directory = :directory,
       python = :python, via = :via, cpus = :cpus, cpus_asked = :cpus,
       memory = :memory, memory_asked = :memory, gpus = :gpus, gpus_asked = :gpus
 where id = :node;

-- name: pilots_accepted
-- The batch system has accepted the pilots of a batch.
update pilot set job = :job where batch = :batch;

-- name: keep_pilot
-- The state of a pilot, by the queue of its batch system.
update pilot
   set job = :job, state = case when state = 'ending' then state else :state end,
       reason = :reason, ends = coalesce(:ends, ends)
 where id = :pilot and state <> 'ended';

-- name: pilot_ending
-- running or queued -> ending: it was ordered to end.
update pilot set state = 'ending', reason = :reason where id = :pilot and state <> 'ended';

-- name: pilot_ended
-- A pilot has ended.
update pilot set state = 'ended', reason = :reason, ended = :now where id = :pilot;

-- name: pilot_has_ended
-- Whether a pilot of a cluster has ended, by the name and the index of its job.
select 1 from pilot
 where batch = :batch and seq = :seq and cluster_id = :cluster and state = 'ended';

-- name: add_pilot_cluster
-- The cache of a pilot, with the settings of its batch system.
insert into cluster (name, platform, private, capacity, software_share, services)
select :name, platform, private, capacity, software_share, services
  from cluster where id = :cluster
returning id;

-- name: add_pilot_node
-- The node in the allocation of a pilot.
insert into node (name, cluster_id, kind, destination, identity, directory, python, via, job, cpus,
                  cpus_asked, memory, memory_asked, gpus, gpus_asked)
values (:name, :cluster, :kind, :destination, :identity, :directory, :python, :via, :job, :cpus,
        :cpus, :memory, :memory, :gpus, :gpus)
returning id;

-- name: pilot_has_node
-- Where the packages of a pilot run.
update pilot set node_id = :node where id = :pilot;

-- name: close_pilot
-- Let a running pilot take no more packages; a node of another kind stays as it is.
update node
   set drained = 1, drain_note = :note, drained_at = :now
 where id = :node and drained = 0
   and exists (select 1 from pilot
                where pilot.node_id = node.id and pilot.state = 'running'
                  and pilot.attempt_id is null);

-- name: keeps_needed_file
-- Whether a pilot has the only copy of a file that a package still reads, or that is being copied,
-- such as a result; in this order, as few copies are on a pilot.
select 1
  from node
 cross join location on location.cluster_id = node.cluster_id
 where node.id = :node
   and not exists (select 1 from location as other
                    where other.file_id = location.file_id
                      and other.cluster_id <> location.cluster_id)
   and (exists (select 1 from transfer where transfer.file_id = location.file_id)
        or exists (select 1
                     from input
                    cross join package on package.id = input.package_id
                                      and package.phase not in ('done', 'canceled', 'dropped')
                    where input.file_id = location.file_id))
 limit 1;
