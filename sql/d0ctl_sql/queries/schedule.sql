-- name: schedulable_nodes
-- Nodes that may take packages, with the CPUs, memory and GPUs that live packages use there, the disk
-- that those of all nodes with the same cache use, the CPUs of packages whose inputs are in transit and
-- of those that a person suspended, the number of packages that wait there for inputs, and of those that
-- only deliver outputs, which use neither memory, GPUs nor disk; also nodes that d0ctl drained and
-- that one package is to try, with the stage that failed there.
select node.id, node.name, node.cluster_id as cluster, node.cpus, node.memory, node.gpus, node.platform,
       node.services, cluster.services as cluster_services, node.speed,
       coalesce(live.used, 0) as used,
       coalesce(live.lasting, 0) + coalesce(paused.short, 0.0) as lasting,
       coalesce(paused.cpus, 0.0) as suspended,
       coalesce(live.bringing, 0) as bringing,
       coalesce(live.open, 0) as open, coalesce(live.delivering, 0) as delivering,
       coalesce(live.running, 0) as running,
       bad_node.stage_id as on_trial,
       coalesce(live.memory, 0) as memory_used, coalesce(live.gpus, 0) as gpus_used,
       cast(coalesce(sum(live.space) over (partition by node.cluster_id), 0) as integer) as disk_used,
       node_space.disk, node_space.disk_spare as disk_free, node_space.disk_short,
       (select pilot.ends - :now from pilot indexed by pilot_of_node
         where pilot.node_id = node.id and pilot.state <> 'ended') as left_s,
       node.job = 'direct' and cluster.pilots ->> 'mode' = 'auto' as is_for_long,
       (select batch.name
          from pilot indexed by pilot_of_node join cluster as batch on batch.id = pilot.cluster_id
         where pilot.node_id = node.id and pilot.state <> 'ended'
           and batch.pilots ->> 'mode' = 'pilot') as batch
  from node
  join cluster on cluster.id = node.cluster_id
  join node_space on node_space.node_id = node.id
  left join bad_node on bad_node.node_id = node.id
  left join node_use as live on live.node_id = node.id
  left join (select node_id, sum(cpus) as cpus, sum(iif(pace <= :short, cpus, 0.0)) as short
               from (select package.node_id, requirement.pace,
                            requirement.cpus * requirement.cpu / 100.0 as cpus
                       from package indexed by package_live
                       join requirement on requirement.id = package.requirement_id
                                       and requirement.stay is null
                      where package.is_live = 1 and package.is_paused)
              group by node_id) as paused on paused.node_id = node.id
 where node.state = 'up'
   and (node.drained = 0
        or (bad_node.next_try <= :now
            and not exists (select 1 from package
                             where package.id = bad_node.canary_id
                               and package.node_id = node.id
                               and package.is_live = 1)))
 order by node.id;

-- name: ready_requirements
-- Requirements with ready packages of jobs that may run, ordered by priority (their own or that of
-- the job), then by age of the job; within a job, packages that were tried already come first, as
-- they delay its completion (D0 Job Definition, section 5), then those with which the longest chain
-- of packages begins. Packages that wait for nodes that are down do not count.
select requirement.ready - requirement.away as ready, requirement.*
  from job
  join requirement on requirement.job_id = job.id and requirement.ready > 0
                  and requirement.ready > requirement.away
 where job.visible = 1 and job.hold = 0 and job.pause = 0 and job.finish is null
   and job.ended is null
   and (:job is null or job.id = :job)
 order by coalesce(requirement.priority, job.priority) + requirement.boost desc, job.id,
          requirement.avoid is null and requirement.failed_on is null, requirement.rank desc,
          requirement.id;

-- name: count_ready
-- How many packages are ready and do not wait for nodes that are down.
select coalesce(sum(ready - away), 0) from requirement indexed by requirement_ready where ready > 0;

-- name: limited_stages
-- Stages that limit how many of their packages run at once, with how many more may start; packages
-- that wait for inputs after an early start do not count.
select stage.id,
       stage.max_running
       - (select coalesce(sum(stage_count.n), 0)
            from stage_count
           where stage_count.stage_id = stage.id
             and stage_count.phase in (select name from phase where is_live = 1))
       + (select count(*) from package indexed by package_open
           where package.job_id = stage.job_id and package.stage_id = stage.id
             and early = 1 and awaited > 0
             and phase in ('starting', 'staging-in', 'running', 'suspended', 'unreachable'))
       as left
  from stage indexed by stage_limited
  join job on job.id = stage.job_id and job.visible = 1 and job.ended is null
 where stage.max_running is not null;

-- name: limited_jobs
-- The same for jobs.
select job.id,
       job.max_running
       - (select coalesce(sum(stage_count.n), 0)
            from stage
            join stage_count on stage_count.stage_id = stage.id
           where stage.job_id = job.id
             and stage_count.phase in (select name from phase where is_live = 1))
       + (select count(*) from package indexed by package_open
           where package.job_id = job.id and early = 1 and awaited > 0
             and phase in ('starting', 'staging-in', 'running', 'suspended', 'unreachable'))
       as left
  from job indexed by job_limited
 where job.max_running is not null and job.visible = 1 and job.ended is null;

-- name: limited_stages_of_job
-- The stages of a job that limit how many of their packages run at once, with their ready packages.
select stage.id, stage.seq, stage.max_running, stage_count.n
  from stage indexed by stage_limited
  join stage_count on stage_count.stage_id = stage.id and stage_count.phase = 'ready'
                  and stage_count.n > 0
 where stage.max_running is not null and stage.job_id = :job
 order by stage.seq;

-- name: limits_of_package
-- How many packages of its stage and its job may run at once; null: not limited.
select stage.id as stage_id, stage.max_running as stage, job.id as job_id,
       job.max_running as job
  from package
  join stage on stage.id = package.stage_id
  join job on job.id = package.job_id
 where package.id = :package;

-- name: ready_packages
-- The oldest ready packages with a requirement, except those that take no slot yet, or wait for nodes that
-- are down.
select id from package
 where phase = 'ready' and away is null and requirement_id = :requirement and (early = 0 or awaited = 0)
 order by id limit :limit;

-- name: open_packages
-- The oldest ready packages with a requirement that start while they wait for inputs.
select id from package
 where phase = 'ready' and away is null and requirement_id = :requirement and early > 0 and awaited > 0
 order by id limit :limit;

-- name: busy_slots
-- The packages that use CPUs of nodes or will: how long each takes on a standard node, since when it
-- runs, how wide the range of its estimate is, and when it expects to end. Its start is
-- reported a moment later, so that is when it began if it was not staging in; if it was suspended, it
-- counts as begun so much later.
select package.node_id, package.job_id, requirement.cpus, requirement.cpu, requirement.seconds,
       requirement.rank, node.speed,
       case when package.phase = 'suspended' and attempt.started is not null
            then attempt.started + attempt.suspended + :now - package.changed
            when attempt.suspended > 0.0 then attempt.started + attempt.suspended
            when package.changed - attempt.started < 1.0
            then max(attempt.launched, min(attempt.started, package.changed))
            else package.changed end as since,
       attempt.expected_high - attempt.expected_low as spread,
       progress.eta,
       package.phase not in ('running', 'suspended', 'killing', 'unreachable') as queued
  from package indexed by package_live
  join requirement on requirement.id = package.requirement_id and requirement.stay is null
  join node on node.id = package.node_id
  left join attempt on attempt.id = package.attempt_id
  left join progress on progress.package_id = package.id
 where package.is_live = 1 and not (package.early = 1 and package.awaited > 0);

-- name: package_places
-- How many of the inputs of a package that must be on its node are in each cluster, and how many
-- bytes; cluster 0 has all of them.
select location.cluster_id, count(distinct input.file_id) as files, sum(coalesce(file.size, 1)) as bytes
  from input
  join file on file.id = input.file_id
  join location on location.file_id = file.id
 where input.package_id = :package and input.own = 0 and input.dropped = 0
   and input.acquire = 'pre-fetch'
 group by location.cluster_id
 union all
select 1, count(distinct input.file_id), sum(coalesce(file.size, 1))
  from input
  join file on file.id = input.file_id and file.package_id is null and file.locator is null
 where input.package_id = :package and input.dropped = 0 and input.acquire = 'pre-fetch'
 union all
select 0, count(distinct input.file_id), sum(coalesce(file.size, 1))
  from input join file on file.id = input.file_id and file.present = 1
 where input.package_id = :package and input.own = 0 and input.dropped = 0
   and input.acquire = 'pre-fetch';

-- name: requirement_of_package
-- The requirement of a package, and its stage.
select requirement.*, stage.name as stage
  from package
  join requirement on requirement.id = package.requirement_id
  join stage on stage.id = requirement.stage_id
 where package.id = :package;

-- name: transfer_backlog
-- How many bytes and files are in transit to each cluster, by the cluster that they come from; 0 if
-- that is unknown.
select source_id, cluster_id, sum(bytes) as bytes, count(*) as files
  from (select coalesce((select min(location.cluster_id) from location
                          where location.file_id = transfer.file_id), 0) as source_id,
               transfer.cluster_id, coalesce(file.size, 0) as bytes
          from transfer join file on file.id = transfer.file_id
         where transfer.result = 0)
 group by source_id, cluster_id;

-- name: link_between
-- The record of transfers between the clusters of two nodes, or of this machine; null: none yet.
select ends.source_id, ends.cluster_id, link_rate.files_files, link_rate.files_bytes,
       link_rate.bytes_bytes, link_rate.files_seconds, link_rate.bytes_seconds, link_rate.at
  from (select coalesce((select cluster_id from node where id = :source), 1) as source_id,
               coalesce((select cluster_id from node where id = :node), 1) as cluster_id) as ends
  left join link_rate on link_rate.source_id = ends.source_id
                     and link_rate.cluster_id = ends.cluster_id;

-- name: keep_link
-- Record what they took until now.
insert into link_rate (source_id, cluster_id, files_files, files_bytes, bytes_bytes, files_seconds,
                       bytes_seconds, at)
values (:source, :cluster, :files_files, :files_bytes, :bytes_bytes, :files_seconds,
        :bytes_seconds, :now)
on conflict do update
   set files_files = excluded.files_files, files_bytes = excluded.files_bytes,
       bytes_bytes = excluded.bytes_bytes, files_seconds = excluded.files_seconds,
       bytes_seconds = excluded.bytes_seconds, at = excluded.at;

-- name: link_to_node
-- The record of transfers to the cluster of a node; nulls: none yet.
select sum(link_rate.files_files) as files_files,
       sum(link_rate.files_bytes) as files_bytes, sum(link_rate.bytes_bytes) as bytes_bytes,
       sum(link_rate.files_seconds) as files_seconds,
       sum(link_rate.bytes_seconds) as bytes_seconds
  from node join link_rate on link_rate.cluster_id = node.cluster_id
 where node.name = :node;

-- name: link_rates
-- The record of transfers from one cluster to another, and from all clusters (0) to each.
select source_id, cluster_id, files_files, files_bytes, bytes_bytes, files_seconds, bytes_seconds
  from link_rate
 union all
select 0, cluster_id, sum(files_files), sum(files_bytes), sum(bytes_bytes), sum(files_seconds),
       sum(bytes_seconds)
  from link_rate
 group by cluster_id;

-- name: local_bytes
-- For each package to place, the bytes of its inputs in each cluster, in cluster 0 those of all of
-- them, and the bytes that earlier attempts left there; a lost attempt counts little, because its
-- files are unknown. Files of other jobs with which its chain may begin in the middle count, too.
select package_id, cluster_id, sum(bytes) as bytes
  from (select input.package_id, location.cluster_id, coalesce(file.size, 1) as bytes
          from decision
          join input on input.package_id = decision.package_id
                    and input.own = 0 and input.dropped = 0
          join file on file.id = input.file_id
          join location on location.file_id = file.id
         union all
        select input.package_id, 0, coalesce(file.size, 1)
          from decision
          join input on input.package_id = decision.package_id
                    and input.own = 0 and input.dropped = 0 and input.acquire = 'pre-fetch'
          join file on file.id = input.file_id and file.present = 1
         union all
        select attempt.package_id, node.cluster_id,
               coalesce((select sum(json_extract(value, '$.size'))
                           from json_each(attempt.retained, '$.files')),
                        attempt.retained is null) as bytes
          from decision
          join package on package.id = decision.package_id and package.attempts > 0
          join attempt on attempt.package_id = package.id
                      and (attempt.retained is not null or attempt.outcome = 'lost')
          join node on node.id = attempt.node_id
         union all
        select package.id, location.cluster_id, retained.size
          from decision
          join package on package.id = decision.package_id and package.attempts = 0
                      and package.early = 0
          join binary as later on later.package_id = package.id and later.seq = 2
          join file on file.package_id = package.id and file.dispositions <> ''
          join file as retained on retained.name = file.name and retained.present = 1
                           and retained.dispositions <> '' and retained.binary = file.binary
                           and retained.job_id <> file.job_id and retained.partial = 0
          join binary as mine on mine.package_id = package.id and mine.seq = file.binary
          join binary as theirs on theirs.package_id = retained.package_id
                               and theirs.seq = file.binary
                               and (theirs.script, theirs.argv, theirs.software, theirs.version)
                                   is (mine.script, mine.argv, mine.software, mine.version)
          join location on location.file_id = retained.id)
 group by package_id, cluster_id;

-- name: brought_files
-- For each package to place, how many of its inputs in each cluster have to be copied elsewhere;
-- cluster 0 has their total number.
select input.package_id, location.cluster_id, count(distinct input.file_id) as files
  from decision
  join input on input.package_id = decision.package_id and input.own = 0 and input.dropped = 0
            and input.acquire = 'pre-fetch'
  join location on location.file_id = input.file_id
 group by input.package_id, location.cluster_id
 union all
select input.package_id, 0, count(distinct input.file_id)
  from decision
  join input on input.package_id = decision.package_id and input.own = 0 and input.dropped = 0
            and input.acquire = 'pre-fetch'
  join file on file.id = input.file_id and file.present = 1 and file.late = 0
 group by input.package_id
 union all
select input.package_id, 1, count(distinct input.file_id)
  from decision
  join input on input.package_id = decision.package_id and input.dropped = 0
            and input.acquire = 'pre-fetch'
  join file on file.id = input.file_id and file.package_id is null and file.locator is null
 group by input.package_id;

-- name: absent_inputs
-- The inputs of packages that clusters with a capacity lack, and that are not on their way there;
-- those with a declared size count as space of the package. The path of one on this machine.
select input.package_id, cluster_space.cluster_id, file.id as file_id, file.size,
       iif(file.package_id is null and file.locator is null, file.name, null) as path
  from cluster_space
  cross join json_each(:packages) as wanted
  join input on input.package_id = wanted.value and input.own = 0 and input.dropped = 0
            and input.acquire = 'pre-fetch' and input.size is null
  join file on file.id = input.file_id
 where not exists (select 1 from location
                    where location.file_id = file.id
                      and location.cluster_id = cluster_space.cluster_id)
   and not exists (select 1 from transfer
                    where transfer.file_id = file.id and transfer.result = 0
                      and transfer.cluster_id = cluster_space.cluster_id);

-- name: assign_packages
-- ready -> assigned, as decided.
update package
   set phase = 'assigned', node_id = decision.node_id, choice_id = decision.choice_id,
       changed = :now, actor = null, note = null, early = min(early, 1)
  from decision
 where package.id = decision.package_id and package.phase = 'ready';

-- name: recent_choice
-- Why a node got packages with a requirement shortly before, by the same rule, while as many nodes
-- met it: one, two or several.
select id from node_choice
 where requirement_id = :requirement and node_id = :node and rule = :rule and at > :after
   and min(fits, 3) = min(:fits, 3)
 order by at desc
 limit 1;

-- name: keep_choice
-- Why a node got packages with a requirement.
insert into node_choice (requirement_id, node_id, at, rule, able, fits, rival, mine, theirs)
values (:requirement, :node, :now, :rule, :able, :fits, :rival, :mine, :theirs)
returning id;

-- name: choice_of_package
-- Why a package got its last node, and when: others may have got it for this reason before.
select node.name as node,
       coalesce((select max(event.at) from event
                  where event.package_id = package.id and event.new = 'assigned'),
                node_choice.at) as at,
       node_choice.at as compared, node_choice.rule, node_choice.able, node_choice.fits,
       node_choice.rival, node_choice.mine, node_choice.theirs, requirement.avoid as avoided
  from package
  join node_choice on node_choice.id = package.choice_id
  join requirement on requirement.id = node_choice.requirement_id
  join node on node.id = node_choice.node_id
 where package.id = :package;

-- name: choices_of_stage
-- Why nodes got packages of a stage lately, the last ones first.
select node.name as node, max(node_choice.at) as at, max(node_choice.at) as compared,
       node_choice.rule, node_choice.able,
       node_choice.fits, node_choice.rival, node_choice.mine, node_choice.theirs,
       requirement.avoid as avoided
  from requirement
  join node_choice on node_choice.requirement_id = requirement.id
  join node on node.id = node_choice.node_id
 where requirement.job_id = :job and requirement.stage_id = :stage
 group by node.id
 order by at desc
 limit :limit;

-- name: coming_soon
-- Those of some packages that have a node, to which their inputs are on the way.
select package.id
  from json_each(:packages) as listed
  join package on package.id = listed.value and package.phase = 'assigned' and package.staging > 0;

-- name: plan_start
-- When an assigned package is expected to start.
update package set planned = ? where id = ? and phase = 'assigned';

-- name: mark_canaries
-- Record which package tries a node that d0ctl has drained.
update bad_node set canary_id = decision.package_id
  from decision
  join package on package.id = decision.package_id and package.phase = 'assigned'
 where bad_node.node_id = decision.node_id and package.node_id = decision.node_id;

-- name: want_inputs
-- Request the inputs that the cluster of the selected node lacks; now, if they were postponed.
insert into transfer (file_id, cluster_id, wanted)
select distinct input.file_id, node.cluster_id, :now
  from decision
  join package on package.id = decision.package_id and package.phase = 'assigned'
  join node on node.id = package.node_id
  join input on input.package_id = package.id
            and input.own = 0 and input.dropped = 0 and input.acquire = 'pre-fetch'
  join file on file.id = input.file_id and file.present = 1 and file.late = 0
 where (file.package_id is not null
        or (file.locator is null and node.cluster_id <> 1)
        or (substr(file.locator, instr(file.locator, ':'), 3) glob ':/[^/]'
            and node.cluster_id is not
                (select cluster_id from node as far
                  where far.name = substr(file.locator, 1, instr(file.locator, ':') - 1))))
   and not exists (select 1 from location
                    where location.file_id = input.file_id
                      and location.cluster_id = node.cluster_id)
on conflict do update set not_before = 0 where not_before >= :parked;

-- name: count_staging
-- Record how many inputs are in transit to each package just assigned; without any it stays 0.
update package
   set staging = counted.n
  from (select package.id as package_id, count(distinct input.file_id) as n
          from decision
          join package on package.id = decision.package_id and package.phase = 'assigned'
          join node on node.id = package.node_id
          join input on input.package_id = package.id and input.own = 0 and input.dropped = 0
                    and input.acquire = 'pre-fetch'
          join transfer on transfer.file_id = input.file_id
                       and transfer.cluster_id = node.cluster_id
                       and transfer.result = 0
         group by package.id) as counted
 where package.id = counted.package_id;

-- name: unassign_node
-- assigned -> ready: the node can't take them after all.
update package
   set phase = 'ready', node_id = null, staging = 0, changed = :now, actor = null, note = :note
 where node_id = :node and phase = 'assigned';

-- name: crowded_packages
-- The requests of packages that wait for a file in a cluster, except of those that may go nowhere else.
select package.id as package, node.name as node, requirement.failed_on as node_name,
       requirement.id as requirement_id, requirement.*
  from input
  join package on package.id = input.package_id and package.phase = 'assigned'
              and package.early = 0
  join node on node.id = package.node_id and node.cluster_id = :cluster
  join requirement on requirement.id = package.requirement_id and requirement.stay is null
 where input.file_id = :file and input.own = 0 and input.dropped = 0;

-- name: unassign_drained
-- assigned -> ready: their node takes no new packages since it was drained.
update package
   set phase = 'ready', node_id = null, staging = 0, changed = :now, actor = null,
       note = 'node-drained'
 where phase = 'assigned' and early = 0
   and node_id in (select id from node where drained = 1)
   and not exists (select 1 from bad_node
                    where bad_node.node_id = package.node_id
                      and bad_node.canary_id = package.id);

-- name: clusters_down
-- The clusters whose copies nobody can read, as all their nodes are down; those on this machine can be.
select cluster_id from node where cluster_id <> 1
 group by cluster_id having min(state = 'down') = 1;

-- name: find_delivered
-- Inputs of packages that were delivered, and of which else only these clusters, whose nodes are down,
-- have copies, have the copy in results/.
insert into location (file_id, cluster_id, path, made)
select distinct file.id, 1, :results || job.name || '/' || file.name, maker.changed
  from json_each(:packages) as wanted
  join input on input.package_id = wanted.value and input.own = 0 and input.dropped = 0
            and input.acquire = 'pre-fetch'
  join file on file.id = input.file_id
  join delivered_result on delivered_result.file_id = file.id
  join package as maker on maker.id = file.package_id
  join job on job.id = file.job_id
 where not exists (select 1 from location as other
                    where other.file_id = file.id
                      and other.cluster_id not in (select value from json_each(:clusters)));

-- name: set_aside
-- Packages with an input of which only these clusters, whose nodes are down, have copies wait for one
-- of them.
update package
   set away = lacking.cluster_id
  from (select input.package_id,
               max(iif((select count(*) from location as other where other.file_id = file.id) = 1,
                       location.cluster_id, -location.cluster_id)) as cluster_id
          from json_each(:packages) as wanted
          join input on input.package_id = wanted.value and input.own = 0 and input.dropped = 0
                    and input.acquire = 'pre-fetch'
          join file on file.id = input.file_id and file.present = 1 and file.package_id is not null
          join location on location.file_id = file.id
         where not exists (select 1 from location as other
                            where other.file_id = file.id
                              and other.cluster_id not in (select value from json_each(:clusters)))
         group by input.package_id) as lacking
 where package.id = lacking.package_id;

-- name: unassign_without_copy
-- assigned -> ready: only these clusters, whose nodes are down, have an input of theirs.
update package
   set phase = 'ready', node_id = null, staging = 0, changed = :now, actor = null,
       note = 'input-away'
 where phase = 'assigned' and early = 0 and staging > 0
   and node_id in (select id from node where state = 'up')
   and exists (select 1
                 from input
                 join file on file.id = input.file_id and file.present = 1
                          and file.package_id is not null
                where input.package_id = package.id and input.own = 0 and input.dropped = 0
                  and input.acquire = 'pre-fetch'
                  and exists (select 1 from location where location.file_id = file.id)
                  and not exists (select 1 from location
                                   where location.file_id = file.id
                                     and location.cluster_id not in
                                         (select value from json_each(:clusters))));

-- name: late_packages
-- Assigned packages that still wait for inputs on their nodes after their expected start, with
-- their requests; not those that may go nowhere else.
select package.id as package, node.name as node, node.cluster_id as cluster, package.changed,
       coalesce(package.planned, package.changed) as planned,
       requirement.failed_on as node_name, requirement.id as requirement_id, requirement.*,
       (select count(*) from event
         where event.package_id = package.id and event.old = 'assigned' and event.new = 'ready')
       as moves
  from package indexed by package_assigned
  join node on node.id = package.node_id and node.state = 'up'
  join requirement on requirement.id = package.requirement_id and requirement.stay is null
 where package.phase = 'assigned' and package.early = 0 and package.staging > 0
   and coalesce(package.planned, package.changed) <= :before
 order by package.id
 limit :limit;

-- name: take_back
-- assigned -> ready: its node has no space for an input, and another node has.
update package
   set phase = 'ready', node_id = null, staging = 0, requirement_id = :requirement,
       changed = :now, actor = null, note = :note
 where id = :package and phase = 'assigned';

-- name: release_packages
-- waiting -> ready: nothing is missing any more.
update package
   set phase = 'ready', changed = :now, actor = null, note = null
 where phase = 'waiting' and missing = 0;

-- name: end_cooloff
-- cooloff -> ready: the time of the next try has come.
update package
   set phase = case when missing = 0 then 'ready' else 'waiting' end, not_before = null,
       changed = :now, actor = null, note = null
 where phase = 'cooloff' and not_before <= :now;

-- name: still_jobs
-- Jobs that have not ended and in which nothing moves: no package is launched, scheduled, ready,
-- cooling off or held, and no task makes more of them.
select id, name
  from job
 where visible = 1 and ended is null
   and not exists (select 1
                     from task join task_status on task_status.name = task.status
                    where task.job_id = job.id and task_status.is_ended = 0)
   and not exists (select 1
                     from stage join stage_count on stage_count.stage_id = stage.id
                    where stage.job_id = job.id and stage_count.n > 0
                      and stage_count.phase not in ('waiting', 'done', 'failed', 'canceled',
                                                    'dropped'));

-- name: openable_stages
-- Stages that come after others which have succeeded by now or are dropped.
select stage_order.stage_id, stage_order.after_id
  from stage_order indexed by stage_order_open
  join job on job.id = stage_order.job_id and job.visible = 1
 where stage_order.is_open < 2 and stage_order.is_open = 0 and stage_order.after_id <> 0
   and not exists (select 1 from stage_count
                    where stage_count.stage_id = stage_order.after_id and stage_count.n > 0
                      and stage_count.phase not in ('transferring', 'done', 'dropped'));

-- name: final_stages
-- The final stages of a job that have not begun.
select stage_id, after_id
  from stage_order indexed by stage_order_open
 where job_id = :job and after_id = 0 and is_open < 2 and is_open = 0;

-- name: open_stage
-- The stages before a stage are done, so it may begin.
update stage_order set is_open = 1 where stage_id = :stage and after_id = :after and is_open = 0;

-- name: opening_stages
-- Stages of which lines are being released.
select stage_order.stage_id, stage_order.after_id, stage_order.released, stage.lines
  from stage_order indexed by stage_order_open
  join stage on stage.id = stage_order.stage_id
 where stage_order.is_open < 2 and stage_order.is_open = 1;

-- name: release_lines
-- The first packages of some lines of a stage wait for one thing less.
update package set missing = missing - 1
 where seq = 1
   and line_id in (select id from line
                    where stage_id = :stage and seq > :released and seq <= :upto);

-- name: keep_released
-- Record up to which line a stage is released.
update stage_order
   set released = :upto,
       is_open = iif(:upto >= (select lines from stage where stage.id = :stage), 2, 1)
 where stage_id = :stage and after_id = :after;

-- name: leave_out_absent
-- The packages of a final stage begin without the inputs that the other stages did not make.
update input set dropped = 1
 where own = 0 and dropped = 0
   and package_id in (select id from package
                       where line_id in (select id from line where stage_id = :stage)
                         and phase in (select name from phase where is_idle = 1))
   and exists (select 1
                 from file
                 join package as maker on maker.id = file.package_id
                 join stage on stage.id = maker.stage_id and stage.final = 0
                where file.id = input.file_id and file.present = 0);

-- name: read_absent_again
-- Packages that run again read what was dropped when they ran, and is back; those of final stages also
-- what the other stages had not made before.
update input set dropped = 0
 where own = 0 and dropped = 1
   and package_id in (select package.id
                        from selected_package
                        join package on package.id = selected_package.package_id
                       where package.phase in (select value from json_each(:phases)))
   and (select dropped from file where file.id = input.file_id) = 0;

-- name: hold_back_final_lines
-- The lines of their stages wait for all others again.
update package set missing = missing + 1
 where seq = 1
   and line_id in (select line.id
                     from stage_order
                     join line on line.stage_id = stage_order.stage_id
                              and line.seq <= stage_order.released
                    where stage_order.after_id = 0
                      and stage_order.stage_id in
                          (select package.stage_id
                             from selected_package
                             join package on package.id = selected_package.package_id
                            where package.phase in (select value from json_each(:phases))));

-- name: close_final_stages
-- These begin once nothing else of their jobs can move.
update stage_order set released = 0, is_open = 0
 where after_id = 0
   and stage_id in (select package.stage_id
                      from selected_package
                      join package on package.id = selected_package.package_id
                     where package.phase in (select value from json_each(:phases)));

-- name: jobs_with_closed_final
-- The jobs of the selected packages with final stages that have not begun.
select distinct stage_order.job_id
  from stage_order indexed by stage_order_open
 where stage_order.job_id in (select package.job_id
                                from selected_package
                                join package on package.id = selected_package.package_id)
   and stage_order.after_id = 0 and stage_order.is_open < 2 and stage_order.is_open = 0;

-- name: end_job
-- Record when a job could not move any more.
update job set ended = :now where id = :job and ended is null;

-- name: reopen_jobs
-- Selected packages can go on, so their jobs have not ended. A job that had ended, and of which only
-- packages that had ended were dropped or restored, still ended when it did.
update job set ended = null
 where ended is not null
   and id in (select package.job_id
                from selected_package join package on package.id = selected_package.package_id
               where package.changed > job.ended
                 and package.phase not in (select name from phase where is_final = 1));

-- name: reopen_ready
-- Jobs that had ended, and in which a package has become ready again.
update job set ended = null
 where ended is not null
   and exists (select 1 from requirement
                where requirement.job_id = job.id and requirement.ready > 0);

-- name: resumed_jobs
-- Jobs that go on after they had ended, and whose files other jobs read.
select job_id from resumed_job;

-- name: forget_resumed_jobs
-- Their readers have been looked at.
delete from resumed_job;

-- name: reopen_readers
-- Jobs that had ended, and in which a package waits for a file of a job that goes on.
update job set ended = null
 where ended is not null
   and id in (select job_id from need where maker_id = :job)
   and exists (select 1
                 from package indexed by package_in_phase
                 join input on input.package_id = package.id
                           and input.own = 0 and input.dropped = 0
                 join file on file.id = input.file_id
                where package.job_id = job.id and package.phase = 'waiting'
                  and file.job_id = :job and file.present = 0 and file.dropped = 0);

-- name: waits_for_outside
-- Whether a waiting package of a job waits for a file of another job that may still come. At an
-- earlier moment, a file that is there by now had not come if its maker had not succeeded, and one
-- that is dropped by now could still come.
select 1
  from package
  join input on input.package_id = package.id and input.own = 0
  join file on file.id = input.file_id
  left join package as maker on maker.id = file.package_id
 where package.job_id = :job and package.phase = 'waiting' and file.job_id <> :job
   and ((input.dropped = 0 and file.dropped = 0 and (file.present = 0 or maker.phase <> 'done'))
        or (maker.phase not in ('done', 'dropped')
            and exists (select 1 from temp.sqlite_master where name = 'later')))
   and (select ended from job where job.id = file.job_id) is null
 limit 1;

-- name: final_counts
-- How many packages of the final stages of jobs, or of one, are in each phase.
select stage.job_id, stage_count.phase, sum(stage_count.n) as n
  from stage indexed by stage_final
  join stage_count on stage_count.stage_id = stage.id and stage_count.n > 0
 where stage.final = 1 and (:job is null or stage.job_id = :job)
 group by stage.job_id, stage_count.phase;

-- name: job_counts
-- How many packages of a job are in each phase, read off the counts.
select stage_count.phase, sum(stage_count.n) as n
  from stage join stage_count on stage_count.stage_id = stage.id
 where stage.job_id = :job
 group by stage_count.phase
having sum(stage_count.n) > 0;

-- name: running_on_nodes
-- How many packages are on each node, without those that only deliver outputs.
select taken.node_id, sum(taken.n) as n
  from (select node_id, requirement_id, count(*) as n
          from package indexed by package_live
         where is_live = 1 and node_id in (select id from node)
         group by node_id, requirement_id) as taken
  join requirement on requirement.id = taken.requirement_id and requirement.stay is null
 group by taken.node_id;

-- name: running_of_jobs
-- How many packages of each job that has not ended are on nodes, and the owner of the job: from the
-- counts, less those that only deliver outputs.
select job.id as job_id, job.originator, sum(stage_count.n) - coalesce(delivering.n, 0) as n
  from job
  join stage on stage.job_id = job.id
  join phase on phase.is_live = 1
  join stage_count on stage_count.stage_id = stage.id and stage_count.phase = phase.name
  left join (select requirement.job_id, count(*) as n
               from requirement indexed by requirement_stay
               join node on node.name = requirement.stay
               join package indexed by package_live
                 on package.node_id = node.id and package.requirement_id = requirement.id
                    and package.is_live = 1
              where requirement.stay is not null
              group by requirement.job_id) as delivering on delivering.job_id = job.id
 where job.ended is null
 group by job.id
having sum(stage_count.n) > 0;

-- name: idle_on_nodes
-- How many packages are on nodes and do not run, by stage, node and phase; without those that only
-- deliver outputs, or wait for inputs after an early start.
select package.job_id, job.name as job, job.originator, package.stage_id, node.name as node,
       package.phase, count(*) as n
  from package indexed by package_live
  join node on node.id = package.node_id
  join job on job.id = package.job_id
  join requirement on requirement.id = package.requirement_id and requirement.stay is null
 where package.is_live = 1 and package.node_id in (select id from node)
   and package.phase in ('starting', 'suspended', 'unreachable')
   and (package.early = 0 or package.awaited = 0)
 group by package.stage_id, node.id, package.phase
 order by package.phase desc, node.id;

-- name: originators_of_jobs
-- The owners of some jobs.
select id, name, originator from job where id in (select value from json_each(:jobs));

-- name: launch_counts
-- How many packages were sent to nodes since a time, by what a throttle limits.
select throttle, name, sum(n) as n
  from launch_tally
 where throttle = :throttle and at > :since
 group by name;

-- name: first_launch
-- When the first of these was sent.
select min(at) from launch_tally
 where throttle = :throttle and name = :name and at > :since;

-- name: count_launches
-- Packages were sent to nodes.
insert into launch_tally (throttle, name, at, n) values (:throttle, :name, :at, :n)
on conflict do update set n = n + excluded.n;

-- name: forget_launches
-- Counts of launches that limit nothing any more.
delete from launch_tally where throttle = :throttle and name = :name and at <= :before;

-- name: caches
-- The cache of each cluster with nodes: its capacity, free space and content in bytes; null:
-- unknown.
select cluster.id, cluster.name, min(node_space.disk) as space, min(node_space.disk_free) as free,
       max(node_space.disk_in_use) as used
  from node
  join cluster on cluster.id = node.cluster_id
  join node_space on node_space.node_id = node.id
 group by cluster.id
 order by cluster.name;

-- name: live_on_caches
-- Packages on nodes, how long they may still take, their disk, and which fraction of their
-- outputs stays there when they have ended.
select package.id, node.cluster_id, requirement.seconds, node.speed, package.changed as since,
       null as spread, progress.eta,
       package.phase not in ('running', 'suspended', 'killing', 'unreachable') as queued,
       stage.sizes,
       (select coalesce(avg(file.result = 0 or file.dispositions <> ''), 1.0) from file
         where file.package_id = package.id) as staying
  from package indexed by package_live
  join node on node.id = package.node_id
  join requirement on requirement.id = package.requirement_id and requirement.stay is null
  join stage on stage.id = package.stage_id
  left join progress on progress.package_id = package.id
 where package.is_live = 1 and package.node_id in (select id from node)
 limit :limit;

-- name: sizes_of_requirement
-- The same of a requirement with ready packages.
select stage.sizes,
       (select coalesce(avg(file.result = 0 or file.dispositions <> ''), 1.0) from file
         where file.package_id = (select id from package
                                   where package.requirement_id = requirement.id
                                     and package.phase = 'ready' and package.away is null
                                   order by id limit 1)) as staying
  from requirement join stage on stage.id = requirement.stage_id
 where requirement.id = :requirement;

-- name: freed_after
-- The bytes of copies that no package needs after some packages have ended, by cluster, in cluster 0
-- those of one copy of each file; files that a disposition keeps stay.
with freed as (
    select wanted.value as package_id, file.id as file_id, file.size
      from json_each(:packages) as wanted
      join input on input.package_id = wanted.value and input.own = 0 and input.dropped = 0
      join file on file.id = input.file_id and file.size > 0
     where iif(file.disposition is null,
               file.dispositions not like '%retain%'
               and coalesce(input.disposition not like 'retain%', 1),
               file.disposition = 'deletable')
       and (select 1
              from input as other
              join package on package.id = other.package_id
                          and package.phase not in ('transferring', 'done', 'dropped')
             where other.file_id = file.id and other.dropped = 0
               and other.package_id <> wanted.value
             order by other.package_id desc
             limit 1) is null
     group by wanted.value, file.id)
select freed.package_id, location.cluster_id, sum(freed.size) as bytes
  from freed
  join location on location.file_id = freed.file_id and location.node_id is not null
 group by freed.package_id, location.cluster_id
 union all
select package_id, 0, sum(size) from freed group by package_id;

-- name: forget_overflows
-- Begin a new forecast of the caches.
delete from cache_overflow;

-- name: keep_overflow
-- A cache that will exceed its capacity.
insert into cache_overflow (cluster_id, at, space, peak, peak_at) values (?, ?, ?, ?, ?);

-- name: overflows
-- The caches that exceed their capacity, or will by the forecast, with the bytes in them now, the next
-- one first; but for those on a disk with less than its reserve: their nodes are named for that.
with overflow as (
    select cluster.id, cluster.name, cache_overflow.at, cache_overflow.space, cache_overflow.peak,
           cache_overflow.peak_at,
           (select coalesce(max(node_space.disk_in_use), 0)
              from node join node_space on node_space.node_id = node.id
             where node.cluster_id = cluster.id) as used
      from cache_overflow join cluster on cluster.id = cache_overflow.cluster_id)
select name, at, space, peak, peak_at, used
  from overflow
 where (:cluster is null or id = :cluster)
   and (at > :now or used > space)
   and not exists (select 1 from node join node_space on node_space.node_id = node.id
                    where node.cluster_id = overflow.id and node.state = 'up'
                      and node_space.disk_short > 0)
 order by at;
