-- name: some_cleanup_candidate
-- Whether any file may have become unneeded.
select 1 from cleanup_candidate limit 1;

-- name: find_unneeded
-- Of the candidates, the files that no consumer in any job needs any more, and how long to keep
-- them: 3 always, 2 while there is space, 1 remove, 0 as their consumers need. A disposition set by
-- a person comes first, and a reader in another job that says `deletable` comes before the maker.
-- Packages that failed or were canceled may be tried again, so they need their inputs. The youngest
-- consumers are asked first, because they end last. Outputs of tasks that are still to be merged
-- are needed. With `planned`, they are the planned files, as if these had another disposition.
insert into unneeded (file_id, rank)
select file.id,
       case iif(:planned, :disposition, file.disposition)
                             when 'retain-indef' then 3
                             when 'retain-temp' then 2
                             when 'deletable' then 1
       else max(case when file.package_id is not null and exists (
                         select 1
                           from input join package on package.id = input.package_id
                          where input.file_id = file.id and input.disposition = 'deletable'
                            and package.job_id <> file.job_id and package.phase = 'done') then 1
                when file.dispositions like '%retain-indef%' then 3
                when file.dispositions like '%retain-temp%' then 2
                when file.dispositions like '%deletable%' then 1
                else 0 end,
           coalesce((select max(case input.disposition when 'retain-indef' then 3
                                                       when 'retain-temp' then 2
                                                       when 'deletable' then 1
                                                       else 0 end)
                       from input where input.file_id = file.id), 0))
       end
  from (select file_id from cleanup_candidate where not :planned
        union all
        select file_id from planned_file where :planned) as candidate
  cross join file on file.id = candidate.file_id and file.dropped = 0
 where (file.package_id is null
        or (select phase from package where package.id = file.package_id) = 'done')
   and not exists (select 1 from transfer where transfer.file_id = file.id)
   and not exists (select 1
                     from content join dataset on dataset.id = content.dataset_id
                    where content.package_id = file.package_id and content.name = file.name
                      and content.status = 'prepared'
                      and dataset.type in ('tmpl_output', 'tmpl_log'))
   and (select 1
          from input
          join package on package.id = input.package_id
                      and package.phase not in ('transferring', 'done', 'dropped')
         where input.file_id = file.id and input.dropped = 0
         order by input.package_id desc
         limit 1) is null;

-- name: keep_unread
-- Files without readers that are stored nowhere else are kept until a person decides.
delete from unneeded
 where rank = 0
   and file_id in (select file.id
                     from unneeded
                     join file on file.id = unneeded.file_id
                    where file.package_id is not null and file.result = 0
                      and file.stored is null
                      and not exists (select 1 from input where input.file_id = file.id));

-- name: plan_selected_files
-- The selected files are planned to get another disposition.
insert into planned_file (file_id) select file_id from selected_file;

-- name: only_unneeded_copies
-- Of the unneeded files, those to remove that are neither results nor stored: their number and size.
select count(*) as files, total(file.size) as bytes
  from unneeded
  join file on file.id = unneeded.file_id and file.present = 1 and file.package_id is not null
           and file.result = 0 and file.stored is null
 where unneeded.rank < 2
   and exists (select 1 from location where location.file_id = file.id);

-- name: clear_cleanup_candidates
-- The candidates were checked.
delete from cleanup_candidate;

-- name: spare_copies
-- Copies that stay only while there is space.
update location set spare = 1
 where spare = 0 and file_id in (select file_id from unneeded where rank = 2);

-- name: find_transit
-- Copies of files that stay, at other places than where they were made, or first were.
insert into transit_copy (file_id, cluster_id)
select location.file_id, location.cluster_id
  from unneeded
  join location on location.file_id = unneeded.file_id
  join file on file.id = unneeded.file_id
 where unneeded.rank >= 2
   and (location.node_id is not null or substr(location.path, 1, length(:cache)) = :cache)
   and location.cluster_id <>
       (select retained.cluster_id
          from location as retained
          left join package on package.id = file.package_id
          left join node on node.id = package.node_id
         where retained.file_id = file.id and retained.node_id is not null
         order by retained.cluster_id is node.cluster_id desc, retained.made
         limit 1);

-- name: purge_transit
-- Have the nodes remove the copies that were only in transit.
insert into purge (node_id, path)
select location.node_id, location.path
  from transit_copy
  join location on location.file_id = transit_copy.file_id
               and location.cluster_id = transit_copy.cluster_id
 where location.node_id is not null and location.shared = 0;

-- name: transit_here
-- Those on the control host.
select location.path
  from transit_copy
  join location on location.file_id = transit_copy.file_id
               and location.cluster_id = transit_copy.cluster_id
 where location.node_id is null;

-- name: forget_transit
-- They are no copies any more; a shared one stays with the other files that need it.
delete from location
 where shared = 0
   and (file_id, cluster_id) in (select file_id, cluster_id from transit_copy);

-- name: forget_kept
-- Files to keep are not unneeded.
delete from unneeded where rank >= 2;

-- name: purge_copies
-- Have the nodes remove the unneeded copies in their caches; a shared copy is removed with the last
-- file that needs it.
insert into purge (node_id, path)
select distinct node.id, location.path
  from unneeded
  join location on location.file_id = unneeded.file_id
  join node on node.id = location.node_id
 where location.shared = 0
    or not exists (select 1 from location as other
                    where other.cluster_id = location.cluster_id and other.path = location.path
                      and other.shared = 1
                      and other.file_id not in (select file_id from unneeded));

-- name: unneeded_here
-- The unneeded copies on the control host, which were in transit.
select location.path
  from unneeded
  join location on location.file_id = unneeded.file_id and location.cluster_id = 1
 where location.node_id is null and substr(location.path, 1, length(:cache)) = :cache;

-- name: copy_here
-- Whether a path on the control host is that of a copy of a file.
select 1 from location
 where file_id = :file and cluster_id = 1 and node_id is null and path = :path;

-- name: forget_unneeded
-- The unneeded copies are no copies any more; a file in results/ is one.
delete from location
 where file_id in (select file_id from unneeded)
   and (node_id is not null or substr(path, 1, length(:cache)) = :cache);

-- name: keep_results
-- Of delivered files only the copy in results/ is left.
insert or ignore into location (file_id, cluster_id, path, made)
select file.id, 1, :results || job.name || '/' || file.name, :now
  from unneeded
  join file on file.id = unneeded.file_id and file.result = 1 and file.present = 1
  join job on job.id = file.job_id;

-- name: end_unneeded
-- Unneeded files without a copy are not present; record when the last was removed, and why.
update file
   set present = 0, removed = :now, removed_by = :why,
       removed_from = (select name from node where id = :node)
 where id in (select file_id from unneeded) and package_id is not null and present = 1
   and not exists (select 1 from location where location.file_id = file.id);

-- name: spare_of_node
-- Copies that may be removed to make space in the cache of a node, the oldest first.
select spare_copy.file_id, spare_copy.path, spare_copy.size
  from node
  join spare_copy on spare_copy.cluster_id = node.cluster_id
 where node.id = :node
 order by spare_copy.made
 limit :limit;

-- name: room_of_node
-- Copies in the cache of a node that no package needs which has not ended, and that can be had
-- again: first those that stay only while there is space, then those with another copy or from
-- outside, then those with the least run time for their size to make them again. Files that a
-- disposition keeps, or that nothing reads and are nowhere else, are for a person to purge.
select location.file_id, location.cluster_id, job.name || ':' || file.name as name,
       coalesce(file.size, 0) as size,
       exists (select 1 from location as other
                where other.file_id = file.id and other.cluster_id <> location.cluster_id)
           or (file.result = 1 and exists (select 1 from package
                                            where package.id = file.package_id
                                              and package.phase = 'done')) as is_elsewhere,
       file.package_id is null as is_outside,
       iif(file.package_id is null, 0,
           coalesce((select attempt.ended - attempt.started
                       from attempt
                      where attempt.package_id = file.package_id
                        and attempt.outcome = 'successful'
                      order by attempt.id desc
                      limit 1), 0)) as run_s
  from node
  join location on location.cluster_id = node.cluster_id and location.node_id is not null
  join file on file.id = location.file_id
  join job on job.id = file.job_id
 where node.id = :node
   and (file.package_id is null or location.spare = 1 or file.result = 1
        or file.stored is not null
        or exists (select 1 from input where input.file_id = file.id))
   and iif(file.disposition is not null, file.disposition <> 'retain-indef',
           file.dispositions not like '%retain-indef%'
           and not exists (select 1 from input
                            where input.file_id = file.id and input.disposition = 'retain-indef'))
   and not exists (select 1
                     from input
                     join package on package.id = input.package_id
                                 and package.phase not in
                                     (select name from phase where is_final = 1)
                    where input.file_id = file.id and input.dropped = 0)
   and not exists (select 1 from transfer where transfer.file_id = file.id)
   and not exists (select 1 from package
                    where package.id = file.package_id
                      and package.phase not in (select name from phase where is_final = 1))
 order by location.spare desc, is_elsewhere or is_outside desc, run_s / max(size, 1), location.made;

-- name: give_up_copy
-- A copy to give up.
insert into transit_copy (file_id, cluster_id) values (?, ?);

-- name: purge_given_up
-- Have the nodes remove the copies to give up; a shared one is removed with the last file that has it.
insert into purge (node_id, path)
select distinct location.node_id, location.path
  from transit_copy
  join location on location.file_id = transit_copy.file_id
               and location.cluster_id = transit_copy.cluster_id
 where location.shared = 0
    or not exists (select 1 from location as other
                    where other.cluster_id = location.cluster_id and other.path = location.path
                      and other.shared = 1
                      and not exists (select 1 from transit_copy as gone
                                       where gone.file_id = other.file_id
                                         and gone.cluster_id = other.cluster_id));

-- name: forget_given_up
-- They are no copies any more.
delete from location where (file_id, cluster_id) in (select file_id, cluster_id from transit_copy);

-- name: lack_given_up
-- Their files may have no copy left.
insert into unneeded (file_id, rank) select distinct file_id, 1 from transit_copy;

-- name: spend
-- Check again whether a file is needed.
insert or ignore into cleanup_candidate (file_id) values (?);

-- name: give_up_spare
-- Give up spare files: all packages that read them are still done.
update unneeded set rank = 1 where rank = 2;

-- name: purge_under_way
-- Whether a path is about to be removed, so that nothing may be copied there yet.
select 1 from purge where path = :path;

-- name: lose_absent_inputs
-- Unneeded inputs of the selected packages that were removed: to be made again.
insert into lost_copy (file_id, cluster_id)
select distinct file.id, 0
  from selected_package
  join input on input.package_id = selected_package.package_id and input.own = 0 and input.dropped = 0
  join file on file.id = input.file_id and file.package_id is not null and file.present = 0;

-- name: keep_staged
-- Record the copies from outside that wrappers have made.
insert or replace into location (file_id, cluster_id, path, node_id, made, shared, inode, mtime)
select input.file_id, node.cluster_id, reported_staged.path, node.id, :now, 1, reported_staged.inode,
       reported_staged.mtime
  from (select distinct attempt_id from reported_staged) as staging
  join attempt on attempt.id = staging.attempt_id
  join node on node.id = attempt.node_id
  join input on input.package_id = attempt.package_id
  join file on file.id = input.file_id and file.package_id is null
  cross join reported_staged indexed by reported_staged_of_attempt
          on reported_staged.attempt_id = attempt.id
         and reported_staged.locator = coalesce(input.locator, file.name);

-- name: purge_previous_staged
-- Remove the copy of an older version of a file, unless packages still read it.
insert into purge (node_id, path)
select distinct node.id, location.path
  from (select distinct attempt_id from reported_staged) as staging
  join attempt on attempt.id = staging.attempt_id
  join node on node.id = attempt.node_id
  join input on input.package_id = attempt.package_id
  join file on file.id = input.file_id and file.package_id is null
  cross join reported_staged indexed by reported_staged_of_attempt
          on reported_staged.attempt_id = attempt.id
         and reported_staged.locator = coalesce(input.locator, file.name)
  join location on location.file_id = file.id and location.cluster_id = node.cluster_id
               and location.shared = 1 and location.path <> reported_staged.path
 where not exists (select 1 from location as other
                    where other.cluster_id = location.cluster_id and other.path = location.path
                      and other.shared = 1 and other.file_id <> location.file_id);

-- name: compare_staged
-- The contents of files from outside that wrappers have copied, as the attempt that started last has
-- read them, and when the first and the last one started that has read these: only those that say
-- more than is known.
insert into staged_contents (file_id, size, checksum, first, last)
select found.file_id, found.size, found.checksum, found.first, max(found.last)
  from (select staged.id as file_id, reported_staged.size, reported_staged.checksum,
               min(max(attempt.launched, coalesce(staging.wrapper_started, 0))) as first,
               max(max(attempt.launched, coalesce(staging.wrapper_started, 0))) as last
          from (select attempt_id, (select wrapper_started from reported_end
                                     where reported_end.attempt_id = some.attempt_id) as wrapper_started
                  from (select distinct attempt_id from reported_staged) as some) as staging
          join attempt on attempt.id = staging.attempt_id
          join input on input.package_id = attempt.package_id
          join file as staged on staged.id = input.file_id and staged.package_id is null
          cross join reported_staged indexed by reported_staged_of_attempt
                  on reported_staged.attempt_id = attempt.id
                 and reported_staged.locator = coalesce(input.locator, staged.name)
         group by staged.id, reported_staged.checksum) as found
  join file on file.id = found.file_id
 where file.checksum is null
    or (file.checksum = found.checksum and file.replaced > found.first)
    or (file.checksum <> found.checksum and found.last >= coalesce(file.replaced, 0))
 group by found.file_id;

-- name: outdated_by_staged
-- The copies of files from outside elsewhere that had earlier contents than wrappers have copied.
select distinct location.file_id, location.cluster_id
  from staged_contents as other
  join file on file.id = other.file_id and file.checksum <> other.checksum
  join location on location.file_id = file.id and location.shared = 0
 where not exists (select 1
                     from reported_staged
                     join attempt on attempt.id = reported_staged.attempt_id
                     join node on node.id = attempt.node_id
                    where node.cluster_id = location.cluster_id);

-- name: confirm_outdated_by_staged
-- Copies from before a file was changed had earlier contents than wrappers have copied.
update outdated_copy set renewed = null
 where renewed <= 0
   and file_id in (select file.id
                     from staged_contents as other
                     join file on file.id = other.file_id and file.checksum <> other.checksum);

-- name: weigh_staged
-- Record the sizes of files from outside that wrappers have copied, as the attempt that started
-- last has read them: one that waits on its node for a slot reads them later. A file with other
-- contents was replaced before the first start of an attempt that has read these; one that started
-- before that has read earlier ones.
update file
   set size = other.size, checksum = other.checksum,
       replaced = case when file.checksum <> other.checksum or file.replaced > other.first
                       then other.first else file.replaced end
  from staged_contents as other
 where file.id = other.file_id;

-- name: returned_by_staged
-- The files from outside that have former contents again, which wrappers have copied.
select distinct file.id
  from staged_contents
  join file on file.id = staged_contents.file_id
  join former_content on former_content.file_id = file.id
                     and former_content.checksum = file.checksum;

-- name: unpurge_staged
-- A copy that exists again is no longer removed from its node.
delete from purge
 where id in (select purge.id
                from reported_staged
                join attempt on attempt.id = reported_staged.attempt_id
                join purge on purge.node_id = attempt.node_id and purge.path = reported_staged.path);

-- name: keep_stored
-- Record where wrappers have stored outputs.
update file
   set stored = (select json_group_array(reported_stored.locator)
                   from reported_stored
                  where reported_stored.package_id = file.package_id
                    and reported_stored.name = file.name)
  from (select distinct package_id, name from reported_stored) as stored
 where file.package_id = stored.package_id and file.name = stored.name;

-- name: report_staged
-- A copy that a wrapper has made.
insert into reported_staged (attempt_id, locator, path, size, checksum, inode, mtime)
values (?, ?, ?, ?, ?, ?, ?);

-- name: report_stored
-- An output that a wrapper has stored.
insert into reported_stored (package_id, name, locator) values (?, ?, ?);

-- name: unneeded_files
-- The unneeded files.
select file_id from unneeded;

-- name: left_to_expire
-- Attempts of failed packages whose outputs have stayed for long enough, the oldest first.
select attempt.id, attempt.left_size, package.id as package_id, attempt.node_name,
       requirement.id as requirement_id, requirement.memory, requirement.avoid, requirement.boost,
       requirement.failed_on, requirement.stay
  from attempt indexed by attempt_left
  join package on package.id = attempt.package_id and package.phase = 'failed'
  join requirement on requirement.id = package.requirement_id
 where attempt.left_size is not null and attempt.ended < :before
   and (:node is null or attempt.node_id = :node)
 order by attempt.ended
 limit :limit;

-- name: purge_expired
-- Remove the files that an attempt left for a user from its node.
insert into purge (node_id, path)
select node.id, json_extract(kept_file.value, '$.path')
  from attempt
  join node on node.id = attempt.node_id
  join json_each(attempt.retained, '$.left') as kept_file
 where attempt.id = :attempt
 union all
select node.id, json_extract(kept_file.value, '$.path')
  from attempt
  join node on node.id = attempt.node_id
  join json_each(attempt.retained, '$.files') as kept_file
 where attempt.id = :attempt and json_extract(attempt.retained, '$.whole');

-- name: forget_expired
-- And nobody can accept or deliver them any more; files for a restart stay.
update attempt
   set left_size = null,
       retained = iif(json_extract(retained, '$.whole')
                  or json_extract(retained, '$.files') = '[]' and json_extract(retained, '$.parts') = '[]',
                  null, json_set(retained, '$.left', json('[]')))
 where id = :attempt;

-- name: note_removed_outputs
-- Record that the files that an attempt left were removed, after its other notes.
insert into note (attempt_id, seq, at, text)
select :attempt, coalesce(max(seq), 0) + 1, :now, :note from note where attempt_id = :attempt;

-- name: ask_otherwise
-- Change the requests of a package.
update package set requirement_id = ? where id = ?;

-- name: makers_of_lost
-- Of these attempts, those whose folders may have an output that was lost, once it is put back.
select attempt.id
  from json_each(:attempts) as listed
  join attempt on attempt.id = listed.value and attempt.outcome = 'successful'
 where exists (select 1
                 from file
                where file.package_id = attempt.package_id and file.present = 0
                  and file.removed is null and file.checksum is not null);

-- name: purge_orphans
-- Of these attempts, which have a folder in the cache of a node, remove those that have ended, keep
-- no files and have no copy there, unless a launched package reads an output of their package.
insert into purge (node_id, path)
select :node, 'cache/' || listed.value
  from json_each(:attempts) as listed
  left join attempt on attempt.id = listed.value
  left join package on package.id = attempt.package_id
 where (attempt.id is null
        or (attempt.outcome is not null and attempt.retained is null
            and (attempt.outcome <> 'lost' or package.phase in ('done', 'canceled', 'dropped'))))
   and not exists (select 1
                     from file join location on location.file_id = file.id
                    where file.package_id = attempt.package_id
                      and instr(location.path, '/cache/' || attempt.id || '/') > 0)
   and not exists (select 1
                     from file
                     join input on input.file_id = file.id
                     join package as reader on reader.id = input.package_id
                    where file.package_id = attempt.package_id
                      and reader.is_live = 1)
   and not exists (select 1 from purge where purge.path = 'cache/' || listed.value
                                         and purge.node_id = :node);
