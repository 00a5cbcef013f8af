-- The records of `000` section 2, the control databases of `002` that they need,
-- and the rules that keep them true. Times are seconds since the epoch in UTC,
-- sizes bytes, lists and mappings JSON.

create table site (
    id         integer primary key check (id = 1),
    name       text not null,              -- random; names this database's folders on the nodes
    generation integer not null default 1,
    created    real not null
) strict;

-- Words of the state machine -------------------------------------------------

create table phase (
    name   text primary key,
    status text not null check (status in ('unscheduled', 'scheduled', 'launched',
                                           'successful', 'failed', 'canceled')),
    slot   integer not null default 0      -- 1: takes cpus of its node
) strict, without rowid;

insert into phase (name, status, slot) values
    ('waiting',      'unscheduled', 0),
    ('ready',        'unscheduled', 0),
    ('cooloff',      'unscheduled', 0),
    ('held',         'unscheduled', 0),
    ('assigned',     'scheduled',   1),
    ('starting',     'launched',    1),
    ('staging-in',   'launched',    1),
    ('running',      'launched',    1),
    ('suspended',    'launched',    1),
    ('killing',      'launched',    1),
    ('unreachable',  'launched',    1),
    ('transferring', 'launched',    0),
    ('done',         'successful',  0),
    ('failed',       'failed',      0),
    ('canceled',     'canceled',    0),
    ('dropped',      'canceled',    0);

create table transition (
    old  text not null references phase,
    new  text not null references phase,
    verb text not null,
    primary key (old, new)
) strict, without rowid;

insert into transition (old, new, verb) values
    ('waiting',      'ready',        'release files'),
    ('ready',        'waiting',      'lose a file'),
    ('held',         'waiting',      'release'),
    ('held',         'ready',        'release'),
    ('waiting',      'held',         'hold'),
    ('ready',        'held',         'hold'),
    ('cooloff',      'held',         'hold'),
    ('assigned',     'held',         'hold'),
    ('cooloff',      'ready',        'cool off'),
    ('cooloff',      'waiting',      'lose a file'),
    ('ready',        'assigned',     'schedule'),
    ('assigned',     'ready',        'unschedule'),
    ('assigned',     'waiting',      'lose a file'),
    ('assigned',     'starting',     'launch'),
    ('starting',     'ready',        'refuse'),
    ('starting',     'cooloff',      'refuse'),
    ('starting',     'held',         'refuse'),
    ('starting',     'staging-in',   'stage in'),
    ('staging-in',   'running',      'start'),
    ('starting',     'running',      'start'),
    ('running',      'suspended',    'pause'),
    ('suspended',    'running',      'resume'),
    ('starting',     'unreachable',  'lose contact'),
    ('staging-in',   'unreachable',  'lose contact'),
    ('running',      'unreachable',  'lose contact'),
    ('suspended',    'unreachable',  'lose contact'),
    ('unreachable',  'starting',     'regain contact'),
    ('unreachable',  'running',      'regain contact'),
    ('unreachable',  'suspended',    'regain contact'),
    ('starting',     'transferring', 'end'),
    ('staging-in',   'transferring', 'end'),
    ('running',      'transferring', 'end'),
    ('suspended',    'transferring', 'end'),
    ('killing',      'transferring', 'end'),
    ('unreachable',  'transferring', 'end'),
    ('starting',     'done',         'end'),
    ('staging-in',   'done',         'end'),
    ('running',      'done',         'end'),
    ('suspended',    'done',         'end'),
    ('killing',      'done',         'end'),
    ('unreachable',  'done',         'end'),
    ('transferring', 'done',         'transfer'),
    ('starting',     'failed',       'fail'),
    ('staging-in',   'failed',       'fail'),
    ('running',      'failed',       'fail'),
    ('suspended',    'failed',       'fail'),
    ('unreachable',  'failed',       'fail'),
    ('transferring', 'failed',       'fail'),
    ('starting',     'canceled',     'end'),
    ('staging-in',   'canceled',     'end'),
    ('running',      'canceled',     'end'),
    ('suspended',    'canceled',     'end'),
    ('unreachable',  'canceled',     'kill'),
    ('killing',      'canceled',     'kill'),
    ('killing',      'dropped',      'drop'),
    ('unreachable',  'dropped',      'drop'),
    ('failed',       'ready',        'retry'),
    ('failed',       'waiting',      'retry'),
    ('failed',       'cooloff',      'retry'),
    ('failed',       'held',         'hold'),
    ('canceled',     'ready',        'retry'),
    ('canceled',     'waiting',      'retry'),
    ('done',         'ready',        'remake'),
    ('done',         'waiting',      'remake'),
    ('transferring', 'ready',        'remake'),
    ('transferring', 'waiting',      'remake'),
    ('starting',     'killing',      'kill'),
    ('staging-in',   'killing',      'kill'),
    ('running',      'killing',      'kill'),
    ('suspended',    'killing',      'kill'),
    ('waiting',      'canceled',     'kill'),
    ('ready',        'canceled',     'kill'),
    ('cooloff',      'canceled',     'kill'),
    ('held',         'canceled',     'kill'),
    ('assigned',     'canceled',     'kill'),
    ('transferring', 'canceled',     'kill'),
    ('failed',       'canceled',     'kill'),
    ('waiting',      'dropped',      'drop'),
    ('ready',        'dropped',      'drop'),
    ('cooloff',      'dropped',      'drop'),
    ('held',         'dropped',      'drop'),
    ('assigned',     'dropped',      'drop'),
    ('transferring', 'dropped',      'drop'),
    ('failed',       'dropped',      'drop'),
    ('canceled',     'dropped',      'drop'),
    ('dropped',      'waiting',      'restore'),
    ('dropped',      'ready',        'restore'),
    ('dropped',      'failed',       'restore'),
    ('dropped',      'canceled',     'restore');

-- Where things run -------------------------------------------------------------

create table cluster (
    id       integer primary key,
    name     text not null unique,
    platform text,
    private  integer not null default 0 check (private in (0, 1)),
    capacity integer                       -- bytes of cache given to this site
) strict;

create table node (
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
) strict;

insert into cluster (id, name) values (1, 'control');

create table lease (
    name   text primary key,
    holder text not null,                  -- boot id, pid, start time
    taken  real not null
) strict, without rowid;

-- The job tree -------------------------------------------------------------------

create table job (
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
) strict;

-- Whose files a job reads besides its own.
create table need (
    job_id   integer not null references job on delete cascade,
    maker_id integer not null,
    primary key (job_id, maker_id)
) strict, without rowid;

create table stage (
    id      integer primary key,
    job_id  integer not null references job on delete cascade,
    seq     integer not null,
    name    text not null,
    require real not null default 1.0 check (require between 0 and 1),
    lines   integer not null default 0,
    unique (job_id, seq)
) strict;

create table stage_count (
    stage_id integer not null references stage on delete cascade,
    phase    text not null references phase,
    n        integer not null default 0 check (n >= 0),
    primary key (stage_id, phase)
) strict, without rowid;

create trigger stage_counted after insert on stage
begin
    insert into stage_count (stage_id, phase) select new.id, name from phase;
end;

create table line (
    id          integer primary key,
    stage_id    integer not null references stage on delete cascade,
    seq         integer not null,
    name        text not null,
    early_start integer not null default 0 check (early_start in (0, 1)),
    dropped     real,                      -- when, by kill-line --drop-outputs
    unique (stage_id, seq)
) strict;

create index line_dropped on line (stage_id) where dropped is not null;

-- What packages of a stage ask of a node; those that ask the same share a row.
create table demand (
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
) strict;

create index demand_of_job on demand (job_id);
create index demand_ready on demand (job_id) where ready > 0;

create table package (
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
    policy      text,
    unique (line_id, seq)
) strict;

create index package_in_phase on package (job_id, phase);
create index package_ready on package (demand_id, id) where phase = 'ready';
create index package_live on package (node_id)
    where phase in ('assigned', 'starting', 'staging-in', 'running', 'suspended', 'killing',
                    'unreachable');
create index package_assigned on package (node_id, id) where phase = 'assigned';
create index package_killing on package (node_id) where phase = 'killing';
create index package_cooling on package (not_before) where phase = 'cooloff';

create table binary (
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
    "check"    text,
    primary key (package_id, seq)
) strict, without rowid;

-- A file that a package makes, or one from outside (package_id null, name absolute).
create table file (
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
    late         integer not null default 0 check (late in (0, 1)),
    unique (job_id, name)
) strict;

create index file_of_package on file (package_id) where package_id is not null;

create table input (
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
    checksum    text,
    primary key (package_id, binary, file_id)
) strict, without rowid;

create index input_of_file on input (file_id, package_id);

-- A copy of a file in the cache of a cluster; in cluster 1 the path is on this machine.
create table location (
    file_id    integer not null references file,
    cluster_id integer not null references cluster,
    path       text not null,
    node_id    integer,
    sticky     integer not null default 0 check (sticky in (0, 1)),
    made       real not null,
    primary key (file_id, cluster_id)
) strict, without rowid;

-- A copy that is wanted: in the cache of a cluster, or (result = 1) in results/JOB/.
create table transfer (
    file_id    integer not null references file,
    cluster_id integer not null references cluster,
    result     integer not null default 0 check (result in (0, 1)),
    wanted     real not null,
    not_before real not null default 0,
    tries      integer not null default 0,
    trouble    text,
    primary key (file_id, cluster_id, result)
) strict, without rowid;

create index transfer_due on transfer (not_before, wanted, file_id);

-- What happened ------------------------------------------------------------------

create table attempt (
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
    stderr     text,
    unique (package_id, number)
) strict;

create index attempt_failed on attempt (ended) where outcome in ('failed', 'lost');

create table binary_attempt (
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

-- `000`: the failure history of a package, by reason.
create view failure as
    select package_id, reason, count(*) as count, max(ended) as last,
           message, node_name
      from attempt
     where outcome in ('failed', 'lost')
     group by package_id, reason;

create table event (
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

create index event_of_package on event (package_id);

-- What people did, one row a verb.
create table action (
    id       integer primary key,
    at       real not null,
    actor    text not null,
    verb     text not null,
    target   text not null,
    note     text,
    packages integer not null default 0
) strict;

-- What is to be removed on a node when it can be reached.
create table purge (
    id         integer primary key,
    node_id    integer not null references node on delete cascade,
    attempt_id integer,
    path       text
) strict;

create index purge_of_node on purge (node_id);

-- The rules --------------------------------------------------------------------------

create trigger package_refused before update of phase on package
when old.phase <> new.phase and not exists (
    select 1 from transition where transition.old = old.phase and transition.new = new.phase)
begin
    select raise(abort, 'not a transition');
end;

create trigger package_made after insert on package
begin
    update stage_count set n = n + 1 where stage_id = new.stage_id and phase = new.phase;
end;

create trigger package_made_ready after insert on package when new.phase = 'ready'
begin
    update demand set ready = ready + 1 where id = new.demand_id;
end;

create trigger package_moved after update of phase on package when old.phase <> new.phase
begin
    update stage_count set n = n - 1 where stage_id = new.stage_id and phase = old.phase;
    update stage_count set n = n + 1 where stage_id = new.stage_id and phase = new.phase;
    insert into event (at, package_id, old, new, attempt_id, node_id, actor, note)
    values (new.changed, new.id, old.phase, new.phase, new.attempt_id, new.node_id,
            new.actor, new.note);
end;

create trigger package_readied after update of phase on package
when old.phase <> 'ready' and new.phase = 'ready'
begin
    update demand set ready = ready + 1 where id = new.demand_id;
end;

create trigger package_unreadied after update of phase on package
when old.phase = 'ready' and new.phase <> 'ready'
begin
    update demand set ready = ready - 1 where id = new.demand_id;
end;

-- `missing` is at all times the number of inputs that are not there, plus one while
-- the package before it in its line has not succeeded.

create trigger package_succeeded after update of phase on package
when old.phase not in ('transferring', 'done') and new.phase in ('transferring', 'done')
begin
    update package set missing = missing - 1
     where line_id = new.line_id and seq = new.seq + 1;
end;

create trigger package_undone after update of phase on package
when old.phase in ('transferring', 'done') and new.phase not in ('transferring', 'done')
begin
    update package set missing = missing + 1
     where line_id = new.line_id and seq = new.seq + 1;
end;

create trigger file_gained after update of present on file
when old.present = 0 and new.present = 1
begin
    update package
       set missing = missing - (select count(*) from input
                                 where file_id = new.id and package_id = package.id
                                   and own = 0 and dropped = 0)
     where id in (select package_id from input
                   where file_id = new.id and own = 0 and dropped = 0);
end;

create trigger file_lost after update of present on file
when old.present = 1 and new.present = 0
begin
    update package
       set missing = missing + (select count(*) from input
                                 where file_id = new.id and package_id = package.id
                                   and own = 0 and dropped = 0)
     where id in (select package_id from input
                   where file_id = new.id and own = 0 and dropped = 0);
end;

create trigger input_dropped after update of dropped on input
when old.dropped = 0 and new.dropped = 1 and new.own = 0
    and (select present from file where id = new.file_id) = 0
begin
    update package set missing = missing - 1 where id = new.package_id;
end;

create trigger input_restored after update of dropped on input
when old.dropped = 1 and new.dropped = 0 and new.own = 0
    and (select present from file where id = new.file_id) = 0
begin
    update package set missing = missing + 1 where id = new.package_id;
end;

create index package_released on package (id) where phase = 'waiting' and missing = 0;

-- What the planner is to believe of sizes, whatever the database holds today: plans are
-- the same on the first day and at 10^6 packages, and start at the small side of a join.

analyze;
delete from sqlite_stat1;
insert into sqlite_stat1 (tbl, idx, stat) values
    ('action',         null,                         '10000'),
    ('attempt',        'sqlite_autoindex_attempt_1', '1200000 1 1'),
    ('attempt',        'attempt_failed',             '20000 1'),
    ('binary',         'binary',                     '1500000 2 1'),
    ('binary_attempt', 'binary_attempt',             '1500000 2 1'),
    ('cluster',        'sqlite_autoindex_cluster_1', '20 1'),
    ('demand',         'demand_of_job',              '300 3'),
    ('demand',         'demand_ready',               '10 2'),
    ('event',          'event_of_package',           '6000000 6'),
    ('file',           'sqlite_autoindex_file_1',    '2000000 20000 1'),
    ('file',           'file_of_package',            '2000000 2'),
    ('input',          'input',                      '2000000 2 2 1'),
    ('input',          'input_of_file',              '2000000 2 1'),
    ('job',            'sqlite_autoindex_job_1',     '100 1'),
    ('lease',          'lease',                      '20 1'),
    ('line',           'sqlite_autoindex_line_1',    '1000000 3000 1'),
    ('line',           'line_dropped',               '100 10'),
    ('location',       'location',                   '2000000 1 1'),
    ('node',           'sqlite_autoindex_node_1',    '20 1'),
    ('package',        'sqlite_autoindex_package_1', '1000000 1 1'),
    ('package',        'package_in_phase',           '1000000 10000 2500'),
    ('package',        'package_ready',              '1000 100 1'),
    ('package',        'package_live',               '100 5'),
    ('package',        'package_assigned',           '50 5 1'),
    ('package',        'package_killing',            '5 1'),
    ('package',        'package_cooling',            '100 1'),
    ('package',        'package_released',           '5 1'),
    ('purge',          'purge_of_node',              '1000 100'),
    ('stage',          'sqlite_autoindex_stage_1',   '300 3 1'),
    ('stage_count',    'stage_count',                '5000 16 1'),
    ('transfer',       'transfer',                   '200 1 1 1'),
    ('transfer',       'transfer_due',               '200 20 5 1');
