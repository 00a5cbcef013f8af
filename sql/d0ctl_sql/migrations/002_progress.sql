-- What wrappers tell of attempts under way.

alter table attempt add column phase text;                          -- the last that it told of itself
alter table attempt add column phase_seq integer not null default 0; -- the message that told it
alter table attempt add column partial integer not null default 0 check (partial in (0, 1));

alter table file add column partial integer not null default 0 check (partial in (0, 1));

alter table node add column clock real not null default 0;    -- seconds that its clock is ahead

-- How far a launched package is; its row goes with the end of the attempt.

create table progress (
    package_id integer primary key references package,
    attempt_id integer not null,
    seq        integer not null,           -- the message that told it
    at         real not null,
    binary     integer not null,
    done       real,
    total      real,
    percent    real,                       -- of the whole chain
    line       text not null,              -- in the binary's own words
    eta        real,
    cpu        real not null,
    rss        integer not null
) strict;

-- What a wrapper found worth keeping, though it ended nothing.

create table note (
    attempt_id integer not null references attempt,
    seq        integer not null,
    at         real not null,
    binary     integer,
    text       text not null,
    primary key (attempt_id, seq)
) strict, without rowid;

create index package_requested on package (node_id)
    where request = 'pause' or request = 'resume';

insert into transition (old, new, verb) values
    ('starting',    'suspended',  'pause'),
    ('staging-in',  'suspended',  'pause'),
    ('unreachable', 'staging-in', 'regain contact');

insert into sqlite_stat1 (tbl, idx, stat) values
    ('progress', null,                '1000'),
    ('note',     'note',              '10000 2 1'),
    ('package',  'package_requested', '5 1');
