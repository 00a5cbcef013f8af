-- Outputs that stay on a node after a failed attempt, and attempts that only deliver them.

alter table demand add column stay text;             -- the node that has the outputs
alter table package add column accept integer;       -- the attempt whose outputs a person accepts
alter table attempt add column delivers integer not null default 0
    check (delivers in (0, 1));                      -- it runs no binary and only delivers
alter table attempt add column left_size integer;    -- bytes that stay for `keep-failed`

create index demand_stay on demand (stay) where stay is not null;
create index attempt_left on attempt (ended) where left_size is not null;

-- A package that has succeeded, or was canceled or dropped, needs nothing of its former attempts.
drop trigger package_cleaned;
create trigger package_cleaned after update of phase on package
when (new.phase = 'transferring' or new.phase = 'done' or new.phase = 'dropped'
      or new.phase = 'canceled')
    and new.attempts > (old.phase <> 'failed' and old.phase <> 'canceled'
                        and (new.phase = 'transferring' or new.phase = 'done'))
    and old.phase <> 'transferring' and old.phase <> 'done' and old.phase <> 'dropped'
begin
    insert into purge (node_id, path)
    select node.id, 'cache/' || attempt.id
      from attempt join node on node.id = attempt.node_id
     where attempt.package_id = new.id
       and (attempt.outcome = 'lost' or (attempt.outcome = 'failed' and attempt.kept is not null));
    insert into purge (node_id, path)
    select node.id, 'attempts/' || attempt.id || '/work'
      from attempt join node on node.id = attempt.node_id
     where attempt.package_id = new.id and attempt.outcome = 'lost';
    update attempt set kept = null, left_size = null where package_id = new.id and kept is not null;
end;

insert into sqlite_stat1 (tbl, idx, stat) values
    ('demand', 'demand_stay', '10 5'),
    ('attempt', 'attempt_left', '100 1');
