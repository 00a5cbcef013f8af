-- How nodes do with what they are given, and which of them d0ctl has drained for it.

-- The node on which a package failed last, for the exclusion of nodes by job (`001`).
alter table demand add column failed_on text;

-- Counted since the job was submitted, or a person had something of it tried again.
create table job_conduct (
    job_id     integer not null references job on delete cascade,
    node_id    integer not null references node on delete cascade,
    successful integer not null default 0,
    failed     integer not null default 0,
    primary key (job_id, node_id)
) strict, without rowid;

create index job_conduct_of_node on job_conduct (node_id);

create table conduct (
    stage_id   integer not null references stage on delete cascade,
    node_id    integer not null references node on delete cascade,
    job_id     integer not null,
    successful integer not null default 0,
    failed     integer not null default 0,
    streak     integer not null default 0, -- failures in a row, up to now
    since      real,                       -- when the first of them ended
    last       real,                       -- when the last of them ended
    lasted     real,                       -- how long the last of them took
    longest    real,                       -- how long the longest of them took
    primary key (stage_id, node_id)
) strict, without rowid;

create index conduct_streak on conduct (stage_id) where streak > 0;
create index conduct_of_node on conduct (node_id);
create index conduct_of_job on conduct (job_id);

-- Nodes that d0ctl itself has drained: they burn what others run well.
create table bad_node (
    node_id   integer primary key references node on delete cascade,
    job_id    integer not null,
    stage_id  integer not null,
    since     real not null,
    began     real not null,               -- when the first of what it burnt had ended
    evidence  text not null,               -- in a sentence
    details   text not null,               -- as JSON
    times     integer not null default 1,  -- how often it was found so since it was last well
    next_try  real not null,               -- when one package is to try it
    canary_id integer                      -- the package that does, or did last
) strict;

-- Every node that wants somebody, since when and why.
create view node_trouble as
    select node.id as node_id, node.name, 'down' as kind, node.since, node.trouble as evidence,
           null as next_try
      from node where node.state = 'down'
     union all
    select node.id, node.name, 'drained', bad_node.since, bad_node.evidence, bad_node.next_try
      from bad_node join node on node.id = bad_node.node_id;

insert into sqlite_stat1 (tbl, idx, stat) values
    ('conduct', 'conduct_streak', '20 5'),
    ('conduct', 'conduct_of_node', '1000 50'),
    ('conduct', 'conduct_of_job', '1000 100'),
    ('conduct', 'conduct', '1000 10 1'),
    ('job_conduct', 'job_conduct', '500 10 1'),
    ('job_conduct', 'job_conduct_of_node', '500 50'),
    ('bad_node', null, '2');
