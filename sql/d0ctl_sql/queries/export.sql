-- name: export_job
-- The columns of a job that its job file sets.
select id, name, title, originator, directory, parameters, policy, mail, most_alike, max_running,
       max_failures, priority, hold
  from job where name = :job and visible = 1;

-- name: export_stages
-- The stages of a job.
select id, seq, name, require, max_running, final from stage where job_id = :job order by seq;

-- name: export_stage_order
-- The stages of a job and those after which they start.
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
-- The lines of a job and those after which they start.
select line.id as line_id, before_stage.name as stage, before_stage.seq as stage_seq, before.seq
  from stage
  join line on line.stage_id = stage.id
  join line_order on line_order.line_id = line.id
  join line as before on before.id = line_order.after_id
  join stage as before_stage on before_stage.id = before.stage_id
 where stage.job_id = :job
 order by stage.seq, line.seq, before_stage.seq, before.seq;

-- name: export_packages
-- The packages of a job with their requirements, and how long and where the last attempt ran if it
-- succeeded.
select package.id, package.line_id, package.seq, package.name, package.wall_time, package.looping,
       package.wrapper, package.wrapper_parameters, package.environment, package.policy,
       requirement.*, attempt.ended - attempt.started - attempt.suspended as took,
       attempt.node_name as node, attempt.cpus as ran_cpus, attempt.memory as ran_memory
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
-- The outputs that the packages of a job declare in its job file.
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
-- The inputs of the packages of a job, including files of other jobs. Files of a late output are
-- left out where a package reads the whole output; with :apart, known ones of other jobs are in its
-- stead.
select input.package_id, input.binary, input.own, input.acquire, input.required, input.writable,
       input."match", input.disposition, input.locator, input.size, input.checksum, input.local,
       file.name, file.package_id as maker, file.size as known_size,
       file.checksum as known_checksum, file.result, file.late, file.present,
       (select name from file as pattern where pattern.id = file.pattern_id) as pattern,
       iif(file.job_id = :job, null, job.name) as job,
       (select stage.name from package as maker join stage on stage.id = maker.stage_id
         where maker.id = file.package_id) as stage
  from stage
  join line on line.stage_id = stage.id
  join package on package.line_id = line.id
  join input on input.package_id = package.id
  join file on file.id = input.file_id
  left join job on job.id = file.job_id
 where stage.job_id = :job
   and iif(:apart and file.job_id <> :job, file.late = 0 or file.present = 0,
           not exists (select 1 from input as whole
                        where whole.package_id = input.package_id
                          and whole.file_id = file.pattern_id))
 order by input.package_id, input.binary, input.position;

-- name: runs_of_selected
-- Binaries of the selected packages that succeeded, each from the last attempt that ran it: node,
-- times and software.
select package.id as package_id, package_path.path, binary.seq, binary.name,
       iif(former.value is null, binary.script, former.value ->> 'script') as script,
       iif(former.value is null, binary.argv, former.value ->> 'argv') as argv,
       iif(former.value is null, binary.software, former.value ->> 'software') as software,
       iif(former.value is null, binary.parameters, former.value ->> 'parameters') as parameters,
       iif(former.value is null, binary.image, former.value ->> 'image') as image,
       iif((former.value ->> 'script', former.value ->> 'argv', former.value ->> 'software',
            former.value ->> 'parameters', former.value ->> 'image')
           is (binary.script, binary.argv, binary.software, binary.parameters, binary.image),
           null, iif(former.value is null, null, package.redefined)) as accepted,
       attempt.id as attempt_id, attempt.number as attempt, attempt.node_name as node,
       node.platform, coalesce(ran.started, attempt.started) as started,
       coalesce(ran.ended, attempt.ended) as ended, ran.exit_code,
       iif(attempt.began > binary.seq, attempt.began_why, null) as taken,
       software.checksum as software_checksum
  from selected_package
  cross join package on package.id = selected_package.package_id
  join package_path on package_path.package_id = package.id
  join binary on binary.package_id = package.id
  join attempt
    on attempt.package_id = package.id
   and attempt.number = coalesce((select max(tried.number)
                                    from attempt as tried
                                    join binary_attempt as record
                                      on record.attempt_id = tried.id and record.seq = binary.seq
                                   where tried.package_id = package.id), package.attempts)
  left join json_each(attempt.recipe) as former
    on former.value ->> 'seq' = binary.seq and json_type(former.value, '$.script') is not null
  left join binary_attempt as ran on ran.attempt_id = attempt.id and ran.seq = binary.seq
  left join node on node.id = attempt.node_id and node.name = attempt.node_name
  left join software
    on software.id = (select entry.id from software as entry
                       where entry.title = iif(former.value is null, binary.software, former.value ->> 'software')
                         and entry.platform in ('', coalesce(node.platform, ''))
                       order by entry.platform desc limit 1)
 where package.phase in ('done', 'transferring')
 order by package.id, binary.seq;

-- name: files_made_by_selected
-- The files made by the selected packages.
select file.id, job.name as job, file.name, file.package_id, file.binary, file.size, file.checksum,
       file.stored, file.partial
  from selected_package
  cross join file on file.package_id = selected_package.package_id
  join job on job.id = file.job_id
 where file.late = 0 and file.size is not null
 order by file.id;

-- name: earlier_read_by_selected
-- What attempts at the selected packages have read of files that had other contents then: until when,
-- and their size and checksum if known.
select distinct reading.package_id, reading.attempt_id, reading.file_id,
       coalesce(content.until, file.replaced) as until, content.size, content.checksum
  from selected_package
  cross join reading on reading.package_id = selected_package.package_id
  join file on file.id = reading.file_id and file.replaced > reading.at
  left join former_content as content
    on content.file_id = reading.file_id
   and content.until = (select min(until) from former_content
                         where file_id = reading.file_id and until > reading.at);

-- name: files_read_by_selected
-- The files read by the binaries of the selected packages.
select input.package_id, input.binary, file.id, job.name as job, file.name,
       file.package_id as maker, coalesce(file.size, input.size) as size,
       coalesce(file.checksum, input.checksum, file.checksum_asked) as checksum,
       coalesce(input.locator, file.locator) as locator, input.local,
       input.position
  from selected_package
  cross join input on input.package_id = selected_package.package_id
  join file on file.id = input.file_id
  join job on job.id = file.job_id
 where input.dropped = 0 and file.late = 0
 union all
select package.id, read.binary, 0, job.name, read.name, null, read.size, read.checksum, null,
       read.local, read.position
  from selected_package
  cross join forgotten_input as read on read.package_id = selected_package.package_id
  join package on package.id = read.package_id
  join job on job.id = package.job_id
 order by 1, 2, position;
