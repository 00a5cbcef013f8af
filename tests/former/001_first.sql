-- A database as the first release left it, with packages in every phase: the output of `.dump`
-- on the home of a daemon that was stopped in the middle of its work, with the names of that
-- machine replaced. It is never made anew: a test opens it with the program of today.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE IF NOT EXISTS "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO _sqlite_migrations VALUES(1,'d0ctl','001_first','2026-11-21 16:31:29.719697+00:00');
CREATE TABLE site (
    id         integer primary key check (id = 1),
    name       text not null,              -- random; names this database's folders on the nodes
    generation integer not null default 1,
    created    real not null
) strict;
INSERT INTO site VALUES(1,'5d0c71f1e5700001',1,1795278689.7195601462);
CREATE TABLE phase (
    name   text primary key,
    status text not null check (status in ('unscheduled', 'scheduled', 'launched',
                                           'successful', 'failed', 'canceled')),
    slot   integer not null default 0      -- 1: takes cpus of its node
) strict, without rowid;
INSERT INTO phase VALUES('assigned','scheduled',1);
INSERT INTO phase VALUES('canceled','canceled',0);
INSERT INTO phase VALUES('cooloff','unscheduled',0);
INSERT INTO phase VALUES('done','successful',0);
INSERT INTO phase VALUES('dropped','canceled',0);
INSERT INTO phase VALUES('failed','failed',0);
INSERT INTO phase VALUES('held','unscheduled',0);
INSERT INTO phase VALUES('killing','launched',1);
INSERT INTO phase VALUES('ready','unscheduled',0);
INSERT INTO phase VALUES('running','launched',1);
INSERT INTO phase VALUES('staging-in','launched',1);
INSERT INTO phase VALUES('starting','launched',1);
INSERT INTO phase VALUES('suspended','launched',1);
INSERT INTO phase VALUES('transferring','launched',0);
INSERT INTO phase VALUES('unreachable','launched',1);
INSERT INTO phase VALUES('waiting','unscheduled',0);
CREATE TABLE transition (
    old  text not null references phase,
    new  text not null references phase,
    verb text not null,
    primary key (old, new)
) strict, without rowid;
INSERT INTO transition VALUES('assigned','canceled','kill');
INSERT INTO transition VALUES('assigned','dropped','drop');
INSERT INTO transition VALUES('assigned','held','hold');
INSERT INTO transition VALUES('assigned','ready','unschedule');
INSERT INTO transition VALUES('assigned','starting','launch');
INSERT INTO transition VALUES('assigned','waiting','lose a file');
INSERT INTO transition VALUES('canceled','dropped','drop');
INSERT INTO transition VALUES('canceled','ready','retry');
INSERT INTO transition VALUES('canceled','waiting','retry');
INSERT INTO transition VALUES('cooloff','canceled','kill');
INSERT INTO transition VALUES('cooloff','dropped','drop');
INSERT INTO transition VALUES('cooloff','held','hold');
INSERT INTO transition VALUES('cooloff','ready','cool off');
INSERT INTO transition VALUES('cooloff','waiting','lose a file');
INSERT INTO transition VALUES('done','ready','remake');
INSERT INTO transition VALUES('done','waiting','remake');
INSERT INTO transition VALUES('dropped','canceled','restore');
INSERT INTO transition VALUES('dropped','failed','restore');
INSERT INTO transition VALUES('dropped','ready','restore');
INSERT INTO transition VALUES('dropped','waiting','restore');
INSERT INTO transition VALUES('failed','canceled','kill');
INSERT INTO transition VALUES('failed','cooloff','retry');
INSERT INTO transition VALUES('failed','dropped','drop');
INSERT INTO transition VALUES('failed','held','hold');
INSERT INTO transition VALUES('failed','ready','retry');
INSERT INTO transition VALUES('failed','waiting','retry');
INSERT INTO transition VALUES('held','canceled','kill');
INSERT INTO transition VALUES('held','dropped','drop');
INSERT INTO transition VALUES('held','ready','release');
INSERT INTO transition VALUES('held','waiting','release');
INSERT INTO transition VALUES('killing','canceled','kill');
INSERT INTO transition VALUES('killing','done','end');
INSERT INTO transition VALUES('killing','dropped','drop');
INSERT INTO transition VALUES('killing','transferring','end');
INSERT INTO transition VALUES('ready','assigned','schedule');
INSERT INTO transition VALUES('ready','canceled','kill');
INSERT INTO transition VALUES('ready','dropped','drop');
INSERT INTO transition VALUES('ready','held','hold');
INSERT INTO transition VALUES('ready','waiting','lose a file');
INSERT INTO transition VALUES('running','canceled','end');
INSERT INTO transition VALUES('running','done','end');
INSERT INTO transition VALUES('running','failed','fail');
INSERT INTO transition VALUES('running','killing','kill');
INSERT INTO transition VALUES('running','suspended','pause');
INSERT INTO transition VALUES('running','transferring','end');
INSERT INTO transition VALUES('running','unreachable','lose contact');
INSERT INTO transition VALUES('staging-in','canceled','end');
INSERT INTO transition VALUES('staging-in','done','end');
INSERT INTO transition VALUES('staging-in','failed','fail');
INSERT INTO transition VALUES('staging-in','killing','kill');
INSERT INTO transition VALUES('staging-in','running','start');
INSERT INTO transition VALUES('staging-in','transferring','end');
INSERT INTO transition VALUES('staging-in','unreachable','lose contact');
INSERT INTO transition VALUES('starting','canceled','end');
INSERT INTO transition VALUES('starting','cooloff','refuse');
INSERT INTO transition VALUES('starting','done','end');
INSERT INTO transition VALUES('starting','failed','fail');
INSERT INTO transition VALUES('starting','held','refuse');
INSERT INTO transition VALUES('starting','killing','kill');
INSERT INTO transition VALUES('starting','ready','refuse');
INSERT INTO transition VALUES('starting','running','start');
INSERT INTO transition VALUES('starting','staging-in','stage in');
INSERT INTO transition VALUES('starting','transferring','end');
INSERT INTO transition VALUES('starting','unreachable','lose contact');
INSERT INTO transition VALUES('suspended','canceled','end');
INSERT INTO transition VALUES('suspended','done','end');
INSERT INTO transition VALUES('suspended','failed','fail');
INSERT INTO transition VALUES('suspended','killing','kill');
INSERT INTO transition VALUES('suspended','running','resume');
INSERT INTO transition VALUES('suspended','transferring','end');
INSERT INTO transition VALUES('suspended','unreachable','lose contact');
INSERT INTO transition VALUES('transferring','canceled','kill');
INSERT INTO transition VALUES('transferring','done','transfer');
INSERT INTO transition VALUES('transferring','dropped','drop');
INSERT INTO transition VALUES('transferring','failed','fail');
INSERT INTO transition VALUES('transferring','ready','remake');
INSERT INTO transition VALUES('transferring','waiting','remake');
INSERT INTO transition VALUES('unreachable','canceled','kill');
INSERT INTO transition VALUES('unreachable','done','end');
INSERT INTO transition VALUES('unreachable','dropped','drop');
INSERT INTO transition VALUES('unreachable','failed','fail');
INSERT INTO transition VALUES('unreachable','running','regain contact');
INSERT INTO transition VALUES('unreachable','starting','regain contact');
INSERT INTO transition VALUES('unreachable','suspended','regain contact');
INSERT INTO transition VALUES('unreachable','transferring','end');
INSERT INTO transition VALUES('waiting','canceled','kill');
INSERT INTO transition VALUES('waiting','dropped','drop');
INSERT INTO transition VALUES('waiting','held','hold');
INSERT INTO transition VALUES('waiting','ready','release files');
CREATE TABLE cluster (
    id       integer primary key,
    name     text not null unique,
    platform text,
    private  integer not null default 0 check (private in (0, 1)),
    capacity integer                       -- bytes of cache given to this site
) strict;
INSERT INTO cluster VALUES(1,'control',NULL,0,NULL);
INSERT INTO cluster VALUES(2,'far',NULL,0,NULL);
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
) strict;
INSERT INTO node VALUES(1,'localhost',1,'local','','','','','auto',2,NULL,1.0,25276510208,'linux-x86_64',0,NULL,'unknown',1795278728.0047609806,1795278691.1358184814,NULL,'11111111111111111111111111111111','11111111-1111-4111-8111-111111111111','/home/reco/d0ctl/nodes/5d0c71f1e5700001/localhost','{"time": 1795278691.126542, "utc_offset": 0, "boot_id": "11111111-1111-4111-8111-111111111111", "machine_id": "11111111111111111111111111111111", "hostname": "control", "system": "Linux", "machine": "x86_64", "os": "Debian GNU/Linux 12 (bookworm)", "python": "3.11.7", "executable": "/usr/bin/python3", "cpus": 2, "memory": 25276510208, "load": 13.93408203125, "user": "reco", "home": "/home/reco", "shell": "/bin/bash", "disk_total": 270553174016, "disk_free": 80606846976, "filesystem": "ext4", "noexec": false, "base": "/home/reco/d0ctl/nodes/5d0c71f1e5700001/localhost"}');
INSERT INTO node VALUES(2,'far',2,'ssh','127.0.0.1:1','','','','auto',8,8,1.0,8589934592,'linux-x86_64',0,NULL,'up',1795278729.8720829486,1795278729.8720829486,NULL,'m2','b2','/home/reco/.d0ctl/site/far','{"cpus": 8, "memory": 8589934592, "machine_id": "m2", "boot_id": "b2", "base": "/home/reco/.d0ctl/site/far", "system": "Linux", "machine": "x86_64", "hostname": "h", "os": "Debian", "python": "3.11.2"}');
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
) strict;
INSERT INTO job VALUES(1,'first','A job of the first release','reco@fnal.gov',50,0,NULL,NULL,NULL,0,1,'11111111-1111-4111-8111-111111111111 18348 1406099',1795278691.5164172648,NULL,'{}','{}','/home/reco/jobs','/home/reco/jobs/first.yaml');
INSERT INTO job VALUES(2,'second','','reco@fnal.gov',50,0,NULL,NULL,NULL,0,1,'11111111-1111-4111-8111-111111111111 18485 1406204',1795278692.6704702377,NULL,'{}','{}','/home/reco/jobs','/home/reco/jobs/second.yaml');
INSERT INTO job VALUES(3,'third','A production','me@here',50,0,NULL,NULL,NULL,0,1,'11111111-1111-4111-8111-111111111111 21958 1409928',1795278729.8392143249,NULL,'{}','{}','/home/reco/jobs','/home/reco/jobs/third.yaml');
INSERT INTO job VALUES(4,'fourth','','reco@fnal.gov',50,0,NULL,NULL,NULL,0,1,'11111111-1111-4111-8111-111111111111 30201 1423108',1795278861.4471633434,NULL,'{}','{}','/home/reco/jobs','/home/reco/jobs/fourth.yaml');
CREATE TABLE need (
    job_id   integer not null references job on delete cascade,
    maker_id integer not null,
    primary key (job_id, maker_id)
) strict, without rowid;
INSERT INTO need VALUES(2,1);
CREATE TABLE stage (
    id      integer primary key,
    job_id  integer not null references job on delete cascade,
    seq     integer not null,
    name    text not null,
    require real not null default 1.0 check (require between 0 and 1),
    lines   integer not null default 0,
    unique (job_id, seq)
) strict;
INSERT INTO stage VALUES(1,1,1,'make',1.0,8);
INSERT INTO stage VALUES(2,1,2,'merge',1.0,1);
INSERT INTO stage VALUES(3,2,1,'plot',1.0,1);
INSERT INTO stage VALUES(4,3,1,'far',1.0,9);
INSERT INTO stage VALUES(5,4,1,'stage1',1.0,1);
CREATE TABLE stage_count (
    stage_id integer not null references stage on delete cascade,
    phase    text not null references phase,
    n        integer not null default 0 check (n >= 0),
    primary key (stage_id, phase)
) strict, without rowid;
INSERT INTO stage_count VALUES(1,'assigned',0);
INSERT INTO stage_count VALUES(1,'canceled',1);
INSERT INTO stage_count VALUES(1,'cooloff',0);
INSERT INTO stage_count VALUES(1,'done',7);
INSERT INTO stage_count VALUES(1,'dropped',2);
INSERT INTO stage_count VALUES(1,'failed',1);
INSERT INTO stage_count VALUES(1,'held',1);
INSERT INTO stage_count VALUES(1,'killing',0);
INSERT INTO stage_count VALUES(1,'ready',0);
INSERT INTO stage_count VALUES(1,'running',1);
INSERT INTO stage_count VALUES(1,'staging-in',0);
INSERT INTO stage_count VALUES(1,'starting',0);
INSERT INTO stage_count VALUES(1,'suspended',0);
INSERT INTO stage_count VALUES(1,'transferring',0);
INSERT INTO stage_count VALUES(1,'unreachable',0);
INSERT INTO stage_count VALUES(1,'waiting',3);
INSERT INTO stage_count VALUES(2,'assigned',0);
INSERT INTO stage_count VALUES(2,'canceled',0);
INSERT INTO stage_count VALUES(2,'cooloff',0);
INSERT INTO stage_count VALUES(2,'done',0);
INSERT INTO stage_count VALUES(2,'dropped',0);
INSERT INTO stage_count VALUES(2,'failed',0);
INSERT INTO stage_count VALUES(2,'held',0);
INSERT INTO stage_count VALUES(2,'killing',0);
INSERT INTO stage_count VALUES(2,'ready',0);
INSERT INTO stage_count VALUES(2,'running',0);
INSERT INTO stage_count VALUES(2,'staging-in',0);
INSERT INTO stage_count VALUES(2,'starting',0);
INSERT INTO stage_count VALUES(2,'suspended',0);
INSERT INTO stage_count VALUES(2,'transferring',0);
INSERT INTO stage_count VALUES(2,'unreachable',0);
INSERT INTO stage_count VALUES(2,'waiting',1);
INSERT INTO stage_count VALUES(3,'assigned',0);
INSERT INTO stage_count VALUES(3,'canceled',0);
INSERT INTO stage_count VALUES(3,'cooloff',0);
INSERT INTO stage_count VALUES(3,'done',0);
INSERT INTO stage_count VALUES(3,'dropped',0);
INSERT INTO stage_count VALUES(3,'failed',0);
INSERT INTO stage_count VALUES(3,'held',0);
INSERT INTO stage_count VALUES(3,'killing',0);
INSERT INTO stage_count VALUES(3,'ready',0);
INSERT INTO stage_count VALUES(3,'running',0);
INSERT INTO stage_count VALUES(3,'staging-in',0);
INSERT INTO stage_count VALUES(3,'starting',0);
INSERT INTO stage_count VALUES(3,'suspended',0);
INSERT INTO stage_count VALUES(3,'transferring',0);
INSERT INTO stage_count VALUES(3,'unreachable',0);
INSERT INTO stage_count VALUES(3,'waiting',1);
INSERT INTO stage_count VALUES(4,'assigned',1);
INSERT INTO stage_count VALUES(4,'canceled',0);
INSERT INTO stage_count VALUES(4,'cooloff',1);
INSERT INTO stage_count VALUES(4,'done',0);
INSERT INTO stage_count VALUES(4,'dropped',0);
INSERT INTO stage_count VALUES(4,'failed',0);
INSERT INTO stage_count VALUES(4,'held',0);
INSERT INTO stage_count VALUES(4,'killing',1);
INSERT INTO stage_count VALUES(4,'ready',0);
INSERT INTO stage_count VALUES(4,'running',1);
INSERT INTO stage_count VALUES(4,'staging-in',1);
INSERT INTO stage_count VALUES(4,'starting',1);
INSERT INTO stage_count VALUES(4,'suspended',1);
INSERT INTO stage_count VALUES(4,'transferring',1);
INSERT INTO stage_count VALUES(4,'unreachable',1);
INSERT INTO stage_count VALUES(4,'waiting',0);
INSERT INTO stage_count VALUES(5,'assigned',0);
INSERT INTO stage_count VALUES(5,'canceled',0);
INSERT INTO stage_count VALUES(5,'cooloff',0);
INSERT INTO stage_count VALUES(5,'done',0);
INSERT INTO stage_count VALUES(5,'dropped',0);
INSERT INTO stage_count VALUES(5,'failed',0);
INSERT INTO stage_count VALUES(5,'held',0);
INSERT INTO stage_count VALUES(5,'killing',0);
INSERT INTO stage_count VALUES(5,'ready',1);
INSERT INTO stage_count VALUES(5,'running',0);
INSERT INTO stage_count VALUES(5,'staging-in',0);
INSERT INTO stage_count VALUES(5,'starting',0);
INSERT INTO stage_count VALUES(5,'suspended',0);
INSERT INTO stage_count VALUES(5,'transferring',0);
INSERT INTO stage_count VALUES(5,'unreachable',0);
INSERT INTO stage_count VALUES(5,'waiting',0);
CREATE TABLE line (
    id          integer primary key,
    stage_id    integer not null references stage on delete cascade,
    seq         integer not null,
    name        text not null,
    early_start integer not null default 0 check (early_start in (0, 1)),
    dropped     real,                      -- when, by kill-line --drop-outputs
    unique (stage_id, seq)
) strict;
INSERT INTO line VALUES(1,1,1,'line-1',0,NULL);
INSERT INTO line VALUES(2,1,2,'line-2',0,NULL);
INSERT INTO line VALUES(3,1,3,'line-3',0,NULL);
INSERT INTO line VALUES(4,1,4,'line-4',0,NULL);
INSERT INTO line VALUES(5,1,5,'line-5',0,NULL);
INSERT INTO line VALUES(6,1,6,'line-6',0,1795278701.6700737476);
INSERT INTO line VALUES(7,1,7,'line-7',0,NULL);
INSERT INTO line VALUES(8,1,8,'line-8',0,NULL);
INSERT INTO line VALUES(9,2,1,'1',0,NULL);
INSERT INTO line VALUES(10,3,1,'1',0,NULL);
INSERT INTO line VALUES(11,4,1,'1',0,NULL);
INSERT INTO line VALUES(12,4,2,'1',0,NULL);
INSERT INTO line VALUES(13,4,3,'1',0,NULL);
INSERT INTO line VALUES(14,4,4,'1',0,NULL);
INSERT INTO line VALUES(15,4,5,'1',0,NULL);
INSERT INTO line VALUES(16,4,6,'1',0,NULL);
INSERT INTO line VALUES(17,4,7,'1',0,NULL);
INSERT INTO line VALUES(18,4,8,'1',0,NULL);
INSERT INTO line VALUES(19,4,9,'1',0,NULL);
INSERT INTO line VALUES(20,5,1,'1',0,NULL);
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
) strict;
INSERT INTO demand VALUES(1,1,1,1,NULL,NULL,NULL,'[]','[]',0,0.11093745380640029907);
INSERT INTO demand VALUES(2,1,2,1,NULL,NULL,NULL,'[]','[]',0,NULL);
INSERT INTO demand VALUES(3,2,3,1,NULL,NULL,NULL,'[]','[]',0,NULL);
INSERT INTO demand VALUES(4,3,4,1,NULL,NULL,NULL,'[]','[]',0,NULL);
INSERT INTO demand VALUES(5,4,5,1,NULL,NULL,NULL,'[]','[]',1,NULL);
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
    policy      text,
    unique (line_id, seq)
) strict;
INSERT INTO package VALUES(1,1,1,1,1,'gen','done',0,0,1,1,1,1,0,NULL,NULL,1795278691.828146696,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO package VALUES(2,1,1,1,2,'sim','done',0,0,1,1,3,1,0,NULL,NULL,1795278691.9075474739,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO package VALUES(3,1,1,2,1,'gen','done',0,0,1,1,2,1,0,NULL,NULL,1795278691.8364391327,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO package VALUES(4,1,1,2,2,'sim','done',0,0,1,1,10,1,0,NULL,NULL,1795278701.8614575863,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO package VALUES(5,1,1,3,1,'gen','done',0,0,1,1,4,1,0,NULL,NULL,1795278691.9075474739,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO package VALUES(6,1,1,3,2,'sim','done',0,0,1,1,11,1,0,NULL,NULL,1795278701.8816978931,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO package VALUES(7,1,1,4,1,'gen','failed',0,0,1,1,5,1,0,NULL,NULL,1795278691.9525415896,NULL,'exit-code: binary 1 (gen) ended with exit code 3',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO package VALUES(8,1,1,4,2,'sim','waiting',2,0,1,NULL,NULL,0,0,NULL,NULL,1795278691.5164172648,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO package VALUES(9,1,1,5,1,'gen','canceled',0,0,1,1,6,1,0,NULL,NULL,1795278701.1024808883,NULL,'killed: ended on request: by SIGTERM',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO package VALUES(10,1,1,5,2,'sim','waiting',2,0,1,NULL,NULL,0,0,NULL,NULL,1795278691.5164172648,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO package VALUES(11,1,1,6,1,'gen','dropped',0,0,1,1,7,1,0,NULL,NULL,1795278701.773779869,NULL,'killed: ended on request: by SIGTERM',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO package VALUES(12,1,1,6,2,'sim','dropped',2,0,1,NULL,NULL,0,0,NULL,NULL,1795278701.6700737476,'reco','dropped by reco',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO package VALUES(13,1,1,7,1,'gen','done',0,0,1,1,8,1,0,NULL,NULL,1795278701.8238053322,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO package VALUES(14,1,1,7,2,'sim','held',0,0,1,NULL,NULL,0,0,NULL,NULL,1795278700.2137544154,'reco','new calibration',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO package VALUES(15,1,1,8,1,'gen','running',0,0,1,1,9,1,0,NULL,NULL,1795278701.8004798889,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO package VALUES(16,1,1,8,2,'sim','waiting',2,0,1,NULL,NULL,0,0,NULL,NULL,1795278691.5164172648,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO package VALUES(17,1,2,9,1,'1','waiting',4,0,2,NULL,NULL,0,0,NULL,NULL,1795278691.5164172648,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO package VALUES(18,2,3,10,1,'1','waiting',1,0,3,NULL,NULL,0,0,NULL,NULL,1795278692.6704702377,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO package VALUES(19,3,4,11,1,'1','running',0,0,4,2,12,1,0,NULL,NULL,1795278729.8903892039,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO package VALUES(20,3,4,12,1,'1','killing',0,0,4,2,13,1,0,NULL,'kill',1795278730.0220620632,'reco','not needed',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO package VALUES(21,3,4,13,1,'1','suspended',0,0,4,2,14,1,0,NULL,NULL,1795278730.0309867858,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO package VALUES(22,3,4,14,1,'1','unreachable',0,0,4,2,15,1,0,NULL,NULL,1795278751.2782907486,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO package VALUES(23,3,4,15,1,'1','staging-in',0,0,4,2,16,1,0,NULL,NULL,1795278751.2782907486,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO package VALUES(24,3,4,16,1,'1','transferring',0,0,4,2,17,1,0,NULL,NULL,1795278751.2828540802,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO package VALUES(25,3,4,17,1,'1','cooloff',0,0,4,NULL,18,1,0,1795282351.2782907486,NULL,1795278751.2782907486,NULL,'exit-code: binary 1 (tool) ended with exit code 3',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO package VALUES(26,3,4,18,1,'1','starting',0,0,4,2,19,1,0,NULL,NULL,1795278751.2782907486,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO package VALUES(27,3,4,19,1,'1','assigned',0,0,4,2,NULL,0,0,NULL,NULL,1795278771.3653092384,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO package VALUES(28,4,5,20,1,'1','ready',0,0,5,NULL,NULL,0,0,NULL,NULL,1795278861.4471633434,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
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
    "check"    text,
    primary key (package_id, seq)
) strict, without rowid;
INSERT INTO binary VALUES(1,1,'gen','echo gen-1 > gen-1; sh /home/reco/d0ctl/step 1','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO binary VALUES(2,1,'sim','test -s gen-1; echo sim-1 > sim-1','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO binary VALUES(3,1,'gen','echo gen-2 > gen-2; sh /home/reco/d0ctl/step 2','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO binary VALUES(4,1,'sim','test -s gen-2; echo sim-2 > sim-2','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO binary VALUES(5,1,'gen','echo gen-3 > gen-3; sh /home/reco/d0ctl/step 3','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO binary VALUES(6,1,'sim','test -s gen-3; echo sim-3 > sim-3','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO binary VALUES(7,1,'gen','echo gen-4 > gen-4; sh /home/reco/d0ctl/step 4','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO binary VALUES(8,1,'sim','test -s gen-4; echo sim-4 > sim-4','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO binary VALUES(9,1,'gen','echo gen-5 > gen-5; sh /home/reco/d0ctl/step 5','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO binary VALUES(10,1,'sim','test -s gen-5; echo sim-5 > sim-5','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO binary VALUES(11,1,'gen','echo gen-6 > gen-6; sh /home/reco/d0ctl/step 6','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO binary VALUES(12,1,'sim','test -s gen-6; echo sim-6 > sim-6','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO binary VALUES(13,1,'gen','echo gen-7 > gen-7; sh /home/reco/d0ctl/step 7','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO binary VALUES(14,1,'sim','test -s gen-7; echo sim-7 > sim-7','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO binary VALUES(15,1,'gen','echo gen-8 > gen-8; sh /home/reco/d0ctl/step 8','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO binary VALUES(16,1,'sim','test -s gen-8; echo sim-8 > sim-8','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO binary VALUES(17,1,'merge','cat inputs > all','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO binary VALUES(18,1,'plot','wc -l < all > plot','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO binary VALUES(19,1,'tool','tool','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO binary VALUES(20,1,'tool','tool','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO binary VALUES(21,1,'tool','tool','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO binary VALUES(22,1,'tool','tool','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO binary VALUES(23,1,'tool','tool','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO binary VALUES(24,1,'tool','tool','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO binary VALUES(25,1,'tool','tool','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO binary VALUES(26,1,'tool','tool','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO binary VALUES(27,1,'tool','tool','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO binary VALUES(28,1,'echo','echo done > done','bash',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
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
    late         integer not null default 0 check (late in (0, 1)),
    unique (job_id, name)
) strict;
INSERT INTO file VALUES(1,1,'gen-1',1,1,1,0,6,'sha256:d1f6e2cefef7f7ff0cf11c566a591d8e2367844842262bef0b775868cb9a5319',NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO file VALUES(2,1,'sim-1',2,1,1,0,6,'sha256:515dc6556b6ccca825f2bad5877b8ad3fa5fc21c29ab693190eb42468472ce4f',NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO file VALUES(3,1,'gen-2',3,1,1,0,6,'sha256:d2fc45d64aab5b180df7c01a999cea04ecd9b3cffa35712b57c301e2720f7a95',NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO file VALUES(4,1,'sim-2',4,1,1,0,6,'sha256:bbb6a515a51264600926e0c149b485871cc81c3e8565a77eea082211c67eb581',NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO file VALUES(5,1,'gen-3',5,1,1,0,6,'sha256:bbca4851eb5d962c81b2955d58fe6c0f50dc39297ce69089679df3525bf16634',NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO file VALUES(6,1,'sim-3',6,1,1,0,6,'sha256:a45e4e16fca86de7b8cd91316a2b37eb52f32360e7d4161ce47d01be5546563d',NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO file VALUES(7,1,'gen-4',7,1,0,0,NULL,NULL,NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO file VALUES(8,1,'sim-4',8,1,0,0,NULL,NULL,NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO file VALUES(9,1,'gen-5',9,1,0,0,NULL,NULL,NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO file VALUES(10,1,'sim-5',10,1,0,0,NULL,NULL,NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO file VALUES(11,1,'gen-6',11,1,0,1,NULL,NULL,NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO file VALUES(12,1,'sim-6',12,1,0,1,NULL,NULL,NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO file VALUES(13,1,'gen-7',13,1,1,0,6,'sha256:09e5811625e99ec2b26c36723b33551061fcfb74580159e18ff1d7ea23632011',NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO file VALUES(14,1,'sim-7',14,1,0,0,NULL,NULL,NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO file VALUES(15,1,'gen-8',15,1,0,0,NULL,NULL,NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO file VALUES(16,1,'sim-8',16,1,0,0,NULL,NULL,NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO file VALUES(17,1,'all',17,1,0,0,NULL,NULL,NULL,NULL,NULL,NULL,'',1,0);
INSERT INTO file VALUES(18,2,'plot',18,1,0,0,NULL,NULL,NULL,NULL,NULL,NULL,'',1,0);
INSERT INTO file VALUES(19,3,'far-1',19,1,0,0,NULL,NULL,NULL,NULL,NULL,NULL,'',1,0);
INSERT INTO file VALUES(20,3,'far-2',20,1,0,0,NULL,NULL,NULL,NULL,NULL,NULL,'',1,0);
INSERT INTO file VALUES(21,3,'far-3',21,1,0,0,NULL,NULL,NULL,NULL,NULL,NULL,'',1,0);
INSERT INTO file VALUES(22,3,'far-4',22,1,0,0,NULL,NULL,NULL,NULL,NULL,NULL,'',1,0);
INSERT INTO file VALUES(23,3,'far-5',23,1,0,0,NULL,NULL,NULL,NULL,NULL,NULL,'',1,0);
INSERT INTO file VALUES(24,3,'far-6',24,1,1,0,6,'sha256:0000000000000000000000000000000000000000000000000000000000000000',NULL,NULL,NULL,NULL,'',1,0);
INSERT INTO file VALUES(25,3,'far-7',25,1,0,0,NULL,NULL,NULL,NULL,NULL,NULL,'',1,0);
INSERT INTO file VALUES(26,3,'far-8',26,1,0,0,NULL,NULL,NULL,NULL,NULL,NULL,'',1,0);
INSERT INTO file VALUES(27,3,'far-9',27,1,0,0,NULL,NULL,NULL,NULL,NULL,NULL,'',1,0);
INSERT INTO file VALUES(28,4,'done',28,1,0,0,NULL,NULL,NULL,NULL,NULL,NULL,'',1,0);
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
    checksum    text,
    primary key (package_id, binary, file_id)
) strict, without rowid;
INSERT INTO input VALUES(2,1,1,0,0,'pre-fetch',NULL,1,0,NULL,NULL,NULL);
INSERT INTO input VALUES(4,1,3,0,0,'pre-fetch',NULL,1,0,NULL,NULL,NULL);
INSERT INTO input VALUES(6,1,5,0,0,'pre-fetch',NULL,1,0,NULL,NULL,NULL);
INSERT INTO input VALUES(8,1,7,0,0,'pre-fetch',NULL,1,0,NULL,NULL,NULL);
INSERT INTO input VALUES(10,1,9,0,0,'pre-fetch',NULL,1,0,NULL,NULL,NULL);
INSERT INTO input VALUES(12,1,11,0,0,'pre-fetch',NULL,1,0,NULL,NULL,NULL);
INSERT INTO input VALUES(14,1,13,0,0,'pre-fetch',NULL,1,0,NULL,NULL,NULL);
INSERT INTO input VALUES(16,1,15,0,0,'pre-fetch',NULL,1,0,NULL,NULL,NULL);
INSERT INTO input VALUES(17,1,2,0,0,'pre-fetch',NULL,0,0,NULL,NULL,NULL);
INSERT INTO input VALUES(17,1,4,1,0,'pre-fetch',NULL,0,0,NULL,NULL,NULL);
INSERT INTO input VALUES(17,1,6,2,0,'pre-fetch',NULL,0,0,NULL,NULL,NULL);
INSERT INTO input VALUES(17,1,8,3,0,'pre-fetch',NULL,0,0,NULL,NULL,NULL);
INSERT INTO input VALUES(17,1,10,4,0,'pre-fetch',NULL,0,0,NULL,NULL,NULL);
INSERT INTO input VALUES(17,1,12,5,0,'pre-fetch',NULL,0,1,NULL,NULL,NULL);
INSERT INTO input VALUES(17,1,14,6,0,'pre-fetch',NULL,0,0,NULL,NULL,NULL);
INSERT INTO input VALUES(17,1,16,7,0,'pre-fetch',NULL,0,0,NULL,NULL,NULL);
INSERT INTO input VALUES(18,1,17,0,0,'pre-fetch',NULL,1,0,NULL,NULL,NULL);
CREATE TABLE location (
    file_id    integer not null references file,
    cluster_id integer not null references cluster,
    path       text not null,
    node_id    integer,
    sticky     integer not null default 0 check (sticky in (0, 1)),
    made       real not null,
    primary key (file_id, cluster_id)
) strict, without rowid;
INSERT INTO location VALUES(1,1,'/home/reco/d0ctl/nodes/5d0c71f1e5700001/localhost/cache/1/gen-1',1,0,1795278691.828146696);
INSERT INTO location VALUES(2,1,'/home/reco/d0ctl/nodes/5d0c71f1e5700001/localhost/cache/3/sim-1',1,0,1795278691.9075474739);
INSERT INTO location VALUES(3,1,'/home/reco/d0ctl/nodes/5d0c71f1e5700001/localhost/cache/2/gen-2',1,0,1795278691.8364391327);
INSERT INTO location VALUES(4,1,'/home/reco/d0ctl/nodes/5d0c71f1e5700001/localhost/cache/10/sim-2',1,0,1795278701.8614575863);
INSERT INTO location VALUES(5,1,'/home/reco/d0ctl/nodes/5d0c71f1e5700001/localhost/cache/4/gen-3',1,0,1795278691.9075474739);
INSERT INTO location VALUES(6,1,'/home/reco/d0ctl/nodes/5d0c71f1e5700001/localhost/cache/11/sim-3',1,0,1795278701.8816978931);
INSERT INTO location VALUES(13,1,'/home/reco/d0ctl/nodes/5d0c71f1e5700001/localhost/cache/8/gen-7',1,0,1795278701.8238053322);
INSERT INTO location VALUES(24,2,'/home/reco/.d0ctl/site/far/cache/17/far-6',2,0,1795278751.2828540802);
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
INSERT INTO transfer VALUES(24,1,1,1795278751.2828540802,0.0,0,NULL);
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
    stderr     text,
    unique (package_id, number)
) strict;
INSERT INTO attempt VALUES(1,1,1,1,'localhost','/home/reco/d0ctl/nodes/5d0c71f1e5700001/localhost',1795278691.7524020672,1795278691.7839999199,1795278691.8269999027,0,'successful','first',1,NULL,NULL,0,NULL,0.0040000000000000000832,12447744,NULL);
INSERT INTO attempt VALUES(2,3,1,1,'localhost','/home/reco/d0ctl/nodes/5d0c71f1e5700001/localhost',1795278691.7524020672,1795278691.7890000343,1795278691.8350000381,0,'successful','first',1,NULL,NULL,0,NULL,0.0040000000000000000832,12435456,NULL);
INSERT INTO attempt VALUES(3,2,1,1,'localhost','/home/reco/d0ctl/nodes/5d0c71f1e5700001/localhost',1795278691.828146696,1795278691.8399999141,1795278691.8910000324,0,'successful','first',1,NULL,NULL,0,NULL,0.0030000000000000000624,12431360,NULL);
INSERT INTO attempt VALUES(4,5,1,1,'localhost','/home/reco/d0ctl/nodes/5d0c71f1e5700001/localhost',1795278691.828146696,1795278691.8480000495,1795278691.8940000534,0,'successful','first',1,NULL,NULL,0,NULL,0.0040000000000000000832,12447744,NULL);
INSERT INTO attempt VALUES(5,7,1,1,'localhost','/home/reco/d0ctl/nodes/5d0c71f1e5700001/localhost',1795278691.828146696,1795278691.9030001163,1795278691.9519999027,0,'failed','first',1,'exit-code','binary 1 (gen) ended with exit code 3',3,NULL,0.0040000000000000000832,12447744,NULL);
INSERT INTO attempt VALUES(6,9,1,1,'localhost','/home/reco/d0ctl/nodes/5d0c71f1e5700001/localhost',1795278691.828146696,1795278691.9189999103,1795278701.1010000705,0,'killed','first',1,'killed','ended on request: by SIGTERM',NULL,15,0.29499999999999998445,12447744,NULL);
INSERT INTO attempt VALUES(7,11,1,1,'localhost','/home/reco/d0ctl/nodes/5d0c71f1e5700001/localhost',1795278691.828146696,1795278691.9639999866,1795278701.7679998874,0,'killed','first',1,'killed','ended on request: by SIGTERM',NULL,15,0.31500000000000000222,12451840,NULL);
INSERT INTO attempt VALUES(8,13,1,1,'localhost','/home/reco/d0ctl/nodes/5d0c71f1e5700001/localhost',1795278691.828146696,1795278701.1219999789,1795278701.8110001087,0,'successful','first',1,NULL,NULL,0,NULL,0.025000000000000001387,12451840,NULL);
INSERT INTO attempt VALUES(9,15,1,1,'localhost','/home/reco/d0ctl/nodes/5d0c71f1e5700001/localhost',1795278691.828146696,1795278701.7799999714,NULL,0,NULL,'first',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO attempt VALUES(10,4,1,1,'localhost','/home/reco/d0ctl/nodes/5d0c71f1e5700001/localhost',1795278691.8364391327,1795278701.8180000782,1795278701.859999895,0,'successful','first',1,NULL,NULL,0,NULL,0.0030000000000000000624,12435456,NULL);
INSERT INTO attempt VALUES(11,6,1,1,'localhost','/home/reco/d0ctl/nodes/5d0c71f1e5700001/localhost',1795278691.9075474739,1795278701.864000082,1795278701.8810000419,0,'successful','first',1,NULL,NULL,0,NULL,0.0020000000000000000416,12435456,NULL);
INSERT INTO attempt VALUES(12,19,1,2,'far','/home/reco/.d0ctl/site/far',1795278729.8803148269,1795278729.890330553,NULL,0,NULL,'first',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO attempt VALUES(13,20,1,2,'far','/home/reco/.d0ctl/site/far',1795278729.9156556129,1795278729.9197618961,NULL,0,NULL,'first',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO attempt VALUES(14,21,1,2,'far','/home/reco/.d0ctl/site/far',1795278729.947263956,1795278729.9595451354,NULL,0,NULL,'first',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO attempt VALUES(15,22,1,2,'far','/home/reco/.d0ctl/site/far',1795278729.9910635947,1795278729.9990165233,NULL,0,NULL,'first',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO attempt VALUES(16,23,1,2,'far','/home/reco/.d0ctl/site/far',1795278730.046703577,NULL,NULL,NULL,NULL,'first',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO attempt VALUES(17,24,1,2,'far','/home/reco/.d0ctl/site/far',1795278730.046703577,1795278749.2782907485,1795278751.2782907486,3600,'successful','first',NULL,NULL,NULL,NULL,NULL,1.5,1048576,NULL);
INSERT INTO attempt VALUES(18,25,1,2,'far','/home/reco/.d0ctl/site/far',1795278751.3025331496,1795278749.2782907485,1795278751.2782907486,3600,'failed','first',1,'exit-code','binary 1 (tool) ended with exit code 3',3,NULL,1.5,1048576,NULL);
INSERT INTO attempt VALUES(19,26,1,2,'far','/home/reco/.d0ctl/site/far',1795278751.2782907486,NULL,NULL,NULL,NULL,'first',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
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
INSERT INTO binary_attempt VALUES(1,1,1795278691.7839999199,1795278691.8069999217,0,NULL,NULL,0.0040000000000000000832,12447744);
INSERT INTO binary_attempt VALUES(2,1,1795278691.7899999618,1795278691.8150000571,0,NULL,NULL,0.0040000000000000000832,12435456);
INSERT INTO binary_attempt VALUES(3,1,1795278691.8429999352,1795278691.8650000095,0,NULL,NULL,0.0030000000000000000624,12431360);
INSERT INTO binary_attempt VALUES(4,1,1795278691.8510000705,1795278691.8710000515,0,NULL,NULL,0.0040000000000000000832,12447744);
INSERT INTO binary_attempt VALUES(5,1,1795278691.9110000133,1795278691.9509999752,3,NULL,'exit-code',0.0040000000000000000832,12447744);
INSERT INTO binary_attempt VALUES(6,1,1795278691.9200000762,1795278701.1010000705,NULL,15,'killed',0.29499999999999998445,12447744);
INSERT INTO binary_attempt VALUES(7,1,1795278691.9709999561,1795278701.7679998874,NULL,15,'killed',0.31500000000000000222,12451840);
INSERT INTO binary_attempt VALUES(8,1,1795278701.1240000724,1795278701.7939999103,0,NULL,NULL,0.025000000000000001387,12451840);
INSERT INTO binary_attempt VALUES(10,1,1795278701.8269999027,1795278701.84100008,0,NULL,NULL,0.0030000000000000000624,12435456);
INSERT INTO binary_attempt VALUES(11,1,1795278701.8670001029,1795278701.8789999485,0,NULL,NULL,0.0020000000000000000416,12435456);
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
INSERT INTO event VALUES(1,1795278691.7524020672,1,'ready','assigned',NULL,1,NULL,NULL);
INSERT INTO event VALUES(2,1795278691.7524020672,3,'ready','assigned',NULL,1,NULL,NULL);
INSERT INTO event VALUES(3,1795278691.7524020672,1,'assigned','starting',1,1,NULL,NULL);
INSERT INTO event VALUES(4,1795278691.7524020672,3,'assigned','starting',2,1,NULL,NULL);
INSERT INTO event VALUES(5,1795278691.7857117653,1,'starting','running',1,1,NULL,NULL);
INSERT INTO event VALUES(6,1795278691.7972011565,3,'starting','running',2,1,NULL,NULL);
INSERT INTO event VALUES(7,1795278691.828146696,1,'running','done',1,1,NULL,NULL);
INSERT INTO event VALUES(8,1795278691.828146696,2,'waiting','ready',NULL,NULL,NULL,NULL);
INSERT INTO event VALUES(9,1795278691.828146696,2,'ready','assigned',NULL,1,NULL,NULL);
INSERT INTO event VALUES(10,1795278691.828146696,5,'ready','assigned',NULL,1,NULL,NULL);
INSERT INTO event VALUES(11,1795278691.828146696,7,'ready','assigned',NULL,1,NULL,NULL);
INSERT INTO event VALUES(12,1795278691.828146696,9,'ready','assigned',NULL,1,NULL,NULL);
INSERT INTO event VALUES(13,1795278691.828146696,11,'ready','assigned',NULL,1,NULL,NULL);
INSERT INTO event VALUES(14,1795278691.828146696,13,'ready','assigned',NULL,1,NULL,NULL);
INSERT INTO event VALUES(15,1795278691.828146696,15,'ready','assigned',NULL,1,NULL,NULL);
INSERT INTO event VALUES(16,1795278691.828146696,2,'assigned','starting',3,1,NULL,NULL);
INSERT INTO event VALUES(17,1795278691.828146696,5,'assigned','starting',4,1,NULL,NULL);
INSERT INTO event VALUES(18,1795278691.828146696,7,'assigned','starting',5,1,NULL,NULL);
INSERT INTO event VALUES(19,1795278691.828146696,9,'assigned','starting',6,1,NULL,NULL);
INSERT INTO event VALUES(20,1795278691.828146696,11,'assigned','starting',7,1,NULL,NULL);
INSERT INTO event VALUES(21,1795278691.828146696,13,'assigned','starting',8,1,NULL,NULL);
INSERT INTO event VALUES(22,1795278691.828146696,15,'assigned','starting',9,1,NULL,NULL);
INSERT INTO event VALUES(23,1795278691.8364391327,3,'running','done',2,1,NULL,NULL);
INSERT INTO event VALUES(24,1795278691.8364391327,4,'waiting','ready',NULL,NULL,NULL,NULL);
INSERT INTO event VALUES(25,1795278691.8364391327,4,'ready','assigned',NULL,1,NULL,NULL);
INSERT INTO event VALUES(26,1795278691.8364391327,4,'assigned','starting',10,1,NULL,NULL);
INSERT INTO event VALUES(27,1795278691.8623075485,2,'starting','running',3,1,NULL,NULL);
INSERT INTO event VALUES(28,1795278691.8623075485,5,'starting','running',4,1,NULL,NULL);
INSERT INTO event VALUES(29,1795278691.9075474739,7,'starting','running',5,1,NULL,NULL);
INSERT INTO event VALUES(30,1795278691.9075474739,2,'running','done',3,1,NULL,NULL);
INSERT INTO event VALUES(31,1795278691.9075474739,5,'running','done',4,1,NULL,NULL);
INSERT INTO event VALUES(32,1795278691.9075474739,6,'waiting','ready',NULL,NULL,NULL,NULL);
INSERT INTO event VALUES(33,1795278691.9075474739,6,'ready','assigned',NULL,1,NULL,NULL);
INSERT INTO event VALUES(34,1795278691.9075474739,6,'assigned','starting',11,1,NULL,NULL);
INSERT INTO event VALUES(35,1795278691.9208021164,9,'starting','running',6,1,NULL,NULL);
INSERT INTO event VALUES(36,1795278691.9525415896,7,'running','failed',5,1,NULL,'exit-code: binary 1 (gen) ended with exit code 3');
INSERT INTO event VALUES(37,1795278691.9743750095,11,'starting','running',7,1,NULL,NULL);
INSERT INTO event VALUES(38,1795278700.2137544154,14,'waiting','held',NULL,NULL,'reco','new calibration');
INSERT INTO event VALUES(39,1795278701.0076897144,9,'running','killing',6,1,'reco','killed by reco');
INSERT INTO event VALUES(40,1795278701.1024808883,9,'killing','canceled',6,1,NULL,'killed: ended on request: by SIGTERM');
INSERT INTO event VALUES(41,1795278701.1379876137,13,'starting','running',8,1,NULL,NULL);
INSERT INTO event VALUES(42,1795278701.6700737476,12,'waiting','dropped',NULL,NULL,'reco','dropped by reco');
INSERT INTO event VALUES(43,1795278701.6700737476,11,'running','killing',7,1,'reco','dropped by reco');
INSERT INTO event VALUES(44,1795278701.773779869,11,'killing','dropped',7,1,NULL,'killed: ended on request: by SIGTERM');
INSERT INTO event VALUES(45,1795278701.8004798889,15,'starting','running',9,1,NULL,NULL);
INSERT INTO event VALUES(46,1795278701.8238053322,4,'starting','running',10,1,NULL,NULL);
INSERT INTO event VALUES(47,1795278701.8238053322,13,'running','done',8,1,NULL,NULL);
INSERT INTO event VALUES(48,1795278701.8614575863,4,'running','done',10,1,NULL,NULL);
INSERT INTO event VALUES(49,1795278701.8706963062,6,'starting','running',11,1,NULL,NULL);
INSERT INTO event VALUES(50,1795278701.8816978931,6,'running','done',11,1,NULL,NULL);
INSERT INTO event VALUES(51,1795278729.8759098053,19,'ready','assigned',NULL,2,NULL,NULL);
INSERT INTO event VALUES(52,1795278729.8803148269,19,'assigned','starting',12,2,NULL,NULL);
INSERT INTO event VALUES(53,1795278729.8903892039,19,'starting','running',12,2,NULL,NULL);
INSERT INTO event VALUES(54,1795278729.9078979492,20,'ready','assigned',NULL,2,NULL,NULL);
INSERT INTO event VALUES(55,1795278729.9156556129,20,'assigned','starting',13,2,NULL,NULL);
INSERT INTO event VALUES(56,1795278729.9198255539,20,'starting','running',13,2,NULL,NULL);
INSERT INTO event VALUES(57,1795278729.9395558833,21,'ready','assigned',NULL,2,NULL,NULL);
INSERT INTO event VALUES(58,1795278729.947263956,21,'assigned','starting',14,2,NULL,NULL);
INSERT INTO event VALUES(59,1795278729.9596097468,21,'starting','running',14,2,NULL,NULL);
INSERT INTO event VALUES(60,1795278729.9799792766,22,'ready','assigned',NULL,2,NULL,NULL);
INSERT INTO event VALUES(61,1795278729.9910635947,22,'assigned','starting',15,2,NULL,NULL);
INSERT INTO event VALUES(62,1795278729.999084711,22,'starting','running',15,2,NULL,NULL);
INSERT INTO event VALUES(63,1795278730.0107662677,23,'ready','assigned',NULL,2,NULL,NULL);
INSERT INTO event VALUES(64,1795278730.0220620632,20,'running','killing',13,2,'reco','not needed');
INSERT INTO event VALUES(65,1795278730.0309867858,21,'running','suspended',14,2,NULL,NULL);
INSERT INTO event VALUES(66,1795278730.039714098,24,'ready','assigned',NULL,2,NULL,NULL);
INSERT INTO event VALUES(67,1795278730.046703577,23,'assigned','starting',16,2,NULL,NULL);
INSERT INTO event VALUES(68,1795278730.046703577,24,'assigned','starting',17,2,NULL,NULL);
INSERT INTO event VALUES(69,1795278730.0584025383,24,'starting','running',17,2,NULL,NULL);
INSERT INTO event VALUES(70,1795278751.2828540802,24,'running','transferring',17,2,NULL,NULL);
INSERT INTO event VALUES(71,1795278751.2999806403,25,'ready','assigned',NULL,2,NULL,NULL);
INSERT INTO event VALUES(72,1795278751.3025331496,25,'assigned','starting',18,2,NULL,NULL);
INSERT INTO event VALUES(73,1795278751.314810276,25,'starting','running',18,2,NULL,NULL);
INSERT INTO event VALUES(74,1795278751.3207280635,25,'running','failed',18,2,NULL,'exit-code: binary 1 (tool) ended with exit code 3');
INSERT INTO event VALUES(75,1795278751.2782907486,25,'failed','cooloff',18,NULL,NULL,'exit-code: binary 1 (tool) ended with exit code 3');
INSERT INTO event VALUES(76,1795278751.2782907486,22,'running','unreachable',15,2,NULL,NULL);
INSERT INTO event VALUES(77,1795278751.3313264847,26,'ready','assigned',NULL,2,NULL,NULL);
INSERT INTO event VALUES(78,1795278751.2782907486,26,'assigned','starting',19,2,NULL,NULL);
INSERT INTO event VALUES(79,1795278751.2782907486,23,'starting','staging-in',16,2,NULL,NULL);
INSERT INTO event VALUES(80,1795278771.3653092384,27,'ready','assigned',NULL,2,NULL,NULL);
CREATE TABLE action (
    id       integer primary key,
    at       real not null,
    actor    text not null,
    verb     text not null,
    target   text not null,
    note     text,
    packages integer not null default 0
) strict;
INSERT INTO "action" VALUES(1,1795278691.5164172648,'reco','submit','first',NULL,17);
INSERT INTO "action" VALUES(2,1795278692.6704702377,'reco','submit','second',NULL,1);
INSERT INTO "action" VALUES(3,1795278700.2137544154,'reco','hold','first/1/7/2','new calibration',1);
INSERT INTO "action" VALUES(4,1795278701.0076897144,'reco','kill','first/1/5/1',NULL,1);
INSERT INTO "action" VALUES(5,1795278701.6700737476,'reco','kill-line','first/1/6',NULL,2);
INSERT INTO "action" VALUES(6,1795278729.8392143249,'me','submit','third',NULL,9);
INSERT INTO "action" VALUES(7,1795278861.4471633434,'reco','submit','fourth',NULL,1);
CREATE TABLE purge (
    id         integer primary key,
    node_id    integer not null references node on delete cascade,
    attempt_id integer,
    path       text
) strict;
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 VALUES('action',NULL,'10000');
INSERT INTO sqlite_stat1 VALUES('attempt','sqlite_autoindex_attempt_1','1200000 1 1');
INSERT INTO sqlite_stat1 VALUES('attempt','attempt_failed','20000 1');
INSERT INTO sqlite_stat1 VALUES('binary','binary','1500000 2 1');
INSERT INTO sqlite_stat1 VALUES('binary_attempt','binary_attempt','1500000 2 1');
INSERT INTO sqlite_stat1 VALUES('cluster','sqlite_autoindex_cluster_1','20 1');
INSERT INTO sqlite_stat1 VALUES('demand','demand_of_job','300 3');
INSERT INTO sqlite_stat1 VALUES('demand','demand_ready','10 2');
INSERT INTO sqlite_stat1 VALUES('event','event_of_package','6000000 6');
INSERT INTO sqlite_stat1 VALUES('file','sqlite_autoindex_file_1','2000000 20000 1');
INSERT INTO sqlite_stat1 VALUES('file','file_of_package','2000000 2');
INSERT INTO sqlite_stat1 VALUES('input','input','2000000 2 2 1');
INSERT INTO sqlite_stat1 VALUES('input','input_of_file','2000000 2 1');
INSERT INTO sqlite_stat1 VALUES('job','sqlite_autoindex_job_1','100 1');
INSERT INTO sqlite_stat1 VALUES('lease','lease','20 1');
INSERT INTO sqlite_stat1 VALUES('line','sqlite_autoindex_line_1','1000000 3000 1');
INSERT INTO sqlite_stat1 VALUES('line','line_dropped','100 10');
INSERT INTO sqlite_stat1 VALUES('location','location','2000000 1 1');
INSERT INTO sqlite_stat1 VALUES('node','sqlite_autoindex_node_1','20 1');
INSERT INTO sqlite_stat1 VALUES('package','sqlite_autoindex_package_1','1000000 1 1');
INSERT INTO sqlite_stat1 VALUES('package','package_in_phase','1000000 10000 2500');
INSERT INTO sqlite_stat1 VALUES('package','package_ready','1000 100 1');
INSERT INTO sqlite_stat1 VALUES('package','package_live','100 5');
INSERT INTO sqlite_stat1 VALUES('package','package_assigned','50 5 1');
INSERT INTO sqlite_stat1 VALUES('package','package_killing','5 1');
INSERT INTO sqlite_stat1 VALUES('package','package_cooling','100 1');
INSERT INTO sqlite_stat1 VALUES('package','package_released','5 1');
INSERT INTO sqlite_stat1 VALUES('purge','purge_of_node','1000 100');
INSERT INTO sqlite_stat1 VALUES('stage','sqlite_autoindex_stage_1','300 3 1');
INSERT INTO sqlite_stat1 VALUES('stage_count','stage_count','5000 16 1');
INSERT INTO sqlite_stat1 VALUES('transfer','transfer','200 1 1 1');
INSERT INTO sqlite_stat1 VALUES('transfer','transfer_due','200 20 5 1');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('job',4);
INSERT INTO sqlite_sequence VALUES('file',28);
INSERT INTO sqlite_sequence VALUES('attempt',19);
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
CREATE TRIGGER stage_counted after insert on stage
begin
    insert into stage_count (stage_id, phase) select new.id, name from phase;
end;
CREATE INDEX line_dropped on line (stage_id) where dropped is not null;
CREATE INDEX demand_of_job on demand (job_id);
CREATE INDEX demand_ready on demand (job_id) where ready > 0;
CREATE INDEX package_in_phase on package (job_id, phase);
CREATE INDEX package_ready on package (demand_id, id) where phase = 'ready';
CREATE INDEX package_live on package (node_id)
    where phase in ('assigned', 'starting', 'staging-in', 'running', 'suspended', 'killing',
                    'unreachable');
CREATE INDEX package_assigned on package (node_id, id) where phase = 'assigned';
CREATE INDEX package_killing on package (node_id) where phase = 'killing';
CREATE INDEX package_cooling on package (not_before) where phase = 'cooloff';
CREATE INDEX file_of_package on file (package_id) where package_id is not null;
CREATE INDEX input_of_file on input (file_id, package_id);
CREATE INDEX transfer_due on transfer (not_before, wanted, file_id);
CREATE INDEX attempt_failed on attempt (ended) where outcome in ('failed', 'lost');
CREATE VIEW failure as
    select package_id, reason, count(*) as count, max(ended) as last,
           message, node_name
      from attempt
     where outcome in ('failed', 'lost')
     group by package_id, reason;
CREATE INDEX event_of_package on event (package_id);
CREATE INDEX purge_of_node on purge (node_id);
CREATE TRIGGER package_refused before update of phase on package
when old.phase <> new.phase and not exists (
    select 1 from transition where transition.old = old.phase and transition.new = new.phase)
begin
    select raise(abort, 'not a transition');
end;
CREATE TRIGGER package_made after insert on package
begin
    update stage_count set n = n + 1 where stage_id = new.stage_id and phase = new.phase;
end;
CREATE TRIGGER package_made_ready after insert on package when new.phase = 'ready'
begin
    update demand set ready = ready + 1 where id = new.demand_id;
end;
CREATE TRIGGER package_moved after update of phase on package when old.phase <> new.phase
begin
    update stage_count set n = n - 1 where stage_id = new.stage_id and phase = old.phase;
    update stage_count set n = n + 1 where stage_id = new.stage_id and phase = new.phase;
    insert into event (at, package_id, old, new, attempt_id, node_id, actor, note)
    values (new.changed, new.id, old.phase, new.phase, new.attempt_id, new.node_id,
            new.actor, new.note);
end;
CREATE TRIGGER package_readied after update of phase on package
when old.phase <> 'ready' and new.phase = 'ready'
begin
    update demand set ready = ready + 1 where id = new.demand_id;
end;
CREATE TRIGGER package_unreadied after update of phase on package
when old.phase = 'ready' and new.phase <> 'ready'
begin
    update demand set ready = ready - 1 where id = new.demand_id;
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
CREATE TRIGGER file_gained after update of present on file
when old.present = 0 and new.present = 1
begin
    update package
       set missing = missing - (select count(*) from input
                                 where file_id = new.id and package_id = package.id
                                   and own = 0 and dropped = 0)
     where id in (select package_id from input
                   where file_id = new.id and own = 0 and dropped = 0);
end;
CREATE TRIGGER file_lost after update of present on file
when old.present = 1 and new.present = 0
begin
    update package
       set missing = missing + (select count(*) from input
                                 where file_id = new.id and package_id = package.id
                                   and own = 0 and dropped = 0)
     where id in (select package_id from input
                   where file_id = new.id and own = 0 and dropped = 0);
end;
CREATE TRIGGER input_dropped after update of dropped on input
when old.dropped = 0 and new.dropped = 1 and new.own = 0
    and (select present from file where id = new.file_id) = 0
begin
    update package set missing = missing - 1 where id = new.package_id;
end;
CREATE TRIGGER input_restored after update of dropped on input
when old.dropped = 1 and new.dropped = 0 and new.own = 0
    and (select present from file where id = new.file_id) = 0
begin
    update package set missing = missing + 1 where id = new.package_id;
end;
CREATE INDEX package_released on package (id) where phase = 'waiting' and missing = 0;
COMMIT;
PRAGMA user_version=1;
