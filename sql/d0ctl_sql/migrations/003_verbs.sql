-- What the verbs of people need to be told apart, taken back and explained.

alter table job add column pause_running integer not null default 0
    check (pause_running in (0, 1));           -- 1: what runs is suspended, too
alter table job add column pause_actor text;
alter table job add column pause_note text;
alter table job add column pause_since real;
alter table job add column finish text         -- null: no; what is not launched is canceled
    check (finish is null or finish = 'soft' or finish = 'hard');
alter table job add column finish_actor text;
alter table job add column finish_note text;
alter table job add column finish_since real;

create index job_finishing on job (id) where finish is not null;

-- 1: dropped for its own sake; 0: for want of what it needs, so that it comes back by itself.
alter table line add column named integer not null default 0 check (named in (0, 1));

update line set named = 1 where dropped is not null;

-- 1: held by `pause`, and let go by `resume`.
alter table package add column parked integer not null default 0 check (parked in (0, 1));

-- What an attempt did without: how many inputs it got, of how many, and names of the others.
alter table attempt add column inputs integer;
alter table attempt add column inputs_asked integer;
alter table attempt add column left_out text;

-- The command that takes it back.
alter table action add column undo text;

create index action_at on action (at);

-- When it had stopped and was held against what the stages that read from it require.
alter table stage add column weighed real;

create index stage_lenient on stage (job_id) where require < 1;

insert into transition (old, new, verb) values
    ('dropped',  'held', 'restore'),
    ('failed',   'done', 'set status'),
    ('canceled', 'done', 'set status');

insert into sqlite_stat1 (tbl, idx, stat) values
    ('job',    'job_finishing', '2 1'),
    ('stage',  'stage_lenient', '30 3'),
    ('action', 'action_at',     '10000 1');
