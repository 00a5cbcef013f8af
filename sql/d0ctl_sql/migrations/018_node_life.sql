-- What a node said of itself last, and since when it is drained.
alter table node add column load real;
alter table node add column drained_at real;
update node set drained_at = since where drained = 1;
