-- name: keep_action
-- Who did what, when, to what, why, and the command that undoes it.
insert into action (at, actor, verb, target, note, packages, undo)
values (:now, :actor, :verb, :target, :note, :packages, :undo);

-- name: attribute_action
-- Name the person who asked d0ctl for its last action of a kind, unless that was before.
update action
   set actor = :actor
 where id = (select id from action where verb = :verb order by id desc limit 1) and at >= :since;

-- name: keep_remake
-- d0ctl has packages of a job run again for others.
insert into action (at, actor, verb, target, note, packages)
values (:now, 'd0ctl', 'remake', :job, :note, :packages);

-- name: extend_remake
-- Count more packages in the last action if it is the same.
update action
   set packages = packages + :packages, at = :now
 where id = (select max(id) from action) and verb = 'remake' and target = :job and note = :note;

-- name: actions_on
-- Actions of people on a job; bounded. Software, nodes and so on may have the name of a job, and so
-- may earlier jobs.
select at, actor, verb, target, note, packages, undo from action
 where (instr(' ' || target || ' ', ' ' || :job || ' ') > 0
        or instr(' ' || target, ' ' || :job || '/') > 0
        or instr(' ' || target, ' ' || :job || ':') > 0)
   and substr(verb, 1, instr(verb, ' ')) not in
       ('software ', 'node ', 'cluster ', 'researcher ', 'throttle ', 'store ', 'token ', 'site ')
   and id > coalesce((select max(gone.id) from action as gone
                       where gone.verb in ('remove', 'archive')
                         and instr(' ' || gone.target || ' ', ' ' || :job || ' ') > 0), 0)
 order by id desc limit :limit;

-- name: removal_of_name
-- Who removed or archived a job or node of this name last, and when; among the latest actions.
select at, actor, verb
  from (select at, actor, verb, target from action order by id desc limit 1000)
 where (verb in ('remove', 'node remove') and target = :name)
    or (verb = 'archive' and instr(' ' || target || ' ', ' ' || :name || ' ') > 0)
 limit 1;

-- name: has_archived
-- Whether jobs were ever archived, wherever their archives are now.
select exists (select 1 from action where verb = 'archive');

-- name: last_action
-- The number of the last action of anybody.
select coalesce(max(id), 0) from action;

-- name: last_site_file
-- The path of the site file that was applied last.
select target from action where verb = 'site apply' order by id desc limit 1;

-- name: last_site_apply
-- When a site file was applied last.
select at from action where verb = 'site apply' order by id desc limit 1;

-- name: last_actions_of
-- The last action of a person, with up to a thousand others of the same moment.
with latest as materialized
     (select id, at from action where actor = :actor order by id desc limit 1)
select action.at, actor, verb, target, note, undo
  from latest
  join action on action.id > latest.id - 1000 and action.at = latest.at
 where actor = :actor
 order by action.id;

-- name: removals_since
-- The jobs that were removed or archived after a time, if they were not submitted after it, too.
select gone.target
  from action as gone indexed by action_at
 where gone.at > :at
   and gone.verb in ('remove', 'archive')
   and not exists (select 1
                     from action as made indexed by action_at
                    where made.at > :at and made.at < gone.at
                      and made.verb in ('submit', 'task submit')
                      and made.target = gone.target)
 order by gone.at;

-- name: last_action_on
-- The number of the last action on a job, or on jobs that a pattern matches.
select coalesce(max(id), 0)
  from action
 where verb <> 'submit' and (instr(target, :job) > 0 or target glob '*[*?[]*');

-- name: audit_entry_since
-- The last action on any of the selected packages after an action.
select action.at, action.actor, action.verb, action.target, action.note,
       action.undo
  from action
 where action.id > :seen
   and exists (select 1
                 from selected_package
                 join event on event.package_id = selected_package.package_id
                where event.at = action.at and event.actor = action.actor)
 order by action.id desc limit 1;

-- name: audit_entry_on_job_since
-- The last action of these kinds on a whole job after an action.
select at, actor, verb, target, note, undo
  from action
 where id > :seen and :job glob target and verb in (select value from json_each(:verbs))
 order by id desc limit 1;

-- name: latest_audit_entry
-- The last action on one of the first of the selected packages, or on its line.
select action.at, action.actor, action.verb, action.target, action.note,
       action.undo
  from (select event.at, event.actor
          from (select package_id from selected_package order by package_id limit 1000) as some
          join event on event.package_id = some.package_id
         where event.actor is not null
         union
        select line.dropped, null
          from (select package_id from selected_package order by package_id limit 1000) as some
          join package on package.id = some.package_id
          join line on line.id = package.line_id
         where line.dropped is not null) as trace
  join action on action.at = trace.at and action.actor = coalesce(trace.actor, action.actor)
 order by action.id desc limit 1;
