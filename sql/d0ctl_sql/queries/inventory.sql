-- name: copies_of_node
-- A page of the recorded copies in the cache of a node; `written` is when an attempt there ended that
-- made them, if that was before they were recorded, as if its message came after a restore.
select location.file_id, location.cluster_id, location.path, location.inode, location.mtime,
       location.made, file.size, file.checksum,
       min(location.made, coalesce((select attempt.ended
                                      from package
                                      join attempt on attempt.id = package.attempt_id
                                                  and attempt.node_id = location.node_id
                                     where package.id = file.package_id), location.made)) as written
  from location
  join file on file.id = location.file_id
 where location.node_id = :node and location.file_id > :after
 order by location.file_id
 limit :limit;

-- name: restamp_copy
-- A copy was read, and is as recorded except for its stamp: record this.
update location
   set inode = :inode, mtime = :mtime
 where file_id = :file and cluster_id = :cluster and path = :path and made < :before;

-- name: lacking_copies
-- Unknown files in the cache of a node that are probably a file without a copy there, by path,
-- name, size and its maker's last attempt.
select json_extract(listed.value, '$.path') as path, file.id as file_id, file.size, file.checksum
  from json_each(:entries) as listed
  join attempt on attempt.id = json_extract(listed.value, '$.attempt')
              and attempt.outcome = 'successful'
  join file on file.package_id = attempt.package_id
           and file.name = json_extract(listed.value, '$.name')
           and file.checksum is not null and file.size = json_extract(listed.value, '$.size')
 where not exists (select 1 from location
                    where location.file_id = file.id and location.cluster_id = :cluster)
 union all
select json_extract(listed.value, '$.path'), file.id, file.size, file.checksum
  from json_each(:entries) as listed
  join file on file.id = json_extract(listed.value, '$.file')
           and file.checksum is not null and file.size = json_extract(listed.value, '$.size')
 where not exists (select 1 from location
                    where location.file_id = file.id and location.cluster_id = :cluster)
   and not exists (select 1 from outdated_copy
                    where outdated_copy.file_id = file.id and outdated_copy.cluster_id = :cluster
                      and coalesce(outdated_copy.renewed, 0) <= 0)
 limit :limit;

-- name: unknown_inputs
-- Unknown inputs that a node lists: whether a job has the file, and whether a package in their
-- cluster that was launched before the database was restored may read it.
select json_extract(listed.value, '$.path') as path,
       exists (select 1 from file
                where file.id = json_extract(listed.value, '$.file')) as has_job,
       exists (select 1
                 from node
                 join package on package.node_id = node.id and package.is_live = 1
                 join attempt on attempt.id = package.attempt_id
                where node.cluster_id = :cluster
                  and attempt.launched < (select max(at) from action
                                           where verb = 'restore')) as may_be_read
  from json_each(:entries) as listed;

-- name: purge_input
-- Have a node remove an input of its cache.
insert into purge (node_id, path) values (?, ?);

-- name: keep_cache_finding
-- Record a finding of an inventory.
insert or replace into cache_finding (node_id, path, finding, file_id, noticed)
values (?, ?, ?, ?, ?);

-- name: forget_unknown
-- Delete the unknown files found by the last inventory of a node.
delete from cache_finding where node_id = :node and finding = 'unknown';

-- name: forget_old_findings
-- Delete the next slice of old findings.
delete from cache_finding
 where (node_id, path) in (select node_id, path
                             from cache_finding indexed by cache_finding_noticed
                            where noticed < :before
                            limit :limit);

-- name: forget_cache_finding
-- Delete the finding of an unknown file that turned out to be a copy.
delete from cache_finding where node_id = :node and path = :path;

-- name: note_survey
-- Record when the cache of a node was compared with the database.
update node set surveyed = :now where id = :node;

-- name: findings_of_file
-- Findings of inventories about copies of a file, latest first.
select node.name as node, cache_finding.path, cache_finding.finding, cache_finding.noticed
  from cache_finding
  join node on node.id = cache_finding.node_id
 where cache_finding.file_id = :file
 order by cache_finding.noticed desc
 limit :limit;

-- name: findings_of_node
-- Number of findings on a node since a time by kind, each with an example.
select finding, count(*) as n, max(noticed) as noticed, max(path) as example
  from cache_finding
 where node_id = :node and noticed >= :since
 group by finding;

-- name: unknown_in_caches
-- Unknown files that the last inventory of each node found, with its time.
select node.name as node, node.cluster_id, node.base, cache_finding.path, cache_finding.noticed
  from cache_finding
  join node on node.id = cache_finding.node_id
 where cache_finding.finding = 'unknown'
 order by node.name, cache_finding.path
 limit :limit;

-- name: doubt_cache
-- Drain a node because most of its cache is missing; it stays drained until that is settled.
update node
   set doubted = :since, drained_at = case when drained = 1 then drained_at else :since end,
       drain_note = case when drained = 1 then drain_note else :note end, drained = 1
 where id = :node;

-- name: trust_cache
-- End the doubt about the cache of a node, and resume the node unless it was drained for another
-- reason.
update node
   set drain_note = case when drained_at = doubted then null else drain_note end,
       drained = case when drained_at = doubted then 0 else drained end,
       drained_at = case when drained_at = doubted then null else drained_at end,
       doubted = null
 where id = :node;

-- name: is_doubted
-- The time since which the cache of a node is in doubt.
select doubted from node where id = :node;

-- name: doubted_nodes
-- Nodes whose cache is in doubt.
select id, name, doubted, drain_note from node where doubted is not null order by name;

-- name: missing_copies
-- Number and size of the copies that inventories of a node found missing since a time, and how many
-- of them were the last copy.
select count(*) as copies, sum(file.size) as size,
       count(*) filter (where not exists (
         select 1 from location as other
          where other.file_id = location.file_id and other.cluster_id <> location.cluster_id)) as last
  from cache_finding
  join location on location.file_id = cache_finding.file_id and location.node_id = :node
               and location.path = cache_finding.path and location.made < cache_finding.noticed
  join file on file.id = location.file_id
 where cache_finding.node_id = :node and cache_finding.finding <> 'unknown'
   and cache_finding.noticed >= :since;

-- name: lose_missing_copies
-- Record the copies that inventories of a node found missing since a time as lost.
insert into lost_copy (file_id, cluster_id)
select location.file_id, location.cluster_id
  from cache_finding
  join location on location.file_id = cache_finding.file_id and location.node_id = :node
               and location.path = cache_finding.path and location.made < cache_finding.noticed
 where cache_finding.node_id = :node and cache_finding.finding <> 'unknown'
   and cache_finding.noticed >= :since;

-- name: forget_missing_copies
-- Delete findings of missing copies since a time, because the copies are there again.
delete from cache_finding
 where node_id = :node and finding <> 'unknown' and noticed >= :since;
