-- name: export_job
-- A job as its job file says.
select id, name, title, originator, directory, parameters, policy, mail, most_alike, max_running,
       max_failures, priority, hold
  from job where name = :job and visible = 1;

-- name: export_stages
-- The stages of a job.
select id, seq, name, require, max_running, final from stage where job_id = :job order by seq;

-- name: export_stage_order
-- Which stages of a job begin after which others.
select stage.seq, before.name
  from stage
  join stage_order on stage_order.stage_id = stage.id
  join stage as before on before.id = stage_order.after_id
 where stage.job_id = :job
 order by stage.seq, before.seq;

-- name: export_lines
-- The lines of a job.
select line.id, stage.seq as stage, line.seq, line.name, line.early_start
  from stage join line on line.stage_id = stage.id
 where stage.job_id = :job
 order by stage.seq, line.seq;

-- name: export_line_order
-- Which lines of a job begin after which others.
select line.id as line_id, before_stage.name as stage, before_stage.seq as stage_seq, before.seq
  from stage
  join line on line.stage_id = stage.id
  join line_order on line_order.line_id = line.id
  join line as before on before.id = line_order.after_id
  join stage as before_stage on before_stage.id = before.stage_id
 where stage.job_id = :job
 order by stage.seq, line.seq, before_stage.seq, before.seq;

-- name: export_packages
-- The packages of a job, with what they require of a node, and how long they took.
select package.id, package.line_id, package.seq, package.name, package.wall_time, package.looping,
       package.wrapper, package.wrapper_parameters, package.environment, package.policy,
       requirement.cpus, requirement.memory, requirement.disk, requirement.platform,
       requirement.nodes, requirement.exclude_nodes, requirement.priority,
       attempt.ended - attempt.started as took, attempt.node_name as node
  from stage
  join line on line.stage_id = stage.id
  join package on package.line_id = line.id
  join requirement on requirement.id = package.requirement_id
  left join attempt on attempt.package_id = package.id and attempt.number = package.attempts
                   and attempt.outcome = 'successful'
 where stage.job_id = :job
 order by stage.seq, line.seq, package.seq;

-- name: export_binaries
-- The binaries of the packages of a job.
select binary.*
  from stage
  join line on line.stage_id = stage.id
  join package on package.line_id = line.id
  join binary on binary.package_id = package.id
 where stage.job_id = :job
 order by binary.package_id, binary.seq;

-- name: export_outputs
-- What the packages of a job make, as their job file says.
select file.id, file.package_id, file.binary, file.name, file.result, file.dispositions,
       file.locator, file.size_asked, file.min_size, file.checksum_asked, file.late,
       file.min_count, file.size
  from stage
  join line on line.stage_id = stage.id
  join package on package.line_id = line.id
  join file on file.package_id = package.id and file.pattern_id is null
 where stage.job_id = :job
 order by file.package_id, file.binary, file.id;

-- name: export_inputs
-- What the packages of a job read; of files of other jobs also these.
select input.package_id, input.binary, input.own, input.acquire, input.required, input.writable,
       input."match", input.disposition, input.locator, input.size, input.checksum, input.local,
       file.name, file.package_id as maker, file.size as known_size,
       iif(file.job_id = :job, null, job.name) as job,
       (select stage.name from package as maker join stage on stage.id = maker.stage_id
         where maker.id = file.package_id) as stage
  from stage
  join line on line.stage_id = stage.id
  join package on package.line_id = line.id
  join input on input.package_id = package.id
  join file on file.id = input.file_id and file.pattern_id is null
  left join job on job.id = file.job_id
 where stage.job_id = :job
 order by input.package_id, input.binary, input.place;
