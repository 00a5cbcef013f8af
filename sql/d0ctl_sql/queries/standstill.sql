-- name: standing_nodes
-- Every node with the facts that decide whether work moves; those that d0ctl drained are tried again.
-- A batch system counts as a node that is about to come. Nobody knows the state of :abandoned ones.
-- Packages that a person suspended have `taken` CPUs. A cache with a capacity has `cache_left` bytes left
-- if no package is on its nodes, but for those that only wait for inputs; `cache_spare` more are left
-- when a daemon has removed copies that stay only while there is space.
select node.id, node.name, node.cluster_id as cluster, node.kind, node.cpus, node.cpus_asked,
       node.memory, node.gpus, node.platform, node.services, cluster.services as cluster_services,
       iif(node.id in (select value from json_each(:abandoned)), 'unknown', node.state) as state,
       node.since, node.drained, node.drain_note, node.last_error, node.contact,
       node.speed, bad_node.node_id as bad, node.doubted, node_space.disk, null as left_s,
       node.facts ->> 'disk_free' as on_disk, node.facts ->> 'disk_total' as disk_total,
       iif(node_space.disk_short > 0, node_space.disk_reserve, null) as reserve,
       coalesce(paused.cpus, 0.0) as taken, still.free as cache_left,
       still.spare as cache_spare
  from node
  join cluster on cluster.id = node.cluster_id
  join node_space on node_space.node_id = node.id
  left join bad_node on bad_node.node_id = node.id
  left join (select package.node_id, sum(requirement.cpus * requirement.cpu / 100.0) as cpus
               from job
               join package indexed by package_in_phase
                 on package.job_id = job.id and package.phase = 'suspended'
               join requirement on requirement.id = package.requirement_id
                               and requirement.stay is null
              where job.ended is null and package.is_paused
              group by package.node_id) as paused on paused.node_id = node.id
  left join (select cluster_id, free,
                    (select max(0, coalesce(sum(size), 0) - max(0, -cluster_space.rest))
                       from (select size from spare_copy
                              where spare_copy.cluster_id = cluster_space.cluster_id
                              order by made
                              limit 1000)) as spare
               from cluster_space
              where cluster_id not in (
                    select other.cluster_id
                      from node as other
                     where exists (select 1
                                     from package indexed by package_live
                                    where package.node_id = other.id and package.is_live = 1
                                      and package.slot <> 2))) as still
    on still.cluster_id = node.cluster_id
union all
select -id, name, id, pilots ->> 'kind', pilots ->> 'cpus', pilots ->> 'cpus',
       pilots ->> 'memory', coalesce(pilots ->> 'gpus', 0), platform,
       '[]', services, 'unknown', null, 0, null, null, null, 1.0, null, null, null,
       pilots ->> 'wall_time', null, null, null, 0.0, null, null
  from cluster
 where pilots is not null and coalesce(pilots ->> 'mode', 'pilot') <> 'direct'
 order by 1;

-- name: standing_jobs
-- Jobs that have not ended, or one of them, with holds, pauses and the like by a person, how many
-- packages a person suspended, and whether any were asked to pause before they began.
select id, name, hold, pause, pause_until,
       (select count(*) from package indexed by package_in_phase
         where package.job_id = job.id and package.phase = 'suspended' and package.is_paused)
       as suspended,
       exists (select 1 from package indexed by package_in_phase
                where package.job_id = job.id and package.phase = 'starting'
                  and package.request = 'pause') as asked
  from job
 where visible = 1 and ended is null and (:job is null or id = :job)
 order by priority desc, id;

-- name: standing_counts
-- How many packages of jobs that have not ended, or of one, are in each phase.
select stage.job_id, stage_count.phase, sum(stage_count.n) as n
  from job
  join stage on stage.job_id = job.id
  join stage_count on stage_count.stage_id = stage.id and stage_count.n > 0
 where job.visible = 1 and job.ended is null and (:job is null or job.id = :job)
 group by stage.job_id, stage_count.phase;

-- name: standing_requirements
-- Requirements with ready packages of jobs that have not ended, or of one, even of held ones.
select requirement.*
  from job
  join requirement on requirement.job_id = job.id and requirement.ready > 0
 where job.visible = 1 and job.ended is null and (:job is null or job.id = :job)
 order by requirement.job_id, requirement.id;

-- name: caches_may_change
-- Whether some clusters have files in their caches that may be removed without a person: that are
-- checked for that, are being copied, or are read by a package on a node elsewhere, or that some jobs
-- have made or read; also if they have so many copies that not all are considered.
select exists (select 1 from cleanup_candidate)
       or exists (select 1
                    from transfer
                    join location on location.file_id = transfer.file_id
                   where location.cluster_id in (select value from json_each(:clusters)))
       or exists (select 1
                    from node
                    cross join package indexed by package_live
                      on package.node_id = node.id and package.is_live = 1 and package.slot <> 2
                    cross join input on input.package_id = package.id
                    cross join location on location.file_id = input.file_id
                   where location.cluster_id in (select value from json_each(:clusters)))
       or :jobs is not null
      and (select coalesce(max(is_theirs), 0) or count(*) = :limit
             from (select file.job_id in (select value from json_each(:jobs))
                          or exists (select 1
                                       from input
                                       join package on package.id = input.package_id
                                      where input.file_id = file.id
                                        and package.job_id in (select value from json_each(:jobs)))
                          as is_theirs
                     from node
                     join location indexed by location_of_node on location.node_id = node.id
                     join file on file.id = location.file_id
                    where node.cluster_id in (select value from json_each(:clusters))
                    limit :limit));

-- name: awaiting_phases
-- How many launched packages of a job only wait for inputs, by phase.
select phase, count(*) as n
  from package indexed by package_open
 where job_id = :job and early = 1 and awaited > 0
   and phase in ('starting', 'staging-in', 'running', 'suspended', 'unreachable')
 group by phase;

-- name: queued_behind
-- How many packages of a job, or of one of its stages, are queued on nodes and were asked to pause, or
-- suspended ones leave too few CPUs for them there; :left has the CPUs that these leave, by node.
select count(*)
  from package indexed by package_in_phase
  join requirement on requirement.id = package.requirement_id and requirement.stay is null
 where package.job_id = :job and package.phase = 'starting' and package.slot = 0
   and (:stage is null or package.stage_id = :stage)
   and (package.request = 'pause'
        or requirement.cpus * requirement.cpu / 100.0 > (:left ->> ('$.' || package.node_id)) + 1e-6);

-- name: queued_behind_selected
-- The same of the selected packages.
select count(*) as n
  from selected_package
  join package on package.id = selected_package.package_id
              and package.phase = 'starting' and package.slot = 0
  join requirement on requirement.id = package.requirement_id and requirement.stay is null
 where package.request = 'pause'
    or requirement.cpus * requirement.cpu / 100.0 > (:left ->> ('$.' || package.node_id)) + 1e-6;

-- name: stranded
-- How many assigned packages of a job wait for an input of which only these clusters have copies.
select count(*)
  from package indexed by package_in_phase
  join node on node.id = package.node_id
 where package.job_id = :job and package.phase = 'assigned' and package.staging > 0
   and exists (
       select 1
         from input
         join file on file.id = input.file_id and file.present = 1
                  and file.package_id is not null and file.locator is null
         join transfer on transfer.file_id = file.id and transfer.cluster_id = node.cluster_id
                      and transfer.result = 0
        where input.package_id = package.id and input.dropped = 0 and input.own = 0
          and exists (select 1 from location where location.file_id = file.id)
          and not exists (select 1 from location
                           where location.file_id = file.id
                             and location.cluster_id not in (select value from json_each(:clusters))));

-- name: some_ready_moves
-- Whether a ready package of a job does not wait for nodes of these clusters.
select 1
  from requirement
 where job_id = :job and ready > 0
   and (ready > away
        or exists (select 1 from package
                    where package.requirement_id = requirement.id and package.away is not null
                      and abs(package.away) not in (select value from json_each(:clusters))))
 limit 1;

-- name: stranded_results
-- How many packages of a job have succeeded and have results of which only these clusters have copies.
select count(*)
  from package indexed by package_in_phase
 where package.job_id = :job and package.phase = 'transferring'
   and exists (
       select 1
         from file
         join transfer on transfer.file_id = file.id and transfer.result = 1
        where file.package_id = package.id
          and exists (select 1 from location where location.file_id = file.id)
          and not exists (select 1 from location
                           where location.file_id = file.id
                             and location.cluster_id not in (select value from json_each(:clusters))));

-- name: next_try
-- The package of a job, or one of its stages, that is tried again first, after its cooloff or a
-- release by the policy.
select package_path.path, package.phase, package.changed as since, package.not_before as at,
       package.note
  from (select * from (select id, not_before
                         from package indexed by package_next_try
                        where job_id = :job and phase = 'cooloff'
                          and (:stage is null or stage_id = :stage)
                        order by not_before
                        limit 1)
        union all
        select * from (select id, not_before
                         from package indexed by package_releasing
                        where phase = 'held' and actor = 'policy' and not_before is not null
                          and job_id = :job and (:stage is null or stage_id = :stage)
                        order by not_before
                        limit 1)
         order by not_before
         limit 1) as first
  join package on package.id = first.id
  join package_path on package_path.package_id = package.id;

-- name: next_try_selected
-- The same of the selected packages.
select package_path.path, package.phase, package.changed as since, package.not_before as at,
       package.note
  from selected_package
  join package on package.id = selected_package.package_id
   and (package.phase = 'cooloff'
        or package.phase = 'held' and package.actor = 'policy' and package.not_before is not null)
  join package_path on package_path.package_id = package.id
 order by package.not_before
 limit 1;

-- name: ready_selected
-- How many of the selected packages are ready, by their requests.
select package.requirement_id as id, count(*) as n
  from selected_package
  join package on package.id = selected_package.package_id and package.phase = 'ready'
 group by package.requirement_id;

-- name: blocked_by_others
-- The jobs that can't go on only because other jobs do not make files that they need: none of their
-- own packages failed, was killed or is held; the newest first.
select job.name
  from job
 where job.visible = 1 and job.ended is not null
   and exists (select 1 from stage
                 join stage_count on stage_count.stage_id = stage.id
                                 and stage_count.phase = 'waiting' and stage_count.n > 0
                where stage.job_id = job.id)
   and not exists (select 1 from stage
                     join stage_count on stage_count.stage_id = stage.id and stage_count.n > 0
                                     and stage_count.phase in ('failed', 'canceled', 'held')
                    where stage.job_id = job.id)
 order by job.id desc;

-- name: jobs_with_failures
-- How many failed packages of each job nobody has acknowledged, and how many are acknowledged; the
-- newest job first.
select job.id, job.name, sum(stage_count.n - stage.acknowledged) as failed,
       sum(stage.acknowledged) as acknowledged
  from job
  join stage on stage.job_id = job.id
  join stage_count on stage_count.stage_id = stage.id and stage_count.phase = 'failed'
   and stage_count.n > 0
 where job.visible = 1
 group by job.id
 order by job.id desc;
