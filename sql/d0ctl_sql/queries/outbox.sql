-- name: notice_like
-- The notice for a recipient about a subject that is not sent yet, if there is one.
select samples from notice
 where recipient = :recipient and kind = :kind and subject_id = :subject_id and reason = :reason;

-- name: add_notice
-- Add a notice for a recipient; equal ones are counted.
insert into notice (recipient, kind, subject_id, subject, reason, count, failed, held, first, last,
                    due, problem, samples)
values (:recipient, :kind, :subject_id, :subject, :reason, :count, :failed, :held, :first, :last,
        :due, :problem, :samples)
on conflict do update
   set count = notice.count + excluded.count, failed = notice.failed + excluded.failed,
       held = notice.held + excluded.held, first = min(notice.first, excluded.first),
       last = max(notice.last, excluded.last),
       due = min(notice.due, excluded.due), problem = coalesce(excluded.problem, notice.problem),
       samples = excluded.samples;

-- name: withdraw_notices
-- Drop the notices of a problem that is over; the failures in it are still reported.
delete from notice
 where problem = :kind and subject_id = :subject_id
   and (kind in ('ended', 'stands-still') or kind = problem);

-- name: renew_notified
-- A problem is back before one recipient, or all, heard that it was over: they still know of it.
insert or ignore into notified_of (kind, subject_id, recipient)
select reason, subject_id, recipient from notice
 where kind = 'cleared' and reason = :kind and subject_id = :subject_id
   and recipient = coalesce(:recipient, recipient);

-- name: withdraw_cleared
-- Drop notices of a problem that is over, for one recipient or for all.
delete from notice
 where kind = 'cleared' and reason = :kind and subject_id = :subject_id
   and recipient = coalesce(:recipient, recipient);

-- name: unlink_notices
-- Notices that are not sent yet need no report when their problem is over.
update notice set problem = null where problem = :kind and subject_id = :subject_id;

-- name: due_recipients
-- Recipients with due notices and no message in transit.
select recipient from notice
 where not exists (select 1 from delivery
                    where delivery.recipient = notice.recipient and delivery.ended is null)
 group by recipient
having min(due) <= :now
 order by min(due);

-- name: sent_since
-- Count the mails of a recipient since a time.
select count(*) from delivery indexed by delivery_ended
 where ended > :since and sent = 1 and recipient = :recipient;

-- name: notices_of
-- All notices for a recipient that are not sent yet, the oldest first.
select * from notice where recipient = :recipient order by first, id;

-- name: keep_notified
-- Recipients who are notified of problems now will be notified when they are over.
insert or ignore into notified_of (kind, subject_id, recipient)
select problem, subject_id, recipient from notice
 where recipient = :recipient and problem is not null;

-- name: forget_notices
-- Mark these notices of a recipient as sent.
delete from notice where recipient = :recipient;

-- name: make_delivery
-- Add a message, as it will be sent.
insert into delivery (recipient, message_id, title, body, made)
values (:recipient, :message_id, :title, :body, :now)
returning id;

-- name: due_deliveries
-- Messages to send now to recipients of a kind.
select id, recipient, message_id, title, body, tries, made
  from delivery indexed by delivery_open
 where ended is null and not_before <= :now and (recipient = 'command') = :command
 order by id;

-- name: keep_sent
-- A message was sent.
update delivery set ended = :now, sent = 1, tries = tries + 1, last_error = null, body = null,
       way = :way
 where id = :delivery and ended is null;

-- name: keep_unsent
-- A message was not sent, and is tried again.
update delivery set tries = tries + 1, not_before = :not_before, last_error = :last_error
 where id = :delivery and ended is null;

-- name: keep_given_up
-- A message can't be sent, and is not tried again.
update delivery set ended = :now, tries = tries + 1, last_error = :last_error, way = :way
 where id = :delivery and ended is null;

-- name: forget_deliveries
-- Remove old messages that were sent or given up.
delete from delivery where ended <= :before;

-- name: forget_all_notices
-- The site no longer notifies anybody.
delete from notice;

-- name: forget_all_problems
-- Notifications forget all problems.
delete from problem;

-- name: forget_all_notified
-- Nobody will be notified when problems are over.
delete from notified_of;

-- name: give_up_all
-- Messages in transit are not sent any more.
update delivery set ended = :now, last_error = :last_error where ended is null;

-- name: waiting_notices
-- Notices that are not sent yet, by recipient.
select recipient, count(*) as things, sum(count) as count, min(due) as due
  from notice group by recipient order by recipient;

-- name: originators_of_mail
-- Who gets mail about the jobs that have not ended, with a job of each.
select originator, count(*) as jobs, min(name) as job
  from job where visible = 1 and ended is null and mail is not 'never'
 group by originator order by originator;

-- name: open_deliveries
-- Messages in transit.
select id, recipient, title, made, tries, not_before, last_error
  from delivery indexed by delivery_open where ended is null order by id;

-- name: ended_deliveries
-- The last messages that were sent or given up.
select id, recipient, title, made, tries, ended, sent, last_error, way
  from delivery indexed by delivery_ended where ended is not null
 order by ended desc, id desc limit :limit;

-- name: unsent_mail
-- Since when messages could not be sent, how many, and why.
select min(made) as since, count(*) as count, last_error
  from delivery indexed by delivery_open
 where ended is null and tries > 0
having count(*) > 0;

-- name: delivery
-- One message that was or will be sent.
select id, recipient, message_id, title, body, made, tries, ended, sent, last_error
  from delivery where id = :delivery;

-- name: first_sent
-- When the first mail of a recipient since a time was sent.
select min(ended) from delivery indexed by delivery_ended
 where ended > :since and sent = 1 and recipient = :recipient;

-- name: postpone_notices
-- A recipient gets no mail before this time.
update notice set due = max(due, :due) where recipient = :recipient;

-- name: hurry_deliveries
-- Messages to recipients of a kind that could not be sent are tried at once.
update delivery set not_before = 0
 where ended is null and not_before > 0 and (recipient = 'command') = :command;
