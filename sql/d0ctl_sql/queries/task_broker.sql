-- name: destinations
-- The clusters whose nodes d0ctl did not get from a batch system: their nodes that take packages now,
-- what these have to do, the free space of the cache, and the transfers that wait for it.
select cluster.id, cluster.name, count(node.id) as known,
       json_group_array(node.name) filter (where node.drained = 0 and node.state = 'up') as nodes,
       coalesce(sum(iif(node.drained = 0 and node.state = 'up', node.cpus, 0)), 0) as cpus,
       coalesce(sum((select count(*) from package
                      where package.node_id = node.id and package.is_live = 1)), 0) as packages,
       (select count(*) from transfer where transfer.cluster_id = cluster.id) as transfers,
       (select free from cluster_space where cluster_space.cluster_id = cluster.id) as free
  from cluster
  join node on node.cluster_id = cluster.id and node.job = ''
 group by cluster.id
 order by cluster.name;

-- name: bytes_in_clusters
-- How many bytes of some files of datasets each cluster has, in cluster 0 those of all of them.
select 0 as cluster_id, coalesce(sum(file.size), 0) as bytes
  from json_each(:contents) as wanted
  join content on content.id = wanted.value
  join file on file.job_id = :job and file.name = content.name
 union all
select location.cluster_id, sum(coalesce(file.size, 1)) as bytes
  from json_each(:contents) as wanted
  join content on content.id = wanted.value
  join file on file.job_id = :job and file.name = content.name
  join location on location.file_id = file.id
 group by location.cluster_id;

-- name: keep_destination
-- Where the files of a task are merged, on which nodes, and why there.
update task
   set destination = :cluster, destination_nodes = :nodes, destination_why = :why
 where id = :task;

-- name: move_destination
-- Packages of a stage that wait for nodes of one cluster may run on those of another.
update requirement set nodes = :nodes where stage_id = :stage and nodes = :previous;

-- name: destination_of_package
-- Where the task of a package that merges has its outputs merged, and why there.
select task.destination, task.destination_why
  from package
  join requirement on requirement.id = package.requirement_id
  join task on task.job_id = package.job_id and task.destination is not null
   and requirement.nodes = task.destination_nodes
  join stage on stage.id = requirement.stage_id and stage.seq = 2
 where package.id = :package;
