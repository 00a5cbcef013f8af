-- name: standing_stages
-- The stages of a job in the database.
select id, seq, name, require, max_running, final, lines from stage where job_id = :job order by seq;

-- name: standing_stage_order
-- The stages after which those of a job begin.
select stage_id, after_id from stage_order where job_id = :job;

-- name: name_of_job
-- The name of a job.
select name from job where id = :job;

-- name: standing_lines
-- The lines of a stage in the database.
select id, seq, name, early_start, is_open, dropped, named, unlisted
  from line where stage_id = :stage order by seq;

-- name: standing_line_order
-- The lines after which those of a stage begin.
select line_order.line_id, line_order.after_id
  from line join line_order on line_order.line_id = line.id
 where line.stage_id = :stage;

-- name: standing_packages
-- The packages of a stage in the database, with their requests.
select package.id, package.line_id, package.seq, package.name, package.phase, package.attempts,
       package.requirement_id, package.wall_time, package.looping, package.wrapper,
       package.wrapper_parameters,
       package.environment, package.policy, package.early > 0 as early, requirement.*,
       attempt.recipe_digest
  from line
  join package on package.line_id = line.id
  join requirement on requirement.id = package.requirement_id
  left join attempt on attempt.package_id = package.id and attempt.number = package.attempts
 where line.stage_id = :stage
 order by line.seq, package.seq;

-- name: standing_phases
-- The phases of the packages of a job, and their requirements.
select id, phase, requirement_id from package where job_id = :job;

-- name: standing_dropped_lines
-- The dropped lines of a job.
select line.id, line.named
  from stage
  join line on line.stage_id = stage.id
 where stage.job_id = :job and line.dropped is not null;

-- name: standing_binaries
-- The binaries of a stage in the database.
select binary.*
  from line
  join package on package.line_id = line.id
  join binary on binary.package_id = package.id
 where line.stage_id = :stage
 order by binary.package_id, binary.seq;

-- name: standing_inputs
-- The inputs of a stage's packages; files of other jobs as `JOB:NAME`.
select input.package_id, input.binary, input.position, input.file_id, input.acquire, input.required,
       input.writable, input."match", input.disposition, input.locator, input.size,
       input.checksum, input.local, input.dropped, file.pattern_id,
       iif(file.job_id = :job, '', job.name || ':') || file.name as file
  from line
  join package on package.line_id = line.id
  join input on input.package_id = package.id
  join file on file.id = input.file_id
  left join job on job.id = file.job_id
 where line.stage_id = :stage
 order by input.package_id, input.binary, input.position;

-- name: standing_outputs
-- The outputs of a stage's packages.
select file.package_id, file.id, file.binary, file.name, file.late, file.min_count,
       file.dispositions, file.locator, file.size_asked as size, file.min_size,
       file.checksum_asked as checksum
  from line
  join package on package.line_id = line.id
  join file on file.package_id = package.id and file.pattern_id is null
 where line.stage_id = :stage
 order by file.package_id, file.id;

-- name: standing_files
-- The files of a job, with their makers.
select id, name, package_id from file where job_id = :job and pattern_id is null;

-- name: standing_late_files
-- The files of a job that match late outputs, with their makers.
select id, name, package_id from file where job_id = :job and pattern_id is not null;

-- name: read_elsewhere
-- Files of a job that other jobs read, one reader each.
select file.name, job.name as job
  from need
  join job on job.id = need.job_id
  join package on package.job_id = job.id
  join input on input.package_id = package.id
  join file on file.id = input.file_id and file.job_id = need.maker_id
 where need.maker_id = :job
   and package.phase in (select name from phase where may_start = 1)
 group by file.id;

-- name: selected_ids
-- The selected packages.
select package_id from selected_package;

-- name: phases_of_selected
-- The phases of the selected packages, one by one.
select package.id, package.phase
  from selected_package join package on package.id = selected_package.package_id;

-- name: requests_of_selected
-- The requests of the selected packages.
select package.id, package.wall_time, package.environment, requirement.cpus, requirement.memory,
       requirement.gpus, requirement.disk, requirement.nodes, requirement.priority
  from selected_package
  join package on package.id = selected_package.package_id
  join requirement on requirement.id = package.requirement_id;

-- name: own_priorities
-- The packages of some stages of a job with a priority of their own, and their numbers.
select package.id, stage.seq as stage, line.seq as line, package.seq, stage.name as stage_name,
       requirement.priority
  from stage
  join line on line.stage_id = stage.id
  join package on package.line_id = line.id
  join requirement on requirement.id = package.requirement_id and requirement.priority is not null
 where stage.job_id = :job and stage.name in (select value from json_each(:stages));

-- name: choose_readers_done
-- Add to the selection packages that have read outputs of the selected ones.
insert or ignore into selected_package (package_id)
select reader.id
  from selected_package
  join file on file.package_id = selected_package.package_id
  join input on input.file_id = file.id and input.own = 0 and input.dropped = 0
  join package as reader on reader.id = input.package_id and reader.phase = 'done';

-- name: unmakable
-- A selected package of a line that the job file has no more, with a file that it has read and that
-- nothing makes any more.
select package_path.path, read.name
  from selected_package
  join forgotten_input as read on read.package_id = selected_package.package_id
  join package on package.id = selected_package.package_id
  join line on line.id = package.line_id and line.named = 2
  join package_path on package_path.package_id = package.id
 limit 1;

-- name: leave_without_use
-- Remove packages of lines that are dropped, or that their job file has no more.
delete from selected_package
 where (select line.dropped is not null or line.named = 2
          from package join line on line.id = package.line_id
         where package.id = selected_package.package_id);

-- name: choose_makers_of_absent
-- Add to the selection packages that have made these files, or those of a pattern, now removed.
insert or ignore into selected_package (package_id)
select maker.id
  from json_each(:files) as read
  cross join file on file.id = read.value and file.present = 0 and file.dropped = 0
  join package as maker on maker.id = file.package_id and maker.phase = 'done'
union
select maker.id
  from json_each(:files) as read
  cross join file on file.pattern_id = read.value and file.present = 0 and file.dropped = 0
  join package as maker on maker.id = file.package_id and maker.phase = 'done';

-- name: choose_makers_again
-- Add to the selection packages that have made inputs of the selected ones, now removed; but for
-- inputs of `anew`.
insert or ignore into selected_package (package_id)
select maker.id
  from selected_package
  join input on input.package_id = selected_package.package_id and input.own = 0 and input.dropped = 0
  join file on file.id = input.file_id and file.present = 0 and file.dropped = 0
  join package as maker on maker.id = file.package_id and maker.phase = 'done'
 where selected_package.package_id not in (select value from json_each(:anew));

-- name: correct_job
-- Change the job file's settings for a job as a whole.
update job
   set title = :title, originator = :originator, priority = :priority, parameters = :parameters,
       policy = :policy, directory = :directory, source = :source, mail = :mail,
       most_alike = :most_alike, max_running = :max_running, max_failures = :max_failures
 where id = :job;

-- name: correct_job_text
-- The job file of a job, and the one that it had before.
insert into job_text (job_id, text, previous) values (:job, :text, :previous)
on conflict (job_id) do update set text = :text, previous = :previous;

-- name: previous_job_text
-- The job file that a job had before it was corrected.
select previous from job_text where job_id = :job;

-- name: forget_needs
-- Forget that a job needs jobs of which it no longer reads anything.
delete from need
 where job_id = :job
   and not exists (select 1
                     from package
                     join input on input.package_id = package.id
                     join file on file.id = input.file_id and file.job_id = need.maker_id
                    where package.job_id = :job);

-- name: readers_of_stages
-- Other jobs that read files of these stages of a job.
select need.job_id as id, job.name
  from need join job on job.id = need.job_id
 where need.maker_id = :job
   and exists (select 1
                 from stage
                 join line on line.stage_id = stage.id
                 join package on package.line_id = line.id
                 join file on file.package_id = package.id
                 join input on input.file_id = file.id
                 join package as reader on reader.id = input.package_id
                                           and reader.job_id = need.job_id
                where stage.job_id = :job and stage.seq in (select value from json_each(:stages)))
 order by need.job_id;

-- name: needs_gone
-- Whether a job reads files of jobs that are gone, by its last job file.
select 1 from need where job_id = :job and maker_id not in (select id from job) limit 1;

-- name: additions_read
-- Whether an update that takes back lines which a job has got since then is refused: a package of
-- another job that may still be launched reads files of one. Successful, launched and dropped lines
-- would stay.
select 1
  from need
  cross join package as added on added.job_id = need.maker_id and added.added >= :since
                             and added.phase <> 'done'
  join line on line.id = added.line_id and line.dropped is null
  cross join package as maker on maker.line_id = line.id
  cross join file on file.package_id = maker.id
  cross join input on input.file_id = file.id
  cross join package as reader on reader.id = input.package_id and reader.job_id = need.job_id
                              and reader.phase in (select name from phase where may_start = 1)
 where need.maker_id = :job
   and not exists (select 1 from package as other
                    where other.line_id = line.id and other.status = 'launched')
 limit 1;

-- name: leave_behind
-- A job takes files of a stage of another one whose lines or files have changed.
update need set behind = 1 where job_id = ? and maker_id = ?;

-- name: catch_up
-- A job takes the files of other jobs as these are now.
update need set behind = 0 where job_id = :job and behind = 1;

-- name: ahead_of
-- The jobs whose lines or files have changed since a job that takes them was corrected.
select job.name from need join job on job.id = need.maker_id
 where need.job_id = :job and need.behind = 1
 order by job.id;

-- name: correct_stage
-- Change the job file's settings for a stage.
update stage
   set name = :name, require = :require, max_running = :max_running, final = :final,
       weighed = null
 where id = :stage;

-- name: forget_stage_order
-- Forget the stages before a stage.
delete from stage_order where stage_id = :stage;

-- name: close_stage
-- A stage of which nothing has begun waits for the stages before it.
update stage_order set released = 0, is_open = 0
 where stage_id = :stage
   and not exists (select 1 from package
                    where package.line_id in (select id from line where line.stage_id = :stage)
                      and (package.attempts > 0 or package.phase = 'done'));

-- name: open_added_lines
-- Lines that were added to a stage that has begun are released.
update stage_order set is_open = 1
 where stage_id = :stage and is_open = 2
   and released < (select lines from stage where stage.id = :stage);

-- name: choose_first_of_stage
-- Add the first packages of the lines of a stage to the selection.
insert or ignore into selected_package (package_id)
select package.id
  from line join package on package.line_id = line.id and package.seq = 1
 where line.stage_id = :stage;

-- name: correct_line
-- Change the job file's settings for a line.
update line set name = ?, early_start = ?, is_open = ? where id = ?;

-- name: forget_line_order
-- Forget the lines before a line.
delete from line_order where line_id = ?;

-- name: forget_dropped_inputs
-- A package does not lack its dropped inputs, as the job file does not give them to it any more.
delete from input where package_id = ? and own = 0 and dropped = 1;

-- name: leave_line
-- A line was dropped because its job file no longer has it.
update line set named = 2 where id = ? and dropped is not null;

-- name: follow_line
-- A line that the job file has again stays dropped, because its inputs are.
update line set named = 0 where id = ? and dropped is not null;

-- name: return_lines
-- Lines of a stage that are not dropped count as in the job file again.
update line set named = 0 where stage_id = ? and named = 2 and dropped is null;

-- name: list_dropped_lines
-- Dropped lines of a stage count as in the job file again.
update line set unlisted = 0 where stage_id = ? and dropped is not null and unlisted = 1;

-- name: unlist_dropped_line
-- The job file does not have a line that a person has dropped, or that lacks dropped inputs.
update line set unlisted = 1 where id = ? and dropped is not null and named <> 2;

-- name: leave_standing_line
-- The line of a successful or running package is not in the job file any more.
update line set named = 2
 where id = (select line_id from package where id = ?) and dropped is null;

-- name: correct_package
-- Change the definition of a package that is not launched.
update package
   set name = ?, requirement_id = (select requirement_id from incoming_requirement
                                    where number = ?),
       wall_time = ?, looping = ?, wrapper = ?, wrapper_parameters = ?, environment = ?,
       policy = ?, early = 0, gathered = 0, awaited = 0, accept = null, retried_with = null
 where id = ?;

-- name: change_guards_of_package
-- Change keys of a successful package that are not in its recipe.
update package set wall_time = ?, looping = ?, policy = ? where id = ?;

-- name: change_guards_of_binary
-- Likewise of a binary of it.
update binary
   set needs = ?, cpu = ?, runtime = ?, work_size = ?, log_rules = ?, progress = ?, "check" = ?,
       check_timeout = ?
 where package_id = ? and seq = ?;

-- name: change_guards_of_output
-- Likewise of an output of it.
update file set min_size = ?, min_count = ? where package_id = ? and name = ? and pattern_id is null;

-- name: readers_of_dropped
-- The successful packages of a job that have read files of lines dropped since.
select distinct package.id
  from stage
  join line on line.stage_id = stage.id
  join package on package.line_id = line.id and package.phase = 'done'
  join input on input.package_id = package.id and input.own = 0 and input.dropped = 0
  join file on file.id = input.file_id and file.dropped = 1
  join package as maker on maker.id = file.package_id
  join line as left_out on left_out.id = maker.line_id
 where stage.job_id = :job and coalesce(package.redefined, 0) < left_out.dropped;

-- name: lacking_restored
-- The successful packages of a job that have run without files that were dropped then, and are back.
select distinct lacking_restored.package_id
  from stage
  join line on line.stage_id = stage.id
  join package on package.line_id = line.id and package.phase = 'done'
  join lacking_restored on lacking_restored.package_id = package.id
 where stage.job_id = :job;

-- name: forget_outdated_packages
-- A correction decides anew which packages of a job are out of date.
delete from outdated_package where job_id = :job;

-- name: record_outdated
-- A successful package ran with another definition or other inputs than the job file has now.
insert into outdated_package (package_id, job_id, by_recipe, acceptable) values (?, ?, ?, ?);

-- name: forget_lacked_inputs
-- A correction decides anew which inputs packages of a job lack.
delete from lacked_input where package_id in (select id from package where job_id = :job);

-- name: record_lacked_input
-- A package lacks a file of its job, and differs from its job file only by such ones.
insert into lacked_input (package_id, file_id)
select ?1, id from file where job_id = ?2 and name = ?3 and pattern_id is null;

-- name: count_outdated
-- How many successful packages of a job, or of a stage or line, are out of date, how many of them by
-- their recipe, how many results may be accepted or not, and how many are made of outdated files.
select count(*) as packages, coalesce(sum(by_recipe), 0) as by_recipe,
       coalesce(sum(acceptable), 0) as acceptable,
       coalesce(sum(acceptable = 0), 0) as unacceptable,
       coalesce(sum(by_makers), 0) as by_makers
  from outdated_result
  join package on package.id = outdated_result.package_id and package.phase = 'done'
  join line on line.id = package.line_id and line.dropped is null
  join stage on stage.id = line.stage_id
 where outdated_result.job_id = :job
   and (:stage is null or stage.seq = :stage) and (:line is null or line.seq = :line);

-- name: count_outdated_of_selected
-- How many of the selected packages are out of date, how many of them by their recipe, how many
-- results may be accepted or not, and how many are made of outdated files; also those of dropped lines
-- if these come back.
select count(*) as packages, coalesce(sum(by_recipe), 0) as by_recipe,
       coalesce(sum(acceptable), 0) as acceptable,
       coalesce(sum(acceptable = 0), 0) as unacceptable,
       coalesce(sum(by_makers), 0) as by_makers
  from selected_package
  join outdated_result on outdated_result.package_id = selected_package.package_id
  join package on package.id = selected_package.package_id
  join line on line.id = package.line_id and (:restored or line.dropped is null);

-- name: packages_to_rerun
-- A package, or packages of a stage or line that have succeeded and are out of date: a limited number.
select package.id
  from job
  join stage on stage.job_id = job.id and stage.seq = :stage
  join line on line.stage_id = stage.id and line.seq = :line
  join package on package.line_id = line.id and package.seq = :package
 where job.name = :job
 union all
select package.id
  from job
  join outdated_package on outdated_package.job_id = job.id
  join package on package.id = outdated_package.package_id and package.phase = 'done'
  join line on line.id = package.line_id and line.dropped is null
            and (:line is null or line.seq = :line)
  join stage on stage.id = line.stage_id and stage.seq = :stage
 where job.name = :job and :package is null
 limit :limit;

-- name: would_mix
-- Whether these packages, or those of their jobs that read their files, would read files that a package
-- which stays as it is has made of other inputs than it has now, or that it would not make now, or what
-- was made of these; a limited number of packages is followed.
with recursive again (id) as (
    select value from json_each(:packages)
     union
    select package.id
      from again
      join package as maker on maker.id = again.id
      join file on file.package_id = again.id
      join input on input.file_id = file.id and input.own = 0 and input.dropped = 0
      join package on package.id = input.package_id and package.job_id = maker.job_id
       and package.phase in ('waiting', 'ready', 'cooloff', 'held', 'assigned', 'failed', 'done')
     limit :limit),
stale (id) as (
    select outdated_package.package_id
      from again
      join input on input.package_id = again.id and input.own = 0 and input.dropped = 0
      join file on file.id = input.file_id and file.present = 1
      join package on package.id = again.id
      join outdated_package on outdated_package.package_id = file.package_id
       and outdated_package.job_id = package.job_id
     where file.package_id not in (select id from again)
     union
    select outdated_package.package_id
      from stale
      join input on input.package_id = stale.id and input.own = 0 and input.dropped = 0
      join file on file.id = input.file_id
      join package on package.id = stale.id
      join outdated_package on outdated_package.package_id = file.package_id
       and outdated_package.job_id = package.job_id
     where file.package_id not in (select id from again)
     limit :limit)
select 1
  from stale
  join outdated_package on outdated_package.package_id = stale.id
 where outdated_package.by_recipe = 1 and outdated_package.acceptable = 0
 limit 1;

-- name: parameters_of_outdated
-- With which parameters of a retry the packages of a job, or of a stage or line, ran that are out of
-- date by their recipe; null: with those of the job.
select package.retried_with as parameters, count(*) as packages
  from outdated_package
  join package on package.id = outdated_package.package_id and package.phase = 'done'
  join line on line.id = package.line_id and line.dropped is null
  join stage on stage.id = line.stage_id
 where outdated_package.job_id = :job and outdated_package.by_recipe = 1
   and (:stage is null or stage.seq = :stage) and (:line is null or line.seq = :line)
 group by 1;

-- name: parameters_of_selected
-- With which parameters of a retry selected packages ran; null: with those of the job.
select package.retried_with as parameters, count(*) as packages
  from selected_package join package on package.id = selected_package.package_id
 group by 1;

-- name: redefine
-- A failed package runs, reads or makes something else from now on, or the results of a successful one
-- count as made as the job file says, from the files as they are.
update package set redefined = ? where id = ?;

-- name: keep_recipe
-- Keep what the attempts of selected packages ran, as their binaries are about to change.
update attempt
   set recipe = (select json_group_array(json_object(
                            'seq', binary.seq, 'script', binary.script, 'argv', binary.argv,
                            'software', binary.software, 'parameters', binary.parameters,
                            'image', binary.image))
                   from binary where binary.package_id = attempt.package_id)
 where package_id in (select package_id from selected_package) and recipe is null;

-- name: keep_software_of_runs
-- Keep with which software the attempts of selected packages ran, if with any.
update attempt
   set recipe = (select json_group_array(json_object('seq', seq, 'software', software))
                   from binary where binary.package_id = attempt.package_id)
 where package_id in (select package_id from selected_package) and recipe is null
   and exists (select 1 from binary
                where binary.package_id = attempt.package_id and software is not null);

-- name: keep_recipe_digest
-- Keep the digest of what a package has run, read and made, as that is about to change.
update attempt set recipe_digest = ?
 where package_id = ? and recipe_digest is null
   and number = (select attempts from package where id = attempt.package_id);

-- name: forget_recipe
-- The job file says again what the last attempts of selected packages ran.
update attempt set recipe = null, recipe_digest = null
 where package_id in (select package_id from selected_package) and recipe is not null
   and number = (select attempts from package where id = attempt.package_id);

-- name: correct_file
-- Change the job file's settings for a known file, and its maker.
update file
   set package_id = ?, binary = ?, dispositions = ?, late = ?, locator = ?, size_asked = ?,
       min_size = ?, checksum_asked = ?, min_count = null,
       dropped = (select phase = 'dropped' from package where package.id = ?)
 where id = ?;

-- name: drop_added_files
-- Outputs of dropped packages by another definition are dropped, too.
update file set dropped = 1
 where package_id in (select package.id
                        from selected_package
                        join package on package.id = selected_package.package_id
                       where package.phase = 'dropped')
   and dropped = 0;

-- name: unassign_selected
-- assigned -> ready: packages with another definition.
update package
   set phase = 'ready', node_id = null, staging = 0, changed = :now, actor = :actor, note = :note
 where id in (select package_id from selected_package) and phase = 'assigned';

-- name: end_cooloff_of_selected
-- cooloff -> ready: packages with another definition are tried at once.
update package
   set phase = 'ready', not_before = null, changed = :now, actor = :actor, note = :note
 where id in (select package_id from selected_package) and phase = 'cooloff' and missing = 0;

-- name: wait_corrected
-- ready, cooloff, assigned -> waiting: selected packages that now miss something.
update package
   set phase = 'waiting', node_id = null, staging = 0, not_before = null, changed = :now,
       actor = :actor, note = :note
 where id in (select package_id from selected_package) and phase in ('ready', 'cooloff', 'assigned')
   and missing > 0;

-- name: take_known_late_files
-- The selected packages that read late outputs, and the known files of these.
select input.package_id, input.binary, input.file_id as pattern, input."match", found.id, found.name
  from selected_package
  join input on input.package_id = selected_package.package_id
  join file as found on found.pattern_id = input.file_id;

-- name: read_late_file
-- A package reads a file in the way it reads its late output.
insert or ignore into input (package_id, binary, file_id, position, own, acquire, disposition,
                             required, dropped, locator, size, checksum, writable, local)
select package_id, binary, ?1, position, own, acquire, disposition, required, dropped, locator, null,
       null, writable, local
  from input
 where package_id = ?2 and binary = ?3 and file_id = ?4;

-- name: leave_out_all_dropped
-- Chosen packages run without the files of dropped lines.
update input set dropped = 1
 where own = 0 and dropped = 0 and package_id in (select package_id from selected_package)
   and (select dropped from file where file.id = input.file_id) = 1;

-- name: count_early_inputs
-- The existing inputs of selected packages that start early.
update package
   set gathered = (select count(*) from input join file on file.id = input.file_id
                    where input.package_id = package.id and input.own = 0 and input.dropped = 0
                      and file.present = 1 and file.late = 0 and file.package_id is not null),
       awaited = (select count(*) from input join file on file.id = input.file_id
                   where input.package_id = package.id and input.own = 0 and input.dropped = 0
                     and file.present = 0)
 where early > 0 and id in (select package_id from selected_package);

-- name: count_missing
-- Count the things that the selected packages wait for.
update package
   set away = null,
       missing = (select package_missing.missing from package_missing
                   where package_missing.package_id = package.id)
 where id in (select package_id from selected_package);

-- name: correct_results
-- Which files of packages that have not begun go to results/; not those that outdated packages
-- would read if they ran again. A file that is there already is replaced when it is made again,
-- even if a package reads it now.
update file
   set result = (name in (select value from json_each(:declared))
                 or (dispositions = '' and locator is null and not is_read)
                 or (result = 1 and was_made))
  from (select made.id as made_id,
               made.name in (select value from json_each(:read))
               or exists (select 1 from input join package as reader on reader.id = input.package_id
                           where input.file_id = made.id and reader.job_id = :job) as is_read,
               exists (select 1 from attempt where attempt.package_id = maker.id
                                               and attempt.outcome = 'successful') as was_made
          from file as made join package as maker on maker.id = made.package_id
         where made.job_id = :job and made.pattern_id is null
           and maker.phase in (select name from phase where may_start = 1))
 where file.id = made_id;

-- name: declared_anew
-- The declared results of a job that were none before, with their makers.
select file.id, file.late, file.present, maker.id as maker, maker.phase, package_path.path
  from json_each(:declared) as declared
  cross join file as named on named.job_id = :job and named.name = declared.value
  cross join file on file.id = named.id or file.pattern_id = named.id
  join package as maker on maker.id = file.package_id and maker.phase <> 'dropped'
  join package_path on package_path.package_id = maker.id
 where file.result = 0 and file.dropped = 0
 order by file.id;

-- name: count_not_declared
-- How many delivered files of a job are results no more by its job file, but stay in results/.
select count(*)
  from file
 where file.job_id = :job and file.result = 1 and file.pattern_id is null and file.late = 0
   and file.name not in (select value from json_each(:declared))
   and (file.dispositions <> '' or file.locator is not null
        or exists (select 1 from input join package as reader on reader.id = input.package_id
                    where input.file_id = file.id and reader.job_id = :job))
   and exists (select 1 from location where location.file_id = file.id
                                        and location.cluster_id = 1 and location.node_id is null);

-- name: undeclare_removed
-- Removed files of successful packages are results no more by the job file: none is in results/.
update file set result = 0
 where job_id = :job and result = 1 and present = 0 and pattern_id is null and late = 0
   and name not in (select value from json_each(:declared))
   and (dispositions <> '' or locator is not null
        or exists (select 1 from input join package as reader on reader.id = input.package_id
                    where input.file_id = file.id and reader.job_id = :job))
   and (select phase from package where package.id = file.package_id) = 'done'
   and not exists (select 1 from location where location.file_id = file.id);

-- name: declare_result
-- A file that its package has made, or is making, goes to results/ from now on.
update file set result = 1
 where id = ?
   and (select phase from package where package.id = file.package_id)
       not in (select name from phase where may_start = 1);

-- name: deliver_declared
-- Request a result of a successful package.
insert or ignore into transfer (file_id, cluster_id, result, wanted)
select file.id, 1, 1, ?
  from file join package on package.id = file.package_id and package.phase = 'done'
 where file.id = ? and file.result = 1 and file.present = 1 and file.late = 0;

-- name: lose_taken_files
-- Copies of a file that another package makes from now on no longer count.
insert into lost_copy (file_id, cluster_id)
select file.id, coalesce(location.cluster_id, 0)
  from file left join location on location.file_id = file.id
 where file.id = ?;

-- name: purge_taken_file
-- They are removed from the nodes.
insert into purge (node_id, path)
select location.node_id, location.path
  from location join node on node.id = location.node_id
 where location.file_id = ? and location.shared = 0;

-- name: forget_taken_file
-- Nothing is known about it until it is made.
update file set size = null, checksum = null, stored = null, partial = 0 where id = ?;
