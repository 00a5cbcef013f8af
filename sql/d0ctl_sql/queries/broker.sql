-- name: broker_question
-- The package that stands for those with a requirement: the oldest ready one.
select package_path.path, package_path.job, package_path.stage_name as stage, job.originator
  from package_path
  join job on job.id = package_path.job_id
 where package_path.package_id = :package;

-- name: keep_broker_answer
-- Record the broker's answer about packages with a requirement, if there still is one.
insert or replace into broker_answer (requirement_id, broker, at, refused, preferred, error)
select requirement.id, :broker, :now, :refused, :preferred, :error
  from requirement
 where requirement.id = :requirement;

-- name: forget_broker_answers
-- Forget the answers of all brokers except this one.
delete from broker_answer where broker <> :broker;

-- name: broker_answer_of
-- The broker's answer about a package, null if it has not been asked.
select broker_answer.broker, broker_answer.at, broker_answer.refused, broker_answer.preferred,
       broker_answer.error
  from package
  join broker_answer on broker_answer.requirement_id = package.requirement_id
 where package.id = :package;
