-- Packages that start at their first input, files whose names are known only when they are
-- made, and what the scheduler must know of inputs that have to be brought.

alter table package add column early integer not null default 0
    check (early in (0, 1, 2));                -- 1: starts at its first input; 2: its list is closed
alter table package add column gathered integer not null default 0 check (gathered >= 0);
alter table package add column awaited integer not null default 0 check (awaited >= 0);

alter table demand add column early integer not null default 0 check (early in (0, 1));
alter table demand add column fetches integer not null default 0
    check (fetches in (0, 1));                 -- whether such packages read what may be elsewhere

alter table file add column min_count integer; -- of a late output: fewer files are a failure
alter table file add column pattern_id integer; -- the late output that this one matched
alter table input add column "match" text;     -- of a late output: only the files that match this

create index package_early on package (id) where early > 0;
create index package_open on package (job_id)
    where early = 1 and awaited > 0
      and phase in ('starting', 'staging-in', 'running', 'suspended', 'unreachable');
create index file_late on file (package_id) where late = 1;
create index file_of_pattern on file (pattern_id) where pattern_id is not null;

-- What a package that runs already is to be told: inputs that came after its launch, and, as file
-- 0, that its list may be closed. State 0 is to be told, 1 waits for its copy, 2 is told.
create table feed (
    package_id integer not null references package on delete cascade,
    file_id    integer not null,
    node_id    integer not null,
    state      integer not null default 0 check (state in (0, 1, 2)),
    primary key (package_id, file_id)
) strict, without rowid;

create index feed_due on feed (node_id) where state = 0;
create index feed_of_file on feed (file_id);

-- `missing` stays what it was for all others. One that starts early has counters of its own:
-- `awaited` inputs that are not there, and `gathered` ones that are and that a package has made;
-- while it has none of those and awaits some, it misses one thing, the first of them.

drop trigger file_gained;
drop trigger file_lost;
drop trigger input_dropped;
drop trigger input_restored;

create trigger file_gained after update of present on file
when old.present = 0 and new.present = 1
begin
    update package
       set missing = missing - (select count(*) from input
                                 where file_id = new.id and package_id = package.id
                                   and own = 0 and dropped = 0)
     where early = 0
       and id in (select package_id from input
                   where file_id = new.id and own = 0 and dropped = 0);
end;

create trigger file_lost after update of present on file
when old.present = 1 and new.present = 0
begin
    update package
       set missing = missing + (select count(*) from input
                                 where file_id = new.id and package_id = package.id
                                   and own = 0 and dropped = 0)
     where early = 0
       and id in (select package_id from input
                   where file_id = new.id and own = 0 and dropped = 0);
end;

create trigger file_gathered after update of present on file
when old.present = 0 and new.present = 1 and exists (select 1 from package where early > 0)
begin
    update package
       set awaited = awaited - (select count(*) from input
                                 where file_id = new.id and package_id = package.id
                                   and own = 0 and dropped = 0),
           gathered = gathered + (select count(*) from input
                                   where file_id = new.id and package_id = package.id
                                     and own = 0 and dropped = 0 and new.late = 0)
     where early > 0
       and id in (select package_id from input
                   where file_id = new.id and own = 0 and dropped = 0);
    insert into feed (package_id, file_id, node_id)
    select distinct package.id, new.id, package.node_id
      from input join package on package.id = input.package_id
     where input.file_id = new.id and input.own = 0 and input.dropped = 0 and new.late = 0
       and package.early > 0
       and package.phase in ('starting', 'staging-in', 'running', 'suspended', 'unreachable')
    on conflict do update set state = 0 where state = 1;
end;

create trigger file_scattered after update of present on file
when old.present = 1 and new.present = 0 and exists (select 1 from package where early > 0)
begin
    update package
       set awaited = awaited + (select count(*) from input
                                 where file_id = new.id and package_id = package.id
                                   and own = 0 and dropped = 0),
           gathered = gathered - (select count(*) from input
                                   where file_id = new.id and package_id = package.id
                                     and own = 0 and dropped = 0 and new.late = 0)
     where early > 0
       and id in (select package_id from input
                   where file_id = new.id and own = 0 and dropped = 0);
end;

create trigger input_dropped after update of dropped on input
when old.dropped = 0 and new.dropped = 1 and new.own = 0
begin
    update package set missing = missing - 1
     where id = new.package_id and early = 0
       and (select present from file where id = new.file_id) = 0;
    update package
       set awaited = awaited - (select present = 0 from file where id = new.file_id),
           gathered = gathered - (select present = 1 and late = 0 and package_id is not null
                                    from file where id = new.file_id)
     where id = new.package_id and early > 0;
end;

create trigger input_restored after update of dropped on input
when old.dropped = 1 and new.dropped = 0 and new.own = 0
begin
    update package set missing = missing + 1
     where id = new.package_id and early = 0
       and (select present from file where id = new.file_id) = 0;
    update package
       set awaited = awaited + (select present = 0 from file where id = new.file_id),
           gathered = gathered + (select present = 1 and late = 0 and package_id is not null
                                    from file where id = new.file_id)
     where id = new.package_id and early > 0;
end;

create trigger package_gathered after update of gathered, awaited on package
when new.early > 0
begin
    update package set missing = (new.awaited > 0 and new.gathered = 0) where id = new.id;
    insert into feed (package_id, file_id, node_id)
    select new.id, 0, new.node_id
     where new.awaited = 0 and old.awaited > 0 and new.early = 1
       and new.phase in ('starting', 'staging-in', 'running', 'suspended', 'unreachable')
    on conflict do update set state = 0;
end;

create trigger package_fed after update of phase on package
when new.early > 0
    and old.phase in ('starting', 'staging-in', 'running', 'suspended', 'unreachable', 'killing')
    and new.phase not in ('starting', 'staging-in', 'running', 'suspended', 'unreachable',
                          'killing')
begin
    delete from feed where package_id = new.id;
end;

insert into sqlite_stat1 (tbl, idx, stat) values
    ('feed',    'feed',            '1000 100 1'),
    ('feed',    'feed_due',        '20 5'),
    ('feed',    'feed_of_file',    '1000 1'),
    ('file',    'file_late',       '100 1'),
    ('file',    'file_of_pattern', '1000 50'),
    ('package', 'package_early',   '100 1'),
    ('package', 'package_open',    '20 5');
