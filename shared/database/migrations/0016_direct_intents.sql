-- The provider that a job's intent names answers in the same exchange and keeps no job: when the owner of such a job dies,
-- there is nothing to ask anybody for. False for the intents of workers from before this migration.
alter table job add column intent_is_direct boolean not null default false;
