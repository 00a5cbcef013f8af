-- How often a stage failed for good for each reason, and how much of that its job puts up with.
create table alike (
    stage_id integer not null references stage on delete cascade,
    reason   text not null,
    failed   integer not null,
    primary key (stage_id, reason)
) strict, without rowid;
alter table job add column most_alike integer; -- null: as the site says; 0: never held for it
