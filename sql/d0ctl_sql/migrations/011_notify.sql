-- Being told: what is yet to be told to whom, what is on its way there, who knows of which trouble.

-- Up to which event the news have been read; null while the site tells nobody anything.
create table notified (
    id    integer primary key check (id = 1),
    event integer
) strict;

insert into notified (id) values (1);

alter table job add column mail text;      -- what the researcher wants to be told; null: the site's
alter table job add column told real;      -- the end that was read as news

update job set told = ended;

create index job_untold on job (id) where ended is not told;

-- What somebody is yet to be told; of alike things only one row, which counts them.
create table notice (
    id         integer primary key,
    recipient  text not null,              -- an address, or `command`
    kind       text not null check (kind in ('failures', 'ended', 'node-down', 'node-drained',
                                             'node-given-up', 'cleared')),
    subject_id integer not null,           -- a job or a node
    subject    text not null,              -- its name
    reason     text not null default '',   -- of failures; of what is cleared, the trouble
    count      integer not null default 1,
    failed     integer not null default 0, -- for good
    held       integer not null default 0,
    first      real not null,
    last       real not null,
    due        real not null,
    trouble    text,                       -- what will be told of when it clears
    samples    text not null default '[]',
    unique (recipient, kind, subject_id, reason)
) strict;

-- What is wrong now and has been noticed.
create table trouble (
    kind       text not null check (kind in ('node-down', 'node-drained', 'held', 'still')),
    subject_id integer not null,
    subject    text not null,
    since      real not null,
    primary key (kind, subject_id)
) strict, without rowid;

-- Who was told of it, and is to be told when it clears.
create table told (
    kind       text not null,
    subject_id integer not null,
    recipient  text not null,
    primary key (kind, subject_id, recipient)
) strict, without rowid;

-- What is written and on its way, or has gone.
create table delivery (
    id         integer primary key autoincrement,
    recipient  text not null,
    message_id text not null,
    title      text not null,
    body       text,                       -- null once it has gone
    made       real not null,
    tries      integer not null default 0,
    not_before real not null default 0,
    trouble    text,                       -- why the last try failed
    ended      real,                       -- it has gone, or was given up
    sent       integer not null default 0 check (sent in (0, 1))
) strict;

create index delivery_open on delivery (not_before) where ended is null;

create index delivery_ended on delivery (ended) where ended is not null;
