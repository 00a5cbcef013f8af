-- name: file_by_name
-- A file of a job by its name, or by its path if it comes from outside, with its maker and the
-- state of the maker.
select file.id, job.name as job, job.directory, file.name, file.present, file.dropped, file.partial,
       file.late, file.size, file.checksum, file.dispositions, file.disposition, file.result,
       file.locator,
       file.stored,
       (select path from package_path where package_id = file.package_id) as maker,
       package.phase as maker_phase, line.dropped as line_dropped,
       file.removed, file.removed_by, file.removed_from
  from job
  cross join file
    on file.job_id = job.id
   and file.name in (:name, :path, job.directory || '/' || :name,
                     iif(substr(:path, 1, length(job.directory) + 1) = job.directory || '/',
                         substr(:path, length(job.directory) + 2), :name))
  left join package on package.id = file.package_id
  left join line on line.id = package.line_id
 where job.visible = 1 and (:job is null or job.name = :job)
 order by job.id desc
 limit :limit;

-- name: file_names
-- Names of files of a job, for suggestions; bounded.
select file.name from job join file on file.job_id = job.id
 where job.name = :job and job.visible = 1
 limit 5000;

-- name: action_that_removed
-- The action of a person that removed the last copy of a file.
select actor, note from action where at = :at and verb = :verb order by id desc limit 1;

-- name: copies_of_file
-- The places of a file's copies, and whether these machines answer.
select cluster.name as cluster, location.path, location.made, location.spare, node.name as node, node.state,
       coalesce(node.doubted is not null, 0) as is_doubted
  from location
  join cluster on cluster.id = location.cluster_id
  left join node on node.id = location.node_id
 where location.file_id = :file
 order by location.made
 limit :limit;

-- name: transfers_of_file
-- The transfers of a file, and their problems.
select cluster.name as cluster, transfer.result, transfer.tries, transfer.last_error
  from transfer join cluster on cluster.id = transfer.cluster_id
 where transfer.file_id = :file
 limit :limit;

-- name: readers_of_file
-- The readers of a file, those that have not ended first, of a bounded number.
select package_path.path,
       package.phase,
       package.missing - exists (select 1 from package as before
                                  where before.line_id = package.line_id
                                    and before.seq = package.seq - 1
                                    and before.phase not in ('transferring', 'done')) as missing,
       some.uses, some.dropped, some.acquire, some.locator,
       some.dropped = 0 and exists (select 1 from attempt where attempt.package_id = package.id
                                       and started is not null) as has_read
  from (select package_id, count(*) as uses, min(dropped) as dropped, acquire, locator
          from (select * from input where file_id = :file and own = 0 limit :window)
         group by package_id) as some
  join package on package.id = some.package_id
  join package_path on package_path.package_id = package.id
 order by package.phase in ('transferring', 'done', 'canceled', 'dropped'), package.id;

-- name: count_of_pattern
-- How many files a late output stands for so far.
select count(*) from file where pattern_id = :file;

-- name: job_directory
-- The folder of the file that a job was submitted from.
select directory from job where id = :job;
