-- name: choose_files
-- Select files of jobs by name; optionally only those with a copy on a node, or with a disposition.
insert or ignore into selected_file (file_id)
select file.id
  from job
  cross join file on file.job_id = job.id and file.name glob :name and file.late = 0
 where job.visible = 1 and job.name glob :job
   and (:node is null
        or exists (select 1 from location
                    where location.file_id = file.id
                      and location.cluster_id = (select cluster_id from node
                                                  where node.name = :node)))
   and (:disposition is null
        or coalesce(file.disposition, file.dispositions) like '%' || :disposition || '%');

-- name: choose_files_of_packages
-- Select the files that the selected packages make; optionally only those with a copy on a node, or
-- with a disposition.
insert or ignore into selected_file (file_id)
select file.id
  from selected_package
  cross join file on file.package_id = selected_package.package_id and file.late = 0
 where (:node is null
        or exists (select 1 from location
                    where location.file_id = file.id
                      and location.cluster_id = (select cluster_id from node
                                                  where node.name = :node)))
   and (:disposition is null
        or coalesce(file.disposition, file.dispositions) like '%' || :disposition || '%');

-- name: choose_results
-- Select the final outputs of a job by name: those that go to results/ or are stored elsewhere.
insert or ignore into selected_file (file_id)
select file.id
  from job
  cross join file on file.job_id = job.id and file.name glob :name and file.late = 0
 where job.visible = 1 and job.name = :job and file.package_id is not null
   and (file.result = 1 or file.locator is not null);

-- name: choose_job_files
-- Select files of a job that exist only as copies on nodes: neither results nor stored elsewhere.
insert or ignore into selected_file (file_id)
select file.id
  from job
  join file on file.job_id = job.id
 where job.name = :job and job.visible = 1 and file.present = 1 and file.package_id is not null
   and file.result = 0 and file.late = 0 and file.stored is null
   and exists (select 1 from location where location.file_id = file.id)
 limit :limit;

-- name: weigh_selected_files
-- Number of selected files, of those from outside, and of the others that are present; total size.
select count(*) as files, total(file.package_id is null) as outside,
       total(file.present and file.package_id is not null) as present,
       total(iif(file.present, coalesce(file.size, 0), 0)) as bytes
  from selected_file join file on file.id = selected_file.file_id;

-- name: lasting_selected_files
-- Number of the selected files that exist in results/, and of the others that are stored elsewhere.
select total(file.result = 1) as results, total(file.result = 0) as stored
  from selected_file
  join file on file.id = selected_file.file_id and file.present = 1 and file.package_id is not null
 where file.result = 1 or file.stored is not null;

-- name: files_page
-- A page of the selected files with their makers, dispositions and copies.
select file.id, job.name as job, file.name, file.present, file.dropped, file.partial, file.size,
       file.checksum, file.dispositions, file.disposition, file.result, file.stored, file.locator,
       (select json_group_array(distinct acquire)
          from (select acquire from input
                 where file_id = file.id and file.package_id is null limit 100)) as acquired,
       (select path from package_path where package_id = file.package_id) as maker,
       package.phase as maker_phase,
       (select json_group_array(json_object('cluster', cluster.name, 'node', node.name,
                                            'path', location.path))
          from location
          join cluster on cluster.id = location.cluster_id
          left join node on node.id = location.node_id
         where location.file_id = file.id) as copies,
       (select made from location
         where location.file_id = file.id and location.cluster_id = 1 and location.node_id is null
       ) as delivered,
       exists (select 1 from line where line.id = package.line_id and line.named = 2
                                    and line.dropped is null) as unlisted,
       job.directory, file.removed
  from selected_file
  join file on file.id = selected_file.file_id
  join job on job.id = file.job_id
  left join package on package.id = file.package_id
 where selected_file.file_id > :after
 order by selected_file.file_id
 limit :limit;

-- name: largest_selected_files
-- The largest of the selected files.
select job.name as job, file.name, file.size
  from selected_file
  join file on file.id = selected_file.file_id
  join job on job.id = file.job_id
 order by file.size desc, file.id
 limit :limit;

-- name: previous_dispositions
-- The dispositions that users set for the selected files; null for files without one.
select distinct file.disposition
  from selected_file join file on file.id = selected_file.file_id
 limit 2;

-- name: packages_with_disposition
-- Those of some packages that have a file with a disposition of a user.
select distinct file.package_id
  from json_each(:packages) as listed
  join file on file.package_id = listed.value and file.disposition is not null;

-- name: give_disposition
-- Set a user's disposition for the selected files; null removes it.
update file set disposition = :disposition where id in (select file_id from selected_file);

-- name: spare_no_more
-- Keep copies of the selected files when a cache needs space.
update location set spare = 0 where spare = 1 and file_id in (select file_id from selected_file);

-- name: look_again
-- Check again whether the selected files are needed.
insert or ignore into cleanup_candidate (file_id) select file_id from selected_file;

-- name: spare_needed_files
-- Remove from the selection files that are in transit, or read or made by a package that has not
-- ended.
delete from selected_file
 where exists (select 1
                 from input
                 join package on package.id = input.package_id
                             and package.phase <> 'transferring'
                             and package.phase not in (select name from phase where is_final = 1)
                where input.file_id = selected_file.file_id and input.dropped = 0)
    or exists (select 1 from transfer where transfer.file_id = selected_file.file_id)
    or exists (select 1
                 from file join package on package.id = file.package_id
                where file.id = selected_file.file_id
                  and package.phase not in (select name from phase where is_final = 1));

-- name: spare_absent_files
-- Remove from the selection the files without a copy in a cache of d0ctl.
delete from selected_file
 where not exists (select 1 from location
                    where location.file_id = selected_file.file_id
                      and (location.node_id is not null
                           or substr(location.path, 1, length(:cache)) = :cache));

-- name: need_no_selected_files
-- Mark the selected files as unneeded, on request of a user.
insert into unneeded (file_id, rank) select file_id, 1 from selected_file;
