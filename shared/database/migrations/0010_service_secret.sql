-- Secrets that all processes of one installation share and nobody has to set: made by whoever needs one first.
create table service_secret (
  name text primary key,
  value bytea not null,
  created_at timestamptz not null default clock_timestamp()
);
