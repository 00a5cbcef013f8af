-- name: advance_tries
-- Packages that cool off are due earlier, by as much as the clock was set back.
update package indexed by package_cooling set not_before = not_before - :by_s
 where phase = 'cooloff' and not_before > :now;

-- name: advance_releases
-- Packages that a policy holds are released earlier, by as much as the clock was set back.
update package indexed by package_releasing set not_before = not_before - :by_s
 where phase = 'held' and actor = 'policy' and not_before is not null and not_before > :now;

-- name: advance_pauses
-- Pauses of jobs end earlier, by as much as the clock was set back.
update job set pause_until = pause_until - :by_s where pause_until > :now;

-- name: advance_transfers
-- Transfers are tried again earlier, by as much as the clock was set back.
update transfer set not_before = not_before - :by_s where not_before > :now;

-- name: advance_archives
-- Archives are sent again earlier, by as much as the clock was set back.
update archive_copy set not_before = not_before - :by_s where not_before > :now;

-- name: advance_canaries
-- Drained nodes are tried earlier, by as much as the clock was set back.
update bad_node set next_try = next_try - :by_s where next_try > :now;

-- name: advance_notices
-- Notifications are due earlier, by as much as the clock was set back.
update notice set due = due - :by_s where due > :now;

-- name: advance_deliveries
-- Mails are tried again earlier, by as much as the clock was set back.
update delivery indexed by delivery_open set not_before = not_before - :by_s
 where ended is null and not_before > :now;
