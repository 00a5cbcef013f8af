-- What must hold whichever verb changes a package: triggers see to it, so no verb can forget it.

-- A package keeps nothing that belongs to a phase it has left: it is parked only while it is held,
-- waits for copies only while it is assigned, and has a time for its next try only while it cools
-- off or is held. A request to pause or resume needs an attempt, one to end it a package that is
-- being killed.
create trigger package_left after update of phase on package
when (new.parked = 1 and new.phase <> 'held')
    or (new.staging > 0 and new.phase <> 'assigned')
    or (new.not_before is not null and new.phase <> 'cooloff' and new.phase <> 'held')
    or (new.request is not null
        and (((new.request = 'pause' or new.request = 'resume')
              and new.phase <> 'starting' and new.phase <> 'staging-in' and new.phase <> 'running'
              and new.phase <> 'suspended' and new.phase <> 'unreachable')
             or ((new.request = 'kill' or new.request = 'kill partial' or new.request = 'kill now'
               or new.request = 'drop' or new.request = 'drop now')
                 and new.phase <> 'killing')))
begin
    update package
       set parked = iif(phase = 'held', parked, 0),
           staging = iif(phase = 'assigned', staging, 0),
           not_before = iif(phase = 'cooloff' or phase = 'held', not_before, null),
           request = case when request = 'pause' or request = 'resume'
                          then iif(phase = 'starting' or phase = 'staging-in' or phase = 'running'
                                   or phase = 'suspended' or phase = 'unreachable', request, null)
                          when request = 'kill' or request = 'kill partial' or request = 'kill now'
                              or request = 'drop' or request = 'drop now'
                          then iif(phase = 'killing', request, null)
                          else request end
     where id = new.id;
end;

-- A job has not ended once a package of it can move again: remade, retried, released or restored.
create trigger job_reopened after update of phase on package
when new.phase <> old.phase
    and new.phase <> 'done' and new.phase <> 'failed' and new.phase <> 'canceled'
    and new.phase <> 'dropped'
    and (old.phase = 'waiting' or old.phase = 'done' or old.phase = 'failed'
         or old.phase = 'canceled' or old.phase = 'dropped')
begin
    update job set ended = null where id = new.job_id and ended is not null;
end;

-- Packages that start early and await more inputs, by job.
create index package_awaiting on package (job_id) where early > 0 and awaited > 0;
