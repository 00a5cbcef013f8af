-- What the migrations make of an empty file; written by `python -m tests.support.schema`.

CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");

CREATE TABLE site (
    id         integer primary key check (id = 1),
    name       text not null,              -- random; names this database's folders on the nodes
    generation integer not null default 1,
    created    real not null
) strict;

CREATE TABLE phase (
    name   text primary key,
    status text not null check (status in ('unscheduled', 'scheduled', 'launched',
                                           'successful', 'failed', 'canceled')),
    slot   integer not null default 0      -- 1: takes cpus of its node
) strict, without rowid;

CREATE TABLE transition (
    old  text not null references phase,
    new  text not null references phase,
    verb text not null,
    primary key (old, new)
) strict, without rowid;

CREATE TABLE cluster (
    id       integer primary key,
    name     text not null unique,
    platform text,
    private  integer not null default 0 check (private in (0, 1)),
    capacity integer                       -- bytes of cache given to this site
, services text not null default '[]', applied integer not null default 0 check (applied in (0, 1))) strict;

CREATE TABLE node (
    id          integer primary key,
    name        text not null unique,
    cluster_id  integer not null references cluster,
    kind        text not null check (kind in ('local', 'ssh')),
    destination text not null default '',
    identity    text not null default '',
    directory   text not null default '',
    python      text not null default '',
    via         text not null default 'auto' check (via in ('auto', 'fabric', 'openssh')),
    cpus        integer not null check (cpus > 0),
    cpus_asked  integer,                   -- by --cpus; null: what the node says
    speed       real not null default 1.0,
    memory      integer,
    platform    text,
    drained     integer not null default 0 check (drained in (0, 1)),
    drain_note  text,
    state       text not null default 'unknown' check (state in ('unknown', 'up', 'down')),
    since       real,                      -- of this state
    contact     real,                      -- last word from it
    trouble     text,                      -- why it is down
    machine     text,                      -- machine-id, to tell an alias for several machines
    boot        text,
    base        text,                      -- its absolute folder
    facts       text not null default '{}'
, clock real not null default 0, services text not null default '[]', platform_asked text, memory_asked integer, applied integer not null default 0 check (applied in (0, 1)), load real, drained_at real) strict;

CREATE TABLE lease (
    name   text primary key,
    holder text not null,                  -- boot id, pid, start time
    taken  real not null
) strict, without rowid;

CREATE TABLE job (
    id          integer primary key autoincrement,
    name        text not null unique,
    title       text not null default '',
    originator  text not null,
    priority    integer not null default 50 check (priority between 0 and 100),
    hold        integer not null default 0 check (hold in (0, 1)),
    hold_actor  text,
    hold_note   text,
    hold_since  real,
    pause       integer not null default 0 check (pause in (0, 1)),
    visible     integer not null default 0 check (visible in (0, 1)),
    submitter   text not null,             -- lease holder while its rows come in
    submitted   real not null,
    ended       real,                      -- when nothing of it could move any more
    parameters  text not null default '{}',
    policy      text not null default '{}',
    directory   text not null,
    source      text not null
, pause_running integer not null default 0
    check (pause_running in (0, 1)), pause_actor text, pause_note text, pause_since real, finish text         -- null: no; what is not launched is canceled
    check (finish is null or finish = 'soft' or finish = 'hard'), finish_actor text, finish_note text, finish_since real, mail text, told real, most_alike integer) strict;

CREATE TABLE need (
    job_id   integer not null references job on delete cascade,
    maker_id integer not null,
    primary key (job_id, maker_id)
) strict, without rowid;

CREATE TABLE stage (
    id      integer primary key,
    job_id  integer not null references job on delete cascade,
    seq     integer not null,
    name    text not null,
    require real not null default 1.0 check (require between 0 and 1),
    lines   integer not null default 0, weighed real,
    unique (job_id, seq)
) strict;

CREATE TABLE stage_count (
    stage_id integer not null references stage on delete cascade,
    phase    text not null references phase,
    n        integer not null default 0 check (n >= 0),
    primary key (stage_id, phase)
) strict, without rowid;

CREATE TRIGGER stage_counted after insert on stage
begin
    insert into stage_count (stage_id, phase) select new.id, name from phase;
end;

CREATE TABLE line (
    id          integer primary key,
    stage_id    integer not null references stage on delete cascade,
    seq         integer not null,
    name        text not null,
    early_start integer not null default 0 check (early_start in (0, 1)),
    dropped     real, named integer not null default 0 check (named in (0, 1)),                      -- when, by kill-line --drop-outputs
    unique (stage_id, seq)
) strict;

CREATE INDEX line_dropped on line (stage_id) where dropped is not null;

CREATE TABLE demand (
    id            integer primary key,
    job_id        integer not null references job on delete cascade,
    stage_id      integer not null,
    cpus          integer not null default 1 check (cpus > 0),
    memory        integer,
    disk          integer,
    platform      text,
    nodes         text not null default '[]',
    exclude_nodes text not null default '[]',
    ready         integer not null default 0 check (ready >= 0),
    pace          real                     -- seconds such a package lately took
, software text not null default '[]', needs text not null default '[]', early integer not null default 0 check (early in (0, 1)), fetches integer not null default 0
    check (fetches in (0, 1)), avoid text, boost integer not null default 0 check (boost between 0 and 100), failed_on text, stay text, space integer) strict;

CREATE INDEX demand_of_job on demand (job_id);

CREATE INDEX demand_ready on demand (job_id) where ready > 0;

CREATE TABLE package (
    id          integer primary key,
    job_id      integer not null,
    stage_id    integer not null,
    line_id     integer not null references line,
    seq         integer not null,
    name        text not null,
    phase       text not null references phase,
    status      text not null generated always as (
        case when phase in ('waiting', 'ready', 'cooloff', 'held') then 'unscheduled'
             when phase = 'assigned' then 'scheduled'
             when phase = 'done' then 'successful'
             when phase = 'failed' then 'failed'
             when phase in ('canceled', 'dropped') then 'canceled'
             else 'launched' end) virtual,
    missing     integer not null default 0 check (missing >= 0),   -- files and predecessor it waits for
    staging     integer not null default 0 check (staging >= 0),   -- inputs on their way to its node
    demand_id   integer not null,
    node_id     integer,
    attempt_id  integer,                   -- the one attempt that counts
    attempts    integer not null default 0,
    restarts    integer not null default 0,
    not_before  real,                      -- end of cooloff
    request     text,                      -- a verb under way, or failed
    changed     real not null,
    actor       text,                      -- who changed it; null: d0ctl itself
    note        text,                      -- why
    wall_time   real,
    looping     real,
    wrapper     text,
    wrapper_parameters text,
    environment text,
    policy      text, parked integer not null default 0 check (parked in (0, 1)), early integer not null default 0
    check (early in (0, 1, 2)), gathered integer not null default 0 check (gathered >= 0), awaited integer not null default 0 check (awaited >= 0), tried_from integer not null default 0, accept integer,
    unique (line_id, seq)
) strict;

CREATE INDEX package_in_phase on package (job_id, phase);

CREATE INDEX package_ready on package (demand_id, id) where phase = 'ready';

CREATE INDEX package_live on package (node_id)
    where phase in ('assigned', 'starting', 'staging-in', 'running', 'suspended', 'killing',
                    'unreachable');

CREATE INDEX package_assigned on package (node_id, id) where phase = 'assigned';

CREATE INDEX package_killing on package (node_id) where phase = 'killing';

CREATE INDEX package_cooling on package (not_before) where phase = 'cooloff';

CREATE TABLE binary (
    package_id integer not null references package,
    seq        integer not null,
    name       text not null,
    script     text,
    shell      text not null default 'bash',
    argv       text,
    software   text,
    version    text,
    parameters text,
    needs      text,
    cpu        integer,
    runtime    real,
    work_size  integer,
    log_rules  text,
    progress   text,
    "check"    text, check_timeout real, events text,
    primary key (package_id, seq)
) strict, without rowid;

CREATE TABLE file (
    id           integer primary key autoincrement,    -- it names copies: never used twice
    job_id       integer not null,
    name         text not null,
    package_id   integer references package,
    binary       integer,
    present      integer not null default 0 check (present in (0, 1)),
    dropped      integer not null default 0 check (dropped in (0, 1)),
    size         integer,
    checksum     text,
    locator      text,
    size_asked   integer,
    min_size     integer,
    checksum_asked text,
    dispositions text not null default '',
    result       integer not null default 0 check (result in (0, 1)),
    late         integer not null default 0 check (late in (0, 1)), partial integer not null default 0 check (partial in (0, 1)), stored text, min_count integer, pattern_id integer, disposition text                    -- given by a person
    check (disposition in ('retain-indef', 'retain-temp', 'deletable')),
    unique (job_id, name)
) strict;

CREATE INDEX file_of_package on file (package_id) where package_id is not null;

CREATE TABLE input (
    package_id  integer not null references package,
    binary      integer not null,
    file_id     integer not null references file,
    place       integer not null,          -- in the list of the binary's inputs
    own         integer not null default 0 check (own in (0, 1)),     -- made in the same package
    acquire     text not null      -- not by `in`, of which SQLite makes a table for each row
        check (acquire = 'none' or acquire = 'self' or acquire = 'pre-fetch'),
    disposition text,
    required    integer not null default 1 check (required in (0, 1)),
    dropped     integer not null default 0 check (dropped in (0, 1)),
    locator     text,
    size        integer,
    checksum    text, "match" text, writable integer not null default 0 check (writable in (0, 1)),
    primary key (package_id, binary, file_id)
) strict, without rowid;

CREATE INDEX input_of_file on input (file_id, package_id);

CREATE TABLE location (
    file_id    integer not null references file,
    cluster_id integer not null references cluster,
    path       text not null,
    node_id    integer,
    sticky     integer not null default 0 check (sticky in (0, 1)),
    made       real not null, shared integer not null default 0 check (shared in (0, 1)), spare integer not null default 0 check (spare in (0, 1)), inode integer, mtime integer,
    primary key (file_id, cluster_id)
) strict, without rowid;

CREATE TABLE transfer (
    file_id    integer not null references file,
    cluster_id integer not null references cluster,
    result     integer not null default 0 check (result in (0, 1)),
    wanted     real not null,
    not_before real not null default 0,
    tries      integer not null default 0,
    trouble    text,
    primary key (file_id, cluster_id, result)
) strict, without rowid;

CREATE INDEX transfer_due on transfer (not_before, wanted, file_id);

CREATE TABLE attempt (
    id         integer primary key autoincrement,
    package_id integer not null references package,
    number     integer not null,
    node_id    integer not null,
    node_name  text not null,              -- kept when the node is removed
    base       text,                       -- the node's folder, where its logs are
    launched   real not null,
    started    real,
    ended      real,
    utc_offset integer,
    outcome    text check (outcome in ('successful', 'failed', 'killed', 'lost', 'refused')),
    kind       text not null default 'first' check (kind in ('first', 'resubmit', 'restart')),
    binary     integer,
    reason     text,
    message    text,
    exit_code  integer,
    signal     integer,
    cpu        real,
    rss        integer,
    stderr     text, phase text, phase_seq integer not null default 0, partial integer not null default 0 check (partial in (0, 1)), inputs integer, inputs_asked integer, left_out text, kept text, began integer, began_why text, events text, answer text, delivers integer not null default 0
    check (delivers in (0, 1)), left_size integer,
    unique (package_id, number)
) strict;

CREATE INDEX attempt_failed on attempt (ended) where outcome in ('failed', 'lost');

CREATE TABLE binary_attempt (
    attempt_id integer not null references attempt,
    seq        integer not null,
    started    real,
    ended      real,
    exit_code  integer,
    signal     integer,
    reason     text,
    cpu        real,
    rss        integer,
    primary key (attempt_id, seq)
) strict, without rowid;

CREATE VIEW failure as
    select package_id, reason, count(*) as count, max(ended) as last,
           message, node_name
      from attempt
     where outcome in ('failed', 'lost')
     group by package_id, reason;

CREATE TABLE event (
    id         integer primary key,
    at         real not null,
    package_id integer not null,
    old        text not null,
    new        text not null,
    attempt_id integer,
    node_id    integer,
    actor      text,
    note       text
) strict;

CREATE INDEX event_of_package on event (package_id);

CREATE TABLE action (
    id       integer primary key,
    at       real not null,
    actor    text not null,
    verb     text not null,
    target   text not null,
    note     text,
    packages integer not null default 0
, undo text) strict;

CREATE TABLE purge (
    id         integer primary key,
    node_id    integer not null references node on delete cascade,
    attempt_id integer,
    path       text
) strict;

CREATE INDEX purge_of_node on purge (node_id);

CREATE TRIGGER package_made after insert on package
begin
    update stage_count set n = n + 1 where stage_id = new.stage_id and phase = new.phase;
end;

CREATE TRIGGER package_made_ready after insert on package when new.phase = 'ready'
begin
    update demand set ready = ready + 1 where id = new.demand_id;
end;

CREATE TRIGGER package_succeeded after update of phase on package
when old.phase not in ('transferring', 'done') and new.phase in ('transferring', 'done')
begin
    update package set missing = missing - 1
     where line_id = new.line_id and seq = new.seq + 1;
end;

CREATE TRIGGER package_undone after update of phase on package
when old.phase in ('transferring', 'done') and new.phase not in ('transferring', 'done')
begin
    update package set missing = missing + 1
     where line_id = new.line_id and seq = new.seq + 1;
end;

CREATE INDEX package_released on package (id) where phase = 'waiting' and missing = 0;

CREATE TABLE progress (
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

CREATE TABLE note (
    attempt_id integer not null references attempt,
    seq        integer not null,
    at         real not null,
    binary     integer,
    text       text not null,
    primary key (attempt_id, seq)
) strict, without rowid;

CREATE INDEX package_requested on package (node_id)
    where request = 'pause' or request = 'resume';

CREATE INDEX job_finishing on job (id) where finish is not null;

CREATE INDEX action_at on action (at);

CREATE INDEX stage_lenient on stage (job_id) where require < 1;

CREATE TABLE habit (
    software text not null,
    stage_id integer not null,             -- 0 for one from the catalogue
    binary   integer not null,             -- likewise
    runs     integer not null,
    gap      real not null,                -- the longest time in which nothing of it showed
    primary key (software, stage_id, binary)
) strict, without rowid;

CREATE TRIGGER stage_forgotten after delete on stage
begin
    delete from habit where software = '' and stage_id = old.id;
end;

CREATE TABLE setting (
    name  text primary key,                -- a section of the site file
    value text not null                    -- what it says, as JSON
) strict, without rowid;

CREATE TABLE software (
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
    applied    integer not null default 0 check (applied in (0, 1)), policy text not null default '{}',  -- it came with a site file
    unique (name, version, platform),
    check (script is not null or archive is not null),
    check (archive is null or checksum is not null)
) strict;

CREATE VIEW node_software as
    select node.id as node_id, node.cluster_id, software.*
      from node
      join software on software.platform in ('', coalesce(node.platform, ''))
     where software.platform <> ''
        or not exists (select 1 from software as own
                        where own.name = software.name and own.version = software.version
                          and own.platform <> '' and own.platform = node.platform);

CREATE TABLE archive_copy (
    node_id    integer not null references node on delete cascade,
    checksum   text not null,
    arrived    real,
    not_before real not null default 0,
    tries      integer not null default 0,
    trouble    text,
    primary key (node_id, checksum)
) strict, without rowid;

CREATE TABLE software_order (
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

CREATE INDEX software_order_open on software_order (node_id) where ended is null;

CREATE INDEX location_shared on location (cluster_id, path) where shared = 1;

CREATE INDEX location_spare on location (cluster_id, made) where spare = 1;

CREATE INDEX purge_of_path on purge (path) where path is not null;

CREATE TABLE spent (
    file_id integer primary key
) strict;

CREATE INDEX package_early on package (id) where early > 0;

CREATE INDEX package_open on package (job_id)
    where early = 1 and awaited > 0
      and phase in ('starting', 'staging-in', 'running', 'suspended', 'unreachable');

CREATE INDEX file_late on file (package_id) where late = 1;

CREATE INDEX file_of_pattern on file (pattern_id) where pattern_id is not null;

CREATE TABLE feed (
    package_id integer not null references package on delete cascade,
    file_id    integer not null,
    node_id    integer not null,
    state      integer not null default 0 check (state in (0, 1, 2)),
    primary key (package_id, file_id)
) strict, without rowid;

CREATE INDEX feed_due on feed (node_id) where state = 0;

CREATE INDEX feed_of_file on feed (file_id);

CREATE TRIGGER file_gained after update of present on file
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

CREATE TRIGGER file_lost after update of present on file
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

CREATE TRIGGER file_gathered after update of present on file
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

CREATE TRIGGER file_scattered after update of present on file
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

CREATE TRIGGER input_dropped after update of dropped on input
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

CREATE TRIGGER input_restored after update of dropped on input
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

CREATE TRIGGER package_gathered after update of gathered, awaited on package
when new.early > 0
begin
    update package set missing = (new.awaited > 0 and new.gathered = 0) where id = new.id;
    insert into feed (package_id, file_id, node_id)
    select new.id, 0, new.node_id
     where new.awaited = 0 and old.awaited > 0 and new.early = 1
       and new.phase in ('starting', 'staging-in', 'running', 'suspended', 'unreachable')
    on conflict do update set state = 0;
end;

CREATE TRIGGER package_fed after update of phase on package
when new.early > 0
    and old.phase in ('starting', 'staging-in', 'running', 'suspended', 'unreachable', 'killing')
    and new.phase not in ('starting', 'staging-in', 'running', 'suspended', 'unreachable',
                          'killing')
begin
    delete from feed where package_id = new.id;
end;

CREATE INDEX package_releasing on package (not_before, job_id)
    where phase = 'held' and not_before is not null;

CREATE TABLE job_conduct (
    job_id     integer not null references job on delete cascade,
    node_id    integer not null references node on delete cascade,
    successful integer not null default 0,
    failed     integer not null default 0,
    primary key (job_id, node_id)
) strict, without rowid;

CREATE INDEX job_conduct_of_node on job_conduct (node_id);

CREATE TABLE conduct (
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

CREATE INDEX conduct_streak on conduct (stage_id) where streak > 0;

CREATE INDEX conduct_of_node on conduct (node_id);

CREATE INDEX conduct_of_job on conduct (job_id);

CREATE TABLE bad_node (
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

CREATE VIEW node_trouble as
    select node.id as node_id, node.name, 'down' as kind, node.since, node.trouble as evidence,
           null as next_try
      from node where node.state = 'down'
     union all
    select node.id, node.name, 'drained', bad_node.since, bad_node.evidence, bad_node.next_try
      from bad_node join node on node.id = bad_node.node_id;

CREATE TABLE notified (
    id    integer primary key check (id = 1),
    event integer
) strict;

CREATE INDEX job_untold on job (id) where ended is not told;

CREATE TABLE told (
    kind       text not null,
    subject_id integer not null,
    recipient  text not null,
    primary key (kind, subject_id, recipient)
) strict, without rowid;

CREATE TABLE delivery (
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

CREATE INDEX delivery_open on delivery (not_before) where ended is null;

CREATE INDEX delivery_ended on delivery (ended) where ended is not null;

CREATE TRIGGER package_refused after update of phase on package
when old.phase <> new.phase and not exists (
    select 1 from transition where transition.old = old.phase and transition.new = new.phase)
begin
    select raise(abort, 'not a transition');
end;

CREATE TRIGGER package_moved after update of phase on package when old.phase <> new.phase
begin
    update stage_count set n = n - 1 where stage_id = new.stage_id and phase = old.phase;
    update stage_count set n = n + 1 where stage_id = new.stage_id and phase = new.phase;
    update demand set ready = ready + 1 where new.phase = 'ready' and id = new.demand_id;
    update demand set ready = ready - 1 where old.phase = 'ready' and id = new.demand_id;
    insert into event (at, package_id, old, new, attempt_id, node_id, actor, note)
    values (new.changed, new.id, old.phase, new.phase, new.attempt_id, new.node_id,
            new.actor, new.note);
end;

CREATE TRIGGER package_spent after update of phase on package
when (new.phase = 'transferring' or new.phase = 'done' or new.phase = 'dropped')
    and old.phase <> new.phase
begin
    insert or ignore into spent (file_id) select file_id from input where package_id = new.id;
    insert or ignore into spent (file_id)
    select id from file where new.phase <> 'dropped' and package_id = new.id;
end;

CREATE TRIGGER package_resubmitted after update of phase on package
when new.actor is not null and (new.phase = 'ready' or new.phase = 'waiting')
    and (new.tried_from <> new.attempts or new.restarts <> 0)
    and (old.phase = 'failed' or old.phase = 'canceled' or old.phase = 'cooloff'
         or old.phase = 'done' or (old.phase = 'held' and old.actor = 'policy'))
begin
    update package set tried_from = new.attempts, restarts = 0 where id = new.id;
end;

CREATE INDEX demand_stay on demand (stay) where stay is not null;

CREATE INDEX attempt_left on attempt (ended) where left_size is not null;

CREATE TRIGGER package_cleaned after update of phase on package
when (new.phase = 'transferring' or new.phase = 'done' or new.phase = 'dropped'
      or new.phase = 'canceled')
    and new.attempts > (old.phase <> 'failed' and old.phase <> 'canceled'
                        and (new.phase = 'transferring' or new.phase = 'done'))
    and old.phase <> 'transferring' and old.phase <> 'done' and old.phase <> 'dropped'
begin
    insert into purge (node_id, path)
    select node.id, 'cache/' || attempt.id
      from attempt join node on node.id = attempt.node_id
     where attempt.package_id = new.id
       and (attempt.outcome = 'lost' or (attempt.outcome = 'failed' and attempt.kept is not null));
    insert into purge (node_id, path)
    select node.id, 'attempts/' || attempt.id || '/work'
      from attempt join node on node.id = attempt.node_id
     where attempt.package_id = new.id and attempt.outcome = 'lost';
    update attempt set kept = null, left_size = null where package_id = new.id and kept is not null;
end;

CREATE TRIGGER package_left after update of phase on package
when (new.parked = 1 and new.phase <> 'held')
    or (new.staging > 0 and new.phase <> 'assigned')
    or (new.not_before is not null and new.phase <> 'cooloff' and new.phase <> 'held')
    or (new.request is not null
        and (((new.request = 'pause' or new.request = 'resume')
              and new.phase <> 'starting' and new.phase <> 'staging-in' and new.phase <> 'running'
              and new.phase <> 'suspended' and new.phase <> 'unreachable')
             or ((new.request = 'kill' or new.request = 'kill partial' or new.request = 'kill now'
               or new.request = 'drop' or new.request = 'drop now')
                 and new.phase <> 'killing')))
begin
    update package
       set parked = iif(phase = 'held', parked, 0),
           staging = iif(phase = 'assigned', staging, 0),
           not_before = iif(phase = 'cooloff' or phase = 'held', not_before, null),
           request = case when request = 'pause' or request = 'resume'
                          then iif(phase = 'starting' or phase = 'staging-in' or phase = 'running'
                                   or phase = 'suspended' or phase = 'unreachable', request, null)
                          when request = 'kill' or request = 'kill partial' or request = 'kill now'
                              or request = 'drop' or request = 'drop now'
                          then iif(phase = 'killing', request, null)
                          else request end
     where id = new.id;
end;

CREATE TRIGGER job_reopened after update of phase on package
when new.phase <> old.phase
    and new.phase <> 'done' and new.phase <> 'failed' and new.phase <> 'canceled'
    and new.phase <> 'dropped'
    and (old.phase = 'waiting' or old.phase = 'done' or old.phase = 'failed'
         or old.phase = 'canceled' or old.phase = 'dropped')
begin
    update job set ended = null where id = new.job_id and ended is not null;
end;

CREATE INDEX package_awaiting on package (job_id) where early > 0 and awaited > 0;

CREATE TABLE "notice" (
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

CREATE TABLE "trouble" (
    kind       text not null check (kind in ('node-down', 'node-drained', 'held', 'still',
                                             'stands-still')),
    subject_id integer not null,
    subject    text not null,
    since      real not null,
    primary key (kind, subject_id)
) strict, without rowid;

CREATE TABLE alike (
    stage_id integer not null references stage on delete cascade,
    reason   text not null,
    failed   integer not null,
    primary key (stage_id, reason)
) strict, without rowid;
