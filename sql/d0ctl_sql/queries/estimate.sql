-- name: estimate_samples
-- The latest runs of a program.
select samples from estimate where kind = :kind and name = :name;

-- name: keep_estimate
-- Further runs of a program.
insert into estimate (kind, name, runs, at, samples) values (:kind, :name, :runs, :now, :samples)
on conflict do update
   set runs = estimate.runs + excluded.runs, at = excluded.at, samples = excluded.samples;

-- name: binary_runs
-- The use of the binaries of some attempts, in seconds of a standard node; at most the time since
-- the launch, as a node may have a wrong clock. The seconds of those that were suspended are null, as
-- it is unknown during which binary.
select job.source, stage.name as stage, package.seq as package, binary.seq as binary,
       binary.software || coalesce('/' || binary.version, '') as software, binary.runtime,
       iif(attempt.suspended > 0.0, null,
           min(binary_attempt.ended - binary_attempt.started, :now - attempt.launched)
           * coalesce(node.speed, 1)) as seconds,
       binary_attempt.rss, binary_attempt.disk,
       (select sum(file.size) from file
         where file.package_id = package.id and file.binary = binary.seq and file.present = 1)
       as output
  from json_each(:attempts) as wanted
  join attempt on attempt.id = wanted.value and attempt.outcome = 'successful'
  join binary_attempt on binary_attempt.attempt_id = attempt.id
  join package on package.id = attempt.package_id
  join binary on binary.package_id = package.id and binary.seq = binary_attempt.seq
  join stage on stage.id = package.stage_id
  join job on job.id = package.job_id
  left join node on node.id = attempt.node_id;

-- name: package_runs
-- The same of whole packages, with the estimates.
select package.job_id, package.stage_id, requirement.expected,
       max(0.0, min(attempt.ended - attempt.started, :now - attempt.launched) - attempt.suspended)
       * coalesce(node.speed, 1) as seconds, attempt.rss,
       (select max(disk) from binary_attempt where attempt_id = attempt.id) as disk,
       (select sum(file.size) from file
         where file.package_id = package.id and file.present = 1) as output
  from json_each(:attempts) as wanted
  join attempt on attempt.id = wanted.value and attempt.outcome = 'successful'
  join package on package.id = attempt.package_id
  join requirement on requirement.id = package.requirement_id
  left join node on node.id = attempt.node_id;

-- name: stage_drift
-- The ratio of the actual to the expected run times of a stage.
select drift_low, drift, drift_high, is_timed from stage where id = :stage;

-- name: keep_drift
-- Record that ratio.
update stage
   set drift = :drift, drift_low = :low, drift_high = :high, is_timed = 1
 where id = :stage;

-- name: stage_sizes
-- The expected memory and disk of packages of a stage.
select sizes from stage where id = :stage;

-- name: keep_sizes
-- Record the expected memory and disk.
update stage set sizes = :sizes where id = :stage;

-- name: expect_sizes
-- Reserve that for packages of the stage without a request.
update requirement
   set memory_expected = iif(memory is null, :memory, null),
       space_expected = iif(disk is null, max(coalesce(space, 0), coalesce(:space, 0)), null)
 where job_id = (select job_id from stage where stage.id = :stage) and stage_id = :stage;

-- name: stage_drifts
-- The ratios of actual to expected run times for each stage of a job.
select seq, drift, is_timed from stage where job_id = :job;

-- name: expected_requirements
-- The estimates for the packages of a job.
select requirement.id, stage.seq as stage, requirement.expected, requirement.chain,
       requirement.rank, requirement.seconds, requirement.pace
  from requirement join stage on stage.id = requirement.stage_id
 where requirement.job_id = :job;

-- name: rank_requirement
-- Record the expected time of a chain, and its first package.
update requirement set rank = ?, seconds = ? where id = ?;

-- name: newest_requirement
-- The last requirement before a correction.
select coalesce(max(id), 0) from requirement;

-- name: expect_of_requirement
-- Record what is expected of packages, and of the chain that begins with one.
update requirement set expected = ?, chain = ? where id = ?;

-- name: expect_of_stage
-- The estimate for a stage at submission, or at a correction.
update stage
   set work = :work, is_timed = :is_timed, drift = 1, drift_low = :low, drift_high = :high
 where id = :stage;

-- name: work_of_stages
-- The CPU seconds that the packages of each stage of a job are expected to take.
select package.stage_id,
       sum(requirement.expected * requirement.cpus * requirement.cpu / 100.0) as work
  from package indexed by package_in_phase
  join requirement on requirement.id = package.requirement_id
 where package.job_id = :job
 group by package.stage_id;

-- name: forget_runs_of_stage
-- What is known of the packages of a stage is of other definitions.
delete from estimate where kind = 'stage' and name = cast(:stage as text);

-- name: eta_nodes
-- The nodes that take packages, or will once they are contacted: their CPUs without those of packages
-- that a person suspended, these, and their speeds. Those with a full disk take none, nor do those
-- with an allocation that ends before any ready package would.
select node.id, node.name, max(0.0, node.cpus - coalesce(paused.cpus, 0.0)) as cpus,
       coalesce(paused.cpus, 0.0) as suspended, node.speed
  from node
  left join (select package.node_id, sum(requirement.cpus * requirement.cpu / 100.0) as cpus
               from package indexed by package_live
               join requirement on requirement.id = package.requirement_id
                               and requirement.stay is null
              where package.is_live = 1 and package.node_id in (select id from node)
                and package.is_paused
              group by package.node_id) as paused on paused.node_id = node.id
 where node.state <> 'down' and node.drained = 0
   and not exists (select 1 from node_outage
                    where node_outage.node_name = node.name and node_outage.kind = 'full'
                      and node_outage.ended is null)
   and not exists (select 1 from pilot
                    where pilot.node_id = node.id and pilot.state <> 'ended'
                      and (pilot.ends - :now) * node.speed
                          < (select min(coalesce(seconds, 0.0))
                               from requirement indexed by requirement_ready where ready > 0));

-- name: eta_jobs
-- Jobs that have not ended, in the order of the scheduler.
select id, name, max_running, hold, pause
  from job
 where visible = 1 and ended is null
 order by priority desc, id;

-- name: eta_stages
-- The remaining work of the stages of these jobs, from the counts, and its run times.
select stage.job_id, stage.seq, stage.work, stage.is_timed, stage.drift, stage.drift_low,
       stage.drift_high, stage.sizes, coalesce(estimate.runs, 0) as runs,
       (select max(rank) from requirement
         where requirement.job_id = stage.job_id and requirement.stage_id = stage.id) as rank,
       (select max(cpus * cpu / 100.0) from requirement
         where requirement.job_id = stage.job_id and requirement.stage_id = stage.id) as cpus,
       stage.max_running, sum(stage_count.n) as total,
       sum(iif(stage_count.phase in ('waiting', 'ready', 'cooloff'), stage_count.n, 0)) as left,
       sum(iif(stage_count.phase = 'waiting', stage_count.n, 0)) as waiting,
       sum(iif(stage_count.phase = 'held', stage_count.n, 0)) as held
  from job
  join stage on stage.job_id = job.id
  join stage_count on stage_count.stage_id = stage.id
  left join estimate on estimate.kind = 'stage' and estimate.name = cast(stage.id as text)
 where job.visible = 1 and job.ended is null
 group by stage.id;

-- name: eta_reads
-- The stages of the same job whose files or ends waiting packages of stages need, found from some
-- inputs of the first and last packages of each stage.
with reader as materialized (
    select package.id, stage.job_id, stage.id as stage_id, stage.seq as stage, package.line_id
      from job
      join stage on stage.job_id = job.id
      join stage_count on stage_count.stage_id = stage.id and stage_count.phase = 'waiting'
                      and stage_count.n > 0
      join package on package.id in (
           select id from (select some.id from line join package as some on some.line_id = line.id
                            where line.stage_id = stage.id order by line.seq limit 10)
            union
           select id from (select some.id from line join package as some on some.line_id = line.id
                            where line.stage_id = stage.id order by line.seq desc limit 10))
     where job.visible = 1 and job.ended is null)
select reader.job_id, reader.stage, maker_stage.seq as maker_stage
  from reader
  join file on file.job_id = reader.job_id and file.id in (
       select file_id from (select file_id from input
                             where input.package_id = reader.id and own = 0 and dropped = 0
                             order by binary, file_id limit 10)
        union
       select file_id from (select file_id from input
                             where input.package_id = reader.id and own = 0 and dropped = 0
                             order by binary desc, file_id desc limit 10))
  join package as maker on maker.id = file.package_id
  join stage as maker_stage on maker_stage.id = maker.stage_id
                           and maker_stage.id <> reader.stage_id
 union
select reader.job_id, reader.stage, maker_stage.seq
  from reader
  join line_order on line_order.line_id = reader.line_id
  join line on line.id = line_order.after_id
  join stage as maker_stage on maker_stage.id = line.stage_id
                           and maker_stage.id <> reader.stage_id
 union
select reader.job_id, reader.stage, maker_stage.seq
  from reader
  join stage_order on stage_order.stage_id = reader.stage_id and stage_order.is_open = 0
  join stage as maker_stage on maker_stage.job_id = reader.job_id
                           and stage_order.after_id in (0, maker_stage.id)
                           and maker_stage.id <> reader.stage_id;

-- name: eta_awaited
-- The stages of other jobs whose files packages of stages wait for: how many of their packages, one
-- of these, and the longest chain of a reader; found from some packages of each stage, and some
-- inputs of each.
with reader as materialized (
    select package.id, package.job_id, stage.id as stage_id, stage.seq as stage, stage_count.n as waiting,
           requirement.rank, requirement.chain
      from job
      join stage on stage.job_id = job.id
      join stage_count on stage_count.stage_id = stage.id and stage_count.phase = 'waiting'
                      and stage_count.n > 0
      join package on package.id in (
           select id from (select some.id from package as some indexed by package_in_phase
                            where some.job_id = job.id and some.phase = 'waiting' limit 30)
            union
           select id from (select some.id from line join package as some on some.line_id = line.id
                            where line.stage_id = stage.id order by line.seq limit 10)
            union
           select id from (select some.id from line join package as some on some.line_id = line.id
                            where line.stage_id = stage.id order by line.seq desc limit 10))
       and package.stage_id = stage.id and package.phase = 'waiting'
      join requirement on requirement.id = package.requirement_id
     where job.visible = 1 and job.ended is null
       and exists (select 1
                     from need
                     join job as maker on maker.id = need.maker_id
                    where need.job_id = job.id and maker.visible = 1 and maker.ended is null))
select reader.job_id, reader.stage, reader.waiting, max(reader.rank) as rank, reader.chain,
       maker.job_id as maker_job, maker_stage.seq as maker_stage, maker.id as maker,
       count(distinct maker.id) as makers
  from reader
  join file on file.id in (
       select file_id from (select file_id from input
                             where input.package_id = reader.id and own = 0 and dropped = 0
                             order by binary, file_id limit 50)
        union
       select file_id from (select file_id from input
                             where input.package_id = reader.id and own = 0 and dropped = 0
                             order by binary desc, file_id desc limit 50))
   and file.present = 0 and file.dropped = 0 and file.job_id <> reader.job_id
  join package as maker on maker.id = file.package_id
                       and maker.phase not in ('held', 'killing', 'transferring')
                       and maker.phase not in (select name from phase where is_final = 1)
  join stage as maker_stage on maker_stage.id = maker.stage_id
  join job on job.id = maker.job_id and job.visible = 1 and job.ended is null
 group by reader.stage_id, maker.stage_id
 order by reader.job_id;

-- name: package_awaits
-- The packages whose files or ends a waiting package needs, found from some of its inputs: some of
-- each stage of its job, the last ones first, and of stages of other jobs how many, and one of these;
-- and how many packages of the stage have not ended.
select maker_job, maker_stage, maker, makers,
       (select sum(stage_count.n)
          from stage_count
         where stage_count.stage_id = maker_stage_id
           and stage_count.phase not in (select name from phase where is_final = 1)) as unended
  from (select maker.job_id as maker_job, stage.seq as maker_stage, stage.id as maker_stage_id,
               maker.id as maker, maker.job_id = reader.job_id as is_own,
               count(*) over (partition by maker.stage_id) as makers,
               row_number() over (partition by maker.stage_id
                                  order by maker.phase <> 'waiting', maker.is_live,
                                           requirement.rank, maker.changed desc, maker.id desc)
               as position
          from package as reader
          join package as maker on maker.id in (
               select earlier.id
                 from package as earlier
                where earlier.line_id = reader.line_id and earlier.seq = reader.seq - 1
                union all
               select earlier.id
                 from line_order
                 join package as earlier on earlier.line_id = line_order.after_id
                where line_order.line_id = reader.line_id
                union all
               select (select last.id
                         from line join package as last on last.line_id = line.id
                        where line.stage_id = earlier.id
                        order by line.seq desc, last.seq desc limit 1)
                 from stage_order
                 join stage as earlier on earlier.job_id = reader.job_id
                                      and stage_order.after_id in (0, earlier.id)
                                      and earlier.id <> reader.stage_id
                where stage_order.stage_id = reader.stage_id and stage_order.is_open = 0
                union all
               select file.package_id
                 from file
                where file.id in (
                      select file_id
                        from (select file_id from input
                               where input.package_id = reader.id and own = 0 and dropped = 0
                               order by binary, file_id limit 50)
                       union
                      select file_id
                        from (select file_id from input
                               where input.package_id = reader.id and own = 0 and dropped = 0
                               order by binary desc, file_id desc limit 50))
                  and file.present = 0 and file.dropped = 0
                  and (reader.early = 0 or file.job_id <> reader.job_id))
           and maker.phase not in ('held', 'killing', 'transferring')
           and maker.phase not in (select name from phase where is_final = 1)
          join requirement on requirement.id = maker.requirement_id
          join stage on stage.id = maker.stage_id
          join job on job.id = maker.job_id and job.visible = 1 and job.ended is null
         where reader.id = :package and reader.phase = 'waiting')
 where position <= iif(is_own, :most, 1);

-- name: eta_requests
-- Requirements with ready packages of jobs that go on, if some nodes may not meet them.
select requirement.*, stage.seq
  from job
  join requirement on requirement.job_id = job.id and requirement.ready > 0
  join stage on stage.id = requirement.stage_id
 where job.visible = 1 and job.ended is null and job.hold = 0 and job.pause = 0
   and (requirement.cpus > 1 or requirement.memory is not null or requirement.gpus > 0
        or requirement.space is not null or requirement.platform is not null
        or requirement.nodes <> '[]' or requirement.exclude_nodes <> '[]'
        or requirement.software <> '[]' or requirement.needs <> '[]' or requirement.stay is not null
        or exists (select 1 from cluster where private = 1)
        or (requirement.fetches = 1 and exists (select 1 from cluster_space)));

-- name: eta_stuck
-- How many packages of the stages of these jobs wait for files of failed, canceled or held packages,
-- also of other jobs, found from some of these.
with recursive stuck (id) as (
    select id
      from (select package.id
              from job
              join package indexed by package_in_phase
                on package.job_id = job.id and package.phase in ('failed', 'canceled', 'held')
             where job.visible = 1 and job.ended is null
               and exists (select 1
                             from stage
                             join stage_count on stage_count.stage_id = stage.id
                            where stage.job_id = job.id and stage_count.phase = 'waiting'
                              and stage_count.n > 0)
             limit 1000)
     union
    select id
      from (select package.id
              from job as reader
              join need on need.job_id = reader.id
              join package indexed by package_in_phase
                on package.job_id = need.maker_id and package.phase in ('failed', 'canceled', 'held')
             where reader.visible = 1 and reader.ended is null
             limit 1000)
     union
    select reader.id
      from stuck
      join file on file.package_id = stuck.id and file.present = 0
      join input on input.file_id = file.id and input.own = 0 and input.dropped = 0
      join package as reader on reader.id = input.package_id and reader.phase = 'waiting'
      join stage on stage.id = reader.stage_id and stage.require >= 1
     limit 4000)
select package.job_id, stage.seq, count(*) as n
  from stuck
  join package on package.id = stuck.id and package.phase = 'waiting'
  join stage on stage.id = package.stage_id
 group by stage.id;

-- name: eta_idle_jobs
-- Jobs whose packages that have not ended all wait or are held, with the other jobs that have not ended
-- whose files they read; and jobs that are held or paused, if none of their packages goes on on a node.
select job.id, iif(job.hold or job.pause, null, maker.id) as maker_id
  from job
  left join need on need.job_id = job.id
  left join job as maker on maker.id = need.maker_id and maker.visible = 1 and maker.ended is null
 where job.visible = 1 and job.ended is null
   and not exists (
       select 1
         from stage
         join stage_count on stage_count.stage_id = stage.id and stage_count.n > 0
        where stage.job_id = job.id
          and stage_count.phase not in (select name from phase where is_final = 1)
          and stage_count.phase not in ('waiting', 'held')
          and not ((job.hold or job.pause) and stage_count.phase in ('ready', 'cooloff'))
          and not (job.pause and stage_count.phase = 'suspended'))
   and (job.hold or job.pause or maker.id is not null
        or not exists (select 1 from stage_order indexed by stage_order_open
                        where job_id = job.id and after_id = 0 and is_open < 2 and is_open = 0));

-- name: eta_idle
-- How many packages of the stages of other jobs wait for files of packages that these jobs do not
-- start, or for such packages, found from some of these.
with recursive idle (id) as (
    select id
      from (select package.id
              from json_each(:jobs) as halted
              join package indexed by package_in_phase
                on package.job_id = halted.value
               and package.phase in ('waiting', 'ready', 'cooloff', 'suspended')
             where (package.phase <> 'suspended' or package.is_paused)
               and exists (select 1
                             from need
                             join job as reader on reader.id = need.job_id
                            where need.maker_id = halted.value
                              and reader.visible = 1 and reader.ended is null
                              and reader.id not in (select value from json_each(:jobs)))
             limit 1000)
     union
    select reader.id
      from idle
      join file on file.package_id = idle.id and file.present = 0
      join input on input.file_id = file.id and input.own = 0 and input.dropped = 0
      join package as reader on reader.id = input.package_id and reader.phase = 'waiting'
      join stage on stage.id = reader.stage_id and stage.require >= 1
     limit 4000)
select package.job_id, stage.seq, count(*) as n
  from idle
  join package on package.id = idle.id and package.phase = 'waiting'
              and package.job_id not in (select value from json_each(:jobs))
  join stage on stage.id = package.stage_id
 group by stage.id;

-- name: eta_unmeasured
-- Stages that have learned their run times from some of their packages, while none has succeeded at
-- another position of their chains, with a package there of the first lines; the longest chain comes
-- last.
select job_id, seq,
       (select (select path from package_path where package_id = package.id)
          from (select id from line where stage_id = kind.stage_id order by seq limit 50) as first
               join package on package.line_id = first.id
               join requirement on requirement.id = package.requirement_id
         where requirement.chain = kind.chain limit 1) as sample
  from (select requirement.job_id, stage.id as stage_id, stage.seq, requirement.chain,
               max(requirement.rank) as rank, max(requirement.pace) as pace,
               max(max(requirement.pace)) over (partition by stage.id) as known
          from job
          join requirement on requirement.job_id = job.id
          join stage on stage.id = requirement.stage_id
         where job.visible = 1 and job.ended is null and requirement.expected = 1
         group by stage.id, requirement.chain) as kind
 where pace is null and known is not null
 order by rank;

-- name: eta_live
-- The packages on nodes, and how long they may still take; those that were suspended count as begun
-- so much later. Nobody knows how long those take that a person suspended, or a guard for long. Those
-- that wait for inputs after an early start take no CPUs.
select package.id, package.job_id, package.node_id, node.cpus as node_cpus,
       (select seq from stage where stage.id = package.stage_id) as stage,
       requirement.cpus * requirement.cpu / 100.0 as cpus, requirement.rank, requirement.seconds,
       coalesce(node.speed, 1.0) as speed, null as spread,
       case when package.phase = 'suspended' and attempt.started is not null
            then attempt.started + attempt.suspended + :now - package.changed
            when attempt.suspended > 0.0 and attempt.started is not null
            then attempt.started + attempt.suspended
            else package.changed end as since,
       progress.eta,
       package.phase not in ('running', 'suspended', 'killing', 'unreachable') as queued,
       package.is_paused
       or (package.phase = 'suspended' and package.slot <> 2
           and :now - package.changed > :long) as is_stopped,
       package.slot = 2 as takes_no_cpus
  from package indexed by package_live
  join requirement on requirement.id = package.requirement_id and requirement.stay is null
  left join node on node.id = package.node_id
  left join attempt on attempt.id = package.attempt_id
  left join progress on progress.package_id = package.id
 where package.is_live = 1 and package.node_id in (select id from node);

-- name: eta_ready
-- The longest chains that begin with ready packages, by job.
select requirement.job_id, max(requirement.rank) as rank
  from job
  join requirement on requirement.job_id = job.id and requirement.ready > 0
 where job.visible = 1 and job.ended is null
 group by requirement.job_id;

-- name: eta_cooling
-- When the packages of stages could end that cool off or have to wait for such, and then with all
-- that need their outputs, in seconds from now; found from those that begin last, and from some after
-- each of them, down to the ends of chains first.
with recursive late (id, begins, depth) as (
    select id, not_before, 0
      from (select id, not_before
              from package indexed by package_cooling
             where phase = 'cooloff' and not_before > :now
             order by not_before desc
             limit 1000)
     union
    select later.id, late.begins + iif(package.early > 0, 0.0, coalesce(requirement.seconds, 0.0))
                                   / :speed, late.depth + 1
      from late
      join package on package.id = late.id
      join requirement on requirement.id = package.requirement_id
      join package as later on later.id in (
           select after.id
             from package as after
            where after.line_id = package.line_id and after.seq = package.seq + 1
            union all
           select after.id
             from line_order
             join package as after on after.line_id = line_order.line_id and after.seq = 1
            where line_order.after_id = package.line_id
            union all
           select after.id
             from stage_order
             join line on line.stage_id = stage_order.stage_id and line.seq = 1
             join package as after on after.line_id = line.id and after.seq = 1
            where stage_order.job_id = package.job_id and stage_order.is_open < 2
              and stage_order.after_id in (0, package.stage_id)
              and stage_order.stage_id <> package.stage_id
            union all
           select input.package_id
             from file
             join input on input.file_id = file.id and input.own = 0 and input.dropped = 0
            where file.package_id = package.id and file.present = 0
            limit 100)
     where later.phase in ('waiting', 'ready') or (later.is_live = 1 and later.awaited > 0)
     order by 3 desc, 2 desc
     limit 4000)
select package.job_id, stage.seq,
       max(late.begins + iif(package.early > 0, 0.0, coalesce(requirement.seconds, 0.0)) / :speed)
       - :now as stage_left,
       max(late.begins + (requirement.rank - iif(package.early > 0, coalesce(requirement.seconds, 0.0),
                                                 0.0)) / :speed) - :now as job_left
  from late
  join package on package.id = late.id
  join requirement on requirement.id = package.requirement_id
  join stage on stage.id = package.stage_id
 group by stage.id;

-- name: begins_after_cooling
-- When a package can begin that cools off, or waits for packages that do, found among some before it:
-- the first ones of chains first.
with recursive earlier (id, later_s, cools) as (
    select :package, 0.0, 0
     where exists (select 1 from package indexed by package_cooling where phase = 'cooloff')
     union
    select before.id, earlier.later_s + coalesce(requirement.seconds, 0.0) / :speed,
           before.phase = 'cooloff'
      from earlier
      join package on package.id = earlier.id and package.phase = 'waiting'
                  and (package.early = 0 or package.id <> :package)
      join package as before on before.id in (
           select maker.id
             from package as maker
            where maker.line_id = package.line_id and maker.seq = package.seq - 1
            union all
           select maker.id
             from line_order
             join package as maker on maker.line_id = line_order.after_id
            where line_order.line_id = package.line_id
            union all
           select maker.id
             from stage_order
             join package as maker indexed by package_next_try
               on maker.job_id = package.job_id and maker.phase = 'cooloff'
              and stage_order.after_id in (0, maker.stage_id)
            where stage_order.stage_id = package.stage_id and stage_order.is_open = 0
            union all
           select file.package_id
             from input
             join file on file.id = input.file_id and file.present = 0
            where input.package_id = package.id and input.own = 0 and input.dropped = 0
              and file.package_id is not null)
      join requirement on requirement.id = before.requirement_id
     order by 3 desc, 2 desc
     limit 1000)
select max(package.not_before + earlier.later_s)
  from earlier
  join package on package.id = earlier.id and package.phase = 'cooloff';

-- name: eta_nodes_down
-- The nodes that are down and have unreachable packages of jobs, or alone have inputs of assigned ones,
-- or files that other packages or results wait for, found among the latest files there; by stage, and
-- whether its packages wait for other files, too.
with away (cluster_id) as materialized (
    select cluster_id from node where cluster_id <> 1
     group by cluster_id having min(state = 'down') = 1),
latest (file_id, node) as materialized (
    select location.file_id, node.name
      from away
      cross join node on node.cluster_id = away.cluster_id
      cross join location indexed by location_of_node on location.node_id = node.id
     order by location.file_id desc
     limit 10000),
only_there (file_id, package_id, job_id, node) as materialized (
    select file.id, file.package_id, file.job_id, latest.node
      from latest
      cross join file on file.id = latest.file_id and file.present = 1
                      and file.package_id is not null and file.locator is null
     where not exists (select 1 from location as other
                        where other.file_id = file.id
                          and other.cluster_id not in (select cluster_id from away))
       and not exists (select 1 from delivered_result where delivered_result.file_id = file.id)),
waits (package_id, node) as (
    select (select package.id
              from input
              join package on package.id = input.package_id and package.job_id = only_there.job_id
             where input.file_id = only_there.file_id and input.dropped = 0 and input.own = 0
               and input.acquire = 'pre-fetch'
               and package.phase in ('waiting', 'ready', 'cooloff')
             limit 1), node
      from only_there
     union all
    select (select package.id
              from input
              join package on package.id = input.package_id and package.job_id = need.job_id
             where input.file_id = only_there.file_id and input.dropped = 0 and input.own = 0
               and input.acquire = 'pre-fetch'
               and package.phase in ('waiting', 'ready', 'cooloff')
             limit 1), node
      from only_there
      join need on need.maker_id = only_there.job_id
     union all
    select package_id, node
      from only_there
     where exists (select 1 from transfer
                    where transfer.file_id = only_there.file_id and transfer.result = 1)
     union all
    select package.id, node.name
      from package indexed by package_live
      join node on node.id = package.node_id
     where package.is_live = 1 and package.node_id in (select id from node)
       and package.phase = 'unreachable'
     union all
    select package.id, down.name
      from package indexed by package_in_phase
      join node on node.id = package.node_id
      join input on input.package_id = package.id and input.dropped = 0 and input.own = 0
      join file on file.id = input.file_id and file.present = 1
               and file.package_id is not null and file.locator is null
      join transfer on transfer.file_id = file.id and transfer.cluster_id = node.cluster_id
                   and transfer.result = 0
      join location on location.file_id = file.id
      join node as down on down.cluster_id = location.cluster_id
     where package.phase = 'assigned' and package.staging > 0 and exists (select 1 from away)
       and not exists (select 1 from location as other
                        where other.file_id = file.id
                          and other.cluster_id not in (select cluster_id from away)))
select distinct package.job_id, stage.seq, package.phase = 'waiting' as is_waiting, waits.node
  from waits
  join package on package.id = waits.package_id
  join stage on stage.id = package.stage_id
 order by 1, 4;

-- name: some_can_start
-- Whether a ready package of a job does not wait for nodes that are down.
select 1 from requirement where job_id = :job and ready > away limit 1;

-- name: eta_package
-- The run time of a package that has not ended on a standard node, and when it began to run; if it
-- was suspended, so much later. It is unknown while packages of its stage have succeeded, but none
-- at its position of their chains, as in `eta_unmeasured`.
select package.job_id, iif(package.early > 0, 0, package.missing) as missing, stage.seq as stage,
       requirement.rank,
       iif(requirement.expected = 1 and requirement.pace is null
           and exists (select 1 from requirement as other
                        where other.job_id = requirement.job_id
                          and other.stage_id = requirement.stage_id
                          and other.expected = 1 and other.pace is not null)
           and not exists (select 1 from requirement as alike
                            where alike.job_id = requirement.job_id
                              and alike.stage_id = requirement.stage_id
                              and alike.chain = requirement.chain
                              and alike.expected = 1 and alike.pace is not null),
           null, requirement.seconds) as seconds,
       requirement.seconds * stage.drift_low / stage.drift as low,
       requirement.seconds * stage.drift_high / stage.drift as high, stage.sizes,
       node.speed, iif(package.phase in ('running', 'suspended'), attempt.started, null)
                   + attempt.suspended
                   + iif(package.phase = 'suspended', :now - package.changed, 0.0) as began,
       progress.eta,
       iif(package.phase = 'running', package.wall_time, null) as wall_time,
       package.is_paused
       or (package.phase = 'suspended' and package.slot <> 2
           and :now - package.changed > :long) as is_stopped
  from package
  join requirement on requirement.id = package.requirement_id
  join stage on stage.id = package.stage_id
  left join node on node.id = package.node_id
  left join attempt on attempt.id = package.attempt_id
  left join progress on progress.package_id = package.id
 where package.id = :package and package.phase not in (select name from phase where is_final = 1)
   and package.phase not in ('transferring', 'killing');

-- name: count_ready_before
-- How many packages with the same requirement are ready before a package; null: it is not ready.
select (select count(*)
          from (select 1 from package as earlier indexed by package_ready
                 where earlier.requirement_id = package.requirement_id
                   and earlier.phase = 'ready' and earlier.away is null
                   and earlier.id < package.id
                 limit :limit))
  from package where package.id = :package and package.phase = 'ready';

-- name: needs_person
-- Whether a package is held, or needs a file of a held, failed or canceled one, or of one of another
-- job that is held or paused, found among some before it.
with recursive maker (id) as (
    select :package
     union
    select file.package_id
      from maker
      join package on package.id = maker.id and package.phase = 'waiting'
      join stage on stage.id = package.stage_id and stage.require >= 1
      join input on input.package_id = maker.id and input.own = 0 and input.dropped = 0
      join file on file.id = input.file_id and file.present = 0
     where file.package_id is not null
     limit 1000)
select 1 as needs_person
  from maker
  join package on package.id = maker.id
  join job on job.id = package.job_id
 where package.phase in ('held', 'failed', 'canceled')
    or ((job.hold = 1 or job.pause = 1) and package.phase in ('waiting', 'ready', 'cooloff'))
 limit 1;

-- name: stragglers
-- Packages that run much longer than expected on their nodes, without the time for which they were
-- suspended, the first started first; of all jobs, or of one. Of the first of a stage nothing was known at their launch, so they are
-- compared with what is known now. Packages that wait for inputs after an early start are omitted.
select package_path.path, late.*
  from (select package.id, package.job_id as job, package.stage_id as stage,
               package.line_id as line, node.name as node, attempt.started, attempt.suspended,
               coalesce(attempt.expected, requirement.seconds / node.speed) as expected,
               coalesce(attempt.expected_high, requirement.seconds / node.speed
                                               * stage.drift_high / stage.drift) as high
          from package indexed by package_live
          join attempt on attempt.id = package.attempt_id and attempt.delivers = 0
          join requirement on requirement.id = package.requirement_id
          join stage on stage.id = package.stage_id
          join node on node.id = package.node_id
         where package.is_live = 1 and package.phase = 'running' and package.early = 0
           and (:job is null or package.job_id = :job)
           and :now - attempt.started - attempt.suspended > :factor * high
           and :now - attempt.started - attempt.suspended > :least + high
         order by attempt.started
         limit :limit) as late
  join package_path on package_path.package_id = late.id and package_path.visible = 1
 order by late.started;

-- name: keep_first_end
-- When a job was estimated to end at its submission.
update job set first_end = :end, first_low = :low, first_high = :high where id = :job;

-- name: audit_jobs
-- Jobs that succeeded and of which an end was estimated at submission, the latest first, in seconds
-- from then.
select name, first_end - submitted as expected, first_low - submitted as low,
       first_high - submitted as high, ended - submitted as happened
  from job
 where visible = 1 and ended is not null and first_end is not null
   and (:job is null or id = :job)
 order by id desc limit :limit;

-- name: audit_packages
-- The latest successful attempts whose run time was estimated.
select job.name as job, stage.name as stage, attempt.expected, attempt.expected_low as low,
       attempt.expected_high as high,
       attempt.ended - attempt.started - attempt.suspended as happened
  from (select * from attempt
         where :job is null or package_id in (select id from package where job_id = :job)
         order by id desc limit :limit) as attempt
  join package on package.id = attempt.package_id
  join stage on stage.id = package.stage_id
  join job on job.id = package.job_id and job.visible = 1
 where attempt.outcome = 'successful' and attempt.expected is not null
   and attempt.started is not null and attempt.delivers = 0
 order by job.id desc, stage.seq;

-- name: audit_sizes
-- The latest successful attempts for which memory or disk was reserved, and what they took.
select job.name as job, stage.name as stage, attempt.memory_expected, attempt.rss,
       attempt.space_expected,
       (select max(disk) from binary_attempt where attempt_id = attempt.id) as peak,
       (select sum(file.size) from file where file.package_id = package.id) as output
  from (select * from attempt
         where :job is null or package_id in (select id from package where job_id = :job)
         order by id desc limit :limit) as attempt
  join package on package.id = attempt.package_id
  join stage on stage.id = package.stage_id
  join job on job.id = package.job_id and job.visible = 1
 where attempt.outcome = 'successful' and attempt.delivers = 0
   and (attempt.memory_expected > 0 or attempt.space_expected > 0)
 order by job.id desc, stage.seq;

-- name: attempt_outcomes
-- How the latest attempts ended, similar ones together: by position in a job file, software and
-- node; `lasted` is their total time. Attempts ended by a person are omitted.
select job.source, stage.name as stage, package.seq as position, requirement.software,
       attempt.node_name as node, iif(attempt.outcome = 'successful', null, attempt.reason) as reason,
       count(*) as n,
       sum(max(0.0, attempt.ended - coalesce(attempt.started, attempt.launched))) as lasted
  from (select * from attempt order by id desc limit :limit) as attempt
  join package on package.id = attempt.package_id
  join stage on stage.id = package.stage_id
  join job on job.id = package.job_id
  join requirement on requirement.id = package.requirement_id
 where attempt.delivers = 0
   and (attempt.outcome = 'successful'
        or attempt.outcome in ('failed', 'lost') and attempt.reason <> 'killed')
 group by 1, 2, 3, 4, 5, 6;

-- name: charged_job
-- The job of packages with a requirement, who submitted it, and how many CPUs each uses.
select job.name, job.originator, requirement.cpus * requirement.cpu / 100.0 as load
  from requirement join job on job.id = requirement.job_id
 where requirement.id = :requirement;

-- name: share_usage
-- The use of groups, and until when.
select path, used, at from share_usage;

-- name: keep_usage
-- Record the use of a group until now.
insert into share_usage (path, used, at) values (:path, :used, :now)
on conflict do update set used = excluded.used, at = excluded.at;

-- name: sharing_jobs
-- Jobs with packages that are on nodes or ready: how many CPUs these have and want.
select job.id, job.name, job.originator, sum(has) as has, sum(wants) as wants
  from (select requirement.job_id, 0.0 as has,
               requirement.ready * requirement.cpus * requirement.cpu / 100.0 as wants
          from job
          join requirement on requirement.job_id = job.id and requirement.ready > 0
         where job.visible = 1 and job.hold = 0 and job.pause = 0 and job.finish is null
           and job.ended is null
         union all
        select requirement.job_id, taken.n * requirement.cpus * requirement.cpu / 100.0, 0.0
          from (select requirement_id, count(*) as n
                  from package indexed by package_live
                 where is_live = 1 and node_id in (select id from node)
                 group by requirement_id) as taken
          join requirement on requirement.id = taken.requirement_id and requirement.stay is null)
       as part
  join job on job.id = part.job_id
 group by job.id;
