-- name: jobs
-- The jobs whose names match, the newest first.
select id, name, title, originator, priority, hold, hold_actor, hold_note, hold_since, pause,
       pause_running, pause_actor, pause_note, pause_since, pause_until, finish, finish_actor,
       finish_note, finish_since, submitted, ended, max_running, max_failures,
       exists (select 1 from job_end where job_id = job.id and at is not job.ended) as went_on,
       (select coalesce(sum(acknowledged), 0) from stage where job_id = job.id) as acknowledged,
       exists (select 1
                 from outdated_package
                 join package on package.id = outdated_package.package_id
                             and package.phase = 'done'
                 join line on line.id = package.line_id and line.dropped is null
                where outdated_package.job_id = job.id) as is_outdated,
       exists (select 1 from task
                where task.job_id = job.id and task.status = 'paused') as has_paused_task
  from job
 where visible = 1 and name glob :pattern
 order by id desc;

-- name: jobs_counts
-- How many packages of each of these jobs are in each phase, read off the counts.
select stage.job_id, stage_count.phase, sum(stage_count.n) as n
  from job
  join stage on stage.job_id = job.id
  join stage_count on stage_count.stage_id = stage.id
 where job.visible = 1 and job.name glob :pattern
 group by stage.job_id, stage_count.phase
having sum(stage_count.n) > 0;

-- name: job_settings
-- The job file's settings for a job as a whole that no other view shows.
select mail, most_alike, parameters, policy from job where id = :job;

-- name: job_names
-- Names of jobs, the newest first, for suggestions and completion; bounded.
select name from job where visible = 1 order by id desc limit 1000;

-- name: stage_numbers
-- The numbers of the stages of a job.
select stage.seq
  from job join stage on stage.job_id = job.id
 where job.name = :job and job.visible = 1
 order by stage.seq;

-- name: number_of_line
-- The number of the first line of a name in a stage, which is given by number or name.
select min(line.seq)
  from job
  join stage on stage.job_id = job.id and (stage.seq = :stage or stage.name = :stage)
  join line on line.stage_id = stage.id and line.name = :name
 where job.name = :job and job.visible = 1;

-- name: number_of_package
-- The number of the first package of a name in a line, likewise.
select min(package.seq)
  from job
  join stage on stage.job_id = job.id and (stage.seq = :stage or stage.name = :stage)
  join line on line.stage_id = stage.id and line.seq = :line
  join package on package.line_id = line.id and package.name = :name
 where job.name = :job and job.visible = 1;

-- name: number_of_lines
-- How many lines a stage has.
select stage.lines
  from job join stage on stage.job_id = job.id and stage.seq = :stage
 where job.name = :job and job.visible = 1;

-- name: number_of_packages
-- How many packages a line has.
select max(package.seq)
  from job
  join stage on stage.job_id = job.id and stage.seq = :stage
  join line on line.stage_id = stage.id and line.seq = :line
  join package on package.line_id = line.id
 where job.name = :job and job.visible = 1;

-- name: job_file_names
-- Names of files of a job between two texts, for completion; bounded.
select file.name
  from job join file on file.job_id = job.id and file.name >= :first and file.name < :last
 where job.name = :job and job.visible = 1
 order by file.name
 limit :limit;

-- name: job_result_names
-- Names of final outputs of a job between two texts, for completion; bounded.
select file.name
  from job join file on file.job_id = job.id and file.name >= :first and file.name < :last
 where job.name = :job and job.visible = 1 and file.package_id is not null and file.late = 0
   and (file.result = 1 or file.locator is not null)
 order by file.name
 limit :limit;

-- name: software_titles
-- The software of the catalogue, for completion; bounded.
select distinct title from software order by title limit 1000;

-- name: stages
-- The stages of a job.
select id, seq, name, require, lines, max_running, final, acknowledged
  from stage where job_id = :job order by seq;

-- name: stages_counts
-- How many packages of each stage of a job are in each phase.
select stage_count.stage_id, stage_count.phase, stage_count.n
  from stage join stage_count on stage_count.stage_id = stage.id
 where stage.job_id = :job and stage_count.n > 0;

-- name: lines
-- A page of the lines of a stage.
select id, seq, name, early_start, dropped, named from line
 where stage_id = :stage and seq between :first and :last order by seq;

-- name: lines_counts
-- How many packages of each of these lines are in each phase.
select line.id as line_id, package.phase, count(*) as n
  from line join package on package.line_id = line.id
 where line.stage_id = :stage and line.seq between :first and :last
 group by line.id, package.phase;

-- name: dropped_lines
-- How many lines of a job are dropped, and how many of these its job file no longer has.
select count(*) as lines, count(case when line.named = 2 then 1 end) as removed
  from stage
  join line on line.stage_id = stage.id and line.dropped is not null
 where stage.job_id = :job;

-- name: unlisted_lines
-- The successful lines of a job, or of a part, that its job file no longer has; bounded.
select stage.seq as stage, line.seq as line
  from stage
  join line on line.stage_id = stage.id and line.named = 2 and line.dropped is null
           and line.seq = coalesce(:line, line.seq)
 where stage.job_id = :job and stage.seq = coalesce(:stage, stage.seq)
 order by stage.seq, line.seq
 limit :limit;

-- name: dropped_line_names
-- The dropped lines of a job that its job file did not lose, with the names of their stages.
select stage.name as stage, line.name
  from stage
  join line on line.stage_id = stage.id and line.dropped is not null and line.named <> 2
 where stage.job_id = :job;

-- name: package_by_path
-- One package; one that has ended names its node also once that was removed.
select package.*,
       coalesce(node.name, iif(package.phase = 'done' or package.phase = 'failed',
                               (select node_name from attempt where id = package.attempt_id),
                               null)) as node,
       job.name as job, job.hold as job_hold,
       job.hold_note as job_hold_note, job.hold_actor as job_hold_actor, job.pause as job_pause,
       stage.seq as stage, stage.name as stage_name, line.seq as line, line.name as line_name,
       line.dropped as line_dropped, line.named as line_named, requirement.*
  from job
  join stage on stage.job_id = job.id and stage.seq = :stage
  join line on line.stage_id = stage.id and line.seq = :line
  join package on package.line_id = line.id and package.seq = :package
  join requirement on requirement.id = package.requirement_id
  left join node on node.id = package.node_id
 where job.name = :job and job.visible = 1;

-- name: selected_packages
-- The selected packages, in order, a bounded number, with the names of their lines.
select package_row.*, (select name from line where line.id = package_row.line_id) as line_name
  from (select package_id from selected_package order by package_id limit :limit) as some
  join package_row on package_row.id = some.package_id
 order by package_row.id;

-- name: count_selected
-- How many packages are selected.
select count(*) from selected_package;

-- name: packages_in_phases
-- Packages of a job in these phases, a bounded number.
select package_row.*
  from (select package.id
          from json_each(:phases) as wanted
          cross join package indexed by package_in_phase
            on package.job_id = :job and package.phase = wanted.value
         limit :limit) as some
  join package_row on package_row.id = some.id
 order by package_row.id;

-- name: line_names
-- The lines of a stage by name.
select seq, name from line where stage_id = :stage order by seq;

-- name: share_of_paused
-- The fraction of the held packages of a job that a pause holds, of a bounded number of them.
select avg(parked) from (select parked from package indexed by package_in_phase
                          where job_id = :job and phase = 'held' limit 1000);

-- name: attempts
-- Every attempt at a package.
select id, number, node_id, node_name,
       (select platform from node where node.id = attempt.node_id) as platform,
       base, launched, wrapper_started, started, ended, utc_offset, outcome,
       iif(delivers, 'stage-out', kind) as kind, binary, reason, message, exit_code, signal, cpu,
       rss, stderr, began, began_why, events, inputs, inputs_asked, left_out, left_size, suspended,
       cpus, memory
  from attempt
 where package_id = :package
 order by number;

-- name: is_failure_of_stage
-- Whether several packages of a stage are among the latest to fail like an attempt, and no package
-- of the stage has succeeded; bounded.
select not exists (select 1 from stage_count
                    where stage_id = :stage and phase in ('transferring', 'done') and n > 0)
   and (select count(distinct package.id)
          from (select package_id, reason, binary, exit_code, signal
                  from attempt indexed by attempt_failed
                 where outcome in ('failed', 'lost')
                 order by ended desc
                 limit 500) as recent
          join package on package.id = recent.package_id and package.stage_id = :stage
         where recent.reason = :reason and recent.binary is :binary
           and recent.exit_code is :exit_code and recent.signal is :signal) > 1;

-- name: latest_alike_by_node
-- Of each node of the site, the latest of the recent attempts of a stage that failed there like an
-- attempt, unless the stage has succeeded there since; bounded.
select recent.id, recent.node_name, recent.message, recent.stderr, max(recent.ended) as ended
  from (select id, package_id, node_id, node_name, message, stderr, ended, reason, binary, exit_code
          from attempt indexed by attempt_failed
         where outcome in ('failed', 'lost')
         order by ended desc
         limit 500) as recent
  join package on package.id = recent.package_id and package.stage_id = :stage
  join node on node.id = recent.node_id
  left join node_record on node_record.stage_id = :stage and node_record.node_id = recent.node_id
 where recent.reason = :reason and recent.binary is :binary and recent.exit_code is :exit_code
   and (node_record.streak > 0 or coalesce(node_record.successful, 0) = 0)
 group by recent.node_id
 order by recent.node_name;

-- name: peak_memory_of_alike
-- The most memory that an attempt at a package took, of packages of a stage that are among the
-- latest to run out of memory; bounded.
select max(attempt.rss)
  from (select distinct recent.package_id
          from (select package_id, reason
                  from attempt indexed by attempt_failed
                 where outcome in ('failed', 'lost')
                 order by ended desc
                 limit 500) as recent
          join package on package.id = recent.package_id and package.stage_id = :stage
         where recent.reason = 'out-of-memory') as alike
  join attempt on attempt.package_id = alike.package_id;

-- name: failures
-- The failure history of a package (D0 Job Definition, section 2).
select reason, count, last, message, node_name from failure
 where package_id = :package order by last desc;

-- name: peak_disk
-- The most disk space that a binary of an attempt took.
select max(disk) from binary_attempt where attempt_id = :attempt;

-- name: peak_use
-- The most memory and disk that attempts at a package took since it was last redefined, and those at
-- others of its stage among the latest attempts; bounded.
select max(attempt.rss) as memory,
       max((select max(disk) from binary_attempt where attempt_id = attempt.id)) as disk
  from (select id from attempt where package_id = :package
         union
        select latest.id
          from attempt as latest
          cross join package on package.id = latest.package_id
         where latest.id > (select max(id) from attempt) - 500
           and package.stage_id = (select stage_id from package where id = :package)) as known
  join attempt on attempt.id = known.id
  join package on package.id = attempt.package_id
 where attempt.launched >= coalesce(package.redefined, 0);

-- name: binaries
-- The binaries of a package, each with its record in the last attempt that ran it; without a text of
-- its own, with the script of its software for the platform of its node, or any before it has one.
select binary.seq, binary.name, binary.image, binary.stdin, binary.shell, binary.argv,
       iif(binary.script is null and binary.argv is null,
           (select software.script
              from software
              left join node on node.id = coalesce(attempt.node_id, package.node_id)
             where software.title = binary.software
               and (node.id is null or software.platform in ('', node.platform))
             order by software.platform desc limit 1),
           binary.script) as script,
       binary.software, binary.version, binary.parameters, binary.needs, binary.cpu, binary.runtime,
       binary.work_size, binary.log_rules, binary.progress, binary."check", binary.check_timeout,
       binary.events,
       binary_attempt.started,
       binary_attempt.ended, binary_attempt.exit_code, binary_attempt.signal,
       binary_attempt.reason, binary_attempt.cpu as cpu_time, binary_attempt.rss,
       attempt.number as attempt,
       binary_attempt.started is null
       and exists (select 1
                     from attempt as tried
                     join binary_attempt as later on later.attempt_id = tried.id
                    where tried.package_id = binary.package_id
                      and later.seq > binary.seq
                      and later.started is not null) as is_skipped
  from binary
  join package on package.id = binary.package_id
  left join binary_attempt
    on binary_attempt.seq = binary.seq
   and binary_attempt.attempt_id = (select max(ran.attempt_id)
                                      from attempt as tried
                                      join binary_attempt as ran on ran.attempt_id = tried.id
                                     where tried.package_id = binary.package_id
                                       and ran.seq = binary.seq)
  left join attempt on attempt.id = binary_attempt.attempt_id
 where binary.package_id = :package order by binary.seq;

-- name: binary_records
-- How a binary did in each attempt that ran it.
select attempt.number as attempt, attempt.node_name as node, record.started, record.ended,
       record.exit_code, record.signal, record.reason, record.cpu as cpu_time, record.rss
  from attempt
  join binary_attempt as record on record.attempt_id = attempt.id and record.seq = :binary
 where attempt.package_id = :package order by attempt.number;

-- name: inputs
-- The inputs of a package, their origin and whether they exist; missing ones first, patterns of
-- late outputs only while their files are unknown; at most `limit` are read. `replaced` is when other
-- contents of a file from outside came, `renewed` when they came to the cluster of its last attempt,
-- `remade` when the last attempt at its maker was launched.
select file.name, file.present, file.dropped as file_dropped, file.size, some.binary, some.own,
       some.acquire, some.disposition, some.required, some.dropped, some.locator,
       some.size as size_asked, some.checksum, some.writable, some.local,
       (select path from package_path where package_id = file.package_id) as maker_path,
       package.phase as maker_phase, making.launched as remade,
       file.replaced, file.removed,
       (select json_group_array(cluster.name || ':' || location.path)
          from location join cluster on cluster.id = location.cluster_id
         where location.file_id = file.id) as places,
       (select coalesce(removed_copy.renewed,
                        iif(outdated_copy.file_id is null, null,
                            coalesce(abs(outdated_copy.renewed), 1e12)))
          from package as reader
          join attempt on attempt.id = reader.attempt_id
          left join node on node.id = attempt.node_id
          left join outdated_copy on outdated_copy.cluster_id = node.cluster_id
                                 and outdated_copy.file_id = file.id
          left join removed_copy on removed_copy.node_id = attempt.node_id
                                and removed_copy.file_id = file.id
         where reader.id = :package) as renewed
  from (select few.*
          from (select * from input where package_id = :package limit :window) as few
          join file on file.id = few.file_id and not (file.late = 1 and file.present = 1)
         order by file.present, few.binary, few.file_id
         limit :limit) as some
  join file on file.id = some.file_id
  left join package on package.id = file.package_id
  left join attempt as making on making.package_id = package.id and making.number = package.attempts
                             and making.delivers = 0 and some.own = 0
 order by file.present, some.binary, some.file_id;

-- name: outputs
-- The outputs of a package and where they are; bounded.
select file.id as file_id, file.name, file.binary, file.present, file.dropped, file.size, file.checksum,
       file.size_asked, file.min_size, file.checksum_asked, file.dispositions, file.disposition, file.result, file.partial,
       file.locator, file.stored, file.late, file.removed,
       (select count(*) from file as made where made.pattern_id = file.id) as made,
       (select json_group_array(cluster.name || ':' || location.path)
          from location join cluster on cluster.id = location.cluster_id
         where location.file_id = file.id) as places
  from file where file.package_id = :package order by file.binary, file.id
 limit :limit;

-- name: events
-- Every change of phase of a package.
select event.at, event.old, event.new, event.actor, event.note, attempt.number as attempt,
       coalesce(node.name, attempt.node_name) as node
  from event
  left join attempt on attempt.id = event.attempt_id
  left join node on node.id = event.node_id
 where event.package_id = :package order by event.id;

-- name: failed_attempts
-- The failed attempts of the selected packages, the latest first; bounded.
select latest.ended, latest.number, latest.reason, latest.message, latest.exit_code,
       latest.signal, latest.node_name, latest.outcome, latest.stderr, latest.binary,
       (select max(at) from recorded_end
         where package_id = latest.package_id and attempt_id = latest.id) as recorded,
       package_path.path
  from (select attempt.*
          from selected_package
          join attempt on attempt.package_id = selected_package.package_id
                      and attempt.outcome in ('failed', 'lost')
         order by attempt.ended desc, attempt.id desc
         limit :limit) as latest
  join package_path on package_path.package_id = latest.package_id
 order by latest.ended desc, latest.id desc;

-- name: selected_failures
-- The last attempts of selected packages that have failed, the latest first; bounded.
select package_path.path, package.name, attempt.number, attempt.ended, attempt.reason,
       attempt.message, attempt.exit_code, attempt.signal, attempt.node_name, attempt.binary,
       attempt.stderr,
       acknowledgement.actor as acknowledged, acknowledgement.at as acknowledged_at,
       acknowledgement.note as acknowledged_because
  from selected_package
  join package on package.id = selected_package.package_id and package.phase = 'failed'
  join attempt on attempt.package_id = package.id and attempt.number = package.attempts
  join package_path on package_path.package_id = package.id
  left join acknowledgement on acknowledgement.package_id = package.id
 order by attempt.ended desc, attempt.id desc
 limit :limit;

-- name: failure_summary
-- Failed attempts of the selected packages by reason.
select attempt.reason, count(*) as count, max(attempt.ended) as last, attempt.message,
       count(distinct attempt.node_name) as nodes
  from selected_package
  join attempt on attempt.package_id = selected_package.package_id
              and attempt.outcome in ('failed', 'lost')
 group by attempt.reason order by count desc;

-- name: ready_before
-- Ready packages of a higher priority than a package, which come first: their job and stage; if
-- :older, also those of the same priority in older jobs.
select job.name, job.id as job_id, coalesce(requirement.priority, job.priority) as priority,
       requirement.priority is not null as is_own, stage.name as stage
  from package
  join requirement as own on own.id = package.requirement_id
  join job as own_job on own_job.id = package.job_id
  join requirement on requirement.ready > 0 and requirement.ready > requirement.away
  join job on job.id = requirement.job_id
  join stage on stage.id = requirement.stage_id
 where package.id = :package and job.visible = 1 and job.hold = 0 and job.pause = 0
   and job.finish is null
   and coalesce(requirement.priority, job.priority)
       > coalesce(own.priority, own_job.priority) - (:older and job.id < own_job.id)
 limit 1;

-- name: longer_chains_before
-- How many ready packages of a job come before a package as longer chains begin with them, and the
-- stage of the longest.
select stage.name as stage, sum(other.ready - other.away) as n, max(other.rank)
  from package
  join requirement as own on own.id = package.requirement_id
  join requirement as other on other.job_id = own.job_id and other.ready > 0 and other.rank > own.rank
                           and other.priority is own.priority
  join stage on stage.id = other.stage_id
 where package.id = :package and package.attempts = 0
having n > 0;

-- name: transfers_for
-- Inputs of a package that must be copied to its node, each with a node that has it, preferably
-- one that is up; none if it comes from this machine or from outside of the site.
select file.name, transfer.tries, transfer.last_error, transfer.not_before, far.name as source,
       far.state as source_state, far.last_error as source_error, maker.path as maker
  from package
  join node on node.id = package.node_id
  join input on input.package_id = package.id and input.dropped = 0 and input.own = 0
  join file on file.id = input.file_id
  join transfer on transfer.file_id = file.id and transfer.cluster_id = node.cluster_id
               and transfer.result = 0
  left join package_path as maker on maker.package_id = file.package_id
  left join node as far on far.id = coalesce(
       (select named.id from node as named
         where named.name = substr(file.locator, 1, instr(file.locator, ':') - 1)),
       (select near.id from location join node as near on near.cluster_id = location.cluster_id
         where location.file_id = file.id and file.package_id is not null
         order by near.state = 'up' desc, near.id limit 1))
 where package.id = :package
 limit :limit;

-- name: inputs_away
-- Inputs of packages of which only nodes that are down have copies, each with such a node, and how many
-- there are; not of packages that start without them. Files from outside are copied again.
with away (cluster_id) as (
    select cluster_id from node where cluster_id <> 1
     group by cluster_id having min(state = 'down') = 1)
select file.name, 0 as tries, null as last_error, far.name as source, far.state as source_state,
       far.last_error as source_error, maker.path as maker, count(*) over () as n
  from (select distinct input.file_id
          from json_each(:packages) as reader
          join package on package.id = reader.value and package.early <> 1
          join input on input.package_id = package.id and input.dropped = 0 and input.own = 0
                    and input.acquire = 'pre-fetch'
         where exists (select 1 from away)) as needed
  join file on file.id = needed.file_id and file.present = 1 and file.package_id is not null
            and file.locator is null
  join node as far on far.id = (select near.id
                                  from location join node as near using (cluster_id)
                                 where location.file_id = file.id
                                 order by near.id limit 1)
  left join package_path as maker on maker.package_id = file.package_id
 where not exists (select 1 from location
                    where location.file_id = file.id
                      and location.cluster_id not in (select cluster_id from away))
   and not exists (select 1 from delivered_result where delivered_result.file_id = file.id)
 order by file.id
 limit :limit;

-- name: unreachable_bound
-- Unreachable packages with inputs of which only nodes that are down have copies, with job and node.
with away (cluster_id) as (
    select cluster_id from node where cluster_id <> 1
     group by cluster_id having min(state = 'down') = 1)
select package.id, job.name as job, node.name as node
  from node
  join package on package.node_id = node.id and package.is_live = 1
              and package.phase = 'unreachable' and package.early <> 1
  join job on job.id = package.job_id
 where node.state = 'down'
   and exists (select 1
                 from input
                 join file on file.id = input.file_id and file.present = 1
                          and file.package_id is not null and file.locator is null
                where input.package_id = package.id and input.dropped = 0 and input.own = 0
                  and input.acquire = 'pre-fetch'
                  and not exists (select 1 from delivered_result where delivered_result.file_id = file.id)
                  and exists (select 1 from location where location.file_id = file.id)
                  and not exists (select 1 from location
                                   where location.file_id = file.id
                                     and location.cluster_id not in (select cluster_id from away)));

-- name: results_under_way
-- Results of a package that have not arrived.
select file.name, transfer.tries, transfer.last_error
  from file join transfer on transfer.file_id = file.id and transfer.result = 1
 where file.package_id = :package
 limit :limit;

-- name: recent_failures
-- The latest failures of a job that are still failed: from the latest failures of all jobs, then
-- from the failed packages of the job; both lists are bounded.
with latest as (
    select id from attempt where outcome in ('failed', 'lost') order by ended desc limit 500),
own as (
    select id from package indexed by package_in_phase
     where job_id = :job and phase = 'failed' order by id desc limit 500)
select package_path.path,
       package.name, attempt.number, attempt.ended, attempt.reason, attempt.message,
       attempt.exit_code, attempt.signal, attempt.node_name, attempt.binary, attempt.stderr,
       acknowledgement.actor as acknowledged, acknowledgement.at as acknowledged_at,
       acknowledgement.note as acknowledged_because
  from (select package_id from latest join attempt on attempt.id = latest.id
         union select id from own) as some
  join package on package.id = some.package_id
              and package.job_id = :job and package.phase = 'failed'
              and (:stage is null or package.stage_id = :stage)
  join attempt on attempt.package_id = package.id and attempt.number = package.attempts
  join package_path on package_path.package_id = package.id
  left join acknowledgement on acknowledgement.package_id = package.id
 order by attempt.ended desc, attempt.id desc
 limit :limit;

-- name: job_nodes
-- On which nodes that answer a job is live, with how many packages.
select node.name, count(*) as n
  from node
  join package indexed by package_live
    on package.node_id = node.id
   and package.is_live = 1
 where package.job_id = :job and package.phase <> 'unreachable'
 group by node.id
 order by n desc, node.name;

-- name: files_not_transferred
-- Copies for a job that could not be made yet; bounded.
select file.name, transfer.tries, transfer.last_error
  from (select * from transfer where last_error is not null limit 500) as transfer
  join file on file.id = transfer.file_id
 where file.job_id = :job
 limit :limit;

-- name: untouched
-- Whether the database is unused: no job, no node, no action.
select not exists (select 1 from node) and not exists (select 1 from job)
       and not exists (select 1 from action where verb not in ('daemon start', 'daemon stop'));

-- name: input_list
-- Whether a package starts early, and how many of its inputs exist and do not.
select early, gathered, awaited from package where id = :package;

-- name: missing_inputs
-- A few inputs that a package waits for, with their makers, from both ends of its list; in an
-- archive without those that it had.
select file.name, file.dropped as file_dropped, some.uses, package.id as maker,
       (select path from package_path where package_id = file.package_id) as maker_path,
       package.phase as maker_phase
  from (select few.file_id, count(*) as uses
          from (select * from (select * from input where package_id = :package
                                order by binary, file_id limit 2000)
                 union
                select * from (select * from input where package_id = :package
                                order by binary desc, file_id desc limit 2000)) as few
          join file on file.id = few.file_id and file.present = 0
         where few.own = 0 and few.dropped = 0 and file.removed_by is not 'archive'
         group by few.file_id
         limit :limit) as some
  join file on file.id = some.file_id
  left join package on package.id = file.package_id
 order by some.file_id;

-- name: packages_in_stage
-- A few packages of a stage or of one of its lines in these phases, from its first lines.
select package_row.*
  from (select id from line
         where stage_id = :stage
           and seq between coalesce(:line, 1) and coalesce(:line, 9223372036854775807)
         limit 2000) as some
  join package_row on package_row.line_id = some.id
                  and package_row.phase in (select value from json_each(:phases))
 limit :limit;

-- name: before_in_line
-- The package before this one in its line.
select before.id, before.phase,
       (select path from package_path where package_id = before.id) as path
  from package
  join package as before on before.line_id = package.line_id and before.seq = package.seq - 1
 where package.id = :package;

-- name: lines_before
-- Lines that must succeed before a package, and the first package of each that has not.
select mate.id, mate.phase, line.name,
       (select path from package_path where package_id = mate.id) as path
  from package
  join line_order on line_order.line_id = package.line_id
  join line on line.id = line_order.after_id
  join package as mate on mate.line_id = line.id
                      and mate.phase not in ('transferring', 'done', 'dropped')
 where package.id = :package and package.seq = 1
   and not exists (select 1 from package as earlier
                    where earlier.line_id = mate.line_id and earlier.seq < mate.seq
                      and earlier.phase not in ('transferring', 'done', 'dropped'))
 limit :limit;

-- name: stages_before
-- Stages that must succeed before a package; without a stage, the rest of its job must end.
select before.id, before.seq, before.name, job.name as job
  from package
  join line on line.id = package.line_id
  join job on job.id = package.job_id
  join stage_order on stage_order.stage_id = package.stage_id
                  and stage_order.released < line.seq
  left join stage as before on before.id = stage_order.after_id
 where package.id = :package and package.seq = 1;

-- name: order_of_stage
-- The stages after which a stage begins.
select before.name
  from stage_order join stage as before on before.id = stage_order.after_id
 where stage_order.stage_id = :stage
 order by before.seq;

-- name: waiting_consumers
-- A few packages that wait for files of this one.
select distinct package_path.path
  from file
  join input on input.file_id = file.id and input.own = 0 and input.dropped = 0
  join package on package.id = input.package_id and package.phase = 'waiting'
  join package_path on package_path.package_id = package.id
 where file.package_id = :package
 limit :limit;

-- name: node_rooms
-- Every node with its properties, and the resources in use as the scheduler counts them.
select node.id, node.name, node.cluster_id as cluster, node.cpus, node.memory, node.gpus, node.platform,
       node.services, cluster.services as cluster_services, node.state, node.since, node.drained,
       node.drain_note, node.last_error, node.speed,
       (select pilot.ends from pilot indexed by pilot_of_node
         where pilot.node_id = node.id and pilot.state <> 'ended') as ends,
       node.job = 'direct' and cluster.pilots ->> 'mode' = 'auto' as is_for_long,
       (select batch.name
          from pilot indexed by pilot_of_node join cluster as batch on batch.id = pilot.cluster_id
         where pilot.node_id = node.id and pilot.state <> 'ended'
           and batch.pilots ->> 'mode' = 'pilot') as batch,
       iif(live.used = cast(live.used as integer), cast(live.used as integer),
           coalesce(live.used, 0)) as used,
       coalesce(live.memory, 0) as memory_used, coalesce(live.gpus, 0) as gpus_used,
       coalesce(live.space, 0) as disk_used,
       node_space.disk, node_space.disk_free, node_space.disk_in_use, node_space.disk_spare,
       node_space.disk_short, node_space.disk_reserve,
       iif(cluster_space.free = node_space.disk_spare, cluster_space.bytes, null) as cache
  from node
  join cluster on cluster.id = node.cluster_id
  join node_space on node_space.node_id = node.id
  left join cluster_space on cluster_space.cluster_id = node.cluster_id
  left join node_use as live on live.node_id = node.id
 order by node.id;

-- name: node_jobs
-- The jobs whose packages use the CPUs of a node.
select job.name, count(*) as n, sum(requirement.cpus) as cpus
  from package
  join requirement on requirement.id = package.requirement_id and requirement.stay is null
  join job on job.id = package.job_id
 where package.node_id = :node
   and package.is_live = 1
 group by job.id order by cpus desc limit :limit;

-- name: suspended_on
-- The packages on some nodes that a person suspended, so that they keep their CPUs there, by job: how
-- many, the first, and whether the job is paused as a whole.
select found.job, found.pause, found.n, package_path.path as first
  from (select job.name as job, job.pause, count(*) as n, min(package.id) as first
          from package
          join requirement on requirement.id = package.requirement_id and requirement.stay is null
          join job on job.id = package.job_id
         where package.node_id in (select value from json_each(:nodes))
           and package.is_live = 1 and package.is_paused
         group by job.id) as found
  join package_path on package_path.package_id = found.first
 order by found.n desc, found.first;

-- name: full_node_of
-- The node of a launched package that waits for a slot there: packages that have begun leave too few
-- CPUs for it.
select package.node_id
  from package
  join requirement on requirement.id = package.requirement_id and requirement.stay is null
  join node on node.id = package.node_id
 where package.id = :package and package.phase = 'starting' and package.slot = 0
   and node.cpus + 1e-6 < requirement.cpus * requirement.cpu / 100.0
       + (select coalesce(sum(taken.cpus * taken.cpu / 100.0), 0)
            from package as other indexed by package_live
            join requirement as taken on taken.id = other.requirement_id and taken.stay is null
           where other.node_id = package.node_id and other.is_live = 1 and other.slot = 0
             and other.phase in ('running', 'suspended', 'killing'));

-- name: transfers_to
-- A few copies in transit to a cluster; `is_away` if no node that has the file is up.
select file.name, transfer.tries, transfer.last_error,
       (select count(*) > 0 and max(node.state = 'up') = 0
          from location join node on node.cluster_id = location.cluster_id
         where location.file_id = file.id) as is_away
  from (select * from transfer where cluster_id = :cluster and result = 0 limit :limit) as transfer
  join file on file.id = transfer.file_id;

-- name: job_failed_attempts
-- The failed attempts of a job, the latest first; bounded.
select attempt.ended, attempt.number, attempt.reason, attempt.message, attempt.exit_code,
       attempt.signal, attempt.node_name, attempt.outcome, attempt.stderr, attempt.binary,
       (select max(at) from recorded_end
         where package_id = attempt.package_id and attempt_id = attempt.id) as recorded,
       package_path.path
  from attempt indexed by attempt_failed
  cross join package on package.id = attempt.package_id and package.job_id = :job
  join package_path on package_path.package_id = package.id
 where attempt.outcome in ('failed', 'lost')
 order by attempt.ended desc
 limit :limit;

-- name: job_failure_summary
-- Failed attempts of a job by reason.
select attempt.reason, count(*) as count, max(attempt.ended) as last, attempt.message,
       count(distinct attempt.node_name) as nodes
  from attempt indexed by attempt_failed
  cross join package on package.id = attempt.package_id and package.job_id = :job
 where attempt.outcome in ('failed', 'lost')
 group by attempt.reason order by count desc;

-- name: package_progress
-- The last progress that the wrapper of a package reported.
select at, binary, done, total, percent, line, eta, cpu, rss
  from progress where package_id = :package;

-- name: attempt_notes
-- The remarks about a package's attempts.
select attempt.number, note.at, note.binary, note.text
  from attempt join note on note.attempt_id = attempt.id
 where attempt.package_id = :package
 order by attempt.number, note.seq
 limit :limit;

-- name: results_of_job
-- The names of the files that a job delivers to results/, without dropped ones.
select name from file where job_id = :job and result = 1 and late = 0 and dropped = 0;

-- name: package_counts
-- How many packages each of some lines of a stage has.
select line.seq, (select count(*) from package where package.line_id = line.id) as packages
  from line
 where line.stage_id = :stage and line.seq between :first and :last
 order by line.seq;
