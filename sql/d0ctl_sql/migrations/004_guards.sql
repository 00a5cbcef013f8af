-- What guards over running binaries must know.

-- What successful runs of a program showed of themselves: one from the software catalogue by its
-- name and version wherever it runs, any other by its place in a stage.

create table habit (
    software text not null,
    stage_id integer not null,             -- 0 for one from the catalogue
    binary   integer not null,             -- likewise
    runs     integer not null,
    gap      real not null,                -- the longest time in which nothing of it showed
    primary key (software, stage_id, binary)
) strict, without rowid;

create trigger stage_forgotten after delete on stage
begin
    delete from habit where software = '' and stage_id = old.id;
end;

insert into sqlite_stat1 (tbl, idx, stat) values
    ('habit', 'habit', '1000 10 2 1');
