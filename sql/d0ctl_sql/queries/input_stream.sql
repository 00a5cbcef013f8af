-- name: open_lists
-- The lists of inputs of packages just launched that start early are open until all are there.
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
-- Inputs of packages just launched that exist but are not at their nodes are announced to them once
-- they have arrived.
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

-- name: has_stream_to_node
-- Whether there is anything to announce to packages that run on a node.
select 1 from streamed_input where node_id = :node and state = 0 limit 1;

-- name: want_streamed_inputs
-- Ask for the inputs that the cluster of a running package lacks.
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
-- What is not at the node yet is announced when it arrives.
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
-- What to announce to packages that run on a node, in the order of the packages.
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
-- An announcement was sent.
update streamed_input set state = 2 where package_id = ? and file_id = ?;

-- name: close_list
-- The list of a package is closed once nothing is awaited and everything was sent.
update package
   set early = 2
 where id = :package and early > 0 and (early = 2 or awaited = 0)
   and not exists (select 1 from streamed_input
                    where streamed_input.package_id = package.id and streamed_input.file_id > 0
                      and streamed_input.state < 2)
returning id;

-- name: stream_inputs_again
-- After a reconnect everything is announced again, as it is unknown what had arrived.
update streamed_input set state = 0 where node_id = :node and state = 2;

-- name: close_again
-- And so is the end of the lists that were closed.
insert into streamed_input (package_id, file_id, node_id)
select id, 0, node_id
  from package indexed by package_live
 where node_id = :node and early = 2
   and is_live = 1
   and phase in (select name from phase where is_active = 1)
on conflict do update set state = 0;

-- name: stream_arrived_inputs
-- Copies have come to a cluster for packages that run there.
update streamed_input set state = 0
 where state = 1
   and (file_id, node_id) in
       (select arrived_copy.file_id, node.id
          from arrived_copy join node on node.cluster_id = arrived_copy.cluster_id
         where arrived_copy.result = 0);

-- name: starve_lists
-- Files that the chosen packages make are not announced any more.
delete from streamed_input
 where state < 2 and file_id in
    (select file.id from chosen join file on file.package_id = chosen.package_id);

-- name: wait_for_first
-- ready -> waiting: packages that start early and lose by the choice all that was there.
update package
   set phase = 'waiting', changed = :now, actor = :actor, note = :note
 where phase = 'ready' and early > 0 and missing > 0
   and id in (select input.package_id
                from chosen
                join file on file.package_id = chosen.package_id
                join input on input.file_id = file.id);

-- name: look_at_lists
-- Running packages that lose inputs by the choice may have all that they can get.
insert into streamed_input (package_id, file_id, node_id)
select distinct package.id, 0, package.node_id
  from chosen
  join file on file.package_id = chosen.package_id
  join input on input.file_id = file.id
  join package on package.id = input.package_id and package.early = 1
 where package.phase in (select name from phase where is_active = 1)
on conflict do update set state = 0;
