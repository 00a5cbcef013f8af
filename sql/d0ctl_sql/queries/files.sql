-- name: lose_copy
-- Record a copy as lost, unless the whole cache is in doubt.
insert into lost_copy (file_id, cluster_id)
select gone.column1, gone.column2
  from (values (?, ?)) as gone
 where not exists (select 1 from node where cluster_id = gone.column2 and doubted is not null);

-- name: some_lost
-- 1 if any copy is recorded as lost.
select 1 from lost_copy limit 1;

-- name: spare_delivered
-- Of lost files that were delivered, the copy in results/ is left, unless it is the lost one.
insert or replace into location (file_id, cluster_id, path, made)
select distinct file.id, 1, :results || job.name || '/' || file.name, :now
  from lost_copy
  join file on file.id = lost_copy.file_id
  join delivered_result on delivered_result.file_id = file.id
  join job on job.id = file.job_id
 where not exists (select 1 from location as other
                    where other.file_id = file.id
                      and (other.path = :results || job.name || '/' || file.name
                           or not exists (select 1 from lost_copy as too
                                           where too.file_id = other.file_id
                                             and too.cluster_id = other.cluster_id)));

-- name: delivered_are_there
-- The copies in results/ just found are not lost: another one on this machine was.
delete from lost_copy
 where cluster_id = 1
   and exists (select 1
                 from file
                 join job on job.id = file.job_id
                 join location on location.file_id = file.id and location.cluster_id = 1
                where file.id = lost_copy.file_id and location.made = :now
                  and location.path = :results || job.name || '/' || file.name);

-- name: forget_copies
-- Delete the locations of lost copies.
delete from location
 where (file_id, cluster_id) in (select file_id, cluster_id from lost_copy);

-- name: lose_files
-- Mark files of which the last copy was lost as not present.
update file
   set present = 0, removed = null, removed_by = null, removed_from = null
 where id in (select file_id from lost_copy) and package_id is not null and present = 1
   and not exists (select 1 from location where location.file_id = file.id);

-- name: wait_again
-- ready, assigned -> waiting: an input was lost, or the package before it in its line will run
-- again.
update package
   set phase = 'waiting', node_id = null, staging = 0, changed = :now, actor = null,
       note = 'input-lost'
 where phase in ('ready', 'assigned') and missing > 0
   and id in (select input.package_id from lost_copy
                join input on input.file_id = lost_copy.file_id
               union
              select after.id
                from lost_copy
                join file on file.id = lost_copy.file_id
                join package as maker on maker.id = file.package_id and maker.phase = 'waiting'
                join package as after on after.line_id = maker.line_id
                                     and after.seq = maker.seq + 1);

-- name: plan_anew
-- assigned -> ready: the copy near its node was lost but another exists, or the package starts
-- early and can begin without the file.
update package
   set phase = 'ready', node_id = null, staging = 0, changed = :now, actor = null,
       note = 'input-copy-lost'
 where phase = 'assigned'
   and id in (select input.package_id
                from lost_copy
                join file on file.id = lost_copy.file_id
                join input on input.file_id = lost_copy.file_id
                join package on package.id = input.package_id and package.phase = 'assigned'
                join node on node.id = package.node_id
               where node.cluster_id = lost_copy.cluster_id or file.present = 0);

-- name: end_lost_transfers
-- Cancel transfers of files that are not present; packages request them again once the files exist.
delete from transfer
 where result = 0
   and file_id in (select file.id from lost_copy join file on file.id = lost_copy.file_id
                    where file.package_id is not null and file.present = 0);

-- name: leave_out_lost
-- Lost files of dropped lines are not made again: packages that have not started, and running ones
-- that wait for more inputs, go on without them if another input remains.
update input
   set dropped = 1
 where own = 0 and dropped = 0 and required = 0
   and file_id in (select file.id from lost_copy join file on file.id = lost_copy.file_id
                    where file.dropped = 1 and file.present = 0)
   and (select phase in ('waiting', 'ready', 'cooloff', 'held', 'failed', 'canceled')
               or (early = 1 and phase in (select name from phase where is_active = 1))
          from package where package.id = input.package_id)
   and exists (select 1
                 from input as other
                 join file on file.id = other.file_id and (file.dropped = 0 or file.present = 1)
                where other.package_id = input.package_id and other.own = 0
                  and other.dropped = 0);

-- name: remake_packages
-- done, transferring -> waiting: the last copy of an output was lost and is still needed.
update package
   set phase = 'waiting', node_id = null, changed = :now, actor = null,
       note = 'output-lost'
 where phase in ('done', 'transferring')
   and id in (select file.package_id
                from lost_copy
                join file on file.id = lost_copy.file_id and file.present = 0
                         and file.dropped = 0
               where exists (select 1
                               from input
                               join package as consumer on consumer.id = input.package_id
                              where input.file_id = file.id and input.dropped = 0
                                and input.own = 0
                                and consumer.phase not in ('done', 'transferring', 'canceled',
                                                           'dropped'))
                  or exists (select 1 from transfer
                              where transfer.file_id = file.id and transfer.result = 1));

-- name: lost_after_remake
-- Record inputs of remade packages that are not present either, so that their makers run again.
insert into lost_copy (file_id, cluster_id)
select distinct file.id, 0
  from lost_copy
  join file as lost on lost.id = lost_copy.file_id
  join package on package.id = lost.package_id and package.phase = 'waiting'
  join input on input.package_id = package.id and input.own = 0 and input.dropped = 0
  join file on file.id = input.file_id and file.present = 0 and file.package_id is not null
 where not exists (select 1 from lost_copy as known where known.file_id = file.id);

-- name: remade_for_jobs
-- How many packages of which job run again, as other jobs read their lost files; these jobs, in a
-- remark.
with remade as (
    select distinct package.id, package.job_id
      from lost_copy
      join file on file.id = lost_copy.file_id
      join package on package.id = file.package_id and package.phase = 'waiting'
                  and package.changed = :now and package.note = 'output-lost')
select job.name as job,
       (select count(*) from remade as counted where counted.job_id = job.id) as packages,
       json_object('remark', 'remade-for',
                   'readers', json_group_array(distinct reader_job.name)) as note
  from remade
  join job on job.id = remade.job_id
  join file on file.package_id = remade.id and file.present = 0
  join input on input.file_id = file.id and input.own = 0 and input.dropped = 0
  join package as reader on reader.id = input.package_id and reader.job_id <> remade.job_id
                        and reader.phase not in ('done', 'transferring', 'canceled', 'dropped')
  join job as reader_job on reader_job.id = reader.job_id
 group by job.id;

-- name: wanted_transfers
-- Transfers that are due, with the facts of their files.
select transfer.file_id, transfer.cluster_id, transfer.result, transfer.tries,
       file.name, file.size, file.checksum, file.package_id, file.job_id, job.name as job,
       file.locator, file.size_asked, file.checksum_asked, file.result as is_result,
       (select path from location
         where location.file_id = file.id and location.cluster_id = 1) as here
  from transfer
  join file on file.id = transfer.file_id
  join job on job.id = file.job_id
 where transfer.not_before <= :now
 order by transfer.not_before, transfer.wanted, transfer.file_id
 limit :limit;

-- name: has_due_result
-- 1 if a result of a successful package of a job is to be copied, and no try has failed.
select 1
  from transfer
  cross join file on file.id = transfer.file_id and file.job_id = :job
  join package on package.id = file.package_id and package.phase = 'done'
 where transfer.not_before = 0 and transfer.result = 1
 limit 1;

-- name: gathering_packages
-- Packages that wait for many files, of which this batch of messages made some.
select distinct input.package_id
  from reported_output
  join package as maker on maker.id = reported_output.package_id
  join file on file.job_id = maker.job_id and file.name = reported_output.name
           and +file.package_id = maker.id and file.present = 1
  join input on input.file_id = file.id and input.own = 0 and input.dropped = 0
            and input.acquire = 'pre-fetch'
  join package on package.id = input.package_id and package.phase = 'waiting'
              and package.early = 0 and package.missing >= :least;

-- name: waiting_requirement
-- The requirement of a waiting package.
select requirement.*
  from package join requirement on requirement.id = package.requirement_id
 where package.id = :package and package.phase = 'waiting';

-- name: gather_inputs
-- Request the inputs of a waiting package that exist but have no copy in a cluster.
insert or ignore into transfer (file_id, cluster_id, wanted)
select distinct input.file_id, :cluster, :now
  from input
  join file on file.id = input.file_id and file.package_id is not null and file.present = 1
           and file.late = 0 and file.size <= :most
 where input.package_id = :package and input.own = 0 and input.dropped = 0
   and input.acquire = 'pre-fetch'
   and not exists (select 1 from location
                    where location.file_id = input.file_id
                      and location.cluster_id = :cluster);

-- name: copies_of
-- The nodes from which a file can be copied: first the node of its maker, last those whose cache is
-- in doubt.
select location.cluster_id, location.path, node.id as node_id, node.name as node, node.state,
       node.doubted
  from location left join node on node.cluster_id = location.cluster_id
 where location.file_id = :file
 order by node.doubted is not null, node.id = location.node_id desc, node.id;

-- name: nodes_of_cluster
-- Nodes of a cluster that are up, with the free space of their disks.
select id, name, base, facts ->> 'disk_free' as disk_free
  from node
 where cluster_id = :cluster and state = 'up'
 order by id;

-- name: want_here
-- Request a copy on the control host, through which files between nodes pass.
insert or ignore into transfer (file_id, cluster_id, result, wanted) values (:file, 1, 0, :now);

-- name: add_arrived
-- Add a copy to the batch.
insert or replace into arrived_copy
values (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: postpone_outdated
-- Repeat transfers of files that were made again during the transfer.
update transfer set not_before = :now
 where (file_id, cluster_id, result) in
       (select arrived_copy.file_id, arrived_copy.cluster_id, arrived_copy.result
          from arrived_copy join file on file.id = arrived_copy.file_id
         where file.package_id is not null and file.checksum <> arrived_copy.checksum);

-- name: forget_outdated
-- Remove those outdated copies from the batch.
delete from arrived_copy
 where not exists (select 1 from file
                    where file.id = arrived_copy.file_id
                      and (file.package_id is null or file.checksum is null
                           or file.checksum = arrived_copy.checksum));

-- name: keep_arrived_locations
-- Record where the copies arrived; ignore clusters that were removed during the transfer.
insert or replace into location (file_id, cluster_id, path, node_id, made, inode, mtime)
select arrived_copy.file_id, arrived_copy.cluster_id, arrived_copy.path, arrived_copy.node_id,
       :now, arrived_copy.inode, arrived_copy.mtime
  from arrived_copy join cluster on cluster.id = arrived_copy.cluster_id
 where arrived_copy.result = 0;

-- name: renew_arrived_copies
-- Outdated copies that were copied anew.
update outdated_copy set renewed = iif(renewed is null, :now, max(-renewed, 1))
 where coalesce(renewed, 0) <= 0
   and (file_id, cluster_id) in (select file_id, cluster_id from arrived_copy where result = 0);

-- name: outdated_by_arrived
-- The copies of files from outside elsewhere that had earlier contents than arrived ones.
select location.file_id, location.cluster_id
  from arrived_copy
  join file on file.id = arrived_copy.file_id and file.package_id is null
           and file.checksum <> arrived_copy.checksum
  join location on location.file_id = file.id and location.shared = 0
 where arrived_copy.result = 0
   and not exists (select 1 from arrived_copy as other
                    where other.file_id = location.file_id
                      and other.cluster_id = location.cluster_id and other.result = 0);

-- name: confirm_outdated
-- Copies from before a file was changed had earlier contents than arrive now.
update outdated_copy set renewed = null
 where renewed <= 0
   and file_id in (select file.id
                     from arrived_copy
                     join file on file.id = arrived_copy.file_id
                              and file.checksum <> arrived_copy.checksum
                    where arrived_copy.result = 0);

-- name: suspect_copy
-- A copy may have earlier contents than its file, which was touched since.
insert into outdated_copy (file_id, cluster_id, renewed) values (?, ?, 0)
on conflict (file_id, cluster_id) do update set renewed = -abs(renewed);

-- name: outdate_copy
-- A copy has earlier contents than its file.
insert or replace into outdated_copy (file_id, cluster_id, renewed) values (?, ?, null);

-- name: keep_arrived_files
-- Record size and checksum of the arrived files, and mark lost ones as present again.
update file
   set present = 1, size = arrived_copy.size, checksum = arrived_copy.checksum,
       replaced = iif(package_id is null and file.checksum <> arrived_copy.checksum, :now, replaced)
  from arrived_copy
 where file.id = arrived_copy.file_id and arrived_copy.result = 0
   and (file.present = 0 or file.size is not arrived_copy.size
        or file.checksum is not arrived_copy.checksum);

-- name: returned_by_arrived
-- The files from outside that have former contents again, which have arrived now.
select distinct file.id
  from arrived_copy
  join file on file.id = arrived_copy.file_id and file.package_id is null and file.replaced = :now
  join former_content on former_content.file_id = file.id
                     and former_content.checksum = file.checksum
 where arrived_copy.result = 0;

-- name: sources_of_outdated
-- The first files from this machine, as they were last, of jobs of which packages are out of date, not
-- by their recipe. Only these files have absolute names.
select file.id, file.name, file.size, file.checksum, job.submitted
  from job
  join file on file.job_id = job.id and file.name >= '/' and file.name < '0'
            and file.package_id is null and file.locator is null and file.checksum > ''
 where exists (select 1 from outdated_package
                where outdated_package.job_id = job.id and outdated_package.by_recipe = 0)
 limit :limit;

-- name: choose_excused
-- Packages that are out of date, not by their recipe, and read the `returned` files, and, recursively,
-- such readers of their files in the same job.
insert into excused_package (package_id)
with recursive excused (package_id) as (
    select input.package_id
      from json_each(:returned) as listed
      cross join input on input.file_id = listed.value and input.own = 0 and input.dropped = 0
      cross join outdated_package on outdated_package.package_id = input.package_id
                                 and outdated_package.by_recipe = 0
    union
    select input.package_id
      from excused
      cross join file on file.package_id = excused.package_id
      cross join input on input.file_id = file.id and input.own = 0 and input.dropped = 0
      cross join outdated_package on outdated_package.package_id = input.package_id
                                 and outdated_package.by_recipe = 0
                                 and outdated_package.job_id = file.job_id)
select package_id from excused;

-- name: sources_of_excused
-- The files from this machine that these packages have read, as they were last.
select file.id, file.name, file.size, file.checksum, job.submitted
  from (select distinct input.file_id
          from excused_package
          cross join input on input.package_id = excused_package.package_id and input.own = 0
                          and input.dropped = 0) as read
  join file on file.id = read.file_id and file.package_id is null and file.locator is null
            and file.checksum > ''
  join job on job.id = file.job_id
 limit :limit;

-- name: excuse
-- These packages are up to date again unless there is another reason: they lack files or have read
-- dropped ones, earlier contents, also of the `edited` files, or what was made by others that are out of
-- date.
delete from outdated_package
 where package_id in (select package_id from excused_package)
   and package_id not in (
    with recursive stale (package_id) as (
        select excused_package.package_id
          from excused_package
         where exists (select 1 from lacking_restored
                        where lacking_restored.package_id = excused_package.package_id)
            or exists (select 1 from earlier_reader
                        where earlier_reader.package_id = excused_package.package_id)
            or exists (select 1
                         from input
                         join file on file.id = input.file_id
                        where input.package_id = excused_package.package_id and input.own = 0
                          and input.dropped = 0
                          and (file.dropped = 1
                               or file.id in (select value from json_each(:edited))
                               or exists (select 1 from outdated_package as maker
                                           where maker.package_id = file.package_id
                                             and maker.job_id = file.job_id
                                             and maker.package_id not in
                                                 (select package_id from excused_package))))
        union
        select input.package_id
          from stale
          cross join file on file.package_id = stale.package_id
          cross join input on input.file_id = file.id and input.own = 0 and input.dropped = 0
         where input.package_id in (select package_id from excused_package))
    select package_id from stale);

-- name: wake_arrived_transfers
-- Resume transfers of these files that were postponed because there was no source.
update transfer set not_before = 0
 where not_before >= :parked
   and file_id in (select file_id from arrived_copy where result = 0);

-- name: forget_unwanted
-- Remove copies from the batch that nobody requests any more; they change no package.
delete from arrived_copy
 where not exists (select 1 from transfer
                    where transfer.file_id = arrived_copy.file_id
                      and transfer.cluster_id = arrived_copy.cluster_id
                      and transfer.result = arrived_copy.result);

-- name: end_arrived_transfers
-- Delete the requests for copies that have arrived.
delete from transfer
 where (file_id, cluster_id, result) in (select file_id, cluster_id, result from arrived_copy);

-- name: arrived
-- Subtract the arrived files from the number of files that assigned packages of their cluster wait
-- for.
update package
   set staging = max(0, staging - here.files)
  from (select input.package_id, node.id as node_id, count(distinct input.file_id) as files
          from arrived_copy
          join node on node.cluster_id = arrived_copy.cluster_id
          join input on input.file_id = arrived_copy.file_id
                    and input.own = 0 and input.dropped = 0 and input.acquire = 'pre-fetch'
         where arrived_copy.result = 0
         group by input.package_id, node.id) as here
 where package.id = here.package_id and package.node_id = here.node_id
   and package.phase = 'assigned' and package.staging > 0;

-- name: delivered
-- transferring -> done: the last result has arrived.
update package
   set phase = 'done', changed = :now, actor = null, note = null
 where id in (select file.package_id
                from arrived_copy join file on file.id = arrived_copy.file_id
               where arrived_copy.result = 1)
   and phase = 'transferring'
   and not exists (select 1 from file join transfer on transfer.file_id = file.id
                    where file.package_id = package.id and transfer.result = 1);

-- name: keep_forwarded
-- Record outputs as stored under their locators.
update file set stored = json_array(locator)
 where id in (select stored.id
                from arrived_copy join file as stored on stored.id = arrived_copy.file_id
               where arrived_copy.result = 1 and stored.locator is not null
                 and (stored.result = 0 or arrived_copy.cluster_id <> 1));

-- name: is_outside
-- 1 if a file comes from outside.
select 1 from file where id = :file and package_id is null;

-- name: copies_of_sources
-- The copies of files from this machine that the selected packages read, and when they were made.
-- Copies that wrappers make follow the file by themselves.
select distinct location.file_id, location.cluster_id, file.name, file.size, location.made
  from selected_package
  cross join input on input.package_id = selected_package.package_id and input.own = 0
            and input.dropped = 0 and input.acquire = 'pre-fetch' and input.locator is null
  join file on file.id = input.file_id and file.package_id is null and file.locator is null
  join location on location.file_id = file.id and location.shared = 0;

-- name: take_contents
-- The present contents of a file from outside are the known ones, if a selected package has read it.
update file set size = :size, checksum = :checksum, replaced = :now
 where id = :file
   and exists (select 1
                 from input
                 join selected_package on selected_package.package_id = input.package_id
                where input.file_id = file.id and input.dropped = 0);

-- name: sources_of_job
-- The files from this machine that packages of a job have read, as they were last.
select file.id, file.name, file.size, file.checksum, job.submitted, file.replaced,
       exists (select 1 from former_content where file_id = file.id) as has_former
  from job join file on file.job_id = job.id
 where job.id = :job and file.package_id is null and file.locator is null
   and file.checksum > '';

-- name: sources_of_package
-- The first files from this machine that a package has read, as they were last.
select file.id, file.name, file.size, file.checksum, job.submitted, file.replaced,
       exists (select 1 from former_content where file_id = file.id) as has_former
  from input
  join file on file.id = input.file_id and file.package_id is null and file.locator is null
            and file.checksum > ''
  join job on job.id = file.job_id
 where input.package_id = :package and input.dropped = 0
 limit :limit;

-- name: choose_makers_above
-- Choose the packages that made the files which a package has read, and those that these have read, and
-- so on: a limited number.
insert or ignore into selected_package (package_id)
with recursive above (id) as (
    select file.package_id
      from input join file on file.id = input.file_id and file.package_id is not null
     where input.package_id = :package and input.dropped = 0 and input.own = 0
     union
    select file.package_id
      from above
      join input on input.package_id = above.id and input.dropped = 0 and input.own = 0
      join file on file.id = input.file_id and file.package_id is not null
     limit :limit)
select id from above;

-- name: sources_of_selected
-- The first files from this machine that the selected packages have read, as they were last.
select distinct file.id, file.name, file.size, file.checksum, job.submitted, file.replaced,
       exists (select 1 from former_content where file_id = file.id) as has_former
  from selected_package
  join input on input.package_id = selected_package.package_id and input.dropped = 0
  join file on file.id = input.file_id and file.package_id is null and file.locator is null
            and file.checksum > ''
  join job on job.id = file.job_id
 limit :limit;

-- name: stale_of_selected
-- How many of the selected packages have succeeded, and are out of date or have read earlier contents of
-- files than those in `edited` or the known ones, and the first of them.
with edited (file_id, checksum) as materialized (
    select cast("key" as integer), value from json_each(:edited))
select package_path.path, count(*) over () as number
  from selected_package
  join package on package.id = selected_package.package_id and package.phase = 'done'
  join line on line.id = package.line_id and line.named <> 2 and line.dropped is null
  join package_path on package_path.package_id = package.id
 where exists (select 1 from outdated_package where package_id = package.id)
    or exists (select 1
                 from edited
                 join read_content on read_content.package_id = package.id
                                  and read_content.file_id = edited.file_id
                                  and read_content.checksum is not edited.checksum)
    or exists (select 1
                 from input
                 join earlier_reader on earlier_reader.package_id = input.package_id
                                    and earlier_reader.file_id = input.file_id
                where input.package_id = package.id
                  and input.file_id not in (select file_id from edited))
 order by package.id
 limit 1;

-- name: failed_makers
-- How many packages of a job, or whether one, have succeeded with files, or with what was made of these,
-- of how many packages that have failed or were canceled then, one of these, and whether all of them have
-- failed; a limited number is followed.
with recursive below (id, maker) as (
    select id, id
      from (select package.id
              from package
             where package.job_id in (select :job
                                       union all
                                      select maker_id from need where job_id = :job)
               and package.phase in ('failed', 'canceled')
             limit :most_failed)
     union
    select input.package_id, below.maker
      from below
      join file on file.package_id = below.id
      join input on input.file_id = file.id and input.own = 0 and input.dropped = 0
     limit :limit)
select count(distinct reader.id) as readers, count(distinct maker.id) as makers,
       min(maker.id) as first, min(maker.phase = 'failed') as has_failed
  from below
  join package as reader on reader.id = below.id and reader.phase = 'done' and reader.job_id = :job
       and (:package is null or reader.id = :package)
  join package as maker on maker.id = below.maker;

-- name: earlier_read_by
-- The files of which a package has succeeded with earlier contents than those in `edited`, or than the
-- known ones; none if the package is dropped, or not in the job file any more.
with edited (file_id, checksum) as materialized (
    select cast("key" as integer), value from json_each(:edited))
select distinct file.name
  from package
  join line on line.id = package.line_id and line.named <> 2 and line.dropped is null
  join input on input.package_id = package.id and input.dropped = 0 and input.own = 0
  join file on file.id = input.file_id
 where package.id = :package and package.phase = 'done'
   and (exists (select 1
                  from edited
                  join read_content on read_content.package_id = package.id
                                   and read_content.file_id = edited.file_id
                                   and read_content.checksum is not edited.checksum
                 where edited.file_id = file.id)
        or (file.id not in (select file_id from edited)
            and exists (select 1 from earlier_reader
                         where package_id = package.id and file_id = file.id)))
 order by file.name;

-- name: edited_since_read
-- Those of the `edited` files of which the last attempt at a package has read other contents.
select read_content.file_id
  from json_each(:edited) as edited
  join read_content on read_content.package_id = :package
                   and read_content.file_id = cast(edited."key" as integer)
                   and read_content.checksum is not edited.value;

-- name: readers_of_earlier
-- The packages of a job that have read earlier contents of files than those in `edited`, or than the
-- known ones of files that came or were made again.
with edited (file_id, checksum) as materialized (
    select cast("key" as integer), value from json_each(:edited))
select read_content.package_id, file.name
  from edited
  join file on file.id = edited.file_id
  join read_content on read_content.file_id = file.id
                   and read_content.checksum is not edited.checksum
union
select earlier_reader.package_id, file.name
  from file
  join earlier_reader on earlier_reader.file_id = file.id
  join package as reader on reader.id = earlier_reader.package_id and reader.job_id = :job
 where file.job_id in (select :job union all select maker_id from need where job_id = :job)
   and file.replaced is not null and file.id not in (select file_id from edited);

-- name: done_with_earlier
-- How many packages of a job have succeeded with earlier contents of files: than those in `edited`, or
-- than the known ones of one that came or was made again, of this or another job. Packages known to be
-- out of date count only if a package has made the file again, and those that the job file has no more never
-- do. The path is that of the only package, of their only stage, or of the job; `last_ended` is when the
-- last of them ended. `stage` and `line` select a part of the job.
with edited (file_id, checksum) as materialized (
    select cast("key" as integer), value from json_each(:edited))
select name, packages, first, last_ended,
       case when packages = 1 then (select path from package_path where package_id = first)
            else (select name from job where id = :job) || iif(lowest = highest, '/' || lowest, '')
        end as part
  from (select file.name, count(*) as packages, min(package.id) as first,
               max(package.changed) as last_ended, min(stage.seq) as lowest, max(stage.seq) as highest
          from (select file_id as id from edited
                 union
                select file.id
                  from file
                 where file.job_id in (select :job union all
                                       select maker_id from need where job_id = :job)
                   and file.replaced is not null) as other
          join file on file.id = other.id
          join input on input.file_id = file.id and input.dropped = 0 and input.own = 0
          join package on package.id = input.package_id and package.phase = 'done'
                      and package.job_id = :job
          join line on line.id = package.line_id and line.dropped is null and line.named <> 2
          join stage on stage.id = package.stage_id
         where stage.seq = coalesce(:stage, stage.seq) and line.seq = coalesce(:line, line.seq)
           and (exists (select 1
                          from edited
                          join read_content on read_content.package_id = package.id
                                           and read_content.file_id = edited.file_id
                                           and read_content.checksum is not edited.checksum
                         where edited.file_id = file.id)
                or (file.id not in (select file_id from edited)
                    and exists (select 1 from earlier_reader
                                 where package_id = package.id and file_id = file.id)))
           and (file.package_id is not null
                or not exists (select 1 from outdated_package where package_id = package.id))
         group by file.id);

-- name: may_read_others
-- Whether a package reads files of stages of other jobs that its job does not follow yet, and among
-- these one of a line that was removed, or none of a last line that such a stage got later: the package
-- may read other files once its job is updated.
select 1
  from input
  join file on file.id = input.file_id
  join package as maker on maker.id = file.package_id
  join line on line.id = maker.line_id and line.named = 2
 where input.package_id = :package and input.own = 0
   and exists (select 1 from need
                where job_id = (select job_id from package where id = :package)
                  and maker_id = maker.job_id and behind = 1)
 union all
select 1
  from (select distinct maker.stage_id
          from input
          join file on file.id = input.file_id
          join package as maker on maker.id = file.package_id
         where input.package_id = :package and input.own = 0
           and exists (select 1 from need
                        where job_id = (select job_id from package where id = :package)
                          and maker_id = maker.job_id and behind = 1)) as read
  join line on line.stage_id = read.stage_id
            and line.seq = (select max(seq) from line as last
                             where last.stage_id = read.stage_id and last.dropped is null
                               and last.named <> 2)
 where exists (select 1 from package where line_id = line.id and added is not null)
   and not exists (select 1
                     from package as maker
                     join file on file.package_id = maker.id
                     join input on input.file_id = file.id and input.package_id = :package
                    where maker.line_id = line.id)
 limit 1;

-- name: selected_with_earlier
-- How many of the selected packages have succeeded with earlier contents of the `edited` files.
select file.name, count(*) as packages
  from json_each(:edited) as edited
  join file on file.id = cast(edited."key" as integer)
  join read_content on read_content.file_id = file.id and read_content.checksum is not edited.value
  join package on package.id = read_content.package_id and package.phase = 'done'
 where exists (select 1 from selected_package where selected_package.package_id = package.id)
 group by file.id;

-- name: end_transfer
-- Delete the request for a copy that has arrived.
delete from transfer
 where file_id = :file and cluster_id = :cluster and result = :result;

-- name: delay_transfer
-- Schedule a failed transfer for another try.
update transfer
   set tries = tries + 1, last_error = :last_error,
       not_before = :now + min(:longest, :step * (tries + 1))
 where file_id = :file and cluster_id = :cluster and result = :result;

-- name: transfer_tries
-- Number of failed tries of a transfer.
select tries from transfer
 where file_id = :file and cluster_id = :cluster and result = :result;

-- name: maker_at
-- The package that made a file in a cluster, and the number of its attempts that succeeded since a
-- user last submitted or retried it.
select package.id, package.phase, package.stage_id, package.job_id, package.attempt_id,
       attempt.node_id, attempt.started, attempt.ended, attempt.rss,
       (select count(*) from attempt as past
         where past.package_id = package.id and past.outcome = 'successful'
           and past.number > package.tried_from) as successes
  from file
  join package on package.id = file.package_id and package.phase in ('transferring', 'done')
  join attempt on attempt.id = package.attempt_id and attempt.outcome = 'successful'
  join node on node.id = attempt.node_id and node.cluster_id = :cluster
 where file.id = :file;

-- name: disbelieve_attempt
-- Change an attempt from successful to failed, because its outputs differ from its report.
update attempt set outcome = 'failed', reason = :reason, message = :message, answer = :answer
 where id = :attempt and outcome = 'successful';

-- name: fail_transferring
-- transferring -> failed: the arrived file differs from the report of its attempt.
update package set phase = 'failed', changed = :now, actor = null, note = :note
 where id = :package and phase = 'transferring';

-- name: answer_failed
-- failed -> ready, waiting, cooloff or held, as the policy decides.
update package
   set phase = case when :phase = 'ready' and missing > 0 then 'waiting' else :phase end,
       changed = :now, actor = case when :phase = 'held' then 'policy' end, node_id = null,
       not_before = :not_before, requirement_id = coalesce(:requirement, requirement_id),
       wall_time = coalesce(:wall_time, wall_time), note = :note
 where id = :package and phase = 'failed' and :phase <> 'failed';

-- name: end_result_transfers
-- Cancel the delivery of results of a package that has failed after all.
delete from transfer
 where result = 1 and file_id in (select id from file where package_id = :package);

-- name: made_copies
-- All copies of the files that a package made.
select location.file_id, location.cluster_id
  from file join location on location.file_id = file.id
 where file.package_id = :package;

-- name: hold_unbelieved
-- waiting, ready -> held: its outputs differed from the reports of its attempts too often.
update package
   set phase = 'held', changed = :now, actor = 'policy', not_before = null, note = :note
 where id = :package and phase in ('waiting', 'ready');

-- name: postpone_transfer
-- Postpone a transfer that cannot run now, without counting a failed try.
update transfer set not_before = :until
 where file_id = :file and cluster_id = :cluster and result = :result;

-- name: wake_busy_transfers
-- Resume transfers that were postponed for lack of capacity.
update transfer set not_before = 0
 where not_before > :now and not_before <= :until and last_error is null;

-- name: wake_made_transfers
-- Resume transfers of the outputs of a batch of end messages that were postponed because there was
-- no source.
update transfer set not_before = 0
 where not_before >= :parked
   and file_id in (select file.id
                     from reported_output
                     join package on package.id = reported_output.package_id
                     join file on file.job_id = package.job_id and file.name = reported_output.name
                              and +file.package_id = package.id);

-- name: drop_idle_transfers
-- Cancel transfers for packages that were assigned to other clusters.
delete from transfer
 where result = 0 and not_before > 0 and not exists (
     select 1 from input join package on package.id = input.package_id
      where input.file_id = transfer.file_id
        and package.phase in ('assigned', 'ready', 'waiting'))
   and not exists (select 1 from streamed_input where streamed_input.file_id = transfer.file_id
                                                  and streamed_input.state = 1);

-- name: purges_of_node
-- Paths and attempts to be removed on a node.
select id, attempt_id, path from due_purge where node_id = :node order by id limit :limit;

-- name: purged
-- Delete an entry that its node has removed.
delete from purge where id = ?;

-- name: hot_stages
-- Stages with many waiting packages, of jobs that may run, in order of urgency.
select stage.id
  from job
  join stage on stage.job_id = job.id
  join stage_count on stage_count.stage_id = stage.id and stage_count.phase = 'waiting'
                  and stage_count.n >= :least
 where job.visible = 1 and job.ended is null and job.hold = 0 and job.pause = 0
   and job.finish is null
 order by job.priority desc, job.id, stage.seq
 limit :limit;

-- name: hot_inputs
-- Present inputs of the packages in the last three lines of a stage.
select distinct input.file_id, coalesce(file.size, file.size_asked) as size
  from (select id from line where stage_id = :stage order by seq desc limit 3) as last
  join package on package.line_id = last.id and package.phase = 'waiting'
  join input on input.package_id = package.id and input.own = 0 and input.dropped = 0
            and input.acquire = 'pre-fetch' and input.writable = 0
  join file on file.id = input.file_id and file.present = 1 and file.late = 0
           and coalesce(file.size, file.size_asked) >= :least
           and (file.package_id is not null or file.locator is null)
 limit :limit;

-- name: hot_readers
-- Number of packages that read a file and have not started, and their average CPU time in seconds.
select count(*) as n, max(package.requirement_id) as requirement_id,
       avg(requirement.seconds * requirement.cpus * requirement.cpu / 100.0) as seconds
  from (select package_id from input
         where file_id = :file and dropped = 0
         order by package_id desc
         limit :most) as reader
  join package on package.id = reader.package_id
              and package.phase in ('waiting', 'ready', 'cooloff')
  join requirement on requirement.id = package.requirement_id;

-- name: giving_clusters
-- Clusters that can supply a file: those with a copy and a node that is up; for files from outside
-- the control host.
select location.cluster_id
  from location
  join node on node.cluster_id = location.cluster_id and node.state = 'up' and node.doubted is null
 where location.file_id = :file
 union
select 1 from file where id = :file and package_id is null;

-- name: coming_copies
-- Clusters to which a file is being copied.
select cluster_id from transfer where file_id = :file and result = 0;

-- name: want_replica
-- Request one more copy of a file for packages that still wait.
insert or ignore into transfer (file_id, cluster_id, wanted) values (:file, :cluster, :now);

-- name: keep_replica
-- Record the reason for that request.
insert or replace into replica (file_id, cluster_id, at, readers, work_s, takes_s)
values (:file, :cluster, :now, :readers, :work_s, :takes_s);

-- name: forget_replicas
-- Forget the reasons for copies that are neither present nor requested.
delete from replica
 where not exists (select 1 from location where location.file_id = replica.file_id
                                            and location.cluster_id = replica.cluster_id)
   and not exists (select 1 from transfer where transfer.file_id = replica.file_id
                                            and transfer.cluster_id = replica.cluster_id);

-- name: replicas_of_file
-- The copies of a file that were begun before a package was sent to their cluster.
select cluster.name, replica.at, replica.readers, replica.work_s, replica.takes_s
  from replica join cluster on cluster.id = replica.cluster_id
 where replica.file_id = :file
 order by replica.at;

-- name: failing_transfers
-- Jobs with files that several tries could not transfer: how many, and what one of them met.
select job.id as job_id, job.name, count(*) as files, max(transfer.last_error) as last_error
  from transfer indexed by transfer_failing
  join file on file.id = transfer.file_id
  join job on job.id = file.job_id
 where transfer.tries >= 3 and transfer.last_error is not null
   and job.visible = 1 and job.ended is null
 group by job.id
 order by job.priority desc, job.id;
