-- The database of d0ctl. It is one file, `d0ctl.db`, and contains everything that d0ctl remembers.
--
-- In this order: site; states of packages; jobs; packages; files; attempts and their history;
-- nodes; software; policies and recovery; notifications; audit and cleanup; tasks; views for users;
-- rules (triggers); planner statistics.
--
-- Times are seconds since 1970 in UTC, durations seconds, sizes bytes. Lists and mappings are
-- JSON. Flags are 0 or 1. `seq` counts from 1 within the parent: lines within a stage, for example.
-- `actor` is the user who caused a change, and `note` says why; where `actor` is null, d0ctl acted
-- by itself.


-- Site ---------------------------------------------------------------------------------------

-- The one row that identifies this database.
create table site (
    id         integer primary key check (id = 1),
    name       text not null,              -- random; names this database's folders on the nodes
    generation integer not null default 1, -- raised by each restore, so that no id is used twice
    home       text                        -- where it was when a process last drove packages
) strict;

-- Work that only one process at a time may do, such as driving a job or a node, and which does it.
create table lease (
    name   text primary key,
    holder text not null,                  -- boot id, pid, start time
    taken  real not null
) strict, without rowid;

-- Secrets by which programs and people use the REST interface (docs/rest.md).
create table token (
    name   text primary key,               -- the actor of everything that is done with it
    role   text not null check (role in ('reader', 'operator', 'admin')),
    digest text not null unique,           -- SHA-256 of the secret, which is not kept
    made   real not null,
    actor  text not null                   -- who made it
) strict, without rowid;

-- Events of other systems that were applied (docs/events.md), so that none is applied twice.
create table taken_event (
    id        text primary key,
    signature text not null,               -- the same event may come twice, as from a queue
    at        real not null
) strict, without rowid;

-- Old ones are removed: later events of their age are refused.
create index taken_event_by_time on taken_event (at);


-- States of packages (docs/states.md) ----------------------------------------------------------

-- The phases of a package, the status that users see for each, and the groups that queries use.
create table phase (
    name        text primary key,
    status      text not null
                check (status in ('unscheduled', 'scheduled', 'launched',
                                  'successful', 'failed', 'canceled')),
    is_idle     integer not null,          -- not launched: kill and drop take effect at once
    may_start   integer not null,          -- may be launched, now or after a retry
    is_live     integer not null,          -- on a node, and takes CPUs there
    has_attempt integer not null,          -- launched, and the attempt has not ended
    is_active   integer not null,          -- likewise, and is not being killed
    in_contact  integer not null,          -- likewise, and its node answers
    is_final    integer not null           -- nothing happens without a user
) strict, without rowid;

insert into phase (name, status, is_idle, may_start, is_live, has_attempt, is_active, in_contact,
                   is_final) values
    ('waiting',      'unscheduled', 1, 1, 0, 0, 0, 0, 0),
    ('ready',        'unscheduled', 1, 1, 0, 0, 0, 0, 0),
    ('cooloff',      'unscheduled', 1, 1, 0, 0, 0, 0, 0),
    ('held',         'unscheduled', 1, 1, 0, 0, 0, 0, 0),
    ('assigned',     'scheduled',   1, 1, 1, 0, 0, 0, 0),
    ('starting',     'launched',    0, 0, 1, 1, 1, 1, 0),
    ('staging-in',   'launched',    0, 0, 1, 1, 1, 1, 0),
    ('running',      'launched',    0, 0, 1, 1, 1, 1, 0),
    ('suspended',    'launched',    0, 0, 1, 1, 1, 1, 0),
    ('killing',      'launched',    0, 0, 1, 1, 0, 0, 0),
    ('unreachable',  'launched',    0, 0, 1, 1, 1, 0, 0),
    ('transferring', 'launched',    0, 0, 0, 0, 0, 0, 0),
    ('done',         'successful',  0, 0, 0, 0, 0, 0, 1),
    ('failed',       'failed',      0, 1, 0, 0, 0, 0, 1),
    ('canceled',     'canceled',    0, 1, 0, 0, 0, 0, 1),
    ('dropped',      'canceled',    0, 0, 0, 0, 0, 0, 1);

-- The changes of phase that are allowed; the trigger `package_refused` refuses all others.
create table transition (
    old  text not null references phase,
    new  text not null references phase,
    verb text not null,
    primary key (old, new)
) strict, without rowid;

insert into transition (old, new, verb) values
    -- From submission to launch.
    ('waiting',      'ready',        'release files'),
    ('ready',        'waiting',      'lose a file'),
    ('cooloff',      'waiting',      'lose a file'),
    ('assigned',     'waiting',      'lose a file'),
    ('cooloff',      'ready',        'cool off'),
    ('ready',        'assigned',     'schedule'),
    ('assigned',     'ready',        'unschedule'),
    ('assigned',     'starting',     'launch'),
    ('starting',     'ready',        'refuse'),
    ('starting',     'waiting',      'refuse'),
    ('starting',     'cooloff',      'refuse'),
    ('starting',     'held',         'refuse'),

    -- On the node.
    ('starting',     'staging-in',   'stage in'),
    ('starting',     'running',      'start'),
    ('staging-in',   'running',      'start'),
    ('starting',     'suspended',    'pause'),
    ('staging-in',   'suspended',    'pause'),
    ('running',      'suspended',    'pause'),
    ('running',      'staging-in',   'stage in'),
    ('suspended',    'running',      'resume'),
    ('suspended',    'staging-in',   'resume'),
    ('starting',     'unreachable',  'lose contact'),
    ('staging-in',   'unreachable',  'lose contact'),
    ('running',      'unreachable',  'lose contact'),
    ('suspended',    'unreachable',  'lose contact'),
    ('unreachable',  'starting',     'regain contact'),
    ('unreachable',  'staging-in',   'regain contact'),
    ('unreachable',  'running',      'regain contact'),
    ('unreachable',  'suspended',    'regain contact'),

    -- The end of an attempt.
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
    ('starting',     'canceled',     'end'),
    ('staging-in',   'canceled',     'end'),
    ('running',      'canceled',     'end'),
    ('suspended',    'canceled',     'end'),
    ('starting',     'failed',       'fail'),
    ('staging-in',   'failed',       'fail'),
    ('running',      'failed',       'fail'),
    ('suspended',    'failed',       'fail'),
    ('unreachable',  'failed',       'fail'),
    ('transferring', 'failed',       'fail'),

    -- Hold and release.
    ('waiting',      'held',         'hold'),
    ('ready',        'held',         'hold'),
    ('cooloff',      'held',         'hold'),
    ('assigned',     'held',         'hold'),
    ('failed',       'held',         'hold'),
    ('held',         'waiting',      'release'),
    ('held',         'ready',        'release'),
    ('held',         'cooloff',      'release'),

    -- Kill.
    ('starting',     'killing',      'kill'),
    ('staging-in',   'killing',      'kill'),
    ('running',      'killing',      'kill'),
    ('suspended',    'killing',      'kill'),
    ('waiting',      'canceled',     'kill'),
    ('ready',        'canceled',     'kill'),
    ('cooloff',      'canceled',     'kill'),
    ('held',         'canceled',     'kill'),
    ('assigned',     'canceled',     'kill'),
    ('killing',      'canceled',     'kill'),
    ('unreachable',  'canceled',     'kill'),
    ('transferring', 'canceled',     'kill'),
    ('failed',       'canceled',     'kill'),

    -- Try again.
    ('failed',       'ready',        'retry'),
    ('failed',       'waiting',      'retry'),
    ('failed',       'cooloff',      'retry'),
    ('canceled',     'ready',        'retry'),
    ('canceled',     'waiting',      'retry'),
    ('done',         'ready',        'remake'),
    ('done',         'waiting',      'remake'),
    ('transferring', 'ready',        'remake'),
    ('transferring', 'waiting',      'remake'),
    ('failed',       'done',         'set status'),
    ('canceled',     'done',         'set status'),

    -- Drop and restore.
    ('waiting',      'dropped',      'drop'),
    ('ready',        'dropped',      'drop'),
    ('cooloff',      'dropped',      'drop'),
    ('held',         'dropped',      'drop'),
    ('assigned',     'dropped',      'drop'),
    ('killing',      'dropped',      'drop'),
    ('unreachable',  'dropped',      'drop'),
    ('transferring', 'dropped',      'drop'),
    ('failed',       'dropped',      'drop'),
    ('canceled',     'dropped',      'drop'),
    ('dropped',      'waiting',      'restore'),
    ('dropped',      'ready',        'restore'),
    ('dropped',      'held',         'restore'),
    ('dropped',      'failed',       'restore'),
    ('dropped',      'canceled',     'restore');


-- Jobs ---------------------------------------------------------------------------------------

-- A submitted job, and the requests of users since then.
create table job (
    id            integer primary key autoincrement,
    name          text not null unique,
    title         text not null default '',
    originator    text not null,
    directory     text not null,           -- relative paths in the job file start here
    source        text not null,           -- path of the job file
    parameters    text not null default '{}',
    policy        text not null default '{}',
    mail          text,                    -- what its user wants mail about; null: as the site says
    most_alike    integer,                 -- failures of a stage for the same reason that hold it;
                                           -- null: as the site says; 0: any number is accepted
    max_running   integer check (max_running > 0),   -- packages at once; null: not limited
    max_failures  integer check (max_failures > 0),  -- failed packages that hold it; null: not
                                                     -- limited
    excused       integer not null default 0,        -- failed packages that no longer count for
                                                     -- `max_failures`: it was released since
    first_end     real,                    -- its end as estimated at submission, with a range;
    first_low     real,                    -- null: nothing was known
    first_high    real,
    priority      integer not null default 50 check (priority between 0 and 100),
    visible       integer not null default 0 check (visible in (0, 1)),  -- 0: being submitted
    submitter     text not null,           -- lease holder that inserts its rows
    submitted     real not null,
    ended         real,                    -- when no package of it could change any more
    notified      real,                    -- the value of `ended` that notifications know

    -- `d0ctl hold` of the whole job.
    hold          integer not null default 0 check (hold in (0, 1)),
    hold_actor    text,
    hold_note     text,
    hold_since    real,

    -- `d0ctl pause` of the whole job.
    pause         integer not null default 0 check (pause in (0, 1)),
    pause_running integer not null default 0
                  check (pause_running in (0, 1)),  -- 1: running packages are suspended, too
    pause_actor   text,
    pause_note    text,
    pause_since   real,
    pause_until   real,                    -- when the daemon resumes it; null: a person does

    -- `d0ctl finish`: packages that are not launched are canceled; hard: launched ones are killed,
    -- too; null: it was not asked to finish.
    finish        text check (finish is null or finish = 'soft' or finish = 'hard'),
    finish_actor  text,
    finish_note   text,
    finish_since  real
) strict;

-- The daemon looks for jobs to finish at every turn.
create index job_finishing on job (id) where finish is not null;

-- It also looks for the jobs whose pause is over.
create index job_paused_until on job (pause_until) where pause_until is not null;

-- Few jobs limit how many of their packages run at once.
create index job_limited on job (id) where max_running is not null;

-- Jobs whose end, or reopening, notifications have not read.
create index job_not_notified on job (id) where ended is not notified;

-- The job file of a job as it was read, packed by zlib: `clone` submits it again, and `update`
-- compares it with the new one.
create table job_text (
    job_id   integer primary key references job on delete cascade,
    text     blob not null,
    previous blob                          -- as JSON: the text before the last correction, and what
                                           -- is needed to read it again
) strict;

-- Job `job_id` reads files that job `maker_id` makes.
create table need (
    job_id   integer not null references job on delete cascade,
    maker_id integer not null,
    behind   integer not null default 0 check (behind in (0, 1)),
                                           -- 1: it takes all files of a stage, and an update of
                                           -- the maker has added or removed lines of that since
    primary key (job_id, maker_id)
) strict, without rowid;

-- The jobs that read files of a job.
create index need_of_maker on need (maker_id);

-- Jobs that go on after they had ended, until their readers were looked at.
create table resumed_job (
    job_id integer primary key references job on delete cascade
) strict;

-- A stage of a job.
create table stage (
    id      integer primary key,
    job_id  integer not null references job on delete cascade,
    seq     integer not null,
    name    text not null,
    require real not null default 1.0 check (require between 0 and 1),
                                           -- fraction that must succeed for stages that read it
    max_running integer check (max_running > 0),  -- packages at once; null: not limited
    final   integer not null default 0 check (final in (0, 1)),
                                           -- 1: it begins after all others, however they end
    lines   integer not null default 0,
    acknowledged integer not null default 0 check (acknowledged >= 0),
                                           -- failed packages that a person has acknowledged;
                                           -- triggers keep it

    -- Estimates (docs/scheduling.md).
    work    real not null default 0,       -- CPU seconds of its packages on a standard node, as
                                           -- expected at submission
    is_timed integer not null default 0 check (is_timed in (0, 1)),
                                           -- 1: how long its packages take is known
    drift      real not null default 1,    -- what they take, as a multiple of the expected,
    drift_low  real not null default 0.5,  -- with a range
    drift_high real not null default 2,
    sizes   text not null default '{}',    -- bytes that a package takes: ranges of memory and
                                           -- output, and work files as the job file says

    weighed real,                          -- when its successes were compared with `require`, as
                                           -- none of its packages could move any more
    unique (job_id, seq)
) strict;

-- Stages that may succeed in part; most require all.
create index stage_lenient on stage (job_id) where require < 1;

-- Few stages limit how many of their packages run at once.
create index stage_limited on stage (job_id) where max_running is not null;

-- Few stages are final.
create index stage_final on stage (job_id) where final = 1;

-- Stage `stage_id` begins when all packages of stage `after_id` have succeeded or are dropped, or,
-- if that is 0, when the other stages of the job can't move any more. Then its lines are released,
-- some at a time.
create table stage_order (
    stage_id integer not null references stage on delete cascade,
    after_id integer not null,
    job_id   integer not null,
    released integer not null default 0,   -- the last line that does not wait any more
    is_open  integer not null default 0 check (is_open in (0, 1, 2)),
                                           -- 1: lines are being released; 2: all are
    primary key (stage_id, after_id)
) strict, without rowid;

-- Orders of stages that may still be opened.
create index stage_order_open on stage_order (job_id) where is_open < 2;

-- How many packages of a stage are in each phase; triggers keep it (`group by` over 10^6 packages
-- takes 0.4 s).
create table stage_count (
    stage_id integer not null references stage on delete cascade,
    phase    text not null references phase,
    n        integer not null default 0 check (n >= 0),
    primary key (stage_id, phase)
) strict, without rowid;

-- A line of a stage: packages that run one after another.
create table line (
    id          integer primary key,
    stage_id    integer not null references stage on delete cascade,
    seq         integer not null,
    name        text not null,
    early_start integer not null default 0 check (early_start in (0, 1)),
    is_open     integer not null default 0 check (is_open in (0, 1)),
                                           -- 1: it stands for the lines of all groups of late
                                           -- outputs, which are made when their names are known;
                                           -- until then its first package misses one thing more
    dropped     real,                      -- when, by `kill-line --drop-outputs`
    named       integer not null default 0 check (named in (0, 1, 2)),
                                           -- of a dropped line: 1: a user dropped it; 2: it is not
                                           -- in the job file any more; 0: its inputs are dropped,
                                           -- and it is restored together with them; of
                                           -- another one, 2: it ran, or has succeeded, as an
                                           -- update left it out of the job file
    unlisted    integer not null default 0 check (unlisted in (0, 1)),
                                           -- 1: it was dropped otherwise, and is not in the job
                                           -- file any more: its `named` is 2 once it is restored
    unique (stage_id, seq)
) strict;

-- Line `line_id` begins when line `after_id` has succeeded or is dropped.
create table line_order (
    after_id integer not null references line on delete cascade,
    line_id  integer not null references line on delete cascade,
    primary key (after_id, line_id)
) strict, without rowid;

-- The lines that a line waits for.
create index line_order_of_line on line_order (line_id);

-- Few lines are open.
create index line_open on line (id) where is_open = 1;

-- Few lines are dropped.
create index line_dropped on line (stage_id) where dropped is not null;

-- Few successful lines are not in the job file any more.
create index line_unlisted on line (stage_id, seq) where named = 2 and dropped is null;


-- Packages -----------------------------------------------------------------------------------

-- The requests of packages to a node; packages of a stage with equal requests share a row.
create table requirement (
    id            integer primary key,
    job_id        integer not null references job on delete cascade,
    stage_id      integer not null,
    cpus          integer not null default 1 check (cpus > 0),
    cpu           integer not null default 100 check (cpu between 1 and 100),
                                           -- percentage of these that it uses
    memory        integer,                 -- null: nothing is requested
    gpus          integer not null default 0 check (gpus >= 0),
    disk          integer,                 -- as the job file says
    space         integer,                 -- `disk`, else estimated from files: reserved on a node
    memory_expected integer,               -- from earlier runs: reserved if none is requested
    space_expected  integer,               -- likewise
    platform      text,
    nodes         text not null default '[]',
    exclude_nodes text not null default '[]',
    software      text not null default '[]',
    needs         text not null default '[]',  -- services
    early         integer not null default 0 check (early in (0, 1)),    -- starts at first input
    fetches       integer not null default 0 check (fetches in (0, 1)),  -- has inputs that may
                                                                         -- have to be transferred
    priority      integer check (priority between 0 and 100),  -- null: that of the job

    -- Set by policies and by retries.
    avoid         text,                    -- nodes to leave out if others fit, the last first
    failed_on     text,                    -- the node of its last failure
    stay          text,                    -- the node that has its outputs
    boost         integer not null default 0 check (boost between 0 and 100),
                                           -- added to its priority

    ready         integer not null default 0 check (ready >= 0),  -- packages; triggers keep it
    away          integer not null default 0 check (away >= 0),   -- those of them that can't start,
                                           -- as `package.away` says; likewise
    pace          real,                    -- run time of recent packages
    seconds       real,                    -- run time on a standard node: expected, then measured
    rank          real not null default 0, -- seconds of the longest chain of packages that begins
                                           -- with such a package
    expected      real not null default 1, -- run time as expected, or assumed, at submission
    chain         text not null default '{}'  -- seconds of that chain by stage, likewise
) strict;

-- The requirements of a job, and of its stages.
create index requirement_of_job on requirement (job_id);

-- The scheduler starts here: a few rows instead of all ready packages.
create index requirement_ready on requirement (job_id) where ready > 0;

-- Packages whose outputs are on one node; most may go to any.
create index requirement_stay on requirement (stay) where stay is not null;

-- The last answer of the site's broker about packages with a requirement.
create table broker_answer (
    requirement_id integer primary key references requirement on delete cascade,
    broker         text not null,
    at             real not null,              -- since when it says so
    refused        text not null default '{}', -- why, by the name of the node
    preferred      text not null default '{}', -- how much, by the name of the node
    error          text                        -- why it has not answered
) strict;

-- Why a node got packages with a requirement: a row for many packages, which name it.
create table node_choice (
    id             integer primary key,
    requirement_id integer not null references requirement on delete cascade,
    node_id        integer not null,
    at             real not null,          -- of the first of these packages
    rule           text not null check (rule in ('preferred', 'earliest', 'starts', 'inputs', 'free',
                                                 'alike', 'only', 'outputs', 'early')),
    able           integer not null,       -- nodes that had room
    fits           integer not null,       -- nodes that meet the requirement
    rival          text,                   -- the next best node
    mine           real,                   -- what the rule compares: preferences, seconds, bytes,
    theirs         real                    -- or the fraction of CPUs that is left
) strict;

-- The latest choice of a node by the same rule, which another package shares.
create index node_choice_of_requirement on node_choice (requirement_id, node_id, rule, at);

-- A package: its binaries run on one node, one after another. `or` in `status` and `is_live`, as
-- `in (...)` makes each update of a phase 10 % slower.
create table package (
    id          integer primary key,
    job_id      integer not null,
    stage_id    integer not null,
    line_id     integer not null references line,
    seq         integer not null,
    name        text not null,
    requirement_id integer not null,

    phase       text not null references phase,
    status      text not null generated always as (
        case when phase = 'waiting' or phase = 'ready' or phase = 'cooloff' or phase = 'held'
             then 'unscheduled'
             when phase = 'assigned' then 'scheduled'
             when phase = 'done' then 'successful'
             when phase = 'failed' then 'failed'
             when phase = 'canceled' or phase = 'dropped' then 'canceled'
             else 'launched' end) virtual,
    is_live     integer not null generated always as (
        phase = 'assigned' or phase = 'starting' or phase = 'staging-in' or phase = 'running'
        or phase = 'suspended' or phase = 'killing' or phase = 'unreachable') virtual,
    slot        integer not null generated always as (
        case when early = 1 and awaited > 0 then 2 when phase = 'staging-in' or staging > 0 then 1
             else 0 end) virtual,          -- of a live package: 0 it has CPUs, 1 its inputs are in
                                           -- transit, 2 it waits for inputs that are to be made
    is_paused   integer not null generated always as (
        phase = 'suspended' and slot <> 2 and request is not 'resume'
        and (request is 'pause' or coalesce(note, '') glob 'paused on request*')) virtual,
                                           -- 1: a person suspended it, as its wrapper says, too
    changed     real not null,             -- when the phase or request last changed
    actor       text,                      -- who changed it; `policy`: a policy holds it
    note        text,                      -- why it changed: words of a person or node, or a code
                                           -- (docs/sql.md)
    request     text,                      -- a command that is not done yet: `pause`, `resume`,
                                           -- `kill`, `kill now`, `kill partial`, `drop`,
                                           -- `drop now` or `resubmit`; or one that failed, and why
    parked      integer not null default 0 check (parked in (0, 1)),
                                           -- 1: held by `pause`, so that `resume` releases it
    not_before  real,                      -- end of cooloff, or when a policy releases it; of a
                                           -- package that a user holds: end of its cooloff
    added       real,                      -- when its job got it after the submission
    redefined   real,                      -- when `update` changed what it runs, reads or makes
                                           -- after it had failed, or accepted its results although
                                           -- they were out of date; null: never
    retried_with text,                     -- parameters of `retry --set` that its job does not have,
                                           -- as a JSON list of KEY=VALUE

    -- Inputs; triggers keep these counters.
    missing     integer not null default 0 check (missing >= 0),
                                           -- inputs that are not there, plus 1 while the package
                                           -- before it in its line has not succeeded; of the first
                                           -- of a line, plus the lines and stages before it
    staging     integer not null default 0 check (staging >= 0),
                                           -- inputs on their way to its node
    early       integer not null default 0 check (early in (0, 1, 2)),
                                           -- 1: starts at its first input; 2: its list is closed
    gathered    integer not null default 0 check (gathered >= 0),
                                           -- early: inputs made by packages that are there
    awaited     integer not null default 0 check (awaited >= 0),
                                           -- early: inputs that are not there yet

    -- Attempts.
    node_id     integer,
    choice_id   integer,                   -- why it got its last node, in `node_choice`
    away        integer,                   -- of a ready package that gets no node: the cluster that
                                           -- has an input, and whose nodes are down; negative: one of
                                           -- several such clusters
    planned     real,                      -- when it was expected to start, as it got its node
    attempt_id  integer,                   -- the one whose messages count
    attempts    integer not null default 0,
    tried_from  integer not null default 0,
                                           -- `attempts` at submission or at the last retry by a
                                           -- user; policies count from here
    restarts    integer not null default 0,  -- after losses; each retry by a user resets it
    accept      integer,                   -- the attempt whose outputs a user accepts

    -- What the job file says; null: as the job, stage or site says.
    wall_time   real,
    looping     real,                      -- seconds without progress
    wrapper     text,
    wrapper_parameters text,
    environment text,
    policy      text,

    unique (line_id, seq)
) strict;

-- Selections by phase within a job, such as `--failed`.
create index package_in_phase on package (job_id, phase);

-- The ready packages with a requirement, oldest first, for the scheduler.
create index package_ready on package (requirement_id, id) where phase = 'ready' and away is null;

-- Those that wait for nodes that are down.
create index package_away on package (requirement_id, away) where away is not null;

-- The packages on a node; as many as there are CPUs, however large the job. The sums of the scheduler
-- in each turn come from the index alone.
create index package_live on package (node_id, requirement_id, slot) where is_live = 1;

-- The packages to launch on a node.
create index package_assigned on package (node_id, id) where phase = 'assigned';

-- The packages to kill on a node.
create index package_killing on package (node_id) where phase = 'killing';

-- The packages to pause or resume on a node.
create index package_requested on package (node_id)
    where request = 'pause' or request = 'resume';

-- The packages whose next try is due.
create index package_cooling on package (not_before) where phase = 'cooloff';

-- Those of a job, the next one first.
create index package_next_try on package (job_id, not_before) where phase = 'cooloff';

-- The packages that a policy holds for a time.
create index package_releasing on package (not_before, job_id)
    where phase = 'held' and actor = 'policy' and not_before is not null;

-- The packages that have just become ready.
create index package_released on package (id) where phase = 'waiting' and missing = 0;

-- Packages that start early are rare; their triggers ask first whether there are any.
create index package_early on package (id) where early > 0;

-- Those of a job that run and get more inputs.
create index package_open on package (job_id)
    where early = 1 and awaited > 0
      and phase in ('starting', 'staging-in', 'running', 'suspended', 'unreachable');

-- Those of a job that wait for inputs, in any phase.
create index package_awaiting on package (job_id) where early > 0 and awaited > 0;

-- The path of a package, such as `mc/1/20/3`, and the rows above it.
create view package_path as
    select package.id as package_id,
           job.name || '/' || stage.seq || '/' || line.seq || '/' || package.seq as path,
           job.id as job_id, job.name as job, job.visible,
           stage.id as stage_id, stage.seq as stage, stage.name as stage_name,
           line.id as line_id, line.seq as line, line.name as line_name,
           line.dropped as line_dropped
      from package
      join line on line.id = package.line_id
      join stage on stage.id = line.stage_id
      join job on job.id = stage.job_id;

-- A package as lists show it, with its last attempt. One that has ended names its node also once that was
-- removed.
create view package_row as
    select package.id, package.line_id, package.seq, package.name, package.phase, package.status,
           package.request, package.attempts, package.note, package.changed,
           coalesce(node.name, iif(package.phase = 'done' or package.phase = 'failed',
                                   attempt.node_name, null)) as node,
           attempt.started, attempt.ended, attempt.reason, attempt.message,
           progress.percent, progress.eta, progress.line, acknowledgement.actor as acknowledged,
           acknowledgement.at as acknowledged_at, acknowledgement.note as acknowledged_because,
           coalesce(attempt.ended, progress.at) as measured,
           coalesce(attempt.cpu, progress.cpu) as cpu, coalesce(attempt.rss, progress.rss) as rss,
           job.name || '/' || stage.seq || '/' || line.seq || '/' || package.seq as path
      from package
      join line on line.id = package.line_id
      join stage on stage.id = line.stage_id
      join job on job.id = stage.job_id
      left join node on node.id = package.node_id
      left join attempt on attempt.package_id = package.id and attempt.number = package.attempts
      left join progress on progress.package_id = package.id
      left join acknowledgement on acknowledgement.package_id = package.id;

-- How many things a package waits for, counted again: inputs, the previous package of its line,
-- and the lines and stages before its own.
create view package_missing as
    select package.id as package_id,
           case when package.early > 0 then package.awaited > 0 and package.gathered = 0
                else (select count(*) from input join file on file.id = input.file_id
                       where input.package_id = package.id and input.own = 0
                         and input.dropped = 0 and file.present = 0) end
           + coalesce((select before.phase not in ('transferring', 'done')
                         from package as before
                        where before.line_id = package.line_id
                          and before.seq = package.seq - 1), 0)
           + case when package.seq > 1 then 0
                  else (select is_open from line where line.id = package.line_id) end
           + case when package.seq > 1 then 0
                  else (select count(*) from line_order
                         where line_order.line_id = package.line_id
                           and not exists
                               (select 1 from package as last
                                 where last.line_id = line_order.after_id
                                   and last.phase in ('transferring', 'done', 'dropped')
                                   and not exists
                                       (select 1 from package as next
                                         where next.line_id = last.line_id
                                           and next.seq = last.seq + 1)))
                       + (select count(*)
                            from stage_order
                            join line on line.id = package.line_id
                           where stage_order.stage_id = package.stage_id
                             and stage_order.released < line.seq) end as missing
      from package;

-- A binary of a package, from the job file.
create table binary (
    package_id    integer not null references package,
    seq           integer not null,
    name          text not null,
    script        text,                    -- a script, or `argv`: a command
    shell         text not null default 'bash',
    argv          text,
    software      text,
    version       text,
    parameters    text,
    needs         text,                    -- services
    cpu           integer,
    runtime       real,                    -- expected
    work_size     integer,                 -- disk for temporary files
    log_rules     text,
    progress      text,                    -- how its log shows progress
    "check"       text,                    -- command that verifies its outputs
    check_timeout real,
    events        text,                    -- first, last, and the part that has them
    image         text,                    -- the container image that it runs in
    stdin         text,                    -- the input that is its standard input, by local name
    primary key (package_id, seq)
) strict, without rowid;

-- Inputs that arrived after an early package started, and that must be sent to it. File 0 says
-- that the list of inputs is closed.
create table streamed_input (
    package_id integer not null references package on delete cascade,
    file_id    integer not null,
    node_id    integer not null,
    state      integer not null default 0 check (state in (0, 1, 2)),
                                           -- 0: to send; 1: its copy is on the way; 2: sent
    primary key (package_id, file_id)
) strict, without rowid;

-- What to send to a node.
create index streamed_input_due on streamed_input (node_id) where state = 0;

-- Readers of a copy that has arrived.
create index streamed_input_of_file on streamed_input (file_id);


-- Files --------------------------------------------------------------------------------------

-- A file that a package makes, or one from outside (`package_id` null, `name` absolute).
create table file (
    id             integer primary key autoincrement,  -- it names copies: never used twice
    job_id         integer not null,
    name           text not null,
    package_id     integer references package,         -- its maker
    binary         integer,                            -- the one that makes it
    result         integer not null default 0 check (result in (0, 1)),  -- 1: goes to results/
    dispositions   text not null default '',           -- of its maker: how long to keep it
    disposition    text                                -- set by a user, and goes before all others
                   check (disposition in ('retain-indef', 'retain-temp', 'deletable')),

    -- What the job file says of it.
    locator        text,                   -- where it comes from, or is stored in addition
    size_asked     integer,
    min_size       integer,
    checksum_asked text,

    -- A late output: its names are known when it is made. Each match is a file of its own.
    late           integer not null default 0 check (late in (0, 1)),
    min_count      integer,                -- fewer matches are a failure
    pattern_id     integer,                -- of a match: the late output

    -- What is known of it.
    present        integer not null default 0 check (present in (0, 1)),  -- readers can have it
    dropped        integer not null default 0 check (dropped in (0, 1)),  -- will not be made
    partial        integer not null default 0 check (partial in (0, 1)),  -- of an attempt that was
                                                                          -- ended before its time
    size           integer,
    checksum       text,
    replaced       real,                   -- when other contents of it came, or were made
    stored         text,                   -- locators where it was stored
    removed        real,                   -- when d0ctl removed its last copy; null: it was lost
    removed_by     text                    -- the action, or space that was needed; null: because
                                           -- no package needed it
                   check (removed_by in ('archive', 'node free', 'file purge', 'space')),
    removed_from   text,                   -- the node where the space was needed
    unique (job_id, name)
) strict;

-- The outputs of a package.
create index file_of_package on file (package_id) where package_id is not null;

-- Kept files, which later jobs with the same binaries begin with.
create index file_kept on file (name) where present = 1 and dispositions <> '';

-- The late outputs of a package, which are few.
create index file_late on file (package_id) where late = 1;

-- The matches of a late output.
create index file_of_pattern on file (pattern_id) where pattern_id is not null;

-- The files of packages that were ended before they had completed them.
create index file_partial on file (job_id) where partial = 1;

-- The files from outside that came again with other contents.
create index file_replaced on file (job_id) where replaced is not null;

-- A file that a binary reads.
create table input (
    package_id  integer not null references package,
    binary      integer not null,
    file_id     integer not null references file,
    position    integer not null,          -- in the list of the binary's inputs
    own         integer not null default 0 check (own in (0, 1)),  -- made in the same package
    acquire     text not null              -- not `in (...)`, of which SQLite makes a table per row
                check (acquire = 'none' or acquire = 'self' or acquire = 'pre-fetch'),
    required    integer not null default 1 check (required in (0, 1)),
    writable    integer not null default 0 check (writable in (0, 1)),
    "match"     text,                      -- of a late output: only the files that match this
    disposition text,                      -- how long this reader wants it kept
    locator     text,
    size        integer,
    checksum    text,
    local       text,                      -- its name in the working directory, or its folder
                                           -- there with /; null: its base name
    dropped     integer not null default 0 check (dropped in (0, 1)),  -- 1: it runs without it
    primary key (package_id, binary, file_id)
) strict, without rowid;

-- Readers of a file.
create index input_of_file on input (file_id, package_id);

-- A copy of a file in the cache of a cluster; cluster 1 is this machine.
create table location (
    file_id    integer not null references file,
    cluster_id integer not null references cluster,
    node_id    integer,                    -- null: not in a node's cache
    path       text not null,
    made       real not null,
    inode      integer,                    -- as it was recorded: tells whether it has changed
    mtime      integer,                    -- likewise, in nanoseconds
    shared     integer not null default 0 check (shared in (0, 1)),
                                           -- 1: other files of the same locator have this path
    spare      integer not null default 0 check (spare in (0, 1)),
                                           -- 1: may be removed when space is needed
    primary key (file_id, cluster_id)
) strict, without rowid;

-- Copies to compare with the inventory of a node, a page at a time.
create index location_of_node on location (node_id) where node_id is not null;

-- Whether other files have the same path: then it stays.
create index location_shared on location (cluster_id, path) where shared = 1;

-- The oldest are removed first.
create index location_spare on location (cluster_id, made) where spare = 1;

-- A copy of a file from outside that had earlier contents than the file has now, or may have had:
-- packages launched in its cluster before it was copied anew have read these.
create table outdated_copy (
    file_id    integer not null references file on delete cascade,
    cluster_id integer not null references cluster on delete cascade,
    renewed    real,                       -- when it was copied anew; null: not yet. Up to 0, not
                                           -- yet either, but nobody knows other contents: minus the
                                           -- time when it was last copied anew after it had others
    primary key (file_id, cluster_id)
) strict, without rowid;

-- Those of a cluster that is removed.
create index outdated_copy_of_cluster on outdated_copy (cluster_id);

-- What `outdated_copy` said of the cluster of a node when the node was removed: packages launched there
-- before this time have read earlier contents.
create table removed_copy (
    file_id integer not null references file on delete cascade,
    node_id integer not null,              -- of no node any more
    renewed real not null,                 -- when it was copied anew; 1e12: never
    primary key (file_id, node_id)
) strict, without rowid;

-- A copy that is requested in the cache of a cluster or (`result` = 1) in results/JOB/.
create table transfer (
    file_id    integer not null references file,
    cluster_id integer not null references cluster,
    result     integer not null default 0 check (result in (0, 1)),
    wanted     real not null,              -- since when
    not_before real not null default 0,    -- when it is tried next
    tries      integer not null default 0,
    last_error text,                       -- why the last try failed
    primary key (file_id, cluster_id, result)
) strict, without rowid;

-- Oldest first.
create index transfer_due on transfer (not_before, wanted, file_id);

-- Those that fail.
create index transfer_failing on transfer (tries) where tries >= 3;

-- A copy that was requested because many waiting packages read the file, before one of them has a
-- node.
create table replica (
    file_id    integer not null references file on delete cascade,
    cluster_id integer not null references cluster on delete cascade,
    at         real not null,
    readers    integer not null,           -- these packages
    work_s     real not null,              -- how long they compute with the file
    takes_s    real not null,              -- how long the copy takes
    primary key (file_id, cluster_id)
) strict, without rowid;

-- Those of a cluster that is removed.
create index replica_of_cluster on replica (cluster_id);

-- What transfers from one cluster to another took: sums of products of their numbers of files, their
-- bytes and their seconds; old transfers count less and less; cluster 1 is this machine.
create table link_rate (
    source_id     integer not null references cluster on delete cascade,
    cluster_id    integer not null references cluster on delete cascade,
    files_files   real not null check (files_files > 0),
    files_bytes   real not null,
    bytes_bytes   real not null check (bytes_bytes > 0),
    files_seconds real not null,
    bytes_seconds real not null,
    at            real not null,
    primary key (source_id, cluster_id)
) strict, without rowid;

-- Those to a cluster: how fast files come, and when it is removed.
create index link_rate_to on link_rate (cluster_id);

-- Files that may have become unneeded: their maker or a reader has just succeeded.
create table cleanup_candidate (
    file_id integer primary key
) strict;


-- Attempts and their history -------------------------------------------------------------------

-- One try at a package.
create table attempt (
    id           integer primary key autoincrement,
    package_id   integer not null references package,
    number       integer not null,
    kind         text not null default 'first' check (kind in ('first', 'resubmit', 'restart')),
    node_id      integer not null,
    node_name    text not null,            -- stays when the node is removed
    base         text,                     -- the node's folder, where its logs are
    launched     real not null,
    wrapper_started real,                  -- from then on it may stage in inputs, and wait for CPUs
    started      real,                     -- when it began to run, with its inputs and CPUs
    ended        real,
    suspended    real not null default 0,  -- seconds for which it was suspended, until it last continued
    utc_offset   integer,                  -- seconds, on the node
    delivers     integer not null default 0
                 check (delivers in (0, 1)),  -- 1: delivers outputs and runs no binary

    -- How long it was expected to run, with a range; null: was not known.
    expected      real,
    expected_low  real,
    expected_high real,
    memory_expected integer,               -- bytes reserved for it, by earlier runs
    space_expected  integer,

    -- What was requested for it: CPUs, and bytes of memory; null: none.
    cpus         integer,
    memory       integer,

    -- What its messages said so far.
    phase        text,                     -- its last phase
    phase_seq    integer not null default 0,  -- the message that said it

    -- What it ran with.
    inputs       integer,                  -- how many it had
    inputs_asked integer,                  -- how many it was to have
    left_out     text,                     -- names of the missing inputs
    began        integer,                  -- the first binary that it ran
    began_why    text,                     -- why not an earlier one

    -- How it ended.
    outcome      text check (outcome in ('successful', 'failed', 'killed', 'lost', 'refused')),
    reason       text,
    message      text,                     -- what its wrapper says of the reason
    binary       integer,                  -- the one that failed
    exit_code    integer,
    signal       integer,
    cpu          real,
    rss          integer,
    stderr       text,                     -- its last lines
    answer       text,                     -- what a policy did: fail, hold, resubmit or restart

    -- What it left.
    partial      integer not null default 0 check (partial in (0, 1)),  -- ended before its time
    events       text,                     -- the events that its binaries have done
    retained     text,                     -- files that the next attempt may begin with
    left_size    integer,                  -- bytes on its node, because of `keep-failed`
    recipe       text,                     -- what its binaries ran, if the job file says otherwise
                                           -- by now and a person accepted the results
    recipe_digest blob,                    -- of all that its package ran, read and made then
    unique (package_id, number)
) strict;

-- Recent failures.
create index attempt_failed on attempt (ended) where outcome in ('failed', 'lost');

-- Attempts whose files stay on their nodes; removed after a time.
create index attempt_left on attempt (ended) where left_size is not null;

-- The record of one binary in an attempt.
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
    disk       integer,                    -- the most that its own files took
    primary key (attempt_id, seq)
) strict, without rowid;

-- The live status of a launched package; deleted when the attempt ends.
create table progress (
    package_id integer primary key references package,
    attempt_id integer not null,
    seq        integer not null,           -- the message that said it
    at         real not null,
    binary     integer not null,
    done       real,
    total      real,
    percent    real,                       -- of all binaries
    line       text not null,              -- from the binary's log
    eta        real,
    cpu        real not null,
    rss        integer not null
) strict;

-- What a launched package used over time, for plots: as its wrapper reported it, at most two rows a
-- minute, and fewer the longer it runs. They go with the row of `progress`.
create table package_sample (
    package_id integer not null references progress on delete cascade,
    attempt_id integer not null,
    at         integer not null,
    cpu        real not null,              -- seconds since its start
    rss        integer not null,
    primary key (package_id, attempt_id, at)
) strict, without rowid;

-- Remarks of a wrapper that are no failures.
create table note (
    attempt_id integer not null references attempt,
    seq        integer not null,
    at         real not null,
    binary     integer,
    text       text not null,
    primary key (attempt_id, seq)
) strict, without rowid;

-- Every change of a package's phase; a trigger writes it.
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

-- The history of a package.
create index event_of_package on event (package_id);

-- Failed packages that a person has acknowledged: they stay failed, and need no more attention. A
-- trigger removes a row when its package is not failed any more.
create table acknowledgement (
    package_id integer primary key references package on delete cascade,
    stage_id   integer not null,
    at         real not null,
    actor      text not null,
    note       text
) strict;

-- Acknowledgements that have ended: they were withdrawn, or their package was not failed any
-- more. The past is read with them.
create table past_acknowledgement (
    id         integer primary key,
    package_id integer not null references package on delete cascade,
    stage_id   integer not null,
    at         real not null,
    actor      text not null,
    note       text,
    ended      real not null
) strict;

-- Those of a removed package.
create index past_acknowledgement_of_package on past_acknowledgement (package_id);

-- Holds and pauses of whole jobs that have ended. The past is read with them.
create table past_stop (
    id      integer primary key,
    job_id  integer not null references job on delete cascade,
    verb    text not null check (verb in ('hold', 'pause')),
    running integer not null,              -- 1: running packages were suspended, too
    since   real not null,
    actor   text not null,
    note    text,
    until   real,                          -- when a pause was to end by itself; null: never
    ended   real not null
) strict;

-- Those of a job.
create index past_stop_of_job on past_stop (job_id);

-- How jobs ended. Those that went on, and of which packages were dropped later, keep what was so then.
create table job_end (
    job_id  integer not null references job on delete cascade,
    at      real not null,
    status  text not null check (status in ('successful', 'failed', 'canceled')),
                                           -- of all but the final stages
    left    integer not null,              -- packages that had not succeeded
    failed  integer not null,              -- those of them that had failed
    dropped integer not null,              -- lines that people had dropped
    primary key (job_id, at)
) strict, without rowid;

-- By time.
create index job_end_at on job_end (at);

-- Successful packages that the last `update` of their job left as they were, although its job file
-- has another recipe or other inputs for them by now, and successful readers of their files; also
-- those that have read files of lines dropped later.
create table outdated_package (
    package_id integer primary key references package on delete cascade,
    job_id     integer not null,
    by_recipe  integer not null check (by_recipe in (0, 1)),  -- 0: it only has to run again
    acceptable integer check (acceptable in (0, 1))  -- 1: its results may be accepted; 0: it would
                                                     -- read or make other files now; null: it is
                                                     -- up to date once those before it are
) strict;

-- Those of a job.
create index outdated_package_of_job on outdated_package (job_id);

-- Without which other lines a dropped line does not come back: those that made its dropped inputs. One
-- that was dropped by name needs only those that it requires, and if it has no others left, all.
create view needed_line as
    select line.id as line_id, maker.line_id as needed_id
      from line
      join package on package.line_id = line.id
      join input on input.package_id = package.id and input.own = 0
           and (line.named = 0 or input.required = 1
                or not exists (select 1
                                 from input as other
                                 join file as kept on kept.id = other.file_id and kept.dropped = 0
                                where other.package_id = package.id and other.own = 0
                                  and other.required = 0))
      join file on file.id = input.file_id and file.dropped = 1
      join package as maker on maker.id = file.package_id
     where line.named < 2;

-- Successful packages that have run without files that were dropped then, and are back; not those of
-- final stages, which lack what did not exist.
create view lacking_restored as
    select input.package_id, file.id as file_id
      from input
      join file on file.id = input.file_id and file.dropped = 0
      join package on package.id = input.package_id and package.phase = 'done'
      join stage on stage.id = package.stage_id and stage.final = 0
     where input.own = 0 and input.dropped = 1;

-- The same, and whether what makes their inputs is out of date, but not their own recipe.
create view outdated_result as
    select package_id, job_id, by_recipe, acceptable,
           by_recipe = 0
           and exists (select 1
                         from input
                         join file on file.id = input.file_id
                         join outdated_package as maker on maker.package_id = file.package_id
                        where input.package_id = outdated_package.package_id and input.own = 0
                          and input.dropped = 0) as by_makers
      from outdated_package;

-- Files that the last `update` of their job added to the inputs of packages that it left as they ran:
-- it changed nothing else of them, so that they are out of date unless all these files are dropped.
create table lacked_input (
    package_id integer not null references package on delete cascade,
    file_id    integer not null references file on delete cascade,
    primary key (package_id, file_id)
) strict, without rowid;

-- The packages that lack a file.
create index lacked_input_of_file on lacked_input (file_id);

-- The contents that a file had until others came or were made.
create table former_content (
    file_id  integer not null references file on delete cascade,
    until    real not null,
    size     integer,
    checksum text not null,
    primary key (file_id, until)
) strict, without rowid;

-- What a successful package has read that no package makes any more, after a change of its job.
create table forgotten_input (
    package_id integer not null references package on delete cascade,
    binary     integer not null,
    name       text not null,
    position   integer not null,           -- in the list of the binary's inputs
    local      text,                       -- as in `input`
    size       integer,
    checksum   text,
    primary key (package_id, binary, name)
) strict, without rowid;

create trigger file_replaced after update of replaced on file
when new.replaced is not null and old.checksum <> new.checksum
begin
    insert or replace into former_content (file_id, until, size, checksum)
    values (new.id, new.replaced, old.size, old.checksum);
end;

-- A package had started with the present contents before they were known: they are as old as that.
create trigger file_replaced_earlier after update of replaced on file
when new.replaced < old.replaced and new.checksum = old.checksum
begin
    update or replace former_content set until = new.replaced
     where file_id = new.id and until = old.replaced;
end;

-- Which contents of files attempts have read: those that a file had at this time. With an outdated
-- copy this is before the file was replaced, although the attempt may have started after that.
create view reading as
    select package_id, file_id, attempt_id,
           iif(launched < renewed,
               min(launched,
                   coalesce((select max(content.until) from former_content as content
                              where content.file_id = copied.file_id
                                and content.until < copied.renewed), replaced, 1e12) - 1e-6),
               began) as at
      from (select input.package_id, input.file_id, attempt.id as attempt_id, file.replaced,
                   iif(package.early, attempt.ended, attempt.launched) as launched,
                   iif(package.early, attempt.ended,
                       max(attempt.launched, coalesce(attempt.wrapper_started, 0))) as began,
                   coalesce((select removed_copy.renewed from removed_copy
                              where removed_copy.file_id = input.file_id
                                and removed_copy.node_id = attempt.node_id),
                            (select coalesce(abs(outdated_copy.renewed), 1e12)
                               from node
                               join outdated_copy on outdated_copy.cluster_id = node.cluster_id
                                                 and outdated_copy.file_id = input.file_id
                              where node.id = attempt.node_id), 0) as renewed
              from input
              join file on file.id = input.file_id
              join package on package.id = input.package_id
              join attempt on attempt.package_id = package.id
             where input.own = 0 and input.dropped = 0) as copied;

-- The contents of files that packages have read with their last attempts; `replaced_checksum` if these
-- were replaced since.
create view read_content as
    select package_id, file_id, replaced_checksum,
           coalesce(replaced_checksum, checksum) as checksum
      from (select reading.package_id, reading.file_id, file.checksum,
                   (select content.checksum
                      from former_content as content
                     where content.file_id = reading.file_id and content.until > reading.at
                     order by content.until limit 1) as replaced_checksum
              from reading
              join file on file.id = reading.file_id
              join package on package.id = reading.package_id
                          and package.attempt_id = reading.attempt_id);

-- Which packages have read earlier contents of files: from outside, or that were made again. A package
-- whose results a person accepted counts again only after a later change.
create view earlier_reader as
    select reading.package_id, reading.file_id
      from reading
      join file on file.id = reading.file_id and file.replaced is not null
      join package on package.id = reading.package_id and package.attempt_id = reading.attempt_id
      join attempt on attempt.id = reading.attempt_id
     where reading.at < file.replaced
       and not exists (select 1 from read_content
                        where read_content.package_id = package.id
                          and read_content.file_id = file.id
                          and read_content.replaced_checksum = file.checksum)
       and not (coalesce(package.redefined, 0) > attempt.launched
                and package.redefined >= file.replaced);

-- The changes by which attempts ended, at the times at which d0ctl learned of that: later than the
-- ends if a node was down.
create view recorded_end as
    select package_id, attempt_id, at
      from event
     where old in (select name from phase where status = 'launched')
       and new not in (select name from phase where status = 'launched');

-- The failures of a package by reason (D0 Job Definition), with message and node of the last.
create view failure as
    select package_id, reason, count(*) as count, max(ended) as last,
           message, node_name
      from attempt
     where outcome in ('failed', 'lost')
     group by package_id, reason;


-- Nodes --------------------------------------------------------------------------------------

-- Nodes that share a cache.
create table cluster (
    id       integer primary key,
    name     text not null unique,
    platform text,
    private  integer not null default 0 check (private in (0, 1)),
                                           -- 1: only for researchers who have it under `clusters`
    capacity integer,                      -- bytes of cache for this site
    software_share real not null default 0 check (software_share between 0 and 1),
                                           -- part of it that is for software
    cached   integer,                      -- bytes of files in its cache, if it has a capacity
    services text not null default '[]',
    pilots   text,                         -- of a batch system: how its allocations are asked for,
                                           -- as JSON; its nodes are in clusters of their own
    fault    text,                         -- why a request to it, or its last pilot, failed
    fault_of text check (fault_of in ('submit', 'queue', 'pilot')),
    fault_since real,
    retry    real,                         -- no pilot is submitted before this time
    applied  integer not null default 0 check (applied in (0, 1))  -- 1: from the site file
) strict;

insert into cluster (id, name) values (1, 'control');

-- Files that are in results/: readers can have them, whatever becomes of the copies on nodes.
create view delivered_result as
    select file.id as file_id
      from file
      join package on package.id = file.package_id
                  and package.phase in ('done', 'transferring')
     where file.result = 1 and file.present = 1
       and not exists (select 1 from transfer
                        where transfer.file_id = file.id and transfer.cluster_id = 1
                          and transfer.result = 1);

-- The size of a cluster's cache in bytes, how much of it is left, which is below 0 if there is more,
-- and how many bytes it may take; none without a capacity.
create view cluster_space as
    select id as cluster_id, cast(capacity * (1 - software_share) as integer) as bytes,
           cast(capacity * (1 - software_share) as integer) - coalesce(cached, 0) as rest,
           max(0, cast(capacity * (1 - software_share) as integer) - coalesce(cached, 0)) as free
      from cluster
     where capacity is not null;

-- Copies on nodes that may be removed when space is needed, and that no package needs.
create view spare_copy as
    select location.cluster_id, location.file_id, location.path, location.made,
           coalesce(file.size, 0) as size
      from location
      join file on file.id = location.file_id and file.dropped = 0
     where location.spare = 1 and location.node_id is not null
       and (file.package_id is null
            or (select phase from package where package.id = file.package_id) = 'done')
       and not exists (select 1 from transfer where transfer.file_id = file.id)
       and not exists (select 1
                         from content join dataset on dataset.id = content.dataset_id
                        where content.package_id = file.package_id and content.name = file.name
                          and content.status = 'prepared'
                          and dataset.type in ('tmpl_output', 'tmpl_log'))
       and not exists (select 1
                         from input
                         join package on package.id = input.package_id
                                     and package.phase not in ('transferring', 'done', 'dropped')
                        where input.file_id = file.id and input.dropped = 0);

-- A host that packages run on.
create table node (
    id             integer primary key autoincrement,  -- nodes come and go with their allocations
    name           text not null unique,
    cluster_id     integer not null references cluster,
    applied        integer not null default 0 check (applied in (0, 1)),  -- 1: from the site file

    -- How to reach it.
    kind           text not null check (kind in ('local', 'ssh', 'slurm', 'htcondor')),
    via            text not null default 'auto' check (via in ('auto', 'fabric', 'openssh')),
    destination    text not null default '',
    identity       text not null default '',  -- file of the private key
    directory      text not null default '',
    python         text not null default '',
    job            text not null default '',  -- of a batch system: the job whose allocation it is

    -- What packages may use; `..._asked` is set by a user and goes before the node's own value.
    cpus           integer not null check (cpus > 0),
    cpus_asked     integer,
    memory         integer,
    memory_asked   integer,
    gpus           integer not null default 0 check (gpus >= 0),
    gpus_asked     integer check (gpus_asked >= 0),
    platform       text,
    platform_asked text,
    services       text not null default '[]',
    speed_asked    real check (speed_asked > 0),
    speed_measured real check (speed_measured > 0),  -- by `node benchmark`
    measured       real,                   -- when
    speed          real not null generated always as (
        coalesce(speed_asked, speed_measured, 1.0)) virtual,
                                           -- of one CPU, as a multiple of that of a standard node

    -- Contact.
    state          text not null default 'unknown' check (state in ('unknown', 'up', 'down')),
    since          real,                   -- of this state
    contact        real,                   -- its last answer
    last_error     text,                   -- why it is down
    next_try       real,                   -- of reaching it while it is down; null: at once
    machine        text,                   -- machine id: two names of one host are refused
    boot           text,                   -- boot id: another one ends its attempts
    base           text,                   -- d0ctl's absolute folder there
    facts          text not null default '{}',  -- what its relay reports: disk, tools, versions
    clock          real not null default 0,  -- seconds that its clock is ahead
    load           real,
    surveyed       real,                   -- when its cache was last compared with the database
    doubted        real,                   -- since when most files of its cache are missing,
                                           -- perhaps only for a time; null: they are there

    drained        integer not null default 0 check (drained in (0, 1)),
    drain_note     text,
    drained_at     real
) strict;

create trigger outdated_copies_kept before delete on node
begin
    insert into removed_copy (file_id, node_id, renewed)
    select file_id, old.id, coalesce(abs(renewed), 1e12)
      from outdated_copy
     where cluster_id = old.cluster_id and renewed is not 0;
end;

-- The last 10,000 times without contact with a node, written by triggers, or with a disk that had
-- less free space than its reserve. They stay when the node is removed.
create table node_outage (
    id        integer primary key,
    node_name text not null,
    kind      text not null default 'down' check (kind in ('down', 'full')),
    began     real not null,
    ended     real,                        -- null: it is down or full
    became    text check (became in ('up', 'unknown', 'removed')),  -- its state since then
    error     text                         -- why it was down, at first
) strict;

-- Those that have not ended.
create unique index node_outage_open on node_outage (node_name, kind) where ended is null;

-- The use of a node over the last day, for plots: a row a minute while it is up.
create table node_sample (
    node_id   integer not null references node on delete cascade,
    at        integer not null,
    load      real,
    rss       integer,                     -- of its packages, as far as their wrappers reported it
    disk_free integer,
    disk_in_use integer,                   -- as in node_space
    primary key (node_id, at)
) strict, without rowid;

-- The size of the disk of a node, and its free space: as the node reports, and no more than the
-- capacity of its cluster, below 0 if its cache has more than that; the bytes in use, by whomever, or
-- with a capacity by files that d0ctl knows; the bytes that stay free on the disk (`reserve`, at most
-- 5 % of it), how many of these are in use, and the free space that packages may use.
create view node_space as
    with space as (
        select node.id as node_id, node.facts ->> 'disk_free' as on_disk,
               cast(coalesce(min(coalesce((select value ->> '$.reserve' from setting
                                            where name = 'defaults'), 200000000),
                                 (node.facts ->> 'disk_total') / 20), 0) as integer) as disk_reserve,
               case when cluster_space.bytes < (node.facts ->> 'disk_total')
                      or node.facts ->> 'disk_total' is null then cluster_space.bytes
                    else node.facts ->> 'disk_total' end as disk,
               case when cluster_space.rest < (node.facts ->> 'disk_free')
                      or node.facts ->> 'disk_free' is null then cluster_space.rest
                    else node.facts ->> 'disk_free' end as disk_free,
               coalesce(cluster_space.bytes - cluster_space.rest,
                        max(0, (node.facts ->> 'disk_total') - (node.facts ->> 'disk_free')))
                 as disk_in_use
          from node left join cluster_space on cluster_space.cluster_id = node.cluster_id)
    select node_id, disk, disk_free, disk_in_use, disk_reserve,
           max(0, disk_reserve - coalesce(on_disk, disk_reserve)) as disk_short,
           min(max(0, disk_free), coalesce(on_disk - disk_reserve, max(0, disk_free))) as disk_spare
      from space;

-- What the live packages of a node use there: CPUs, and those of packages whose inputs are in
-- transit; memory, GPUs and disk, which ones that only deliver outputs do not use; how many wait for
-- inputs, only deliver, and all others.
create view node_use as
    select taken.node_id,
           sum(iif(requirement.stay is null and taken.slot = 0,
                   requirement.cpus * requirement.cpu / 100.0, 0) * taken.n) as used,
           -- of packages that are not short (AHEAD_S of the scheduler)
           sum(iif(requirement.stay is null and taken.slot = 0
                   and (requirement.pace is null or requirement.pace > 0.3),
                   requirement.cpus * requirement.cpu / 100.0, 0) * taken.n) as lasting,
           sum(iif(requirement.stay is null and taken.slot = 1,
                   requirement.cpus * requirement.cpu / 100.0, 0) * taken.n) as bringing,
           sum(iif(requirement.stay is null,
                   coalesce(requirement.memory, requirement.memory_expected, 0), 0)
               * taken.n) as memory,
           sum(iif(requirement.stay is null, requirement.gpus, 0) * taken.n) as gpus,
           sum(iif(requirement.stay is null,
                   coalesce(requirement.space_expected, requirement.space, 0), 0)
               * taken.n) as space,
           sum(iif(taken.slot = 2, taken.n, 0)) as open,
           sum(iif(requirement.stay is null, 0, taken.n)) as delivering,
           sum(iif(requirement.stay is null, taken.n, 0)) as running
      from (select node_id, requirement_id, slot, count(*) as n
              from package
             where is_live = 1
             group by node_id, requirement_id, slot) as taken
      join requirement on requirement.id = taken.requirement_id
     group by taken.node_id;

-- Caches that will exceed their capacity, by the daemon's forecast.
create table cache_overflow (
    cluster_id integer primary key references cluster on delete cascade,
    at         real not null,              -- when that begins
    space      integer not null,           -- bytes that it holds
    peak       integer not null,           -- bytes that it would have at most
    peak_at    real not null               -- when
) strict;

-- Findings of an inventory in a node's cache that d0ctl has not caused.
create table cache_finding (
    node_id integer not null references node on delete cascade,
    path    text not null,
    finding text not null check (finding in ('vanished', 'changed', 'since-backup', 'unknown')),
    file_id integer references file on delete cascade,  -- null: of a path that no file had
    noticed real not null,
    primary key (node_id, path)
) strict, without rowid;

-- Findings of a file, and those of one that is removed.
create index cache_finding_of_file on cache_finding (file_id);

-- Old findings, which are forgotten in slices.
create index cache_finding_noticed on cache_finding (noticed);

-- Unknown files, which each inventory replaces.
create index cache_finding_unknown on cache_finding (node_id) where finding = 'unknown';

-- A job of a batch system in whose allocation packages run; its node is named after it.
create table pilot (
    id         integer primary key autoincrement,
    cluster_id integer not null references cluster,
    batch      text not null,              -- the name of all jobs that were submitted at once
    seq        integer not null,           -- its index among them
    job        text,                       -- their id; null: it is not known whether they exist
    state      text not null default 'submitted'
               check (state in ('submitted', 'queued', 'running', 'ending', 'ended')),
    reason     text,                       -- why it waits, or how it ended
    node_id    integer,
    attempt_id integer,                    -- the only one that it runs; null: a pilot
    priority   integer,                    -- of its package, as the batch system knows it
    submitted  real not null,
    ends       real,                       -- when its time limit is reached
    ended      real,
    unique (batch, seq)
) strict;

-- The pilots that exist, the oldest first.
create index pilot_alive on pilot (cluster_id, submitted)
 where state <> 'ended' and attempt_id is null;

-- Those of attempts are deleted when they are settled.
create index pilot_direct on pilot (cluster_id, state) where attempt_id is not null;

-- The pilot that a node belongs to.
create index pilot_of_node on pilot (node_id) where state <> 'ended';

-- The latest pilots, and how many were submitted lately.
create index pilot_submitted on pilot (cluster_id, submitted);

-- The jobs of attempts, one at a time for each.
create unique index pilot_of_attempt on pilot (attempt_id);


-- Software -----------------------------------------------------------------------------------

-- A section of the site file that was applied (docs/sitefile.md).
create table setting (
    name  text primary key,
    value text not null                    -- JSON
) strict, without rowid;

-- A version of a program in the catalogue.
create table software (
    id         integer primary key,
    name       text not null,
    version    text not null,
    platform   text not null default '',   -- empty: any
    title      text not null generated always as (name || '/' || version) virtual,
    applied    integer not null default 0 check (applied in (0, 1)),  -- 1: from the site file

    -- Its files.
    archive    text,                       -- absolute path on this machine, or URL; null: no files
    checksum   text,
    size       integer,
    manifest   text,                       -- checksum of the list of its files

    -- Defaults of binaries that use it.
    script     text,
    shell      text not null default 'bash',
    parameters text not null default '{}',
    needs      text not null default '[]',
    runtime    real,
    log_rules  text not null default '[]',
    hooks      text not null default '{}',
    progress   text,
    "check"    text,
    policy     text not null default '{}',

    unique (name, version, platform),
    check (script is not null or archive is not null),
    check (archive is null or checksum is not null)
) strict;

-- The catalogue entries that each node uses: for its platform, else for any.
create view node_software as
    select node.id as node_id, node.cluster_id, software.*
      from node
      join software on software.platform in ('', coalesce(node.platform, ''))
     where software.platform <> ''
        or not exists (select 1 from software as own
                        where own.name = software.name and own.version = software.version
                          and own.platform <> '' and own.platform = node.platform);

-- An archive of this machine on a node, or in transit to it.
create table archive_copy (
    node_id    integer not null references node on delete cascade,
    checksum   text not null,
    arrived    real,
    not_before real not null default 0,
    tries      integer not null default 0,
    last_error text,                       -- why the last try failed
    primary key (node_id, checksum)
) strict, without rowid;

-- A request to install, remove or verify software on a node, and its result.
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
    faults   text not null default '[]',
    report_to text                         -- who gets a report when it has ended; null: the command
                                           -- that asked waits for it
) strict;

-- What a node still has to do.
create index software_order_open on software_order (node_id) where ended is null;

-- Few are reported.
create index software_order_report on software_order (report_to) where report_to is not null;


-- Policies and recovery ------------------------------------------------------------------------

-- Properties of successful runs of a program, to recognise looping. Software of the catalogue has
-- a row per name and version, other binaries one per stage and position.
create table run_time_history (
    software text not null,
    stage_id integer not null,             -- 0: software of the catalogue
    binary   integer not null,             -- likewise
    runs     integer not null,
    gap      real not null,                -- the longest time without a sign of progress
    primary key (software, stage_id, binary)
) strict, without rowid;

-- The use of the latest successful runs, from which the next are estimated (docs/scheduling.md): of
-- a `software` by name and version; at a `place` of a job file, by the file, the name of the stage,
-- and the numbers of package and binary; in a `stage` of a job by its id.
create table estimate (
    kind    text not null check (kind in ('software', 'place', 'stage')),
    name    text not null,
    runs    integer not null,              -- how many there were in all
    at      real not null,                 -- when the last ended
    samples text not null,                 -- the latest, by quantity, the oldest first
    primary key (kind, name)
) strict, without rowid;

-- CPU seconds that a group of the section `shares` of the site file used until a time; old use
-- counts less and less (docs/scheduling.md).
create table share_usage (
    path text primary key,                 -- empty: jobs that no share takes
    used real not null,
    at   real not null
) strict, without rowid;

-- How many packages were sent to nodes at a time, for the throttles that limit launches
-- (docs/scheduling.md); old ones are removed.
create table launch_tally (
    throttle text not null,                -- its name in the site file
    name     text not null,                -- of the node, the researcher or the job
    at       real not null,
    n        integer not null,
    primary key (throttle, name, at)
) strict, without rowid;

-- Whether a node could log in to another one, for files that go directly between them.
create table node_login (
    node_id   integer not null references node on delete cascade,
    callee_id integer not null references node on delete cascade,
    fault     text not null,               -- empty: it could
    tried     real not null,
    primary key (node_id, callee_id)
) strict, without rowid;

-- Those of a node that is removed.
create index node_login_of_callee on node_login (callee_id);

-- The record of a job on a node since its submission, or since a user retried packages of it.
create table job_node_record (
    job_id     integer not null references job on delete cascade,
    node_id    integer not null references node on delete cascade,
    successful integer not null default 0,
    failed     integer not null default 0,
    primary key (job_id, node_id)
) strict, without rowid;

-- The records of a node, which `node resume` forgets.
create index job_node_record_of_node on job_node_record (node_id);

-- The record of a stage on a node, likewise.
create table node_record (
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
    successes  integer not null default 0, -- since the row of failures before
    earlier    integer not null default 0, -- failures of that row: it goes on if none of these
                                           -- successes is believed any more
    primary key (stage_id, node_id)
) strict, without rowid;

-- Nodes with failures in a row, which may be at fault.
create index node_record_streak on node_record (stage_id) where streak > 0;

-- The records of a node, which `node resume` forgets.
create index node_record_of_node on node_record (node_id);

-- The records of a job, to compare nodes, and which a retry forgets.
create index node_record_of_job on node_record (job_id);

-- Nodes that d0ctl drained because packages failed there that succeed elsewhere.
create table bad_node (
    node_id   integer primary key references node on delete cascade,
    job_id    integer not null,
    stage_id  integer not null,
    since     real not null,
    began     real not null,               -- when the first of these failures ended
    evidence  text not null,               -- as JSON: the remark `node-failing`, with its values
    times     integer not null default 1,  -- how often in a row: each time it rests for longer
    next_try  real not null,               -- when one package tries it
    canary_id integer                      -- the package that tries it, or did last
) strict;

-- How many packages of a stage have failed for good since a user last released or retried them, by
-- reason.
create table alike (
    stage_id integer not null references stage on delete cascade,
    reason   text not null,
    failed   integer not null,
    primary key (stage_id, reason)
) strict, without rowid;

-- Nodes that need an administrator, since when and why.
create view node_problem as
    select node.id as node_id, node.name, 'down' as kind, node.since, node.last_error as evidence,
           null as next_try
      from node where node.state = 'down'
     union all
    select node.id, node.name, 'drained', bad_node.since, bad_node.evidence, bad_node.next_try
      from bad_node join node on node.id = bad_node.node_id
     union all
    select node.id, node.name, 'doubted', node.doubted, node.drain_note, null
      from node where node.doubted is not null
     union all
    select node.id, node.name, 'mistrusted', node.since, node.last_error, null
      from node where node.state = 'down' and node.last_error like 'the host key of %';


-- Notifications (docs/mail.md) -----------------------------------------------------------------

-- The one row that says up to which event notifications have read; null: no site notifications.
create table notified (
    id    integer primary key check (id = 1),
    event integer
) strict;

insert into notified (id) values (1);

-- A present problem that notifications have seen.
create table problem (
    kind       text not null check (kind in ('node-down', 'node-drained', 'node-doubted',
                                             'node-mistrusted', 'held', 'still', 'stands-still')),
    subject_id integer not null,
    subject    text not null,
    since      real not null,
    primary key (kind, subject_id)
) strict, without rowid;

-- Who was notified of a problem, and will be when it is over.
create table notified_of (
    kind       text not null,
    subject_id integer not null,
    recipient  text not null,
    primary key (kind, subject_id, recipient)
) strict, without rowid;

-- Notices for a recipient; equal ones are one row, which counts them.
create table notice (
    id         integer primary key,
    recipient  text not null,              -- an address, or `command`
    kind       text not null check (kind in ('failures', 'ended', 'node-down', 'node-drained',
                                             'node-doubted', 'node-mistrusted', 'node-given-up',
                                             'stands-still', 'software', 'cleared')),
    subject_id integer not null,           -- a job, a node or an order; 0: all production
    subject    text not null,              -- its name
    reason     text not null default '',   -- of failures; of `cleared`, the kind of the problem;
                                           -- of `software`, the verb
    count      integer not null default 1,
    failed     integer not null default 0, -- for good
    held       integer not null default 0,
    first      real not null,
    last       real not null,
    due        real not null,
    problem    text,                       -- the kind of problem to report when it is over
    samples    text not null default '[]',
    unique (recipient, kind, subject_id, reason)
) strict;

-- A mail that is written, and waits or was sent.
create table delivery (
    id         integer primary key autoincrement,
    recipient  text not null,
    message_id text not null,
    title      text not null,
    body       text,                       -- null after it was sent
    made       real not null,
    tries      integer not null default 0,
    not_before real not null default 0,
    last_error text,                       -- why the last try failed
    ended      real,                       -- it was sent or given up
    sent       integer not null default 0 check (sent in (0, 1)),
    way        text                        -- the command, plug-in or webhook that it was given to
) strict;

-- Mails to be sent, by the time of the next try.
create index delivery_open on delivery (not_before) where ended is null;

-- Old ones are deleted.
create index delivery_ended on delivery (ended) where ended is not null;


-- Audit and cleanup ----------------------------------------------------------------------------

-- What users did, one row per command; and what d0ctl did by itself that a command undoes, such as
-- a hold.
create table action (
    id       integer primary key,
    at       real not null,
    actor    text not null,
    verb     text not null,
    target   text not null,
    note     text,
    packages integer not null default 0,
    undo     text                          -- the command that undoes it
) strict;

-- The latest, and the action of an event, which has the same time.
create index action_at on action (at);

-- Things to remove on a node when it can be reached: the folder of an attempt, or a path.
create table purge (
    id         integer primary key,
    node_id    integer not null references node on delete cascade,
    attempt_id integer,
    path       text,
    after      integer                     -- not before launched packages that read this file have
                                           -- ended
) strict;

-- What a node has to remove.
create index purge_of_node on purge (node_id);

-- Whether a path is to be removed already.
create index purge_of_path on purge (path) where path is not null;

-- What a node can remove now.
create view due_purge as
    select id, node_id, attempt_id, path
      from purge
     where after is null
        or not exists (select 1
                         from input join package as reader on reader.id = input.package_id
                        where input.file_id = purge.after and reader.is_live = 1);


-- Tasks --------------------------------------------------------------------------------------

-- The statuses of a task (docs/tasks.md), and the groups that queries use.
create table task_status (
    name      text primary key,
    meaning   text not null,
    generates integer not null,            -- packages are made of its files
    is_ended  integer not null             -- nothing happens without a user
) strict, without rowid;

insert into task_status (name, meaning, generates, is_ended) values
    ('defined',   'its task file was read; its datasets are looked up next', 0, 0),
    ('pending',   'a dataset is not available at present, and is looked up again', 0, 0),
    ('ready',     'its input files are known; no package was made yet', 1, 0),
    ('scouting',  'its first packages measure what the others will need', 1, 0),
    ('running',   'packages are made of its files and run', 1, 0),
    ('paused',    'a user paused it: no packages are made', 0, 0),
    ('finishing', 'no more packages are made; those that exist end first', 0, 0),
    ('prepared',  'each input file has its result; outputs are checked and merged next', 0, 0),
    ('aborting',  'a user killed it, and its packages end', 0, 0),
    ('exhausted', 'too many scouts failed, its goal was missed, or its outputs have a fault', 0, 1),
    ('done',      'all its input files were processed', 0, 1),
    ('finished',  'as many input files were processed as its goal asks', 0, 1),
    ('failed',    'no input file was processed', 0, 1),
    ('broken',    'its definition or one of its datasets can''t be used', 0, 1),
    ('aborted',   'a user killed it', 0, 1);

-- The changes of status of a task that are allowed; the trigger `task_refused` refuses all others.
create table task_transition (
    old  text not null references task_status,
    new  text not null references task_status,
    verb text not null,
    primary key (old, new)
) strict, without rowid;

insert into task_transition (old, new, verb) values
    ('defined',   'ready',     'feed'),
    ('pending',   'ready',     'feed'),
    ('defined',   'pending',   'wait'),
    ('pending',   'defined',   'look again'),
    ('defined',   'broken',    'break'),
    ('pending',   'broken',    'break'),
    ('ready',     'broken',    'break'),
    ('scouting',  'broken',    'break'),
    ('running',   'broken',    'break'),
    ('ready',     'scouting',  'scout'),
    ('ready',     'running',   'generate'),
    ('scouting',  'running',   'measure'),
    ('scouting',  'exhausted', 'exhaust'),
    ('running',   'exhausted', 'exhaust'),
    ('prepared',  'exhausted', 'exhaust'),
    ('ready',     'prepared',  'account'),
    ('scouting',  'prepared',  'account'),
    ('running',   'prepared',  'account'),
    ('finishing', 'prepared',  'account'),
    ('prepared',  'done',      'complete'),
    ('prepared',  'finished',  'complete'),
    ('prepared',  'failed',    'complete'),
    ('prepared',  'running',   'go back'),
    ('defined',   'paused',    'pause'),
    ('pending',   'paused',    'pause'),
    ('ready',     'paused',    'pause'),
    ('scouting',  'paused',    'pause'),
    ('running',   'paused',    'pause'),
    ('prepared',  'paused',    'pause'),
    ('paused',    'prepared',  'resume'),
    ('paused',    'defined',   'resume'),
    ('paused',    'pending',   'resume'),
    ('paused',    'ready',     'resume'),
    ('paused',    'scouting',  'resume'),
    ('paused',    'running',   'resume'),
    ('defined',   'finishing', 'finish'),
    ('pending',   'finishing', 'finish'),
    ('ready',     'finishing', 'finish'),
    ('scouting',  'finishing', 'finish'),
    ('running',   'finishing', 'finish'),
    ('paused',    'finishing', 'finish'),
    ('exhausted', 'finishing', 'finish'),
    ('defined',   'aborting',  'kill'),
    ('pending',   'aborting',  'kill'),
    ('ready',     'aborting',  'kill'),
    ('scouting',  'aborting',  'kill'),
    ('running',   'aborting',  'kill'),
    ('paused',    'aborting',  'kill'),
    ('finishing', 'aborting',  'kill'),
    ('prepared',  'aborting',  'kill'),
    ('exhausted', 'aborting',  'kill'),
    ('aborting',  'aborted',   'end'),
    ('exhausted', 'ready',     'retry'),
    ('finished',  'ready',     'retry'),
    ('aborted',   'ready',     'retry'),
    ('ready',     'defined',   'look up again'),
    ('scouting',  'defined',   'look up again'),
    ('running',   'defined',   'look up again'),
    ('prepared',  'defined',   'look up again'),
    ('exhausted', 'defined',   'look up again'),
    ('done',      'defined',   'look up again'),
    ('finished',  'defined',   'look up again');

-- A task: datasets and a rule by which packages of its job process them.
create table task (
    id         integer primary key autoincrement,
    job_id     integer not null unique references job on delete cascade,  -- of the same name
    parent_id  integer references task on delete set null,  -- it waits for outputs of that one
    text       blob not null,              -- the task file, packed by zlib
    rules      text not null,              -- what it says besides datasets and process
    measured   text,                       -- what its scouts needed
    status     text not null default 'defined' references task_status,
    previous   text references task_status,  -- the status to which `resume` returns
    since      real not null,              -- when it got its status
    actor      text,                       -- of the last change of status; null: d0ctl itself
    note       text,                       -- why
    waits      text,                       -- why the agents can't go on at present
    next_look  real not null default 0,    -- agents leave it alone until then
    made       integer not null default 0, -- packages so far
    partition  text,                       -- its share, and what its packages request
    destination text,                      -- the cluster where its outputs are merged, if chosen
    destination_nodes text,                -- the nodes there, as JSON
    destination_why text,                  -- why there
    holder     text,                       -- the process that works on it, as in `lease`
    held_until real,                       -- when others may take it from a process that hangs
    ended      real,
    acknowledged         text,             -- who has acknowledged that it did not succeed
    acknowledged_at      real,
    acknowledged_because text
) strict;

-- Agents look for tasks by status.
create index task_in_status on task (status, next_look);

-- The tasks that take turns at the same nodes.
create index task_in_partition on task (partition) where partition is not null;

-- The tasks that wait for another.
create index task_of_parent on task (parent_id) where parent_id is not null;

-- Every change of status of a task; a trigger writes it.
create table task_log (
    id      integer primary key,
    at      real not null,
    task_id integer not null references task on delete cascade,
    old     text,
    new     text not null,
    actor   text,
    note    text
) strict;

-- The history of a task.
create index task_log_of_task on task_log (task_id);

-- The statuses of datasets, of input (`output` = 0) and of output.
create table dataset_status (
    output  integer not null check (output in (0, 1)),
    name    text not null,
    meaning text not null,
    primary key (output, name)
) strict, without rowid;

insert into dataset_status (output, name, meaning) values
    (0, 'defined',  'it was not looked up yet'),
    (0, 'toupdate', 'it is looked up again'),
    (0, 'pending',  'it is not available at present'),
    (0, 'broken',   'it can''t be used'),
    (0, 'ready',    'its files are known'),
    (0, 'done',     'all its files were processed'),
    (1, 'defined',  'it has no files yet'),
    (1, 'ready',    'packages may add files'),
    (1, 'running',  'packages are adding files'),
    (1, 'prepared', 'all its files are there'),
    (1, 'done',     'its files were checked, and merged if the task asks for that');

-- The changes of status of a dataset that are allowed; `dataset_refused` refuses all others.
create table dataset_transition (
    output integer not null,
    old    text not null,
    new    text not null,
    verb   text not null,
    primary key (output, old, new)
) strict, without rowid;

insert into dataset_transition (output, old, new, verb) values
    (0, 'defined',  'ready',    'feed'),
    (0, 'toupdate', 'ready',    'feed'),
    (0, 'pending',  'ready',    'feed'),
    (0, 'defined',  'pending',  'wait'),
    (0, 'toupdate', 'pending',  'wait'),
    (0, 'defined',  'broken',   'break'),
    (0, 'toupdate', 'broken',   'break'),
    (0, 'pending',  'broken',   'break'),
    (0, 'pending',  'toupdate', 'look up again'),
    (0, 'broken',   'toupdate', 'look up again'),
    (0, 'ready',    'toupdate', 'look up again'),
    (0, 'done',     'toupdate', 'look up again'),
    (0, 'ready',    'done',     'process'),
    (0, 'done',     'ready',    'retry'),
    (1, 'defined',  'ready',    'set up'),
    (1, 'ready',    'running',  'add'),
    (1, 'running',  'prepared', 'account'),
    (1, 'ready',    'prepared', 'account'),
    (1, 'prepared', 'done',     'complete'),
    (1, 'prepared', 'running',  'add'),
    (1, 'done',     'running',  'add');

-- A collection of files that a task reads or makes.
create table dataset (
    id        integer primary key autoincrement,
    task_id   integer not null references task on delete cascade,
    seq       integer not null,
    type      text not null
              check (type in ('input', 'output', 'log', 'lib', 'tmpl_output', 'tmpl_log')),
    output    integer not null generated always as (type <> 'input' and type <> 'lib') virtual,
    name      text not null,
    source    text,                        -- of input: where its files come from
    source_id integer,                     -- the dataset of another task that has them
    status    text not null default 'defined',
    since     real not null,
    note      text,                        -- why it has its status
    looked    real,                        -- when it was looked up last
    tries     integer not null default 0,  -- look-ups that failed since then
    next_look real not null default 0,
    asked     integer not null default 0,  -- how often a user or event asked for a look-up
    unique (task_id, seq),
    unique (task_id, name)
) strict;

-- The datasets that take the files of another.
create index dataset_of_source on dataset (source_id) where source_id is not null;

-- The statuses of files of datasets.
create table content_status (
    output  integer not null check (output in (0, 1)),
    name    text not null,
    meaning text not null,
    is_used integer not null,              -- a package of it exists and has not ended
    primary key (output, name)
) strict, without rowid;

insert into content_status (output, name, meaning, is_used) values
    (0, 'ready',    'it is there, and no package processes it', 0),
    (0, 'missing',  'it is not there, although its dataset names it', 0),
    (0, 'lost',     'it was there when its dataset was looked up before', 0),
    (0, 'broken',   'its size is another than its dataset says', 0),
    (0, 'picked',   'a package was made of it', 1),
    (0, 'running',  'a package of it runs', 1),
    (0, 'finished', 'it was processed', 0),
    (0, 'failed',   'its last attempt failed', 0),
    (0, 'partial',  'some of its events were processed, others failed', 0),
    (1, 'defined',  'a package will make it', 1),
    (1, 'running',  'a package is making it', 1),
    (1, 'prepared', 'it is there', 0),
    (1, 'merging',  'it is being merged with others', 0),
    (1, 'finished', 'it is there, and was checked, or merged with others', 0),
    (1, 'failed',   'it was not made, or not merged', 0);

-- The changes of status of a file that are allowed; `content_refused` refuses all others.
create table content_transition (
    output integer not null,
    old    text not null,
    new    text not null,
    verb   text not null,
    primary key (output, old, new)
) strict, without rowid;

insert into content_transition (output, old, new, verb) values
    (0, 'ready',    'picked',   'pick'),
    (0, 'picked',   'running',  'start'),
    (0, 'picked',   'ready',    'give back'),
    (0, 'running',  'ready',    'try again'),
    (0, 'running',  'finished', 'end'),
    (0, 'running',  'failed',   'fail'),
    (0, 'running',  'partial',  'fail in part'),
    (0, 'picked',   'failed',   'fail'),
    (0, 'ready',    'missing',  'look up'),
    (0, 'ready',    'lost',     'look up'),
    (0, 'ready',    'broken',   'look up'),
    (0, 'failed',   'lost',     'look up'),
    (0, 'failed',   'broken',   'look up'),
    (0, 'partial',  'lost',     'look up'),
    (0, 'missing',  'ready',    'look up'),
    (0, 'missing',  'lost',     'look up'),
    (0, 'lost',     'ready',    'look up'),
    (0, 'broken',   'ready',    'look up'),
    (0, 'finished', 'ready',    'replace'),
    (0, 'failed',   'ready',    'retry'),
    (0, 'partial',  'ready',    'retry'),
    (0, 'failed',   'picked',   'retry its package'),
    (0, 'finished', 'picked',   'remake'),
    (1, 'defined',  'running',  'start'),
    (1, 'running',  'prepared', 'end'),
    (1, 'running',  'failed',   'fail'),
    (1, 'defined',  'failed',   'fail'),
    (1, 'prepared', 'defined',  'remake'),
    (1, 'finished', 'defined',  'remake'),
    (1, 'failed',   'defined',  'retry'),
    (1, 'prepared', 'merging',  'merge'),
    (1, 'merging',  'prepared', 'merge again'),
    (1, 'failed',   'prepared', 'merge again'),
    (1, 'failed',   'merging',  'retry its merge'),
    (1, 'finished', 'merging',  'remake its merge'),
    (1, 'merging',  'defined',  'remake'),
    (1, 'merging',  'finished', 'complete'),
    (1, 'merging',  'failed',   'fail'),
    (1, 'prepared', 'finished', 'complete'),
    (1, 'prepared', 'failed',   'fail');

-- A file of a dataset, or another value that a package processes, such as a seed.
create table content (
    id         integer primary key,
    dataset_id integer not null references dataset on delete cascade,
    output     integer not null check (output in (0, 1)),
    seq        integer not null,
    name       text not null,
    size       integer,
    events     integer,
    checksum   text,
    status     text not null,
    attempts   integer not null default 0, -- packages that were made of it
    tried_from integer not null default 0, -- `attempts` at the last retry by a user
    package_id integer,                    -- that of the last attempt, or its maker
    next_event integer,                    -- it is split: its events from here on are in no range
    merge_id   integer,                    -- the package that merges it with others
    unique (dataset_id, name)
) strict;

-- The files to pick, in their order.
create index content_in_status on content (dataset_id, status, seq);

-- The files of which some ranges of events were made, and others follow.
create index content_split on content (dataset_id, seq) where next_event <= events;

-- The files of a package whose phase changes.
create index content_of_package on content (package_id) where package_id is not null;

-- The files that were replaced after packages had processed them.
create index content_replaced on content (dataset_id)
 where status = 'ready' and package_id is not null;

-- The files that a package merges.
create index content_of_merge on content (merge_id) where merge_id is not null;

-- How many files of a dataset have each status; triggers keep it.
create table dataset_count (
    dataset_id integer not null references dataset on delete cascade,
    status     text not null,
    n          integer not null default 0 check (n >= 0),
    primary key (dataset_id, status)
) strict, without rowid;

-- Each package that was made of a file.
create table content_attempt (
    content_id integer not null references content on delete cascade,
    number     integer not null,
    package_id integer not null,
    began      real not null,
    ended      real,
    outcome    text check (outcome in ('finished', 'failed', 'canceled', 'dropped')),
    primary key (content_id, number)
) strict, without rowid;

-- The statuses of ranges of events of a file.
create table event_range_status (
    name    text primary key,
    meaning text not null
) strict, without rowid;

insert into event_range_status (name, meaning) values
    ('ready',     'no package processes it'),
    ('sent',      'a package was made of it'),
    ('running',   'it is processed on a node'),
    ('finished',  'it was processed, and its package runs on'),
    ('cancelled', 'its package was killed before it was processed'),
    ('discarded', 'its package was killed before its result was merged'),
    ('done',      'it was processed, and its package has ended'),
    ('failed',    'it was not processed'),
    ('fatal',     'its last attempt failed'),
    ('merged',    'its result was merged'),
    ('corrupted', 'its result is damaged');

-- The changes of status of a range that are allowed; `event_range_refused` refuses all others.
create table event_range_transition (
    old  text not null references event_range_status,
    new  text not null references event_range_status,
    verb text not null,
    primary key (old, new)
) strict, without rowid;

insert into event_range_transition (old, new, verb) values
    ('ready',     'sent',      'pick'),
    ('sent',      'running',   'start'),
    ('sent',      'cancelled', 'kill'),
    ('running',   'cancelled', 'kill'),
    ('running',   'finished',  'process'),
    ('running',   'failed',    'fail'),
    ('sent',      'failed',    'fail'),
    ('finished',  'done',      'end'),
    ('finished',  'discarded', 'kill'),
    ('finished',  'failed',    'fail'),
    ('done',      'merged',    'merge'),
    ('done',      'discarded', 'kill'),
    ('done',      'corrupted', 'check'),
    ('merged',    'corrupted', 'check'),
    ('failed',    'fatal',     'give up'),
    ('cancelled', 'fatal',     'give up'),
    ('discarded', 'fatal',     'give up'),
    ('failed',    'ready',     'try again'),
    ('cancelled', 'ready',     'try again'),
    ('discarded', 'ready',     'try again'),
    ('corrupted', 'ready',     'try again'),
    ('fatal',     'ready',     'retry');

-- A range of the events of a file that one package processes.
create table event_range (
    content_id integer not null references content on delete cascade,
    first      integer not null,
    last       integer not null,
    dataset_id integer not null,           -- that of its file
    status     text not null default 'ready' references event_range_status,
    attempts   integer not null default 0, -- packages that were made of it since the last retry
    package_id integer,
    primary key (content_id, first)
) strict, without rowid;

-- The ranges of a package whose phase changes.
create index event_range_of_package on event_range (package_id) where package_id is not null;

-- The ranges to pick again.
create index event_range_ready on event_range (dataset_id, content_id, first)
 where status = 'ready';

-- How many ranges of a file have each status, and those of all files of a dataset under the file 0;
-- triggers keep it.
create table event_range_count (
    dataset_id integer not null references dataset on delete cascade,
    content_id integer not null,
    status     text not null,
    n          integer not null default 0 check (n >= 0),
    primary key (content_id, dataset_id, status)
) strict, without rowid;

-- The last change of a package that the agents of tasks have read.
create table task_cursor (
    id    integer primary key check (id = 1),
    event integer not null default 0
) strict;

insert into task_cursor (id) values (1);


-- Views for users -------------------------------------------------------------------------------
--
-- For people who read the database with their own tools (docs/sql.md). Their columns are stable. Times
-- are ISO text in UTC; beside each, `..._s` has it in seconds since 1970.

-- Jobs, and how many of their packages have each status.
create view v_job as
    select job.id as job_id, job.name as job, job.title, job.originator, job.priority,
           job.hold as is_held, job.pause as is_paused,
           strftime('%Y-%m-%dT%H:%M:%SZ', job.submitted, 'unixepoch') as submitted,
           job.submitted as submitted_s,
           strftime('%Y-%m-%dT%H:%M:%SZ', job.ended, 'unixepoch') as ended,
           job.ended as ended_s,
           coalesce(counted.packages, 0) as packages,
           coalesce(counted.unscheduled, 0) as unscheduled,
           coalesce(counted.scheduled, 0) as scheduled,
           coalesce(counted.launched, 0) as launched,
           coalesce(counted.successful, 0) as successful,
           coalesce(counted.failed, 0) as failed,
           coalesce(counted.canceled, 0) as canceled
      from job
      left join (select stage.job_id, sum(n) as packages,
                        sum(n) filter (where phase.status = 'unscheduled') as unscheduled,
                        sum(n) filter (where phase.status = 'scheduled') as scheduled,
                        sum(n) filter (where phase.status = 'launched') as launched,
                        sum(n) filter (where phase.status = 'successful') as successful,
                        sum(n) filter (where phase.status = 'failed') as failed,
                        sum(n) filter (where phase.status = 'canceled') as canceled
                   from stage
                   join stage_count on stage_count.stage_id = stage.id
                   join phase on phase.name = stage_count.phase
                  group by stage.job_id) as counted on counted.job_id = job.id
     where job.visible = 1;

-- Packages with their last attempt.
create view v_package as
    select package.id as package_id,
           job.name || '/' || stage.seq || '/' || line.seq || '/' || package.seq as path,
           job.name as job, stage.seq as stage, stage.name as stage_name, line.seq as line,
           line.name as line_name, package.seq as package, package.name, package.status,
           package.phase, package.note, coalesce(node.name, attempt.node_name) as node,
           package.attempts, requirement.cpus, requirement.memory, requirement.gpus,
           strftime('%Y-%m-%dT%H:%M:%SZ', package.changed, 'unixepoch') as changed,
           package.changed as changed_s,
           strftime('%Y-%m-%dT%H:%M:%SZ', attempt.started, 'unixepoch') as started,
           attempt.started as started_s,
           strftime('%Y-%m-%dT%H:%M:%SZ', attempt.ended, 'unixepoch') as ended,
           attempt.ended as ended_s,
           attempt.ended - attempt.started as wall_time_s, attempt.reason, attempt.message
      from job
      join stage on stage.job_id = job.id
      join line on line.stage_id = stage.id
      join package on package.line_id = line.id
      join requirement on requirement.id = package.requirement_id
      left join node on node.id = package.node_id
      left join attempt on attempt.package_id = package.id and attempt.number = package.attempts
     where job.visible = 1;

-- Attempts at packages.
create view v_attempt as
    select attempt.id as attempt_id, package.id as package_id,
           job.name || '/' || stage.seq || '/' || line.seq || '/' || package.seq as path,
           job.name as job, stage.seq as stage, stage.name as stage_name, attempt.number,
           attempt.kind, attempt.node_name as node, attempt.outcome,
           strftime('%Y-%m-%dT%H:%M:%SZ', attempt.launched, 'unixepoch') as launched,
           attempt.launched as launched_s,
           strftime('%Y-%m-%dT%H:%M:%SZ', attempt.started, 'unixepoch') as started,
           attempt.started as started_s,
           strftime('%Y-%m-%dT%H:%M:%SZ', attempt.ended, 'unixepoch') as ended,
           attempt.ended as ended_s,
           attempt.ended - attempt.started as wall_time_s, attempt.cpu as cpu_time_s,
           attempt.rss as memory, attempt.reason, attempt.message, attempt.binary,
           attempt.exit_code, attempt.signal
      from job
      join stage on stage.job_id = job.id
      join line on line.stage_id = stage.id
      join package on package.line_id = line.id
      join attempt on attempt.package_id = package.id
     where job.visible = 1;

-- Attempts that failed or were lost, and whether their packages are failed now.
create view v_failure as
    select v_attempt.*,
           (select package.phase = 'failed' and package.attempts = v_attempt.number
              from package where package.id = v_attempt.package_id) as is_final
      from v_attempt
     where v_attempt.outcome in ('failed', 'lost');

-- When nodes were down, or their disks full.
create view v_outage as
    select node_name as node, kind,
           strftime('%Y-%m-%dT%H:%M:%SZ', began, 'unixepoch') as began, began as began_s,
           strftime('%Y-%m-%dT%H:%M:%SZ', ended, 'unixepoch') as ended, ended as ended_s,
           became, error
      from node_outage;

-- Files that jobs read and make, and how many copies d0ctl knows.
create view v_file as
    select file.id as file_id, job.name as job, file.name as file,
           (select path from package_path where package_id = file.package_id) as maker,
           file.present as is_present, file.dropped as is_dropped, file.partial as is_partial,
           file.result as is_result, file.size, file.checksum, file.disposition,
           (select count(*) from location where location.file_id = file.id) as copies
      from file
      join job on job.id = file.job_id
     where job.visible = 1 and file.late = 0;


-- Rules: true whichever command changes a package ------------------------------------------------
--
-- A job has up to 10^6 packages, so what a trigger costs per row counts. Within a trigger, SQLite
-- makes a table for every row of each list of more than two after `in`: hence the many `or`.

-- Only transitions of the table above. `after`, since a trigger before the update makes SQLite read
-- each row twice.
create trigger package_refused after update of phase on package
when old.phase <> new.phase and not exists (
    select 1 from transition where transition.old = old.phase and transition.new = new.phase)
begin
    select raise(abort, 'not a transition');
end;

-- Counters: `stage_count`, `requirement.ready`; and the history: `event`.

create trigger stage_counted after insert on stage
begin
    insert into stage_count (stage_id, phase) select new.id, name from phase;
end;

create trigger package_made after insert on package
begin
    update stage_count set n = n + 1 where stage_id = new.stage_id and phase = new.phase;
end;

create trigger package_made_ready after insert on package when new.phase = 'ready'
begin
    update requirement set ready = ready + 1 where id = new.requirement_id;
end;

create trigger package_moved after update of phase on package when old.phase <> new.phase
begin
    update stage_count set n = n - 1 where stage_id = new.stage_id and phase = old.phase;
    update stage_count set n = n + 1 where stage_id = new.stage_id and phase = new.phase;
    update requirement set ready = ready + 1 where new.phase = 'ready' and id = new.requirement_id;
    update requirement set ready = ready - 1 where old.phase = 'ready' and id = new.requirement_id;
    insert into event (at, package_id, old, new, attempt_id, node_id, actor, note)
    values (new.changed, new.id, old.phase, new.phase, new.attempt_id, new.node_id,
            new.actor, new.note);
end;

-- A ready package that gets another requirement counts there.
create trigger package_asks_otherwise after update of requirement_id on package
when old.requirement_id <> new.requirement_id and old.phase = 'ready' and new.phase = 'ready'
begin
    update requirement set ready = ready + 1, away = away + (new.away is not null)
     where id = new.requirement_id;
    update requirement set ready = ready - 1, away = away - (old.away is not null)
     where id = old.requirement_id;
end;

create trigger package_set_aside after update of away on package
when (old.away is null) <> (new.away is null)
begin
    update requirement set away = away + iif(old.away is null, 1, -1) where id = new.requirement_id;
end;

-- A package keeps nothing that belongs to a phase it has left: it is parked only while it is held,
-- waits for copies only while it is assigned, for nodes that have inputs only while it is ready, and has
-- a time for its next try only while it cools off or is held. A request to pause or resume needs an attempt, one to end it a package that is
-- being killed.
create trigger package_left after update of phase on package
when (new.parked = 1 and new.phase <> 'held')
    or (new.staging > 0 and new.phase <> 'assigned')
    or (new.away is not null and new.phase <> 'ready')
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
           away = iif(phase = 'ready', away, null),
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

-- The live status of a package ends with its attempt, in whatever way it ends.
create trigger package_without_attempt after update of phase on package
when (old.phase = 'starting' or old.phase = 'staging-in' or old.phase = 'running'
      or old.phase = 'suspended' or old.phase = 'killing' or old.phase = 'unreachable')
    and new.phase <> 'starting' and new.phase <> 'staging-in' and new.phase <> 'running'
    and new.phase <> 'suspended' and new.phase <> 'killing' and new.phase <> 'unreachable'
begin
    delete from progress where package_id = new.id;
end;

-- A package that is not failed any more has nothing to acknowledge.
create trigger package_unfailed after update of phase on package
when old.phase = 'failed' and new.phase <> 'failed'
begin
    insert into past_acknowledgement (package_id, stage_id, at, actor, note, ended)
    select package_id, stage_id, at, actor, note, new.changed
      from acknowledgement where package_id = new.id;
    delete from acknowledgement where package_id = new.id;
end;

create trigger failure_acknowledged after insert on acknowledgement
begin
    update stage set acknowledged = acknowledged + 1 where id = new.stage_id;
end;

create trigger acknowledgement_withdrawn after delete on acknowledgement
begin
    update stage set acknowledged = acknowledged - 1 where id = old.stage_id;
end;

-- A job has not ended once a package of it can move again: remade, retried, released or restored.
create trigger job_reopened after update of phase on package
when new.phase <> old.phase
    and new.phase <> 'done' and new.phase <> 'failed' and new.phase <> 'canceled'
    and new.phase <> 'dropped'
    and (old.phase = 'waiting' or old.phase = 'done' or old.phase = 'failed'
         or old.phase = 'canceled' or old.phase = 'dropped')
begin
    update job set ended = null where id = new.job_id and ended is not null;
end;

create trigger job_ended after update of ended on job
when new.ended is not null and new.ended is not old.ended
begin
    insert or replace into job_end (job_id, at, status, left, failed, dropped)
    select new.id, new.ended,
           case when total(stage_count.n) filter (
                     where stage.final = 0
                       and stage_count.phase not in ('done', 'dropped', 'canceled')) > 0
                then 'failed'
                when total(stage_count.n) filter (
                     where stage.final = 0 and stage_count.phase = 'done') > 0
                 and total(stage_count.n) filter (
                     where stage.final = 0 and stage_count.phase = 'canceled') = 0
                then 'successful'
                else 'canceled' end,
           cast(total(stage_count.n) filter (
                     where stage_count.phase not in ('done', 'dropped')) as integer),
           cast(total(stage_count.n) filter (
                     where stage_count.phase = 'failed') as integer),
           (select count(*)
              from stage as part
              join line on line.stage_id = part.id and line.dropped is not null
                       and line.named <> 2
             where part.job_id = new.id)
      from stage left join stage_count on stage_count.stage_id = stage.id
     where stage.job_id = new.id;
end;

create trigger job_goes_on after update of ended on job
when old.ended is not null and new.ended is null
begin
    insert or ignore into resumed_job (job_id)
    select new.id where exists (select 1 from need where maker_id = new.id);
end;

-- `missing`: the package before it in its line has succeeded, or that was undone.

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
    delete from outdated_package where package_id = new.id and by_recipe = 0;
    delete from forgotten_input where package_id = new.id;
end;

-- A package that succeeds with files of outdated ones of its job is out of date, too.

create trigger package_of_outdated after update of phase on package
when new.phase = 'done' and exists (select 1 from outdated_package where job_id = new.job_id)
begin
    insert or ignore into outdated_package (package_id, job_id, by_recipe)
    select new.id, new.job_id, 0
     where exists (select 1
                     from input
                     join file on file.id = input.file_id
                     join outdated_package on outdated_package.package_id = file.package_id
                                          and outdated_package.job_id = new.job_id
                    where input.package_id = new.id and input.own = 0 and input.dropped = 0);
end;

-- `missing`: a line before it has succeeded or is dropped, or that was undone.

create trigger line_succeeded after update of phase on package
when (new.phase = 'transferring' or new.phase = 'done' or new.phase = 'dropped')
    and old.phase <> 'transferring' and old.phase <> 'done' and old.phase <> 'dropped'
    and exists (select 1 from line_order where after_id = new.line_id)
    and not exists (select 1 from package where line_id = new.line_id and seq = new.seq + 1)
begin
    update package set missing = missing - 1
     where seq = 1
       and line_id in (select line_id from line_order where after_id = new.line_id);
end;

create trigger line_undone after update of phase on package
when (old.phase = 'transferring' or old.phase = 'done' or old.phase = 'dropped')
    and new.phase <> 'transferring' and new.phase <> 'done' and new.phase <> 'dropped'
    and exists (select 1 from line_order where after_id = new.line_id)
    and not exists (select 1 from package where line_id = new.line_id and seq = new.seq + 1)
begin
    update package set missing = missing + 1
     where seq = 1
       and line_id in (select line_id from line_order where after_id = new.line_id);
end;

-- `missing`: an input exists now, or was lost. A package that starts early has counters of its
-- own: `awaited` inputs that do not exist, and `gathered` ones that do and that a package has
-- made. While it has none of those and awaits some, it misses one thing: the first of them.

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
    insert into streamed_input (package_id, file_id, node_id)
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
    insert into streamed_input (package_id, file_id, node_id)
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
    delete from streamed_input where package_id = new.id;
end;

-- A retry by a user lets tries count from zero (D0 Job Definition: 10 resubmits after any submit or
-- resubmit). Queries that reset the counters themselves need no second update of each row.
create trigger package_resubmitted after update of phase on package
when new.actor is not null and (new.phase = 'ready' or new.phase = 'waiting')
    and (new.tried_from <> new.attempts or new.restarts <> 0)
    and (old.phase = 'failed' or old.phase = 'canceled' or old.phase = 'cooloff'
         or old.phase = 'done' or (old.phase = 'held' and old.actor = 'policy'))
begin
    update package set tried_from = new.attempts, restarts = 0 where id = new.id;
end;

-- Files of a package that has succeeded or is dropped may be unneeded now. Outputs of a dropped
-- package are removed from all lists anyway.
create trigger package_leaves_files after update of phase on package
when (new.phase = 'transferring' or new.phase = 'done' or new.phase = 'dropped')
    and old.phase <> new.phase
begin
    insert or ignore into cleanup_candidate (file_id) select file_id from input where package_id = new.id;
    insert or ignore into cleanup_candidate (file_id)
    select id from file where new.phase <> 'dropped' and package_id = new.id;
end;

-- Packages that waited for nodes that were down can have their inputs again, or are looked at again: a
-- node is back or removed, an input has another copy, or is not read.

create trigger node_back after update of state, cluster_id on node
when new.state = 'up' and (old.state <> 'up' or old.cluster_id <> new.cluster_id)
begin
    update package set away = null
     where id in (select package.id
                    from requirement indexed by requirement_ready
                    join package indexed by package_away
                      on package.requirement_id = requirement.id
                     and (package.away = new.cluster_id or package.away < 0)
                   where requirement.ready > 0 and requirement.away > 0);
end;

create trigger node_gone after delete on node
begin
    update package set away = null
     where id in (select package.id
                    from requirement indexed by requirement_ready
                    join package indexed by package_away
                      on package.requirement_id = requirement.id
                     and (package.away = old.cluster_id or package.away < 0)
                   where requirement.ready > 0 and requirement.away > 0);
end;

create trigger input_copied after insert on location
when exists (select 1 from package where away is not null)
begin
    update package set away = null
     where away is not null
       and id in (select package_id from input where file_id = new.file_id);
end;

create trigger input_not_read after update of dropped on input when new.dropped = 1
begin
    update package set away = null where id = new.package_id and away is not null;
end;

-- A cache with a capacity counts each copy from its arrival to its removal, by the size that is known
-- of its file; a shared one from the first file that has it to the last.
create trigger copy_arrived before insert on location
when new.node_id is not null
    and exists (select 1 from cluster
                 where id = new.cluster_id and capacity is not null and cached is not null)
    and not exists (select 1 from location
                     where file_id = new.file_id and cluster_id = new.cluster_id
                       and node_id is not null)
    and not (new.shared = 1
             and exists (select 1 from location as other
                          where other.cluster_id = new.cluster_id and other.path = new.path
                            and other.shared = 1))
begin
    update cluster
       set cached = cached + coalesce((select size from file where id = new.file_id), 0)
     where id = new.cluster_id;
end;

create trigger copy_measured after update of size on file
when old.size is not new.size
begin
    update cluster
       set cached = max(0, cached + coalesce(new.size, 0) - coalesce(old.size, 0))
     where capacity is not null and cached is not null
       and id in (select cluster_id from location
                   where file_id = new.id and node_id is not null
                     and not (shared = 1
                              and exists (select 1 from location as other
                                           where other.cluster_id = location.cluster_id
                                             and other.path = location.path and other.shared = 1
                                             and other.file_id <> location.file_id)));
end;

create trigger copy_removed after delete on location
when old.node_id is not null
    and exists (select 1 from cluster
                 where id = old.cluster_id and capacity is not null and cached is not null)
    and not (old.shared = 1
             and exists (select 1 from location as other
                          where other.cluster_id = old.cluster_id and other.path = old.path
                            and other.shared = 1))
begin
    update cluster
       set cached = max(0, cached - coalesce((select size from file where id = old.file_id), 0))
     where id = old.cluster_id;
end;

-- So do outputs that stay on a node because of `keep-failed`.
create trigger outputs_left after update of left_size on attempt when old.left_size is not new.left_size
begin
    update cluster
       set cached = max(0, cached + coalesce(new.left_size, 0) - coalesce(old.left_size, 0))
     where id = (select cluster_id from node where id = new.node_id)
       and capacity is not null and cached is not null;
end;

create trigger left_outputs_forgotten after delete on attempt when old.left_size is not null
begin
    update cluster
       set cached = max(0, cached - old.left_size)
     where id = (select cluster_id from node where id = old.node_id)
       and capacity is not null and cached is not null;
end;

-- A package that has succeeded, or was canceled or dropped, needs no files of its old attempts.
create trigger package_cleaned after update of phase on package
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
       and (attempt.outcome = 'lost' or (attempt.outcome = 'failed' and attempt.retained is not null));
    insert into purge (node_id, path)
    select node.id, 'attempts/' || attempt.id || '/work'
      from attempt join node on node.id = attempt.node_id
     where attempt.package_id = new.id and attempt.outcome = 'lost';
    update attempt set retained = null, left_size = null where package_id = new.id and retained is not null;
end;

-- When nodes were down: rare, since an update of a node that changes no state writes nothing.

create trigger node_lost after update of state on node when old.state <> 'down' and new.state = 'down'
begin
    insert into node_outage (node_name, began, error)
    values (new.name, coalesce(new.since, unixepoch()), new.last_error);
end;

create trigger node_outage_begun after insert on node_outage
begin
    delete from node_outage where id <= new.id - 10000;
end;

create trigger node_regained after update of state on node
when old.state = 'down' and new.state <> 'down'
begin
    update node_outage set ended = new.since, became = new.state
     where node_name = new.name and kind = 'down' and ended is null;
end;

create trigger node_removed after delete on node
begin
    update node_outage set ended = max(began, unixepoch()), became = 'removed'
     where node_name = old.name and ended is null;
end;

-- Tasks, datasets, their files and ranges of events: only the transitions of their tables. A task
-- keeps a log, and a dataset counts its files by status.

create trigger task_begun after insert on task
begin
    insert into task_log (at, task_id, new, actor, note)
    values (new.since, new.id, new.status, new.actor, new.note);
end;

create trigger task_refused after update of status on task
when old.status <> new.status and not exists (
    select 1 from task_transition as t where t.old = old.status and t.new = new.status)
begin
    select raise(abort, 'not a transition');
end;

create trigger task_moved after update of status on task when old.status <> new.status
begin
    insert into task_log (at, task_id, old, new, actor, note)
    values (new.since, new.id, old.status, new.status, new.actor, new.note);
    update task
       set ended = iif((select is_ended from task_status where name = new.status), new.since, null),
           acknowledged = null, acknowledged_at = null, acknowledged_because = null
     where id = new.id;
    update job set ended = null
     where id = new.job_id and ended is not null
       and not (select is_ended from task_status where name = new.status);
end;

create trigger dataset_refused after update of status on dataset
when old.status <> new.status and not exists (
    select 1 from dataset_transition as t
     where t.output = new.output and t.old = old.status and t.new = new.status)
begin
    select raise(abort, 'not a transition');
end;

create trigger dataset_made after insert on dataset
begin
    insert into dataset_count (dataset_id, status)
    select new.id, name from content_status where output = new.output;
end;

create trigger content_made after insert on content
begin
    update dataset_count set n = n + 1 where dataset_id = new.dataset_id and status = new.status;
end;

create trigger content_removed after delete on content
begin
    update dataset_count set n = n - 1 where dataset_id = old.dataset_id and status = old.status;
end;

create trigger content_refused after update of status on content
when old.status <> new.status and not exists (
    select 1 from content_transition as t
     where t.output = new.output and t.old = old.status and t.new = new.status)
begin
    select raise(abort, 'not a transition');
end;

create trigger content_moved after update of status on content when old.status <> new.status
begin
    update dataset_count set n = n - 1 where dataset_id = new.dataset_id and status = old.status;
    update dataset_count set n = n + 1 where dataset_id = new.dataset_id and status = new.status;
end;

-- Ranges of a file that was replaced by another of the same name say nothing about that one, and
-- their outputs are no files of a dataset any more: other packages process it.
create trigger content_replaced after update of size, events, checksum on content
when old.next_event is not null and (old.size, old.events, old.checksum)
                             is not (new.size, new.events, new.checksum)
begin
    delete from content
     where output = 1
       and package_id in (select package_id from event_range where content_id = new.id);
    delete from event_range where content_id = new.id;
    update content set next_event = null where id = new.id;
end;

create trigger event_range_made after insert on event_range
begin
    insert into event_range_count (dataset_id, content_id, status, n)
    values (new.dataset_id, new.content_id, new.status, 1), (new.dataset_id, 0, new.status, 1)
    on conflict do update set n = n + 1;
end;

create trigger event_range_removed after delete on event_range
begin
    update event_range_count set n = n - 1
     where dataset_id = old.dataset_id and content_id in (0, old.content_id)
       and status = old.status;
end;

create trigger event_range_moved after update of status on event_range
when old.status <> new.status
begin
    update event_range_count set n = n - 1
     where dataset_id = old.dataset_id and content_id in (0, old.content_id)
       and status = old.status;
    insert into event_range_count (dataset_id, content_id, status, n)
    values (new.dataset_id, new.content_id, new.status, 1), (new.dataset_id, 0, new.status, 1)
    on conflict do update set n = n + 1;
end;

create trigger event_range_refused after update of status on event_range
when old.status <> new.status and not exists (
    select 1 from event_range_transition as t
     where t.old = old.status and t.new = new.status)
begin
    select raise(abort, 'not a transition');
end;

-- What was learned about binaries of a stage is removed with it.
create trigger stage_forgotten after delete on stage
begin
    delete from run_time_history where software = '' and stage_id = old.id;
    delete from estimate where kind = 'stage' and name = cast(old.id as text);
end;


-- Planner statistics ---------------------------------------------------------------------------
--
-- Fixed sizes of a large database, so that plans are the same on the first day and at 10^6
-- packages, and start at the small side of a join.

analyze;                                   -- makes the table sqlite_stat1
delete from sqlite_stat1;
insert into sqlite_stat1 (tbl, idx, stat) values
    ('action',         null,                         '10000'),
    ('action',         'action_at',                  '10000 1'),
    ('archive_copy',   'archive_copy',               '200 10 1'),
    ('attempt',        'sqlite_autoindex_attempt_1', '1200000 1 1'),
    ('attempt',        'attempt_failed',             '20000 1'),
    ('attempt',        'attempt_left',               '100 1'),
    ('bad_node',       null,                         '2'),
    ('binary',         'binary',                     '1500000 2 1'),
    ('binary_attempt', 'binary_attempt',             '1500000 2 1'),
    ('cluster',        'sqlite_autoindex_cluster_1', '20 1'),
    ('estimate',       'estimate',                   '1000 300 1'),
    ('event',          'event_of_package',           '6000000 6'),
    ('streamed_input', 'streamed_input',            '1000 100 1'),
    ('streamed_input', 'streamed_input_due',        '20 5'),
    ('streamed_input', 'streamed_input_of_file',    '1000 1'),
    ('file',           'file_replaced',              '20 5'),
    ('file',           'sqlite_autoindex_file_1',    '2000000 20000 1'),
    ('file',           'file_late',                  '100 1'),
    ('file',           'file_of_package',            '2000000 2'),
    ('file',           'file_partial',               '20 5'),
    ('file',           'file_of_pattern',            '1000 50'),
    ('run_time_history', 'run_time_history',         '1000 10 2 1'),
    ('input',          'input',                      '2000000 2 2 1'),
    ('input',          'input_of_file',              '2000000 2 1'),
    ('job',            'sqlite_autoindex_job_1',     '100 1'),
    ('job',            'job_finishing',              '2 1'),
    ('job',            'job_limited',                '5 1'),
    ('job_node_record', 'job_node_record',           '500 10 1'),
    ('job_node_record', 'job_node_record_of_node',   '500 50'),
    ('lease',          'lease',                      '20 1'),
    ('line',           'sqlite_autoindex_line_1',    '1000000 3000 1'),
    ('line_order',     'line_order',                 '100000 2 1'),
    ('line_order',     'line_order_of_line',         '100000 2'),
    ('line',           'line_dropped',               '100 10'),
    ('line',           'line_unlisted',              '100 10 1'),
    ('link_rate',      'link_rate',                  '100 10 1'),
    ('link_rate',      'link_rate_to',               '100 10'),
    ('location',       'location',                   '2000000 1 1'),
    ('location',       'location_shared',            '1000 100 1'),
    ('location',       'location_spare',             '1000 100 1'),
    ('node',           'sqlite_autoindex_node_1',    '20 1'),
    ('node_choice',    'node_choice_of_requirement', '2000 100 10 2 1'),
    ('node_record',    'node_record',                '1000 10 1'),
    ('node_record',    'node_record_of_job',         '1000 100'),
    ('node_record',    'node_record_of_node',        '1000 50'),
    ('node_record',    'node_record_streak',         '20 5'),
    ('node_sample',    'node_sample',                '30000 1500 1'),
    ('note',           'note',                       '10000 2 1'),
    ('package',        'sqlite_autoindex_package_1', '1000000 1 1'),
    ('package',        'package_assigned',           '50 5 1'),
    ('package',        'package_cooling',            '100 1'),
    ('package',        'package_early',              '100 1'),
    ('package',        'package_in_phase',           '1000000 10000 2500'),
    ('package',        'package_killing',            '5 1'),
    ('package',        'package_live',               '100 5 3 2'),
    ('package',        'package_next_try',           '100 10 1'),
    ('package',        'package_open',               '20 5'),
    ('package',        'package_ready',              '1000 100 1'),
    ('package',        'package_released',           '5 1'),
    ('package',        'package_releasing',          '10 1 1'),
    ('package',        'package_requested',          '5 1'),
    ('package_sample', 'package_sample',             '50000 50 50 1'),
    ('progress',       null,                         '1000'),
    ('purge',          'purge_of_node',              '1000 100'),
    ('purge',          'purge_of_path',              '100 1'),
    ('requirement',    'requirement_of_job',         '300 3'),
    ('requirement',    'requirement_ready',          '10 2'),
    ('requirement',    'requirement_stay',           '10 5'),
    ('share_usage',    'share_usage',                '20 1'),
    ('launch_tally',   'launch_tally',               '600 200 60 1'),
    ('setting',        'setting',                    '10 1'),
    ('software',       'sqlite_autoindex_software_1', '50 5 2 1'),
    ('software_order', 'software_order_open',        '5 1'),
    ('software_order', 'software_order_report',      '5 5'),
    ('cleanup_candidate', null,                        '100'),
    ('stage',          'sqlite_autoindex_stage_1',   '300 3 1'),
    ('stage',          'stage_lenient',              '30 3'),
    ('stage',          'stage_limited',              '10 3'),
    ('stage',          'stage_final',                '10 1'),
    ('stage_order',    'stage_order',                '100 1 1'),
    ('stage_order',    'stage_order_open',           '10 3'),
    ('stage_count',    'stage_count',                '5000 16 1'),
    ('content',        'content_in_status',          '1000000 50000 10000 1'),
    ('content',        'content_of_package',         '1000000 5'),
    ('content',        'content_split',              '100 10 1'),
    ('content',        'content_replaced',           '100 10'),
    ('content',        'sqlite_autoindex_content_1', '1000000 50000 1'),
    ('content_attempt', 'content_attempt',           '1000000 1 1'),
    ('dataset',        'sqlite_autoindex_dataset_1', '20 2 1'),
    ('dataset',        'sqlite_autoindex_dataset_2', '20 2 1'),
    ('dataset_count',  'dataset_count',              '120 6 1'),
    ('event_range',    'event_range',                '100000 10 1'),
    ('event_range',    'event_range_of_package',     '100000 2'),
    ('event_range',    'event_range_ready',          '10000 1000 2 1'),
    ('event_range_count', 'event_range_count',       '100000 3 3 1'),
    ('task',           'task_in_partition',          '10 5'),
    ('task',           'task_in_status',             '10 2 1'),
    ('task',           'sqlite_autoindex_task_1',    '10 1'),
    ('task_log',       'task_log_of_task',           '100 10'),
    ('transfer',       'transfer',                   '200 1 1 1'),
    ('transfer',       'transfer_due',               '200 20 5 1'),
    ('transfer',       'transfer_failing',           '5 2');
