-- Triggers that cost less for each of 10^5 packages: within a trigger, SQLite makes a table for
-- every row of each list of more than two after `in`; and what never applies costs its call.

-- One before the update has SQLite read each row twice.
drop trigger package_refused;
create trigger package_refused after update of phase on package
when old.phase <> new.phase and not exists (
    select 1 from transition where transition.old = old.phase and transition.new = new.phase)
begin
    select raise(abort, 'not a transition');
end;

drop trigger package_readied;
drop trigger package_unreadied;
drop trigger package_moved;
create trigger package_moved after update of phase on package when old.phase <> new.phase
begin
    update stage_count set n = n - 1 where stage_id = new.stage_id and phase = old.phase;
    update stage_count set n = n + 1 where stage_id = new.stage_id and phase = new.phase;
    update demand set ready = ready + 1 where new.phase = 'ready' and id = new.demand_id;
    update demand set ready = ready - 1 where old.phase = 'ready' and id = new.demand_id;
    insert into event (at, package_id, old, new, attempt_id, node_id, actor, note)
    values (new.changed, new.id, old.phase, new.phase, new.attempt_id, new.node_id,
            new.actor, new.note);
end;

-- The files of what is dropped leave all lists, so nobody has to ask who needs them.
drop trigger package_spent;
create trigger package_spent after update of phase on package
when (new.phase = 'transferring' or new.phase = 'done' or new.phase = 'dropped')
    and old.phase <> new.phase
begin
    insert or ignore into spent (file_id) select file_id from input where package_id = new.id;
    insert or ignore into spent (file_id)
    select id from file where new.phase <> 'dropped' and package_id = new.id;
end;

drop trigger package_cleaned;
create trigger package_cleaned after update of phase on package
when (new.phase = 'transferring' or new.phase = 'done' or new.phase = 'dropped')
    and new.attempts > (new.phase <> 'dropped')
    and old.phase <> 'transferring' and old.phase <> 'done' and old.phase <> 'dropped'
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

-- Who lets tries count anew themselves need no second update of each row.
drop trigger package_resubmitted;
create trigger package_resubmitted after update of phase on package
when new.actor is not null and (new.phase = 'ready' or new.phase = 'waiting')
    and (new.tried_from <> new.attempts or new.restarts <> 0)
    and (old.phase = 'failed' or old.phase = 'canceled' or old.phase = 'cooloff'
         or old.phase = 'done' or (old.phase = 'held' and old.actor = 'policy'))
begin
    update package set tried_from = new.attempts, restarts = 0 where id = new.id;
end;
