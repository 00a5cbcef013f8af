-- What policies of recovery need: what a package was tried for, and what it asks for next.

-- The attempts it had when it was submitted, or when a person last had it tried again.
alter table package add column tried_from integer not null default 0;

-- What followed the attempt: fail, hold, resubmit or restart (`001`).
alter table attempt add column answer text;

-- Packages that are tried again may ask for something else than the others of their stage.
alter table demand add column avoid text;          -- the node to leave out when another fits
alter table demand add column boost integer not null default 0 check (boost between 0 and 100);

alter table software add column policy text not null default '{}';

create index package_releasing on package (not_before, job_id)
    where phase = 'held' and not_before is not null;

-- A person's word lets tries count anew (`001`: 10 resubmits after any submit or resubmit).
create trigger package_resubmitted after update of phase on package
when new.actor is not null and new.phase in ('ready', 'waiting')
    and (old.phase in ('failed', 'canceled', 'cooloff', 'done')
         or (old.phase = 'held' and old.actor = 'policy'))
begin
    update package set tried_from = new.attempts, restarts = 0 where id = new.id;
end;

insert into sqlite_stat1 (tbl, idx, stat) values
    ('package', 'package_releasing', '10 1 1');
