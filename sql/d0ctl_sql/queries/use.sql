-- name: sample_node
-- Record the load and the disk of a node that is up, and the memory of its packages.
insert or replace into node_sample (node_id, at, load, rss, disk_free, disk_in_use)
select node.id, cast(:now as integer), node.load,
       (select sum(progress.rss)
          from package indexed by package_live
          join progress on progress.package_id = package.id
         where package.is_live = 1 and package.node_id = node.id),
       node_space.disk_free, node_space.disk_in_use
  from node join node_space on node_space.node_id = node.id
 where node.id = :node and node.state = 'up';

-- name: forget_node_samples
-- Forget the use of a node before a time.
delete from node_sample where node_id = :node and at < :before;

-- name: sample_packages
-- Record what the packages of a node use, unless that is known from shortly before: :least seconds,
-- or a hundredth of the time that the attempt has run.
insert or ignore into package_sample (package_id, attempt_id, at, cpu, rss)
select progress.package_id, progress.attempt_id, cast(progress.at as integer), progress.cpu,
       progress.rss
  from package indexed by package_live
  join progress on progress.package_id = package.id
  join attempt on attempt.id = progress.attempt_id
 where package.is_live = 1 and package.node_id = :node
   and progress.at - coalesce((select max(at) from package_sample
                                where package_sample.package_id = progress.package_id
                                  and package_sample.attempt_id = progress.attempt_id), 0)
       >= max(:least, (:now - coalesce(attempt.started, :now)) / 100.0);

-- name: node_samples
-- The use of a node since a time.
select at, load, rss, disk_free, disk_in_use
  from node_sample
 where node_id = :node and at >= :since
 order by at;

-- name: package_samples
-- What a package has used in its current attempt.
select package_sample.at, package_sample.cpu, package_sample.rss
  from package
  join package_sample on package_sample.package_id = package.id
                     and package_sample.attempt_id = package.attempt_id
 where package.id = :package
 order by package_sample.at;

-- name: nodes_below_reserve
-- Nodes that are up whose disks have less free space than their reserve, and how much is to be freed
-- so that packages continue: up to 1.25 times the reserve.
select node.id, node_space.disk_short + node_space.disk_reserve / 4 + 1 as bytes
  from node join node_space on node_space.node_id = node.id
 where node.state = 'up' and node_space.disk_short > 0;

-- name: node_disk
-- The size of a node's disk, and no more than the capacity of its cluster.
select disk from node_space where node_id = :node;

-- name: samples_of_nodes
-- The use of each node since a time.
select node.name, node_sample.at, node_sample.load, node_sample.rss, node_sample.disk_free,
       node_sample.disk_in_use
  from node
  cross join node_sample on node_sample.node_id = node.id and node_sample.at >= :since
 order by node.id, node_sample.at;

-- name: samples_of_packages
-- What the packages on nodes have used in their current attempts, since a time.
select package_path.path, package_sample.at, package_sample.cpu, package_sample.rss
  from package indexed by package_live
  join package_sample on package_sample.package_id = package.id
                     and package_sample.attempt_id = package.attempt_id
                     and package_sample.at >= :since
  join package_path on package_path.package_id = package.id
 where package.is_live = 1
 order by package.id, package_sample.at;
