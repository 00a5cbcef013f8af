-- name: span_of_dataset
-- The numbers of the first and the last file of a dataset.
select min(seq) as first, max(seq) as last from content where dataset_id = :dataset;

-- name: unaccounted_input
-- A file of a slice of a dataset that counts as processed, although no package has processed it.
select content.name
  from content indexed by content_in_status
  left join package on package.id = content.package_id
 where content.dataset_id = :dataset and content.status = 'finished'
   and content.seq > :after and content.seq <= :upto
   and (package.phase is not 'done' or content.next_event is not null)
   and (content.next_event is null
        or exists (select 1
                     from event_range
                     left join package as maker on maker.id = event_range.package_id
                    where event_range.content_id = content.id and maker.phase is not 'done'))
 limit 1;

-- name: choose_duplicates
-- Select other packages that have processed files of a slice of a dataset, too.
insert or ignore into needed (package_id)
select content_attempt.package_id
  from content indexed by content_in_status
  join content_attempt on content_attempt.content_id = content.id
   and content_attempt.package_id is not content.package_id
  join package on package.id = content_attempt.package_id and package.phase = 'done'
 where content.dataset_id = :dataset and content.status = 'finished' and content.attempts > 1
   and content.seq > :after and content.seq <= :upto;

-- name: first_duplicate
-- A selected package of which other files are in no other package, or of which an output is merged:
-- so its outputs can't be left out.
select package_path.path
  from needed
  join package_path on package_path.package_id = needed.package_id
 where exists (select 1 from content
                where content.package_id = needed.package_id
                  and (content.output = 0 or content.status not in ('prepared', 'finished')
                       or content.merge_id is not null))
 limit 1;

-- name: duplicate_paths
-- The selected packages, and how many outputs they have.
select package_path.path,
       (select count(*) from content
         where content.package_id = needed.package_id and content.output = 1) as outputs
  from needed
  join package_path on package_path.package_id = needed.package_id
 order by needed.package_id;

-- name: unmade_output
-- An output of a task that its package has not made, although it has ended.
select content.name, package_path.path
  from dataset
  join content indexed by content_in_status
    on content.dataset_id = dataset.id and content.status in ('defined', 'running')
  join package_path on package_path.package_id = content.package_id
 where dataset.task_id = :task and dataset.output = 1
 limit 1;

-- name: changed_output
-- A file of a slice of an output dataset that is another than its package has reported.
select content.name, content.size, content.checksum, file.size as reported_size,
       file.checksum as reported_checksum
  from content indexed by content_in_status
  join package on package.id = content.package_id
  join file on file.job_id = package.job_id and file.name = content.name
 where content.dataset_id = :dataset and content.status = :status
   and content.seq > :after and content.seq <= :upto
   and (content.size <> file.size or content.checksum <> file.checksum)
 limit 1;

-- name: unmerged_output
-- A file of a slice of an intermediate dataset that counts as merged, although no package with an
-- output has merged it.
select content.name
  from content indexed by content_in_status
  left join package on package.id = content.merge_id
 where content.dataset_id = :dataset and content.status = 'finished'
   and content.seq > :after and content.seq <= :upto
   and (package.phase is not 'done'
        or not exists (select 1 from content as made
                        where made.package_id = package.id and made.output = 1))
 limit 1;

-- name: mixed_merge
-- A package that has made a file of a slice of an output dataset, and has merged other files than
-- those that count as merged by it.
select package_path.path
  from content indexed by content_in_status
  join package on package.id = content.package_id
  join package_path on package_path.package_id = content.package_id
 where content.dataset_id = :dataset and content.status = :status
   and content.seq > :after and content.seq <= :upto
   and (select count(distinct input.file_id)
          from input join file on file.id = input.file_id
         where input.package_id = package.id and input.own = 0
           and file.package_id is not null and file.job_id = package.job_id)
       <> (select count(*) from content as merged
            where merged.merge_id = content.package_id and merged.status = 'finished')
 limit 1;
