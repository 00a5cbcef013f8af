-- What packages take of a node's disk, and how many may fail alike before a stage stops.

alter table demand add column space integer;

update demand set space = disk;
