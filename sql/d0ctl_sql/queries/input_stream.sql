-- name: open_lists
-- Open the input lists of packages just launched that start early, or close those that are
-- complete.
update package
   set early = iif(awaited = 0 and not exists
           (select 1 from input
              join node on node.id = package.node_id
              join file on file.id = input.file_id and file.package_id is not null
             where input.package_id = package.id and input.own = 0 and input.dropped = 0
               and input.acquire = 'pre-fetch' and file.late = 0
               and not exists (select 1 from location
                                where location.file_id = input.file_id
                                  and location.cluster_id = node.cluster_id)), 2, 1)
 where id in (select package_id from decision) and early > 0;

-- name: begin_input_streams
-- Announce inputs of packages just launched that exist but have no copy at their nodes.
insert into streamed_input (package_id, file_id, node_id)
select distinct package.id, input.file_id, package.node_id
  from decision
  join package on package.id = decision.package_id and package.early = 1
  join node on node.id = package.node_id
  join input on input.package_id = package.id and input.own = 0 and input.dropped = 0
            and input.acquire = 'pre-fetch'
  join file on file.id = input.file_id and file.package_id is not null
           and file.present = 1 and file.late = 0
 where not exists (select 1 from location
                    where location.file_id = input.file_id
                      and location.cluster_id = node.cluster_id)
on conflict do update set state = 0;

-- name: nodes_with_streams
-- Nodes with packages to which inputs are to be announced.
select node.id
  from node
 where exists (select 1 from streamed_input where node_id = node.id and state = 0);

-- name: want_streamed_inputs
-- Request the announced inputs that have no copy in the cluster of a node.
insert into transfer (file_id, cluster_id, wanted)
select distinct streamed_input.file_id, node.cluster_id, :now
  from streamed_input
  join node on node.id = streamed_input.node_id
  join file on file.id = streamed_input.file_id and file.present = 1
  join input on input.package_id = streamed_input.package_id
            and input.file_id = streamed_input.file_id
            and input.acquire = 'pre-fetch'
 where streamed_input.node_id = :node and streamed_input.state = 0
   and not exists (select 1 from location
                    where location.file_id = streamed_input.file_id
                      and location.cluster_id = node.cluster_id)
on conflict do update set not_before = 0 where not_before >= :parked;

-- name: park_streamed_inputs
-- Postpone announcements of inputs that have not arrived at their node.
update streamed_input
   set state = 1
 where node_id = :node and state = 0 and file_id > 0
   and ((select present from file where id = streamed_input.file_id) = 0
        or (not exists (select 1 from location join node on node.cluster_id = location.cluster_id
                         where location.file_id = streamed_input.file_id
                           and node.id = streamed_input.node_id)
            and exists (select 1 from input
                         where input.package_id = streamed_input.package_id
                           and input.file_id = streamed_input.file_id
                           and input.acquire = 'pre-fetch')));

-- name: due_streamed_inputs
-- The inputs to announce to packages on a node, in the order of packages.
select streamed_input.package_id, streamed_input.file_id, package.attempt_id, file.name, file.size,
       json_group_array(input.binary) filter (where input.binary is not null) as binaries,
       input.acquire = 'self' as by_itself, input.writable, input.local, here.inode, here.mtime,
       coalesce(here.path, (select path from location
                             where location.file_id = file.id limit 1)) as path
  from streamed_input
  join package on package.id = streamed_input.package_id
  join node on node.id = streamed_input.node_id
  left join file on file.id = streamed_input.file_id
  left join input on input.package_id = streamed_input.package_id
                 and input.file_id = streamed_input.file_id
                 and input.dropped = 0
  left join location as here on here.file_id = streamed_input.file_id
                 and here.cluster_id = node.cluster_id
 where streamed_input.node_id = :node and streamed_input.state = 0
   and package.phase in (select name from phase where in_contact = 1)
 group by streamed_input.package_id, streamed_input.file_id
 order by streamed_input.package_id, streamed_input.file_id
 limit :limit;

-- name: keep_sent_inputs
-- Record an announcement as sent.
update streamed_input set state = 2 where package_id = ? and file_id = ?;

-- name: close_list
-- Close the input list of a package once no input is awaited and all announcements are sent.
update package
   set early = 2
 where id = :package and early > 0 and (early = 2 or awaited = 0)
   and not exists (select 1 from streamed_input
                    where streamed_input.package_id = package.id and streamed_input.file_id > 0
                      and streamed_input.state < 2)
returning id;

-- name: stream_inputs_again
-- Repeat all announcements to a node after a reconnect: it is unknown which ones arrived.
update streamed_input set state = 0 where node_id = :node and state = 2;

-- name: close_again
-- Repeat the announcement that a list is closed, too.
insert into streamed_input (package_id, file_id, node_id)
select id, 0, node_id
  from package indexed by package_live
 where node_id = :node and early = 2
   and is_live = 1
   and phase in (select name from phase where is_active = 1)
on conflict do update set state = 0;

-- name: stream_arrived_inputs
-- Resume announcements of inputs that have arrived in the cluster of their package.
update streamed_input set state = 0
 where state = 1
   and (file_id, node_id) in
       (select arrived_copy.file_id, node.id
          from arrived_copy join node on node.cluster_id = arrived_copy.cluster_id
         where arrived_copy.result = 0);

-- name: starve_lists
-- Delete announcements of files that the selected packages would have made.
delete from streamed_input
 where state < 2 and file_id in
    (select file.id
       from selected_package join file on file.package_id = selected_package.package_id);

-- name: wait_for_first
-- ready -> waiting: the package starts early, and the selected packages made all of its present
-- inputs.
update package
   set phase = 'waiting', changed = :now, actor = :actor, note = :note
 where phase = 'ready' and early > 0 and missing > 0
   and id in (select input.package_id
                from selected_package
                join file on file.package_id = selected_package.package_id
                join input on input.file_id = file.id);

-- name: look_at_lists
-- Check again whether the input lists of running packages are complete without the files of the
-- selected packages.
insert into streamed_input (package_id, file_id, node_id)
select distinct package.id, 0, package.node_id
  from selected_package
  join file on file.package_id = selected_package.package_id
  join input on input.file_id = file.id
  join package on package.id = input.package_id and package.early = 1
 where package.phase in (select name from phase where is_active = 1)
on conflict do update set state = 0;
