-- Production as a whole may stand still: a trouble and a notice of a kind of their own.
create table notice_017 (
    id         integer primary key,
    recipient  text not null,              -- an address, or `command`
    kind       text not null check (kind in ('failures', 'ended', 'node-down', 'node-drained',
                                             'node-given-up', 'stands-still', 'cleared')),
    subject_id integer not null,           -- a job or a node; 0 is all production
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

insert into notice_017 select * from notice;

drop table notice;

alter table notice_017 rename to notice;

create table trouble_017 (
    kind       text not null check (kind in ('node-down', 'node-drained', 'held', 'still',
                                             'stands-still')),
    subject_id integer not null,
    subject    text not null,
    since      real not null,
    primary key (kind, subject_id)
) strict, without rowid;

insert into trouble_017 select * from trouble;

drop table trouble;

alter table trouble_017 rename to trouble;
