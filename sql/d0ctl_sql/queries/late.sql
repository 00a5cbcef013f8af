-- name: late_patterns
-- The late outputs of the packages in a batch of messages.
select file.id, file.name, file.package_id, file.job_id
  from reporting_attempt
  join attempt on attempt.id = reporting_attempt.attempt_id
  join file on file.package_id = attempt.package_id and file.late = 1
 order by file.id;

-- name: file_of_name
-- The file of a name in a job, and the package that makes it.
select file.id, file.package_id, file.pattern_id,
       (select path from package_path where package_id = file.package_id) as path
  from file
 where file.job_id = :job and file.name = :name;

-- name: files_of_pattern
-- The files that have matched a late output.
select id, name from file where pattern_id = :pattern;

-- name: matches_of_pattern
-- The patterns by which packages read parts of a late output.
select distinct "match" from input where file_id = :pattern and "match" is not null;

-- name: newest_file
-- The highest id of all files.
select coalesce(max(id), 0) from file;

-- name: make_late_files
-- Insert files that matched a late output; all but their names comes from it.
insert into file (job_id, name, package_id, binary, dropped, locator, size_asked, min_size,
                  dispositions, result, pattern_id)
select file.job_id, made.value, file.package_id, file.binary, file.dropped, file.locator,
       file.size_asked, file.min_size, file.dispositions, file.result, file.id
  from file cross join json_each(:names) as made
 where file.id = :pattern;

-- name: take_late_files
-- Make the new files inputs of the packages that read the late output, or only of those that ask
-- for these files.
insert into input (package_id, binary, file_id, position, own, acquire, disposition, required,
                   dropped, locator, size, checksum, writable, local)
select reader.package_id, reader.binary, made.id, reader.position, reader.own, reader.acquire,
       reader.disposition, reader.required, reader.dropped, reader.locator, null, null,
       reader.writable, reader.local
  from json_each(:names) as name
 cross join file as made on made.job_id = :job and made.name = name.value
 cross join input as reader on reader.file_id = :pattern and reader."match" is :match;

-- name: miss_late_files
-- Add the new files of a late output to the missing inputs of its readers.
update package
   set missing = missing + (select count(*)
                              from input
                              join file as made on made.id = input.file_id
                             where input.package_id = package.id and input.own = 0
                               and input.dropped = 0 and made.pattern_id = :pattern
                               and made.id > :before)
 where early = 0
   and id in (select package_id from input where file_id = :pattern and own = 0 and dropped = 0);

-- name: await_late_files
-- Add the new files of a late output to the awaited inputs of readers that start early.
update package
   set awaited = awaited + (select count(*)
                              from input
                              join file as made on made.id = input.file_id
                             where input.package_id = package.id and input.own = 0
                               and input.dropped = 0 and made.pattern_id = :pattern
                               and made.id > :before)
 where early > 0
   and id in (select package_id from input where file_id = :pattern and own = 0 and dropped = 0);

-- name: unassign_late_readers
-- assigned -> ready: the package reads new files of a late output.
update package
   set phase = 'ready', node_id = null, staging = 0, changed = :now, actor = null,
       note = 'inputs-changed'
 where phase = 'assigned'
   and id in (select input.package_id
                from file as made
                join input on input.file_id = made.id
               where made.pattern_id = :pattern and made.id > :before);

-- name: keep_late_names
-- Keep of which names the files of a late output are, and when these replaced others.
update file set checksum = :checksum, replaced = iif(checksum <> :checksum, :now, replaced)
 where id = :pattern and checksum is not :checksum;

-- name: find_late
-- Mark the files of a late output as known.
update file set present = 1 where id = ?;

-- name: unassign_readers
-- assigned -> ready: the inputs of the package have changed.
update package
   set phase = 'ready', node_id = null, staging = 0, changed = :now, actor = null,
       note = 'inputs-changed'
 where phase = 'assigned' and id in (select package_id from input where file_id = :file);

-- name: keep_forgotten_inputs
-- Keep what successful packages have read of a file that is about to be removed.
insert or replace into forgotten_input (package_id, binary, name, position, local, size, checksum)
select input.package_id, input.binary, file.name, input.position, input.local, file.size,
       file.checksum
  from input
  join file on file.id = input.file_id
  join package on package.id = input.package_id and package.phase = 'done'
 where input.file_id = :file and input.own = 0 and input.dropped = 0;

-- name: leave_lists
-- Drop a file that is no longer made from all inputs.
update input set dropped = 1 where file_id = :file and dropped = 0;

-- name: forget_streamed_late_inputs
-- Delete all announcements of a file.
delete from streamed_input where file_id = :file;

-- name: forget_late_inputs
-- Delete all inputs of a file.
delete from input where file_id = :file;

-- name: forget_late_transfers
-- Delete all requests for copies of a file.
delete from transfer where file_id = :file;

-- name: forget_late_locations
-- Delete the locations of a file; its copies are removed together with the attempts that made them.
delete from location where file_id = :file;

-- name: forget_late_file
-- Delete a file.
delete from file where id = :file;

-- name: jobs_with_open_lines
-- Jobs whose lines for groups of late outputs lack only the names of the files, and these are now
-- known.
select distinct job.id, job.name
  from line indexed by line_open
 cross join package on package.line_id = line.id and package.seq = 1
 cross join job on job.id = package.job_id
 where line.is_open = 1 and package.phase = 'waiting' and package.missing = 1
   and job.visible = 1 and job.hold = 0 and (:job is null or job.id = :job);

-- name: late_names
-- Number of files that have matched the late outputs of a job, and the highest id of them.
select count(*) as files, coalesce(max(found.id), 0) as newest
  from file as pattern
  join file as found on found.pattern_id = pattern.id
 where pattern.job_id = :job and pattern.late = 1;

-- name: leave_to_lines
-- Remove inputs of the package that stands for all groups that were taken over by lines of their
-- own, so that its list shrinks step by step.
delete from input
 where package_id in (select package.id
                        from line indexed by line_open
                       cross join package on package.line_id = line.id
                       where line.is_open = 1 and package.job_id = :job)
   and file_id in (select input.file_id
                     from selected_package
                     join input on input.package_id = selected_package.package_id and input.own = 0
                     join file on file.id = input.file_id and file.pattern_id is not null
                    where file.present = 1);

-- name: known_late_outputs
-- The known late outputs of a job with their files; those of dropped lines have none.
select pattern.name as pattern, found.name, found.size
  from file as pattern
  left join file as found on found.pattern_id = pattern.id and found.dropped = 0
 where pattern.job_id = :job and pattern.late = 1 and (pattern.present = 1 or pattern.dropped = 1)
 order by pattern.id, found.name;

-- name: is_in_groups
-- 1 if a package reads a single file of a late output, as the members of groups do.
select exists (select 1
                 from file as found
                 join input on input.file_id = found.id and input.dropped = 0
                where found.pattern_id = :pattern
                  and not exists (select 1 from input as whole
                                   where whole.package_id = input.package_id
                                     and whole.file_id = :pattern));
