-- Copies that are recognised by how they look, and inputs that a program may change.

alter table location add column inode integer;                 -- of the copy when it was recorded
alter table location add column mtime integer;                 -- likewise, in nanoseconds

alter table file add column disposition text                    -- given by a person
    check (disposition in ('retain-indef', 'retain-temp', 'deletable'));

alter table input add column writable integer not null default 0 check (writable in (0, 1));
