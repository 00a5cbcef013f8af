-- What a site file lays down (docs/sitefile.md): settings, software, and what it says of
-- nodes and clusters; and the way of software to the nodes (`002`, use cases VI and VII).

create table setting (
    name  text primary key,                -- a section of the site file
    value text not null                    -- what it says, as JSON
) strict, without rowid;

create table software (
    id         integer primary key,
    name       text not null,
    version    text not null,
    platform   text not null default '',   -- empty: any
    title      text not null generated always as (name || '/' || version) virtual,
    script     text,
    shell      text not null default 'bash',
    parameters text not null default '{}',
    archive    text,                       -- absolute path on this machine, or URL; null: no files
    checksum   text,
    size       integer,
    manifest   text,                       -- one checksum of the list of its files
    needs      text not null default '[]',
    runtime    real,
    log_rules  text not null default '[]',
    hooks      text not null default '{}',
    progress   text,
    "check"    text,
    applied    integer not null default 0 check (applied in (0, 1)),  -- it came with a site file
    unique (name, version, platform),
    check (script is not null or archive is not null),
    check (archive is null or checksum is not null)
) strict;

alter table cluster add column services text not null default '[]';
alter table cluster add column applied integer not null default 0 check (applied in (0, 1));

alter table node add column services text not null default '[]';
alter table node add column platform_asked text;
alter table node add column memory_asked integer;
alter table node add column applied integer not null default 0 check (applied in (0, 1));

alter table demand add column software text not null default '[]';
alter table demand add column needs text not null default '[]';

-- Which entry of the catalogue a node takes: the one for its platform, else the one for any.
create view node_software as
    select node.id as node_id, node.cluster_id, software.*
      from node
      join software on software.platform in ('', coalesce(node.platform, ''))
     where software.platform <> ''
        or not exists (select 1 from software as own
                        where own.name = software.name and own.version = software.version
                          and own.platform <> '' and own.platform = node.platform);

-- An archive of this machine on a node, or on its way there.
create table archive_copy (
    node_id    integer not null references node on delete cascade,
    checksum   text not null,
    arrived    real,
    not_before real not null default 0,
    tries      integer not null default 0,
    trouble    text,
    primary key (node_id, checksum)
) strict, without rowid;

-- What a node was asked to do with its software, and what came of it.
create table software_order (
    id       integer primary key,
    node_id  integer not null references node on delete cascade,
    verb     text not null check (verb in ('push', 'purge', 'verify')),
    name     text not null,
    version  text not null,
    platform text not null,
    archive  text not null,
    checksum text not null,
    size     integer,
    manifest text,
    actor    text not null,
    asked    real not null,
    ended    real,
    ok       integer check (ok in (0, 1)),
    message  text,
    faults   text not null default '[]'
) strict;

create index software_order_open on software_order (node_id) where ended is null;

insert into sqlite_stat1 (tbl, idx, stat) values
    ('archive_copy',   'archive_copy',                '200 10 1'),
    ('setting',        'setting',                     '10 1'),
    ('software',       'sqlite_autoindex_software_1', '50 5 2 1'),
    ('software_order', 'software_order_open',         '5 1');
