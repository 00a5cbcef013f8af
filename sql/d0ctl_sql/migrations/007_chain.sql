-- Chains that are verified, and that begin where a former attempt ended.

alter table binary add column check_timeout real;
alter table binary add column events text;                 -- first, last, and the part that holds them

alter table attempt add column kept text;                  -- what a failed one left for the next
alter table attempt add column began integer;              -- the first binary that it ran
alter table attempt add column began_why text;
alter table attempt add column events text;                -- which its binaries have done

-- A package that has succeeded, or is dropped, needs nothing of its former attempts.

create trigger package_cleaned after update of phase on package
when new.phase in ('transferring', 'done', 'dropped')
    and old.phase not in ('transferring', 'done', 'dropped')
    and new.attempts > (new.phase <> 'dropped')
begin
    insert into purge (node_id, path)
    select node.id, 'cache/' || attempt.id
      from attempt join node on node.id = attempt.node_id
     where attempt.package_id = new.id
       and (attempt.outcome = 'lost' or (attempt.outcome = 'failed' and attempt.kept is not null))
     union all
    select node.id, 'attempts/' || attempt.id || '/work'
      from attempt join node on node.id = attempt.node_id
     where attempt.package_id = new.id and attempt.outcome = 'lost';
    update attempt set kept = null where package_id = new.id and kept is not null;
end;
