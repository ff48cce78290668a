-- The workspace and the member that the bootstrap key belongs to, whatever they are called by now: owners may rename both.
create table bootstrap (
  is_only boolean primary key default true constraint bootstrap_once check (is_only),
  workspace_id uuid not null references workspace (id),
  member_id uuid not null references member (id)
);

-- Installations made before: the workspace has had the first credits (their id is fixed), the member a key that was brought.
insert into bootstrap (workspace_id, member_id)
select e.workspace_id, m.id
from ledger_entry e
join member m on m.workspace_id = e.workspace_id
where e.source_id = '00000000-0000-7000-8000-0000b0075ea1'
order by exists (select from api_key k where k.member_id = m.id and k.hint not like 'slk\_%' and k.name = 'bootstrap') desc,
  m.name = 'bootstrap' desc, m.created_at
limit 1;
