-- name: software
-- The whole catalogue.
select * from software order by name, version, platform;

-- name: keep_software
-- Add an entry to the catalogue, or put it in the place of the former.
insert into software (name, version, platform, script, shell, parameters, archive, checksum, size,
                      manifest, needs, runtime, log_rules, hooks, progress, "check", applied)
values (:name, :version, :platform, :script, :shell, :parameters, :archive, :checksum, :size,
        :manifest, :needs, :runtime, :log_rules, :hooks, :progress, :check, :applied)
on conflict (name, version, platform) do update
   set script = excluded.script, shell = excluded.shell, parameters = excluded.parameters,
       archive = excluded.archive, checksum = excluded.checksum, size = excluded.size,
       manifest = excluded.manifest, needs = excluded.needs, runtime = excluded.runtime,
       log_rules = excluded.log_rules, hooks = excluded.hooks, progress = excluded.progress,
       "check" = excluded."check", applied = excluded.applied;

-- name: remove_software
-- Take an entry out of the catalogue.
delete from software where name = :name and version = :version and platform = :platform;

-- name: software_in_use
-- A job that has not ended and has packages that may yet run this software.
select job.name
  from job join demand on demand.job_id = job.id
 where job.ended is null and job.visible = 1
   and exists (select 1 from json_each(demand.software) where json_each.value = :title)
 limit 1;

-- name: settings
-- What the site file says, by section.
select name, value from setting order by name;

-- name: setting
-- One section of the site file.
select value from setting where name = :name;

-- name: keep_setting
-- Put a section of the site file in force.
insert into setting (name, value) values (:name, :value)
on conflict (name) do update set value = excluded.value;

-- name: remove_setting
-- The site file has this section no more.
delete from setting where name = :name;

-- name: clusters
-- All clusters.
select * from cluster order by id;

-- name: keep_cluster
-- What is true of all nodes of a cluster, which is made if need be.
insert into cluster (name, platform, private, capacity, services, applied)
values (:name, :platform, :private, :capacity, :services, :applied)
on conflict (name) do update
   set platform = excluded.platform, private = excluded.private, capacity = excluded.capacity,
       services = excluded.services, applied = excluded.applied;

-- name: keep_node
-- What a site file says of a node beside how it is reached.
update node
   set identity = :identity, python = :python, via = :via,
       cpus = coalesce(:cpus, cpus), cpus_asked = :cpus, speed = :speed,
       memory_asked = :memory, memory = coalesce(:memory, memory), services = :services,
       platform_asked = :platform,
       platform = coalesce(:platform,
                           (select platform from cluster where cluster.id = node.cluster_id),
                           platform),
       applied = :applied
 where id = :node;

-- name: software_entry
-- One entry of the catalogue.
select * from software where name = :name and version = :version and platform = :platform;
