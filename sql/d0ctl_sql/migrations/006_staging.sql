-- Files that come from and go to where their locators say, and go when nobody needs them.

alter table file add column stored text;                  -- where it was stored, a list of locators

alter table location add column shared integer not null default 0 check (shared in (0, 1));
                                                          -- with other files of the same locator
alter table location add column spare integer not null default 0 check (spare in (0, 1));
                                                          -- it may go when space is needed

create index location_shared on location (cluster_id, path) where shared = 1;

create index location_spare on location (cluster_id, made) where spare = 1;

create index purge_of_path on purge (path) where path is not null;

-- Files that may have become superfluous: their maker or a consumer has just ended well.

create table spent (
    file_id integer primary key
) strict;

create trigger package_spent after update of phase on package
when new.phase in ('transferring', 'done', 'dropped') and old.phase <> new.phase
begin
    insert or ignore into spent (file_id) select file_id from input where package_id = new.id;
    insert or ignore into spent (file_id) select id from file where package_id = new.id;
end;

insert into sqlite_stat1 (tbl, idx, stat) values
    ('spent',            null,              '100'),
    ('location',         'location_shared', '1000 100 1'),
    ('location',         'location_spare',  '1000 100 1'),
    ('purge',            'purge_of_path',   '100 1');
