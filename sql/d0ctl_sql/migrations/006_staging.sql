-- Files that come from and go to where their locators say, and go when nobody needs them.

alter table site add column lease real not null default 3000;        -- seconds without contact
alter table site add column keep_logs real not null default 2592000; -- seconds after an attempt

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

-- By which commands of the site files behind a URL are fetched and stored.

create table transfer_command (
    scheme  text primary key,
    fetch   text,                          -- with {source}, a URL, and {dest}, a path
    store   text                           -- with {source}, a path, and {dest}, a URL
) strict, without rowid;

insert into sqlite_stat1 (tbl, idx, stat) values
    ('spent',            null,              '100'),
    ('location',         'location_shared', '1000 100 1'),
    ('location',         'location_spare',  '1000 100 1'),
    ('purge',            'purge_of_path',   '100 1'),
    ('transfer_command', 'transfer_command', '5 1');
