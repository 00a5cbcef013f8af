-- name: temporary_tables
-- The temporary tables of a writing connection for a batch.
create temp table selected_package (package_id integer primary key);
create temp view selected_package_state as
select selected_package.package_id, package.job_id, package.stage_id, package.line_id,
       package.attempt_id, package.requirement_id, package.phase, package.status, phase.is_final
  from selected_package
  join package on package.id = selected_package.package_id
  left join phase on phase.name = package.phase;
-- Other packages that have succeeded with files of the selected ones, recursively.
create temp view selected_package_reader as
with recursive reader (package_id) as (
    select package.id
      from selected_package
      join file on file.package_id = selected_package.package_id
      join input on input.file_id = file.id and input.own = 0 and input.dropped = 0
      join package on package.id = input.package_id and package.phase = 'done'
    union
    select package.id
      from reader
      join file on file.package_id = reader.package_id
      join input on input.file_id = file.id and input.own = 0 and input.dropped = 0
      join package on package.id = input.package_id and package.phase = 'done')
select package_id from reader where package_id not in (select package_id from selected_package);
create temp table excused_package (package_id integer primary key);
create temp table known_job (job_id integer primary key);
create temp table moment (at real, last integer);
create temp table needed (package_id integer primary key);
create temp table split_content (content_id integer primary key);
create temp table taken (content_id integer primary key, package_id integer);
create temp table decision (package_id integer primary key, node_id integer, choice_id integer);
create temp table reporting_attempt (attempt_id integer primary key);
create temp table reported_state (attempt_id integer primary key, wrapper_started real, started real,
                              utc_offset integer, suspended real, seq integer, phase text,
                              why text);
create temp table reported_progress (attempt_id integer primary key, seq integer, binary integer,
                                 done real, total real, percent real, line text, eta real,
                                 cpu real, rss integer);
create temp table reported_end (attempt_id integer primary key, outcome text, phase text,
                            wrapper_started real, started real, ended real, suspended real,
                            utc_offset integer, binary integer,
                            reason text, message text, exit_code integer, signal integer,
                            cpu real, rss integer, stderr text, not_before real,
                            package_id integer, partial integer, answer text,
                            requirement_id integer, wall_time real, note text, passed integer);
-- Until when attempts may have run: lost ones until the last contact with their node was noticed to
-- be over, if they were out of contact when they were given up, and so those that a person killed then.
create temp view run_end as
select attempt.id as attempt_id,
       case when attempt.outcome = 'lost'
                 or (attempt.outcome = 'killed'
                     and exists (select 1
                                   from event as killed
                                  where killed.package_id = attempt.package_id
                                    and killed.attempt_id = attempt.id
                                    and killed.old = 'unreachable'
                                    and killed.new in ('canceled', 'dropped')))
            then coalesce((select max(max(gone.at, coalesce(attempt.started, 0)))
                             from event as gone
                            where gone.package_id = attempt.package_id
                              and gone.attempt_id = attempt.id and gone.new = 'unreachable'
                              and not exists (select 1
                                                from event as later
                                               where later.package_id = attempt.package_id
                                                 and later.attempt_id = attempt.id
                                                 and later.id > gone.id
                                                 and later.at < attempt.ended)),
                          attempt.ended)
            else attempt.ended end as ended
  from attempt;
create temp table failing (attempt_id integer primary key, reason text);
create temp table failing_stage (stage_id integer primary key, packages integer, done integer);
create temp table compared (package_id integer primary key, stage_id integer);
create temp table suspect (file_id integer primary key, packages integer, excess real);
create temp table attempt_use (attempt_id integer primary key, package_id integer,
                               stage_id integer, cpus integer, waited real);
create temp table reported_binary (attempt_id integer, seq integer, started real, ended real,
                               exit_code integer, signal integer, reason text, cpu real,
                               rss integer, disk integer);
create temp table reported_output (attempt_id integer, package_id integer, name text, path text,
                               size integer, checksum text, inode integer, mtime integer,
                               partial integer);
create temp table reported_staged (attempt_id integer, locator text, path text, size integer,
                               checksum text, inode integer, mtime integer);
create index temp.reported_staged_of_attempt on reported_staged (attempt_id, locator);
create temp table staged_contents (file_id integer primary key, size integer, checksum text,
                                   first real, last real);
create temp table reported_stored (package_id integer, name text, locator text);
create temp table unneeded (file_id integer primary key, rank integer);
create temp table planned_file (file_id integer primary key);
create temp table incoming_requirement (number integer primary key, requirement_id integer);
create temp table incoming (id integer primary key, job_id integer, stage_id integer, line_id integer,
                            seq integer, name text, phase text, missing integer,
                            requirement_id integer, changed real, wall_time real, looping real,
                            wrapper text, wrapper_parameters text, environment text,
                            policy text);
create temp table reported_gap (package_id integer, seq integer, gap real);
create temp table lost_copy (file_id integer, cluster_id integer);
create temp table arrived_copy (file_id integer, cluster_id integer, result integer, path text,
                                node_id integer, size integer, checksum text, inode integer,
                                mtime integer, primary key (file_id, cluster_id, result))
                                without rowid;
create temp table selected_file (file_id integer primary key);
create temp table transit_copy (file_id integer, cluster_id integer);

-- name: temporary_choice
-- The temporary tables of a read-only connection to select files.
create temp table if not exists selected_file (file_id integer primary key);

-- name: temporary_sizes
-- Let the planner believe that the temporary tables have a row, so that joins start at them.
analyze temp;
insert into temp.sqlite_stat1 (tbl, stat)
select name, iif(name = 'failing', '4', '1') from temp.sqlite_schema
 where type = 'table'
   and name not in ('arrived_copy', 'incoming_requirement', 'moment', 'reported_staged',
                    'sqlite_stat1', 'suspect');
insert into temp.sqlite_stat1 (tbl, idx, stat)
values ('arrived_copy', 'arrived_copy', '1 1 1 1'),
       ('reported_staged', 'reported_staged_of_attempt', '1 1 1');
analyze temp.sqlite_schema;

-- name: choose_package
-- Add a package to the selection.
insert or ignore into selected_package (package_id) values (?);

-- name: decide
-- Add a decision.
insert or replace into decision (package_id, node_id) values (?, ?);

-- name: decide_with_reason
-- Add a decision, and the row that says why.
insert or replace into decision (package_id, node_id, choice_id) values (?, ?, ?);

-- name: hide_known_jobs
-- Make queries of this connection see only jobs that are not known from elsewhere.
create temp view job as
select * from main.job where id not in (select job_id from known_job);

-- name: know_job
-- Record that a job is known from elsewhere.
insert into known_job (job_id) values (?);
